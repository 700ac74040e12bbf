"""Which notes are sensitive."""

import re

from commonplace.model import Note
from commonplace.policy.options import SafetyOptions

_OLDER_KEY = "donna_sensitive"  # vaults written for an earlier system carry these two
_OLDER_LOCAL_ONLY_KEY = "donna"
_FAR_ENOUGH = 4000  # characters of a note whose frontmatter is never closed
_FALSE_WORDS = {"", "false", "no", "off", "0"}


def is_sensitive(note: Note, options: SafetyOptions) -> bool:
    """Whether the note's owner marked it: a truthy sensitive key, or `local-only` under the other one.

    Case does not count. In a note with a Problem a line that looks like a marker is one: when in doubt, it is.
    """
    marks = {options.sensitive_frontmatter_key.casefold(), _OLDER_KEY}
    places = {options.local_only_frontmatter_key.casefold(), _OLDER_LOCAL_ONLY_KEY}
    if note.problems and _looks_marked(note, marks | places):
        return True
    keys = [(key.casefold(), value) for key, value in note.frontmatter.items()]
    marked = any(key in marks and truthy(value) for key, value in keys)
    local_only = any(key in places and str(value).strip().lower() == "local-only" for key, value in keys)
    return marked or local_only


def _looks_marked(note: Note, keys: set[str]) -> bool:
    """Whether a line at the top of the note has one of the keys; a broken block has no keys to look at."""
    words = "|".join(map(re.escape, keys))
    line = re.compile(rf"^[ \t]*[\"']?(?:{words})[\"']?[ \t]*:", re.MULTILINE | re.IGNORECASE)
    return line.search(note.text, 0, len(note.text) - len(note.body) or _FAR_ENOUGH) is not None


def truthy(value: object) -> bool:
    """A person who writes `sensitive: "no"` means no; any other text means yes, which is the safe side."""
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE_WORDS
    return bool(value)
