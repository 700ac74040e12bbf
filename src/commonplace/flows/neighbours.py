"""What is known near a candidate: the same words, the same subject and predicate, or a like meaning."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from commonplace.facts.routes import MEMORY
from commonplace.flows.ingest import ingest_paths
from commonplace.flows.keeper import Keeper
from commonplace.flows.shelf import Shelf
from commonplace.flows.wordings import vectors_of
from commonplace.index.base import FactQuery, Reading
from commonplace.model import Candidate, Filters, Known, Near

_NEAREST: Final = 12  # chunks of entries that are looked at by meaning


def neighbours(candidate: Candidate, keeper: Keeper) -> tuple[Candidate, tuple[Near, ...]]:
    """The known facts that the candidate must be held against; and the candidate, its subject as they spell it.

    Facts that this actor may not see count too: what is known is confirmed, whoever says it again. Raises IndexDamaged.
    """
    shelf = keeper.shelf()
    _catch_up(shelf)
    with shelf.index.reading() as reading:
        versions = dict(reading.versions())
    vectors = {} if candidate.predicate else vectors_of(candidate.text, versions, shelf)[0]
    with shelf.index.reading() as reading:
        candidate = _spelled(candidate, reading, keeper)
        cosines = _nearest(vectors, reading)
        found = {known.fact.id: known for known in (*_alike(candidate, reading, keeper), *_at(cosines, reading))}
    near = tuple(Near(known, cosines.get(known.fact.path)) for known in found.values())
    return candidate, near


def _catch_up(shelf: Shelf) -> None:
    """Take in the entries of a vault that was never read whole, so that none is saved twice."""
    with shelf.index.reading() as reading:
        if reading.synced() is not None:
            return
    entries = [stat.path for stat in shelf.vault.list(skip=shelf.ignored).files if stat.path.startswith(f"{MEMORY}/")]
    ingest_paths((path for path in entries if not shelf.index.stamp("vault", path)), shelf)


def _spelled(candidate: Candidate, reading: Reading, keeper: Keeper) -> Candidate:
    """The candidate with its subject spelled as a known fact about the same entity does: `Ada` may be an alias."""
    if not candidate.subject:
        return candidate
    names = reading.entities(candidate.subject)
    own = keeper.rules.entity(candidate.subject)
    known = reading.facts(FactQuery(names=tuple(sorted(names)), predicate=candidate.predicate, limit=20))
    for each in known:
        key = keeper.rules.entity(each.fact.subject)
        if key != own and key in names:
            return replace(candidate, subject=each.fact.subject)
    return candidate


def _alike(candidate: Candidate, reading: Reading, keeper: Keeper) -> tuple[Known, ...]:
    rules = keeper.rules
    fingerprint = rules.fingerprint(
        subject=candidate.subject, predicate=candidate.predicate, object=candidate.object, text=candidate.text
    )
    same = reading.facts(FactQuery(fingerprint=fingerprint))
    if not candidate.predicate:
        return same
    names = (rules.entity(candidate.subject),)
    return (*same, *reading.facts(FactQuery(names=names, predicate=candidate.predicate)))


def _nearest(vectors: Mapping[str, object], reading: Reading) -> Mapping[str, float]:
    """How near the nearest entries are, by path."""
    cosines: dict[str, float] = {}
    for version, vector in vectors.items():
        matches = reading.match_sense(vector, Filters(path=MEMORY), version=version, limit=_NEAREST)  # type: ignore[arg-type]
        best = {match.number: match.cosine for match in matches[:_NEAREST]}
        for found in reading.found([*best]):
            path = found.document.source_id
            cosines[path] = max(best[found.number], cosines.get(path, -1.0))
    return cosines


def _at(paths: Iterable[str], reading: Reading) -> tuple[Known, ...]:
    asked = tuple(paths)
    return reading.facts(FactQuery(paths=asked, origins=("entry",))) if asked else ()
