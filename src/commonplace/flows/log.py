"""What was written, by whom and why: from history.db, made up from git's commit trailers where it is missing."""

from collections.abc import Iterator

from commonplace.flows.move import MOVED_FROM, MOVED_TO
from commonplace.flows.write import ACTOR, KIND, ORIGIN, Desk, with_history
from commonplace.history.base import AuditEntry
from commonplace.vault.base import HistoricBackend, Revision, version_of

BASELINE = "baseline"  # what was there before us: no change of anybody's
_LOOKED_OVER = 200  # newest commits of ours that are compared with what is known


def log_entries(desk: Desk, *, path: str | None = None, limit: int | None = None) -> tuple[AuditEntry, ...]:
    """The newest changes first. Raises VaultUnavailable when neither git nor history.db can be read."""
    known = {entry.commit for entry in desk.history.entries(limit=5 * _LOOKED_OVER)}
    vault = with_history(desk.vault)
    ours = vault.revisions(ours=True, limit=_LOOKED_OVER if known else None)
    missing = [each for each in reversed(ours) if each.commit not in known and each.trailers.get(KIND) != BASELINE]
    desk.history.recover(entry for revision in missing for entry in _entries(revision, vault))
    order = {revision.commit: place for place, revision in enumerate(ours)}
    found = desk.history.entries(path=path, limit=limit)
    return tuple(sorted(found, key=lambda entry: order.get(entry.commit or "", len(order))))


def _entries(revision: Revision, vault: HistoricBackend) -> Iterator[AuditEntry]:
    trailers = revision.trailers
    source, target = trailers.get(MOVED_FROM), trailers.get(MOVED_TO)
    for path in revision.paths:
        if source and path == target:
            continue
        at = vault.resolve(path)
        now = vault.resolve(target) if target and path == source else at
        before, after = vault.read_at(at, f"{revision.commit}^"), vault.read_at(now, revision.commit)
        yield AuditEntry(
            mutation=revision.commit,
            when=revision.when,
            verb=trailers.get(KIND, "write"),
            path=path,
            destination=target if path == source else None,
            actor=trailers.get(ACTOR, "person"),
            origin=trailers.get(ORIGIN, "git"),
            reason=revision.message,
            before=version_of(before) if before is not None else None,
            after=version_of(after) if after is not None else None,
            commit=revision.commit,
            in_digest=False,
        )
