"""Where the repository of a vault is: its own, one above it, a linked worktree, a submodule."""

from dataclasses import dataclass
from pathlib import Path

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.program import Answer, Git, failed


@dataclass(frozen=True, slots=True)
class Place:
    """One working tree's repository, and the vault's place in it."""

    top: Path  # the root of the working tree
    git_dir: Path  # this working tree's own: HEAD, index, what is under way
    common_dir: Path  # shared by all working trees: objects, branches, configuration
    prefix: str  # the vault's path in the working tree, with a slash at its end; "" for the root
    object_format: str  # sha1 or sha256

    def inside(self, path: str) -> str:
        """The path of a vault's file in the repository."""
        return self.prefix + path


def find(git: Git) -> Place:
    """The repository that covers the folder. Raises VaultUnavailable when there is none, or a bare one."""
    answer = _look(git)
    if not answer.ok:
        raise _not_found(git.folder, answer.err)
    lines = answer.out.decode(errors="surrogateescape").split("\n")
    inside, object_format, git_dir, common_dir, prefix = lines[:5]
    if inside != "true":
        raise VaultUnavailable(
            f"the repository at {git_dir} has no working tree that covers {git.folder}",
            hint="Choose a vault in an ordinary clone, not in a bare repository or a .git folder.",
        )
    top = git.folder.parents[prefix.count("/") - 1] if prefix else git.folder
    return Place(top, Path(git_dir), git.folder / common_dir, prefix, object_format)


def covers(git: Git) -> bool:
    """Whether a repository covers the folder, so that it must be adopted: its own, or one that tracks files in it."""
    answer = _look(git)
    if not answer.ok and "not a git repository" in answer.err:
        return False
    prefix = find(git).prefix
    return not prefix or bool(git.tell("ls-files", "-z", "--", ".").out)


def _look(git: Git) -> Answer:
    return git.ask(
        "rev-parse",
        "--is-inside-work-tree",
        "--show-object-format",
        "--absolute-git-dir",
        "--git-common-dir",
        "--show-prefix",
    )


def _not_found(folder: Path, said: str) -> VaultUnavailable:
    if "not a git repository" in said:
        return VaultUnavailable(
            f"no git repository covers {folder}", path=str(folder), hint="Run 'commonplace init' to make one."
        )
    return failed("rev-parse", said)
