"""The sections of a note that a template wrote, and which of them a person changed since. Pure.

A section is what stands below one heading of the second level, up to the next; what stands before the first is the
section START. The note's frontmatter keeps a mark of each section as it was written, such as `3f9a1c0b2d4e Decisions`;
a section whose mark still fits is ours, and a new rendering may replace it. All others are the person's.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

START: Final = "(start)"
"""The name of what stands before the first section."""
KEYS: Final = "(frontmatter)"
"""The name under which the marks keep the frontmatter's own keys."""

_HEADING: Final = re.compile(r"##[ \t]+(.*?)[ \t#]*")
_FENCE: Final = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_BOX: Final = re.compile(r"^([ \t]*[-*+] )\[[xX-]\] ", re.MULTILINE)
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class NoteSection:
    """One section: its name, which no other section of the note has, and its text with the heading."""

    name: str
    text: str

    @property
    def mark(self) -> str:
        """Digits of the hash of its text, in which blanks at the end of lines do not count."""
        plain = "\n".join(line.rstrip() for line in self.text.splitlines()).strip()
        return hashlib.sha256(plain.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class Merged:
    """A new rendering merged into a note: the text, its marks, and the names of sections that the person changed.

    Those stay as they are in `text`; `proposed` is the text with them replaced too.
    """

    text: str
    marks: tuple[str, ...]
    changed: tuple[str, ...] = ()
    proposed: str = ""


def open_boxes(text: str) -> str:
    """The text with every ticked box open."""
    return _BOX.sub(r"\1[ ] ", text)


def split_sections(text: str) -> tuple[NoteSection, ...]:
    """The sections of a note's body, in order; joined, their texts are the body."""
    parts: list[tuple[str, list[str]]] = [(START, [])]
    fence = ""
    for line in text.splitlines(keepends=True):
        plain = line.rstrip("\r\n")
        if opened := _FENCE.match(plain):
            fence = opened[1] if not fence else "" if opened[1].startswith(fence) else fence
        heading = None if fence or opened else _HEADING.fullmatch(plain)
        if heading:
            parts.append((heading[1] or "untitled", []))
        parts[-1][1].append(line)
    return tuple(_named(parts))


def _named(parts: Iterable[tuple[str, list[str]]]) -> Iterable[NoteSection]:
    seen = dict[str, int]()
    for name, lines in parts:
        seen[name] = seen.get(name, 0) + 1
        if lines or name == START:
            yield NoteSection(f"{name} ({seen[name]})" if seen[name] > 1 else name, "".join(lines))


def marks_of(text: str, keys: Mapping[str, Any]) -> tuple[str, ...]:
    """The marks of a note with this body and these keys of its template."""
    own = f"{keys_mark(keys)} {KEYS}"
    return (own, *(f"{each.mark} {each.name}" for each in split_sections(text)))


def keys_mark(keys: Mapping[str, Any]) -> str:
    """Digits of the hash of keys and their values, in whatever order."""
    text = json.dumps(keys, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


def read_marks(value: object) -> dict[str, str]:
    """The mark of each section by its name, as the frontmatter has them; what is no mark is left out."""
    lines = value if isinstance(value, list | tuple) else ()
    pairs = (str(line).partition(" ") for line in lines)
    return {name: mark for mark, _, name in pairs if name and len(mark) == _DIGITS}


def merge_sections(old: str, new: str, marks: Mapping[str, str]) -> Merged:
    """The note's body with the new sections in the place of those that are as they were written.

    A section that the person changed stays, and so does one of their own; one that they removed stays away. A new one
    goes after the one before it in the new rendering.
    """
    mine = {each.name: each for each in split_sections(old)}
    fresh = split_sections(new)
    changed = tuple(each.name for each in fresh if _is_in_conflict(each, mine, marks))
    text = _merged(mine, fresh, marks, spare=changed)
    written = {each.name: each.mark for each in fresh if _is_ours(each, mine, marks)}
    kept = {each.name: marks[each.name] for each in fresh if each.name in marks}  # a removed one stays known, too
    proposed = _merged(mine, fresh, marks, spare=()) if changed else ""
    return Merged(text, tuple(f"{mark} {name}" for name, mark in {**kept, **written}.items()), changed, proposed)


def _is_ours(section: NoteSection, mine: Mapping[str, NoteSection], marks: Mapping[str, str]) -> bool:
    """True if the section is written anew, or would be the same."""
    old = mine.get(section.name)
    return (old is None and section.name not in marks) or (old is not None and marks.get(section.name) == old.mark)


def _is_in_conflict(section: NoteSection, mine: Mapping[str, NoteSection], marks: Mapping[str, str]) -> bool:
    """True if both the person and the source changed the section, to different texts."""
    old, mark = mine.get(section.name), marks.get(section.name)
    return old is not None and old.mark not in (mark, section.mark) and section.mark != mark


def _merged(
    mine: Mapping[str, NoteSection], fresh: Sequence[NoteSection], marks: Mapping[str, str], *, spare: Sequence[str]
) -> str:
    """The sections in the order of the note; new ones after those that they follow."""
    by_name = {each.name: each for each in fresh}
    order = [name for name in mine if name in by_name or marks.get(name) != mine[name].mark]
    for place, each in enumerate(fresh):
        if each.name not in mine and each.name not in marks:
            before = next((name for name in (e.name for e in reversed(fresh[:place])) if name in order), None)
            order.insert(order.index(before) + 1 if before else len(order), each.name)
    texts = list[str]()
    for name in order:
        old, section = mine.get(name), by_name.get(name)
        is_replaced = section is not None and (
            old is None or marks.get(name) == old.mark or (not spare and section.mark != marks.get(name))
        )
        texts.append(section.text if is_replaced and section else old.text if old else "")
    spaced = [f"{text.rstrip()}\n\n" if text.strip() else text for text in texts[:-1]]
    return "".join((*spaced, *texts[-1:]))
