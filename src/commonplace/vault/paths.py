"""Which paths are valid: rules on the text alone, the same for every backend and every operation.

A path is relative, has forward slashes and names one file below the root of a store.
A path that could lead outside the store on some system is refused, even where it would be harmless on this one.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from commonplace.errors import Refused
from commonplace.model.text import fold_name
from commonplace.vault.base import Skip

LONGEST_NAME: Final = 255
"""Bytes in one component of a path: the limit of ext4, APFS and NTFS."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE = re.compile(r"[A-Za-z]:")
_TEMPORARY = re.compile(r"\.commonplace-[0-9a-f]{16}\.(tmp|part)")


@dataclass(frozen=True, slots=True)
class Spelling:
    """A name as a store has it, or unchanged when it does not exist there; `twin` differs from it in case only."""

    name: str
    exists: bool
    twin: str | None = None


def normal(path: str) -> str:
    """The path without `.` components and doubled slashes. Raises Refused for a path that is not valid."""
    _refuse_other_places(path)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts:
        raise _escape(path, "the path is empty", hint="Name a file, such as Inbox/note.md.")
    for part in parts:
        _refuse_name(part, path)
    if _DRIVE.match(parts[0]):
        raise _absolute(path)
    return "/".join(parts)


def normal_folder(path: str) -> str:
    """The path of a folder, "" for the root. Raises Refused as `normal` does."""
    return "" if path.strip("/.") == "" and ".." not in path and not path.startswith("/") else normal(path)


def is_git(name: str) -> bool:
    """True if some system would open `.git`, git's own folder, by this name."""
    visible = name if name.isascii() else "".join(char for char in name if unicodedata.category(char) != "Cf")
    return visible.partition(":")[0].rstrip(". ").casefold() in (".git", "git~1")


def temporary_name(token: str) -> str:
    """The name of a complete temporary file; `token` is sixteen hexadecimal digits."""
    return f".commonplace-{token}.tmp"


def unfinished_name(token: str) -> str:
    """The name of a temporary file that is still being written: its content is ours alone."""
    return f".commonplace-{token}.part"


def is_temporary(name: str) -> bool:
    """True if this is the name of a temporary file of ours, complete or not."""
    return _TEMPORARY.fullmatch(name) is not None


def is_unfinished(name: str) -> bool:
    """True if this is the name of a temporary file of ours that is still being written."""
    return is_temporary(name) and name.endswith(".part")


def same_name(one: str, other: str) -> bool:
    """True if two names or paths differ at most in case and in Unicode normalisation form."""
    return fold_name(one) == fold_name(other)


def printable(path: str) -> str:
    """The path for display: invalid text and control characters become replacement characters."""
    if path.isprintable():
        return path
    return _CONTROL.sub("\ufffd", path.encode(errors="surrogateescape").decode(errors="replace"))


def spelling(name: str, siblings: Iterable[str]) -> Spelling:
    """The name as one of the siblings has it: exactly, else in another Unicode normalisation form."""
    siblings = list(siblings)
    if name in siblings:
        return Spelling(name, exists=True)
    alike = sorted(sibling for sibling in siblings if same_name(sibling, name))
    composed = unicodedata.normalize("NFC", name)
    for sibling in alike:
        if unicodedata.normalize("NFC", sibling) == composed:
            return Spelling(sibling, exists=True)
    return Spelling(name, exists=False, twin=alike[0] if alike else None)


def skip_filter(skip: Skip | None, *, below: str = "") -> Callable[[str], bool]:
    """A function that tells whether `skip` leaves out a file's path or a folder above it; folders are cached.

    `below` is a folder with a trailing slash; neither it nor the folders above it are passed to `skip`.
    """
    if skip is None:
        return lambda path: False
    is_skipped = skip
    cache: dict[str, bool] = {}

    def skips_folder(folder: str) -> bool:
        if not folder.startswith(below) or folder == below or not folder:
            return False
        if folder not in cache:
            cache[folder] = skips_folder(_above(folder)) or is_skipped(folder)
        return cache[folder]

    return lambda path: skips_folder(_above(path)) or is_skipped(path)


def _refuse_other_places(path: str) -> None:
    if _CONTROL.search(path):
        raise _escape(path, "the path contains a control character", hint="Use printable characters only.")
    if path.startswith("/"):
        raise _absolute(path)
    if "\\" in path:
        raise _escape(path, "the path contains a backslash", hint="Separate folders with forward slashes.")


def _refuse_name(name: str, path: str) -> None:
    if name == "..":
        raise _escape(path, "the path steps up with '..'", hint="Give the path relative to the vault, without '..'.")
    if is_git(name):
        raise Refused(
            f"'{name}' belongs to git: {path}", path=path, hint="Choose a path outside git's own folder, .git."
        )
    if is_temporary(name):
        raise Refused(f"'{name}' is reserved for temporary files: {path}", path=path, hint="Choose another name.")
    _refuse_unstorable(name, path)


def _refuse_unstorable(name: str, path: str) -> None:
    try:
        length = len(name.encode())
    except UnicodeEncodeError as error:
        shown = printable(path)
        raise Refused(f"the path is not valid text: {shown}", path=shown, hint="Rename it in UTF-8.") from error
    if length > LONGEST_NAME:
        raise Refused(
            f"a name in the path is {length} bytes long, more than {LONGEST_NAME}: {path}",
            path=path,
            hint=f"Shorten it to {LONGEST_NAME} bytes; letters outside ASCII take two to four each.",
        )


def _absolute(path: str) -> Refused:
    return _escape(path, "the path is absolute", hint="Give the path relative to the vault, such as Inbox/note.md.")


def _escape(path: str, what: str, *, hint: str) -> Refused:
    shown = printable(path)
    return Refused(f"{what}: {shown!r}", path=shown, reason="path_escape", hint=hint)


def _above(path: str) -> str:
    """The parent folder of the path, with a trailing slash; "" for the root."""
    folder, slash, _ = path.rstrip("/").rpartition("/")
    return folder + slash
