"""Who wrote the statements and headings of USER.md or CHANNEL.md: git says it, and the log says who repeated them.

Each commit is compared with its own parent, never with the commit that git lists before it: after a merge that one may
be of the other branch. What a merge brings was written by the commits that it merges.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from commonplace.flows.ingest.line_writers import is_by_program
from commonplace.flows.notes.history import OPERATION
from commonplace.flows.notes.write import read_existing
from commonplace.flows.stores import Stores
from commonplace.notes.section_operations import statement_key, statement_keys
from commonplace.vault.base import Capability, HistoricBackend, Locator, Revision

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
    programs = _writers(at, revisions, vault).programs
    typed = _keys(at, vault) - _committed_keys(at, vault) if programs else frozenset[str]()
    return programs - typed - _repeated_by_person(at.path, stores) if programs else programs


def removed_keys(at: Locator, stores: Stores) -> frozenset[str]:
    """The keys of the statements and headings that the person removed from the note and did not bring back.

    Empty for a vault without history.
    """
    revisions = _revisions(at, stores)
    if not revisions:
        return frozenset()
    vault = cast(HistoricBackend, stores.vault)
    return (_writers(at, revisions, vault).removed | _committed_keys(at, vault)) - _keys(at, vault)


def _revisions(at: Locator, stores: Stores) -> Sequence[Revision]:
    """The commits that changed the note, oldest first; none for a vault without history."""
    if Capability.HISTORY not in stores.vault.capabilities:
        return ()
    return [*reversed(cast(HistoricBackend, stores.vault).revisions(at, limit=_MOST_REVISIONS))]


class _Writers(NamedTuple):
    """The keys that programs added and no person since, and those that the person removed and did not bring back."""

    programs: frozenset[str]
    removed: frozenset[str]


def _writers(at: Locator, revisions: Sequence[Revision], vault: HistoricBackend) -> _Writers:
    """What these commits say, oldest first. That never changes, so the last few answers are kept."""
    commits = (at.path, *(each.commit for each in revisions))
    if commits not in _WRITERS:
        if len(_WRITERS) >= _KEPT_ANSWERS:
            _WRITERS.clear()
        _WRITERS[commits] = _read_writers(at, revisions, vault)
    return _WRITERS[commits]


def _read_writers(at: Locator, revisions: Sequence[Revision], vault: HistoricBackend) -> _Writers:
    programs, people, removed = set[str](), set[str](), set[str]()
    for revision, (before, after) in zip(revisions, _versions(at, revisions, vault), strict=True):
        gone, added = before - after, after - before
        people -= gone
        if is_by_program(revision):
            programs |= added
        else:
            people |= added
            removed = (removed | gone) - added
    return _Writers(frozenset(programs - people), frozenset(removed))


def _versions(
    at: Locator, revisions: Sequence[Revision], vault: HistoricBackend
) -> list[tuple[frozenset[str], frozenset[str]]]:
    """The keys that the note had before and after each of these revisions."""
    names = [name for each in revisions for name in (f"{each.commit}^", each.commit)]
    contents = vault.read_all_at([(at, name) for name in names])
    keys = {content: statement_keys(content or b"") for content in {*contents}}  # most versions come twice
    return [(keys[before], keys[after]) for before, after in zip(contents[::2], contents[1::2], strict=True)]


def _keys(at: Locator, vault: HistoricBackend) -> frozenset[str]:
    """The keys of the note as it is in the folder: the person may have edited it since the last commit."""
    there = read_existing(at, vault.read)
    return statement_keys(there.content) if there else frozenset()


def _committed_keys(at: Locator, vault: HistoricBackend) -> frozenset[str]:
    head = vault.head()
    return statement_keys((vault.read_at(at, head) if head else None) or b"")


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
