"""Statements of other memories as entries, and the JSON that they come in.

What another memory says of the person ("User prefers tea") is told here without a subject ("Prefers tea"), as saved
entries are. What it says of anything else keeps its name.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.model import Candidate
from commonplace.model.moment import moment_text
from commonplace.model.untrusted_text import clean_text
from commonplace.sources.imports.base import ImportedEntry, ImportFiles, read_whole
from commonplace.sources.imports.export_values import time_of

ME: Final = "me"
"""The subject that is the person, as triples name it."""

LONGEST_STATEMENT: Final = 2000
"""Characters of an entry. What is longer is a document, and becomes a note."""
_LONGEST_NAME: Final = 120  # characters of a subject or an object: longer ones are sentences
_USER: Final = re.compile(r"(?:the )?(?:user|human)(?P<own>['’]s)? +(?=\S)", re.IGNORECASE)
_NOT_A_VERB: Final = re.compile(r"(?:id|name|interface|experience|story|account|input|\w+ed|and|or|of|in|with)\b", re.I)
_PREFERENCE: Final = re.compile(
    r"\W*(?:(?:strongly|usually|generally|always|really) )?"
    r"(?:prefers?|likes?|loves?|enjoys?|dislikes?|hates?|avoids?|favou?rs?|favou?rite)\b",
    re.IGNORECASE,
)
_IDENTITY: Final = re.compile(r"(?:(?:first|last|full|nick) ?)?(?:name|birthday|date of birth|pronouns)(?: is|:)", re.I)
_ENDS: Final = (".", "!", "?")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX-]\][ \t]+)?")
_HEADING: Final = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+(\S.*?)[ \t#]*|\*\*([^*\n]{1,80}):?\*\*:?[ \t]*|([^:*\n]{1,60}):[ \t]*)"
)
_UNKNOWN: Final = re.compile(r"[^:\n]{1,60}:\s*(?:\[?(?:unknown|not set|n/?a|none|tbd|\?+)\]?\.?)?\s*", re.IGNORECASE)
_TITLE_PARTS: Final = re.compile(r"[A-Z][^_\s]*(?:_[A-Z0-9][^_\s]*)+")


def statement_entry(
    text: str,
    *,
    where: str,
    subject: str = "",
    kind: str = "",
    topics: Iterable[str] = (),
    tags: Iterable[str] = (),
    importance: float | None = None,
    valid_until: str = "",
    source_id: str = "",
    known_since: str = "",
) -> ImportedEntry:
    """The entry for one statement; its kind is `preference` or `fact` by its wording, if none is given."""
    text = without_user(plain_line(text))
    candidate = Candidate(
        text=text,
        kind=kind or kind_of_statement(text),
        subject=subject,
        topics=names_of(topics),
        tags=tuple(dict.fromkeys(tags)),
        importance=importance,
        valid_until=valid_until,
    )
    return ImportedEntry(where=where, candidate=candidate, source_id=source_id, known_since=known_since)


def triple_entry(
    subject: str,
    predicate: str,
    object: str,
    *,
    where: str,
    valid_from: str = "",
    valid_until: str = "",
    source_id: str = "",
    known_since: str = "",
) -> ImportedEntry:
    """The entry for a relation between two names; its sentence is made from the triple."""
    candidate = Candidate(
        text="",
        kind="fact",
        subject=entity_name(subject),
        predicate=plain_line(predicate),
        object=entity_name(object),
        valid_from=valid_from,
        valid_until=valid_until,
    )
    return ImportedEntry(where=where, candidate=candidate, source_id=source_id, known_since=known_since)


def is_triple(*parts: str) -> bool:
    """True if subject, predicate and object are all there and are names, not sentences."""
    return all(0 < len(plain_line(part)) <= _LONGEST_NAME for part in parts)


def kind_of_statement(text: str) -> str:
    """`preference` for a statement that begins with a liking, `identity` for a name or a birthday, else `fact`."""
    if _IDENTITY.match(text):
        return "identity"
    return "preference" if _PREFERENCE.match(text) else "fact"


def without_user(text: str) -> str:
    """A statement about the user without its subject: "User prefers tea" -> "Prefers tea"; others as they are."""
    match = _USER.match(text)
    if not match or "\n" in text:
        return text
    rest = text[match.end() :]
    if not match["own"] and _NOT_A_VERB.match(rest):  # "User experience matters", "User interface is dark"
        return text
    return rest[:1].upper() + rest[1:]


def entity_name(name: str) -> str:
    """A name as people write it: `John Smith` for John_Smith, `me` for the user."""
    name = plain_line(name)
    if name.casefold() in ("default_user", "user", "the user", "human", "user_id", "me"):
        return ME
    return name.replace("_", " ") if _TITLE_PARTS.fullmatch(name) else name


def statements_in(text: str) -> Iterator[tuple[str, str]]:
    """The statements of a list or of short paragraphs, each with the heading above it.

    A line `Name: ?` or `Role: [unknown]` says nothing and is left out.
    """
    heading, waiting = "", list[str]()
    for line in [*text.splitlines(), ""]:
        match = _HEADING.fullmatch(line)
        bullet = _BULLET.match(line)
        is_new = match or bullet or not line.strip() or _is_pair(line)
        if waiting and (is_new or _is_pair(waiting[-1]) or waiting[-1].endswith(_ENDS)):
            yield heading, " ".join(waiting)
            waiting = []
        if match:
            heading = plain_line(match[1] or match[2] or match[3]).rstrip(":")
        elif line.strip():
            said = plain_line(line[bullet.end() :] if bullet else line)
            waiting += [said] if said and not _UNKNOWN.fullmatch(said) else []


def _is_pair(line: str) -> bool:
    """True for a line such as `Name: Ada`."""
    return re.match(r"\s*[A-Z][\w /-]{0,40}:\s", line) is not None


def plain_line(text: object) -> str:
    """Text on one line without characters that control or hide; empty for anything that is not text."""
    return " ".join(clean_text(text).split()) if isinstance(text, str) else ""


def plain_text(text: object) -> str:
    """Text of several lines without characters that control or hide; empty for anything that is not text."""
    return clean_text(text).strip() if isinstance(text, str) else ""


def names_of(values: object) -> tuple[str, ...]:
    """Names in a list, or in one text with commas, each once; other values are left out."""
    items = values.split(",") if isinstance(values, str) else values
    if not isinstance(items, Iterable) or isinstance(items, Mapping | bytes):
        return ()
    names = (plain_line(item).lstrip("#").strip() for item in items)
    return tuple(dict.fromkeys(name for name in names if name and len(name) <= _LONGEST_NAME))


def moment_of(value: object) -> str:
    """A time in another program's data as moment text; empty if it is none."""
    at = time_of(value)
    return moment_text(at) if at else ""


def fraction_of(value: object) -> float | None:
    """A number from 0 to 1; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= float(value) <= 1 else None  # type: ignore[arg-type]


def read_json(files: ImportFiles, path: str) -> Any:
    """The JSON in a file. Raises UsageError if it is none, too large, or nested too deeply."""
    content = read_whole(files, path)
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError("not UTF-8 text", path=path, hint="Export it again.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError("not valid JSON, or nested too deeply", path=path, hint="Export it again.") from error
