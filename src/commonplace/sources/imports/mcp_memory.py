"""The knowledge graph of the MCP memory server: memory.json, one entity or relation on each line.

Each observation of an entity becomes an entry, each relation a triple. Older versions and exports hold the graph as one
object with `entities` and `relations`. A server that was killed leaves two objects on one line, or half of one.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.sources.imports.base import (
    ImportedEntry,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
    head,
)
from commonplace.sources.imports.export_values import mapping_of, text_of
from commonplace.sources.imports.statements import (
    LONGEST_STATEMENT,
    ME,
    entity_name,
    is_triple,
    moment_of,
    plain_line,
    read_json,
    statement_entry,
    triple_entry,
)

_LINE: Final = re.compile(rb'\s*\{[^{}]{0,2000}"(?:entityType|relationType)"\s*:')
_GRAPH: Final = re.compile(rb'\s*\{\s*"(?:entities|relations)"\s*:\s*\[')
_LONGEST_LINE: Final = 8 * 1024 * 1024
_DECODER: Final = json.JSONDecoder()


def _select(files: ImportFiles) -> Sequence[str]:
    return [path for path in files.paths() if path.casefold().endswith((".json", ".jsonl")) and _is_ours(files, path)]


def _is_ours(files: ImportFiles, path: str) -> bool:
    beginning = head(files, path).removeprefix(b"\xef\xbb\xbf")
    if _GRAPH.match(beginning):
        return b'"entityType"' in beginning or b'"relationType"' in beginning
    return bool(_LINE.match(beginning))


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    for path in paths:
        reading = _Graph(path)
        try:
            for number, value in _records(files, path):
                yield from reading.items(value, number)
        except (UsageError, OSError) as error:
            yield ImportProblem(path, getattr(error, "message", "the file cannot be read"))
        yield from reading.skips()


def _records(files: ImportFiles, path: str) -> Iterator[tuple[int, Any]]:
    """The entities and relations of a file with their lines, or an error in their place."""
    if _GRAPH.match(head(files, path).removeprefix(b"\xef\xbb\xbf")):
        graph = mapping_of(read_json(files, path))
        for type_ in ("entities", "relations"):
            found = graph.get(type_)
            for number, value in enumerate(found if isinstance(found, list) else [], 1):
                yield number, value
        return
    with files.open(path) as stream:
        number = 0
        while line := stream.readline(_LONGEST_LINE):
            number += 1
            for value in _values(line.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").strip()):
                yield number, value


def _values(line: str) -> Iterator[Any]:
    """The JSON values on a line, one after the other; an error in the place of what is none."""
    at = 0
    while at < len(line):
        try:
            value, at = _DECODER.raw_decode(line, at)
        except (ValueError, RecursionError):
            yield ValueError("not valid JSON, or nested too deeply")
            return
        yield value
        while at < len(line) and line[at] in " \t\r,":
            at += 1


class _Graph:
    """The reading of one file: each statement is yielded once, and what is left out is counted."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[tuple[str, ...]] = set()
        self._empty = 0

    def items(self, value: Any, number: int) -> Iterator[ImportItem]:
        """The entries of one record, or a problem."""
        where = f"{self._path}:{number}"
        if not isinstance(value, dict):
            yield ImportProblem(where, str(value) if isinstance(value, ValueError) else "not an entity or a relation")
        elif "relationType" in value or "relation_type" in value or value.get("type") == "relation":
            yield from self._relation(value, where)
        elif "observations" in value or "entityType" in value or value.get("type") == "entity":
            yield from self._entity(value, where)
        else:
            yield ImportProblem(where, "not an entity or a relation")

    def _relation(self, value: Mapping[str, Any], where: str) -> Iterator[ImportItem]:
        subject = text_of(value.get("from") or value.get("from_id"))
        predicate = text_of(value.get("relationType") or value.get("relation_type"))
        object_ = text_of(value.get("to") or value.get("to_id"))
        if not is_triple(subject, predicate, object_):
            yield ImportProblem(where, "a relation needs `from`, `relationType` and `to`, each of them a name")
        elif self._is_new("", subject, predicate, object_):
            since = moment_of(value.get("timestamp") or value.get("createdAt"))
            yield triple_entry(
                subject,
                predicate,
                object_,
                where=where,
                source_id=f"{subject} {predicate} {object_}",
                known_since=since,
            )

    def _entity(self, value: Mapping[str, Any], where: str) -> Iterator[ImportItem]:
        name = text_of(value.get("name") or value.get("entityName") or value.get("id"))
        if not name:
            yield ImportProblem(where, "an entity has no name")
            return
        said = value.get("observations")
        observations = said if isinstance(said, list) else [said] if said else []
        self._empty += not observations
        for each in observations:
            yield from self._observation(each, name, value, where)

    def _observation(self, value: Any, name: str, entity: Mapping[str, Any], where: str) -> Iterator[ImportItem]:
        """The entry for one observation: text, or in newer versions an object with its text and time."""
        details = mapping_of(value)
        text = plain_line(value) or plain_line(details.get("content") or details.get("text"))
        if details.get("superseded_by"):
            yield ImportSkip(where, f"{name[:80]}: an observation that was replaced")
        elif not text:
            yield ImportProblem(where, f"{name[:80]}: an observation is not text")
        elif len(text) > LONGEST_STATEMENT:
            yield ImportProblem(where, f"{name[:80]}: an observation has more than {LONGEST_STATEMENT} characters")
        elif self._is_new(name, text):
            since = moment_of(details.get("timestamp") or entity.get("timestamp") or entity.get("createdAt"))
            yield _observation_entry(text, name, entity, where=where, since=since)

    def _is_new(self, *said: str) -> bool:
        key = tuple(each.casefold() for each in said)
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def skips(self) -> Iterator[ImportItem]:
        """What was left out of the file."""
        if self._empty:
            yield ImportSkip(self._path, f"entities without observations: {self._empty}")


def _observation_entry(text: str, name: str, entity: Mapping[str, Any], *, where: str, since: str) -> ImportedEntry:
    subject = entity_name(name)
    is_named = subject == ME or subject.split()[0].casefold() in text.casefold()
    tag = plain_line(entity.get("entityType")).casefold().replace(" ", "-")
    return statement_entry(
        text if is_named else f"{subject}: {text}",
        where=where,
        subject=subject,
        tags=[tag] if tag and subject != ME else [],
        source_id=f"{name}: {text}",
        known_since=since,
    )


READER: Final = ImportReader(
    kind="mcp-memory",
    title="MCP memory server",
    files="its memory.json",
    select=_select,
    read=_read,
)
