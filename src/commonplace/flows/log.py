"""What was written, by whom and why: from history.db, made up from git's commit trailers where it is missing."""

from collections.abc import Collection, Iterator
from itertools import islice

from commonplace.flows.erase import erased_since, files_of
from commonplace.flows.move import MOVED_FROM, MOVED_TO
from commonplace.flows.read import locate
from commonplace.flows.write import ACTOR, KIND, ORIGIN, Desk, with_history
from commonplace.history.base import ERASED, AuditEntry, checked_limit
from commonplace.policy.spaces import space_of
from commonplace.vault.base import Revision, version_of

BASELINE = "baseline"  # what was there before us: no change of anybody's
_LOOKED_OVER = 200  # newest commits of ours that are compared with what is known


def log_entries(desk: Desk, *, path: str | None = None, limit: int | None = None) -> tuple[AuditEntry, ...]:
    """The rows of the newest changes, at most `limit` of them, in git's order, newest first.

    Raises VaultUnavailable when neither git nor history.db can be read.
    """
    checked_limit(limit)
    about = None if path is None else locate(path, desk.vault).path
    known = {entry.commit for entry in desk.history.entries(limit=5 * _LOOKED_OVER)}
    farthest = max(_LOOKED_OVER, limit) if known and limit is not None else None
    compared = _LOOKED_OVER if known else None
    ours = with_history(desk.vault).revisions(ours=True, limit=farthest)
    gone = erased_since(ours)
    missing = [
        each for each in reversed(ours[:compared]) if each.commit not in known and each.trailers.get(KIND) != BASELINE
    ]
    desk.history.recover(entry for revision in missing for entry in _entries(revision, desk, gone[revision.commit]))
    order = {revision.commit: place for place, revision in enumerate(ours)}
    found = sorted(_rows(desk, about, limit), key=lambda entry: order.get(_change_of(entry), len(order)))
    chosen = {*islice(dict.fromkeys(map(_change_of, found)), limit)}
    return tuple(entry for entry in found if _change_of(entry) in chosen)


def _rows(desk: Desk, path: str | None, limit: int | None) -> tuple[AuditEntry, ...]:
    """The newest rows, of so many changes at least; a change of many notes has many."""
    asked = None if limit is None else _LOOKED_OVER + 5 * limit
    while True:
        rows = desk.history.entries(path=path, limit=asked)
        if asked is None or limit is None or len(rows) < asked or len({*map(_change_of, rows)}) > limit:
            return rows
        asked *= 4


def _change_of(entry: AuditEntry) -> str:
    return entry.commit or entry.mutation


def _entries(revision: Revision, desk: Desk, gone: Collection[str]) -> Iterator[AuditEntry]:
    """The rows of a commit, but for paths that were erased."""
    vault, trailers = with_history(desk.vault), revision.trailers
    source, target = trailers.get(MOVED_FROM), trailers.get(MOVED_TO)
    ends = {path: target if target and path == source else path for path in files_of(revision)}
    if source in ends:
        ends.pop(target or "", None)
    ends = {path: end for path, end in ends.items() if path not in gone and end not in gone}
    before = [(vault.resolve(path), f"{revision.commit}^") for path in ends]
    contents = vault.read_all_at([*before, *((vault.resolve(end), revision.commit) for end in ends.values())])
    actor = trailers.get(ACTOR, "person")
    for (path, end), was, came in zip(ends.items(), contents, contents[len(ends) :], strict=False):
        yield AuditEntry(
            mutation=revision.commit,
            when=revision.when,
            verb=trailers.get(KIND, "write"),
            path=path,
            destination=end if end != path else None,
            actor=actor,
            origin=trailers.get(ORIGIN, "git"),
            reason=_without(gone, revision.message),
            before=None if was is None else version_of(was),
            after=None if came is None else version_of(came),
            commit=revision.commit,
            in_digest=actor != "person" and space_of(path, desk.safety) != "memory",
        )


def _without(gone: Collection[str], reason: str) -> str:
    for path in gone:
        reason = reason.replace(path, ERASED)
    return reason
