"""Bytes on their way into git and out again: line endings and encodings as the attributes say."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.vault.git.attributes import Attributes, without
from commonplace.vault.git.place import Place
from commonplace.vault.git.program import Git

_CONTROL = bytes({*range(32), 127} - set(b"\b\t\x1b\f\r\n"))  # what git's guess does not take for text


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts as git does at that place; `filters` lets external filters run too."""

    git: Git
    place: Place
    filters: bool

    def blob_id(self, path: str, content: bytes, attributes: Attributes) -> str:
        """The id that git gives these bytes at that path."""
        return self._hashed(path, content, attributes, store=False) or plain_id(content, self.place.object_format)

    def stored(self, path: str, content: bytes, attributes: Attributes) -> str | None:
        """The id of the converted bytes, which are now in git; None when git takes them as they are."""
        return self._hashed(path, content, attributes, store=True)

    def out_of_git(self, blob_id: str, path: str, attributes: Attributes) -> bytes:
        """The blob's bytes as the working tree would hold them at that path."""
        if attributes.is_kept_whole and not self._runs(attributes):
            return self.git.tell("cat-file", "blob", blob_id).out
        place = f"--path={self.place.inside(path)}"
        return self.git.tell("cat-file", "--filters", place, blob_id, settings=self._settings(attributes)).out

    def _hashed(self, path: str, content: bytes, attributes: Attributes, *, store: bool) -> str | None:
        if not self._runs(attributes) and (attributes.keep(content) or self._is_left_alone(path, attributes)):
            return None
        call = ["hash-object", "--stdin", f"--path={path}", *(["-w"] if store else [])]
        told = self.git.tell(*call, given=content, settings=self._settings(attributes))
        return os.fsdecode(told.out).strip()

    def _is_left_alone(self, path: str, attributes: Attributes) -> bool:
        """Whether git keeps the line endings: nothing has it convert them, or the index holds the file with CRLF.

        Where git has to guess, `git add` looks into the index and `git hash-object` does not.
        """
        if not attributes.is_guessed:
            return False
        if attributes.is_unmentioned and not self._converts_unasked():
            return True
        answer = self.git.ask("cat-file", "blob", f":0:{self.place.inside(path)}")
        return answer.ok and b"\r\n" in answer.out and _looks_like_text(answer.out)

    def _converts_unasked(self) -> bool:
        return self.git.ask("config", "--get", "core.autocrlf").out.strip().lower() not in (
            b"",
            b"false",
            b"no",
            b"off",
            b"0",
        )

    def _runs(self, attributes: Attributes) -> bool:
        return self.filters and attributes.driver is not None

    def _settings(self, attributes: Attributes) -> Iterable[str]:
        return () if self.filters else without(attributes.driver)


def plain_id(content: bytes, object_format: str) -> str:
    """The id of a blob with exactly these bytes."""
    return hashlib.new(object_format, b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _looks_like_text(content: bytes) -> bool:
    """Git's own guess (convert.c): no NUL, no CR by itself, hardly any control characters."""
    if b"\0" in content or content.count(b"\r") != content.count(b"\r\n"):
        return False
    control = len(content) - len(content.translate(None, _CONTROL))
    return (len(content) - control) // 128 >= control
