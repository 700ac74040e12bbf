"""The pages of facts: the list with its filters, one with its versions and evidence, and what can be done to it."""

from typing import Any, Final, get_args

from fastapi import APIRouter, Request, Response

from commonplace.errors import UsageError
from commonplace.memory.fact_shapes import neighbour_shape, shown_name
from commonplace.memory.facts import FactFilter
from commonplace.model import TRUSTS, FactState
from commonplace.model.text import counted
from commonplace.web.page.view import (
    STATE_WORDS,
    TRUST_WORDS,
    NavigationEntry,
    PageForm,
    PageMemory,
    note_title,
    redirect,
    render,
    said,
)

ENTRY: Final = NavigationEntry("Facts", "/facts", group="know", key="f")
_STATES: Final[tuple[FactState, ...]] = get_args(FactState)
_MOST_TOPICS: Final = 30
_VERDICTS: Final = ("replaces", "covers", "same", "both")
router = APIRouter()


@router.get("/facts")
def show_facts(
    request: Request,
    memory: PageMemory,
    text: str = "",
    entity: str = "",
    topic: str = "",
    kind: str = "",
    trust: str = "",
    state: str = "current",
    before: str = "",
) -> Response:
    """What is known, the last updated first."""
    chosen = {"text": text, "entity": entity, "topic": topic, "kind": kind, "trust": trust, "state": state}
    which = FactFilter(
        text=text.strip(),
        entity=entity.strip(),
        topic=topic.strip(),
        kind=kind,
        trust=next((each for each in TRUSTS if each == trust), ""),
        state=next((each for each in _STATES if each == state), ""),
        before=before,
    )
    counts, found = memory.facts.count(), memory.facts.list(which)
    return render(
        request,
        "facts.html",
        title="Facts",
        facts=found.facts,
        older=found.mark,
        chosen=chosen,
        total=counts.total,
        kinds=[("", "every kind"), *((each, each) for each in sorted(filter(None, counts.kinds)))],
        trusts=[("", "every source"), *((each, TRUST_WORDS[each]) for each in TRUSTS)],
        states=[("", "every state"), *((each, STATE_WORDS[each]) for each in _STATES)],
        topics=sorted(counts.topics.items(), key=lambda each: (-each[1], each[0]))[:_MOST_TOPICS],
    )


@router.post("/facts/save")
def save_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Save one thing worth knowing, and show what is near it."""
    result = memory.entries.save(
        form.required("text"), about=form.text("about"), when=form.text("when"), interface="page", project=""
    )
    said = "Saved as your own word." if result.action != "confirm" else "Known already, and confirmed."
    return redirect(request, f"/facts/{result.fact.id}?near=1", said, undo=result.commit, undo_to="/facts")


@router.get("/facts/{id}")
def show_fact(request: Request, memory: PageMemory, id: str, near: str = "") -> Response:
    """One fact: what it says, since when, on which evidence, its versions and what it is bound to.

    With `near` also the entries near to it, to be settled.
    """
    chain = memory.entries.show(id)
    now = next((each for each in chain.versions if each.fact.id == chain.fact.id), None)
    can_settle = chain.fact.origin == "entry" and chain.fact.status == "active"
    found = memory.entries.neighbours(chain.fact.id) if near and can_settle else None
    others = {each.source if each.target == chain.fact.id else each.target for each in chain.edges}
    return render(
        request,
        "fact.html",
        title=said(chain.fact),
        fact=chain.fact,
        name=shown_name(chain.fact),
        now=now,
        versions=chain.versions,
        edges=chain.edges,
        events=memory.facts.events(chain.fact.id),
        others={other: _text(memory, other) for other in others},
        doubt=memory.facts.doubts([now]).get(chain.fact.id, "") if now else "",
        obsidian=memory.notes.link(chain.fact.path),
        near=[(each.fact, neighbour_shape(each)) for each in found.neighbours] if found else [],
        by_words=bool(found and found.by_words),
    )


@router.post("/facts/settle")
def settle_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Say how a fact relates to an older one, after reading both."""
    id, verdict = form.required("id"), form.required("verdict")
    if verdict not in _VERDICTS:
        raise UsageError(f"no such verdict: {verdict!r}", hint=f"Choose from: {', '.join(_VERDICTS)}.")
    given: dict[str, Any] = {verdict: (form.required("older"),)}
    result = memory.entries.settle(id, **given)
    ended = "; ".join(f"“{each.text}”" for each in result.ended)
    said = f"Ended: {ended}. It is kept in the archive." if ended else "Both hold."
    newer = result.ended[0] if verdict == "same" else result.fact
    to = f"/facts/{result.fact.id}" + ("" if verdict == "same" else "?near=1")
    return redirect(request, to, said, undo=result.commit, undo_to=f"/facts/{newer.id}")


@router.post("/facts/confirm")
def confirm_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """It is still true."""
    result = memory.entries.confirm(form.required("id"))
    return redirect(request, f"/facts/{result.fact.id}", "Confirmed: it is true today.", undo=result.commit)


@router.post("/facts/correct")
def correct_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Replace it with what is true now; the old one is kept as its past."""
    old, reason = form.required("id"), form.text("reason") or "corrected on the page"
    result = memory.entries.evolve(old, form.required("text"), reason=reason)
    said = "Corrected; the old version is kept."
    return redirect(request, f"/facts/{result.fact.id}?near=1", said, undo=result.commit, undo_to=f"/facts/{old}")


@router.post("/facts/describe")
def describe_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Say what it is about and when it matters; its words stay."""
    result = memory.entries.describe(form.required("id"), about=form.text("about"), when=form.text("when"))
    return redirect(request, f"/facts/{result.fact.id}", "Prompts about that find it now.", undo=result.commit)


@router.post("/facts/end")
def end_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """It held until a day, or until now."""
    result = memory.facts.end(form.required("id"), at=form.text("at"))
    return redirect(request, f"/facts/{result.fact.id}", "Ended: it no longer holds.", undo=result.commit)


@router.post("/facts/load")
def load_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Give it to every session, or only where it is relevant; pinned, upkeep leaves that alone."""
    always, pinned = form.is_set("always"), form.is_set("pinned")
    result = memory.entries.load(form.required("id"), always=always, pinned=pinned)
    said = "Every session gets it now" if always else "It is given where it is relevant"
    return redirect(request, f"/facts/{result.fact.id}", f"{said}{', pinned' if pinned else ''}.", undo=result.commit)


@router.post("/facts/forget")
def forget_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Stop recalling it; its note stays."""
    result = memory.entries.forget(form.required("id"), reason=form.text("reason"))
    return redirect(request, "/facts", f"Forgotten: {result.fact.text}", undo=result.commit)


@router.post("/facts/erase")
def erase_fact(request: Request, memory: PageMemory, form: PageForm) -> Response:
    """Remove it for good, if the person ticked that they mean it."""
    if not form.is_set("sure"):
        raise UsageError("nothing was erased: the box was not ticked", hint="Go back, and tick that you mean it.")
    erasure = memory.entries.erase(form.required("id"))
    commits = counted(erasure.commits_holding_it, "commit")
    held = f" Git still has it in {commits}; `git filter-repo` removes it there." if erasure.commits_holding_it else ""
    return redirect(request, "/facts", f"Erased: {note_title(erasure.path)}.{held}")


def _text(memory: PageMemory, id: str) -> str:
    return memory.entries.show(id).fact.text
