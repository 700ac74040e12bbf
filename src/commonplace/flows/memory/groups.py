"""Groups of entries of which nobody has said how they relate: among the candidates of a context, and for review."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from commonplace.facts.claims import rivals_nothing
from commonplace.facts.groups import DISPUTES, Group, groups_of, kept_together, near_from, near_words_from
from commonplace.facts.relevance import possible_names
from commonplace.facts.validity import holds
from commonplace.facts.words import FUNCTION_WORDS, bare_words, claim_stems, without_possessive
from commonplace.flows.cues import statement_text
from commonplace.flows.encode import cached_vectors, text_hash
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.neighbours import FLOOR, is_elsewhere
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Bond, Fact, FactSnapshot, Filters
from commonplace.model.layout import MEMORY
from commonplace.questions.names import capitalised_names

if TYPE_CHECKING:
    from commonplace.index.base import Floats

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


def in_groups(facts: Sequence[FactSnapshot], session: Session) -> tuple[FactSnapshot, ...]:
    """These facts in their order, those of a group together, the newest first. Raises IndexDamaged."""
    by_id = {each.fact.id: each for each in facts}
    groups = groups_among((each.fact for each in facts if each.state == "current"), session)
    return tuple(by_id[id] for id in kept_together(by_id, groups))


def groups_among(
    facts: Iterable[Fact], session: Session, *, disputes: frozenset[Bond] = DISPUTES, prompt: str = ""
) -> tuple[Group, ...]:
    """The groups among these facts, all of which hold; by their words where there is no encoder.

    A line of a note is of a group only with an entry that ends or contradicts it. Before a prompt, an entry that begins
    with a name of the prompt is of no group with one that lacks it: it answers, and the other does not.
    """
    rivals = [fact for fact in facts if not rivals_nothing(fact)]
    entries = [fact for fact in rivals if fact.origin == "entry"]
    if not entries or len(rivals) == 1:
        return ()
    with session.stores.index.reader() as reader:
        count = reader.count_documents(Filters(path=f"{MEMORY}/", sensitive="" if session.sees_sensitive else "out"))
        names = _names_in(prompt, reader, session) if prompt else frozenset()
    is_encoded = session.stores.encoders.current is not None
    pairs = _near_in_meaning(entries, count, session) if is_encoded else _near_in_words(entries, count)
    near = (
        (one.id, other.id)
        for one, other in pairs
        if not (is_elsewhere(one, other, session) or is_elsewhere(other, one, session))
    )
    return groups_of(rivals, near, rules=session.stores.rules, disputes=disputes, names=names)


def _names_in(prompt: str, reader: IndexReader, session: Session) -> frozenset[str]:
    """The words of the names in a prompt: of what the index knows, and of what has a capital letter in a sentence."""
    known = reader.existing_names(possible_names(prompt, session.stores.rules))
    names = (*known, *capitalised_names(prompt))
    return frozenset(without_possessive(word) for name in names for word in bare_words(name)) - FUNCTION_WORDS


def nearest_among(fact: Fact, others: Iterable[Fact], session: Session) -> Fact | None:
    """The one of these entries that is nearest by meaning; None if none is near enough to be a neighbour."""
    encoded, rows = _encoded([fact, *(each for each in others if each.id != fact.id)], session)
    if len(encoded) < 2 or encoded[0] is not fact:
        return None
    cosines = rows[1:] @ rows[0]
    best = int(cosines.argmax())
    return encoded[1 + best] if cosines[best] >= FLOOR else None


def _near_in_meaning(entries: Sequence[Fact], count: int, session: Session) -> Iterator[tuple[Fact, Fact]]:
    """The pairs that are near by meaning, of entries that are encoded; the memory has so many entries."""
    import numpy as np  # a command without a context should not wait for it

    floor, (encoded, rows) = near_from(count), _encoded(entries, session)
    for first in range(0, len(encoded), _AT_ONCE):
        block = rows[first : first + _AT_ONCE] @ rows[first:].T
        for one, other in np.argwhere(np.triu(block, 1) >= floor):
            yield encoded[first + one], encoded[first + other]


def _encoded(entries: Sequence[Fact], session: Session) -> "tuple[list[Fact], Floats]":
    """Those of the entries that are encoded, and the unit vector of each as a row."""
    import numpy as np

    hashes = {fact.id: text_hash(statement_text(fact.text, fact.about)) for fact in entries}
    vectors = cached_vectors([*set(hashes.values())], session.stores)
    encoded = [fact for fact in entries if hashes[fact.id] in vectors]
    rows = np.array([vectors[hashes[fact.id]] for fact in encoded], dtype=np.float32).reshape(len(encoded), -1)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    return encoded, rows


def _near_in_words(entries: Sequence[Fact], count: int) -> Iterator[tuple[Fact, Fact]]:
    """The pairs that are near by their claim words; the memory has so many entries."""
    stems = [claim_stems(fact.text) for fact in entries]
    places = defaultdict[str, list[int]](list)
    for place, words in enumerate(stems):
        for word in words:
            places[word].append(place)
    floor = near_words_from(count)
    shared = Counter(pair for each in places.values() if len(each) < _COMMON for pair in combinations(each, 2))
    for (one, other), common in shared.items():
        if common >= floor * (len(stems[one]) + len(stems[other]) - common):
            yield entries[one], entries[other]
