"""Where the daemon of this user is, as plain text: a hook has no time to load anything that makes it nicer."""

import os
import stat
import sys

STATE_VARIABLE = "COMMONPLACE_STATE"
_LONGEST_SOCKET = 100  # bytes; the system's own limit is 104 on macOS and 108 on Linux
_SHARED_FOLDER = "/tmp"  # noqa: S108 (short on every system; what lies in it is checked for its owner)
_ON_MACOS = "Library/Application Support"


class Unreachable(Exception):
    """The daemon cannot be spoken to; the text says why, in words for a person.

    `sent` says whether it may have got the request all the same, so that asking again may do a thing twice.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


def state_path() -> str:
    """`$COMMONPLACE_STATE`, else the folder that this system has for the state of programs. Raises Unreachable."""
    if named := os.environ.get(STATE_VARIABLE):
        return os.path.abspath(os.path.expanduser(named))
    return _of_this_system("XDG_STATE_HOME", ".local/state")


def daemon_path() -> str:
    """The daemon's folder, which only this user may enter. Raises Unreachable."""
    return os.path.join(state_path(), "daemon")


def socket_path() -> str:
    """The socket in the daemon's folder, or in a short folder of its own where that path is too long for one."""
    near = os.path.join(daemon_path(), "serve.sock")
    if len(os.fsencode(near)) <= _LONGEST_SOCKET:
        return near
    from hashlib import sha256

    name = sha256(os.fsencode(state_path())).hexdigest()[:8]
    return os.path.join(_SHARED_FOLDER, f"commonplace-{os.getuid()}-{name}", "serve.sock")


def registry_path() -> str:
    """The list of registered vaults, which is there once a vault is. Raises Unreachable."""
    return os.path.join(_of_this_system("XDG_CONFIG_HOME", ".config"), "vaults.json")


def check_private(folder: str | os.PathLike[str]) -> None:
    """Return when this user owns the folder and nobody else may enter it. Raises Unreachable, FileNotFoundError."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise Unreachable(f"{folder} is not a folder: remove it")
    if found.st_uid != os.getuid():
        raise Unreachable(f"{folder} belongs to another user: set {STATE_VARIABLE} to a folder of your own")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise Unreachable(f"{folder} is open to other users: chmod 700 {folder}")


def _of_this_system(variable: str, below_home: str) -> str:
    """Our folder of one sort, where this system keeps those."""
    xdg = os.environ.get(variable, "")
    if os.path.isabs(xdg):
        return os.path.join(xdg, "commonplace")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise Unreachable(f"this user has no home folder: set {STATE_VARIABLE} to a folder of your own")
    return os.path.join(home, _ON_MACOS if sys.platform == "darwin" else below_home, "commonplace")
