"""agentm's vault: the folder `Agent`, with entries by kind, directives that are always loaded, and project notes.

An entry is a note whose frontmatter has a kind or type, a status and a slug. Entries that hold become entries here;
what was superseded, archived or never reviewed stays out. Plans, designs and other records become notes. An entry that
agentm loaded before every session waits for the person's approval.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.model import Candidate
from commonplace.sources.imports.base import (
    ImportedEntry,
    ImportedNote,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
)
from commonplace.sources.imports.note_files import (
    distinct_paths,
    head_text,
    is_markdown,
    left_out,
    note_path,
    note_text,
    split_frontmatter,
)
from commonplace.sources.imports.statements import moment_of, names_of, plain_line, plain_text

_LOOKED_AT: Final = 400
_LOCKED: Final = re.compile(
    r"\A---\n(?=(?:.*\n)*?(?:kind|type):)(?=(?:.*\n)*?slug:)(?=(?:.*\n)*?always_load:)(?!(?:.*\n)*?id:)"
)
_LONGEST_ENTRY: Final = 8000  # characters: an entry is one fragment; longer notes are documents
_ENDED: Final = frozenset(("superseded", "deleted", "expired", "archived"))
_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("preference", "preferences", "voice-profile"), "preference"),
    "feedback": "feedback",
    "non-negotiable": "constraint",
    **dict.fromkeys(("convention", "conventions", "decision", "decision-summary", "design-call"), "decision"),
    **dict.fromkeys(
        ("reference", "domain-reference", "research", "research-synthesis", "snippet", "evidence"), "domain-reference"
    ),
    **dict.fromkeys(("skill", "skill-pointer"), "skill-pointer"),
    **dict.fromkeys(("workflow", "workflow-pattern", "pattern", "runbook", "howto"), "workflow"),
    "procedural": "procedural",
    **dict.fromkeys(("fix", "failure-incident"), "fix"),
    **dict.fromkeys(("idea", "gap"), "idea"),
    "insight": "insight",
    "crystallized": "crystallized",
    "fact": "fact",
}
"""agentm's kinds and types, current and retired, and ours. Its other kinds are records, which become notes."""


def _select(files: ImportFiles) -> Sequence[str]:
    notes = [path for path in files.paths() if is_markdown(path)]
    is_ours = any(_LOCKED.match(head_text(files, path)) for path in notes[:_LOOKED_AT])
    return notes if is_ours else ()


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    targets = distinct_paths({path: note_path("agentm", posixpath.splitext(path)[0]) for path in paths})
    waiting, archived = list[str](), list[str]()
    for path in paths:
        folders = {*path.split("/")[:-1]}
        if "_meta" in folders:
            continue
        if posixpath.basename(path) == "_index.md":
            yield ImportSkip(
                path, "agentm generated it; if it is in your vault, delete it, and Commonplace writes its own"
            )
            continue
        if "_archive" in folders:
            archived.append(path)
        elif "_inbox" in folders:
            waiting.append(path)
        else:
            yield from _note_items(files, path, targets[path])
    yield from left_out(waiting, "agentm never reviewed them")
    yield from left_out(archived, "agentm archived them")


def _note_items(files: ImportFiles, path: str, target: str) -> Iterator[ImportItem]:
    try:
        text = note_text(files, path)
    except UsageError as error:
        yield ImportProblem(path, error.message)
        return
    keys, body, problem = split_frontmatter(text)
    if problem:
        yield ImportProblem(path, f"{problem}; it is taken over as a note")
    status = plain_line(keys.get("status")).casefold()
    kind = _KINDS.get(plain_line(keys.get("type") or keys.get("kind")).casefold(), "")
    said = plain_text(body)
    if status in _ENDED:
        yield ImportSkip(path, f"agentm marked it as {status}")
    elif kind and "slug" in keys and said and len(said) <= _LONGEST_ENTRY:
        yield _entry(keys, said, kind, path)
    elif said:
        yield ImportedNote(where=path, path=target, text=text)


def _entry(keys: Mapping[str, Any], text: str, kind: str, path: str) -> ImportedEntry:
    is_loaded = plain_line(keys.get("always_load")).casefold() == "true" or "_always-load" in path.split("/")
    topics = names_of(keys.get("tags") or ())
    candidate = Candidate(text=text, kind=kind, topics=topics, always_load=is_loaded)
    since = moment_of(keys.get("created"))
    return ImportedEntry(where=path, candidate=candidate, source_id=path, known_since=since, note=path)


READER: Final = ImportReader(
    kind="agentm",
    title="agentm",
    files="its vault folder, Agent",
    select=_select,
    read=_read,
)
