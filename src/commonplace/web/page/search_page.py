"""The search page: hits while you type, each with the reasons for its place; filters; opens in Obsidian."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from textwrap import shorten
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from commonplace.memory import Memory
from commonplace.model import Answer, Hit
from commonplace.model.layout import entry_digits
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

_MARKUP: Final = re.compile(
    r"!?\[\[(?:[^\]|\n]*\|)?(?=[^\]|\n]+\]\])|\]\]"  # around the text of a [[link]]
    r"|!?\[(?=[^\[\]\n]+\]\([^)\n]*\))|(?<=[^\[\]\n])\]\([^)\n]*\)"  # around that of a [link](address)
    r"|[ #]\^[A-Za-z0-9-]+"  # the name of a block
)
_LAST_WORD: Final = re.compile(r"\w+\Z")
_MOST_OF_TITLE: Final = 90  # characters of an entry that stand for its title
router = APIRouter()


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit as the page shows it: its title, where it leads, its text with the words of the query marked, and why it is
    here. The text of a short entry is its title, and stands there alone."""

    hit: Hit
    title: str
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
    is_part = request.headers.get("x-part") == "results"

    def find(question: str) -> Answer:
        return _search(memory, question, **chosen, archive=bool(archive))

    answer = (_search_unfinished(memory, q, find) if is_part else find(q)) if q.strip() else None
    hits = [_shown(hit, q) for hit in _hits(answer)]
    words = memory.search.complete(q) if answer is not None and not hits else ()
    longer = [_LAST_WORD.sub(word, q) for word in words]
    values: dict[str, Any] = {"q": q, **chosen, "archive": archive, "answer": answer, "hits": hits, "longer": longer}
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


def _search_unfinished(memory: Memory, question: str, find: Callable[[str], Answer]) -> Answer:
    """The answer while the last word is being typed: also for the words that it may become.

    Notes with a title that begins so come first; then what has the word as it is typed, if anything does.
    """
    answer, words = find(question), memory.search.complete(question)
    longer = find(_LAST_WORD.sub(" ".join(words), question)) if words else replace(answer, hits=(), took_ms=0.0)
    last = question.casefold().split()[-1]
    is_word = any(last in f"{hit.title} {hit.text}".casefold().split() for hit in answer.hits)
    hits = (*answer.hits, *longer.hits) if is_word else (*longer.hits, *answer.hits)
    distinct: dict[str, Hit] = {}
    for hit in hits:
        distinct.setdefault(hit.chunk_id, hit)
    ordered = sorted(distinct.values(), key=lambda hit: not _begins_so(hit.title, question))
    took = answer.took_ms + longer.took_ms
    return replace(answer, hits=tuple(ordered[:_HITS]), took_ms=took, empty=None if ordered else answer.empty)


def _begins_so(title: str, question: str) -> bool:
    """True if each word of the question begins a word of the title."""
    words = re.findall(r"\w+", title.casefold())
    return all(any(word.startswith(each) for word in words) for each in re.findall(r"\w+", question.casefold()))


def _hits(answer: Answer | None) -> tuple[Hit, ...]:
    return tuple(answer.hits) if answer else ()


def _shown(hit: Hit, question: str) -> ShownHit:
    in_vault = hit.path.endswith(".md")
    address = note_path(hit.path) if in_vault else f"/conversations/{hit.path}"
    text, title, reasons = _marked(hit), hit.title or hit.path, tuple(_reasons(hit, question))
    if not (in_vault and entry_digits(hit.path) and hit.text):
        return ShownHit(hit, title, address, text, reasons)
    if len(hit.text) <= _MOST_OF_TITLE:
        return ShownHit(hit, text, address, Markup(""), reasons)
    return ShownHit(hit, shorten(hit.text, _MOST_OF_TITLE, placeholder=" …"), address, text, reasons)


def _marked(hit: Hit) -> Markup:
    """The snippet with the words of the query marked, and of each link only its text."""
    text = hit.snippet or hit.text
    marked = {at for start, end in (hit.marks if hit.snippet else ()) for at in range(start, end)}
    signs = {at for markup in _MARKUP.finditer(text) for at in range(*markup.span())}
    shown = (at for at in range(len(text)) if at not in signs)
    parts = ((is_marked, "".join(text[at] for at in run)) for is_marked, run in groupby(shown, marked.__contains__))
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if is_mark else Markup.escape(part) for is_mark, part in parts
    )


def _reasons(hit: Hit, question: str) -> Iterator[str]:
    """Why a hit is where it is, in words, the strongest reason first; what lowered it is left out."""
    parts = sorted(hit.why.items(), key=lambda part: _gain(part[1]), reverse=True)
    spellings = re.findall(r"\w+", f"{question} {hit.title} {hit.snippet}".casefold())
    for name, values in parts:
        if name == "words" and (words := values.get("by")):
            by_gain = sorted(words, key=lambda word: -words[word])
            yield "words: " + ", ".join(_spelled(word, spellings) for word in by_gain)
        elif name == "sense" and values.get("cosine"):
            yield f"close in meaning ({values['cosine']:.2f})"
        elif name in _REASONS and _gain(values) > 0:
            yield _REASONS[name]


def _spelled(stem: str, spellings: Sequence[str]) -> str:
    """The stem of a word as somebody spelled it: `citi` as `city`."""
    longer = (each for beginning in (stem, stem[:-1]) for each in spellings if beginning and each.startswith(beginning))
    return next(longer, stem)


def _gain(values: Mapping[str, Any]) -> float:
    return float(values.get("score") or 0) * float(values.get("weight") or 0)
