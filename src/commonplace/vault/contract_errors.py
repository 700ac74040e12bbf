"""The checks and errors of the contract that all backends share, so that they report them in the same words."""

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.vault.base import ABSENT, Locator
from commonplace.vault.paths import normal


def path_of(at: Locator, store: object) -> str:
    """The locator's path. Raises UsageError when another store made it, and Refused for a path never resolved."""
    if at.belongs_to(store):
        return normal(at.path)
    raise UsageError(
        f"the locator of {at.path} belongs to another store",
        path=at.path,
        hint="Resolve the path with the store that is to use it.",
    )


def require_version(path: str, *, expected: str | None, found: str) -> None:
    """Raise Conflict unless the file has the expected version; None means any, and ABSENT is a version too."""
    if expected in (None, found):
        return
    if expected == ABSENT:
        message, hint = f"{path} already exists", "Read it and send its version, or choose another path."
    elif found == ABSENT:
        message, hint = f"{path} no longer exists", "Send it as a new file, or leave it deleted."
    else:
        message = f"{path} has changed since it was read"
        hint = "Read it again and repeat the change on its current content."
    raise Conflict(message, path=path, hint=hint, expected=expected, found=found)


def file_not_found(path: str, *, twin: str | None = None) -> NotFound:
    """The error for a file that does not exist; `twin` is an existing path that differs in case only."""
    hint = f"Did you mean {twin}?" if twin else "List the folder to see what is there."
    return NotFound(f"no such file: {path}", path=path, hint=hint)


def folder_not_found(path: str, *, twin: str | None = None) -> NotFound:
    """The error for a folder that does not exist; `twin` is an existing path that differs in case only."""
    hint = f"Did you mean {twin}?" if twin else "List the folder above it to see what is there."
    return NotFound(f"no such folder: {path}", path=path, hint=hint)


def already_exists(path: str) -> Conflict:
    """The error for a new file whose path is taken."""
    return Conflict(f"{path} already exists", path=path, expected=ABSENT, hint="Choose another path.")


def case_collision(path: str, *, twin: str) -> Conflict:
    """The error for a new file that a case-insensitive system would not distinguish from another."""
    return Conflict(
        f"{path} differs only in case from {twin}, which exists",
        path=path,
        hint=f"Use {twin}, or another name: on many systems the two are one file.",
    )


def parent_is_a_file(path: str, *, by: str) -> Conflict:
    """The error for a path that has a file where it needs a folder."""
    return Conflict(
        f"{path} cannot be created: {by} is a file, not a folder", path=path, hint="Choose a path in another folder."
    )


def not_a_file(path: str, *, kind: str) -> Refused:
    """The error for a path where something other than a regular file is."""
    return Refused(f"{path} is {kind}, not a file", path=path, hint="Only regular files can be read and written.")


def too_large_to_read(path: str, *, size: int, most: int) -> Refused:
    """The error for a file that would take too much memory to read: a few bytes on disk may claim to be gigabytes."""
    return Refused(
        f"{path} has {size:,} bytes, more than the {most:,} that are read",
        path=path,
        reason="too_large",
        hint="Split the note, or raise the setting vault.max_read_bytes.",
    )


def link_not_followed(path: str, *, link: str) -> Refused:
    """The error for a path with a symbolic link in it: links are never followed."""
    return Refused(
        f"'{link}' is a symbolic link: {path}",
        path=path,
        reason="path_escape",
        hint="Links inside a vault are not followed; replace the link with the real file or folder.",
    )
