"""The state of a repository: the branch, an operation in progress, and stamps that change with index and branch.

During a merge or a rebase the repository belongs to the person who runs it, and nothing is committed into it.
"""

import errno
import os
import re
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.location import RepositoryLocation, is_branch_name, refuse_damaged_branch
from commonplace.vault.git.run import Git, git_failed
from commonplace.vault.syscalls import ChangeStamp, change_stamp, read_regular, translate_os_errors

RepositoryStamp = tuple[ChangeStamp | bytes, ...]
"""Changes whenever the index does, or the commit that HEAD resolves to."""

# file or folder in the git directory -> the operation it belongs to, and how to end it; the first one present counts
_IN_PROGRESS: Final = (
    ("rebase-apply/applying", "applying mailed patches (am)", "git am --continue' or 'git am --abort"),
    ("rebase-apply", "a rebase", "git rebase --continue' or 'git rebase --abort"),
    ("rebase-merge", "a rebase", "git rebase --continue' or 'git rebase --abort"),
    ("MERGE_HEAD", "a merge", "git merge --continue' or 'git merge --abort"),
    ("CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue' or 'git cherry-pick --abort"),
    ("REVERT_HEAD", "a revert", "git revert --continue' or 'git revert --abort"),
    ("sequencer", "a cherry-pick or revert", "git cherry-pick --continue' or 'git cherry-pick --abort"),
    ("BISECT_LOG", "a bisect", "git bisect reset"),
)
_REFERENCE: Final = "ref: "
_BRANCHES: Final = "refs/heads/"
_IN_REFTABLE: Final = "refs/heads/.invalid"  # the content of the HEAD file when references are in a reftable
_LONGEST_GC_S: Final = 12 * 3600.0  # git takes an older file for that of a process which died
_CHECKSUM_LENGTH: Final = 32
_COMMIT_ID: Final = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")


def refuse_if_busy(git: Git, location: RepositoryLocation) -> None:
    """Raise VaultUnavailable(repository_busy) during a merge, rebase, bisect..., and with a detached HEAD."""
    for name, operation, way_out in _IN_PROGRESS:
        if os.path.lexists(location.git_dir / name):
            raise VaultUnavailable(
                f"{operation} is in progress in the vault's repository",
                reason="repository_busy",
                hint=f"Finish or abort it first: run '{way_out}'. Reading works meanwhile.",
            )
    branch(git, location)


def branch(git: Git, location: RepositoryLocation) -> str:
    """The full name of the checked-out branch. Raises VaultUnavailable(repository_busy) when HEAD is detached."""
    name = _head_reference(git, location)
    if not name.startswith(_BRANCHES):
        raise VaultUnavailable(
            "no branch is checked out in the vault's repository (detached HEAD)",
            reason="repository_busy",
            hint="Check out a branch first: run 'git switch <branch>'. Reading works meanwhile.",
        )
    refuse_damaged_branch(location, name)
    return name


@dataclass(frozen=True, slots=True)
class BranchTip:
    """The checked-out branch and its newest commit, None when it has none yet.

    `is_plain` is True if the branch is a file of its own or a line of `packed-refs`, so that it can be moved as git
    moves it, by renaming a lock file; where it is kept otherwise, only git can move it.
    """

    branch: str
    commit: str | None
    is_plain: bool


def branch_tip(git: Git, location: RepositoryLocation) -> BranchTip:
    """The checked-out branch as it is now. Raises VaultUnavailable(repository_busy) when HEAD is detached."""
    name = branch(git, location)
    file = location.common_dir / name
    if not (location.common_dir / "reftable").exists() and not _is_linked(location.common_dir, name):
        text = _read(file).strip() or _packed(location, name)
        if _COMMIT_ID.fullmatch(text):
            return BranchTip(name, text.decode("ascii"), is_plain=True)
    found = git.try_run("rev-parse", "--quiet", "--verify", f"{name}^0").stdout
    return BranchTip(name, os.fsdecode(found).strip() or None, is_plain=False)


def _is_linked(folder: Path, name: str) -> bool:
    """True if the file, or a folder on the way to it, is a link."""
    parts = name.split("/")
    return any(os.path.islink(folder.joinpath(*parts[: at + 1])) for at in range(len(parts)))


def _packed(location: RepositoryLocation, name: str) -> bytes:
    """The id that `packed-refs` has for this reference; empty when it has none."""
    ending = b" " + os.fsencode(name)
    lines = _read(location.common_dir / "packed-refs").splitlines()
    return next((line.removesuffix(ending) for line in lines if line.endswith(ending)), b"")


def repository_stamp(location: RepositoryLocation) -> RepositoryStamp:
    """The stamp of index and branch as they are now, read without running git.

    The index ends in its checksum and a branch's file holds a commit id, so contents are compared, not only times.
    """
    index, head = location.git_dir / "index", location.git_dir / "HEAD"
    target = _read(head).strip()
    prefix = _REFERENCE.encode()
    name = target.removeprefix(prefix) if target.startswith(prefix) else b"HEAD"
    return (
        change_stamp(index),
        _read(index, last=_CHECKSUM_LENGTH),
        target,
        _read(location.common_dir / os.fsdecode(name)),
        change_stamp(location.common_dir / "packed-refs"),
        change_stamp(location.common_dir / "reftable" / "tables.list"),
    )


def collects_garbage(location: RepositoryLocation) -> bool:
    """True while a `git gc` runs in the repository: its file names a process of this machine, or is another's and new.

    Git itself does not see that file from a view.
    """
    file = location.common_dir / "gc.pid"
    process, _, host = os.fsdecode(_read(file)).strip().partition(" ")
    if process.isdigit() and host == socket.gethostname():
        return _is_alive(int(process))
    stamp = change_stamp(file)
    return bool(stamp) and time.time() - stamp[3] / 1e9 < _LONGEST_GC_S


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def branch_commit(location: RepositoryLocation) -> str:
    """The commit of the branch, or of HEAD itself, read from its file without running git; "" if it is not there."""
    target = _read(location.git_dir / "HEAD").strip()
    if target.startswith(_REFERENCE.encode()):
        name = os.fsdecode(target.removeprefix(_REFERENCE.encode()))
        target = _read(location.common_dir / name).strip() if is_branch_name(name) else b""
    return target.decode() if _COMMIT_ID.fullmatch(target) else ""


def head_commit(git: Git, location: RepositoryLocation) -> str | None:
    """The newest commit of the branch, or that of a detached HEAD; None when there is none yet."""
    if commit := branch_commit(location):
        return commit
    result = git.try_run("rev-parse", "--quiet", "--verify", "HEAD^0")
    return os.fsdecode(result.stdout).strip() or None


def _head_reference(git: Git, location: RepositoryLocation) -> str:
    """The reference that HEAD points to; "" when it points to a commit."""
    with translate_os_errors("HEAD", doing="read"):
        head = location.git_dir / "HEAD"
        if head.is_symlink():
            return os.readlink(head)
        content = read_regular(head)
        if content is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such file")
        text = content.decode(errors="surrogateescape").strip()
    if not text.startswith(_REFERENCE):
        return ""
    name = text.removeprefix(_REFERENCE).strip()
    return _symbolic_ref(git) if name == _IN_REFTABLE else name


def _symbolic_ref(git: Git) -> str:
    result = git.try_run("symbolic-ref", "--quiet", "HEAD")
    if result.code not in (0, 1):
        raise git_failed("symbolic-ref", result.stderr)
    return os.fsdecode(result.stdout).strip()


def _read(path: Path, *, last: int | None = None) -> bytes:
    try:
        return read_regular(path, last=last) or b""
    except OSError:
        return b""
