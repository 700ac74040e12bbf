"""The entries near a new one, printed after it was saved; in a terminal the person is asked how they relate to it."""

import re
import sys
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
_ANSWER: Final = re.compile(r"([1-9]?)\s*([rcsb])")
_QUESTION: Final = (
    "The new one [r]eplaces it, [c]overs it (says it, and more), says the [s]ame; [b]oth hold; Enter: leave it"
)
_WHICH: Final = "Of another than the first, type its number and the letter, such as 2r."


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
    """Settle as the person answers; Enter, and the end of the input, leave everything as it is."""
    if len(names) > 1:
        invocation.inform(_WHICH)
    while True:
        try:
            answer = str(typer.prompt(_QUESTION, default="", show_default=False, err=True)).strip().lower()
        except typer.Abort:
            return
        if not answer:
            return
        match = _ANSWER.fullmatch(answer)
        place = int(match[1] or 1) - 1 if match else len(names)
        if match and place < len(names):
            verdict: dict[str, Any] = {_VERDICTS[match[2]]: (names[place],)}
            settled = memory.entries.settle(fact_shapes.shown_name(saved.fact), **verdict)
            answer_remembered(invocation, settled, memory)
            return


def _to_you(shape: fact_shapes.NeighbourShape) -> fact_shapes.NeighbourShape:
    """The neighbour as the person themselves reads it."""
    return {**shape, "speaker": "you"} if shape["speaker"] == "the person" else shape
