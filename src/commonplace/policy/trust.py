"""Marks of trust in a note: that it stands before every prompt, or that it is the person's own word."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from commonplace.policy.sensitivity import truthy

ALWAYS_LOAD: Final = "always_load"
TRUST: Final = "trust"
TOLD: Final = "told"
ID: Final = "id"
_FAR_ENOUGH: Final = 4000  # characters at the top of a note
_MARK: Final = re.compile(
    r"""(?: ^ | [{,\[?] | -[ \t] ) [ \t]*+ ["']?+ [ \t]*+
    (?: always_load [ \t]*+ ["']?+ \s*+ :
      | trust [ \t]*+ ["']?+ \s*+ : [\s"'\[{>|+-]*+ told\b )""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)


def is_trusted(frontmatter: Mapping[str, Any]) -> bool:
    """Whether the frontmatter has a mark at any depth; case and spaces around a word do not count."""
    for key, value in _pairs(frontmatter):
        name = str(key).strip().casefold()
        if (name == ALWAYS_LOAD and truthy(value)) or (name == TRUST and _says_told(value)):
            return True
    return False


def has_id(frontmatter: Mapping[str, Any]) -> bool:
    """Whether the note says that it is an entry: it has an id of its own."""
    return any(str(key).strip().casefold() == ID and value not in (None, "") for key, value in frontmatter.items())


def looks_trusted(text: str) -> bool:
    """Whether something at the top of the text looks like a mark: for a note whose frontmatter cannot be read."""
    return _MARK.search(text, 0, _FAR_ENOUGH) is not None


def _pairs(value: object) -> Iterator[tuple[object, object]]:
    """Every key with its value, in whatever lists and mappings they stand."""
    open_ = [value]
    while open_:
        each = open_.pop()
        if isinstance(each, Mapping):
            yield from each.items()
            open_ += each.values()
        elif isinstance(each, list | tuple):
            open_ += each


def _says_told(value: object) -> bool:
    """Whether the value is `told`, or a list or mapping with it somewhere."""
    open_ = [value]
    while open_:
        each = open_.pop()
        if isinstance(each, Mapping):
            open_ += each.values()
        elif isinstance(each, list | tuple):
            open_ += each
        elif str(each).strip().casefold() == TOLD:
            return True
    return False
