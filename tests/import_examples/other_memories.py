"""The examples of other memories and notes as files of an import; databases are made from their SQL."""

import tempfile
from pathlib import Path

import apsw

from commonplace.sources.imports.files import InMemoryFiles
from tests.import_examples.build import EXAMPLES


def example_contents(folder: str) -> dict[str, bytes]:
    """The files of an example folder by their paths; a file `x.sql` as the database `x.db`."""
    root = EXAMPLES / folder
    contents = dict[str, bytes]()
    for path in sorted(each for each in root.rglob("*") if each.is_file()):
        name = path.relative_to(root).as_posix()
        if path.suffix == ".sql":
            contents[name.removesuffix(".sql") + ".db"] = database(path.read_text())
        else:
            contents[name] = path.read_bytes()
    return contents


def example_files(folder: str, *paths: str) -> InMemoryFiles:
    """The files of an example folder, or those of them with these paths."""
    contents = example_contents(folder)
    return InMemoryFiles({path: contents[path] for path in paths or contents}, name=folder)


def write_example(folder: str, target: Path) -> Path:
    """The example folder written to disk, with its databases; returns the target."""
    for name, content in example_contents(folder).items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return target


def database(sql: str) -> bytes:
    """A SQLite file made by these statements."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "made.db")
        connection = apsw.Connection(str(file))
        connection.execute(sql)
        connection.close()
        return file.read_bytes()
