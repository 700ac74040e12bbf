"""The page of every write: who changed what and why, the difference, and a button that takes it back."""

from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.web.page.view import NavigationEntry, PageMemory, render

ENTRY: Final = NavigationEntry("Activity", "/activity", group="steer", key="a")
_SHOWN: Final = 50
router = APIRouter()


@router.get("/activity")
def show_changes(
    request: Request, memory: PageMemory, path: str = "", actor: str = "", verb: str = "", before: str = ""
) -> Response:
    """The changes of the vault, newest first."""
    path = path.strip()
    note = f"{path}.md" if path and not path.endswith(".md") else path  # the list shows names without the ending
    changes = memory.notes.changes(path=note, actor=actor, verb=verb, before=before, limit=_SHOWN)
    return render(
        request,
        "activity.html",
        title="Activity",
        changes=changes,
        chosen={"path": path, "actor": actor, "verb": verb},
        older=changes[-1].mark if len(changes) == _SHOWN else "",
    )


@router.get("/activity/{commit}")
def show_change(request: Request, memory: PageMemory, commit: str) -> Response:
    """One change: the difference of each note, and whether it can be undone."""
    detail = memory.notes.change(commit)
    return render(request, "change.html", title="Change", change=detail.change, differences=detail.differences)
