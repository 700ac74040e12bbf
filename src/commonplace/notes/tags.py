"""Tags in prose: `#tag`, `#nested/tag`."""

import re
from collections.abc import Iterable, Iterator

# Letters, digits, marks and symbols of every script, with `_`, `-` and `/`; no space, no punctuation.
_ASCII = r"\x00-,.:-@\[-^`{-\x7f"
_LATIN = r"\x80-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7"
_WIDE = r"\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_TAG = re.compile(rf"#(?<!\S#)([^\s{_ASCII}{_LATIN}{_WIDE}]++)")


def find_tags(prose: str) -> Iterator[re.Match[str]]:
    """Every tag after a space or at the beginning of a line; its first group is its name. A number is no tag."""
    for match in _TAG.finditer(prose):
        name = match.group(1).strip("/")
        if name.strip("_-/") and not name.isdigit():
            yield match


def tag_names(prose: str) -> Iterator[str]:
    """The names of the tags, in the order they stand."""
    return (match.group(1).strip("/") for match in find_tags(prose))


def each_once(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags as first written, each once whatever its case."""
    first: dict[str, str] = {}
    for tag in tags:
        first.setdefault(tag.casefold(), tag)
    return tuple(first.values())
