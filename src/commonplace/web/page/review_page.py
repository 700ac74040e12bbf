"""The page of what waits: approve, reject or edit each, with its evidence beside it; keys go through it quickly.

A form sends what the person saw (`seen`): an entry or a proposal that has changed meanwhile is not decided.
"""

import hashlib
from collections.abc import Callable
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.errors import Conflict, NotFound, UsageError
from commonplace.model.fact import WaitingEntry
from commonplace.model.proposal import Proposal
from commonplace.web.page.view import NavigationEntry, PageForm, PageMemory, SentForm, redirect, render

ENTRY: Final = NavigationEntry("Review", "/review", group="steer", key="r")
_SHOWN: Final = 30  # of each list: the rest follows as these are decided
router = APIRouter()


@router.get("/review")
def show_queue(request: Request, memory: PageMemory) -> Response:
    """What waits, oldest first."""
    queue = memory.reviews.list()
    return render(
        request,
        "review.html",
        title="Review",
        entries=[(each, seen_entry(each)) for each in queue.entries[:_SHOWN]],
        proposals=[(each, seen_proposal(each)) for each in queue.proposals[:_SHOWN]],
        notes=queue.notes,
        more=max(0, len(queue.entries) - _SHOWN) + max(0, len(queue.proposals) - _SHOWN),
    )


@router.post("/review/entry")
def decide_entry(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Approve, reject or reword one entry, and go on with the next."""
    id, deed = form.required("id"), form.required("deed")
    _require_same(lambda: seen_entry(memory.reviews.show(id)), form)
    keep_old = form.is_set("keep_old")
    if deed == "approve":
        result = memory.reviews.approve(id, keep_old=keep_old)[0]
    elif deed == "reject":
        result = memory.reviews.reject(id, reason=form.text("reason"))[0]
    elif deed == "edit":
        result = memory.reviews.edit(id, form.required("text"), keep_old=keep_old)
    else:
        raise _unknown(deed)
    said = " ".join((_SAID[result.action], result.fact.text, *result.remarks))
    return redirect(request, f"/review#{_place(form)}", said, undo=result.commit)


@router.post("/review/proposal")
def decide_proposal(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Make a proposed change of a note, reject it, or write the note in other words."""
    id, deed = form.required("id"), form.required("deed")
    _require_same(lambda: seen_proposal(memory.reviews.show_proposal(id)), form)
    if deed == "approve":
        result = memory.reviews.approve_proposals(id)[0]
    elif deed == "reject":
        result = memory.reviews.reject_proposals(id, reason=form.text("reason"))[0]
    elif deed == "edit":
        result = memory.reviews.edit_proposal(id, form.raw("text"))
    else:
        raise _unknown(deed)
    said = " ".join((_SAID[result.action], result.proposal.move_to or result.proposal.target, *result.remarks))
    return redirect(request, f"/review#{_place(form)}", said, undo=result.commit)


@router.get("/review/proposal/{id}")
def show_proposal(request: Request, memory: PageMemory, id: str) -> Response:
    """One proposal, with the whole note to edit."""
    proposal = memory.reviews.show_proposal(id)
    return render(
        request,
        "proposal.html",
        title=f"Change of {proposal.target}",
        proposal=proposal,
        seen=seen_proposal(proposal),
        text=memory.reviews.proposed_text(id),
    )


def seen_entry(waiting: WaitingEntry) -> str:
    """A hash of what the person sees of an entry: the words, how it is loaded, and what it would replace."""
    fact = waiting.fact
    shown = (fact.id, fact.text, fact.subject, fact.predicate, fact.object, fact.kind, str(fact.always_load))
    return _hash(*shown, *(each.id for each in waiting.against))


def seen_proposal(proposal: Proposal) -> str:
    """A hash of what the person sees of a proposal."""
    return _hash(proposal.id, proposal.target, proposal.move_to, proposal.difference, proposal.base)


_SAID: Final = {
    "approve": "Approved:",
    "confirm": "Known already, and confirmed:",
    "edit": "Approved in your words:",
    "reject": "Rejected:",
}


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _require_same(look: Callable[[], str], form: SentForm) -> None:
    """Raise Conflict unless what waits is what the person saw; it may also have been decided in another window."""
    try:
        seen = look()
    except (Conflict, NotFound) as error:
        raise Conflict("this was decided already", hint="Go back to Review, which has what still waits.") from error
    if seen != form.required("seen"):
        raise Conflict("this has changed since you saw it", hint="Go back to Review, and look at it again.")


def _unknown(deed: str) -> UsageError:
    return UsageError(f"there is nothing called {deed} to do here", hint="Approve, reject or edit it.")


def _place(form: SentForm) -> str:
    """The place in the list at which the next one stands now."""
    place = form.text("place")
    return place if place.replace("-", "").isalnum() else "content"
