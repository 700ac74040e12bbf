"""Which facts belong before a prompt, how important they still are, and which of them need a question first.

Facts about the person always belong there; others do if the prompt names their subject or object. Facts about
something that happened, such as a purchase, are shown only if the prompt names them.

Importance is computed on each read, always from what the note says and never from an earlier result. It never ages to
zero: an unused fact sinks in rank and stays reachable.

What a message is about (topics and a soft lock for its conversation), and which style fits it. No model is asked.

Topics: the message's vector is compared with one centroid for each topic. A style is a note under `Agent/styles`: its
frontmatter may list `contexts` and `topics` it is meant for, and one style may be the `default`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from commonplace.facts.claims import FactRules, is_own_word
from commonplace.facts.triples import EPHEMERAL, ME, predicate_key
from commonplace.model import Fact, FactClass, FactSnapshot, Note, Style, TopicLock, Trust
from commonplace.model.layout import INDEX_NOTE, STYLES
from commonplace.model.text import fold_phrase

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

# The numbers were chosen on two small sets made for it, by all-MiniLM-L6-v2: statements of 10 topics, 48 messages about
# them and 25 of small talk; then 8 topics, 32 messages and 15 of small talk. The right topic came first and passed for
# 67 % and 78 % of the messages, a wrong one for 0 % and 6 %; some topic passed for 8 % and 27 % of the small talk.
# A message about the locked topic never moved the lock, one about another did in 58 % and 61 % of the pairs, small talk
# in 3 % and 6 %.
TOPIC_COSINE: Final = 0.24
"""The lowest cosine at which a message is about a topic."""

DRIFT_MARGIN: Final = 0.04
"""How far above TOPIC_COSINE the nearest topic must be to move a lock: small talk is often just above it."""

MAX_TOPICS: Final = 3
"""The most topics that a message may be about."""

# Of 12 requests that fit one of four styles, by all-MiniLM-L6-v2, 5 reached this cosine with the right style and none
# with a wrong one; of 73 messages that fit none, one did.
STYLE_COSINE: Final = 0.3
"""The lowest cosine at which a style is chosen for its description alone."""


class TopicVector(Protocol):
    """The centroid of everything about a topic, as a unit vector."""

    @property
    def topic(self) -> str:
        """The topic's name."""

    @property
    def vector(self) -> "Floats":
        """The centroid."""


def infer_topics(vector: "Floats", centroids: Sequence[TopicVector]) -> tuple[tuple[str, float], ...]:
    """The topics of a message by its unit vector, with their cosines, nearest first; at most MAX_TOPICS, often none."""
    if not centroids:
        return ()
    # Imported here: a command that infers no topics should not wait for numpy.
    import numpy as np

    cosines = np.stack([each.vector for each in centroids]) @ vector
    pairs = zip(centroids, cosines, strict=True)
    near = [(each.topic, float(cosine)) for each, cosine in pairs if cosine >= TOPIC_COSINE]
    return tuple(sorted(near, key=lambda each: (-each[1], each[0]))[:MAX_TOPICS])


def update_lock(
    previous: TopicLock | None, inferred: Sequence[tuple[str, float]], *, conversation: str, at: str
) -> tuple[TopicLock, bool]:
    """The conversation's topic lock after this message, and whether the message moved it.

    The first message that is about something sets the lock. A later one keeps it while it is near a locked topic or not
    clearly near any; one that is clearly near other topics only moves it.
    """
    topics = tuple(topic for topic, _ in inferred)
    if previous is None or not previous.topics:
        return TopicLock(conversation, topics, at), False
    has_left = inferred and not set(topics) & set(previous.topics) and inferred[0][1] >= TOPIC_COSINE + DRIFT_MARGIN
    return (TopicLock(conversation, topics, at), True) if has_left else (previous, False)


def style_of(note: Note) -> Style | None:
    """The style in this note, or None if the note is not a style."""
    if not note.path.startswith(f"{STYLES}/") or note.path.endswith(f"/{INDEX_NOTE}"):
        return None
    contexts = (*_names(note.frontmatter.get("contexts")), *_names(note.frontmatter.get("topics")))
    return Style(
        name=note.title,
        path=note.path,
        contexts=tuple(dict.fromkeys(contexts)),
        is_default=note.frontmatter.get("default") is True,
        text=note.body.strip(),
    )


def choose_style(
    styles: Sequence[Style], *, message: str = "", topics: Sequence[str] = (), near: Mapping[str, float] | None = None
) -> Style | None:
    """The style for a message: by its contexts, else the nearest in meaning, else the default; None if none fits.

    A context fits if it is one of `topics` or occurs in the message. `near` maps the name of a style to the cosine of
    its text and the message.
    """
    cosines = near or {}
    ordered = sorted(styles, key=lambda style: (-cosines.get(style.name, 0.0), style.path))
    counted = [(_matching_contexts(style, message=message, topics=topics), style) for style in ordered]
    if most := max((count for count, _ in counted), default=0):
        return next(style for count, style in counted if count == most)
    if ordered and cosines.get(ordered[0].name, 0.0) >= STYLE_COSINE:
        return ordered[0]
    return next((style for style in ordered if style.is_default), None)


def _matching_contexts(style: Style, *, message: str, topics: Sequence[str]) -> int:
    """The number of the style's contexts that fit."""
    about = {topic.casefold() for topic in topics}
    words = _spaced_words(message)
    return sum(context.casefold() in about or _spaced_words(context) in words for context in style.contexts)


def _spaced_words(text: str) -> str:
    """The words of a text with spaces around each, so that a substring test matches whole words."""
    words = " ".join(re.findall(r"\w+", text.casefold()))
    return f" {words} "


def _names(value: object) -> tuple[str, ...]:
    """The names in a property: a list, or text with commas; empty for any other value."""
    names = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(name for each in names if isinstance(each, str) and (name := each.strip().lstrip("#")))


HALF_LIVES: Final[Mapping[FactClass, int]] = {"identity": 180, "fact": 90, "preference": 90, "event": 14, "": 90}
"""Days after which half of the importance is left, by class."""

CONFIRMATIONS: Final = 3
"""Days of confirmation from which the half-life doubles."""

USE_WINDOW: Final = 30
"""Days back in which use counts."""

USE_DAYS: Final = 10
"""Days of use within the window beyond which more use adds nothing."""

USE_BOOST: Final = 0.1
"""The largest share of the gap to 1 that use can win back, so that use alone never reaches 1."""

_UNPROVEN: Final[dict[Trust, str]] = {
    "read": "read in a note",
    "mined": "mined by a program",
    "imported": "imported",
}
_WORD: Final = re.compile(r"[\w'’&.-]+")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_NAME_WORDS: Final = 5  # the most words in a name
_PROMPT_WORDS: Final = 400  # words of a prompt that are searched for names


Item = TypeVar("Item")


class RelevantFact(NamedTuple):
    """A fact for a prompt; `is_named` tells facts that the prompt names from facts about the person."""

    snapshot: FactSnapshot
    is_named: bool


def relevant_facts(
    snapshots: Iterable[FactSnapshot], *, names: Sequence[str], rules: FactRules, limit: int
) -> tuple[RelevantFact, ...]:
    """The facts for a prompt with these names, at most `limit`.

    Facts that the prompt names come first, then facts about the person; each group by importance. What programs said
    takes at most half of the places from what the person said, however important the programs say that it is.
    """
    wanted = frozenset(names)
    current = [each for each in snapshots if each.state == "current"]
    named = [each for each in current if _is_named(each.fact, wanted, rules)]
    named_ids = {each.fact.id for each in named}
    own = [each for each in current if each.fact.id not in named_ids and _is_identity(each.fact, rules)]
    first = [RelevantFact(each, is_named=True) for each in sorted(named, key=_rank)]
    every = (*first, *(RelevantFact(each, is_named=False) for each in sorted(own, key=_rank)))
    return tuple(fair_share(every, lambda each: each.snapshot.fact, limit=limit))


def fair_share(ranked: Sequence[Item], fact_of: Callable[[Item], Fact], *, limit: int) -> list[Item]:
    """The first `limit` of these in order, where what programs said has at most half of the places.

    It has more only if the person said too little to fill the others.
    """
    said = [each for each in ranked if not is_own_word(fact_of(each))]
    places = max(limit // 2, limit - (len(ranked) - len(said)))
    beyond = {id(each) for each in said[places:]}
    return [each for each in ranked if id(each) not in beyond][:limit]


def possible_names(prompt: str, rules: FactRules) -> tuple[str, ...]:
    """Every run of one to five words in the prompt that could name an entity, normalized; not the user's own names."""
    words = _words_of(prompt)
    runs = (
        " ".join(words[start : start + length])
        for length in range(1, _NAME_WORDS + 1)
        for start in range(len(words) - length + 1)
    )
    return tuple(dict.fromkeys(key for run in runs if (key := rules.entity(run)) and key != ME))


def is_naming(text: str, names: Collection[str], rules: FactRules) -> bool:
    """True if one of these names is among the `possible_names` of the text.

    Only those runs are compared that begin with the first word of a name.
    """
    words, firsts = [*filter(None, _words_of(text))], {name.partition(" ")[0] for name in names}
    for start, word in enumerate(fold_phrase(" ".join(words)).split(" ")):
        if any(first in word for first in firsts):
            runs = (" ".join(words[start : start + length]) for length in range(1, _NAME_WORDS + 1))
            if any(rules.entity(run) in names for run in runs):
                return True
    return False


def _words_of(prompt: str) -> list[str]:
    return [_POSSESSIVE.sub("", word).strip("'’.-") for word in _WORD.findall(prompt)[:_PROMPT_WORDS]]


def aged_importance(fact: Fact, *, at: str, use_days: int = 0) -> float:
    """The importance of the fact at this moment, from 0 to 1; `use_days` counts days of use within USE_WINDOW."""
    half_life, fresh = HALF_LIVES[fact.fact], fact.recorded or fact.updated
    if fact.confirmed:
        confirmed = [day for day in fact.confirmed if day <= at]
        half_life *= 2 if len(confirmed) >= CONFIRMATIONS else 1
        fresh = max(fresh, *confirmed, "")
    left = _aged(fact.importance, fresh[:10], at[:10], half_life)
    return left + (1 - left) * USE_BOOST * min(use_days, USE_DAYS) / USE_DAYS if use_days > 0 else left


def doubt_of(snapshot: FactSnapshot, *, below: float, is_contested: bool) -> str:
    """Why an agent should ask before it relies on this fact; empty if there is no reason to.

    `below` is the aged importance under which an entry has faded; `is_contested` says that another current fact
    contradicts it. A line of a note does not fade; unless a program wrote it, it is the person's own.
    """
    fact = snapshot.fact
    if is_contested:
        return "another known fact contradicts it"
    if fact.origin == "line" and not is_own_word(fact):
        return "a program wrote this line into the note, not the person"
    if _is_unproven(fact):
        return f"{_UNPROVEN[fact.origins.trust]}, never confirmed"
    if fact.origin == "entry" and snapshot.importance < below:
        return f"not confirmed since {(fact.confirmed[-1] if fact.confirmed else fact.begins)[:10] or 'long ago'}"
    return ""


def _is_unproven(fact: Fact) -> bool:
    """True for an entry that nobody told or confirmed, and that is not made from the person's own words by rules."""
    is_foreign = fact.origins.trust in _UNPROVEN and not fact.origins.is_quoted
    return fact.origin == "entry" and is_foreign and not fact.confirmed


def _is_named(fact: Fact, names: frozenset[str], rules: FactRules) -> bool:
    return rules.entity(fact.subject) in names or rules.entity(fact.object) in names


def _is_identity(fact: Fact, rules: FactRules) -> bool:
    """True if the fact is about the person and is not a passing event."""
    return rules.entity(fact.subject) == ME and predicate_key(fact.predicate) not in EPHEMERAL


def _rank(snapshot: FactSnapshot) -> tuple[float, str]:
    return -snapshot.importance, snapshot.fact.id


@lru_cache(maxsize=8192)  # the facts of an answer share their days, and mostly the importance of their kind
def _aged(importance: float, start: str, end: str, half_life: int) -> float:
    """What is left of the importance on the day `end`; all of it if the start is unknown or later."""
    days = (date.fromisoformat(end) - date.fromisoformat(start)).days if start else 0
    left: float = min(max(importance, 0.0), 1.0) * 0.5 ** (max(days, 0) / half_life)
    return left
