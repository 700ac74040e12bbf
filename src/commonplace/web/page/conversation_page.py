"""The pages of conversations: the list, a search in them, one with its turns, and what was learned from each."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.errors import UsageError
from commonplace.model import MEMORY_USES
from commonplace.model.learning import LearnedItem
from commonplace.web.page.view import NavigationEntry, PageForm, PageMemory, paged, redirect, render

ENTRY: Final = NavigationEntry("Conversations", "/conversations", group="told", key="c")
_MOST_LISTED: Final = 2000
_TURNS: Final = 100
_HITS: Final = 20
router = APIRouter()


@router.get("/conversations")
def show_conversations(
    request: Request, memory: PageMemory, q: str = "", interface: str = "", page: int = 1
) -> Response:
    """The conversations, newest first; or the passages of them that answer a question."""
    threads = memory.conversations.list(limit=_MOST_LISTED)
    sources = ("chat", "task", "correction")
    hits = memory.search(q, sources=sources, k=_HITS, snippets=True).hits if q.strip() else ()
    return render(
        request,
        "conversations.html",
        title="Conversations",
        q=q,
        hits=hits,
        interface=interface,
        interfaces=[("", "every program"), *((each, each) for each in sorted({each.interface for each in threads}))],
        threads=paged([each for each in threads if interface in ("", each.interface)], page),
    )


@router.get("/conversations/{id}")
def show_conversation(request: Request, memory: PageMemory, id: str, first: int = 1) -> Response:
    """One conversation: its turns, what was learned from it, and what it is used for."""
    first = max(1, first)
    thread, messages = memory.conversations.show(id, first=first, last=first + _TURNS - 1)
    learned = memory.learning.log(source=thread.id)
    return render(
        request,
        "conversation.html",
        title=thread.title or thread.source_id,
        thread=thread,
        turns=list(enumerate(messages, start=first)),
        first=first,
        next=first + _TURNS if first + _TURNS <= thread.count else 0,
        learned=[each for each in learned if each.outcome != "rejected"],
        rejected=_counts(each for each in learned if each.outcome == "rejected"),
        extractions=memory.learning.extractions(thread.id),
        uses=[(use, _USES[use]) for use in MEMORY_USES],
    )


@router.post("/conversations/use")
def set_use(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Set what a conversation is used for."""
    use = next((each for each in MEMORY_USES if each == form.required("memory")), None)
    if use is None:
        raise UsageError("a conversation is used in one of three ways", hint=f"Choose one of {', '.join(MEMORY_USES)}.")
    thread = memory.conversations.use(form.required("id"), use)
    return redirect(request, f"/conversations/{thread.id}", f"From now on: {_USES[use]}.")


@router.post("/conversations/erase")
def erase(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Remove a conversation for good, if the person ticked that they mean it."""
    if not form.is_set("sure"):
        raise UsageError("nothing was erased: the box was not ticked", hint="Go back, and tick that you mean it.")
    thread = memory.conversations.erase(form.required("id"))
    return redirect(request, "/conversations", f"Erased the conversation “{thread.title or thread.source_id}”.")


_USES: Final = {
    "on": "search finds it, prompts may quote it, facts are learned from it",
    "off": "search alone finds it",
    "isolated": "found only by a search that names the source isolated",
}


def _counts(rejected: Iterable[LearnedItem]) -> list[tuple[str, int]]:
    """How often each reason was given, the most frequent first."""
    return Counter(each.reason for each in rejected).most_common()
