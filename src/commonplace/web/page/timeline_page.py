"""The page of a day: what happened on it, in order, with the days beside it."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.errors import UsageError
from commonplace.memory.activity import Happening
from commonplace.web.page.view import NavigationEntry, PageMemory, render

ENTRY: Final = NavigationEntry("Timeline", "/timeline", group="know", key="l")
_MOST_EDITS: Final = 8  # notes in a row, which the person edited, that are shown one by one
_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 9998
Timed = tuple[str, Happening]
router = APIRouter()


@router.get("/timeline")
def show_day(request: Request, memory: PageMemory, day: date | None = None) -> Response:
    """One day, today if none is named, by the clock of the machine that serves the page."""
    now = datetime.now().astimezone()
    shown = day or now.date()
    if not _FIRST_YEAR <= shown.year <= _LAST_YEAR:
        raise UsageError(f"no such day: {shown}", hint=f"Choose one from {_FIRST_YEAR} to {_LAST_YEAR}.")
    happenings = memory.days.show(shown.isoformat(), zone=now.tzinfo) if now.tzinfo else ()
    return render(
        request,
        "timeline.html",
        title=shown.strftime("%A, %-d %B %Y"),
        shown=shown,
        before=shown - timedelta(days=1),
        after=shown + timedelta(days=1) if shown < now.date() else None,
        happenings=_runs([(each.at.astimezone(now.tzinfo).strftime("%H:%M"), each) for each in happenings]),
    )


def _runs(happenings: Sequence[Timed]) -> list[tuple[Timed, Sequence[Timed]]]:
    """Each happening; of many edits in a row, such as of a copied folder, the later ones stand behind one of them."""
    shown: list[tuple[Timed, Sequence[Timed]]] = []
    for is_edit, run in groupby(happenings, key=lambda each: each[1].kind == "edit"):
        items = list(run)
        first = items[:_MOST_EDITS] if is_edit and len(items) > _MOST_EDITS + 1 else items
        shown += [(each, items[len(first) :] if each is first[-1] else ()) for each in first]
    return shown
