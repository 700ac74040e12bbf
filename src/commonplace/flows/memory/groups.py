"""Groups of entries of which nobody has said how they relate: among the candidates of a context, and for review."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from commonplace.facts.groups import DISPUTES, NEAR, NEAR_BY_WORDS, Group, groups_of, may_rival
from commonplace.facts.validity import holds
from commonplace.facts.words import claim_stems
from commonplace.flows.encode import cached_vectors, text_hash
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.neighbours import is_elsewhere
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Bond, Fact

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

_AT_ONCE: Final = 512  # entries that are compared with all others at once
_COMMON: Final = 200  # entries with a word from which it is too common to find anything by it


def undecided(session: Session) -> tuple[Group, ...]:
    """Every group among the entries that hold and that this actor may see. Raises IndexDamaged.

    An ending that waits for the person is a question of its own: the two entries are not of one group. The answer is
    kept until an entry changes: every session and every page asks how many there are.
    """
    sees, kept = session.sees_sensitive, session.stores.undecided
    with entry_reader(session.stores) as reader:
        query = FactQuery(statuses=("active",), origins=("entry",), sensitive=sees)
        records, versions = reader.facts(query), reader.versions()
    facts = tuple(each.fact for each in records if holds(each, session.now))
    known = kept.get(sees)
    if known is None or known[:2] != (versions, facts):
        kept[sees] = known = (versions, facts, groups_among(facts, session, disputes=DISPUTES - {"end"}))
    return known[2]


def groups_among(facts: Iterable[Fact], session: Session, *, disputes: frozenset[Bond] = DISPUTES) -> tuple[Group, ...]:
    """The groups among these entries, all of which hold; by their words where there is no encoder."""
    entries = [fact for fact in facts if may_rival(fact)]
    if len(entries) < 2:
        return ()
    is_encoded = session.stores.encoders.current is not None
    pairs = _near_in_meaning(entries, session) if is_encoded else _near_in_words(entries)
    near = (
        (one.id, other.id)
        for one, other in pairs
        if not (is_elsewhere(one, other, session) or is_elsewhere(other, one, session))
    )
    return groups_of(entries, near, rules=session.stores.rules, disputes=disputes)


def _near_in_meaning(entries: Sequence[Fact], session: Session) -> Iterator[tuple[Fact, Fact]]:
    """The pairs with a cosine of NEAR, of entries that are encoded."""
    import numpy as np  # a command without a context should not wait for it

    hashes = {fact.id: text_hash(fact.text) for fact in entries}
    vectors: Mapping[str, Fixed] = cached_vectors([*set(hashes.values())], session.stores)
    encoded = [fact for fact in entries if hashes[fact.id] in vectors]
    if not encoded:
        return
    rows = np.array([vectors[hashes[fact.id]] for fact in encoded], dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths, lengths, 1.0)
    for first in range(0, len(encoded), _AT_ONCE):
        block = rows[first : first + _AT_ONCE] @ rows[first:].T
        for one, other in np.argwhere(np.triu(block, 1) >= NEAR):
            yield encoded[first + one], encoded[first + other]


def _near_in_words(entries: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    """The pairs that have the share NEAR_BY_WORDS of their claim words in common."""
    stems = [claim_stems(fact.text) for fact in entries]
    places = defaultdict[str, list[int]](list)
    for place, words in enumerate(stems):
        for word in words:
            places[word].append(place)
    shared = Counter(pair for each in places.values() if len(each) < _COMMON for pair in combinations(each, 2))
    for (one, other), count in shared.items():
        if count >= NEAR_BY_WORDS * (len(stems[one]) + len(stems[other]) - count):
            yield entries[one], entries[other]
