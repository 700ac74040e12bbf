"""Where a vault's repository is: its own, one above it, a linked worktree or a submodule; and what is broken in it.

Git looks further up when it does not accept a `.git`. A vault whose repository is damaged must not become part of one
above it, nor look like a folder that never had one.
"""

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.isolation import Isolation
from commonplace.vault.git.run import Git, GitResult, git_failed
from commonplace.vault.syscalls import read_regular

FILE_MODES: Final = ("100644", "100755")
"""The modes git gives a regular file and an executable one."""

_NO_REPOSITORY: Final = "not a git repository"
_BRANCHES: Final = "refs/heads/"
_COMMIT_ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NOT_IN_A_NAME: Final = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[./]$"
)  # git check-ref-format
_ANSWERS: Final = 5
_OTHER_COPY: Final = "restore it from a backup or another clone"


@dataclass(frozen=True, slots=True)
class RepositoryLocation:
    """The paths of one working tree's repository, and where the vault is in it."""

    top: Path  # the root of the working tree
    git_dir: Path  # this working tree's own: HEAD, index, operations in progress
    common_dir: Path  # shared by all working trees: objects, branches, configuration
    prefix: str  # the vault's path in the working tree, with a trailing slash; "" for the root
    object_format: str  # sha1 or sha256

    def inside(self, path: str) -> str:
        """The path of a vault file relative to the root of the working tree."""
        return self.prefix + path


def find(git: Git) -> RepositoryLocation:
    """The repository that covers the folder. Raises VaultUnavailable when there is none, or it is bare or damaged."""
    result = _rev_parse(git)
    if not result.ok:
        _refuse_damaged(git.folder, top=None)
        raise _not_found(git.folder, result.stderr)
    inside, object_format, git_dir, common_dir, prefix = _lines(git.folder, result)
    if inside != "true":
        raise VaultUnavailable(
            f"the repository at {git_dir} has no working tree that covers {git.folder}",
            hint="Choose a vault in an ordinary clone, not in a bare repository or a .git folder.",
        )
    top = git.folder.parents[prefix.count("/") - 1] if prefix else git.folder
    _refuse_damaged(git.folder, top=top)
    location = RepositoryLocation(top, Path(git_dir), git.folder / common_dir, prefix, object_format)
    git.isolate(Isolation(git, top=top, git_dir=location.git_dir, common_dir=location.common_dir))
    return location


def covers(git: Git) -> bool:
    """True if the folder must be adopted: it has a repository of its own, or one above it tracks files in it."""
    result = _rev_parse(git)
    if not result.ok and _NO_REPOSITORY in result.stderr:
        _refuse_damaged(git.folder, top=None)
        return False
    prefix = find(git).prefix
    return not prefix or bool(git.run("ls-files", "-z", "--", ".").stdout)


def identity(git: Git) -> str:
    """What stays the same when the folder moves: the oldest commit, and the vault's place in it. Empty without one.

    Raises VaultUnavailable when the repository is damaged.
    """
    if not covers(git):
        return ""
    location = find(git)
    oldest = git.try_run("rev-list", "--max-parents=0", "HEAD").stdout.decode().split()
    if not oldest:
        refuse_damaged_branch(location, (_text(location.git_dir / "HEAD") or "").removeprefix("ref:").strip())
    return f"{oldest[-1]}:{location.prefix}" if oldest else ""


def _rev_parse(git: Git) -> GitResult:
    return git.discover(
        "--is-inside-work-tree",
        "--show-object-format",
        "--absolute-git-dir",
        "--git-common-dir",
        "--show-prefix",
    )


def _lines(folder: Path, result: GitResult) -> list[str]:
    """The five answers of `_rev_parse`. Raises VaultUnavailable when a path has a line break: they cannot be told."""
    lines = result.stdout.decode(errors="surrogateescape").split("\n")[:-1]
    if len(lines) != _ANSWERS:
        raise VaultUnavailable(
            f"a folder on the way to the vault has a line break in its name: {str(folder)!r}",
            path=str(folder),
            hint="Rename that folder and open the vault anew.",
        )
    return lines


def _not_found(folder: Path, stderr: str) -> VaultUnavailable:
    if _NO_REPOSITORY in stderr:
        return VaultUnavailable(
            f"no git repository covers {folder}", path=str(folder), hint="Run 'commonplace init' to create one."
        )
    return git_failed("rev-parse", stderr)


def is_branch_name(name: str) -> bool:
    """True if git accepts this as the full name of a branch; it then leads to no place outside the branches."""
    return name.startswith(_BRANCHES) and not _NOT_IN_A_NAME.search(name)


# Damage


def refuse_damaged_branch(location: RepositoryLocation, name: str) -> None:
    """Raise VaultUnavailable when the branch's name or commit id is garbage, or its reference is lost but not its log.

    A commit of ours on a lost branch would begin a new history without a word.
    """
    if (location.common_dir / "reftable").exists():
        return  # git itself reads and checks those references
    if _NOT_IN_A_NAME.search(name):
        raise _damaged(location.git_dir, f"HEAD names no branch: {name!r}", _hint_for_head(location.git_dir))
    text = _text(location.common_dir / name)
    if text is None and _is_packed(location.common_dir, name):
        return
    if _COMMIT_ID.match(text or "") or (text or "").startswith("ref:"):
        return
    last = _last_logged(location.common_dir / "logs" / name)
    if text is None and last is None:
        return  # a branch without a commit
    problem = (
        f"the file of branch {name.removeprefix(_BRANCHES)} holds no commit id"
        if text is not None
        else (f"branch {name.removeprefix(_BRANCHES)} has a log of its commits, but no reference to the last")
    )
    repair = f"printf '%s\\n' {last or '<id of its last commit>'} > {_quoted(location.common_dir / name)}"
    raise _damaged(location.git_dir, problem, f"Run: {repair}. 'git fsck' then says whether that commit is there.")


def _refuse_damaged(folder: Path, *, top: Path | None) -> None:
    """Raise VaultUnavailable when the folder, or one above it, has a `.git` that git passed over because of damage."""
    for each in (folder, *folder.parents):
        if each == top:
            return
        if os.path.lexists(each / ".git"):
            for git_dir, problem, hint in _damages(each / ".git"):
                raise _damaged(git_dir, problem, hint)


def _damages(entry: Path) -> Iterator[tuple[Path, str, str]]:
    """What is wrong with a `.git`, and what to do about it; nothing for one that is whole, or an empty folder."""
    git_dir = entry
    if not entry.is_dir():
        git_dir = entry.parent / (_text(entry) or "").removeprefix("gitdir:").strip()
        if git_dir == entry.parent or not git_dir.is_dir():
            hint = f"For a moved worktree run 'git worktree repair' in the main one; else {_OTHER_COPY}."
            yield entry, "it names a folder that does not exist", hint
            return
    elif not any(entry.iterdir()):
        return
    common_dir = git_dir / (_text(git_dir / "commondir") or "").strip()
    if not (common_dir / "objects").is_dir():
        new = f"mv {_quoted(entry)} {_quoted(entry.with_name('.git-damaged'))}"
        yield git_dir, "it has no objects", f"Best {_OTHER_COPY}; or run: {new}; then 'commonplace init'."
    if not _is_head(git_dir / "HEAD"):
        yield git_dir, "its HEAD is missing, empty or garbage", _hint_for_head(git_dir)
    if not (common_dir / "refs").is_dir():
        hint = f"Run: mkdir {_quoted(common_dir / 'refs')}. If branches are then missing, {_OTHER_COPY}."
        yield git_dir, "it has no folder refs", hint


def _damaged(git_dir: Path, problem: str, hint: str) -> VaultUnavailable:
    return VaultUnavailable(f"the vault's repository is damaged: {problem}", path=str(git_dir), hint=hint)


def _is_head(file: Path) -> bool:
    """True if git accepts this HEAD: it names a reference or a commit, or is a link to a reference."""
    if file.is_symlink():
        return os.readlink(file).startswith("refs/")
    text = (_text(file) or "").strip()
    names_reference = text.startswith("ref:") and text.removeprefix("ref:").strip().startswith("refs/")
    return names_reference or bool(_COMMIT_ID.match(text))


def _hint_for_head(git_dir: Path) -> str:
    """The command that makes HEAD name the branch that was checked out, as far as the logs tell."""
    common_dir = git_dir / (_text(git_dir / "commondir") or "").strip()
    branches = sorted(_branches(common_dir), key=lambda name: _modified(common_dir / "logs" / name))
    branch = branches[-1] if branches else f"{_BRANCHES}main"
    line = shlex.quote(f"ref: {branch}")
    other = " if another branch was checked out, name that one." if len(branches) > 1 else ""
    return f"Run: printf '%s\\n' {line} > {_quoted(git_dir / 'HEAD')}{';' if other else '.'}{other}"


def _branches(common_dir: Path) -> set[str]:
    folder = common_dir / "refs" / "heads"
    loose = {file.relative_to(common_dir).as_posix() for file in folder.rglob("*") if file.is_file()}
    packed = {line.partition(" ")[2] for line in (_text(common_dir / "packed-refs") or "").splitlines()}
    return {name for name in loose | packed if is_branch_name(name)}


def _is_packed(common_dir: Path, name: str) -> bool:
    return any(line.endswith(f" {name}") for line in (_text(common_dir / "packed-refs") or "").splitlines())


def _last_logged(log: Path) -> str | None:
    """The commit that the last line of a reference's log names as the new one; None without a log."""
    lines = (_text(log) or "").splitlines()
    new = lines[-1].split(" ")[1:2] if lines else []
    return new[0] if new and _COMMIT_ID.fullmatch(new[0]) else None


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _text(file: Path) -> str | None:
    with suppress(OSError):
        content = read_regular(file)
        return None if content is None else content.decode(errors="surrogateescape")
    return None


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
