"""Where a vault's repository is: its own, one above it, a linked worktree or a submodule."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.run import Git, GitResult, git_failed

FILE_MODES: Final = ("100644", "100755")
"""The modes git gives a regular file and an executable one."""


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
    """The repository that covers the folder. Raises VaultUnavailable when there is none or it is bare."""
    result = _rev_parse(git)
    if not result.ok:
        raise _not_found(git.folder, result.stderr)
    lines = result.stdout.decode(errors="surrogateescape").split("\n")
    inside, object_format, git_dir, common_dir, prefix = lines[:5]
    if inside != "true":
        raise VaultUnavailable(
            f"the repository at {git_dir} has no working tree that covers {git.folder}",
            hint="Choose a vault in an ordinary clone, not in a bare repository or a .git folder.",
        )
    top = git.folder.parents[prefix.count("/") - 1] if prefix else git.folder
    return RepositoryLocation(top, Path(git_dir), git.folder / common_dir, prefix, object_format)


def covers(git: Git) -> bool:
    """True if the folder must be adopted: it has a repository of its own, or one above it tracks files in it."""
    result = _rev_parse(git)
    if not result.ok and "not a git repository" in result.stderr:
        return False
    prefix = find(git).prefix
    return not prefix or bool(git.run("ls-files", "-z", "--", ".").stdout)


def identity(git: Git) -> str:
    """What stays the same when the folder moves: the oldest commit, and the vault's place in it. Empty without one."""
    if not covers(git):
        return ""
    oldest = git.try_run("rev-list", "--max-parents=0", "HEAD").stdout.decode().split()
    return f"{oldest[-1]}:{find(git).prefix}" if oldest else ""


def _rev_parse(git: Git) -> GitResult:
    return git.try_run(
        "rev-parse",
        "--is-inside-work-tree",
        "--show-object-format",
        "--absolute-git-dir",
        "--git-common-dir",
        "--show-prefix",
    )


def _not_found(folder: Path, stderr: str) -> VaultUnavailable:
    if "not a git repository" in stderr:
        return VaultUnavailable(
            f"no git repository covers {folder}", path=str(folder), hint="Run 'commonplace init' to create one."
        )
    return git_failed("rev-parse", stderr)
