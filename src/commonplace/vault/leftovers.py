"""What a process that was killed left lying: half-made files beside the notes, and locks of git. Only ours go."""

import os
import time
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from commonplace.errors import NotFound, Refused, VaultUnavailable
from commonplace.vault.beside import set_aside
from commonplace.vault.files import version_at
from commonplace.vault.git.place import find
from commonplace.vault.git.program import Git
from commonplace.vault.git.state import branch
from commonplace.vault.journal import Journal
from commonplace.vault.paths import is_temporary, is_unfinished
from commonplace.vault.tree import Place, Tree
from commonplace.vault.trouble import disk_trouble

_QUIET_S: Final = 2.0  # a git that outlived its caller has ended by then: it writes an index of 100k notes in 0.2 s
_SOON_S: Final = 10.0  # twice the patience of our own calls: what git locked later was not locked for us
_CLOCK_S: Final = 0.1  # a file's time may lag behind the clock by a tick
_PAUSE_S: Final = 0.02


def sweep(tree: Tree, journal: Journal) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove the half-made files of the mutation; what someone else saved becomes a conflict copy. Names of both."""
    ours = {version for entry in journal.entries for version in (entry.before, entry.after)}
    removed, kept = [], []
    for folder, note in _folders(journal).items():
        with suppress(NotFound, Refused), disk_trouble(folder, doing="tidy"), tree.folder(folder) as (opened, spelled):
            prefix = f"{spelled}/" if spelled else ""
            for name in filter(is_temporary, os.listdir(opened)):
                if is_unfinished(name) or version_at(opened, name, final=True) in ours:
                    os.unlink(name, dir_fd=opened)
                    removed.append(prefix + name)
                else:
                    kept.append(prefix + set_aside(Place(opened, note, prefix + note, None, None), name))
    return tuple(removed), tuple(kept)


def _folders(journal: Journal) -> dict[str, str]:
    """Every folder of the mutation, and the name of a note in it."""
    paths = [PurePosixPath(path) for path in journal.paths]
    return {"" if path.parent == PurePosixPath() else str(path.parent): path.name for path in reversed(paths)}


def remove_git_locks(root: Path, *, pid: int, since: float | None) -> tuple[str, ...]:
    """Remove the locks that our own git left when it was killed with its caller, and name them.

    A lock is ours if the process of the journal is dead, and git took it soon after it was last set to work and has
    not touched it since. Any other is never removed: git itself waits for it. Raises VaultUnavailable(repository_busy)
    for one that may be ours while that process lives: the journal must stay, or nobody would know whose lock it is.
    """
    if since is None:
        return ()
    git = Git(root)
    place = find(git)
    locks = (
        place.git_dir / "index.lock",
        place.git_dir / "HEAD.lock",
        place.common_dir / f"{branch(git, place)}.lock",
    )
    with disk_trouble(str(place.git_dir), doing="tidy"):
        return tuple(lock.name for lock in locks if _remove_if_left(lock, pid, since))


def _remove_if_left(lock: Path, pid: int, since: float) -> bool:
    while (touched := _touched(lock)) is not None:
        if not since - _CLOCK_S <= touched <= since + _SOON_S:
            return False
        if time.time() - touched > _QUIET_S:
            _refuse_while_alive(pid, lock)
            lock.unlink(missing_ok=True)
            return True
        time.sleep(_PAUSE_S)
    return False


def _refuse_while_alive(pid: int, lock: Path) -> None:
    if _is_alive(pid):
        raise VaultUnavailable(
            f"git left a lock behind, and process {pid}, which may have made it, still runs: {lock}",
            path=str(lock),
            reason="repository_busy",
            hint="End that process and try again. Only if no git process runs, remove the lock.",
        )


def _touched(file: Path) -> float | None:
    try:
        return file.lstat().st_mtime
    except FileNotFoundError:
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Whether the process has ended and its parent has not noticed yet; False where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] == "Z"
