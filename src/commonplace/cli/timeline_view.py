"""How a timeline is shown: on a terminal as bars under an axis, one row a fact; elsewhere a line for each moment."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from commonplace.cli.chain_view import window
from commonplace.cli.door import Door, defused, print_line
from commonplace.cli.fact_view import day, said, short
from commonplace.cli.time_axis import LEGEND, Scale, Span, axis, bar, scale_of
from commonplace.model import Fact

if TYPE_CHECKING:
    from commonplace.memory import Moment

_NARROW: Final = 72  # columns below which a bar stands above its words, not beside them
_WIDEST_BAR: Final = 48
_LAST_WORDS: Final = {"replaced": "replaced by", "forgotten": "forgotten"}


class Row(NamedTuple):
    """One fact of a timeline: when it held, and in words what became of it; empty where that is nothing."""

    fact: Fact
    span: Span
    fate: str

    def holds(self, now: str) -> bool:
        """Whether it holds at this moment."""
        return self.span.begins <= now and (not self.span.until or now < self.span.until)


def show_timeline(moments: Sequence["Moment"], door: Door, *, now: str) -> None:
    """The timeline for people."""
    if not moments:
        door.aside("nothing is known of that")
    elif sys.stdout.isatty():
        _draw(rows_of(moments), now=now)
        door.aside(LEGEND)
    else:
        for line in plain_lines(moments):
            print_line(line)


def plain_lines(moments: Sequence["Moment"]) -> Iterator[str]:
    """A line for each moment: when, what happened, and to which fact."""
    for moment in moments:
        other = f" by {short(moment.other)}" if moment.other else ""
        at = day(moment.at) or "since ever"
        yield f"{at:<16}  {moment.what + other:<18}  {short(moment.fact.id)}  {said(moment.fact)}"


def rows_of(moments: Sequence["Moment"]) -> tuple[Row, ...]:
    """One row for each fact, in the order in which they come up."""
    facts = {moment.fact.id: moment.fact for moment in moments}
    return tuple(_row(fact, [each for each in moments if each.fact.id == id]) for id, fact in facts.items())


def _row(fact: Fact, moments: Sequence["Moment"]) -> Row:
    confirmed = tuple(each.at for each in moments if each.what == "confirmed")
    last = next((each for each in moments if each.what in ("ended", "replaced", "forgotten")), None)
    until = last.at if last else fact.valid_until
    words = _LAST_WORDS.get(last.what, "") if last else ""
    return Row(fact, Span(fact.begins, until, confirmed), f"{words} {short(last.other)}".strip() if last else "")


def drawn(rows: Sequence[Row], *, now: str, width: int) -> Iterator[tuple[str, Row | None]]:
    """The lines of the axis, then the bar of each row beside the row."""
    scale: Scale = scale_of([row.span for row in rows], now=now, width=width)
    for line in axis(scale, now=now):
        yield line, None
    for row in rows:
        yield bar(row.span, scale, now=now), row


def _draw(rows: Sequence[Row], *, now: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    is_narrow = console.width < _NARROW
    width = console.width - 1 if is_narrow else min(_WIDEST_BAR, console.width * 2 // 5)
    grid = Table.grid("", "", padding=(0, 2))
    for line, row in drawn(rows, now=now, width=width):
        style = "dim" if row is None else "green" if row.holds(now) else ""
        cells = [Text(line, style=style, no_wrap=True), *([_words(row, now=now)] if row else [])]
        if is_narrow:
            console.print(*cells, sep="\n")
        else:
            grid.add_row(*cells)
    if not is_narrow:
        console.print(grid)


def _words(row: Row, *, now: str) -> Any:
    """What the fact says, when it held, and what became of it."""
    from rich.text import Text

    when = window(row.span.begins, row.span.until)
    fate = f"  {row.fate}" if row.fate else ""
    text = Text(defused(said(row.fact)), style="bold" if row.holds(now) else "")
    return text.append(f"\n{when}  {short(row.fact.id)}{fate}", style="dim not bold")
