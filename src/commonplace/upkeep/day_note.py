"""The dated note: one bullet for each memory of a day, and in its frontmatter how far the day was read. Pure.

    ---
    through: 2026-03-02T02:15:00Z
    topics: [garden, work]
    conversations: ["c-0123456789ab:24"]
    ---
    - Chose drip irrigation for the greenhouse, because the pump is weak. #garden ^c-0123456789ab

The most common topic comes first. `conversations` names the last message of each conversation that the note has, so
that a run which was killed after the note was written writes nothing twice. A block id at the end of a bullet says
which conversation (`c-`, `t-`) or which entry (`e-`) it is made from: it is removed if that is erased.

The words come from conversations and models. They are written as plain text: a bullet is never a structured line, a
task, a heading, a link or an embed, and holds no tag but its topics.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final

from commonplace.model.layout import DATED_NOTES, channel_folder
from commonplace.model.note_words import plain_words
from commonplace.model.template import SECTIONS
from commonplace.model.text import fold_phrase
from commonplace.notes import parse, set_key
from commonplace.notes.note_text import split_note
from commonplace.templates.sections import read_marks, split_sections

MOST_TOPICS: Final = 5
"""Topics that the frontmatter names."""
_THROUGH: Final = "through"
_CONVERSATIONS: Final = "conversations"
_TOPICS: Final = "topics"
_ORDER: Final = (_THROUGH, _TOPICS, _CONVERSATIONS)
_LONGEST_TOPIC: Final = 40
_TAGS: Final = re.compile(r"(?:\s#[^\s#]+)+\Z")
_BLOCK_ID: Final = re.compile(r"\s\^([A-Za-z0-9-]+)\Z")
_BULLET: Final = re.compile(r"[-*+][ \t]+(.*)")
_COVERED: Final = re.compile(r"([cxt]-[0-9a-f]+):(\d{1,9})")
_DATED: Final = re.compile(r"(\d{4}-\d{2}-\d{2})\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class DayMemory:
    """One memory of a day: a statement, its topics, and what it is made from, such as c-0123456789ab or e-3f9a1c."""

    text: str
    topics: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayAddition:
    """What a run adds to a day's note: memories, how far each conversation was read, and up to which moment."""

    memories: tuple[DayMemory, ...] = ()
    conversations: Mapping[str, int] = field(default_factory=dict)
    through: str = ""


def day_path(day: str, *, channel: str = "") -> str:
    """The path of a day's note, the person's or a channel's."""
    return f"{f'{channel_folder(channel)}/memories' if channel else DATED_NOTES}/{day}.md"


def topic_name(text: str) -> str:
    """The topic as a tag, such as garden or home-office; empty if it is none."""
    plain = "".join(each if each.isalpha() or each.isdecimal() else " " for each in text.casefold())
    name = "-".join(plain.split())[:_LONGEST_TOPIC].rstrip("-")
    return name if len(name) > 1 and name[0].isalpha() else ""


def covered_by(frontmatter: Mapping[str, Any]) -> dict[str, int]:
    """How far a note has each conversation, by its frontmatter; a line that says nothing such is left out."""
    lines = frontmatter.get(_CONVERSATIONS)
    matches = [_COVERED.fullmatch(str(line)) for line in (lines if isinstance(lines, list | tuple) else ())]
    return {match[1]: int(match[2]) for match in matches if match}


def through_of(frontmatter: Mapping[str, Any]) -> str:
    """The moment up to which a note has its day; empty if it does not say."""
    value = frontmatter.get(_THROUGH)
    return value if isinstance(value, str) else ""


def merged_note(existing: bytes | None, addition: DayAddition, *, path: str) -> bytes:
    """The note with what is new: bullets at its end that it has not, and its frontmatter; all other bytes stay.

    Raises Refused if the existing frontmatter cannot be changed safely.
    """
    raw = existing or b""
    note = split_note(raw)
    known = {_key(words) for words, _ in bullets_of(note.body)}
    blocks = {block for _, block in bullets_of(note.body)}
    lines = list[str]()
    for memory in addition.memories:
        words = plain_words(memory.text)
        if words and _key(words) not in known:
            known.add(_key(words))
            block = _block_id(memory.source, blocks)
            blocks.add(block)
            tags = "".join(f" #{topic}" for topic in memory.topics)
            lines.append(f"- {words}{tags}{f' ^{block}' if block else ''}")
    return _with_keys(_appended(raw, lines), addition, path=path)


def _appended(raw: bytes, lines: Sequence[str]) -> bytes:
    """The note with these lines at its end, in its own line endings."""
    if not lines:
        return raw
    end = b"\r\n" if b"\r\n" in raw else b"\n"
    gap = b"" if not raw or raw.endswith(b"\n") else end
    return raw + gap + b"".join(line.encode() + end for line in lines)


def _with_keys(raw: bytes, addition: DayAddition, *, path: str) -> bytes:
    """The note with its frontmatter brought up to date. Raises Refused."""
    note = parse(raw, path=path, mtime=0.0)
    covered = covered_by(note.frontmatter)
    for id_, last in addition.conversations.items():
        covered[id_] = max(last, covered.get(id_, 0))
    values: dict[str, Any] = {_THROUGH: addition.through, _TOPICS: list(dominant_topics(note.body))}
    values[_CONVERSATIONS] = [f"{id_}:{last}" for id_, last in sorted(covered.items())]
    if addition.through <= through_of(note.frontmatter):
        del values[_THROUGH]
    for key, value in values.items():
        if value:
            raw = set_key(raw, key, value, path=path, order=_ORDER)
    return raw


def dominant_topics(body: str) -> tuple[str, ...]:
    """The topics of the bullets, the most common first, equal ones by name."""
    tags = Counter(tag for line in _bullet_lines(body) for tag in _tags_of(line))
    ordered = sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(topic for topic, _ in ordered[:MOST_TOPICS])


def bullets_of(body: str) -> list[tuple[str, str]]:
    """The words of each bullet, without topics, and its block id."""
    found = list[tuple[str, str]]()
    for line in _bullet_lines(body):
        block = _BLOCK_ID.search(line)
        words = line[: block.start()] if block else line
        found.append((_TAGS.sub("", words).strip(), block[1] if block else ""))
    return found


def without_sources(existing: bytes, gone: Collection[str], *, path: str) -> bytes:
    """The note without the bullets that are made from what was erased, and without its names in the frontmatter.

    Raises Refused if the frontmatter cannot be changed safely.
    """
    kept = list[str]()
    for line in existing.decode("utf-8", "surrogateescape").splitlines(keepends=True):
        block = _BLOCK_ID.search(line.rstrip())
        if not (block and _BULLET.match(line) and source_of(block[1]) in gone):
            kept.append(line)
    raw = "".join(kept).encode("utf-8", "surrogateescape")
    note = parse(raw, path=path, mtime=0.0)
    covered = {id_: last for id_, last in covered_by(note.frontmatter).items() if id_ not in gone}
    if covered != covered_by(note.frontmatter):
        raw = set_key(raw, _CONVERSATIONS, [f"{id_}:{last}" for id_, last in sorted(covered.items())], path=path)
    raw = _marked_again(existing, raw, path=path)
    topics = list(dominant_topics(note.body))
    return set_key(raw, _TOPICS, topics, path=path) if note.frontmatter.get(_TOPICS, topics) != topics else raw


def _marked_again(existing: bytes, raw: bytes, *, path: str) -> bytes:
    """The note with new marks of the sections that were as a template wrote them: they still are."""
    before = parse(existing, path=path, mtime=0.0)
    marks = read_marks(before.frontmatter.get(SECTIONS))
    ours = {each.name for each in split_sections(before.body) if marks.get(each.name) == each.mark}
    now = {each.name: each.mark for each in split_sections(parse(raw, path=path, mtime=0.0).body) if each.name in ours}
    if not marks or {**marks, **now} == marks:
        return raw
    return set_key(raw, SECTIONS, [f"{mark} {name}" for name, mark in {**marks, **now}.items()], path=path)


def source_of(block: str) -> str:
    """What a bullet with this block id is made from: the id without the number that makes it unique."""
    return "-".join(block.split("-")[:2])


def expired(paths: Iterable[str], *, days: int, now: datetime) -> tuple[str, ...]:
    """The dated notes that are older than so many days, oldest first: those named for a day before the cutoff's.

    `now` is in UTC. A note of the cutoff's own day stays, and so does every note that is not named for a day.
    """
    cutoff = (now - timedelta(days=days)).date()
    dated = [(day, path) for path in paths if (day := named_day(path)) and day < cutoff]
    return tuple(path for _, path in sorted(dated))


def named_day(path: str) -> date | None:
    """The day in the name of a dated note; None for any other name."""
    match = _DATED.fullmatch(path.rpartition("/")[2])
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def _bullet_lines(body: str) -> list[str]:
    return [match[1].rstrip() for line in body.splitlines() if (match := _BULLET.match(line))]


def _tags_of(line: str) -> list[str]:
    block = _BLOCK_ID.search(line)
    tags = _TAGS.search(line[: block.start()] if block else line)
    return [tag.lstrip("#") for tag in tags[0].split()] if tags else []


def _key(words: str) -> str:
    return fold_phrase(words).rstrip(" .!")


def _block_id(source: str, taken: Collection[str]) -> str:
    """A block id for what is made from that source, which no other bullet of the note has."""
    if not source:
        return ""
    numbers = (source, *(f"{source}-{number}" for number in range(2, 1000)))
    return next((each for each in numbers if each not in taken), "")
