"""Notion's export as Markdown and CSV: pages with ids in their names, and databases as tables.

A page becomes a note without the id in its name; links between pages become links between notes. A row of a database
that has a page of its own keeps its properties as frontmatter. A database becomes a note with a table of its rows.
"""

import csv
import io
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from commonplace.errors import UsageError
from commonplace.sources.imports.base import (
    ImportedNote,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
)
from commonplace.sources.imports.note_files import (
    distinct_paths,
    note_path,
    note_text,
    outside_code,
    with_frontmatter,
)
from commonplace.sources.imports.statements import names_of, plain_line

_ID: Final = re.compile(r"(?:^|[ _-])([0-9a-f]{32})(?=$|\.|_all\.csv$)", re.IGNORECASE)
_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]\n]|\\[\[\]])*)\]\(((?:[^()\s]|\([^()\s]*\))+)\)")
_ADDRESS: Final = re.compile(r"https://(?:www\.)?notion\.(?:so|site)/\S*?([0-9a-f]{32})(?:[?#]\S*)?", re.IGNORECASE)
_PROPERTY: Final = re.compile(r"([^\n:]{1,80}): (.*)")
_ROWS: Final = 500  # of a table: more make a note that nobody reads, and the rows are notes of their own
_CELL: Final = 200  # characters
_LISTS: Final = frozenset(("tags", "tag", "aliases", "alias"))


def _select(files: ImportFiles) -> Sequence[str]:
    paths = [path for path in files.paths() if path.casefold().endswith((".md", ".csv"))]
    return [path for path in paths if _id_of(path)]


def _id_of(path: str) -> str:
    match = _ID.search(posixpath.basename(path))
    return match[1].casefold() if match else ""


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    pages = [path for path in paths if path.casefold().endswith(".md")]
    tables = [path for path in paths if path.casefold().endswith(".csv") and not _has_whole(path, paths)]
    export = _Export([*pages, *tables])
    columns = dict[str, frozenset[str]]()
    for path in tables:
        try:
            rows = _rows(note_text(files, path))
        except (UsageError, csv.Error) as error:
            yield ImportProblem(path, getattr(error, "message", "not a table that can be read"))
            continue
        if rows:
            names = frozenset(map(plain_line, rows[0]))
            columns |= dict.fromkeys(_folders_of(path), names)
            yield ImportedNote(where=path, path=export.targets[path], text=_table_note(path, rows, export))
    for path in pages:
        try:
            text = note_text(files, path)
        except UsageError as error:
            yield ImportProblem(path, error.message)
            continue
        known = columns.get(posixpath.dirname(path), frozenset())
        yield ImportedNote(where=path, path=export.targets[path], text=_page_note(text, path, export, columns=known))


def _has_whole(path: str, paths: Sequence[str]) -> bool:
    """True for the table of one view, if the table of all rows is there too."""
    return not path.endswith("_all.csv") and f"{path[:-4]}_all.csv" in {*paths}


def _folders_of(path: str) -> tuple[str, ...]:
    """The folders in which the pages of a table's rows may be: older exports have the id in their names."""
    stem = path[:-4].removesuffix("_all")
    return stem, posixpath.join(posixpath.dirname(stem), _title(stem))


def _title(path: str) -> str:
    """The name of a page or a folder, without its id."""
    name = re.sub(r"(?:_all)?\.(?:md|csv)$", "", posixpath.basename(path), flags=re.IGNORECASE)
    return _ID.sub("", name).strip() or name


class _Export:
    """Where each page of an export goes, and how others link to it."""

    def __init__(self, paths: Sequence[str]) -> None:
        wanted = {path: note_path("Notion", *map(_title, path.split("/"))) for path in paths}
        self.targets = distinct_paths(wanted, digits={path: _id_of(path) for path in paths})
        self._by_id = {_id_of(path): path for path in paths}
        names = [self._name(path) for path in paths]
        self._shared = {name for name in names if names.count(name) > 1} if len(names) < 5000 else {*names}

    def _name(self, path: str) -> str:
        return self.targets[path].removesuffix(".md").rpartition("/")[2].casefold()

    def link(self, path: str, label: str) -> str:
        """A link to the note of a page: by its name, or by its path if another note has the name too."""
        target = self.targets[path].removesuffix(".md")
        name = target if self._name(path) in self._shared else target.rpartition("/")[2]
        label = label.replace("|", "-")
        return f"[[{name}]]" if label in ("", name) else f"[[{name}|{label}]]"

    def find(self, target: str, *, of: str) -> str | None:
        """The page that a link in the page `of` means; None if it leads elsewhere."""
        if match := _ADDRESS.fullmatch(target):
            return self._by_id.get(match[1].casefold())
        if "://" in target:
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(of), unquote(target.partition("#")[0])))
        return path if path in self.targets else self._by_id.get(_id_of(path)) if _id_of(path) else None


def _page_note(text: str, path: str, export: _Export, *, columns: frozenset[str]) -> str:
    keys, body = _properties(text, columns)
    parts = [_linked(part, path, export) if is_prose else part for part, is_prose in outside_code(body)]
    return with_frontmatter({**keys, "notion_id": _id_of(path)}, "".join(parts))


def _linked(text: str, path: str, export: _Export) -> str:
    def link(match: re.Match[str]) -> str:
        page = None if match[1] else export.find(match[3], of=path)
        return export.link(page, match[2].strip()) if page else match[0]

    return _LINK.sub(link, text)


def _properties(text: str, columns: frozenset[str]) -> tuple[dict[str, object], str]:
    """The properties below the title of a row's page, and the page without them."""
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines[:3]) if line.startswith("# ")), None)
    if start is None or not columns:
        return {}, text
    at, keys = start + 1, dict[str, object]()
    while at < len(lines) and not lines[at].strip():
        at += 1
    while at < len(lines) and (match := _PROPERTY.fullmatch(lines[at])) and plain_line(match[1]) in columns:
        name = plain_line(match[1]).casefold()
        keys[name] = [*names_of(match[2])] if name in _LISTS else plain_line(match[2])
        at += 1
    return (keys, "\n".join((*lines[: start + 1], "", *lines[at:]))) if keys else ({}, text)


def _rows(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]


def _table_note(path: str, rows: Sequence[Sequence[str]], export: _Export) -> str:
    pages = {_title(each): each for each in export.targets if posixpath.dirname(each) in _folders_of(path)}
    width = len(rows[0])

    def cell(text: str, *, is_title: bool) -> str:
        plain = plain_line(text)[:_CELL].replace("|", "\\|")
        return export.link(pages[plain], "").replace("|", "\\|") if is_title and plain in pages else plain

    lines = [
        "| " + " | ".join(cell(each, is_title=number == 0) for number, each in enumerate([*row, *[""] * width][:width]))
        for row in rows[: _ROWS + 1]
    ]
    lines = [f"{line} |" for line in (lines[0], "|" + " --- |" * (width - 1) + " ---", *lines[1:])]
    more = [f"\n{len(rows) - 1 - _ROWS} more rows are in the export."] if len(rows) - 1 > _ROWS else []
    body = "\n".join((f"# {_title(path)}", "", *lines, *more, ""))
    return with_frontmatter({"notion_id": _id_of(path)}, body)


READER: Final = ImportReader(
    kind="notion",
    title="Notion",
    files="an export as Markdown and CSV, zip or folder",
    select=_select,
    read=_read,
)
