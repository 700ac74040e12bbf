"""`commonplace timeline`: facts along the time, as bars under an axis on a terminal, else a line for each event."""

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from commonplace.cli.fact_view import day, inform_of_name, short, statement, window
from commonplace.cli.invocation import Invocation, invocation_of, print_line, printable
from commonplace.memory import fact_shapes
from commonplace.model import Fact
from commonplace.model.moment import moment_text

if TYPE_CHECKING:
    from commonplace.memory.facts import TimelineEvent

BEGINS, HOLDS, CONFIRMED, ENDS, GOES_ON, NOW = "●", "━", "╋", "○", "▶", "◆"
LEGEND: Final = f"{BEGINS} begins  {CONFIRMED} confirmed  {ENDS} ends  {GOES_ON} still holds  {NOW} now"

_YEAR_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_MONTH_STEPS: Final = (1, 2, 3, 6)
_DAY_STEPS: Final = (1, 2, 7, 14)


class TimeBar(NamedTuple):
    """A fact in time, by moments as text: each may be empty, `until` while it holds."""

    begins: str
    until: str
    confirmed: tuple[str, ...] = ()


class Scale(NamedTuple):
    """Maps moments to columns."""

    first: datetime
    last: datetime
    width: int

    def column(self, at: datetime) -> int:
        """The column of a moment; one before the first or after the last is shown at the edge."""
        whole = (self.last - self.first).total_seconds()
        share = (at - self.first).total_seconds() / whole if whole else 0.0
        return round(min(1.0, max(0.0, share)) * (self.width - 1))


def scale_of(spans: Sequence[TimeBar], *, now: str, width: int) -> Scale:
    """A scale on which all of these can be seen, and the present."""
    moments = [now, *(moment for span in spans for moment in (span.begins, span.until) if moment)]
    first, last = _read(min(moments)), _read(max(moments))
    return Scale(first, last if last > first else first + timedelta(days=1), width)


def bar(span: TimeBar, scale: Scale, *, now: str) -> str:
    """The fact's line of time: from the left edge if its start is unknown, to the present while it holds."""
    begins = _read(span.begins) if span.begins else scale.first
    ends = _read(span.until) if span.until else max(_read(now), begins)
    first, last = scale.column(begins), scale.column(ends)
    cells = [" "] * first + [HOLDS] * (last - first + 1)
    for each in span.confirmed:
        column = scale.column(_read(each))
        if first <= column <= last:
            cells[column] = CONFIRMED
    if span.begins:
        cells[first] = BEGINS
    if span.until:
        cells[last] = ENDS
    elif ends > begins or not span.begins:
        cells[last] = GOES_ON
    return "".join(cells).ljust(scale.width)


def axis(scale: Scale, *, now: str) -> tuple[str, str]:
    """The names of the years, months or days that fit, and below them the line with a mark for each and for now."""
    names, line = [" "] * scale.width, ["─"] * scale.width
    free = 0
    for at, name in _marks(scale):
        column = scale.column(at)
        line[column] = "┼"
        start = min(column, max(0, scale.width - len(name)))
        if start >= free and start + len(name) <= scale.width:
            names[start : start + len(name)] = name
            free = start + len(name) + 1
    line[scale.column(_read(now))] = NOW
    return "".join(names), "".join(line)


def _marks(scale: Scale) -> list[tuple[datetime, str]]:
    """The finest marks whose names fit next to each other; the two ends where no others fall between them."""
    marks: list[tuple[datetime, str]] = []
    for found in _choices(scale):
        if len(found) > 1 and sum(len(name) + 2 for _, name in found) > scale.width:
            break
        marks = found if len(found) >= len(marks) else marks
    return marks or [(scale.first, f"{scale.first:%Y-%m-%d}"), (scale.last, f"{scale.last:%Y-%m-%d}")]


def _choices(scale: Scale) -> Iterator[list[tuple[datetime, str]]]:
    """Marks that could be made, from the widest step to the finest."""
    first, last = scale.first, scale.last
    for step in reversed(_YEAR_STEPS):
        begins = -(-first.year // step) * step
        years = [datetime(year, 1, 1, tzinfo=UTC) for year in range(begins or step, last.year + 1, step)]
        yield [(at, f"{at:%Y}") for at in years if first <= at <= last]
    if last - first > timedelta(days=366 * 20):
        return  # no terminal is so wide
    for step in reversed(_MONTH_STEPS):
        whole = range(first.year * 12, last.year * 12 + 12, step)
        months = [datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC) for number in whole]
        yield [(at, f"{at:%Y-%m}") for at in months if first <= at <= last]
    if last - first > timedelta(days=366):
        return
    midnight = first.replace(hour=0, minute=0, second=0)
    for step in reversed(_DAY_STEPS):
        days = [midnight + timedelta(days=number) for number in range(0, (last - midnight).days + 1, step)]
        yield [(at, f"{at:%Y-%m-%d}") for at in days if first <= at <= last]


def _read(moment: str) -> datetime:
    at = datetime.fromisoformat(moment)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


_NARROW: Final = 72  # columns below which a bar is above its words, not next to them
_WIDEST_BAR: Final = 48
_LAST_WORDS: Final = {"replaced": "replaced by", "forgotten": "forgotten"}


class TimelineRow(NamedTuple):
    """One fact of a timeline: when it held, and in words what became of it; empty where that is nothing."""

    fact: Fact
    span: TimeBar
    fate: str

    def holds(self, now: str) -> bool:
        """True if the fact is true at this moment."""
        return self.span.begins <= now and (not self.span.until or now < self.span.until)


def show_timeline(moments: Sequence["TimelineEvent"], invocation: Invocation, *, now: str) -> None:
    """The timeline for people."""
    if not moments:
        invocation.inform("no facts found")
    elif sys.stdout.isatty():
        _draw(rows_of(moments), now=now)
        invocation.inform(LEGEND)
    else:
        for line in plain_lines(moments):
            print_line(line)


def plain_lines(moments: Sequence["TimelineEvent"]) -> Iterator[str]:
    """A line for each moment: when, what happened, and to which fact."""
    for moment in moments:
        other = f" by {short(moment.other)}" if moment.other else ""
        at = day(moment.at) or "always"
        yield f"{at:<16}  {moment.what + other:<18}  {short(moment.fact.id)}  {statement(moment.fact)}"


def rows_of(moments: Sequence["TimelineEvent"]) -> tuple[TimelineRow, ...]:
    """One row for each fact, in the order in which they come up."""
    facts = {moment.fact.id: moment.fact for moment in moments}
    return tuple(_row(fact, [each for each in moments if each.fact.id == id]) for id, fact in facts.items())


def _row(fact: Fact, moments: Sequence["TimelineEvent"]) -> TimelineRow:
    confirmed = tuple(each.at for each in moments if each.what == "confirmed")
    last = next((each for each in moments if each.what in ("ended", "replaced", "forgotten")), None)
    until = last.at if last else fact.valid_until
    words = _LAST_WORDS.get(last.what, "") if last else ""
    return TimelineRow(
        fact, TimeBar(fact.begins, until, confirmed), f"{words} {short(last.other)}".strip() if last else ""
    )


def draw_lines(rows: Sequence[TimelineRow], *, now: str, width: int) -> Iterator[tuple[str, TimelineRow | None]]:
    """The lines of the axis, then the bar of each row next to the row."""
    scale: Scale = scale_of([row.span for row in rows], now=now, width=width)
    for line in axis(scale, now=now):
        yield line, None
    for row in rows:
        yield bar(row.span, scale, now=now), row


def _draw(rows: Sequence[TimelineRow], *, now: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    is_narrow = console.width < _NARROW
    width = console.width - 1 if is_narrow else min(_WIDEST_BAR, console.width * 2 // 5)
    grid = Table.grid("", "", padding=(0, 2))
    for line, row in draw_lines(rows, now=now, width=width):
        style = "dim" if row is None else "green" if row.holds(now) else ""
        cells = [Text(line, style=style, no_wrap=True), *([_row_text(row, now=now)] if row else [])]
        if is_narrow:
            console.print(*cells, sep="\n")
        else:
            grid.add_row(*cells)
    if not is_narrow:
        console.print(grid)


def _row_text(row: TimelineRow, *, now: str) -> Any:
    """What the fact says, when it held, and what became of it."""
    from rich.text import Text

    when = window(row.span.begins, row.span.until)
    fate = f"  {row.fate}" if row.fate else ""
    text = Text(printable(statement(row.fact)), style="bold" if row.holds(now) else "")
    return text.append(f"\n{when}  {short(row.fact.id)}{fate}", style="dim not bold")


def timeline(
    context: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="A person or thing, by any of its names.")],
) -> None:
    """Draw a timeline of the facts about someone or something.

    \b
    Examples:
      commonplace timeline Ada
      commonplace timeline me --json
    """
    invocation = invocation_of(context)
    with invocation.memory() as memory:
        meant = memory.facts.named(entity)
        moments = memory.facts.timeline(entity)
        link = memory.notes.link
    now = moment_text(datetime.now(UTC))

    def show() -> None:
        show_timeline(moments, invocation, now=now)
        inform_of_name(entity, meant, invocation)

    values = {"entity": entity, "timeline": [fact_shapes.timeline_event_shape(each, link) for each in moments]}
    invocation.answer(values, show)
