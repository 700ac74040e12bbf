"""Bytes on their way into git and out: line endings, encodings and filters, as `.gitattributes` asks for them."""

import hashlib
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commonplace.vault.git.location import RepositoryLocation
from commonplace.vault.git.run import Git

ATTRIBUTE_NAMES: Final = ("filter", "text", "crlf", "eol", "ident", "working-tree-encoding")
"""The attributes that change bytes."""

_UNSPECIFIED: Final = "unspecified"
_OFF: Final = frozenset({_UNSPECIFIED, "unset"})
_CONTROL: Final = bytes({*range(32), 127} - set(b"\b\t\x1b\f\r\n"))  # characters that git's heuristic counts as binary
_NOT_SET: Final = 1  # the exit status of `git config --get` for a setting that there is none of


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of one path that change bytes, by name."""

    values: Mapping[str, str]

    @property
    def driver(self) -> str | None:
        """The name of the external filter, if there is one."""
        value = self.values["filter"]
        return None if value in (*_OFF, "set") else value

    @property
    def is_verbatim(self) -> bool:
        """True if bytes go in and come out unchanged, external filters aside, whatever is configured."""
        return self._has_no_codec and self.values["text"] == "unset"

    @property
    def is_detected(self) -> bool:
        """True if git detects text by itself: it then leaves a file alone that it already stores with CRLF."""
        return self._has_no_codec and (self.values["text"] == "auto" or self.is_unspecified)

    @property
    def is_unspecified(self) -> bool:
        """True if no attribute mentions line endings, so that the setting core.autocrlf decides."""
        return all(self.values[name] == _UNSPECIFIED for name in ("text", "crlf", "eol"))

    def leave_unchanged(self, content: bytes) -> bool:
        """True if these bytes go into git unchanged, external filters aside, whatever is configured.

        Git's line-ending conversion only removes the CR of a CRLF: without a CR there is nothing to remove.
        """
        return self.is_verbatim or (self._has_no_codec and b"\r" not in content)

    @property
    def _has_no_codec(self) -> bool:
        return self.values["ident"] in _OFF and self.values["working-tree-encoding"] in _OFF


def parse_attributes(fields: Sequence[str]) -> Mapping[str, Attributes]:
    """The output of `check-attr -z`: path, attribute and value, repeated."""
    by_path: dict[str, dict[str, str]] = {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        by_path.setdefault(path, {})[name] = value
    return {path: Attributes(values) for path, values in by_path.items()}


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts bytes as git does in that repository; `filters` lets external filters run too.

    A filter is a program that the repository's configuration can name. With `filters` the person trusts it, and the
    calls that convert a filtered path run under that configuration. All others run under ours, which has no filter.
    """

    git: Git
    location: RepositoryLocation
    filters: bool

    def blob_id(self, path: str, content: bytes, attributes: Attributes) -> str:
        """The id that git gives these bytes at that path."""
        return self._hash(path, content, attributes, store=False) or plain_id(content, self.location.object_format)

    def store(self, path: str, content: bytes, attributes: Attributes) -> str | None:
        """Store the converted bytes as a blob and return its id; None when git takes the bytes unchanged."""
        return self._hash(path, content, attributes, store=True)

    def checkout(self, blob_id: str, path: str, attributes: Attributes) -> bytes:
        """The blob's bytes as the working tree would hold them at that path."""
        if attributes.is_verbatim and not self._runs_filter(attributes):
            return self.git.run("cat-file", "blob", blob_id).stdout
        at_path = f"--path={self.location.inside(path)}"
        return self._converting(attributes).run("cat-file", "--filters", at_path, blob_id).stdout

    def checkout_all(self, blobs: Sequence[tuple[str, str]], attributes: Mapping[str, Attributes]) -> list[bytes]:
        """Many blobs, each with its path, as the working tree would hold them; read by one process."""
        if not blobs:
            return []
        separator = secrets.token_hex(16)  # the size git reports is that of before the conversion
        stdin = b"".join(os.fsencode(f"{blob_id} {self.location.inside(path)}\n") for blob_id, path in blobs)
        git = self._converting(*attributes.values())
        result = git.run("cat-file", "--filters", f"--batch={separator}", stdin=stdin)
        return [each.removesuffix(b"\n") for each in result.stdout.split(f"{separator}\n".encode())[1:]]

    def _hash(self, path: str, content: bytes, attributes: Attributes, *, store: bool) -> str | None:
        if not self._runs_filter(attributes) and (
            attributes.leave_unchanged(content) or self._keeps_line_endings(path, attributes)
        ):
            return None
        command = ["hash-object", "--stdin", f"--path={path}", *(["-w"] if store else [])]
        return os.fsdecode(self._converting(attributes).run(*command, stdin=content).stdout).strip()

    def _converting(self, *attributes: Attributes) -> Git:
        """The git that converts paths with these attributes."""
        runs_filter = any(self._runs_filter(each) for each in attributes)
        return Git(self.git.folder, trusts_repository=True) if runs_filter else self.git

    def _keeps_line_endings(self, path: str, attributes: Attributes) -> bool:
        """True if git keeps the line endings: no setting converts them, or the index holds the file with CRLF.

        Where git detects text by itself, `git add` looks into the index and `git hash-object` does not.
        """
        if not attributes.is_detected:
            return False
        if attributes.is_unspecified and not self._has_autocrlf():
            return True
        result = self.git.try_run("cat-file", "blob", f":0:{self.location.inside(path)}")
        return result.ok and b"\r\n" in result.stdout and _looks_like_text(result.stdout)

    def _has_autocrlf(self) -> bool:
        result = self.git.try_run("config", "--type=bool", "--get", "core.autocrlf")
        return result.stdout.strip() == b"true" or result.code not in (0, _NOT_SET)  # `input` is no bool

    def _runs_filter(self, attributes: Attributes) -> bool:
        return self.filters and attributes.driver is not None


def plain_id(content: bytes, object_format: str) -> str:
    """The id of a blob with exactly these bytes."""
    return hashlib.new(object_format, b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _looks_like_text(content: bytes) -> bool:
    """Git's own heuristic (convert.c): no NUL, no CR without LF, hardly any control characters."""
    if b"\0" in content or content.count(b"\r") != content.count(b"\r\n"):
        return False
    control = len(content) - len(content.translate(None, _CONTROL))
    return (len(content) - control) // 128 >= control
