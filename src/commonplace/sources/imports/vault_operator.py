"""Vault Operator (earlier Obsilo): its memory.db, the Markdown export of its facts, and its saved conversations.

Facts that hold become entries with their kind, topics and importance; replaced and withdrawn ones stay out, and so do
edges between facts. Its styles become notes: moved to Agent/styles by the person, they are used.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from commonplace.database.foreign_file import Cell, ForeignTables
from commonplace.errors import UsageError
from commonplace.model import Message, Role
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportedEntry,
    ImportedNote,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
    head,
)
from commonplace.sources.imports.export_values import mapping_of, mappings_in, text_of, time_of
from commonplace.sources.imports.foreign_databases import read_tables, tables_of
from commonplace.sources.imports.note_files import distinct_paths, head_text, is_markdown, note_path, note_text
from commonplace.sources.imports.statements import (
    fraction_of,
    moment_of,
    names_of,
    plain_line,
    plain_text,
    read_json,
    statement_entry,
)

KIND: Final = "vault-operator"
_MEMORY: Final = frozenset(("facts", "fact_edges"))
_HISTORY: Final = frozenset(("history_chunks",))
_KINDS: Final = frozenset(("identity", "fact", "preference", "event"))
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_SAVED: Final = re.compile(rb'\s*\{\s*"meta"\s*:\s*\{[^{}]*"messageCount"')  # its messages come later in the file
_EXPORT: Final = re.compile(r"# Memory facts \(exported [^\n]*\)\s*\n")
_TOPIC: Final = re.compile(r"## (.+?) \(\d+ facts?\)\s*")
_FACT: Final = re.compile(r"- \*\*(.+)\*\*\s*")
_DETAIL: Final = re.compile(r"(importance|kind|source_interface|source_uri): ([^,)`]+)")
_ESCAPED: Final = re.compile(r"\\([\\`])")


def _select(files: ImportFiles) -> Sequence[str]:
    return [path for path in files.paths() if _shape(files, path)]


def _shape(files: ImportFiles, path: str) -> str:
    """What the file is: `memory`, `history`, `export` or `conversation`; empty if it is none of them."""
    if is_markdown(path):
        return "export" if _EXPORT.match(head_text(files, path)) else ""
    if path.endswith(".json"):
        beginning = head(files, path)
        return "conversation" if b'"uiMessages"' in beginning or _SAVED.match(beginning) else ""
    tables = tables_of(files, path)
    return "memory" if tables >= _MEMORY else "history" if tables >= _HISTORY else ""


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    shapes = {path: _shape(files, path) for path in paths}
    saved = "conversation" in shapes.values()
    for path, shape in shapes.items():
        if shape == "memory":
            yield from read_tables(files, path, _memory_items)
        elif shape == "history" and saved:
            yield ImportSkip(path, "the index of the conversations, which are imported themselves")
        elif shape == "history":
            yield from read_tables(files, path, _history_items)
        else:
            yield from _file_items(files, path, shape)


def _file_items(files: ImportFiles, path: str, shape: str) -> Iterator[ImportItem]:
    try:
        if shape == "export":
            yield from _export_items(note_text(files, path), path)
        else:
            yield from _saved_conversation(mapping_of(read_json(files, path)), path)
    except UsageError as error:
        yield ImportProblem(path, error.message)


def _memory_items(tables: ForeignTables, path: str) -> Iterator[ImportItem]:
    gone, seen = 0, set[str]()
    for row in tables.rows("facts", order=("created_at", "id")):
        text = plain_line(row.get("text"))
        is_gone = row.get("is_latest", 1) == 0 or bool(row.get("deprecated_at") or row.get("superseded_by"))
        gone += is_gone
        if not text:
            yield ImportProblem(f"{path}, fact {row.get('id')}", "a fact has no text")
        elif not is_gone and text.casefold() not in seen:
            seen.add(text.casefold())
            yield _fact_entry(row, text, f"{path}, fact {row.get('id')}")
    if gone:
        yield ImportSkip(path, f"facts that were replaced or withdrawn: {gone}")
    if edges := sum(1 for _ in tables.rows("fact_edges")):
        yield ImportSkip(path, f"edges between facts: {edges}")
    yield from _style_notes(tables, path)
    if notes := [plain_line(row.get("note_path")) for row in tables.rows("memory_source_notes")]:
        named = ", ".join(notes[:5])
        yield ImportSkip(path, f"notes marked as sources: {len(notes)} ({named}); set `memory: source` in each of them")


def _fact_entry(row: Mapping[str, Cell], text: str, where: str) -> ImportedEntry:
    kind = plain_line(row.get("kind"))
    return statement_entry(
        text,
        where=where,
        kind=kind if kind in _KINDS else "",
        topics=_topics(row.get("topics")),
        importance=fraction_of(row.get("importance")),
        source_id=f"{row.get('id')}",
        known_since=moment_of(row.get("created_at")),
    )


def _topics(value: Cell) -> tuple[str, ...]:
    """The topics in a column of JSON, or of words with commas."""
    try:
        listed: Any = json.loads(value) if isinstance(value, str) and value.startswith("[") else value
    except (ValueError, RecursionError):
        listed = ()
    return names_of(listed or ())


def _style_notes(tables: ForeignTables, path: str) -> Iterator[ImportItem]:
    rows = [
        row for row in tables.rows("communication_styles", order=("id",)) if plain_text(row.get("style_description"))
    ]
    wanted = {
        f"{number}": note_path("Vault Operator", "styles", plain_line(row.get("context_match")) or "style")
        for number, row in enumerate(rows)
    }
    paths = distinct_paths(wanted)
    for number, row in enumerate(rows):
        examples = plain_text(row.get("examples"))
        text = f"{plain_text(row.get('style_description'))}\n" + (f"\n## Examples\n\n{examples}\n" if examples else "")
        where = f"{path}, style {row.get('id')}"
        yield ImportedNote(where=where, path=paths[f"{number}"], text=text)


def _history_items(tables: ForeignTables, path: str) -> Iterator[ImportItem]:
    """The conversations in the database of their passages."""
    rows = tables.rows("history_chunks", order=("session_id", "chunk_index"))
    for session, group in groupby(rows, key=lambda row: plain_line(row.get("session_id"))):
        found = ((_ROLES.get(plain_line(row.get("role"))), plain_text(row.get("text")), row) for row in group)
        messages = tuple(
            Message(role, text, at=time_of(row.get("created_at")), source_id=f"{row.get('chunk_index')}")
            for role, text, row in found
            if role and text
        )
        if messages:
            where = f"{path}, session {session[:40]}"
            yield ImportedConversation(where=where, interface=KIND, messages=messages, source_id=session)


def _saved_conversation(value: Mapping[str, Any], path: str) -> Iterator[ImportItem]:
    meta = mapping_of(value.get("meta"))
    interface = text_of(meta.get("sourceInterface"))
    messages = tuple(
        Message(role, text, at=time_of(each.get("ts")), source_id=f"{number}")
        for number, each in enumerate(mappings_in(value.get("uiMessages")), 1)
        if (role := _ROLES.get(text_of(each.get("role")))) and (text := plain_text(each.get("text")))
    )
    if not messages:
        yield ImportSkip(path, "nothing was said in it")
        return
    yield ImportedConversation(
        where=path,
        interface=KIND if interface in ("", "obsilo", "unknown") else interface,
        messages=messages,
        source_id=text_of(meta.get("id")) or path,
        title=plain_line(meta.get("title")),
    )


def _export_items(text: str, path: str) -> Iterator[ImportItem]:
    """The facts of the Markdown export: a heading for each topic, and two lines for each fact."""
    topic, lines, seen = "", text.split("\n"), set[str]()
    for number, line in enumerate(lines, 1):
        if match := _TOPIC.fullmatch(line):
            topic = "" if match[1] == "(no topic)" else match[1]
        elif match := _FACT.fullmatch(line):
            said = plain_line(_ESCAPED.sub(r"\1", match[1]))
            details = dict(_DETAIL.findall(lines[number] if number < len(lines) else ""))
            if said.casefold() not in seen:
                seen.add(said.casefold())
                yield _exported_fact(said, topic, details, where=f"{path}:{number}")


def _exported_fact(text: str, topic: str, details: Mapping[str, str], *, where: str) -> ImportedEntry:
    kind, importance = details.get("kind", "").strip(), details.get("importance", "")
    number = float(importance) if re.fullmatch(r"[01](?:\.\d+)?", importance.strip()) else None
    return statement_entry(
        text,
        where=where,
        kind=kind if kind in _KINDS else "",
        topics=[topic] if topic else [],
        importance=fraction_of(number),
        source_id=text,
    )


READER: Final = ImportReader(
    kind=KIND,
    title="Vault Operator",
    files="memory.db, an export of its facts, or its history folder",
    select=_select,
    read=_read,
)
