"""Conversations written by other programs: messages, files in JSON, JSON Lines or plain text, transcripts of agents.

An agent's transcript grows while it is read, so a last line without its end is left for the next time. Unknown types of
lines are skipped, and a broken line does not affect the others. What a program added to a person's message is removed:
the host's own blocks, and the memory that we injected, which would otherwise be remembered again as new.
"""

import json
import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Any, Final

from commonplace.agent_hosts import (
    AGENT_HOSTS,
    TRANSCRIPT_HOSTS,
    AgentHost,
    Line,
    find_agent_host,
    parse_transcript_line,
)
from commonplace.errors import UsageError
from commonplace.model import ROLES, Message, Role

_TEXT_PARTS: Final = frozenset(("text", "input_text", "output_text"))
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}

_TAGS: Final = "|".join(re.escape(tag) for host in AGENT_HOSTS for tag in host.injected_blocks)
_HOST_OPENING: Final = re.compile(rf"^[ \t]*<(?P<name>{_TAGS})(?=[\s>])[^>\n]{{0,200}}>", re.MULTILINE)
_HOST_CLOSING: Final = re.compile(rf"</(?P<name>{_TAGS})>")
_HOST_LINES: Final = tuple(re.compile(line, re.MULTILINE) for host in AGENT_HOSTS for line in host.injected_lines)
_MEMORY_OPENING: Final = re.compile(r"<(?P<name>memory-[0-9a-f]{8}) [a-z]{2,20}>")
_MEMORY_CLOSING: Final = re.compile(r"</(?P<name>memory-[0-9a-f]{8})>")
_MEMORY_INTRO: Final = re.compile(
    r"^[ \t>]*(?:Between memory-[0-9a-f]{8} marks:|memory-[0-9a-f]{8}: quoted from )[^\n]*\n?", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class TranscriptMessages:
    """The messages in a part of a transcript, the number of bytes read, and the number of lines that are not JSON."""

    messages: tuple[Message, ...]
    consumed: int
    broken: int


def read_agent_lines(content: bytes, *, host: str, is_whole: bool = False) -> TranscriptMessages:
    """The messages in the complete lines of a host's transcript. Raises UsageError for a host without transcripts.

    A last line without its end is left, unless `is_whole` says that no more follows and the line is valid JSON.
    """
    agent = find_agent_host(host)
    if agent is None or agent.read_line is None:
        hint = f"Hosts with transcripts: {', '.join(TRANSCRIPT_HOSTS)}."
        raise UsageError(f"transcripts of {host!r} cannot be read", hint=hint)
    *lines, rest = content.split(b"\n")
    consumed = len(content) - len(rest)
    if is_whole and parse_transcript_line(rest):
        lines.append(rest)
        consumed = len(content)
    parsed = [parse_transcript_line(line) for line in lines if line.strip()]
    messages = (_agent_message(line, agent) for line in parsed if line)
    return TranscriptMessages(tuple(each for each in messages if each), consumed, sum(line is None for line in parsed))


def _agent_message(line: Line, host: AgentHost) -> Message | None:
    """The message in a line; None if the line holds nothing that the person or the assistant said."""
    utterance = host.read_line(line) if host.read_line else None
    if utterance is None:
        return None
    message, timestamp, id_ = utterance
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        return None
    text = (
        strip_injected(_text(message.get("content"))) if role == "user" else strip_memory(_text(message.get("content")))
    )
    if not text:
        return None
    at, source_id = _line_time(timestamp), id_ if isinstance(id_, str) else ""
    if host.may_lack_ids and not source_id and at is not None:
        # The time is exact to the millisecond. The text itself may hold a secret, so it is not part of the id.
        source_id = f"{timestamp} {role} {len(text)}"
    return Message(role, text, at=at, source_id=source_id)


def _text(content: object) -> str:
    """The words of a message, without tool calls, their results, thoughts and pictures."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and str(part.get("type")) in _TEXT_PARTS)
    return "\n".join(text for text in texts if isinstance(text, str))


def _line_time(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at.astimezone(UTC) if at and at.tzinfo else None
    except (ValueError, OverflowError):
        return None


def strip_injected(text: str) -> str:
    """A person's message without what programs added to it; empty if nothing is left."""
    text = _without_blocks(strip_memory(text), _HOST_OPENING, _HOST_CLOSING)
    for line in _HOST_LINES:
        text = line.sub("", text)
    return text.strip()


def strip_memory(text: str) -> str:
    """A message without injected memory. The tags of hosts stay, because an assistant may write about them."""
    if "memory-" in text:
        text = _MEMORY_INTRO.sub("", _without_blocks(text, _MEMORY_OPENING, _MEMORY_CLOSING, is_cut_off=True))
    return text.strip()


def _without_blocks(text: str, opening: re.Pattern[str], closing: re.Pattern[str], *, is_cut_off: bool = False) -> str:
    """The text without the blocks. An unclosed block stays, or is removed up to the end if the text `is_cut_off`."""
    ends = defaultdict[str, list[tuple[int, int]]](list)
    for match in closing.finditer(text):
        ends[match["name"]].append(match.span())
    parts, position = list[str](), 0
    for match in opening.finditer(text):
        if match.start() < position:
            continue
        closings = ends[match["name"]]
        number = bisect_left(closings, (match.end(), 0))
        if number < len(closings) or is_cut_off:
            parts.append(text[position : match.start()])
            position = closings[number][1] if number < len(closings) else len(text)
    return "".join([*parts, text[position:]])


ROLE_WORDS: Final[Mapping[str, Role]] = {
    **{role: role for role in ROLES},
    **dict.fromkeys(("human", "you", "me"), "user"),
    **dict.fromkeys(("ai", "bot", "model", "chatgpt", "claude", "copilot", "gemini"), "assistant"),
    "developer": "system",
    "function": "tool",
}
"""The roles, by the names that other programs give them."""

_TEXT_KEYS: Final = ("content", "text")
_AUTHOR_KEYS: Final = ("author", "name")
_TIME_KEYS: Final = ("at", "timestamp", "created_at")
_LIST_KEYS: Final = ("messages", "turns")
_MIN_MILLISECONDS: Final = 1e11  # a number from here on is in milliseconds: in seconds it would be the year 5138
_MAX_NAME_WORDS: Final = 3
_MESSAGE_EXAMPLE: Final = 'A message is {"role": "user", "content": "..."}, perhaps with "author", "at" and "id".'
_TRANSCRIPT_EXAMPLE: Final = (
    "Begin each turn with its speaker, such as `User: ...` and `Assistant: ...`, or give JSON messages."
)
_TIME_HINT: Final = "Write it as 2026-03-01T09:12:44Z."
_CODE_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class ImportedTranscript:
    """The messages of a file, and what it says about the conversation; empty where it says nothing."""

    messages: tuple[Message, ...]
    interface: str = ""
    source_id: str = ""
    title: str = ""


def read_transcript(content: bytes, *, name: str) -> ImportedTranscript:
    """The conversation in a file; times without a zone are UTC.

    Raises UsageError with the name of the file and the line that is wrong.
    """
    text = _decode(content, name).removeprefix("\ufeff")
    if not text.strip():
        raise UsageError("the file has no conversation in it", path=name, hint=_TRANSCRIPT_EXAMPLE)
    if text.lstrip()[0] not in "[{":
        return _read_text(text, name)
    try:
        return _read_json(_parse_json(text), name)
    except json.JSONDecodeError as error:
        if text.lstrip()[0] == "{" and error.msg == "Extra data":
            return ImportedTranscript(tuple(_read_json_lines(text, name)))
        raise _line_error(name, error.lineno, f"not valid JSON: {error.msg.lower()}") from error


def parse_message(value: object, *, zone: tzinfo | None = None) -> Message:
    """The message in a Message or a mapping; a time without a zone is in `zone`.

    Raises UsageError if it is no message, if its role is unknown, and for a time without a zone if `zone` is None.
    """
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        raise UsageError(f"a message must be a mapping, not {type(value).__name__}", hint=_MESSAGE_EXAMPLE)
    if not any(key in value for key in _TEXT_KEYS):
        raise UsageError("the message has no content", hint=_MESSAGE_EXAMPLE)
    return Message(
        role=_role(value.get("role")),
        text=_content_text(_first(value, _TEXT_KEYS)),
        author=_word(_first(value, _AUTHOR_KEYS)),
        at=_time(_first(value, _TIME_KEYS), zone),
        source_id=_word(value.get("id")),
    )


def _first(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _role(value: object) -> Role:
    role = ROLE_WORDS.get(value.strip().casefold()) if isinstance(value, str) else None
    if role is None:
        problem = "the message has no role" if value is None else f"unknown role {value!r}"
        raise UsageError(problem, hint=f"Roles: {', '.join(ROLES)}. {_MESSAGE_EXAMPLE}")
    return role


def _content_text(value: object) -> str:
    """The text; of a list of parts, the parts that are text, joined by line ends."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple):
        raise UsageError(f"the content of a message must be text, not {type(value).__name__}", hint=_MESSAGE_EXAMPLE)
    texts = (part if isinstance(part, str) else part.get("text") for part in value if isinstance(part, str | Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _word(value: object) -> str:
    if isinstance(value, Mapping | list | tuple):
        problem = f"the author and the id of a message must be words, not {type(value).__name__}"
        raise UsageError(problem, hint=_MESSAGE_EXAMPLE)
    return "" if value is None else str(value).strip()


def _time(value: object, zone: tzinfo | None) -> datetime | None:
    """The time given as a datetime, as ISO 8601, or in seconds or milliseconds since 1970."""
    if value is None or value == "":
        return None
    try:
        at = _parse_time(value)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{str(value)[:80]!r} is not a time", hint=_TIME_HINT) from error
    if at.tzinfo is None and zone is None:
        raise UsageError(f"the time {at.isoformat()} has no zone", hint=_TIME_HINT)
    return at if at.tzinfo else at.replace(tzinfo=zone)


def _parse_time(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value / 1000 if value >= _MIN_MILLISECONDS else value, UTC)
    return datetime.fromisoformat(str(value).strip())


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"line {line}: not UTF-8 text", path=name, hint="Save it as UTF-8.") from error


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:  # deeply nested lists, a number of thousands of digits
        raise json.JSONDecodeError("nested too deeply, or a number is too long", text, 0) from error


def _read_json(value: Any, name: str) -> ImportedTranscript:
    """A list of messages, one message, or an object with a list of messages."""
    fields: Mapping[str, Any] = value if isinstance(value, dict) else {}
    listed = next((fields[key] for key in _LIST_KEYS if key in fields), [value] if fields else value)
    if not isinstance(listed, list) or not listed:
        raise UsageError("the file has no list of messages in it", path=name, hint=_TRANSCRIPT_EXAMPLE)
    messages = tuple(_message(each, name, f"message {number}") for number, each in enumerate(listed, start=1))
    if listed == [value]:
        return ImportedTranscript(messages)
    about = {key: str(fields[key]) for key in ("interface", "id", "title") if fields.get(key) is not None}
    return ImportedTranscript(messages, about.get("interface", ""), about.get("id", ""), about.get("title", ""))


def _read_json_lines(text: str, name: str) -> Iterator[Message]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = _parse_json(line)
            except json.JSONDecodeError as error:
                raise _line_error(name, number, f"not valid JSON: {error.msg.lower()}") from error
            yield _message(value, name, f"line {number}")


def _message(value: object, name: str, where: str) -> Message:
    try:
        return parse_message(value, zone=UTC)
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", path=name, hint=error.hint) from error


def _read_text(text: str, name: str, *, code_until: float = math.inf) -> ImportedTranscript:
    """Turns of plain text. If the first speaker is a role, only roles begin turns: `Note: ...` is part of a turn."""
    title, turns = "", list[tuple[str, list[str]]]()
    fence, opened = "", 0
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if number < code_until and (after := _fence_after(line, fence)) != fence:
            fence, opened = after, number
        start = None if fence else _turn_start(line, only_roles=bool(turns) and turns[0][0].casefold() in ROLE_WORDS)
        if start:
            turns.append((start[0], [start[1]]))
        elif turns:
            turns[-1][1].append(line)
        elif heading := re.fullmatch(r"#[ \t]+(.*)", line.strip()):
            title = title or heading.group(1)
        elif line.strip():
            raise _line_error(name, number, "this line has no speaker")
    if fence:  # never closed, as in a reply that was cut off: what follows is text, not code
        return _read_text(text, name, code_until=opened)
    return ImportedTranscript(tuple(_turn_message(speaker, lines) for speaker, lines in turns), title=title)


def _fence_after(line: str, fence: str) -> str:
    """The fence of the code block that continues after this line; empty outside of code."""
    mark = _CODE_FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark.group(1)
    return "" if mark.group(1).startswith(fence) else fence


def _turn_start(line: str, *, only_roles: bool) -> tuple[str, str] | None:
    """The speaker of the turn that begins with this line, and the rest of the line; None if no turn begins."""
    match = _turn_pattern().match(line)
    if match is None:
        return None
    speaker = (match["headed"] or match["bold"] or match["plain"]).strip()
    is_role = speaker.casefold() in ROLE_WORDS
    has_colon = re.search(r"[:\uff1a]", match.group())  # also the colon of Chinese and Japanese
    if only_roles or match["headed"] or (match["bold"] and not has_colon):
        return (speaker, match["after"] or match["rest"] or "") if is_role else None
    is_name = is_role or (not speaker[0].islower() and len(speaker.split()) <= _MAX_NAME_WORDS)
    return (speaker, match["after"] or match["rest"] or "") if is_name else None


@cache
def _turn_pattern() -> re.Pattern[str]:
    name = r"[^\W\d_][^:\uff1a#*_`<>\[\](){}\n]{0,39}"
    return re.compile(
        rf"""
        \#{{1,6}}[ ]+ (?P<headed>{name}?) [ ]* [:\uff1a]? [ ]* $  # a heading: ## User
        | (?P<mark>\*\*|__) (?P<bold>{name}?)  # in bold: **User:** or **User**
          (?: [ ]* [:\uff1a] [ ]* (?P=mark) | (?P=mark) [ ]* [:\uff1a] | (?P=mark) [ ]* $ ) (?P<after>.*)
        | (?P<plain>{name}?) [ ]* (?: : (?= \s | $ ) | \uff1a ) (?P<rest>.*)
        """,
        re.VERBOSE,
    )


def _turn_message(speaker: str, lines: list[str]) -> Message:
    role = ROLE_WORDS.get(speaker.casefold())
    text = "\n".join([lines[0].strip(), *lines[1:]]).strip("\n")
    return Message(role or "user", text.rstrip(), author="" if role else speaker)


def _line_error(name: str, line: int, problem: str) -> UsageError:
    return UsageError(f"line {line}: {problem}", path=name, hint=_TRANSCRIPT_EXAMPLE)
