"""The search page: hits while you type, each with the reasons for its place; filters; opens in Obsidian."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from commonplace.memory import Memory
from commonplace.model import Answer, Hit
from commonplace.web.page.view import NavigationEntry, PageMemory, note_path, render

ENTRY = NavigationEntry("Search", "/search", group="start", key="s")
_HITS: Final = 20
_SOURCES: Final = (
    ("", "Everything"),
    ("vault", "Notes"),
    ("chat", "Conversations"),
    ("task", "Tasks"),
    ("correction", "Corrections"),
)
_TIMES: Final = (
    ("", "Any time"),
    ("1d", "Since yesterday"),
    ("7d", "Last week"),
    ("30d", "Last month"),
    ("365d", "Last year"),
)
_REASONS: Final = {
    "time": "the time you name",
    "phrases": "your quotation",
    "speaker": "said by whom you name",
    "opening": "begins a conversation",
    "reply": "answers a question",
    "answers": "the answer follows",
    "whole": "its whole document fits",
    "document": "its document fits",
    "kinship": "like the best hits",
    "links": "linked from a hit",
    "correction": "you corrected this",
}
"""What each part of the ranking that can raise a hit means, besides words and sense."""

_LINK: Final = re.compile(r"(!?\[\[(?:[^\]|\n]*\|)?)([^\]|\n]+)(\]\])")
router = APIRouter()


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit as the page shows it: where it leads, its text with the words of the query marked, and why it is here."""

    hit: Hit
    address: str
    text: Markup
    reasons: tuple[str, ...]


@router.get("/search")
def show_search(
    request: Request,
    memory: PageMemory,
    q: str = "",
    source: str = "",
    folder: str = "",
    tag: str = "",
    since: str = "",
    archive: str = "",
) -> Response:
    """The form, and the hits for `q`; only the hits for a script that updates them while you type."""
    chosen = {"source": source, "folder": folder, "tag": tag, "since": since}
    answer = _search(memory, q, **chosen, archive=bool(archive)) if q.strip() else None
    hits = [_shown(hit) for hit in _hits(answer)]
    values: dict[str, Any] = {"q": q, **chosen, "archive": archive, "answer": answer, "hits": hits}
    is_part = request.headers.get("x-part") == "results"
    template = "search_results.html" if is_part else "search.html"
    return render(request, template, title=f"{q} · Search" if q else "Search", sources=_SOURCES, times=_TIMES, **values)


def _search(memory: Memory, question: str, *, source: str, folder: str, tag: str, since: str, archive: bool) -> Answer:
    return memory.search(
        question,
        k=_HITS,
        sources=[source] if source else (),
        path=folder.strip(),
        tags=[tag.strip()] if tag.strip() else (),
        since=since or None,
        include_archive=archive,
        snippets=True,
    )


def _hits(answer: Answer | None) -> tuple[Hit, ...]:
    return tuple(answer.hits) if answer else ()


def _shown(hit: Hit) -> ShownHit:
    in_vault = hit.path.endswith(".md")
    address = note_path(hit.path) if in_vault else f"/conversations/{hit.path}"
    return ShownHit(hit, address, _marked(hit), tuple(_reasons(hit.why)))


def _marked(hit: Hit) -> Markup:
    """The snippet with the words of the query marked, and of each [[link]] only its text."""
    text = hit.snippet or hit.text
    marked = {at for start, end in (hit.marks if hit.snippet else ()) for at in range(start, end)}
    brackets = {at for link in _LINK.finditer(text) for group in (1, 3) for at in range(*link.span(group))}
    shown = (at for at in range(len(text)) if at not in brackets)
    parts = ((is_marked, "".join(text[at] for at in run)) for is_marked, run in groupby(shown, marked.__contains__))
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if is_mark else Markup.escape(part) for is_mark, part in parts
    )


def _reasons(why: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Why a hit is where it is, in words, the strongest reason first; what lowered it is left out."""
    parts = sorted(why.items(), key=lambda part: _gain(part[1]), reverse=True)
    for name, values in parts:
        if name == "words" and (words := values.get("by")):
            yield "words: " + ", ".join(sorted(words, key=lambda word: -words[word]))
        elif name == "sense" and values.get("cosine"):
            yield f"close in meaning ({values['cosine']:.2f})"
        elif name in _REASONS and _gain(values) > 0:
            yield _REASONS[name]


def _gain(values: Mapping[str, Any]) -> float:
    return float(values.get("score") or 0) * float(values.get("weight") or 0)
