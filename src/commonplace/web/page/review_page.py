"""The page of what waits: approve, reject or edit each, with its evidence beside it; keys go through it quickly.

A form sends what the person saw (`seen`): an entry, an ending or a proposal that has changed meanwhile is not decided.
The id of a group names what was seen of it.
"""

import hashlib
from collections.abc import Callable
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.errors import Conflict, NotFound, UsageError
from commonplace.memory.fact_shapes import speaker_and_day
from commonplace.model.fact import GROUP_VERDICTS, ReviewResult, WaitingEntry
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
        endings=[(each, seen_entry(each)) for each in queue.endings[:_SHOWN]],
        groups=queue.groups[:_SHOWN],
        proposals=[(each, seen_proposal(each)) for each in queue.proposals[:_SHOWN]],
        notes=queue.notes,
        ended=memory.reviews.ended(),
        shown=_SHOWN,
        spoken=speaker_and_day,
        more=sum(max(0, len(each) - _SHOWN) for each in (queue.entries, queue.endings, queue.groups, queue.proposals)),
    )


@router.post("/review/entry")
def decide_entry(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Approve, reject or reword one entry or ending, and go on with the next."""
    id, deed = form.required("id"), form.required("deed")
    _require_same(lambda: seen_entry(memory.reviews.show(id)), form)
    keep_old = form.is_set("keep_old")
    if deed == "forget":
        forgotten = memory.entries.forget(id, reason="never true")
        return redirect(request, f"/review#{_place(form)}", f"Forgotten: {forgotten.fact.text}", undo=forgotten.commit)
    if deed in ("approve", "known"):
        result = memory.reviews.approve(id, keep_old=keep_old, confirm_known=deed == "known")[0]
    elif deed == "reject":
        result = memory.reviews.reject(id, reason=form.text("reason"))[0]
    elif deed == "edit":
        result = memory.reviews.edit(id, form.required("text"), keep_old=keep_old)
    else:
        raise _unknown(deed)
    return redirect(request, f"/review#{_place(form)}", _said(result), undo=result.commit)


@router.post("/review/group")
def decide_group(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Say how the entries of a group relate, and go on with the next."""
    deed = form.required("deed")
    verdict = next((each for each in GROUP_VERDICTS if each == deed), None)
    if verdict is None:
        raise _unknown(deed)
    result = memory.reviews.settle(form.required("id"), verdict)
    return redirect(request, f"/review#{_place(form)}", _said(result), undo=result.commit)


@router.post("/review/ended")
def decide_ended(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Bring back an entry that was replaced, or agree with an ending that an old rule made."""
    id, deed = form.required("id"), form.required("deed")
    back = form.text("back") or f"/review#{_place(form)}"
    if deed not in ("back", "agree"):
        raise _unknown(deed)
    result = (memory.reviews.bring_back if deed == "back" else memory.reviews.leave_ended)(id)[0]
    return redirect(request, back, _said(result), undo=result.commit)


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
    fact, known = waiting.fact, (waiting.known,) if waiting.known else ()
    shown = (fact.id, fact.text, fact.subject, fact.predicate, fact.object, fact.kind, str(fact.always_load))
    return _hash(*shown, *(f"{each.id} {each.fingerprint}" for each in (*waiting.against, *known)))


def seen_proposal(proposal: Proposal) -> str:
    """A hash of what the person sees of a proposal."""
    return _hash(proposal.id, proposal.target, proposal.move_to, proposal.difference, proposal.base)


_SAID: Final = {
    "approve": "Approved:",
    "confirm": "Known already, and confirmed:",
    "edit": "Approved in your words:",
    "reject": "Rejected:",
    "both": "Both hold:",
    "replace": "The newest alone holds:",
    "same": "Kept for all of them:",
    "back": "Brought back:",
    "agree": "It stays ended:",
}


def _said(result: ReviewResult) -> str:
    """What became of it, and of what it replaced."""
    ended = tuple(f"Ended: {each.text}" for each in result.ended)
    return " ".join((_SAID[result.action], result.fact.text, *ended, *result.remarks))


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
