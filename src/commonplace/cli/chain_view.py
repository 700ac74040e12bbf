"""How a fact is shown with its whole past: every version, oldest first, and the bonds to other facts."""

import sys
import textwrap
from collections.abc import Iterator

from commonplace.cli.door import defused, print_line
from commonplace.cli.fact_view import bond_word, day, short
from commonplace.model import Chain, Fact, FactEdge, Held


def show_chain(chain: Chain) -> None:
    """The chain for people; on a terminal the head of each version is bold."""
    lines = chain_lines(chain)
    if not sys.stdout.isatty():
        for line in lines:
            print_line(line)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines:
        console.print(Text(defused(line), style="" if line.startswith(" ") else "bold"), soft_wrap=True)


def chain_lines(chain: Chain) -> Iterator[str]:
    """Every line of the view; the head of a version is not indented."""
    for number, held in enumerate(chain.versions, start=1):
        if number > 1:
            yield ""
        yield _head(number, held)
        yield from textwrap.indent(held.fact.text, "   ").splitlines()
        for line in filter(None, _details(held)):
            yield f"   {line}"
    others = [edge for edge in chain.edges if edge.bond != "update"]  # which version replaces which is told above
    if others:
        yield ""
        yield "bonds"
        yield from (f"   {_bond(edge)}" for edge in others)


def _head(number: int, held: Held) -> str:
    marks = [held.state, window(held.fact.begins, held.until)]
    marks += ["always loaded"] if held.fact.always_load else []
    marks += ["sensitive"] if held.fact.sensitive else []
    return f"{number}. {held.fact.id}  " + "  ".join(filter(None, marks))


def _details(held: Held) -> Iterator[str]:
    """One line for each thing that is known of a version; some may be empty."""
    fact = held.fact
    if fact.predicate:
        yield f"{fact.subject} | {fact.predicate} | {fact.object}"
    yield ", ".join(filter(None, (fact.kind, fact.fact if fact.fact != fact.kind else "", *map(_hash, fact.topics))))
    yield f"recorded {day(fact.recorded) or 'nobody knows when'}" + _source(fact)
    if fact.confirmed:
        yield f"confirmed {', '.join(fact.confirmed)}"
    yield f"importance {held.importance:.2f} now, {fact.importance:.2f} at first; recalled {_recalled(held)}"
    yield from _links(held)
    yield f"{fact.path}:{fact.line}" if fact.origin == "line" else fact.path


def _links(held: Held) -> Iterator[str]:
    """What a version replaced, and what ended it: another one, a person's word, or a competing claim."""
    fact = held.fact
    why = f": {fact.reason}" if fact.reason else ""
    if fact.supersedes:
        yield f"replaces {short(fact.supersedes)}" + ("" if fact.deleted_at else why)
    if fact.superseded_by:
        yield f"replaced by {short(fact.superseded_by)}" + (
            f" on {day(fact.superseded_at)}" if fact.superseded_at else ""
        )
    elif held.ended_by:
        yield f"holds no longer since {short(held.ended_by)} claims the same"
    if fact.deleted_at:
        yield f"forgotten on {day(fact.deleted_at)}{why}"
    if fact.invalidated_at and fact.invalidated_at != fact.superseded_at:
        before = f", which was {day(fact.was_valid_until)} before" if fact.was_valid_until else ""
        yield f"its end was set on {day(fact.invalidated_at)}{before}"


def window(begins: str, until: str) -> str:
    """From when to when, in words; empty where neither is known."""
    if begins and until:
        return f"{day(begins)} to {day(until)}"
    return f"since {day(begins)}" if begins else f"until {day(until)}" if until else ""


def _source(fact: Fact) -> str:
    source = fact.origins
    told = [source.interface, f"conversation {source.conversation}" if source.conversation else "", source.trust]
    return "".join(f", {each}" for each in told if each)


def _bond(edge: FactEdge) -> str:
    return f"{short(edge.source)} {bond_word(edge.bond)} {short(edge.target)}"


def _hash(topic: str) -> str:
    return f"#{topic}"


def _recalled(held: Held) -> str:
    if not held.uses:
        return "never"
    last = f", last {held.last_used}" if held.last_used else ""
    return ("once" if held.uses == 1 else f"{held.uses} times") + last
