"""Donna: her vault, whose folders are ours too, and her database with conversations and learned preferences.

Notes keep their places: Inbox, Meetings, People, Projects, Daily and Reviews. Her marks of sensitive notes mean the
same here. Templates stay out. In the database, what was indexed from notes is not read again.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from commonplace.database.foreign_file import Cell, ForeignTables
from commonplace.errors import UsageError
from commonplace.model import Message, Role
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportedNote,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
)
from commonplace.sources.imports.export_values import text_of, time_of
from commonplace.sources.imports.foreign_databases import read_tables, several_people, tables_of
from commonplace.sources.imports.note_files import (
    distinct_paths,
    head_text,
    is_markdown,
    left_out,
    note_path,
    note_text,
    split_frontmatter,
    top_folders,
)
from commonplace.sources.imports.statements import moment_of, plain_line, plain_text, statement_entry

KIND: Final = "donna"
_FOLDERS: Final = frozenset(
    ("Inbox", "Meetings", "People", "Projects", "Daily", "Reviews", "Reflections", "Commitments")
)
_ENOUGH: Final = 2  # of these folders, together with a mark of Donna's in a note
_MARK: Final = re.compile(r"\A---\n(?:.*\n)*?(?:autowritten_by:[ \t]*[\"']?donna\b|donna:|donna_sensitive:)")
_LOOKED_AT: Final = 400
_TABLES: Final = frozenset(("conversation_messages", "conversation_sessions", "memory_documents"))
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "donna": "assistant"}


def _select(files: ImportFiles) -> Sequence[str]:
    databases = [path for path in files.paths() if tables_of(files, path) >= _TABLES]
    notes = [path for path in files.paths() if is_markdown(path)]
    root = _root(notes)
    is_vault = len(top_folders(notes, inside=root) & _FOLDERS) >= _ENOUGH
    if not is_vault or not any(_MARK.match(head_text(files, path)) for path in notes[:_LOOKED_AT]):
        return databases
    return [*databases, *(path for path in notes if path.startswith(root))]


def _root(notes: Sequence[str]) -> str:
    """The folder that holds the vault: that of the folders with her names; the top in most cases."""
    for depth in range(3):
        for path in notes:
            parts = path.split("/")
            if len(parts) > depth + 1 and parts[depth] in _FOLDERS:
                return "".join(f"{part}/" for part in parts[:depth])
    return ""


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    notes = [path for path in paths if is_markdown(path)]
    for path in paths:
        if path not in {*notes}:
            yield from read_tables(files, path, _database_items)
    root = _root(notes)
    targets = distinct_paths({path: _target(path[len(root) :]) for path in notes})
    for path in notes:
        if path[len(root) :].startswith("Templates/"):
            continue
        try:
            text = note_text(files, path)
        except UsageError as error:
            yield ImportProblem(path, error.message)
            continue
        if problem := split_frontmatter(text)[2]:
            yield ImportProblem(path, f"{problem}; the note is taken over as it is")
        in_place = path[len(root) :].partition("/")[0] in _FOLDERS
        yield ImportedNote(where=path, path=targets[path], text=text, in_place=in_place)
    yield from left_out([path for path in notes if path[len(root) :].startswith("Templates/")], "templates")


def _target(path: str) -> str:
    folder = path.partition("/")[0]
    stem = posixpath.splitext(path)[0]
    return note_path(stem) if folder in _FOLDERS and "/" in path else note_path("Donna", stem)


def _database_items(tables: ForeignTables, path: str) -> Iterator[ImportItem]:
    people = {plain_line(row.get("user_id")) for row in tables.rows("conversation_sessions")}
    if len(people) > 1:
        yield ImportProblem(path, several_people(people))
        return
    rows = tables.rows("conversation_messages", order=("session_id", "created_at", "id"))
    for session, group in groupby(rows, key=lambda row: plain_line(row.get("session_id"))):
        messages = tuple(found for row in group if (found := _message(row)))
        if messages:
            where = f"{path}, session {session[:40]}"
            yield ImportedConversation(where=where, interface=KIND, messages=messages, source_id=session)
    disabled = 0
    for row in tables.rows("learned_preferences", order=("created_at",)):
        disabled += not row.get("enabled", 1)
        if row.get("enabled", 1) and (text := plain_line(row.get("rule_text"))):
            id_ = plain_line(row.get("id"))
            since = moment_of(row.get("created_at"))
            where = f"{path}, learned_preferences {id_[:40]}"
            yield statement_entry(text, where=where, kind="preference", source_id=id_, known_since=since)
    if disabled:
        yield ImportSkip(path, f"learned preferences that are switched off: {disabled}")


def _message(row: Mapping[str, Cell]) -> Message | None:
    role, text = _ROLES.get(text_of(row.get("role")).casefold()), plain_text(row.get("content"))
    if role is None or not text:
        return None
    return Message(role, text, at=time_of(row.get("created_at")), source_id=plain_line(row.get("id")))


READER: Final = ImportReader(
    kind=KIND,
    title="Donna",
    files="her vault, and donna_tasks.db",
    select=_select,
    read=_read,
)
