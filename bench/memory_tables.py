"""The figures of `bench/memory.py` in tables, beside the targets of issue 15."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bench.memory_gate import OUTCOMES, RIGHT
from bench.memory_thresholds import passage_table, threshold_table
from bench.quality_tables import table

# The measures of issue 15: what is counted, what it was before, and the share that is the target.
CONTEXT: Final = (
    ("session", "needed entries in a session's context (profile + prompt)", ".57", 0.95),
    ("session_unlike", "of these, no word in common", ".09", 0.90),
    ("alone", "needed entries in the prompt's own part, without the profile", ".57", 0.80),
    ("alone_unlike", "of these, no word in common", "", None),
    ("empty_alone", "no-need prompts with an empty own part, without the profile", "45/48", 44 / 48),
    ("empty_own", "no-need prompts with an empty own part, after the profile", "", 44 / 48),
    ("changed", "old value absent and new one there", "0/16", 15 / 16),
    ("old_there", "prompts with an old text in the session's context", "", None),
    ("right_alone", "entries in the own part that are needed or allowed, without the profile", "", None),
    ("followups", "follow-ups whose entry stands in the session's context", "", None),
    ("harmful_own", "prompts with another harmful entry in the own part, without the profile", "", None),
)
GATE: Final = {
    "update": ("updates understood", "2/48", 43 / 48),
    "duplicate": ("duplicates confirmed", "15/48", 42 / 48),
    "keep": ("keeps kept", "44/48", 47 / 48),
    "junk": ("junk refused", "17/48", 42 / 48),
    "secret": ("secrets stopped", "42/48", 47 / 48),
}
QUERIES: Final = {
    "one": ("questions to the garden: one note @5", "23/30", 28 / 30),
    "section": ("section @5", "13/15", 14 / 15),
    "two": ("both notes @10", "11/15", 14 / 15),
}
GARDEN_EMPTY: Final = 28 / 30
ABOUT: Final = """## Memory that reaches the prompt

The labelled sets have people with 35 entries, 12 notes and 40 prompts each, candidate memories in an agent's words, and
questions to a garden of 748 real notes; what is measured is the development half.
Each person has a vault of their own, in which an agent saved the entries: what was replaced three months ago, its
replacement a week ago, with the id of what it replaces, as an agent gives it that reads the answer.
A prompt has a session of its own, read as a hook reads it: its start with the profile, then the prompt's own part.
An entry is there if its text stands in the context, or a beginning of it that no other text has.
"Without the profile" is a session whose start was not given, so that the own part has to bring everything.
A candidate memory meets one known text, or none: a duplicate has to leave the known entry as the only current one, and
an update the new one.

**What this does not show**

- The sets are small, and the thresholds were chosen on them; another half, kept apart, decides.
- Whether a model makes good use of what it is given.
- The entries among which others stand at 300 and more are generated from some fifty forms of sentences.
"""
HEADS: Final = ("measure", "before", "now", "share", "target")


def tables(told: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    """All tables of a run, in Markdown."""
    if "context" in told:
        yield from _context(told["context"], verbose=verbose)
    if "gate" in told:
        yield from _gate(told["gate"], verbose=verbose)
    if "queries" in told:
        yield from _queries(told["queries"], verbose=verbose)
    if "garden" in told:
        yield from _garden(told["garden"], verbose=verbose)
    if "sizes" in told:
        yield from _sizes(told["sizes"])
    if "thresholds" in told:
        yield from ["### Recall against noise: entries", "", threshold_table(told["thresholds"]), ""]
    if "passages" in told:
        yield from ["### Recall against noise: passages", "", passage_table(told["passages"]), ""]


def row(what: str, before: str, pair: Sequence[int], target: float | None) -> list[str]:
    """A row of counts: how many of how many, and whether the share reaches its target."""
    count, of = pair
    share = count / of if of else 0.0
    judged = "" if target is None else f"{target:.2f} {'met' if share >= target else 'MISSED'}"
    return [what, before, f"{count}/{of}", f"{share:.2f}", judged]


def _context(told: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    yield from ["### What stands before the model", ""]
    yield from table(HEADS, [row(what, before, told[key], target) for key, what, before, target in CONTEXT])
    yield ""
    starts = ", ".join(f"{name} {chars}" for name, chars in told["start_chars"].items())
    yield f"Characters: start of a session {starts}; own part {told['own_chars']} on average,"
    yield f"without the profile {told['alone_chars']}."
    yield ""
    heads = ["type", "prompts", "in the session", "own part, alone", "empty, alone", "chars own", "chars alone"]
    yield from table(heads, [_type_row(type, each) for type, each in told["types"].items()])
    yield ""
    for name, each in told["saves"].items():
        if each["refused"] or each["missing"] or each["still_current"]:
            yield f"{name}: {len(each['missing'])} of {each['entries']} entries not held as they are"
            yield f"({', '.join(each['missing']) or '-'}; refused {', '.join(each['refused']) or '-'});"
            yield f"replaced ones that are still current: {', '.join(each['still_current']) or '-'}."
    yield ""
    if verbose:
        yield from _missed(told["prompts"])


def _type_row(type: str, each: Mapping[str, Any]) -> list[object]:
    shares = (f"{count}/{of}" for count, of in (each["session"], each["alone"]))
    return [type, each["prompts"], *shares, each["empty_alone"], each["own_chars"], each["alone_chars"]]


def _missed(prompts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = []
    for each in prompts:
        missed, alone = ([id for id in each["gold"] if id not in each[where]] for where in ("session", "alone"))
        noise = each["alone_chars"] if each["type"] == "none" else 0
        if missed or alone or noise or each["old_there"] or each["harmful_own"]:
            old = " ".join((*each["old_there"], *each["harmful_own"]))
            came = " ".join(id for id in each["alone"] if id not in each["gold"])
            rows.append([each["id"], each["type"], " ".join(missed), " ".join(alone), came, old, each["alone_chars"]])
    heads = ["prompt", "type", "missed in the session", "missed alone", "came besides", "harmful", "chars alone"]
    yield from [*table(heads, rows), ""]


def _gate(told: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    yield from ["### Candidate memories, saved by an agent", ""]
    shown = {label: about for label, about in GATE.items() if label in told["labels"]}
    rows = [row(what, before, told["labels"][label], target) for label, (what, before, target) in shown.items()]
    if "duplicate" in told["outcomes"]:
        got = told["outcomes"]["duplicate"]
        alone = [got["confirmed"] + got["replaced"], sum(got.values())]
        rows.append(row("duplicates that leave one current entry, in old or new words", "", alone, None))
    yield from [*table(HEADS, rows), ""]
    heads = ["label", "should be", *OUTCOMES]
    yield from table(heads, [[label, RIGHT[label], *each.values()] for label, each in told["outcomes"].items()])
    yield ""
    if verbose:
        rows = [[each["id"], each["label"], each["got"], each["said"]] for each in told["failed"]]
        yield from [*table(["id", "label", "got", "said"], rows), ""]


def _queries(told: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    yield from ["### Questions to a real vault", ""]
    rows = [row(*QUERIES[type][:2], pair, QUERIES[type][2]) for type, pair in told["types"].items()]
    yield from [*table(HEADS, rows), ""]
    if verbose:
        rows = [[each["id"], each["type"], " ".join(map(str, each["ranks"]))] for each in told["missed"]]
        yield from [*table(["missed", "type", "ranks of the gold ones"], rows), ""]


def _garden(told: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    yield from ["### The same among a garden of 748 notes", ""]
    people, coding = told["people"], told["coding"]
    empty = "coding prompts that need nothing, with an empty own part"
    rows = [row(what, "", people[key], target) for key, what, _, target in CONTEXT]
    rows += [
        row(f"{empty}, without the profile", "2/30", coding["empty_alone"], GARDEN_EMPTY),
        row(f"{empty}, after the profile", "", coding["empty_own"], GARDEN_EMPTY),
    ]
    if coding["session"][1]:
        rows.append(
            row("coding prompts that need a memory: in the session's context", "13/24", coding["session"], None)
        )
        rows.append(row("the same in the own part, without the profile", "", coding["alone"], None))
    yield from [*table(HEADS, rows), "", f"Coding prompts: {told['coding_from']}."]
    for name, each in (("people", people), ("coding", coding)):
        yield f"Characters of the own part, {name}: {each['own_chars']}, without the profile {each['alone_chars']}."
    yield ""
    if verbose:
        yield from _missed([*people["prompts"], *coding["prompts"]])


def _sizes(told: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from ["### With the people's entries among generated ones", ""]
    measures = ("session", "session_unlike", "alone", "alone_unlike", "empty_alone", "empty_own", "changed")
    rows = [[f"{each['entries']:,}", *(_pair(each[key]) for key in measures), each["alone_chars"]] for each in told]
    heads = [
        "entries",
        "needed, session",
        "no word in common",
        "needed, own part",
        "no word in common",
        "no need, empty, without the profile",
        "after it",
        "old absent, new there",
        "chars of the own part",
    ]
    yield from [*table(heads, rows), ""]


def _pair(pair: Sequence[int]) -> str:
    count, of = pair
    return f"{count}/{of} {count / of:.2f}" if of else "-"
