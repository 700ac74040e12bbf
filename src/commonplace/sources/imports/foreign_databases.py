"""SQLite files among the files of an import: which tables one has, and the items that are made of them."""

from collections.abc import Callable, Iterator

from commonplace.database.foreign_file import SQLITE_HEADER, ForeignTables, foreign_tables
from commonplace.errors import UsageError
from commonplace.sources.imports.base import ImportFiles, ImportItem, ImportProblem, head

ItemsOf = Callable[[ForeignTables, str], Iterator[ImportItem]]
"""Makes items of the tables of a file, given its path."""


def tables_of(files: ImportFiles, path: str) -> frozenset[str]:
    """The names of the tables in a SQLite file; none if the file is something else or cannot be read."""
    if not head(files, path, most=len(SQLITE_HEADER)).startswith(SQLITE_HEADER):
        return frozenset()
    try:
        with files.open(path) as stream, foreign_tables(stream) as tables:
            return tables.names
    except (UsageError, OSError):
        return frozenset()


def read_tables(files: ImportFiles, path: str, items: ItemsOf) -> Iterator[ImportItem]:
    """The items that a function makes of the tables in a SQLite file; a problem if it cannot be read to its end."""
    try:
        with files.open(path) as stream, foreign_tables(stream) as tables:
            yield from items(tables, path)
    except UsageError as error:
        yield ImportProblem(path, error.message)
    except OSError:
        yield ImportProblem(path, "the file cannot be read")


def several_people(people: set[str]) -> str:
    """What to say of a memory that several people share."""
    named = ", ".join(each[:40] for each in sorted(people)[:5])
    return f"it holds the memory of several people ({named}): import a copy with what belongs to one of them"
