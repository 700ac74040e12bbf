"""Groups of entries of which nobody has said how they relate: among the candidates of a context, and for review."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from commonplace.facts.claims import rivals_nothing
from commonplace.facts.groups import DISPUTES, Group, groups_of, kept_together, near_from, near_words_from
from commonplace.facts.relevance import possible_names
from commonplace.facts.validity import holds
from commonplace.facts.words import FUNCTION_WORDS, bare_words, claim_stems, without_possessive
from commonplace.flows.encode import cached_vectors, text_hash
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.neighbours import FLOOR, compared_text, is_elsewhere
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Bond, Fact, FactSnapshot, Filters
from commonplace.model.layout import MEMORY
from commonplace.questions.names import capitalised_names

if TYPE_CHECKING:
    from commonplace.index.base import Floats

_WORD: Final = re.compile(r"\w+")
_DIGIT: Final = re.compile(r"\d")
_AT_ONCE: Final = 512  # entries that are compared with all others at once
_COMMON: Final = 200  # entries with a word from which it is too common to find anything by it
_FEW: Final = 3  # entries among those of a context: a word that no more have is rare there


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
    names = names_in(prompt, session) if prompt else frozenset[str]()
    is_encoded = session.stores.encoders.current is not None
    pairs = _near_in_meaning(entries, count, session) if is_encoded else _near_in_words(entries, count)
    near = (
        (one.id, other.id)
        for one, other in pairs
        if not (is_elsewhere(one, other, session) or is_elsewhere(other, one, session))
    )
    return groups_of(rivals, near, rules=session.stores.rules, disputes=disputes, names=names)


def names_in(prompt: str, session: Session) -> frozenset[str]:
    """The words of the names in a prompt: of what the index knows, and of what has a capital letter in a sentence."""
    with session.stores.index.reader() as reader:
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


def nearness(brought: Sequence[Fact], others: Sequence[Fact], session: Session) -> dict[str, float]:
    """How near each of the other entries is to the nearest of those that are brought, by id.

    By meaning; where there is no encoder, by the share of common claim words. What shares a rare name or number is as
    near as a neighbour at least.
    """
    texts = {fact.id: compared_text(fact) for fact in (*brought, *others)}
    stems = {id: claim_stems(text) for id, text in texts.items()}
    counts = Counter(word for words in stems.values() for word in words)
    asked = {name for fact in brought for name in _signs(texts[fact.id]) if counts[name] <= _FEW}
    near = {fact.id: FLOOR if _signs(texts[fact.id]) & asked else 0.0 for fact in others}
    if session.stores.encoders.current is None:
        cosines = {other.id: max(_shared(stems[other.id], stems[one.id]) for one in brought) for other in others}
    else:
        encoded, rows = _encoded([*brought, *others], session)
        ids = {fact.id for fact in brought}
        ours = [place for place, fact in enumerate(encoded) if fact.id in ids]
        best = (rows @ rows[ours].T).max(axis=1) if ours else ()
        cosines = {fact.id: float(cosine) for fact, cosine in zip(encoded, best, strict=False)}
    return {id: max(least, cosines.get(id, 0.0)) for id, least in near.items()}


def _signs(text: str) -> frozenset[str]:
    """The stems of the words of a text that are written like names, or with several digits."""
    words = [word for word in _WORD.findall(text) if word[0].isupper() or len(_DIGIT.findall(word)) > 1]
    return claim_stems(" ".join(words))


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / (len(one | other) or 1)


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

    hashes = {fact.id: text_hash(compared_text(fact)) for fact in entries}
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
