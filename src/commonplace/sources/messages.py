"""Messages as other programs write them: mappings with a role, a text, and perhaps an author, a time and an id."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.model import ROLES, Message, Role

ROLE_WORDS: Final[Mapping[str, Role]] = {
    **{role: role for role in ROLES},
    **dict.fromkeys(("human", "you", "me"), "user"),
    **dict.fromkeys(("ai", "bot", "model", "chatgpt", "claude", "copilot", "gemini"), "assistant"),
    "developer": "system",
    "function": "tool",
}
"""What the roles are called elsewhere."""

_TEXTS: Final = ("content", "text")
_AUTHORS: Final = ("author", "name")
_TIMES: Final = ("at", "timestamp", "created_at")
_MILLISECONDS: Final = 1e11  # a number from here on counts those: in seconds it would be the year 5138
_EXAMPLE: Final = 'A message is {"role": "user", "content": "..."}, perhaps with "author", "at" and "id".'


def message_of(value: object, *, zone: tzinfo | None = None) -> Message:
    """The message that the value says, a Message or a mapping; a time without a zone is of `zone`.

    Raises UsageError when it says none, when its role is none, and for a time without a zone where `zone` is None.
    """
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        raise UsageError(f"a message is a mapping, and this is a {type(value).__name__}", hint=_EXAMPLE)
    if not any(key in value for key in _TEXTS):
        raise UsageError("a message without content", hint=_EXAMPLE)
    return Message(
        role=_role(value.get("role")),
        text=_text(_first(value, _TEXTS)),
        author=_word(_first(value, _AUTHORS)),
        at=_time(_first(value, _TIMES), zone),
        source_id=_word(value.get("id")),
    )


def _first(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _role(value: object) -> Role:
    role = ROLE_WORDS.get(value.strip().casefold()) if isinstance(value, str) else None
    if role is None:
        said = "a message without a role" if value is None else f"no role is called {value!r}"
        raise UsageError(said, hint=f"Roles: {', '.join(ROLES)}. {_EXAMPLE}")
    return role


def _text(value: object) -> str:
    """The text, also of a list of parts: those that are texts, one below the other."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple):
        raise UsageError(f"a message's content is text, and this is a {type(value).__name__}", hint=_EXAMPLE)
    texts = (part if isinstance(part, str) else part.get("text") for part in value if isinstance(part, str | Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _word(value: object) -> str:
    if isinstance(value, Mapping | list | tuple):
        raise UsageError(f"a message's author and id are words, and this is a {type(value).__name__}", hint=_EXAMPLE)
    return "" if value is None else str(value).strip()


def _time(value: object, zone: tzinfo | None) -> datetime | None:
    """A moment as it is, as ISO 8601 says it, or in seconds or milliseconds since 1970."""
    if value is None or value == "":
        return None
    try:
        at = _moment(value)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{str(value)[:80]!r} is not a time", hint="Write it as 2026-03-01T09:12:44Z.") from error
    if at.tzinfo is None and zone is None:
        raise UsageError(f"the time {at.isoformat()} has no zone", hint="Write it as 2026-03-01T09:12:44Z.")
    return at if at.tzinfo else at.replace(tzinfo=zone)


def _moment(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS else value, UTC)
    return datetime.fromisoformat(str(value).strip())
