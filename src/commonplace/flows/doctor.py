"""Doctor: check every part in turn; each finding says what is wrong and how to fix it."""

from collections.abc import Callable, Iterator
from typing import Final

from commonplace.errors import CommonplaceError
from commonplace.facts.lint import lint_facts
from commonplace.flows.encode import is_catching_up
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.sync import count_stale
from commonplace.flows.memory.review import waiting_count, waiting_text
from commonplace.flows.notes.write import require_history
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import Counts
from commonplace.model import Actor, Problem
from commonplace.model.diagnostics import Finding
from commonplace.model.text import counted
from commonplace.vault.base import Capability

Check = Callable[[Stores], Iterator[Finding]]
_BY_HAND: Final = "Open the note at that line and correct it; Commonplace does not repair notes silently."


def examine(stores: Stores) -> tuple[Finding, ...]:
    """Check every part; one that cannot be checked is a finding, not the end."""
    checks: tuple[Check, ...] = (_vault, _git, _history, _encoder, _vectors, _index, _facts, _review)
    return tuple(finding for check in checks for finding in _run(check, stores))


def _run(check: Check, stores: Stores) -> Iterator[Finding]:
    try:
        yield from check(stores)
    except CommonplaceError as error:
        yield Finding(check.__name__.strip("_"), ok=False, said=error.message, remedy=error.hint or "", path=error.path)


def _vault(stores: Stores) -> Iterator[Finding]:
    listing = stores.vault.list(skip=stores.unindexed)
    yield Finding("vault", ok=True, said=f"{len(listing.files)} files, backend {stores.vault.name}")
    for problem in listing.problems:
        yield _of(problem, remedy="Rename, remove or ignore it (vault.ignore_globs).")


def _git(stores: Stores) -> Iterator[Finding]:
    if Capability.HISTORY not in stores.vault.capabilities:
        remedy = "If you want one: `commonplace settings set vault.backend obsidian-vault`, then `commonplace init`."
        yield Finding("git", ok=False, said="the vault has no history: nothing can be undone", remedy=remedy)
        return
    require_history(stores.vault).refuse([])
    yield Finding("git", ok=True, said="ready to commit")


def _history(stores: Stores) -> Iterator[Finding]:
    newest = stores.history.entries(limit=1)
    changed = f"last change {newest[0].when.isoformat()}" if newest else "no change yet"
    kept = len(stores.history.conversation_stamps())
    yield Finding("history", ok=True, said=f"{changed}, {counted(kept, 'conversation')}")


def _encoder(stores: Stores) -> Iterator[Finding]:
    encoder = stores.encoders.current
    if encoder is None:
        wanted = stores.encoders.is_wanted
        remedy = "Run `commonplace model install`." if wanted else ""
        said = f"search by meaning is off: {stores.encoders.missing}"
        yield Finding("encoder", ok=not wanted, said=said, remedy=remedy)
        return
    encoder.encode(["a word"])
    yield Finding("encoder", ok=True, said=encoder.version)


def _vectors(stores: Stores) -> Iterator[Finding]:
    stores.cache.get("", [])
    yield Finding("vectors", ok=True, said="cached vectors can be reused")


def _index(stores: Stores) -> Iterator[Finding]:
    with stores.index.reader() as reading:
        counts, problems = reading.counts(), reading.problems()
    yield _state(counts, stores)
    for problem in problems:
        yield _of(problem, remedy=_BY_HAND)


def _facts(stores: Stores) -> Iterator[Finding]:
    with stores.index.reader() as reading:
        contests, twins = reading.claim_conflicts(), reading.duplicate_ids()
    if not (contests or twins):
        yield Finding("facts", ok=True, said="no conflicting claims")
        return
    for problem in lint_facts((), twins=twins, contests=contests):
        yield _of(problem, remedy="Evolve, end or forget one of the two; `commonplace lint` lists all.")


def _review(stores: Stores) -> Iterator[Finding]:
    """How many memories wait for the person; that is no fault."""
    count = waiting_count(Session(stores, Actor(), stores.clock))
    yield Finding("review", ok=True, said=waiting_text(count) or "nothing waits for your review")


def _state(counts: Counts, stores: Stores) -> Finding:
    said = f"{counted(counts.documents.get(VAULT, 0), 'note')}, {counted(counts.chunks, 'chunk')}"
    if counts.synced is None:
        return Finding("index", ok=False, said=f"{said}; never synced", remedy="Run `commonplace sync`.")
    stale = count_stale(stores)
    if stale and is_catching_up(stores):
        return Finding("index", ok=True, said=f"{said}; {stale} are being indexed or encoded at the moment")
    if stale:
        return Finding("index", ok=False, said=f"{said}; {stale} changed since", remedy="Run `commonplace sync`.")
    return Finding("index", ok=True, said=f"{said}, synced {counts.synced}")


def _of(problem: Problem, *, remedy: str) -> Finding:
    return Finding(problem.code, ok=False, said=problem.message, remedy=remedy, path=problem.path, line=problem.line)
