"""What several entries make together: duplicates one entry, repeated events an insight, a closed project a digest.

Pure, and every word of the result comes from the sources: what no source says, no derived entry says. Derived entries
are no sources themselves, so that memory never feeds on what it made of itself.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final

from commonplace.facts.claims import is_own_word
from commonplace.facts.growth import best_first, looks_injected
from commonplace.model import Candidate, Fact, Origins

SOURCES: Final = 3
"""Distinct sources that must agree before something is consolidated: twice may be chance."""

CONSOLIDATED: Final = ("insight", "procedural", "crystallized")
_HOW_TO: Final = frozenset({"workflow", "fix", "procedural"})
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
    is_there = fact.origin == "entry" and fact.status == "active" and not fact.place and not fact.sensitive
    return is_there and not is_derived and not looks_injected(fact.text)


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


def merged(facts: Sequence[Fact]) -> Candidate:
    """One entry in the words of the best witness, for all of these; it holds since the first of them did."""
    best = best_first(facts)[0]
    return Candidate(
        text=best.text,
        kind=best.kind,
        fact=best.fact,
        subject=best.subject,
        predicate=best.predicate,
        object=best.object,
        topics=_topics(facts),
        project=best.project,
        project_root=best.project_root,
        importance=max(fact.importance for fact in facts),
        valid_from=min(fact.begins for fact in facts),
        valid_until=best.valid_until,
        origins=best.origins,
    )


def generalized(facts: Sequence[Fact], *, by: str) -> Candidate:
    """What holds in general, since several sources agree: an event that recurs, or what holds in many projects."""
    best = best_first(facts)[0]
    days = sorted({fact.begins[:10] for fact in facts})
    text = best.text.strip()
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
        doubt=_doubt(facts),
    )


def crystallized(project: str, facts: Sequence[Fact], *, by: str) -> Candidate:
    """A digest of what is known from a closed project, the most important first in each group."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for fact in sorted(facts, key=lambda each: (-each.importance, each.id))[:_DIGEST_LINES]:
        statement = " ".join(fact.text.split())
        cut = statement if len(statement) <= _LINE else f"{statement[:_LINE].rpartition(' ')[0]} ..."
        lines[_GROUPS.get(fact.kind, _OTHER)].append(f"- {cut}")
    order = [*dict.fromkeys(_GROUPS.values()), _OTHER]
    parts = [f"{name}:\n" + "\n".join(lines[name]) for name in order if lines[name]]
    days = sorted(fact.begins[:10] for fact in facts if fact.begins)
    span = f" from {days[0]} to {days[-1]}" if days else ""
    return Candidate(
        text=f"What is known from the project {project}, which is closed{span}.\n\n" + "\n\n".join(parts),
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
