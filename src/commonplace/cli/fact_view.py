"""How facts are shown: for programs as flat objects, for people as sentences."""

from typing import Final

from commonplace.cli.door import Door, print_line, print_table, print_text
from commonplace.memory import shapes
from commonplace.model import Fact, Held, Remembered

_DOES: Final = {
    "supersede": "replaced",
    "insert": "ends",
    "extend": "adds to",
    "derive": "follows from",
    "contradict": "contradicts",
}
BRIEF: Final = 100  # characters of a text in a line that tells what became of it
_BONDS: Final = {
    "update": "replaces",
    "extend": "adds to",
    "derive": "follows from",
    "contradict": "contradicts",
}


def answer_remembered(door: Door, remembered: Remembered) -> None:
    """What came of a change, as every verb that changes a fact answers it."""

    def show() -> None:
        if remembered.difference is not None:
            print_text(remembered.difference)
            door.aside(f"a dry run, nothing was written: {_why(remembered)}")
            return
        print_line(told(remembered))
        if remembered.staged:
            door.aside("  it is not recalled until a person has looked at it")

    door.answer({"remembered": shapes.remembered_shape(remembered)}, show)


def told(remembered: Remembered) -> str:
    """What happened, in a sentence, and below it what that did to another fact."""
    fact, text = remembered.fact, said(remembered.fact)
    if remembered.staged:
        return _with_reason(f"staged for your review: {named(fact)}", remembered.reason)
    match remembered.action:
        case "confirm" if remembered.changed:
            return f"known already, confirmed ({_ordinal(len(fact.confirmed))} time): {short(fact.id)} {text}"
        case "confirm":
            return _with_reason(f"known already: {short(fact.id)} {text}", remembered.reason)
        case "forget":
            return _with_reason(f"forgot {short(fact.id)}: {text}", remembered.reason)
        case "load":
            return _with_reason(f"{short(fact.id)} {text}", remembered.reason)
        case "invalidate":
            return f"ends {day(fact.valid_until)}: {short(fact.id)} {text}"
        case _:
            return f"saved {named(fact)}" + _stands_to(remembered)


def _stands_to(remembered: Remembered) -> str:
    """What the new fact does to an older one, as a second line; empty where it stands alone."""
    if not remembered.old:
        return ""
    word = _DOES[remembered.action]
    return f"\n  {word} {short(remembered.old)}" + (f": {remembered.reason}" if remembered.reason else "")


def _why(remembered: Remembered) -> str:
    about = f" {short(remembered.old)}" if remembered.old else ""
    return f"{remembered.action}{about}" + (f" ({remembered.reason})" if remembered.reason else "")


def _with_reason(line: str, reason: str) -> str:
    return f"{line}\n  {reason}" if reason else line


def show_held(facts: tuple[Held, ...], door: Door) -> None:
    """One row for each fact: what is known, from when to when, and how it stands."""
    rows = [
        (
            short(held.fact.id),
            held.state,
            day(held.fact.begins) or "-",
            day(held.until) or "-",
            f"{said(held.fact)}{_line_of(held.fact)}",
        )
        for held in facts
    ]
    print_table(["id", "state", "since", "until", "what is known"], rows)
    door.aside("nothing is known of that" if not facts else "1 fact" if len(facts) == 1 else f"{len(facts)} facts")


def _line_of(fact: Fact) -> str:
    """Where to change a fact that is a line of a note."""
    return f"  ({fact.path}:{fact.line})" if fact.origin == "line" else ""


def bond_word(bond: str) -> str:
    """How one fact stands to another, as a verb."""
    return _BONDS.get(bond, bond)


def named(fact: Fact) -> str:
    """The fact by its short id, its kind and its text."""
    kind = f" {fact.kind}" if fact.kind else ""
    return f"{short(fact.id)}{kind}: {said(fact)}"


def said(fact: Fact) -> str:
    """What the fact says, in one line; whole, where it is a line of a note whose words do not name the subject."""
    if fact.origin == "line" and fact.predicate:
        return brief(f"{fact.subject} {fact.predicate} {fact.object}")
    return brief(fact.text)


def short(id: str) -> str:
    """The end of an id, as the name of its file has it; ids begin with their time, so that beginnings are alike."""
    return id[-6:]


def brief(text: str, width: int = BRIEF) -> str:
    """The text in one line, cut where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def day(moment: str) -> str:
    """The day of a moment at midnight, else the moment to the minute; empty for none."""
    if not moment or moment.endswith("T00:00:00Z"):
        return moment[:10]
    return moment[:16].replace("T", " ")


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
