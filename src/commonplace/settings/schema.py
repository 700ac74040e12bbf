"""All settings as one value, the flat table of options, and the conversion of a value to an option's type.

Each room declares its own options as a frozen dataclass; `Settings` has one block for each, and `OPTIONS` lists
every option by its dotted key.
"""

import types
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from commonplace.context.options import ContextOptions, HookOptions
from commonplace.database.options import PostgresqlOptions
from commonplace.encoders.options import EmbeddingOptions
from commonplace.extraction.options import LearnOptions
from commonplace.facts.options import FactsOptions
from commonplace.history.options import HistoryOptions
from commonplace.identity.options import IdentityOptions
from commonplace.index.options import IndexOptions
from commonplace.llm.options import LlmOptions
from commonplace.model import option
from commonplace.policy.options import SafetyOptions, ServeOptions
from commonplace.ranking.options import RetrievalOptions
from commonplace.sources.calendars.options import CalendarOptions
from commonplace.sources.options import CaptureOptions, SourcesOptions
from commonplace.upkeep.options import SkillsOptions, UpkeepOptions
from commonplace.vault.options import VaultOptions


@dataclass(frozen=True, slots=True)
class Settings:
    """Every block of options, filled."""

    user: str = option("me", "Whose memory this is.")
    data: Path | None = option(None, "Where derived data is kept; never inside the vault.")
    vault: VaultOptions = field(default_factory=VaultOptions)
    postgresql: PostgresqlOptions = field(default_factory=PostgresqlOptions)
    history: HistoryOptions = field(default_factory=HistoryOptions)
    identity: IdentityOptions = field(default_factory=IdentityOptions)
    index: IndexOptions = field(default_factory=IndexOptions)
    safety: SafetyOptions = field(default_factory=SafetyOptions)
    embedding: EmbeddingOptions = field(default_factory=EmbeddingOptions)
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    sources: SourcesOptions = field(default_factory=SourcesOptions)
    facts: FactsOptions = field(default_factory=FactsOptions)
    learn: LearnOptions = field(default_factory=LearnOptions)
    context: ContextOptions = field(default_factory=ContextOptions)
    hooks: HookOptions = field(default_factory=HookOptions)
    serve: ServeOptions = field(default_factory=ServeOptions)
    capture: CaptureOptions = field(default_factory=CaptureOptions)
    llm: LlmOptions = field(default_factory=LlmOptions)
    calendar: CalendarOptions = field(default_factory=CalendarOptions)
    upkeep: UpkeepOptions = field(default_factory=UpkeepOptions)
    skills: SkillsOptions = field(default_factory=SkillsOptions)


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its dotted key, its type, and what its room declares about it."""

    key: str
    type: Any
    default: Any
    doc: str
    at_least: float | None
    at_most: float | None
    once_called: tuple[str, ...]
    vault_may_set: bool


def _options_of(block: type, prefix: str) -> Iterator[Option]:
    types_of_fields = get_type_hints(block)
    for each in fields(block):
        key = f"{prefix}{each.name}"
        if is_dataclass(types_of_fields[each.name]):
            yield from _options_of(types_of_fields[each.name], f"{key}.")
            continue
        meta = dict(each.metadata)
        older_names = tuple(f"{prefix}{name}" for name in meta.pop("once_called"))
        yield Option(key=key, type=types_of_fields[each.name], default=each.default, once_called=older_names, **meta)


READ_AT_START = ("serve", "hooks", "capture", "identity")
"""The blocks that a running daemon reads once; it takes up all others within seconds."""

OPTIONS: dict[str, Option] = {each.key: each for each in _options_of(Settings, "")}


def convert(value: object, target: Option) -> Any:
    """The value as the option's type. Raises ValueError that says what would be valid."""
    converted = _to_type(value, target.type)
    if isinstance(converted, int | float) and not isinstance(converted, bool):
        _check_range(converted, target)
    return converted


def did_you_mean(word: str, words: list[str]) -> str:
    """`; did you mean X?` with the most similar of the words, or an empty text if none is similar."""
    from difflib import get_close_matches  # only to explain a typo

    similar = get_close_matches(word, words, n=1, cutoff=0.6)
    return f"; did you mean {similar[0]}?" if similar else ""


def home_path(value: object) -> Path:
    """The path with `~` expanded. Raises ValueError if the value is not a path or `~name` is not a user."""
    text = str(value) if isinstance(value, Path) else _string(value)
    if not text.isprintable():
        raise ValueError(f"{text!r} is not a path")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{text!r}: there is no such user") from error


def _to_type(value: object, target: Any) -> Any:
    origin = get_origin(target)
    if origin in (Union, types.UnionType):
        return None if value is None else _to_type(value, next(t for t in get_args(target) if t is not type(None)))
    if origin is Literal:
        return _one_of(value, get_args(target))
    if origin is tuple:
        item = get_args(target)[0]
        return tuple(each if item is str else _to_type(each, item) for each in _strings(value))
    return _CONVERTERS[target](value)


def _one_of(value: object, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{value!r} is not one of {', '.join(allowed)}{did_you_mean(str(value), list(allowed))}")
    return str(value)


def _strings(value: object) -> tuple[str, ...]:
    """A list of strings; in variables and flags it is written `a, b, c`, or as in a TOML file: `["a", "b"]`."""
    if isinstance(value, str):
        value = _bracketed(value.strip())
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ValueError(f"{value!r} is not a list of strings")


def _bracketed(text: str) -> object:
    """The parts of a list that is written as one text; of one in brackets, whatever it holds."""
    if text.startswith("[") and text.endswith("]"):
        import json  # seldom is a list written like this

        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            if "," in text:  # without one it is a name or a glob such as `[ab]`
                raise ValueError(f"{text!r} is not a list: write a, b, c without brackets") from error
    return [part.strip() for part in text.split(",") if part.strip()]


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def _boolean(value: object) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    raise ValueError(f"{value!r} is neither true nor false")


def _integer(value: object) -> int:
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


def _check_range(value: float, target: Option) -> None:
    if target.at_least is not None and value < target.at_least:
        raise ValueError(f"must be at least {target.at_least}, not {value}")
    if target.at_most is not None and value > target.at_most:
        raise ValueError(f"must be at most {target.at_most}, not {value}")


_CONVERTERS = {str: _string, Path: home_path, bool: _boolean, int: _integer, float: _number}
