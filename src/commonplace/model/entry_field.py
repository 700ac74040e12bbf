"""The table of the fields of an entry: each field is declared once, with all that its readers and writers must know.

`Fact`, `Candidate` and `Origins` declare their fields with `entry_field`. The format of entries, requests, new
versions, screening and lint read the rules from there, so that a new field is read, written, kept and screened without
another line of code. Only its place in the frontmatter stands elsewhere, in `facts.entry_format.KEY_ORDER`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal, TypeVar

Inherits = Literal["never", "version", "always"]
"""When a field that a statement leaves empty is taken from the entry that it replaces: never, only if the statement is
given as a new version of that entry, or always."""

Merges = Literal["", "earliest", "latest", "final", "all"]
"""Which value counts if a merge of two clones has left the key twice; empty if a person must choose."""

_ROW: Final = "entry_field"
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryField:
    """One row of the table: what readers and writers of entries must know about a field.

    `reads` names how its key is read and written; it is empty for what has no key of its own. `key` is the key in the
    frontmatter, if it is not the name of the field; `source.trust` is a key inside a key. `path` are its parts.
    `once_called` are older keys, read if the key is missing. Lint reports a missing key that `is_required`.
    `inherits_with` is another field that must be empty, too, for this one to be inherited.
    A field is screened for secrets, except where no caller chooses the text: there `is_screened` is False.
    """

    name: str = ""
    reads: str = ""
    key: str = ""
    path: tuple[str, ...] = ()
    once_called: tuple[str, ...] = ()
    inherits: Inherits = "never"
    inherits_with: str = ""
    merges: Merges = ""
    is_required: bool = False
    is_screened: bool = True


def entry_field(default: Any, reads: str = "", **rules: Any) -> Any:
    """A dataclass field with a default, and the rules of an EntryField."""
    return field(default=default, metadata={_ROW: EntryField(reads=reads, **rules)})


def entry_fields(owner: type) -> tuple[EntryField, ...]:
    """The rows of a class's fields, in the order of declaration; a field without rules has the default ones."""
    return _rows(owner)


@lru_cache(maxsize=16)  # classes
def _rows(owner: type) -> tuple[EntryField, ...]:
    rows = (replace(each.metadata.get(_ROW, EntryField()), name=each.name) for each in fields(owner))
    return tuple(replace(row, path=tuple((row.key or row.name).split("."))) for row in rows)


def made_from(made: type[_Made], source: object, **changes: Any) -> _Made:
    """A value with all fields that it shares with the source, and with these changes."""
    shared = {row.name: getattr(source, row.name) for row in entry_fields(made) if hasattr(source, row.name)}
    return made(**shared | changes)


def inherited(made: type, given: object, old: object, *, as_version: bool) -> dict[str, Any]:
    """The values for `made` that are given, and those that are left empty and may be inherited from the old entry.

    `old` None inherits nothing; `as_version` says that the statement is given as a new version of the old one.
    """
    rules = {"always", "version"} if as_version else {"always"}
    values: dict[str, Any] = {}
    for row in entry_fields(made):
        value = getattr(given, row.inherits_with or row.name, None)
        is_left_empty = value is None or value is False or value in ("", ())
        source = old if old and is_left_empty and row.inherits in rules else given
        if hasattr(source, row.name):
            values[row.name] = getattr(source, row.name)
    return values


def texts_of(value: object) -> Iterator[str]:
    """Every text in a value: in each field, unless its row says that it is not screened, and in each part."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from texts_of(part)
    elif is_dataclass(value):
        for row in entry_fields(type(value)):
            if row.is_screened:
                yield from texts_of(getattr(value, row.name))
