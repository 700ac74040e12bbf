"""Links that follow a note to its new path: only a link's target is written anew, and only where that reads back."""

import posixpath
import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from commonplace.model import Link, Note
from commonplace.notes.markdown_links import markdown_target
from commonplace.notes.names import Names
from commonplace.notes.parse import parse
from commonplace.notes.wikilinks import wikilink_target

_NOT_IN_WIKILINKS = re.compile(r"[#|^\[\]\n]")
_NOT_IN_ANGLES = re.compile(r"[#?%<>\\\r\n]")
_NOT_BARE = re.compile(r"[\s#?%<>\\\[\]|`\"\x00-\x1f]")
_PARENTHESES = re.compile(r"[()]")
_EVEN_PARENTHESES = re.compile(r"[^()]*(?:\([^()]*\)[^()]*)*")
_WIKILINK = re.compile(r"\[\[[^\[\]\n]*\]\]")


@dataclass(frozen=True, slots=True)
class Journey:
    """A note's move from one path to another, and the names of the vault's files before and after it."""

    source: str
    target: str
    before: Names
    after: Names

    def wanted(self, link: Link, note: Note) -> str | None:
        """Where the link has to lead after the move: to the file it led to, wherever that is then."""
        led_to = self.before.resolve(link, source=note.path)
        return self.target if led_to == self.source else led_to

    def place(self, note: Note) -> str:
        """The note's own path after the move."""
        return self.target if note.path == self.source else note.path

    def must_follow(self, link: Link, note: Note) -> bool:
        """Whether the link would lead elsewhere as it is.

        A Markdown link is a path for every other reader, so finding the file by its name is not enough for it.
        """
        wanted = self.wanted(link, note)
        if not link.target or wanted is None:
            return False
        meaning = self.after.meaning(link, source=self.place(note))
        return meaning.path != wanted or (link.form == "markdown" and meaning.by != "path")


@dataclass(frozen=True, slots=True)
class Relinked:
    """What came of rewriting a note; `content` is None where it cannot be done without changing what it says."""

    content: bytes | None


def relinked(note: Note, journey: Journey) -> Relinked | None:
    """The note with every link leading where it led, once the journey is made; None when no link has to change."""
    following = [link for link in note.links if journey.must_follow(link, note)]
    if not following:
        return None
    text = None if note.problems else _text(note, following, journey)
    if text is None:
        return Relinked(None)
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return Relinked(None)
    return Relinked(content if _is_sound(note, content, journey) else None)


def _text(note: Note, following: list[Link], journey: Journey) -> str | None:
    """The note's text with other targets in these links and all else as written; None where one cannot be written."""
    pieces: list[str] = []
    done = 0
    changes = [_change(link, note, journey) for link in following]
    if None in changes:
        return None
    for start, end, target in sorted(filter(None, changes)):
        pieces += [note.text[done:start], target]
        done = end
    return "".join([*pieces, note.text[done:]])


def _change(link: Link, note: Note, journey: Journey) -> tuple[int, int, str] | None:
    """From where to where the link's target stands in the note, and what is to stand there."""
    written, at = note.text[link.start : link.end], journey.place(note)
    wanted = journey.wanted(link, note) or ""
    if link.form == "markdown":
        span = markdown_target(written, link.alias)
        if span is None:
            return None
        start, end, angled = span
        return link.start + start, link.start + end, _relative(wanted, posixpath.dirname(at), angled=angled)
    start, end = wikilink_target(written)
    target = _shortest(wanted, link, at, journey.after)
    return None if target is None else (link.start + start, link.start + end, target)


def _relative(wanted: str, folder: str, *, angled: bool) -> str:
    """The path as seen from the folder, with what Markdown would read otherwise percent-encoded."""
    path = posixpath.relpath(wanted, folder or ".")
    if ":" in path.partition("/")[0]:  # or it would be taken for a web address
        path = f"./{path}"
    if angled:
        return _NOT_IN_ANGLES.sub(_encoded, path)
    encoded = _NOT_BARE.sub(_encoded, path)
    return encoded if _EVEN_PARENTHESES.fullmatch(encoded) else _PARENTHESES.sub(_encoded, encoded)


def _encoded(found: re.Match[str]) -> str:
    return quote(found.group(), safe="", errors="surrogatepass")


def _shortest(wanted: str, link: Link, at: str, names: Names) -> str | None:
    """The bare name where that is enough, else the whole path; without `.md` where it can be, as Obsidian writes it."""
    whole = wanted.removesuffix(".md")
    for target in (posixpath.basename(whole), whole, wanted):
        if names.resolve(replace(link, target=target), source=at) == wanted:
            return None if _NOT_IN_WIKILINKS.search(target) else target
    return None


def _is_sound(note: Note, content: bytes, journey: Journey) -> bool:
    """Whether the new content says what the note said, read again: its links lead where they should, all else stays."""
    again = parse(content, path=journey.place(note), mtime=note.mtime)
    return (
        not again.problems
        and len(again.links) == len(note.links)
        and all(_leads_right(*pair, note, journey) for pair in zip(note.links, again.links, strict=True))
        and len(again.headings) == len(note.headings)
        and again.tags == note.tags
        and _without_links(again.frontmatter) == _without_links(note.frontmatter)
    )


def _leads_right(old: Link, new: Link, note: Note, journey: Journey) -> bool:
    """Whether the new link is the old one but for its target, and leads where it has to."""
    wanted = journey.wanted(old, note)
    leads = new.target == old.target
    if old.target and wanted is not None:
        leads = journey.after.resolve(new, source=journey.place(note)) == wanted
    holds_another = any(old.start < each.start and each.end <= old.end for each in note.links)
    same_alias = old.alias == new.alias or holds_another  # the inner link is looked at by itself
    return leads and same_alias and _beside(old) == _beside(new)


def _beside(link: Link) -> tuple[str | None, ...]:
    return link.heading, link.block, link.form, link.where


def _without_links(value: Any) -> Any:
    """A frontmatter value with nothing in the brackets of its links."""
    if isinstance(value, dict):
        return {key: _without_links(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_links(each) for each in value]
    return _WIKILINK.sub("[[]]", value) if isinstance(value, str) else (type(value), value)
