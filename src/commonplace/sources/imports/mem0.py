"""Memories of mem0 and OpenMemory: the JSON of `get_all`, of an export, and of OpenMemory's backup.

Each memory becomes an entry, each relation of the graph a triple. What mem0 archived or deleted stays out.
"""

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
from commonplace.sources.imports.foreign_databases import several_people
from commonplace.sources.imports.json_stream import ArrayItem, array_items, outline
from commonplace.sources.imports.statements import (
    LONGEST_STATEMENT,
    ME,
    is_triple,
    kind_of_statement,
    moment_of,
    names_of,
    plain_line,
    statement_entry,
    triple_entry,
    without_user,
)

_TEXTS: Final = ("memory", "content", "text", "data")  # the API, OpenMemory, older versions, the vector store
_LISTS: Final = ("results", "memories")
_GONE: Final = frozenset(("deleted", "archived"))
_MARKS: Final = (b'"user_id"', b'"hash"', b'"categories"', b'"agent_id"', b'"run_id"')
_KINDS: Final[Mapping[str, str]] = {  # words of categories and of metadata that name a kind of ours
    "preference": "preference",
    "preferences": "preference",
    "user_preferences": "preference",
    "personal_details": "identity",
    "personal": "identity",
    "identity": "identity",
    "milestones": "event",
    "event": "event",
}


def _select(files: ImportFiles) -> Sequence[str]:
    return [path for path in files.paths() if path.casefold().endswith(".json") and _is_ours(files, path)]


def _is_ours(files: ImportFiles, path: str) -> bool:
    try:
        with files.open(path) as stream:
            found = outline(stream)
    except (UsageError, OSError):
        return False
    beginning = head(files, path)
    keys = found.keys
    if found.is_array:
        return "memory" in keys and bool(keys & {"id", "hash", "user_id", "created_at", "metadata"})
    has_list = any(key in keys for key in _LISTS)
    is_memory = b'"memory"' in beginning or (b'"content"' in beginning and b'"state"' in beginning)
    return has_list and is_memory and any(mark in beginning for mark in _MARKS)


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    for path in paths:
        reading = _Memories(path)
        try:
            people = {plain_line(mapping_of(item.value).get("user_id")) for item in _arrays(files, path)} - {""}
            if len(people) > 1:
                yield ImportProblem(path, several_people(people))
                continue
            for item in _arrays(files, path):
                yield from reading.items(item, user=next(iter(people), ""))
        except UsageError as error:
            yield ImportProblem(path, error.message)
        except OSError:
            yield ImportProblem(path, "the file cannot be read")
        yield from reading.skips()


def _arrays(files: ImportFiles, path: str) -> Iterator[ArrayItem]:
    """The memories of a file, then its relations."""
    with files.open(path) as stream:
        found = outline(stream)
    key = next((each for each in _LISTS if each in found.keys), "")
    for name in filter(None, ("-",) if found.is_array else (key, "relations")):
        with files.open(path) as stream:
            yield from array_items(stream, key=name)


class _Memories:
    """The reading of one file: each statement is yielded once, and what is left out is counted."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[str] = set()
        self._gone = 0

    def items(self, item: ArrayItem, *, user: str) -> Iterator[ImportItem]:
        """The entry of one memory or relation, or a problem; `user` is the id of the person."""
        where, value = f"{self._path}, item {item.number}", mapping_of(item.value)
        if item.problem or not value:
            yield ImportProblem(where, item.problem or "not a memory")
        elif "relationship" in value or ("source" in value and ("target" in value or "destination" in value)):
            yield from self._relation(value, where, user=user)
        else:
            yield from self._memory(value, where)

    def _memory(self, value: Mapping[str, Any], where: str) -> Iterator[ImportItem]:
        text = next((found for key in _TEXTS if (found := plain_line(value.get(key)))), "")
        if text_of(value.get("state")) in _GONE or value.get("deleted_at"):
            self._gone += 1
        elif not text or len(text) > LONGEST_STATEMENT:
            yield ImportProblem(
                where, f"longer than {LONGEST_STATEMENT} characters" if text else "a memory has no text"
            )
        elif self._is_new(text):
            yield _memory_entry(value, text, where)

    def _relation(self, value: Mapping[str, Any], where: str, *, user: str) -> Iterator[ImportItem]:
        subject, predicate = text_of(value.get("source")), text_of(value.get("relationship") or value.get("relation"))
        object_ = text_of(value.get("target") or value.get("destination"))
        if not is_triple(subject, predicate, object_):
            yield ImportProblem(where, "a relation needs a source, a relationship and a target, each of them a name")
        elif self._is_new(f"{subject}\n{predicate}\n{object_}"):
            yield triple_entry(
                _spaced(subject, user),
                predicate,
                _spaced(object_, user),
                where=where,
                source_id=f"{subject} {predicate} {object_}",
            )

    def _is_new(self, key: str) -> bool:
        is_new = key.casefold() not in self._seen
        self._seen.add(key.casefold())
        return is_new

    def skips(self) -> Iterator[ImportItem]:
        """What was left out of the file."""
        if self._gone:
            yield ImportSkip(self._path, f"memories that were deleted or archived there: {self._gone}")


def _spaced(name: str, user: str) -> str:
    """A name of the graph, which writes blanks as underscores; `me` for the id of the person."""
    return ME if user and name.casefold() == user.casefold() else name.replace("_", " ")


def _memory_entry(value: Mapping[str, Any], text: str, where: str) -> ImportedEntry:
    metadata = mapping_of(value.get("metadata") or value.get("metadata_"))
    categories = names_of(value.get("categories") or metadata.get("categories") or ())
    words = [*categories, plain_line(metadata.get("type") or metadata.get("category"))]
    kind = next((_KINDS[word.casefold()] for word in words if word.casefold() in _KINDS), "")
    if kind != "preference" and kind_of_statement(without_user(text)) == "preference":
        kind = "preference"
    return statement_entry(
        text,
        where=where,
        kind=kind,
        topics=[each.replace("_", " ") for each in categories if each.casefold() not in (*_KINDS, "misc", "other")],
        source_id=plain_line(value.get("id")),
        known_since=moment_of(value.get("created_at") or value.get("createdAt")),
    )


READER: Final = ImportReader(
    kind="mem0",
    title="mem0 and OpenMemory",
    files="the JSON of its memories, or OpenMemory's backup",
    select=_select,
    read=_read,
)
