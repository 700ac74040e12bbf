"""What a path may look like: rules over text alone, the same for every backend and every verb.

A path is relative, has forward slashes and names one file below the root of a store.
Whatever could mean another place on some system is refused, also where it would do no harm on this one.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from commonplace.errors import Refused

LONGEST_NAME: Final = 255
"""Bytes in one component of a path: the limit of ext4, APFS and NTFS."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DRIVE = re.compile(r"[A-Za-z]:")
_TEMPORARY = re.compile(r"\.commonplace-[0-9a-f]{16}\.(tmp|part)")


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a store spells a name: `name` as it stands there, or as asked when it does not; `twin` differs in case."""

    name: str
    there: bool
    twin: str | None = None


def normal(path: str) -> str:
    """The path without `.` components and doubled slashes. Raises Refused for one that no store may hold."""
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
    """Whether some system would take this name for `.git`, git's own folder."""
    visible = name if name.isascii() else "".join(char for char in name if unicodedata.category(char) != "Cf")
    return visible.partition(":")[0].rstrip(". ").casefold() in (".git", "git~1")


def temporary_name(token: str) -> str:
    """The name of a half-made file; `token` is sixteen hexadecimal digits."""
    return f".commonplace-{token}.tmp"


def unfinished_name(token: str) -> str:
    """The name of a half-made file that still lacks bytes: whatever it holds is ours alone."""
    return f".commonplace-{token}.part"


def is_temporary(name: str) -> bool:
    """Whether this is the name of a half-made file of ours."""
    return _TEMPORARY.fullmatch(name) is not None


def is_unfinished(name: str) -> bool:
    """Whether this is the name of a half-made file of ours that still lacks bytes."""
    return is_temporary(name) and name.endswith(".part")


def name_key(name: str) -> str:
    """Equal for two names that some system could take for one."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def same_name(one: str, other: str) -> bool:
    """Whether two names or paths differ at most in case and in Unicode normalisation form."""
    return name_key(one) == name_key(other)


def printable(path: str) -> str:
    """The path as it can be shown: what is no text, or would move the cursor, becomes a replacement mark."""
    if path.isprintable():
        return path
    return _CONTROL.sub("\ufffd", path.encode(errors="surrogateescape").decode(errors="replace"))


def spelling(name: str, siblings: Iterable[str]) -> Spelling:
    """The name as one of the siblings spells it: exactly, else in another normalisation form."""
    siblings = list(siblings)
    if name in siblings:
        return Spelling(name, there=True)
    alike = sorted(sibling for sibling in siblings if same_name(sibling, name))
    composed = unicodedata.normalize("NFC", name)
    for sibling in alike:
        if unicodedata.normalize("NFC", sibling) == composed:
            return Spelling(sibling, there=True)
    return Spelling(name, there=False, twin=alike[0] if alike else None)


def _refuse_other_places(path: str) -> None:
    if _CONTROL.search(path):
        raise _escape(path, "the path holds a control character", hint="Use printable characters only.")
    if path.startswith("/"):
        raise _absolute(path)
    if "\\" in path:
        raise _escape(path, "the path holds a backslash", hint="Separate folders with forward slashes.")


def _refuse_name(name: str, path: str) -> None:
    if name == "..":
        raise _escape(path, "the path steps up with '..'", hint="Give the path relative to the vault, without '..'.")
    if is_git(name):
        raise Refused(
            f"'{name}' belongs to git: {path}", path=path, hint="Choose a path outside git's own folder, .git."
        )
    if is_temporary(name):
        raise Refused(f"'{name}' is a name kept for half-made files: {path}", path=path, hint="Choose another name.")
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
