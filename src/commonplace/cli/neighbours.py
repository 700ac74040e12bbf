"""The entries near a new one, printed after it was saved; in a terminal the person is asked how they relate to it."""

import sys
from collections.abc import Container
from typing import TYPE_CHECKING, Any, Final

import typer

from commonplace.cli.fact_view import answer_remembered
from commonplace.cli.invocation import Invocation
from commonplace.memory import fact_shapes
from commonplace.memory.neighbour_list import neighbour_lines
from commonplace.model import EntryResult

if TYPE_CHECKING:
    from commonplace.memory import Memory

_VERDICTS: Final = {"r": "replaces", "c": "covers", "s": "same", "b": "both"}
_NO_VERDICT: Final = ("\r", "\n", "\x1b")  # Enter and Escape
_QUESTION: Final = (
    "The new one [r]eplaces it, [c]overs it (says it, and more), says the [s]ame; [b]oth hold; Enter: leave it"
)


def show_neighbours(saved: EntryResult, memory: "Memory", invocation: Invocation) -> None:
    """Print the entries near the new one, and ask on a terminal how they relate; elsewhere say which command settles.

    Enter keeps all of them and writes nothing.
    """
    shapes = [_to_you(fact_shapes.neighbour_shape(each)) for each in saved.neighbours]
    if not shapes or saved.difference is not None or invocation.json or invocation.quiet:
        return
    how = ", by words alone: there is no encoder" if saved.by_words else ""
    invocation.inform(f"near it (today is {saved.fact.recorded[:10]}{how}):")
    for number, line in enumerate(neighbour_lines(shapes), start=1):
        invocation.inform(f"  {number} {line.removeprefix('- ')}")
    if sys.stdin.isatty() and sys.stdout.isatty():
        _ask(saved, [each["name"] for each in shapes], memory, invocation)
        return
    invocation.inform(
        f"if one of them holds no longer: `commonplace settle {fact_shapes.shown_name(saved.fact)} --replaces ID` "
        "(or --covers, --same, --both)"
    )


def _ask(saved: EntryResult, names: list[str], memory: "Memory", invocation: Invocation) -> None:
    """Settle as the person answers with one key, and with the number of one of several; Enter leaves all as it is."""
    verdict = _key(_QUESTION, _VERDICTS)
    which = verdict and (_key(f"Which one, 1 to {len(names)}", _numbers(names)) if len(names) > 1 else "1")
    if which:
        settlement: dict[str, Any] = {_VERDICTS[verdict]: (names[int(which) - 1],)}
        settled = memory.entries.settle(fact_shapes.shown_name(saved.fact), **settlement)
        answer_remembered(invocation, settled, memory)


def _numbers(names: list[str]) -> list[str]:
    return [str(number) for number in range(1, len(names) + 1)]


def _key(question: str, known: Container[str]) -> str:
    """The key that is pressed, asked for until it is a known one; empty for Enter, and where the input ends."""
    while True:
        typer.echo(f"{question}: ", err=True, nl=False)
        try:
            key = typer.getchar().lower()
        except (EOFError, KeyboardInterrupt):
            key = ""
        typer.echo(key if key.isprintable() else "", err=True)
        if key in known or not key or key in _NO_VERDICT:
            return "" if key in _NO_VERDICT else key


def _to_you(shape: fact_shapes.NeighbourShape) -> fact_shapes.NeighbourShape:
    """The neighbour as the person themselves reads it."""
    return {**shape, "speaker": "you"} if shape["speaker"] == "the person" else shape
