"""Charts as SVG: bars, a line, and named rows. Colours and sizes of text come from the style sheet."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

_WIDTH: Final = 640
_HEIGHT: Final = 160
_LABELS: Final = 26  # units below the chart for the names of its ends
_TOP: Final = 22  # units above it for the highest value
_ROW: Final = 28  # the height of a row
_NAMES: Final = 150  # units before a row for its name
_ROW_WIDTH: Final = 370  # the longest bar, with space for its amount

Series = Sequence[tuple[str, float]]
"""The values of a chart in their order, each with its name."""


def bar_chart(series: Series, *, title: str, unit: str = "") -> Markup:
    """One bar for each value; a screen reader hears the title, a pointer sees each value."""
    top = max((value for _, value in series), default=0) or 1
    step = _WIDTH / max(1, len(series))
    bars = Markup("").join(_bar(place, each, step=step, top=top, unit=unit) for place, each in enumerate(series))
    return _frame(bars, series, title=title, top=top, unit=unit)


def line_chart(series: Series, *, title: str, unit: str = "") -> Markup:
    """A line through the values, with the space below it filled."""
    top = max((value for _, value in series), default=0) or 1
    step = _WIDTH / max(1, len(series) - 1)
    points = " ".join(f"{place * step:.1f},{_y(value, top):.1f}" for place, (_, value) in enumerate(series))
    area = f"0,{_HEIGHT} {points} {_WIDTH},{_HEIGHT}"
    lines = Markup('<polygon class="chart-area" points="{}"/><polyline class="chart-line" points="{}"/>')
    return _frame(lines.format(area, points), series, title=title, top=top, unit=unit)


def row_chart(series: Series, *, title: str, unit: str = "") -> Markup:
    """One row for each value, with its name and its amount beside the bar; for values without an order in time."""
    top = max((value for _, value in series), default=0) or 1
    rows = Markup("").join(_row(place, each, top=top, unit=unit) for place, each in enumerate(series))
    frame = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>')
    return frame.format(_WIDTH, max(1, len(series)) * _ROW, title, rows)


def _row(place: int, value: tuple[str, float], *, top: float, unit: str) -> Markup:
    name, number = value
    width = max(1.0, _ROW_WIDTH * max(0.0, number) / top)
    return Markup(
        '<text class="chart-label" x="0" y="{text}">{name}</text>'
        '<rect class="chart-bar" x="{left}" y="{y}" width="{width:.1f}" height="{height}"/>'
        '<text class="chart-label" x="{after:.1f}" y="{text}">{amount}</text>'
    ).format(
        text=place * _ROW + 19,
        name=name,
        left=_NAMES,
        y=place * _ROW + 4,
        width=width,
        height=_ROW - 8,
        after=_NAMES + width + 8,
        amount=_amount(number, unit),
    )


def _bar(place: int, value: tuple[str, float], *, step: float, top: float, unit: str) -> Markup:
    name, number = value
    y = _y(number, top)
    return Markup(
        '<rect class="chart-bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}: {}</title></rect>'
    ).format(place * step + step * 0.1, y, step * 0.8, _HEIGHT - y, name, _amount(number, unit))


def _frame(content: Markup, series: Series, *, title: str, top: float, unit: str) -> Markup:
    ends = (series[0][0], series[-1][0]) if series else ("", "")
    return Markup(
        '<svg class="chart" viewBox="0 0 {w} {full}" role="img" aria-label="{title}">'
        '<text class="chart-label" x="0" y="14">{most}</text>{content}'
        '<line class="chart-axis" x1="0" y1="{h}" x2="{w}" y2="{h}"/>'
        '<text class="chart-label" x="0" y="{low}">{first}</text>'
        '<text class="chart-label chart-end" x="{w}" y="{low}">{last}</text></svg>'
    ).format(
        w=_WIDTH,
        h=_HEIGHT,
        full=_HEIGHT + _LABELS,
        low=_HEIGHT + _LABELS - 5,
        title=title,
        content=content,
        most=_amount(top, unit),
        first=ends[0],
        last=ends[1],
    )


def _y(value: float, top: float) -> float:
    return _TOP + (_HEIGHT - _TOP) * (1 - max(0.0, value) / top)


def _amount(value: float, unit: str) -> str:
    if unit == "$":
        return f"${value:,.2f}" if value >= 1 else f"${value:.4f}"
    return f"{value:,.10g}{f' {unit}' if unit else ''}"
