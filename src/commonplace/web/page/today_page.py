"""The start: what programs did since the person last looked, what waits, what is due, what was recalled lately."""

from fastapi import APIRouter, Request, Response

from commonplace.errors import Conflict, NotFound
from commonplace.memory.context import GivenContext
from commonplace.model.digest import DIGEST_GROUPS, DigestLine
from commonplace.web.page.view import NavigationEntry, PageForm, PageMemory, redirect, render, without_links

ENTRY = NavigationEntry("Today", "/", group="start", key="t")
_MOST = 8  # of each list; the pages of each subject have all
_UNDO = "commonplace undo --commit "
_PAGES = {
    "commonplace review": "/review",
    "commonplace jobs": "/jobs",
    "commonplace log": "/activity",
    "commonplace learn spending": "/doctor#spending",
}
"""The pages of the commands that a digest names."""
_TITLES = {"proposed": "Waiting for you", "failing": "Failing"}

router = APIRouter()


@router.get("/")
def show_today(request: Request, memory: PageMemory, all: str = "") -> Response:
    """What there is to know today; for an empty vault the steps to begin, unless `all` is given."""
    if not all and not any(memory.index.stats().documents.values()):
        return redirect(request, "/welcome")
    digest = memory.digests.read(advance=False)
    queue = memory.reviews.list()
    groups = [(_TITLES.get(group, group.capitalize()), digest.of(group)) for group in DIGEST_GROUPS]
    return render(
        request,
        "today.html",
        title="Today",
        digest=digest,
        groups=[(title, [(line, *_remedy(line)) for line in lines]) for title, lines in groups if lines],
        waiting=(*queue.entries, *queue.endings)[:_MOST],
        waiting_count=memory.reviews.count(),
        proposals=queue.proposals[:_MOST],
        due=memory.commitments.list(states=("overdue", "open")),
        most=_MOST,
        recalled=[_recalled(each) for each in memory.context.recent(limit=_MOST)],
        conversations=memory.conversations.list(limit=_MOST),
        notices=memory.jobs.notices(),
    )


@router.post("/seen")
def mark_seen(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Let the next digest begin now."""
    memory.digests.read(advance=True)
    return redirect(request, "/", "Marked as read: the next digest begins now.")


@router.post("/commitments/close")
def close_commitment(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Note that a commitment is done: its line is ticked in the note."""
    try:
        done = memory.commitments.close(form.required("id"))
    except NotFound as error:
        hint = "Go back to Today, and look at it again."
        raise Conflict("this line of a note has changed since you saw it", hint=hint) from error
    return redirect(request, "/", f"Done: {without_links(done.commitment.what)}.", undo=done.commit)


def _remedy(line: DigestLine) -> tuple[str, str]:
    """The commit that its Undo button reverts, and the page that its command is about; either may be empty."""
    undo = line.command.removeprefix(_UNDO) if line.command.startswith(_UNDO) else ""
    return undo, next((path for command, path in _PAGES.items() if line.command.startswith(command)), "")


def _recalled(context: GivenContext) -> tuple[GivenContext, list[tuple[str, str, str]]]:
    """A context that an agent was given, with each note in it once: its path, its name and why it was chosen."""
    pieces = {piece.path or piece.key: piece.why for piece in context.pieces}
    return context, [(path, path.rsplit("/", 1)[-1].removesuffix(".md"), why) for path, why in pieces.items()]
