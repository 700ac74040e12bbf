"""Time as text: an axis with its years, months or days, and for each fact a bar from its begin to its end."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

BEGINS, HOLDS, CONFIRMED, ENDS, GOES_ON, NOW = "●", "━", "╋", "○", "▶", "◆"
LEGEND: Final = f"{BEGINS} begins  {CONFIRMED} confirmed  {ENDS} ends  {GOES_ON} still holds  {NOW} now"

_YEAR_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_MONTH_STEPS: Final = (1, 2, 3, 6)
_DAY_STEPS: Final = (1, 2, 7, 14)


class Span(NamedTuple):
    """A fact in time, by moments as text: each may be empty, `until` while it holds."""

    begins: str
    until: str
    confirmed: tuple[str, ...] = ()


class Scale(NamedTuple):
    """Which moment stands in which column."""

    first: datetime
    last: datetime
    width: int

    def column(self, at: datetime) -> int:
        """The column of a moment; one before the first or after the last is shown at the edge."""
        whole = (self.last - self.first).total_seconds()
        share = (at - self.first).total_seconds() / whole if whole else 0.0
        return round(min(1.0, max(0.0, share)) * (self.width - 1))


def scale_of(spans: Sequence[Span], *, now: str, width: int) -> Scale:
    """A scale on which all of these can be seen, and the present."""
    moments = [now, *(moment for span in spans for moment in (span.begins, span.until) if moment)]
    first, last = _read(min(moments)), _read(max(moments))
    return Scale(first, last if last > first else first + timedelta(days=1), width)


def bar(span: Span, scale: Scale, *, now: str) -> str:
    """The fact's line of time: from the left edge where nobody knows when it began, to the present while it holds."""
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
    """The finest marks whose names fit beside each other; the two ends where no others fall between them."""
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
