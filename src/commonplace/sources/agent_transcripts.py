"""The transcripts that coding agents keep: JSON lines, of which what the person and the assistant said is taken.

A transcript grows while it is read, so its last line may be half written: it is left for the next time. Line types that
nobody knows yet are passed over, and a broken line harms no other.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.model import Message, Role
from commonplace.sources.host_blocks import said_by_assistant, said_by_person

Line = Mapping[str, Any]

_NOT_SAID: Final = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""What Claude Code marks its own lines with: remarks, sub-agents, summaries, failures of the network."""
_MADE_UP: Final = "<synthetic>"  # the model of lines that Claude Code writes in the assistant's name
_SPOKEN_PARTS: Final = frozenset(("text", "input_text", "output_text"))
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_SAID_BY: Final = {"user": said_by_person, "assistant": said_by_assistant}


@dataclass(frozen=True, slots=True)
class Read:
    """What a piece of a transcript says, how many of its bytes are read, and how many lines nobody could."""

    messages: tuple[Message, ...]
    consumed: int
    broken: int


def read_agent_lines(content: bytes, *, host: str, is_whole: bool = False) -> Read:
    """The messages in whole lines of a transcript of that host. Raises UsageError for a host whose lines are unknown.

    A last line without its end is left, unless `is_whole` says that no more comes and the line can be read.
    """
    message_in = _FORMS.get(host)
    if message_in is None:
        raise UsageError(f"no transcripts of {host!r} are known", hint=f"Known: {', '.join(HOSTS)}.")
    *lines, rest = content.split(b"\n")
    consumed = len(content) - len(rest)
    if is_whole and _parsed(rest):
        lines.append(rest)
        consumed = len(content)
    parsed = [_parsed(line) for line in lines if line.strip()]
    messages = (message_in(line) for line in parsed if line)
    return Read(tuple(each for each in messages if each), consumed, sum(line is None for line in parsed))


def folders_in(content: bytes) -> tuple[str, ...]:
    """The folders that the lines of a transcript say the session was at work in, each once."""
    lines = (_parsed(line) for line in content.split(b"\n") if b'"cwd"' in line)
    named = (
        where.get("cwd") for line in lines if line for where in (line, line.get("payload")) if isinstance(where, dict)
    )
    return tuple(dict.fromkeys(each for each in named if isinstance(each, str) and each))


def _parsed(line: bytes) -> Line | None:
    """The object in a line; None where there is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # half a line, bytes that are no text, lists in lists without end
        return None
    return value if isinstance(value, dict) else None


def _of_claude_code(line: Line) -> Message | None:
    """What a line of Claude Code says: one block of a message, known by the line's own id."""
    said = line.get("message")
    if str(line.get("type")) not in _ROLES or not isinstance(said, dict) or any(line.get(mark) for mark in _NOT_SAID):
        return None
    if said.get("model") == _MADE_UP or said.get("role") != line["type"]:
        return None
    return _message(said, at=line.get("timestamp"), id_=line.get("uuid"))


def _of_codex(line: Line) -> Message | None:
    """What a line of Codex says. Its events say the same again, and are passed over."""
    said = line.get("payload")
    if line.get("type") != "response_item" or not isinstance(said, dict) or said.get("type") != "message":
        return None
    message = _message(said, at=line.get("timestamp"), id_=said.get("id"))
    if message is None or message.source_id or message.at is None:
        return message
    # Older versions give no ids. The time is exact to the millisecond; the text itself may hold a secret.
    id_ = f"{line['timestamp']} {message.role} {len(message.text)}"
    return Message(message.role, message.text, at=message.at, source_id=id_)


def _message(said: Line, *, at: object, id_: object) -> Message | None:
    role = _ROLES.get(str(said.get("role")))
    if role is None or (role == "user" and _is_of_the_host(said)):
        return None
    text = _SAID_BY[role](_text(said.get("content")))
    if not text:
        return None
    return Message(role, text, at=_moment(at), source_id=id_ if isinstance(id_, str) else "")


def _is_of_the_host(said: Line) -> bool:
    """Whether newer versions of Codex say that the program itself wrote it, in the person's name."""
    noted = said.get("internal_chat_message_metadata_passthrough")
    kinds = noted.get("content_item_kinds") if isinstance(noted, dict) else None
    return isinstance(kinds, list) and bool(kinds) and not any(str(kind).startswith("user.") for kind in kinds)


def _text(content: object) -> str:
    """What is said in words; calls of tools, their results, thoughts and pictures are not."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and str(part.get("type")) in _SPOKEN_PARTS)
    return "\n".join(text for text in texts if isinstance(text, str))


def _moment(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at.astimezone(UTC) if at and at.tzinfo else None
    except (ValueError, OverflowError):
        return None


_FORMS: Final[Mapping[str, Callable[[Line], Message | None]]] = {"claude-code": _of_claude_code, "codex": _of_codex}
HOSTS: Final = tuple(_FORMS)
"""The hosts whose transcripts can be read."""
