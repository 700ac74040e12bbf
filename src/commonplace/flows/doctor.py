"""A look at everything that could be wrong, each with its remedy."""

from collections.abc import Callable, Iterator
from typing import Final

from commonplace.errors import CommonplaceError
from commonplace.facts.lint import lint_facts
from commonplace.flows.document import VAULT
from commonplace.flows.ingest import waiting_for_sync
from commonplace.flows.shelf import Shelf
from commonplace.flows.write import with_history
from commonplace.index.base import Counts
from commonplace.model import Finding, Problem
from commonplace.vault.base import Capability

Looks = tuple[Callable[[Shelf], Iterator[Finding]], ...]
_BY_HAND: Final = "Open the note at that line and mend it; nothing is repaired behind your back."


def examine(shelf: Shelf) -> tuple[Finding, ...]:
    """Every part looked at in turn; one that cannot be looked at is a finding, not the end."""
    looks: Looks = (_vault, _git, _history, _encoder, _vectors, _index, _facts)
    return tuple(finding for look in looks for finding in _looked(look, shelf))


def _looked(look: Callable[[Shelf], Iterator[Finding]], shelf: Shelf) -> Iterator[Finding]:
    try:
        yield from look(shelf)
    except CommonplaceError as error:
        yield Finding(look.__name__.strip("_"), ok=False, said=error.message, remedy=error.hint or "", path=error.path)


def _vault(shelf: Shelf) -> Iterator[Finding]:
    listing = shelf.vault.list(skip=shelf.ignored)
    yield Finding("vault", ok=True, said=f"{len(listing.files)} files, by {shelf.vault.name}")
    for problem in listing.passed_over:
        yield _of(problem, remedy="Rename, remove or ignore it (vault.ignore_globs).")


def _git(shelf: Shelf) -> Iterator[Finding]:
    if Capability.HISTORY not in shelf.vault.capabilities:
        remedy = "Run `commonplace init` on the vault, with vault.backend = obsidian-vault."
        yield Finding("git", ok=False, said="the vault has no history: nothing can be undone", remedy=remedy)
        return
    with_history(shelf.vault).refuse([])
    yield Finding("git", ok=True, said="ready to commit")


def _history(shelf: Shelf) -> Iterator[Finding]:
    newest = shelf.history.entries(limit=1)
    changed = f"last change {newest[0].when.isoformat()}" if newest else "no change yet"
    kept = len(shelf.history.conversation_stamps())
    yield Finding("history", ok=True, said=f"{changed}, {kept} conversations")


def _encoder(shelf: Shelf) -> Iterator[Finding]:
    encoder = shelf.encoders.current
    if encoder is None:
        wanted = shelf.encoders.is_wanted
        remedy = "Run `commonplace model install`." if wanted else ""
        yield Finding("encoder", ok=not wanted, said=shelf.encoders.missing, remedy=remedy)
        return
    encoder.encode(["a word"])
    yield Finding("encoder", ok=True, said=encoder.version)


def _vectors(shelf: Shelf) -> Iterator[Finding]:
    shelf.cache.get("", [])
    yield Finding("vectors", ok=True, said="those that were made can be used again")


def _index(shelf: Shelf) -> Iterator[Finding]:
    with shelf.index.reading() as reading:
        counts, problems = reading.counts(), reading.problems()
    yield _state(counts, shelf)
    for problem in problems:
        yield _of(problem, remedy=_BY_HAND)


def _facts(shelf: Shelf) -> Iterator[Finding]:
    with shelf.index.reading() as reading:
        contests, twins = reading.contests(), reading.twins()
    if not (contests or twins):
        yield Finding("facts", ok=True, said="no two claim the same")
        return
    for problem in lint_facts((), twins=twins, contests=contests):
        yield _of(problem, remedy="Evolve, end or forget one of the two; `commonplace lint` shows all.")


def _state(counts: Counts, shelf: Shelf) -> Finding:
    said = f"{counts.documents.get(VAULT, 0)} notes, {counts.chunks} chunks"
    if counts.synced is None:
        return Finding("index", ok=False, said=f"{said}; never synced", remedy="Run `commonplace sync`.")
    stale = waiting_for_sync(shelf)
    if stale:
        return Finding("index", ok=False, said=f"{said}; {stale} changed since", remedy="Run `commonplace sync`.")
    return Finding("index", ok=True, said=f"{said}, synced {counts.synced}")


def _of(problem: Problem, *, remedy: str) -> Finding:
    return Finding(problem.code, ok=False, said=problem.message, remedy=remedy, path=problem.path, line=problem.line)
