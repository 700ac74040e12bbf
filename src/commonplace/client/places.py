"""Where the daemon of this user keeps its lock, its state, its log, its tokens and its socket."""

from dataclasses import dataclass
from pathlib import Path

from commonplace.client.paths import STATE_VARIABLE, Unreachable, check_private, socket_path, state_path

__all__ = ["STATE_VARIABLE", "Places", "Unreachable", "check_private", "places", "state_folder"]


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one user's daemon, in a folder that only this user may enter."""

    folder: Path
    lock: Path
    state: Path
    log: Path
    tokens: Path
    socket: Path

    def make(self) -> None:
        """Make the folders of these files where they are not there. Raises Unreachable, and OSError for the disk."""
        for folder in (self.folder, self.socket.parent):
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            check_private(folder)


def places() -> Places:
    """The places that the environment of this process names. Raises Unreachable when there is no home folder."""
    folder = state_folder() / "daemon"
    return Places(
        folder=folder,
        lock=folder / "serve.lock",
        state=folder / "serve.json",
        log=folder / "serve.log",
        tokens=folder / "tokens.json",
        socket=Path(socket_path()),
    )


def state_folder() -> Path:
    """`$COMMONPLACE_STATE`, else the folder that this system has for the state of programs."""
    return Path(state_path())
