"""Who wrote the statements and headings of USER.md or CHANNEL.md: git says it, and the log says who repeated them.

Each commit is compared with its own parent, never with the commit that git lists before it: after a merge that one may
be of the other branch. What a merge brings was written by the commits that it merges.
"""

import json
from collections.abc import Sequence
from typing import Final, cast

from commonplace.flows.ingest.line_writers import is_by_program
from commonplace.flows.notes.history import OPERATION
from commonplace.flows.notes.write import read_existing
from commonplace.flows.stores import Stores
from commonplace.notes.section_operations import statement_key, statement_keys
from commonplace.vault.base import Capability, HistoricBackend, Locator, Revision

_KEPT_ANSWERS: Final = 8
_ADDED_KEYS: Final[dict[tuple[str, ...], frozenset[str]]] = {}
_MOST_REVISIONS: Final = 3000  # of one note, newest first, that are read for who wrote its lines


def program_keys(at: Locator, stores: Stores) -> frozenset[str]:
    """The keys of the statements and headings that programs added to the note, and no person ever did or repeated.

    A person who appends what is there already approves it; the log of the note says so. Empty for a vault without
    history: then everything is the person's.
    """
    if Capability.HISTORY not in stores.vault.capabilities:
        return frozenset()
    vault = cast(HistoricBackend, stores.vault)
    revisions = [*reversed(vault.revisions(at, limit=_MOST_REVISIONS))]
    programs = _added_by_programs(at, revisions, vault)
    if not programs:
        return frozenset()
    return programs - _uncommitted(at, vault) - _repeated_by_person(at.path, stores)


def _added_by_programs(at: Locator, revisions: Sequence[Revision], vault: HistoricBackend) -> frozenset[str]:
    """The keys that only programs added in these revisions.

    What commits say never changes, so the last few answers are kept.
    """
    commits = (at.path, *(each.commit for each in revisions))
    if commits not in _ADDED_KEYS:
        programs, people = set[str](), set[str]()
        if any(map(is_by_program, revisions)):
            versions = _versions(at, revisions, vault)
            for revision, (before, after) in zip(revisions, versions, strict=True):
                (programs if is_by_program(revision) else people).update(after - before)
        if len(_ADDED_KEYS) >= _KEPT_ANSWERS:
            _ADDED_KEYS.clear()
        _ADDED_KEYS[commits] = frozenset(programs - people)
    return _ADDED_KEYS[commits]


def _versions(
    at: Locator, revisions: Sequence[Revision], vault: HistoricBackend
) -> list[tuple[frozenset[str], frozenset[str]]]:
    """The keys that the note had before and after each of these revisions."""
    names = [name for each in revisions for name in (f"{each.commit}^", each.commit)]
    contents = vault.read_all_at([(at, name) for name in names])
    keys = {content: statement_keys(content or b"") for content in {*contents}}  # most versions come twice
    return [(keys[before], keys[after]) for before, after in zip(contents[::2], contents[1::2], strict=True)]


def _uncommitted(at: Locator, vault: HistoricBackend) -> frozenset[str]:
    """The keys of what the person typed in an editor, and nobody has committed yet."""
    there, head = read_existing(at, vault.read), vault.head()
    committed = vault.read_at(at, head) if there and head else None
    return statement_keys(there.content) - statement_keys(committed or b"") if there else frozenset()


def _repeated_by_person(path: str, stores: Stores) -> frozenset[str]:
    """The keys of what the person said of the note by an operation, whether the note had it already or not."""
    rows = stores.history.entries(path=path, actor="person", verb=OPERATION)
    said = (json.loads(row.reason) for row in rows)
    operations = (each["operation"] for each in said if each["outcome"] in ("applied", "noop_dup"))
    return frozenset(statement_key(each["line"]) for each in operations if each.get("line"))
