"""What may be written into a note's frontmatter: plain values, checked and made ready."""

import math
from datetime import UTC, date, datetime
from typing import Any

from commonplace.errors import UsageError
from commonplace.notes.yaml_tree import DEPTH

_LONGEST_INTEGER = 3000  # bits; Python prints no integer of more than 4300 digits


def plain_value(value: object, *, path: str, depth: int = 0) -> Any:
    """The value as text, numbers, booleans, None, lists and dicts: dates become ISO text, times ISO text in UTC.

    Raises UsageError for anything else, for a time without a zone and for a number that is not finite.
    """
    if depth > DEPTH:
        raise _unusable("it is nested too deep", path)
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, list):
        return [plain_value(item, path=path, depth=depth + 1) for item in value]
    if isinstance(value, dict):
        return {_key(key, path): plain_value(item, path=path, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, date):
        return _moment(value, path)
    return _number(value, path)


def _text(value: str, path: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise _unusable("it holds half of a Unicode character", path) from None
    return str.__str__(value)


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise _unusable(f"the key {key!r} is not text", path)
    return _text(key, path)


def _moment(value: date, path: str) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    if value.tzinfo is None:
        raise _unusable("the time has no zone", path)
    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _number(value: object, path: str) -> bool | int | float | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value.bit_length() <= _LONGEST_INTEGER:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    raise _unusable(f"{type(value).__name__} values of this kind cannot be written", path)


def _unusable(why: str, path: str) -> UsageError:
    hint = "Use text, finite numbers, booleans, None, dates, times with a zone, or lists and dicts of them."
    return UsageError(f"this value cannot stand in a note's frontmatter: {why}", path=path, hint=hint)


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are equal in kind too, and their keys in order: 1 is neither 1.0 nor true."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    return bool(one == other)
