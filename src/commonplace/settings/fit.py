"""One value made to fit the type and the range of its knob."""

import types
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from commonplace.settings.blocks import Knob


def fit(value: object, knob: Knob) -> Any:
    """The value as the knob's type. Raises ValueError saying what would be right."""
    fitted = _fit(value, knob.type)
    if isinstance(fitted, int | float) and not isinstance(fitted, bool):
        _check_range(fitted, knob)
    return fitted


def nearest(word: str, words: list[str]) -> str:
    """`; did you mean X?` for the closest of the words, or nothing."""
    close = get_close_matches(word, words, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _fit(value: object, wanted: Any) -> Any:
    origin = get_origin(wanted)
    if origin in (Union, types.UnionType):
        return None if value is None else _fit(value, next(t for t in get_args(wanted) if t is not type(None)))
    if origin is Literal:
        return _one_of(value, get_args(wanted))
    if origin is tuple:
        item = get_args(wanted)[0]
        return tuple(each if item is str else _fit(each, item) for each in _texts(value))
    return _PLAIN[wanted](value)


def _one_of(value: object, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{value!r} is not one of {', '.join(allowed)}{nearest(str(value), list(allowed))}")
    return str(value)


def _texts(value: object) -> tuple[str, ...]:
    """A list of texts; the environment and flags write one as `a, b, c`."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ValueError(f"{value!r} is not a list of texts")


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{value!r} is not a text")
    return value


def home_path(value: object) -> Path:
    """The path with `~` written out. Raises ValueError for what no path can be."""
    text = str(value) if isinstance(value, Path) else _text(value)
    if not text.isprintable():
        raise ValueError(f"{text!r} is not a path")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{text!r}: there is no such user") from error


def _flag(value: object) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    raise ValueError(f"{value!r} is neither true nor false")


def _whole(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number = _number(value)
    if number != int(number):
        raise ValueError(f"{value!r} is not a whole number")
    return int(number)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        number = float("nan")
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"{value!r} is not a number")
    return number


def _check_range(value: float, knob: Knob) -> None:
    if knob.at_least is not None and value < knob.at_least:
        raise ValueError(f"{value} is too small: the least is {knob.at_least}")
    if knob.at_most is not None and value > knob.at_most:
        raise ValueError(f"{value} is too large: the most is {knob.at_most}")


_PLAIN = {str: _text, Path: home_path, bool: _flag, int: _whole, float: _number}
