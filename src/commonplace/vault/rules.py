"""What every backend says alike: the verdicts of the contract, in the same words."""

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.vault.base import ABSENT, Locator
from commonplace.vault.paths import normal


def own(at: Locator, store: object) -> str:
    """The locator's path. Raises UsageError when another store made it, and Refused for one that nobody resolved."""
    if at.belongs_to(store):
        return normal(at.path)
    raise UsageError(
        f"the locator of {at.path} was made by another store",
        path=at.path,
        hint="Resolve the path with the store that is to use it.",
    )


def missing(path: str, *, twin: str | None = None) -> NotFound:
    """No file is there; `twin` is a path that differs from it in case alone."""
    hint = f"Did you mean {twin}?" if twin else "List the folder to see what is there."
    return NotFound(f"no such file: {path}", path=path, hint=hint)


def collision(path: str, *, twin: str) -> Conflict:
    """The new file would be one with another on a system that ignores case."""
    return Conflict(
        f"{path} differs only in case from {twin}, which exists",
        path=path,
        hint=f"Use {twin}, or another name: on many systems the two are one file.",
    )


def blocked(path: str, *, by: str) -> Conflict:
    """A file stands where the path wants a folder."""
    return Conflict(
        f"{path} cannot be made: {by} is a file, not a folder", path=path, hint="Choose a path in another folder."
    )


def not_a_file(path: str, *, kind: str) -> Refused:
    """Something stands there that is no regular file."""
    return Refused(f"{path} is {kind}, not a file", path=path, hint="Only regular files can be read and written.")


def symbolic_link(path: str, *, link: str) -> Refused:
    """A component of the path is a symbolic link, and those are never followed."""
    return Refused(
        f"'{link}' is a symbolic link: {path}",
        path=path,
        reason="path_escape",
        hint="Links inside a vault are not followed; put the real file or folder in its place.",
    )


def no_folder(path: str, *, twin: str | None = None) -> NotFound:
    """There is no folder of that path to list."""
    hint = f"Did you mean {twin}?" if twin else "List the folder above it to see what is there."
    return NotFound(f"no such folder: {path}", path=path, hint=hint)


def compare(path: str, *, expected: str | None, found: str) -> None:
    """Raise Conflict unless the file has the expected version; None expects nothing, and ABSENT is a version too."""
    if expected in (None, found):
        return
    if expected == ABSENT:
        what, hint = f"{path} exists already", "Read it and send its version, or choose another path."
    elif found == ABSENT:
        what, hint = f"{path} is no longer there", "Send it as a new file, or leave it deleted."
    else:
        what, hint = f"{path} has changed since it was read", "Read it again and repeat the change on what it says now."
    raise Conflict(what, path=path, hint=hint, expected=expected, found=found)


def taken(path: str) -> Conflict:
    """The file that was to come into being is there already."""
    return Conflict(f"{path} exists already", path=path, expected=ABSENT, hint="Choose another path.")
