"""What `.gitattributes` says of a path: whether git would change its bytes on the way in or out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ASKED: Final = ("filter", "text", "crlf", "eol", "ident", "working-tree-encoding")
_NOTHING_SAID = "unspecified"
_PLAIN = frozenset({_NOTHING_SAID, "unset"})


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of one path, as far as they change bytes."""

    values: Mapping[str, str]

    @property
    def driver(self) -> str | None:
        """The name of the external filter, if one is named."""
        value = self.values["filter"]
        return None if value in (*_PLAIN, "set") else value

    @property
    def is_kept_whole(self) -> bool:
        """Whether bytes go in and come out as they are, external filters left aside, whatever is configured."""
        return self._has_no_codec and self.values["text"] == "unset"

    @property
    def is_guessed(self) -> bool:
        """Whether git has to guess if this is text: it then leaves alone what it already keeps with CRLF."""
        return self._has_no_codec and (self.values["text"] == "auto" or self.is_unmentioned)

    @property
    def is_unmentioned(self) -> bool:
        """Whether nothing is said of line endings: the setting core.autocrlf decides."""
        return all(self.values[name] == _NOTHING_SAID for name in ("text", "crlf", "eol"))

    def keep(self, content: bytes) -> bool:
        """Whether these bytes go into git as they are, external filters left aside, whatever is configured.

        Git's line-ending conversion only ever takes the CR out of CRLF: without a CR there is nothing to take.
        """
        return self.is_kept_whole or (self._has_no_codec and b"\r" not in content)

    @property
    def _has_no_codec(self) -> bool:
        return self.values["ident"] in _PLAIN and self.values["working-tree-encoding"] in _PLAIN


def parsed(fields: Sequence[str]) -> Mapping[str, Attributes]:
    """What `check-attr -z` said: path, attribute, value, and again."""
    found: dict[str, dict[str, str]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        found.setdefault(path, {})[name] = value
    return {path: Attributes(values) for path, values in found.items()}


def without(driver: str | None) -> tuple[str, ...]:
    """The settings under which an external filter does nothing."""
    if driver is None:
        return ()
    return tuple(f"filter.{driver}.{each}" for each in ("clean=", "smudge=", "process=", "required=false"))
