"""Where this user's daemon keeps its files, and how a client names itself and a vault.

Hooks load this module before every prompt, so it goes without pathlib, dataclasses and regular expressions until a
caller asks for the files as `Path`s.
"""

import os
import stat
import sys

TYPE_CHECKING = False  # importing typing takes longer than all the rest
if TYPE_CHECKING:
    from pathlib import Path

STATE_VARIABLE = "COMMONPLACE_STATE"
LONGEST_CLIENT_NAME = 64
DATABASE_PREFIX = "postgresql:"  # a vault in a database is named so, and not by a folder
_VAULT_VARIABLES = ("COMMONPLACE_VAULT", "MEMORY_VAULT_PATH")  # the first that is set counts
_LONGEST_SOCKET = 100  # bytes; the system's own limit is 104 on macOS and 108 on Linux
_SHARED_FOLDER = "/tmp"  # noqa: S108 (short on every system; the folder in it is checked for its owner)
_MACOS_FOLDER = "Library/Application Support"
_CLIENT_NAME_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._-")


class Unreachable(Exception):
    """The daemon cannot be reached; the text tells a person why.

    `sent` is True if the daemon may have received the request, so that sending it again may carry it out twice.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class NoAnswer(Unreachable):
    """The daemon is there and says nothing: it is very busy, or it hangs."""


class DaemonFiles:
    """The files of one user's daemon, in a folder that only this user may enter."""

    __slots__ = ("folder", "lock", "log", "socket", "state", "tokens")

    def __init__(
        self, folder: "Path", lock: "Path", state: "Path", log: "Path", tokens: "Path", socket: "Path"
    ) -> None:
        self.folder = folder
        self.lock = lock
        self.state = state
        self.log = log
        self.tokens = tokens
        self.socket = socket

    def make_folders(self) -> None:
        """Create the folders of these files if they are missing.

        Raises Unreachable if a folder is not private to this user, OSError if the disk refuses.
        """
        for folder in (self.folder, self.socket.parent):
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            check_private(folder)


def daemon_files() -> DaemonFiles:
    """The daemon's files for the environment of this process. Raises Unreachable if there is no home folder."""
    from pathlib import Path

    folder = Path(daemon_path())
    return DaemonFiles(
        folder,
        lock=folder / "serve.lock",
        state=folder / "serve.json",
        log=folder / "serve.log",
        tokens=folder / "tokens.json",
        socket=Path(socket_path()),
    )


def state_path() -> str:
    """`$COMMONPLACE_STATE`, else this system's folder for the state of programs. Raises Unreachable."""
    if named := os.environ.get(STATE_VARIABLE):
        return os.path.abspath(os.path.expanduser(named))
    return _system_folder("XDG_STATE_HOME", ".local/state")


def daemon_path() -> str:
    """The daemon's folder, which only this user may enter. Raises Unreachable."""
    return os.path.join(state_path(), "daemon")


def socket_path() -> str:
    """The socket in the daemon's folder, or in a short folder of its own if that path is too long for a socket."""
    path = os.path.join(daemon_path(), "serve.sock")
    if len(os.fsencode(path)) <= _LONGEST_SOCKET:
        return path
    from hashlib import sha256

    name = sha256(os.fsencode(state_path())).hexdigest()[:8]
    return os.path.join(_SHARED_FOLDER, f"commonplace-{os.getuid()}-{name}", "serve.sock")


def registry_path() -> str:
    """The list of registered vaults; the file exists once a vault is registered. Raises Unreachable."""
    return os.path.join(_system_folder("XDG_CONFIG_HOME", ".config"), "vaults.json")


def check_private(folder: str | os.PathLike[str]) -> None:
    """Return if this user owns the folder and no other user may enter it. Raises Unreachable, FileNotFoundError."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise Unreachable(f"{folder} is not a folder: remove it")
    if status.st_uid != os.getuid():
        raise Unreachable(f"{folder} belongs to another user: set {STATE_VARIABLE} to a folder of your own")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise Unreachable(f"{folder} is open to other users: chmod 700 {folder}")


def is_client_name(name: str) -> bool:
    """True if a client may use this name: 1 to 64 letters, digits, spaces, dots, underscores and dashes."""
    return 0 < len(name) <= LONGEST_CLIENT_NAME and _CLIENT_NAME_CHARACTERS.issuperset(name) and name == name.strip()


def as_client_name(name: str) -> str:
    """The name with a dash for every other character, truncated to the longest that is allowed."""
    allowed = "".join(each if each in _CLIENT_NAME_CHARACTERS else "-" for each in name)
    return allowed[:LONGEST_CLIENT_NAME].strip()


def vault_header(named: str = "") -> dict[str, str]:
    """The HTTP header for this vault, else for the one in the environment; no header means the default vault.

    The current folder never decides.
    """
    vault = named or next((os.environ[name] for name in _VAULT_VARIABLES if os.environ.get(name)), "")
    if not vault:
        return {}
    from urllib.parse import quote

    # The daemon runs in another folder, so the path is made absolute; a header holds ASCII only, so it is quoted.
    path = vault if vault.startswith(DATABASE_PREFIX) else os.path.abspath(os.path.expanduser(vault))
    return {"Commonplace-Vault": quote(os.fsencode(path))}


def working_folder() -> str:
    """The absolute path of this process's working folder; empty if it does not exist any more."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def folder_header() -> dict[str, str]:
    """The HTTP header for this process's working folder; no header if it has none."""
    from urllib.parse import quote

    folder = working_folder()
    return {"Commonplace-Folder": quote(os.fsencode(folder))} if folder else {}


def _system_folder(variable: str, below_home: str) -> str:
    """Our folder in the one that the XDG variable names, else in this system's default."""
    xdg = os.environ.get(variable, "")
    if os.path.isabs(xdg):
        return os.path.join(xdg, "commonplace")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise Unreachable(f"this user has no home folder: set {STATE_VARIABLE} to a folder of your own")
    return os.path.join(home, _MACOS_FOLDER if sys.platform == "darwin" else below_home, "commonplace")
