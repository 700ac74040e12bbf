"""What is known near a candidate: the same words, the same subject and predicate, or a like meaning."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from commonplace.facts.routes import MEMORY
from commonplace.flows.document import VAULT
from commonplace.flows.ingest import ingest_paths
from commonplace.flows.keeper import Keeper
from commonplace.flows.read import standing
from commonplace.flows.shelf import Shelf
from commonplace.flows.wordings import vectors_of
from commonplace.index.base import FactQuery, Reading
from commonplace.model import Candidate, Fact, Filters, Known, Near

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

_NEAREST: Final = 12  # chunks of entries that are looked at by meaning
_RIVALS: Final = 500  # facts of one subject and predicate that are looked at, those last updated first


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The known facts near a candidate; one with its words that waits already; and whether one was forgotten."""

    near: tuple[Near, ...]
    waiting: Fact | None
    was_forgotten: bool


def surroundings(candidate: Candidate, keeper: Keeper) -> Surroundings:
    """The known facts that the candidate must be held against; not those that this actor may not see.

    Raises IndexDamaged.
    """
    shelf = keeper.shelf()
    catch_up(shelf)
    vectors = {} if candidate.predicate else _vectors(candidate.text, shelf)
    with shelf.index.reading() as reading:
        cosines = _nearest(vectors, reading, keeper)
        same = _same(candidate, reading, keeper)
        others = (*_rivals(candidate, reading, keeper), *_at(cosines, reading))
    standing_ = [known for known in same if known.fact.place != "staging"]
    found = {known.fact.id: known for known in (*standing_, *others)}
    near = tuple(Near(known, cosines.get(known.fact.path)) for known in found.values())
    waiting = next((known.fact for known in same if known.fact.place == "staging"), None)
    return Surroundings(near, waiting, any(known.fact.status == "deleted" for known in standing_))


def _vectors(text: str, shelf: Shelf) -> "Mapping[str, Fixed]":
    with shelf.index.reading() as reading:
        versions = dict(reading.versions())
    return vectors_of(text, versions, replace(shelf, is_patient=True))[0]  # what is kept is held against all there is


def bring_up_to_date(fact: Fact, shelf: Shelf) -> bool:
    """Whether the note of the fact was as the index has it; if not, the index has it now."""
    stamp, stat = shelf.index.stamp(VAULT, fact.path), standing(fact.path, shelf.vault)
    if stamp and stat and (stamp.mtime, stamp.size) == (stat.mtime, stat.size):
        return True
    ingest_paths([fact.path], shelf)
    return False


def catch_up(shelf: Shelf) -> None:
    """Take in the entries of a vault that was never read whole, so that none is saved twice."""
    with shelf.index.reading() as reading:
        if reading.synced() is not None:
            return
    entries = [stat.path for stat in shelf.vault.list(skip=shelf.ignored).files if stat.path.startswith(f"{MEMORY}/")]
    ingest_paths((path for path in entries if not shelf.index.stamp(VAULT, path)), shelf)


def _same(candidate: Candidate, reading: Reading, keeper: Keeper) -> tuple[Known, ...]:
    fingerprint = keeper.rules.fingerprint(
        subject=candidate.subject, predicate=candidate.predicate, object=candidate.object, text=candidate.text
    )
    return reading.facts(FactQuery(fingerprint=fingerprint, sensitive=keeper.tells_all, staged=True))


def _rivals(candidate: Candidate, reading: Reading, keeper: Keeper) -> tuple[Known, ...]:
    if not candidate.predicate:
        return ()
    names = (keeper.rules.entity(candidate.subject),)
    asked = FactQuery(names=names, predicate=candidate.predicate, sensitive=keeper.tells_all, limit=_RIVALS)
    return reading.facts(asked)


def _nearest(vectors: "Mapping[str, Fixed]", reading: Reading, keeper: Keeper) -> Mapping[str, float]:
    """How near the nearest entries are, by path."""
    filters = Filters(path=MEMORY, sensitive="" if keeper.tells_all else "out")
    cosines: dict[str, float] = {}
    for version, vector in vectors.items():
        matches = reading.match_sense(vector, filters, version=version, limit=_NEAREST)
        best = {match.number: match.cosine for match in matches[:_NEAREST]}
        for found in reading.found([*best]):
            path = found.document.source_id
            cosines[path] = max(best[found.number], cosines.get(path, -1.0))
    return cosines


def _at(paths: Iterable[str], reading: Reading) -> tuple[Known, ...]:
    asked = tuple(paths)
    return reading.facts(FactQuery(paths=asked, origins=("entry",))) if asked else ()
