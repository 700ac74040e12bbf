"""Marks of trust in a note: loaded before every prompt (`always_load`), or the person's own word (`trust: told`)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from commonplace.policy.sensitivity import truthy

ALWAYS_LOAD: Final = "always_load"
TRUST: Final = "trust"
TOLD: Final = "told"
ID: Final = "id"
_HEAD: Final = 4000  # characters searched at the top of a note
_MARK: Final = re.compile(
    r"""(?: ^ | [{,\[?] | -[ \t] ) [ \t]*+ ["']?+ [ \t]*+
    (?: always_load [ \t]*+ ["']?+ \s*+ :
      | trust [ \t]*+ ["']?+ \s*+ : [\s"'\[{>|+-]*+ told\b )""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)


def is_trusted(frontmatter: Mapping[str, Any]) -> bool:
    """True if the frontmatter has a mark at any depth; case and surrounding spaces do not count."""
    for key, value in _pairs(frontmatter):
        name = str(key).strip().casefold()
        if (name == ALWAYS_LOAD and truthy(value)) or (name == TRUST and _says_told(value)):
            return True
    return False


def has_id(frontmatter: Mapping[str, Any]) -> bool:
    """True if the note has an id, as entries do."""
    return any(str(key).strip().casefold() == ID and value not in (None, "") for key, value in frontmatter.items())


def looks_trusted(text: str) -> bool:
    """True if the top of the text looks like a mark: for a note whose frontmatter cannot be read."""
    return _MARK.search(text, 0, _HEAD) is not None


def _pairs(value: object) -> Iterator[tuple[object, object]]:
    """Every key with its value, in all nested lists and mappings."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            yield from each.items()
            pending += each.values()
        elif isinstance(each, list | tuple):
            pending += each


def _says_told(value: object) -> bool:
    """True if the value is `told`, or a list or mapping that contains it."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            pending += each.values()
        elif isinstance(each, list | tuple):
            pending += each
        elif str(each).strip().casefold() == TOLD:
            return True
    return False
