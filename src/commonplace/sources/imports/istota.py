"""Istota: USER.md, channel notes and dated memories in its workspace, and the facts and tasks in its database.

Each line of USER.md becomes an entry, each fact of the knowledge graph a triple with the time in which it held. Channel
notes and dated memories become notes. Tasks that a person gave in a chat, by mail or on the command line become
conversations; what ran on a schedule stays out.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from commonplace.database.foreign_file import Cell, ForeignTables
from commonplace.errors import UsageError
from commonplace.model import Message
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportedNote,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
)
from commonplace.sources.imports.export_values import time_of
from commonplace.sources.imports.foreign_databases import read_tables, several_people, tables_of
from commonplace.sources.imports.note_files import distinct_paths, note_path, note_text
from commonplace.sources.imports.statements import (
    LONGEST_STATEMENT,
    ME,
    is_triple,
    moment_of,
    plain_line,
    plain_text,
    statement_entry,
    statements_in,
    triple_entry,
)

KIND: Final = "istota"
_PROFILE: Final = re.compile(r"(?:.*/)?(?:Users/)?([^/]+)/[^/]+/config/USER\.md")
_CHANNEL: Final = re.compile(r"(?:.*/)?Channels/([^/]+)/CHANNEL\.md")
_DATED: Final = re.compile(r"(?:.*/)?(Users|Channels)/([^/]+)/memories/(\d{4}-\d{2}-\d{2})\.md")
_TABLES: Final = frozenset(("knowledge_facts", "memory_chunks"))
_REFERENCE: Final = re.compile(r"\s*\((?:(\d{4}-\d{2}-\d{2})(?:,\s*)?)?(?:ref:\d+)?\)\s*$")
_TYPED: Final = frozenset(("talk", "cli", "email", "whatsapp", "web"))
_KINDS: Final = (("prefer", "preference"), ("constraint", "constraint"), ("rule", "constraint"), ("about", "identity"))


def _select(files: ImportFiles) -> Sequence[str]:
    paths = files.paths()
    has_notes = any(_PROFILE.fullmatch(path) or _CHANNEL.fullmatch(path) for path in paths)
    has_notes = has_notes or any(_DATED.fullmatch(path) for path in paths)
    notes = [path for path in paths if has_notes and _is_note(path)]
    return [*notes, *(path for path in paths if tables_of(files, path) >= _TABLES)]


def _is_note(path: str) -> bool:
    return any(pattern.fullmatch(path) for pattern in (_PROFILE, _CHANNEL, _DATED))


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    notes = [path for path in paths if _is_note(path)]
    owners = {match[1] for path in notes if (match := _PROFILE.fullmatch(path))}
    targets = distinct_paths({path: _target(path) for path in notes})
    for path in notes:
        try:
            text = note_text(files, path)
        except UsageError as error:
            yield ImportProblem(path, error.message)
            continue
        if not _PROFILE.fullmatch(path):
            yield ImportedNote(where=path, path=targets[path], text=text)
        elif len(owners) > 1:
            yield ImportProblem(path, "the folder belongs to several people: import the folder of one of them")
        else:
            yield from _profile_items(text, path)
    for path in paths:
        if path not in {*notes}:
            yield from read_tables(files, path, _database_items)


def _target(path: str) -> str:
    if match := _DATED.fullmatch(path):
        folder = "memories" if match[1] == "Users" else f"channels/{match[2]}"
        return note_path("Istota", folder, match[3])
    channel = _CHANNEL.fullmatch(path)
    return note_path("Istota", "channels", channel[1] if channel else posixpath.basename(path)[:-3], "CHANNEL")


def _profile_items(text: str, path: str) -> Iterator[ImportItem]:
    seen = set[str]()
    for number, (heading, said) in enumerate(statements_in(text), 1):
        match = _REFERENCE.search(said)
        since = moment_of(match[1]) if match and match[1] else ""
        said = said[: match.start()] if match else said
        if not said or said.casefold() in seen:
            continue
        seen.add(said.casefold())
        kind = next((kind for word, kind in _KINDS if word in heading.casefold()), "")
        where = f"{path}, statement {number}"
        if len(said) > LONGEST_STATEMENT:
            yield ImportProblem(where, f"more than {LONGEST_STATEMENT} characters")
        else:
            yield statement_entry(said, where=where, kind=kind, source_id=said, known_since=since)


def _database_items(tables: ForeignTables, path: str) -> Iterator[ImportItem]:
    people = {plain_line(row.get("user_id")) for row in tables.rows("knowledge_facts")}
    people |= {plain_line(row.get("user_id")) for row in tables.rows("tasks")}
    if len(people) > 1:
        yield ImportProblem(path, several_people(people))
        return
    for row in tables.rows("knowledge_facts", order=("created_at", "id")):
        yield from _fact_items(row, f"{path}, fact {row.get('id')}", user=next(iter(people)))
    yield from _conversations(tables, path)


def _fact_items(row: Mapping[str, Cell], where: str, *, user: str) -> Iterator[ImportItem]:
    subject, predicate, object_ = (plain_line(row.get(name)) for name in ("subject", "predicate", "object"))
    if not is_triple(subject, predicate, object_):
        yield ImportProblem(where, "a fact needs a subject, a predicate and an object, each of them a name")
        return
    yield triple_entry(
        ME if subject.casefold() == user.casefold() else subject,
        predicate,
        object_,
        where=where,
        valid_from=moment_of(row.get("valid_from")),
        valid_until=moment_of(row.get("valid_until")),
        source_id=f"{row.get('id')}",
        known_since=moment_of(row.get("created_at")),
    )


def _conversations(tables: ForeignTables, path: str) -> Iterator[ImportItem]:
    """The tasks that a person gave, each with its answer, by conversation."""
    scheduled = 0
    rows = tables.rows("tasks", order=("conversation_token", "id"))
    for token, group in groupby(rows, key=_conversation_of):
        messages = list[Message]()
        for row in group:
            is_typed = row.get("source_type") in _TYPED and not row.get("heartbeat_silent")
            scheduled += not is_typed
            messages += _task_messages(row) if is_typed else []
        if messages:
            where = f"{path}, conversation {token[:40]}"
            yield ImportedConversation(where=where, interface=KIND, messages=tuple(messages), source_id=token)
    if scheduled:
        yield ImportSkip(path, f"tasks that nobody typed (scheduled jobs, briefings, subtasks): {scheduled}")


def _conversation_of(row: Mapping[str, Cell]) -> str:
    return plain_line(row.get("conversation_token")) or f"task {row.get('id')}"


def _task_messages(row: Mapping[str, Cell]) -> list[Message]:
    prompt, result = plain_text(row.get("prompt")), plain_text(row.get("result"))
    asked, answered = time_of(row.get("created_at")), time_of(row.get("completed_at"))
    messages = [Message("user", prompt, at=asked, source_id=f"{row.get('id')} prompt")] if prompt else []
    if prompt and result and row.get("status") == "completed":
        messages.append(Message("assistant", result, at=answered or asked, source_id=f"{row.get('id')} result"))
    return messages


READER: Final = ImportReader(
    kind=KIND,
    title="Istota",
    files="its workspace with Users and Channels, and its database",
    select=_select,
    read=_read,
)
