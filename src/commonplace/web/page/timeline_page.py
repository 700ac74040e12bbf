"""The page of a day: what happened on it, in order, with the days beside it."""

from datetime import date, datetime, timedelta
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.web.page.view import NavigationEntry, PageMemory, render

ENTRY: Final = NavigationEntry("Timeline", "/timeline", group="know", key="l")
router = APIRouter()


@router.get("/timeline")
def show_day(request: Request, memory: PageMemory, day: date | None = None) -> Response:
    """One day, today if none is named, by the clock of the machine that serves the page."""
    now = datetime.now().astimezone()
    shown = day or now.date()
    happenings = memory.days.show(shown.isoformat(), zone=now.tzinfo) if now.tzinfo else ()
    return render(
        request,
        "timeline.html",
        title=shown.strftime("%A, %-d %B %Y"),
        shown=shown,
        before=shown - timedelta(days=1),
        after=shown + timedelta(days=1) if shown < now.date() else None,
        happenings=[(each.at.astimezone(now.tzinfo).strftime("%H:%M"), each) for each in happenings],
    )
