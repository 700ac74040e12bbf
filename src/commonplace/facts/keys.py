"""The keys of an entry, read one by one: what each says, a fallback for what is odd, and a Problem for each oddity.

People edit entries by hand, so nothing here raises.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from commonplace.facts.moments import day_of, moment_of
from commonplace.model import Note, Problem

ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_YES: Final = frozenset({"true", "yes", "on", "1"})
_NO: Final = frozenset({"false", "no", "off", "0"})
_COMMA: Final = re.compile(r"\s*,\s*")
_Word = TypeVar("_Word", bound=str)


def line_of(note: Note, key: str) -> int:
    """The line of the frontmatter on which the key begins, else the first of the note."""
    head = note.text.split("\n", note.body_line - 1)[: note.body_line - 1]
    return next((number for number, line in enumerate(head, 1) if line.startswith(f"{key}:")), 1)


def id_of(value: object) -> str:
    """The id that a value is, in small letters; empty for anything else."""
    text = value.strip().lower() if isinstance(value, str) else ""
    return text if ID.fullmatch(text) else ""


class Keys:
    """One note's keys. A key inside another is named after it: `moment("invalidated", "at")`."""

    __slots__ = ("_note", "_problems")

    def __init__(self, note: Note) -> None:
        self._note = note
        self._problems: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was odd about the keys that were read, in the order of reading; each once."""
        return tuple(dict.fromkeys(self._problems))

    def blame(self, key: str, message: str, code: str = "entry-key") -> None:
        """Note down that something is wrong with a key."""
        self._problems.append(Problem(self._note.path, line_of(self._note, key), message, code))

    def text(self, *names: str) -> str:
        """A text without blanks around it, a number as it is written; a link need not stand in quotes."""
        value = self._value(names)
        said = _linked(value) or _said(value)
        if value is not None and said is None:
            self.blame(names[0], f"`{'.'.join(names)}` is no text: it is read as if it were not there")
        return said or ""

    def word(self, *names: str) -> str:
        """A text without case."""
        return self.text(*names).casefold()

    def one_of(self, *names: str, words: Sequence[_Word], absent: _Word, odd: _Word) -> _Word:
        """One of these words; `absent` where the key says nothing, `odd` where it says something else."""
        said = self.word(*names)
        if not said:
            return absent
        known = next((word for word in words if word == said), None)
        if known is None:
            choice = ", ".join(filter(None, words))
            self.blame(names[0], f"`{'.'.join(names)}` must be one of {choice}: it is read as {odd or 'none'}")
        return odd if known is None else known

    def flag(self, *names: str) -> bool:
        """Whether the key says yes."""
        said = str(self._value(names) or "").strip().casefold()
        if said not in _YES | _NO | {""}:
            self.blame(names[0], f"`{'.'.join(names)}` must be true or false: it is read as false")
        return said in _YES

    def share(self, *names: str, absent: float) -> float:
        """A number from 0 to 1; the nearer of the two for one beyond them."""
        value = self._value(names)
        if value is None:
            return absent
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.blame(names[0], f"`{'.'.join(names)}` must be a number from 0 to 1: it is read as {absent}")
            return absent
        nearest = float(max(0.0, min(1.0, value)))
        if nearest != value:
            self.blame(names[0], f"`{'.'.join(names)}` must be a number from 0 to 1: it is read as {nearest:g}")
        return nearest

    def moment(self, *names: str) -> str:
        """A moment or a day, as a moment; empty where the key says nothing."""
        value = self._value(names)
        return self._as_moment(value, names) if value not in (None, "") else ""

    def days(self, *names: str) -> tuple[str, ...]:
        """Days in their order, each once."""
        moments = (self._as_moment(value, names) for value in self._list(names))
        return tuple(sorted({day_of(moment) for moment in moments if moment}))

    def names(self, *names: str) -> tuple[str, ...]:
        """A list of names, or one text with commas; each once, in the order written, without a leading `#`."""
        said = [_said(value) for value in self._list(names)]
        if None in said:
            self.blame(names[0], f"`{'.'.join(names)}` must be a list of words: what is no word is left out")
        return tuple(dict.fromkeys(name for each in said if each and (name := each.lstrip("#").strip())))

    def id(self, *names: str) -> str:
        """The id of a fact; empty where the key says nothing."""
        value = self._value(names)
        return self._as_id(value, names) if value not in (None, "") else ""

    def ids(self, *names: str) -> tuple[str, ...]:
        """Ids of facts in their order, each once."""
        return tuple(sorted({id for value in self._list(names) if (id := self._as_id(value, names))}))

    def inner(self, *names: str) -> tuple[str, ...]:
        """The keys inside a key; a key that holds something else is a Problem."""
        value = self._value(names)
        if isinstance(value, Mapping):
            return tuple(value)
        if value is not None:
            self.blame(names[0], f"`{'.'.join(names)}` must hold keys of its own: it is read as if it were not there")
        return ()

    def _value(self, names: Sequence[str]) -> Any:
        value: Any = self._note.frontmatter
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def _list(self, names: Sequence[str]) -> list[Any]:
        value = self._value(names)
        if isinstance(value, str):
            return _COMMA.split(value.strip()) if value.strip() else []
        return value if isinstance(value, list) else [] if value is None else [value]

    def _as_moment(self, value: object, names: Sequence[str]) -> str:
        moment = moment_of(value)
        if not moment:
            message = f"`{'.'.join(names)}` must be a date such as 2026-03-01: it is read as if it were not there"
            self.blame(names[0], message, "entry-date")
        return moment

    def _as_id(self, value: object, names: Sequence[str]) -> str:
        id = id_of(value)
        if not id:
            self.blame(names[0], f"`{'.'.join(names)}` must name facts by their ids: what is no id is left out")
        return id


def _said(value: object) -> str | None:
    """Text and numbers as text, nothing as none; None for all else."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip()
    return "" if value is None else None


def _linked(value: object) -> str:
    """`[[Note]]` without quotes is a list in a list to YAML; a person means the link."""
    inner = value[0] if isinstance(value, list) and len(value) == 1 else None
    name = inner[0] if isinstance(inner, list) and len(inner) == 1 else None
    return f"[[{name}]]" if isinstance(name, str) else ""
