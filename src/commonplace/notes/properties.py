"""What the frontmatter says about the note as a whole: its title, its other names, its tags."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_COMMA = re.compile(r"\s*,\s*")
_COMMA_OR_SPACE = re.compile(r"[,\s]+")


def title_of(frontmatter: Mapping[str, Any], *, path: str) -> str:
    """The `title` if there is one, else the file's name without `.md`."""
    title = _text(frontmatter.get("title"))
    if title:
        return title
    name = path.rpartition("/")[2]
    return name[:-3] if name.lower().endswith(".md") and len(name) > 3 else name


def aliases_of(frontmatter: Mapping[str, Any]) -> tuple[str, ...]:
    """The note's other names, each once, in the order written."""
    names = (name for key in ("aliases", "alias") for name in _entries(frontmatter.get(key), _COMMA))
    return tuple(dict.fromkeys(name.strip() for name in names if isinstance(name, str) and name.strip()))


def tags_of(frontmatter: Mapping[str, Any]) -> Iterator[str]:
    """The tags under `tags` and `tag`, without their `#`, in the order written."""
    for key in ("tags", "tag"):
        for entry in _entries(frontmatter.get(key), _COMMA_OR_SPACE):
            tag = _text(entry).lstrip("#").strip()
            if tag:
                yield tag


def _entries(value: Any, separator: re.Pattern[str]) -> list[Any]:
    if isinstance(value, str):
        return separator.split(value)
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    """Text and numbers as text; all else is no text."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip()
    return ""
