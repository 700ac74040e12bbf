"""A conversation in a file: JSON, JSON Lines, or plain text whose turns begin with who speaks."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.model import Message
from commonplace.sources.messages import ROLE_WORDS, message_of

_LISTS: Final = ("messages", "turns")
_EXAMPLE: Final = "Begin each turn with who speaks, such as `User: ...` and `Assistant: ...`, or give JSON messages."
_NAME = r"[^\W\d_][^:\uff1a#*_`<>\[\](){}\n]{0,39}"
_TURN: Final = re.compile(
    rf"""
    \#{{1,6}}[ ]+ (?P<headed>{_NAME}?) [ ]* [:\uff1a]? [ ]* $  # a heading: ## User
    | (?P<mark>\*\*|__) (?P<bold>{_NAME}?)  # in bold: **User:** or **User**
      (?: [ ]* [:\uff1a] [ ]* (?P=mark) | (?P=mark) [ ]* [:\uff1a] | (?P=mark) [ ]* $ ) (?P<after>.*)
    | (?P<plain>{_NAME}?) [ ]* (?: : (?= \s | $ ) | \uff1a ) (?P<rest>.*)
    """,
    re.VERBOSE,
)
_COLON: Final = re.compile(r"[:\uff1a]")  # also as it is typed in Chinese and Japanese
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_TITLE: Final = re.compile(r"#[ \t]+(.*)")
_MOST_WORDS: Final = 3  # of a name


@dataclass(frozen=True, slots=True)
class Transcript:
    """The messages of a file, and what it says of the conversation; empty where it says nothing."""

    messages: tuple[Message, ...]
    interface: str = ""
    source_id: str = ""
    title: str = ""


def read_transcript(content: bytes, *, name: str) -> Transcript:
    """What the file says; times without a zone are UTC. Raises UsageError with its name and the line that is wrong."""
    text = _decoded(content, name).removeprefix("\ufeff")
    if not text.strip():
        raise UsageError("there is no conversation in it", path=name, hint=_EXAMPLE)
    if text.lstrip()[0] not in "[{":
        return _spoken(text, name)
    try:
        return _of_json(_parsed(text), name)
    except json.JSONDecodeError as error:
        if text.lstrip()[0] == "{" and error.msg == "Extra data":
            return Transcript(tuple(_of_lines(text, name)))
        raise _wrong(name, error.lineno, f"this is not valid JSON: {error.msg.lower()}") from error


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"line {line}: this is not UTF-8 text", path=name, hint="Save it as UTF-8.") from error


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:  # lists in lists without end, a number of thousands of digits
        raise json.JSONDecodeError("nobody can read this", text, 0) from error


def _of_json(value: Any, name: str) -> Transcript:
    """A list of messages, one message, or an object with a list of them."""
    about: Mapping[str, Any] = value if isinstance(value, dict) else {}
    listed = next((about[key] for key in _LISTS if key in about), [value] if about else value)
    if not isinstance(listed, list) or not listed:
        raise UsageError("there is no list of messages in it", path=name, hint=_EXAMPLE)
    messages = tuple(_message(each, name, f"message {at}") for at, each in enumerate(listed, start=1))
    if listed == [value]:
        return Transcript(messages)
    said = {key: str(about[key]) for key in ("interface", "id", "title") if about.get(key) is not None}
    return Transcript(messages, said.get("interface", ""), said.get("id", ""), said.get("title", ""))


def _of_lines(text: str, name: str) -> Iterator[Message]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = _parsed(line)
            except json.JSONDecodeError as error:
                raise _wrong(name, number, f"this is not valid JSON: {error.msg.lower()}") from error
            yield _message(value, name, f"line {number}")


def _message(value: object, name: str, where: str) -> Message:
    try:
        return message_of(value, zone=UTC)
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", path=name, hint=error.hint) from error


def _spoken(text: str, name: str, *, code_until: float = math.inf) -> Transcript:
    """Turns of text. Where the first is of a role, only roles begin others: a line `Note: ...` is part of a turn."""
    title, turns = "", list[tuple[str, list[str]]]()
    fence, opened = "", 0
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if number < code_until and (after := _fence_after(line, fence)) != fence:
            fence, opened = after, number
        found = None if fence else _speaker(line, only_roles=bool(turns) and turns[0][0].casefold() in ROLE_WORDS)
        if found:
            turns.append((found[0], [found[1]]))
        elif turns:
            turns[-1][1].append(line)
        elif heading := _TITLE.fullmatch(line.strip()):
            title = title or heading.group(1)
        elif line.strip():
            raise _wrong(name, number, "nobody says this")
    if fence:  # never closed, as in a reply that was cut off: what follows is said, not code
        return _spoken(text, name, code_until=opened)
    return Transcript(tuple(_said(speaker, lines) for speaker, lines in turns), title=title)


def _fence_after(line: str, fence: str) -> str:
    """The fence of the code that the text is in behind this line; empty outside of code."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found.group(1)
    return "" if found.group(1).startswith(fence) else fence


def _speaker(line: str, *, only_roles: bool) -> tuple[str, str] | None:
    """Who begins to speak with this line, and what the line says; None when it goes on."""
    found = _TURN.match(line)
    if found is None:
        return None
    who = (found["headed"] or found["bold"] or found["plain"]).strip()
    is_role = who.casefold() in ROLE_WORDS
    if only_roles or found["headed"] or (found["bold"] and not _COLON.search(found.group())):
        return (who, found["after"] or found["rest"] or "") if is_role else None
    is_name = is_role or (not who[0].islower() and len(who.split()) <= _MOST_WORDS)
    return (who, found["after"] or found["rest"] or "") if is_name else None


def _said(speaker: str, lines: list[str]) -> Message:
    role = ROLE_WORDS.get(speaker.casefold())
    text = "\n".join([lines[0].strip(), *lines[1:]]).strip("\n")
    return Message(role or "user", text.rstrip(), author="" if role else speaker)


def _wrong(name: str, line: int, what: str) -> UsageError:
    return UsageError(f"line {line}: {what}", path=name, hint=_EXAMPLE)
