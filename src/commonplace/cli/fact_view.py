"""How facts and entries are printed: results of a change, lists, and chains of versions."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Final

from commonplace.cli.invocation import Invocation, local_time, print_line, print_linked, print_table, print_text
from commonplace.memory import Memory, fact_shapes
from commonplace.memory.facts import EntityMatch
from commonplace.memory.shapes import NoteLink
from commonplace.model import Chain, EntryResult, Fact, FactEdge, FactSnapshot, Origins

_DOES: Final = {
    "insert": "ends",
    "extend": "adds to",
    "derive": "follows from",
    "contradict": "contradicts",
}
BRIEF: Final = 100  # characters of a statement in a list
_BONDS: Final = {
    "update": "replaces",
    "extend": "adds to",
    "derive": "follows from",
    "contradict": "contradicts",
    "both": "holds beside",
    "end": "is said to end",
}


def answer_remembered(invocation: Invocation, remembered: EntryResult, memory: Memory) -> None:
    """Print the result of a change to an entry or fact."""

    def show() -> None:
        if remembered.difference is not None:
            print_text(remembered.difference)
            invocation.inform(f"dry run, nothing was written: {_why(remembered)}")
            return
        print_line(told(remembered))
        if remembered.ended and remembered.changed:
            invocation.inform("  `commonplace undo` takes it back")
        if remembered.staged:
            invocation.inform("  it is not recalled until you approve it: `commonplace review`")

    invocation.answer({"remembered": fact_shapes.entry_result_shape(remembered, memory.notes.link)}, show)


def inform_of_name(asked: str, meant: EntityMatch, invocation: Invocation) -> None:
    """Say for which name the one that was asked for was taken, or which names are like it."""
    if meant.taken_for:
        invocation.inform(f"{asked!r} was understood as {meant.taken_for!r}")
    elif meant.similar:
        invocation.inform(f"similar names: {', '.join(meant.similar)}")


def told(remembered: EntryResult) -> str:
    """What happened, and in a second line what it did to another fact."""
    fact, text = remembered.fact, statement(remembered.fact)
    if remembered.staged:
        return _with_reason(f"staged: {label(fact)}", remembered.reason)
    match remembered.action:
        case "confirm" if remembered.changed:
            return f"already known, confirmed ({_times(len(fact.confirmed))}): {short(fact.id)} {text}"
        case "confirm":
            return _with_reason(f"already known: {short(fact.id)} {text}", remembered.reason)
        case "forget":
            return _with_reason(f"forgot {short(fact.id)}: {text}", remembered.reason)
        case "load" | "describe":
            return _with_reason(f"{short(fact.id)} {text}", remembered.reason)
        case "end":
            return f"ends {day(fact.valid_until)}: {short(fact.id)} {text}"
        case "settle":
            return f"settled {short(fact.id)}: {text}" + _ends(remembered)
        case _:
            return f"saved {label(fact)}{_in_project(fact)}" + _stands_to(remembered)


def _stands_to(remembered: EntryResult) -> str:
    """What the new fact does to older ones, in further lines; empty if it affects none."""
    if remembered.ended:
        return _ends(remembered)
    if not remembered.old:
        return _is_past(remembered)
    word = _DOES[remembered.action]
    return f"\n  {word} {short(remembered.old)}" + (f": {remembered.reason}" if remembered.reason else "")


def _is_past(remembered: EntryResult) -> str:
    """That another fact had ended the new one before it was saved, and why; empty if none had."""
    fact = remembered.fact
    is_ended = bool(fact.invalidated_at) or fact.valid_until == fact.begins
    if not (is_ended and "" < fact.valid_until <= fact.recorded):
        return ""
    return f"\n  it is part of the past, until {day(fact.valid_until)}: {remembered.reason}"


def _ends(remembered: EntryResult) -> str:
    """What ended, a line each, and why."""
    word = "ends" if remembered.action == "insert" else "ended"
    lines = [f"  {word} {short(each.id)}: {statement(each)}" for each in remembered.ended]
    lines += [f"  {remembered.reason}"] if remembered.reason else []
    return "".join(f"\n{line}" for line in lines)


def _why(remembered: EntryResult) -> str:
    about = f" {short(remembered.old)}" if remembered.old else ""
    return f"{remembered.action}{about}" + (f" ({remembered.reason})" if remembered.reason else "")


def _with_reason(line: str, reason: str) -> str:
    return f"{line}\n  {reason}" if reason else line


def links_of(fact: Fact, link: NoteLink) -> Mapping[str, str]:
    """What opens the fact's note on a terminal: its short id, and its path where that is shown."""
    address = link(fact.path)
    return {short(fact.id): address, _place(fact): address}


def _place(fact: Fact) -> str:
    return f"{fact.path}:{fact.line}" if fact.origin == "line" else fact.path


def show_facts(facts: tuple[FactSnapshot, ...], invocation: Invocation, link: NoteLink) -> None:
    """Print one row for each fact: its state, its validity and its statement."""
    rows = [
        (
            short(held.fact.id),
            held.state,
            day(held.fact.begins) or "-",
            day(held.until) or "-",
            f"{statement(held.fact)}{_line_of(held.fact)}{_in_project(held.fact)}",
        )
        for held in facts
    ]
    links = [links_of(held.fact, link) for held in facts]
    print_table(["id", "state", "since", "until", "fact"], rows, links)
    invocation.inform("no facts found" if not facts else "1 fact" if len(facts) == 1 else f"{len(facts)} facts")


def _line_of(fact: Fact) -> str:
    """The path and line of a fact that is a line of a note; empty for an entry."""
    return f"  ({_place(fact)})" if fact.origin == "line" else ""


def _in_project(fact: Fact) -> str:
    """The project that an entry belongs to; empty for none."""
    return f"  (project {fact.project})" if fact.project else ""


def bond_word(bond: str) -> str:
    """The relation between two facts, as a verb."""
    return _BONDS.get(bond, bond)


def label(fact: Fact) -> str:
    """The fact's short id, kind and statement."""
    kind = f" {fact.kind}" if fact.kind else ""
    return f"{short(fact.id)}{kind}: {statement(fact)}"


def statement(fact: Fact) -> str:
    """The statement in one line; subject, predicate and object for a line of a note, whose text omits the subject."""
    if fact.origin == "line" and fact.predicate:
        return brief(f"{fact.subject} {fact.predicate} {fact.object}")
    return brief(fact.text)


def short(id: str) -> str:
    """The last six characters of an id, as in its file name; ids begin with a timestamp, so beginnings look alike."""
    return id[-6:]


def brief(text: str, width: int = BRIEF) -> str:
    """The text in one line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def day(moment: str) -> str:
    """The day if the time is midnight in UTC, which stands for a whole day; else the local time; empty for none."""
    if not moment or moment.endswith("T00:00:00Z"):
        return moment[:10]
    return local_time(moment)


def _times(number: int) -> str:
    return "1 time" if number == 1 else f"{number} times"


def show_chain(chain: Chain, link: NoteLink) -> None:
    """Print a chain of versions; on a terminal the head of each is bold, and its path opens the note."""
    links = {shown: address for held in chain.versions for shown, address in links_of(held.fact, link).items()}
    for line in chain_lines(chain):
        print_linked(line, links, style="" if line.startswith(" ") else "bold")


def chain_lines(chain: Chain) -> Iterator[str]:
    """The lines of the view; only the head of a version is not indented."""
    for number, held in enumerate(chain.versions, start=1):
        if number > 1:
            yield ""
        yield _head(number, held)
        yield from textwrap.indent(held.fact.text, "   ").splitlines()
        for line in filter(None, _details(held)):
            yield f"   {line}"
    others = [edge for edge in chain.edges if edge.bond != "update"]  # replacements are shown with the versions
    if others:
        yield ""
        yield "relations"
        yield from (f"   {_bond(edge)}" for edge in others)


def _head(number: int, held: FactSnapshot) -> str:
    marks = [held.state, window(held.fact.begins, held.until)]
    marks += ["always loaded"] if held.fact.always_load else []
    marks += ["sensitive"] if held.fact.sensitive else []
    return f"{number}. {held.fact.id}  " + "  ".join(filter(None, marks))


def _details(held: FactSnapshot) -> Iterator[str]:
    """One line for each detail of a version; some may be empty."""
    fact = held.fact
    if fact.predicate:
        yield f"{fact.subject} | {fact.predicate} | {fact.object}"
    yield ", ".join(filter(None, (fact.kind, fact.fact if fact.fact != fact.kind else "", *map(_hash, fact.topics))))
    yield f"about: {fact.about}" if fact.about else ""
    yield f"when: {fact.when}" if fact.when else ""
    yield f"project {fact.project}" + (f", {fact.project_root}" if fact.project_root else "") if fact.project else ""
    yield f"recorded {day(fact.recorded) or 'at an unknown time'}" + _source(fact)
    yield from evidence_lines(fact.origins)
    if fact.confirmed:
        yield f"confirmed {', '.join(fact.confirmed)}"
    yield f"importance {held.importance:.2f} now, initially {fact.importance:.2f}; {_recalled(held)}"
    yield from _links(held)
    yield _place(fact)


def _links(held: FactSnapshot) -> Iterator[str]:
    """What a version replaced, and what ended it: a later version, a person, or a competing claim."""
    fact = held.fact
    why = f": {fact.reason}" if fact.reason else ""
    if fact.supersedes:
        yield f"replaces {short(fact.supersedes)}" + ("" if fact.deleted_at else why)
    if fact.superseded_by:
        yield f"replaced by {short(fact.superseded_by)}" + (
            f" on {day(fact.superseded_at)}" if fact.superseded_at else ""
        )
    elif held.ended_by:
        yield f"ended by {short(held.ended_by)}, which makes the same claim"
    if fact.deleted_at:
        yield f"forgotten on {day(fact.deleted_at)}{why}"
    if fact.invalidated_at and fact.invalidated_at != fact.superseded_at:
        before = f"; it was {day(fact.was_valid_until)} before" if fact.was_valid_until else ""
        yield f"its end was set on {day(fact.invalidated_at)}{before}"


def window(begins: str, until: str) -> str:
    """The validity in words; empty if neither end is known."""
    if begins and until:
        return f"{day(begins)} to {day(until)}"
    return f"since {day(begins)}" if begins else f"until {day(until)}" if until else ""


def _source(fact: Fact) -> str:
    source = fact.origins
    author = f"said by {source.author}" if source.author else ""
    conversation = f"conversation {source.conversation}" if source.conversation else ""
    told = [author, source.interface, conversation, source.trust]
    return "".join(f", {each}" for each in told if each)


def evidence_lines(source: Origins) -> Iterator[str]:
    """The words from which a fact was extracted, and where they stand; nothing for what was saved as it is."""
    if source.quote:
        where = f"note {source.note}" if source.note else f"turn {source.turn}" if source.turn else ""
        yield f'said: "{source.quote}"' + (f" ({where})" if where else "")
    if source.extractor:
        yield f"extracted by {source.extractor}"


def _bond(edge: FactEdge) -> str:
    return f"{short(edge.source)} {bond_word(edge.bond)} {short(edge.target)}"


def _hash(topic: str) -> str:
    return f"#{topic}"


def _recalled(held: FactSnapshot) -> str:
    if not held.uses:
        return "never recalled"
    last = f", last {held.last_used}" if held.last_used else ""
    return f"recalled {_times(held.uses)}{last}"
