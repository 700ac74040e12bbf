"""The page of the profile: what every session is given, USER.md with its operations, styles, and its log."""

from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.errors import UsageError
from commonplace.model import Actor
from commonplace.model.profile import REASON_WORDS, OperationName, OperationOutcome, ProfileOperation
from commonplace.web.page.note_html import note_html
from commonplace.web.page.view import NavigationEntry, PageForm, PageMemory, note_resolver, redirect, render

ENTRY: Final = NavigationEntry("Profile", "/profile", group="told", key="p")
_LOGGED: Final = 20
_OPERATIONS: Final[Mapping[OperationName, str]] = {
    "append": "add a line",
    "replace": "replace a line",
    "remove": "remove a line",
    "add_heading": "add a section",
    "remove_heading": "remove a section",
}
_SAID: Final[Mapping[OperationOutcome, str]] = {
    "applied": "USER.md was changed.",
    "noop_dup": "This is in USER.md already; nothing was changed.",
    "noop_no_match": "No line of USER.md is like this; nothing was changed.",
}
router = APIRouter()


@router.get("/profile")
def show_profile(request: Request, memory: PageMemory) -> Response:
    """What every session gets, and the note that the person and agents keep together."""
    profile = memory.profiles.show()
    return render(
        request,
        "profile.html",
        title="Profile",
        profile=profile,
        profile_html=note_html(profile.text, note_resolver(memory)) if profile.exists else "",
        given=memory.acting(Actor("agent", "page preview")).context.start(peek=True, within=None),
        styles=memory.topics.styles(),
        operations=_OPERATIONS,
        reason_words=_words,
        log=memory.profiles.log(limit=_LOGGED),
    )


@router.post("/profile/edit")
def edit_profile(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Apply one operation to USER.md, if it is still the note that the person saw."""
    operation = ProfileOperation(
        form.required("op"),
        form.text("heading"),
        form.text("subheading"),
        form.text("line"),
        form.text("match"),
    )
    seen, why = form.text("version"), "on the page"
    if operation.op == "append":
        heading, subheading = operation.heading, operation.subheading
        change = memory.profiles.append(
            operation.line, heading=heading, subheading=subheading, create=True, expected=seen, why=why
        )
    else:
        change = memory.profiles.edit([operation], expected=seen, why=why)
    refused = [each.reason for each in change.results if each.outcome == "rejected"]
    if refused:
        raise UsageError(f"USER.md was not changed: {_words(refused[0])}", hint="Go back, and change what you typed.")
    return redirect(request, "/profile", _SAID.get(change.results[0].outcome, change.summary), undo=change.commit)


def _words(reason: str) -> str:
    return REASON_WORDS.get(reason, reason.replace("_", " "))
