"""Who wrote the statements and headings of USER.md or CHANNEL.md, and which of a program's the person approved.

Git says who wrote them. What the person repeats or respells keeps its words, so that git would say nothing of it: its
digest comes into the frontmatter of the note, in a commit of the person's. What a program's commit brings there counts
for nothing, and what is removed loses it. Older versions kept it in the log of operations alone.

Each commit is compared with its own parent, never with the commit that git lists before it: after a merge that one may
be of the other branch. What a merge brings was written by the commits that it merges.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from commonplace.flows.ingest.line_writers import is_by_program
from commonplace.flows.notes.history import OPERATION
from commonplace.flows.notes.write import read_existing
from commonplace.flows.stores import Stores
from commonplace.model.layout import USER_NOTE
from commonplace.notes import parse
from commonplace.notes.frontmatter_edit import set_key
from commonplace.notes.section_operations import statement_key, statement_keys
from commonplace.vault.base import Capability, HistoricBackend, Locator, Revision

APPROVED: Final = "approved"
"""The key in the frontmatter of the note that names what the person approved of what programs wrote."""

_DIGITS: Final = 16  # of a digest
_KEPT_ANSWERS: Final = 8
_WRITERS: Final[dict[tuple[str, ...], "_Writers"]] = {}
_MOST_REVISIONS: Final = 3000  # of one note, newest first, that are read for who wrote its lines


def program_keys(at: Locator, stores: Stores) -> frozenset[str]:
    """The keys of the statements and headings that programs added to the note, and no person since or ever repeated.

    What the person added counts as theirs until they remove it. A person who appends what is there already approves it;
    the log of the note says so. Empty for a vault without history: then everything is the person's.
    """
    revisions = _revisions(at, stores)
    if not any(map(is_by_program, revisions)):
        return frozenset()
    vault = cast(HistoricBackend, stores.vault)
    writers = _writers(at, revisions, vault)
    if not writers.programs:
        return frozenset()
    content, committed = _content(at, vault), _committed(at, vault)
    typed = statement_keys(content) - statement_keys(committed)
    approved = approved_digests(content) & (
        writers.approved | (approved_digests(content) - approved_digests(committed))
    )
    theirs = typed | _repeated_by_person(at.path, stores)
    return frozenset(key for key in writers.programs - theirs if statement_digest(key) not in approved)


def statement_digest(key: str) -> str:
    """The digest by which the frontmatter of a note names a statement that the person approved."""
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


def approved_digests(content: bytes) -> frozenset[str]:
    """The digests of the statements that the frontmatter of the note calls approved."""
    if APPROVED.encode() not in content:
        return frozenset()
    value = parse(content, path=USER_NOTE, mtime=0.0).frontmatter.get(APPROVED)
    return frozenset(map(str, value)) if isinstance(value, list) else frozenset()


def with_approval(content: bytes, keys: Iterable[str], *, path: str) -> bytes:
    """The note that says that the person approved these statements of it, and no longer what is gone."""
    there = {statement_digest(key) for key in statement_keys(content)}
    digests = (approved_digests(content) & there) | {statement_digest(key) for key in keys}
    return set_key(content, APPROVED, sorted(digests), path=path)


def removed_keys(at: Locator, stores: Stores) -> frozenset[str]:
    """The keys of the statements and headings that the person removed from the note and did not bring back.

    Empty for a vault without history.
    """
    revisions = _revisions(at, stores)
    if not revisions:
        return frozenset()
    vault = cast(HistoricBackend, stores.vault)
    removed = _writers(at, revisions, vault).removed
    return (removed | statement_keys(_committed(at, vault))) - statement_keys(_content(at, vault))


def _revisions(at: Locator, stores: Stores) -> Sequence[Revision]:
    """The commits that changed the note, oldest first; none for a vault without history."""
    if Capability.HISTORY not in stores.vault.capabilities:
        return ()
    return [*reversed(cast(HistoricBackend, stores.vault).revisions(at, limit=_MOST_REVISIONS))]


class _Writers(NamedTuple):
    """The keys that programs added and no person since, and those that the person removed and did not bring back.

    `approved` are the digests of what the person approved.
    """

    programs: frozenset[str]
    removed: frozenset[str]
    approved: frozenset[str]


def _writers(at: Locator, revisions: Sequence[Revision], vault: HistoricBackend) -> _Writers:
    """What these commits say, oldest first. That never changes, so the last few answers are kept."""
    commits = (at.path, *(each.commit for each in revisions))
    if commits not in _WRITERS:
        if len(_WRITERS) >= _KEPT_ANSWERS:
            _WRITERS.clear()
        _WRITERS[commits] = _read_writers(at, revisions, vault)
    return _WRITERS[commits]


def _read_writers(at: Locator, revisions: Sequence[Revision], vault: HistoricBackend) -> _Writers:
    programs, people, removed, approved = set[str](), set[str](), set[str](), set[str]()
    for revision, (before, after) in zip(revisions, _versions(at, revisions, vault), strict=True):
        gone, added = before.keys - after.keys, after.keys - before.keys
        people -= gone
        approved -= {*map(statement_digest, gone)} | (before.approved - after.approved)
        if is_by_program(revision):
            programs |= added
        else:
            people |= added
            removed = (removed | gone) - added
            approved |= after.approved - before.approved
    return _Writers(frozenset(programs - people), frozenset(removed), frozenset(approved))


class _Version(NamedTuple):
    """The keys of a version of the note, and the digests that its frontmatter calls approved."""

    keys: frozenset[str]
    approved: frozenset[str]


def _versions(at: Locator, revisions: Sequence[Revision], vault: HistoricBackend) -> list[tuple[_Version, _Version]]:
    """What the note had before and after each of these revisions."""
    names = [name for each in revisions for name in (f"{each.commit}^", each.commit)]
    contents = [content or b"" for content in vault.read_all_at([(at, name) for name in names])]
    versions = {each: _Version(statement_keys(each), approved_digests(each)) for each in {*contents}}  # most come twice
    return [(versions[before], versions[after]) for before, after in zip(contents[::2], contents[1::2], strict=True)]


def _content(at: Locator, vault: HistoricBackend) -> bytes:
    """The note as it is in the folder: the person may have edited it since the last commit."""
    there = read_existing(at, vault.read)
    return there.content if there else b""


def _committed(at: Locator, vault: HistoricBackend) -> bytes:
    head = vault.head()
    return (vault.read_at(at, head) if head else None) or b""


def _repeated_by_person(path: str, stores: Stores) -> frozenset[str]:
    """The keys of what the person said by an operation of which git says nothing: the note had those words already."""
    rows = stores.history.entries(path=path, actor="person", verb=OPERATION)
    said = [json.loads(row.reason) for row in rows]
    repeats = [each["operation"] for each in said if each["outcome"] == "noop_dup" or _is_respelling(each)]
    return frozenset(statement_key(each["line"]) for each in repeats if each.get("line"))


def _is_respelling(said: Mapping[str, Any]) -> bool:
    """True if the operation put other punctuation or case in the place of the same words."""
    operation = said["operation"]
    is_replaced = said["outcome"] == "applied" and operation["op"] == "replace"
    return is_replaced and statement_key(operation["match"]) == statement_key(operation["line"])
