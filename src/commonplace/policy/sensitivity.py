"""Which notes are sensitive, and how much of them each audience sees: sensitive text stays with its owner."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from commonplace.model import Note
from commonplace.policy.options import SafetyOptions

Audience = Literal["person", "prompt", "mcp", "model", "remote_encoder", "export"]
Visibility = Literal["whole", "title_only", "ask"]

SENSITIVE_VISIBILITY: Final[Mapping[Audience, Visibility]] = {
    "person": "whole",
    "prompt": "title_only",
    "mcp": "title_only",
    "model": "title_only",
    "remote_encoder": "title_only",
    "export": "ask",
}

_OLDER_KEY: Final = "donna_sensitive"  # vaults written for an earlier system have these two keys
_OLDER_LOCAL_ONLY_KEY: Final = "donna"
_LOCAL_ONLY: Final = "local-only"
_MERGE_KEY: Final = "<<"
_HEAD: Final = 4000  # characters searched in a note that has a Problem and no frontmatter
_BOM: Final = "\ufeff"
_OLD_MAC: Final = re.compile("\ufeff?---[ \t]*\r(?!\n)")  # lines that end in a carriage return alone
_FALSE_WORDS: Final = frozenset({"", "false", "no", "off", "0"})


def visibility(sensitive: bool, audience: Audience) -> Visibility:  # noqa: FBT001 - in the order of the table
    """How much of a note the audience sees: all of it, title and path only, or what the person answers when asked."""
    return SENSITIVE_VISIBILITY[audience] if sensitive else "whole"


def is_sensitive(note: Note, options: SafetyOptions) -> bool:
    """True if the note's owner marked it: a truthy sensitive key, or `local-only` under the other key.

    Case does not count, and a mark may be one of a list, or come by a YAML merge key. In a note with a Problem, or with
    line endings that hide its frontmatter, a line that looks like a marker is enough: when in doubt, it is sensitive.
    """
    marks = {options.sensitive_frontmatter_key.casefold(), _OLDER_KEY}
    places = {options.local_only_frontmatter_key.casefold(), _OLDER_LOCAL_ONLY_KEY}
    if (note.problems or _OLD_MAC.match(note.text)) and _looks_marked(note, marks | places):
        return True
    keys = [(key.strip().casefold(), value) for key, value in _merged_pairs(note.frontmatter)]
    marked = any(key in marks and truthy(value) for key, value in keys)
    return marked or any(key in places and _says_local_only(value) for key, value in keys)


def marked(note: Note, options: SafetyOptions) -> Note:
    """The note as if its owner had marked it."""
    return replace(note, frontmatter={**note.frontmatter, options.sensitive_frontmatter_key: True})


def _merged_pairs(frontmatter: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every key with its value, those that a merge key brings in included."""
    pending: list[Any] = [frontmatter]
    while pending:
        each = pending.pop()
        if isinstance(each, list):
            pending += each
        elif isinstance(each, Mapping):
            yield from each.items()
            pending.append(each.get(_MERGE_KEY))


def _says_local_only(value: object) -> bool:
    """True if the value is `local-only`, or a list that contains it."""
    if isinstance(value, list | tuple):
        return any(map(_says_local_only, value))
    return str(value).strip().lower() == _LOCAL_ONLY


def truthy(value: object) -> bool:
    """True unless the value means no. `sensitive: "no"` means no; any other text means yes, which is the safe side."""
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE_WORDS
    return bool(value)


def _looks_marked(note: Note, keys: set[str]) -> bool:
    """True if a line of the frontmatter has one of the keys; if it is never closed, any line of the note."""
    words = "|".join(map(re.escape, keys))
    line = re.compile(rf"(?:\A|[\r\n])[ \t]*[\"']?(?:{words})[\"']?[ \t]*:", re.IGNORECASE)
    head = len(note.text) - len(note.body)
    has_head = head > len(_BOM) or not note.text.removeprefix(_BOM).startswith("---")
    return line.search(note.text, 0, (head or _HEAD) if has_head else len(note.text)) is not None
