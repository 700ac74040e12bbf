"""Links that follow a note to its new path."""

import posixpath
import re
from urllib.parse import quote

from commonplace.model import Link, Note
from commonplace.notes.names import Meaning, Names

_WIKI_TARGET = re.compile(r"(?P<open>!?\[\[\s*)(?P<target>[^\]|#]*?)(?=\s*(?:\\?\||#|\]\]))")
_MARKDOWN_TARGET = re.compile(r"(?P<open>\]\(\s*<?)(?P<target>[^)>#]*)")


def relinked(note: Note, *, at: str, moved: tuple[str, str], before: Names, after: Names) -> str | None:
    """The note's text with every link still leading where it led, once `moved` (from, to) has happened.

    `at` is the note's own path afterwards. None when no link has to change.
    """
    pieces: list[str] = []
    done = 0
    for link in sorted(note.links, key=lambda each: each.start):
        wanted = _wanted(before.resolve(link, source=note.path), moved)
        if not link.target or wanted is None or _still_leads(after.meaning(link, source=at), link, wanted):
            continue
        pieces += [note.text[done : link.start], _rewritten(note.text[link.start : link.end], link, wanted, at, after)]
        done = link.end
    return "".join([*pieces, note.text[done:]]) if pieces else None


def _still_leads(meaning: Meaning, link: Link, wanted: str) -> bool:
    """A Markdown link is a path for every other reader, so finding the file by its name is not enough for it."""
    return meaning.path == wanted and (link.form != "markdown" or meaning.by == "path")


def _wanted(led_to: str | None, moved: tuple[str, str]) -> str | None:
    return moved[1] if led_to == moved[0] else led_to


def _rewritten(written: str, link: Link, wanted: str, at: str, names: Names) -> str:
    """The link as written, with another target; alias, heading and block stay."""
    if link.form == "markdown":
        folder = posixpath.dirname(at)
        target = quote(posixpath.relpath(wanted, folder or "."), safe="/-_.~()'!*,;:@&=+$")
        return _MARKDOWN_TARGET.sub(lambda found: found["open"] + target, written, count=1)
    return _WIKI_TARGET.sub(lambda found: found["open"] + _shortest(wanted, link, at, names), written, count=1)


def _shortest(wanted: str, link: Link, at: str, names: Names) -> str:
    """The bare name where that is enough, else the whole path; without `.md`, as Obsidian writes it."""
    whole = wanted.removesuffix(".md")
    name = posixpath.basename(whole)
    bare = Link(name, None, None, None, link.form, link.where, link.line, link.start, link.end)
    return name if names.resolve(bare, source=at) == wanted else whole
