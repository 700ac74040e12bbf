"""The pages of people, projects and other things: the list, and everything known about one; and the topics."""

from typing import Final

from fastapi import APIRouter, Request, Response

from commonplace.web.page.view import NavigationEntry, PageMemory, redirect, render

ENTRY: Final = NavigationEntry("People and topics", "/people", group="know", key="e")
_SHOWN: Final = 50
_MOST_FACTS: Final = 100
_TOPICS: Final = 60
router = APIRouter()


@router.get("/people")
def show_entities(
    request: Request, memory: PageMemory, prefix: str = "", kind: str = "person", by: str = "facts", page: int = 1
) -> Response:
    """People, projects and other things with what is known of each, and the topics."""
    page = max(1, page)
    found = memory.facts.entities(prefix=prefix.strip(), kind=kind, by=by, offset=(page - 1) * _SHOWN, limit=_SHOWN)
    return render(
        request,
        "people.html",
        title="People and topics",
        entities=found.entities,
        counts=found.counts,
        chosen={"prefix": prefix, "kind": kind, "by": by},
        page=page,
        has_more=len(found.entities) == _SHOWN,
        topics=memory.topics.list()[:_TOPICS],
    )


@router.get("/people/{name:path}")
def show_entity(request: Request, memory: PageMemory, name: str, every: str = "") -> Response:
    """One person or thing: facts, commitments, links, and what happened when."""
    if not name:
        return redirect(request, "/people")
    match = memory.facts.named(name)
    meant = match.taken_for or name
    facts = memory.facts.about(meant, every=bool(every), limit=_MOST_FACTS)
    own = (each.path for each in memory.facts.entities(prefix=meant).entities if each.name == meant)
    return render(
        request,
        "person.html",
        title=meant,
        facts=facts,
        note=next(own, ""),
        every=every,
        alike=match.similar,
        timeline=list(reversed(memory.facts.timeline(meant)))[:_MOST_FACTS],
        commitments=memory.commitments.list(who=meant, states=("open", "overdue")),
    )
