"""What several entries make together: duplicates one entry, repeated events an insight, a closed project a digest.

Pure, and every statement of the result comes from the sources: what no source says, no derived entry says. A model may
word what they have in common (`wording`); names, numbers and denials that none of them has are not accepted. Entries
that were derived from others are no sources themselves, so that memory never feeds on what it made of itself; only a
way of working that is one entry made of equal ones becomes a procedure by their days.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from commonplace.facts.claims import is_own_word
from commonplace.facts.growth import best_first, looks_injected
from commonplace.facts.playbooks import content_stems
from commonplace.facts.value_spelling import plain_values
from commonplace.facts.words import FUNCTION_WORDS, denials, stem_of
from commonplace.model import Candidate, Fact, Origins
from commonplace.model.entry_field import made_from

SOURCES: Final = 3
"""Distinct sources that must agree before something is consolidated: twice may be chance."""

_HOW_TO: Final = frozenset({"workflow", "fix", "procedural"})
_WORKED: Final = frozenset({"workflow", "fix"})
_LONGEST_WORDING: Final = 300
_MOST_SHOWN: Final = 12  # statements that a model is shown
_BARE: Final = ".,;:!?()[]{}<>\"'`*\u201c\u201d\u201e\u2018\u2019"
WORDED: Final = "A model has worded it from what several entries say."
"""Why an entry in a model's words waits for the person."""
_DIGEST_LINES: Final = 40
_LINE: Final = 240  # characters of an entry in a digest
_GROUPS: Final[Mapping[str, str]] = {
    "decision": "Decisions",
    "workflow": "How things are done",
    "procedural": "How things are done",
    "fix": "Fixes",
    "constraint": "Constraints",
    "insight": "Insights",
}
_OTHER: Final = "Also known"


def may_be_source(fact: Fact) -> bool:
    """True for an entry that programs may build on: active, in its place, not sensitive, and not derived itself."""
    is_derived = any(bond == "derive" for bond, _ in fact.bonds)
    return _is_usable(fact) and not is_derived


def may_be_procedure(fact: Fact) -> bool:
    """True for a program's entry that says how something is done, and may become a procedure; it may be a merged one.

    A merged entry has the days of those that it was made of, so it counts as often as they did.
    """
    return fact.kind in _WORKED and _is_usable(fact) and may_be_replaced(fact)


def may_be_digested(fact: Fact) -> bool:
    """True for an entry that belongs into the digest of its project: also a merged one and a procedure."""
    return bool(fact.project) and fact.kind != "crystallized" and _is_usable(fact)


def _is_usable(fact: Fact) -> bool:
    is_there = fact.origin == "entry" and fact.status == "active" and not fact.place and not fact.sensitive
    return is_there and not looks_injected(fact.text)


def may_be_replaced(fact: Fact) -> bool:
    """True if a program may put the entry away for one that says the same: nothing that the person said or fixed."""
    return not (is_own_word(fact) or fact.pinned or fact.always_load or is_event(fact))


def is_event(fact: Fact) -> bool:
    """True for something that happened once: a second time is no duplicate."""
    return fact.kind == "event" or fact.fact == "event"


def group_by(facts: Iterable[Fact], key_of: Mapping[str, Hashable]) -> list[tuple[Fact, ...]]:
    """The facts with equal keys, two or more together, in the order of their ids; facts without a key are left out."""
    groups: defaultdict[Hashable, list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=lambda each: each.id):
        if fact.id in key_of:
            groups[key_of[fact.id]].append(fact)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def distinct_sources(facts: Iterable[Fact]) -> int:
    """From how many conversations these entries come, or from how many days where they name none."""
    return len({fact.origins.conversation or fact.begins[:10] for fact in facts})


def times_stated(fact: Fact) -> int:
    """On how many days an entry was stated: the first one, and each other day that confirmed it."""
    return 1 + len({*fact.confirmed} - {fact.begins[:10], fact.recorded[:10]})


def merged(facts: Sequence[Fact]) -> Candidate:
    """One entry in the words of the best witness, for all of these; it holds since the first of them did."""
    return made_from(
        Candidate,
        best_first(facts)[0],
        topics=_topics(facts),
        importance=max(fact.importance for fact in facts),
        valid_from=min(fact.begins for fact in facts),
        always_load=False,
        bonds=(),
    )


def generalized(facts: Sequence[Fact], *, by: str, worded: str = "") -> Candidate:
    """What holds in general, since several sources agree: an event that recurs, or what holds in many projects.

    `worded` is a model's wording of what they have in common; such an entry waits for the person.
    """
    best = best_first(facts)[0]
    days = sorted({fact.begins[:10] for fact in facts})
    text = worded or best.text.strip()
    if is_event(best):
        text = f"{text.rstrip('.')} ({len(facts)} times between {days[0]} and {days[-1]})."
    return Candidate(
        text=text,
        kind="procedural" if best.kind in _HOW_TO else "insight",
        fact="" if best.kind in _HOW_TO else "fact",
        topics=_topics(facts),
        importance=max(fact.importance for fact in facts),
        valid_from=f"{days[0]}T00:00:00Z",
        origins=Origins(by, trust="mined"),
        doubt=_doubt(facts) or (WORDED if worded else ""),
    )


def procedure(fact: Fact, *, by: str) -> Candidate:
    """The procedure that a way of working becomes when it was stated often; it has the same words and cues."""
    return made_from(
        Candidate,
        fact,
        text=fact.text.strip(),
        kind="procedural",
        fact="",
        subject="",
        predicate="",
        object="",
        due="",
        always_load=False,
        valid_from=fact.begins,
        bonds=(),
        origins=Origins(by, trust="mined"),
        doubt=_doubt((fact,)),
    )


def crystallized(project: str, facts: Sequence[Fact], *, by: str, phase: str = "") -> Candidate:
    """A digest of what is known from a closed project or phase, the most important first in each group."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for fact in sorted(facts, key=lambda each: (-each.importance, each.id))[:_DIGEST_LINES]:
        statement = " ".join(fact.text.split())
        cut = statement if len(statement) <= _LINE else f"{statement[:_LINE].rpartition(' ')[0]} ..."
        lines[_GROUPS.get(fact.kind, _OTHER)].append(f"- {cut}")
    order = [*dict.fromkeys(_GROUPS.values()), _OTHER]
    parts = [f"{name}:\n" + "\n".join(lines[name]) for name in order if lines[name]]
    days = sorted(fact.begins[:10] for fact in facts if fact.begins)
    span = f" from {days[0]} to {days[-1]}" if days else ""
    closed = (
        f"the phase {phase} of the project {project}, which ended,"
        if phase
        else f"the project {project}, which is closed"
    )
    return Candidate(
        text=f"What is known from {closed}{span}.\n\n" + "\n\n".join(parts),
        kind="crystallized",
        topics=_topics(facts),
        project=project,
        project_root=next((fact.project_root for fact in facts if fact.project_root), ""),
        importance=0.6,
        origins=Origins(by, trust="mined"),
        doubt=_doubt(facts),
    )


def is_done(group: Iterable[str], heirs: Mapping[str, Collection[str]]) -> bool:
    """True if an entry is derived from most of the group already: a few more sources are no news."""
    ids = {*group}
    return any(2 * len(ids & {*sources}) > len(ids) for sources in heirs.values())


def _doubt(facts: Iterable[Fact]) -> str:
    """Why the person must approve it: one of the sources is not trusted enough."""
    doubtful = any(fact.origins.trust in ("imported", "read") for fact in facts)
    return "It was made from what was imported or read in a note." if doubtful else ""


def _topics(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(topic for fact in facts for topic in fact.topics))[:5]


# ---------------------------------------------------------------- a model's words


def shown_statements(facts: Sequence[Fact]) -> list[str]:
    """The different statements that a model is shown, the best witness first."""
    return list(dict.fromkeys(" ".join(fact.text.split()) for fact in best_first(facts)))[:_MOST_SHOWN]


def wording(facts: Sequence[Fact], answer: Mapping[str, Any]) -> str:
    """A model's wording of what these entries say; empty unless it is short and says no more than they do.

    It must keep at least half of what they all share, hardly use other words, which also keeps the language, and have
    no name, number, day or denial that none of them has.
    """
    text = " ".join(str(answer.get("text") or "").split())
    sources = [fact.text for fact in facts]
    stems, known = content_stems(text) - FUNCTION_WORDS, [content_stems(each) - FUNCTION_WORDS for each in sources]
    shared, every = frozenset.intersection(*known), frozenset[str]().union(*known)
    is_sized = 0 < len(text) <= min(_LONGEST_WORDING, 2 * max(map(len, sources)))
    is_about = 3 * len(stems - every) <= len(stems) and 2 * len(stems & shared) >= len(shared)
    said = " ".join(sources)
    is_new = bool(denials(text) - denials(said)) or any(_new_terms(plain_values(text), plain_values(said)))
    return text if is_sized and is_about and not is_new and not looks_injected(text) else ""


def _new_terms(text: str, said: str) -> Iterator[str]:
    """The names, numbers, days and addresses in the text that the other one does not have."""
    known = {word.strip(_BARE).casefold() for word in said.split()}
    is_first = True
    for word in text.split():
        bare = word.strip(_BARE)
        folded = bare.casefold()
        is_plain = folded in FUNCTION_WORDS or stem_of(folded) in map(stem_of, known)
        is_named = bare[:1].isupper() and not (is_first and is_plain)
        if bare and folded not in known and (is_named or not bare.isalpha()):
            yield bare
        is_first = word.endswith((".", "!", "?"))
