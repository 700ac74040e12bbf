"""The format of an entry: its frontmatter read as a Fact, and a Fact written as frontmatter.

docs/formats/note.md specifies it. People edit entries by hand, so reading never raises: each odd key gets a fallback
and a Problem.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from commonplace.facts.claims import FactRules
from commonplace.facts.cues import joined_phrases
from commonplace.facts.entry_paths import default_importance
from commonplace.facts.triples import predicate_key
from commonplace.model import FACT_CLASSES, STATUSES, TRUSTS, Bond, Fact, FactClass, Note, Origins, Place, Problem
from commonplace.model.entry_field import EntryField, entry_fields
from commonplace.model.layout import ALWAYS_LOAD_FOLDER, folder_of, is_entry_path
from commonplace.model.moment import day_of, id_moment, read_moment, short_moment

_KEYS: Final = """
id kind fact status always_load pinned importance topics about when project project_root subject predicate object due
valid_from valid_until invalidated recorded supersedes superseded_by superseded_at reason archived_at deleted_at
relations derived_from source confirmed tags slug created updated
"""
KEY_ORDER: Final = tuple(_KEYS.split())
"""Our keys, in the order in which an entry has them."""

_LONGEST_LINE: Final = 40  # characters of a person's id
_RELATIONS: Final[Mapping[Bond, Sequence[str]]] = {
    "extend": ("relations", "extend"),
    "derive": ("derived_from",),
    "contradict": ("relations", "contradict"),
    "both": ("relations", "both"),
    "end": ("relations", "end"),
}
"""The key of each bond."""
_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_YES: Final = frozenset({"true", "yes", "on", "1"})
_NO: Final = frozenset({"false", "no", "off", "0"})
_COMMA: Final = re.compile(r"\s*,\s*")
FUTURE: Final = "entry-future"
"""The code of the Problem that an entry was recorded in the future."""

_SETTLED: Final = {row.path[0]: row.merges for row in entry_fields(Fact) if row.merges}
_FINALITY: Final = ("active", "expired", "archived", "superseded", "deleted")
_DAY_TEXT: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_Word = TypeVar("_Word", bound=str)


def is_entry(note: Note) -> bool:
    """True if the note is an entry: it is in a folder for entries and has an id."""
    return is_entry_path(note.path) and bool(parse_id(note.frontmatter.get("id")))


def read_entry(
    note: Note, *, place: Place, sensitive: bool, rules: FactRules, latest: str = ""
) -> tuple[Fact | None, tuple[Problem, ...]]:
    """The fact in an entry and a Problem for each odd key; no fact if the note is not an entry.

    What says that it was recorded after the `latest` moment was recorded at an unknown time: the clock was wrong.
    """
    fields = EntryFields(note)
    if is_entry(note):
        fact = _without_future(_read(note, fields, place=place, sensitive=sensitive), fields, latest)
        return replace(fact, fingerprint=rules.fingerprint(fact)), fields.problems
    if is_entry_path(note.path) and note.frontmatter.get("id") is not None:
        fields.add_problem("id", "`id` must be an id that Commonplace generated: the note is read as a plain note")
    return None, fields.problems


def _without_future(fact: Fact, fields: "EntryFields", latest: str) -> Fact:
    """The fact without a time of recording that is yet to come: it would hide the fact until then, and win later."""
    if not latest or max(fact.recorded, fact.updated) <= latest:
        return fact
    key = "recorded" if fact.recorded > latest else "updated"
    message = f"`{key}` is in the future, so that it is ignored: the clock was wrong when the entry was saved"
    fields.add_problem(key, message, FUTURE)
    recorded = "" if fact.recorded > latest else fact.recorded
    return replace(fact, recorded=recorded, updated="" if fact.updated > latest else fact.updated)


def entry_frontmatter(fact: Fact, *, tags: Sequence[str], slug: str, created: str) -> dict[str, object]:
    """The keys of the fact's entry in order, without empty ones; a midnight is written as its day."""
    keys = {**_keys_of(fact), "tags": list(tags), "slug": slug, "created": created}
    return {key: keys[key] for key in KEY_ORDER if keys.get(key) not in ("", [], {}, None)}


def changed_keys(old: Fact, new: Fact) -> dict[str, object | None]:
    """The keys in which the entries of two facts differ, in order, with the new value; None for a key to remove.

    The text is in the body, so it is not among them.
    """
    before = entry_frontmatter(old, tags=(), slug="", created="")
    after = entry_frontmatter(new, tags=(), slug="", created="")
    return {key: after.get(key) for key in KEY_ORDER if before.get(key) != after.get(key)}


def key_line(note: Note, key: str) -> int:
    """The line of the frontmatter on which the key begins, else the first line of the note."""
    head = note.text.split("\n", note.body_line - 1)[: note.body_line - 1]
    return next((number for number, line in enumerate(head, 1) if line.startswith(f"{key}:")), 1)


def parse_id(value: object) -> str:
    """The id in lower case; empty if the value is not an id."""
    text = value.strip().lower() if isinstance(value, str) else ""
    return text if _ID.fullmatch(text) else ""


def settled_keys(note: Note) -> dict[str, object]:
    """The keys of ours that a merge has left twice in the frontmatter, each with the value that counts.

    The earliest end counts, and the latest update; of two states the more final one. Only keys on one line are settled.
    """
    if not any(problem.code == "duplicate-key" for problem in note.problems):
        return {}
    by_key: dict[str, list[str]] = {}
    for line in note.text.split("\n", note.body_line - 1)[: note.body_line - 1]:
        key, colon, value = line.partition(":")
        if colon and key in _SETTLED:
            by_key.setdefault(key, []).append(value.strip())
    return {key: _settled(key, values) for key, values in by_key.items() if len(values) > 1 and all(values)}


def _settled(key: str, values: Sequence[str]) -> object:
    rule = _SETTLED[key]
    if rule == "all":
        return sorted({day for value in values for day in _DAY_TEXT.findall(value)})
    if key == "invalidated":
        first = min(values, key=lambda value: _nested(value, "at"))
        return {name: value for name in ("at", "was") if (value := _nested(first, name))}
    plain = [value.strip("\"'") for value in values]
    if rule == "final":
        return max(plain, key=lambda value: _FINALITY.index(value) if value in _FINALITY else -1)
    return max(plain) if rule == "latest" else min(plain)


def _nested(value: str, name: str) -> str:
    """The value of a key in a mapping that is written on one line."""
    match = re.search(rf"\b{name}: *[\"']?([^,}}\"' ]+)", value)
    return match[1] if match else ""


class EntryFields:
    """Typed access to one note's keys. A nested key is named after its parent: `moment("invalidated", "at")`."""

    __slots__ = ("_keys", "_note", "_problems")

    def __init__(self, note: Note) -> None:
        self._note = note
        self._keys: Mapping[str, Any] = {**note.frontmatter, **settled_keys(note)}
        self._problems: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The Problems of the keys read so far, in the order of reading, each once."""
        return tuple(dict.fromkeys(self._problems))

    def add_problem(self, key: str, message: str, code: str = "entry-key") -> None:
        """Record that something is wrong with a key."""
        self._problems.append(Problem(self._note.path, key_line(self._note, key), message, code))

    def text(self, *names: str) -> str:
        """Stripped text, or a number as written; a wikilink need not be quoted."""
        value = self._value(names)
        text = _unquoted_link(value) or _scalar_text(value)
        if value is not None and text is None:
            self.add_problem(names[0], f"`{'.'.join(names)}` is not text: it is ignored")
        return text or ""

    def word(self, *names: str) -> str:
        """Text without case."""
        return self.text(*names).casefold()

    def one_of(self, *names: str, words: Sequence[_Word], absent: _Word, invalid: _Word) -> _Word:
        """One of these words; `absent` if the key is missing or empty, `invalid` if it has another value."""
        text = self.word(*names)
        if not text:
            return absent
        word = next((word for word in words if word == text), None)
        if word is None:
            choice = ", ".join(filter(None, words))
            self.add_problem(
                names[0], f"`{'.'.join(names)}` must be one of {choice}: it is read as {invalid or 'none'}"
            )
        return invalid if word is None else word

    def flag(self, *names: str) -> bool:
        """True if the key says yes."""
        text = str(self._value(names) or "").strip().casefold()
        if text not in _YES | _NO | {""}:
            self.add_problem(names[0], f"`{'.'.join(names)}` must be true or false: it is read as false")
        return text in _YES

    def fraction(self, *names: str, absent: float) -> float:
        """A number from 0 to 1, clamped; `absent` if the key is missing or not a number."""
        value = self._value(names)
        if value is None:
            return absent
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.add_problem(names[0], f"`{'.'.join(names)}` must be a number from 0 to 1: it is read as {absent}")
            return absent
        clamped = float(max(0.0, min(1.0, value)))
        if clamped != value:
            self.add_problem(names[0], f"`{'.'.join(names)}` must be a number from 0 to 1: it is read as {clamped:g}")
        return clamped

    def number(self, *names: str) -> int:
        """A whole number above 0; 0 if the key is missing or something else."""
        value = self._value(names)
        is_number = isinstance(value, int) and not isinstance(value, bool) and value > 0
        if value is not None and not is_number:
            self.add_problem(names[0], f"`{'.'.join(names)}` must be a number above 0: it is ignored")
        return value if is_number else 0

    def moment(self, *names: str) -> str:
        """A moment or a day, as a moment; empty if the key is missing."""
        value = self._value(names)
        return self._as_moment(value, names) if value not in (None, "") else ""

    def days(self, *names: str) -> tuple[str, ...]:
        """Days in order, each once."""
        moments = (self._as_moment(value, names) for value in self._list(names))
        return tuple(sorted({day_of(moment) for moment in moments if moment}))

    def names(self, *names: str) -> tuple[str, ...]:
        """A list of names, or one text with commas; each once, in the order written, without a leading `#`."""
        texts = [_scalar_text(value) for value in self._list(names)]
        if None in texts:
            self.add_problem(names[0], f"`{'.'.join(names)}` must be a list of words: other values are left out")
        return tuple(dict.fromkeys(name for each in texts if each and (name := each.lstrip("#").strip())))

    def phrases(self, *names: str) -> str:
        """Phrases with commas between them, written as a list or as one text."""
        value = self._value(names)
        return joined_phrases(self.names(*names)) if isinstance(value, list) else " ".join(self.text(*names).split())

    def id(self, *names: str) -> str:
        """The id of a fact; empty if the key is missing."""
        value = self._value(names)
        return self._as_id(value, names) if value not in (None, "") else ""

    def ids(self, *names: str) -> tuple[str, ...]:
        """Ids of facts in order, each once."""
        return tuple(sorted({id for value in self._list(names) if (id := self._as_id(value, names))}))

    def nested_keys(self, *names: str) -> tuple[str, ...]:
        """The keys inside a key; a Problem if it holds something else."""
        value = self._value(names)
        return tuple(value) if self._is_mapping(value, names) else ()

    def _value(self, names: Sequence[str]) -> Any:
        value: Any = self._keys.get(names[0])
        for name in names[1:]:
            value = value.get(name) if self._is_mapping(value, names[:1]) else None
        return value

    def _is_mapping(self, value: object, names: Sequence[str]) -> bool:
        """True for a mapping; a Problem for another value."""
        if value is not None and not isinstance(value, Mapping):
            self.add_problem(names[0], f"`{'.'.join(names)}` must be a mapping: it is ignored")
        return isinstance(value, Mapping)

    def _list(self, names: Sequence[str]) -> list[Any]:
        value = self._value(names)
        if isinstance(value, str):
            return _COMMA.split(value.strip()) if value.strip() else []
        return value if isinstance(value, list) else [] if value is None else [value]

    def _as_moment(self, value: object, names: Sequence[str]) -> str:
        moment = read_moment(value)
        if not moment:
            message = f"`{'.'.join(names)}` must be a date such as 2026-03-01: it is ignored"
            self.add_problem(names[0], message, "entry-date")
        return moment

    def _as_id(self, value: object, names: Sequence[str]) -> str:
        id = parse_id(value)
        if not id:
            self.add_problem(names[0], f"`{'.'.join(names)}` must list ids of facts: other values are left out")
        return id


def _class_of(fields: EntryFields, *names: str) -> FactClass:
    return fields.one_of(*names, words=FACT_CLASSES, absent="", invalid="")


_READERS: Final[Mapping[str, Callable[..., Any]]] = {
    "text": EntryFields.text,
    "line": lambda fields, *names: " ".join(fields.text(*names).split())[:_LONGEST_LINE],
    "word": EntryFields.word,
    "predicate": lambda fields, *names: predicate_key(fields.text(*names)),
    "class": _class_of,
    "status": partial(EntryFields.one_of, words=STATUSES, absent="active", invalid="active"),
    "trust": partial(EntryFields.one_of, words=TRUSTS, absent="read", invalid="imported"),
    "flag": EntryFields.flag,
    "importance": lambda fields, key: fields.fraction(key, absent=default_importance(_class_of(fields, "fact"))),
    "number": EntryFields.number,
    "names": EntryFields.names,
    "phrases": EntryFields.phrases,
    "moment": EntryFields.moment,
    "start": EntryFields.moment,
    "day": lambda fields, key: fields.moment(key)[:10],
    "days": EntryFields.days,
    "id": EntryFields.id,
    "bonds": lambda fields, _: _bonds(fields),
}
"""How each kind of field is read; an unknown trust counts least, and what does not say its trust was in a note."""


def _values(fields: EntryFields, owner: type) -> dict[str, Any]:
    """The values of those of a class's fields that have a key."""
    return {row.name: _value(fields, row) for row in entry_fields(owner) if row.reads}


def _value(fields: EntryFields, row: EntryField) -> Any:
    read = _READERS[row.reads]
    value = read(fields, *row.path)
    for key in row.once_called:
        value = value or read(fields, key)
    return value


def _read(note: Note, fields: EntryFields, *, place: Place, sensitive: bool) -> Fact:
    """The fact of an entry, without its fingerprint."""
    id, values = parse_id(note.frontmatter["id"]), _values(fields, Fact)
    values |= _triple(values, fields)
    values["always_load"] |= folder_of(note.path) == ALWAYS_LOAD_FOLDER
    values["recorded"] = values["recorded"] or fields.moment("created") or id_moment(id)
    values["updated"] = values["updated"] or values["recorded"]
    return Fact(
        **values,
        id=id,
        path=note.path,
        line=_first_line(note),
        origin="entry",
        text=note.body.strip(),
        place=place,
        sensitive=sensitive,
        origins=Origins(**_values(fields, Origins)),
    )


def _keys_of(fact: Fact) -> dict[str, Any]:
    """The fact's keys and their values; inside a key stand only those that have a value."""
    keys: dict[str, Any] = {"id": fact.id}
    for (key, *nested), value in (*_written_fields(fact), *_written_fields(fact.origins), *_written_bonds(fact)):
        if not nested:
            keys[key] = value
        elif value not in ("", []):
            keys.setdefault(key, {})[nested[0]] = value
    return keys


def _written_fields(owner: Fact | Origins) -> Iterator[tuple[Sequence[str], object]]:
    for row in entry_fields(type(owner)):
        value = getattr(owner, row.name)
        match row.reads:
            case "" | "bonds":
                continue
            case "flag":
                value = value or None
            case "number":
                value = value or ""
            case "start":
                value = short_moment(value)
            case "names" | "days":
                value = list(value)
        yield row.path, value


def _written_bonds(fact: Fact) -> Iterator[tuple[Sequence[str], object]]:
    for bond, path in _RELATIONS.items():
        yield path, [id for each, id in fact.bonds if each == bond]


def _triple(values: Mapping[str, Any], fields: EntryFields) -> dict[str, str]:
    """The predicate and object of these values; an incomplete triple is a Problem and counts as a plain statement."""
    subject, predicate, object = values["subject"], values["predicate"], values["object"]
    if bool(predicate) == bool(object) and (subject or not predicate):
        return {}
    message = "`subject`, `predicate` and `object` belong together: give all three, or only a subject"
    fields.add_problem("predicate" if predicate else "object", message)
    return {"predicate": "", "object": ""}


def _bonds(fields: EntryFields) -> tuple[tuple[Bond, str], ...]:
    for name in fields.nested_keys("relations"):
        if name not in _RELATIONS:
            choice = ", ".join(_RELATIONS)
            fields.add_problem("relations", f"`relations` may only have the keys {choice}: others are left out")
    bonds: set[tuple[Bond, str]] = {("derive", id) for id in fields.ids("derived_from")}
    bonds |= {(bond, id) for bond in _RELATIONS for id in fields.ids("relations", bond)}
    return tuple(sorted(bonds))


def _first_line(note: Note) -> int:
    blank = len(note.body) - len(note.body.lstrip())
    return note.body_line + note.body.count("\n", 0, blank)


def _scalar_text(value: object) -> str | None:
    """Text and numbers as text, empty for no value; None for anything else."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip()
    return "" if value is None else None


def _unquoted_link(value: object) -> str:
    """The wikilink in `[[Note]]` without quotes, which YAML reads as a list in a list; empty for anything else."""
    nested = value[0] if isinstance(value, list) and len(value) == 1 else None
    name = nested[0] if isinstance(nested, list) and len(nested) == 1 else None
    return f"[[{name}]]" if isinstance(name, str) else ""
