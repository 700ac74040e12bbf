"""Which notes are sensitive, and how much of them each audience sees: sensitive text stays with its owner."""

import re
from collections.abc import Mapping
from typing import Final, Literal

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
_HEAD: Final = 4000  # characters searched in a note whose frontmatter is never closed
_FALSE_WORDS: Final = frozenset({"", "false", "no", "off", "0"})


def visibility(sensitive: bool, audience: Audience) -> Visibility:  # noqa: FBT001 - in the order of the table
    """How much of a note the audience sees: all of it, title and path only, or what the person answers when asked."""
    return SENSITIVE_VISIBILITY[audience] if sensitive else "whole"


def is_sensitive(note: Note, options: SafetyOptions) -> bool:
    """True if the note's owner marked it: a truthy sensitive key, or `local-only` under the other key.

    Case does not count. In a note with a Problem a line that looks like a marker is enough: when in doubt, it is
    sensitive.
    """
    marks = {options.sensitive_frontmatter_key.casefold(), _OLDER_KEY}
    places = {options.local_only_frontmatter_key.casefold(), _OLDER_LOCAL_ONLY_KEY}
    if note.problems and _looks_marked(note, marks | places):
        return True
    keys = [(key.casefold(), value) for key, value in note.frontmatter.items()]
    marked = any(key in marks and truthy(value) for key, value in keys)
    local_only = any(key in places and str(value).strip().lower() == "local-only" for key, value in keys)
    return marked or local_only


def truthy(value: object) -> bool:
    """True unless the value means no. `sensitive: "no"` means no; any other text means yes, which is the safe side."""
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE_WORDS
    return bool(value)


def _looks_marked(note: Note, keys: set[str]) -> bool:
    """True if a line at the top of the note has one of the keys; broken frontmatter has no keys to read."""
    words = "|".join(map(re.escape, keys))
    line = re.compile(rf"^[ \t]*[\"']?(?:{words})[\"']?[ \t]*:", re.MULTILINE | re.IGNORECASE)
    return line.search(note.text, 0, len(note.text) - len(note.body) or _HEAD) is not None
