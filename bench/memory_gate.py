"""What becomes of a candidate memory in an agent's words, beside the one thing that memory holds already.

Each candidate meets a memory of its own, without files: nothing else is known there.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from bench.memory_sets import LABELS, CandidateMemory
from bench.memory_vault import FIRST_SAID, LAST_SAID, BenchClock, Opener

from commonplace.errors import Refused
from commonplace.memory import Memory
from commonplace.model import EntryResult
from commonplace.model.request import NewEntry

HELD: Final = ("current", "future")
OUTCOMES: Final = ("added", "confirmed", "replaced", "refused", "staged", "other")


def outcome_of(memory: Memory, clock: BenchClock, candidate: CandidateMemory) -> tuple[str, str]:
    """What became of a candidate, and what the program said to it."""
    now, known = datetime.now(UTC), ""
    if candidate.known:
        clock.set_to = now - FIRST_SAID
        try:
            known = memory.entries.add(NewEntry(candidate.known)).fact.id
        except Refused as error:
            return "other", f"what is known was refused: {error}"
    clock.set_to = now - LAST_SAID
    try:
        result = memory.entries.add(NewEntry(candidate.text))
    except Refused as error:
        return "refused", f"{error.reason}: {error}"
    clock.set_to = None
    return _outcome(memory, known, result), f"{result.action}: {result.reason}"


def _outcome(memory: Memory, known: str, result: EntryResult) -> str:
    """`replaced` when the new text is held alone, `added` when it is held beside the known one, and so on."""
    if result.staged:
        return "staged"
    facts = {each.fact.id: each for each in memory.facts.about(every=True)}
    held = {id for id, each in facts.items() if each.state in HELD}
    if known in held and facts[known].ended_by == result.fact.id:
        held.remove(known)  # it ends when the new one begins, on a day to come
    if held == {known}:
        return "confirmed"
    if held == {result.fact.id}:
        return "replaced" if known else "added"
    return "added" if held == {known, result.fact.id} else "other"


RIGHT: Final = {"keep": "added", "junk": "refused", "secret": "refused", "duplicate": "confirmed", "update": "replaced"}


def measure_gate(candidates: Sequence[CandidateMemory], opener: Opener) -> dict[str, Any]:
    """How often each label got what it should, what it got else, and each candidate that did not."""
    outcomes: Counter[tuple[str, str]] = Counter()
    failed = []
    for candidate in candidates:
        with opener.in_memory() as (memory, clock):
            outcome, said = outcome_of(memory, clock, candidate)
        outcomes[candidate.label, outcome] += 1
        if outcome != RIGHT[candidate.label]:
            failed.append({"id": candidate.id, "label": candidate.label, "got": outcome, "said": said})
    labels = [label for label in LABELS if any(label == each.label for each in candidates)]
    return {
        "labels": {
            label: [outcomes[label, RIGHT[label]], sum(outcomes[label, each] for each in OUTCOMES)] for label in labels
        },
        "outcomes": {label: {each: outcomes[label, each] for each in OUTCOMES} for label in labels},
        "failed": failed,
    }
