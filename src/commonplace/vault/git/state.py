"""What a repository is in the middle of: a merge or a rebase is the person's, and nothing is committed into it."""

import os
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.place import Place
from commonplace.vault.git.program import Git, failed
from commonplace.vault.trouble import disk_trouble

# file or folder of the git folder -> what it means, and how it ends; the first that is there counts
_UNDER_WAY: Final = (
    ("rebase-apply/applying", "applying mailed patches (am)", "git am --continue' or 'git am --abort"),
    ("rebase-apply", "a rebase", "git rebase --continue' or 'git rebase --abort"),
    ("rebase-merge", "a rebase", "git rebase --continue' or 'git rebase --abort"),
    ("MERGE_HEAD", "a merge", "git merge --continue' or 'git merge --abort"),
    ("CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue' or 'git cherry-pick --abort"),
    ("REVERT_HEAD", "a revert", "git revert --continue' or 'git revert --abort"),
    ("sequencer", "a cherry-pick or revert", "git cherry-pick --continue' or 'git cherry-pick --abort"),
    ("BISECT_LOG", "a bisect", "git bisect reset"),
)
_REFERENCE = "ref: "
_BRANCHES = "refs/heads/"
_KEPT_ELSEWHERE = "refs/heads/.invalid"  # what the HEAD file says when references are in a reftable


def refuse_if_busy(git: Git, place: Place) -> None:
    """Raise VaultUnavailable(repository_busy) during a merge, rebase, bisect..., and with a detached HEAD."""
    for name, what, way_out in _UNDER_WAY:
        if os.path.lexists(place.git_dir / name):
            raise VaultUnavailable(
                f"{what} is under way in the vault's repository",
                reason="repository_busy",
                hint=f"Finish or stop it first: run '{way_out}'. Reading works meanwhile.",
            )
    branch(git, place)


def branch(git: Git, place: Place) -> str:
    """The full name of the branch that is checked out. Raises VaultUnavailable(repository_busy) when none is."""
    name = _head_reference(git, place)
    if not name.startswith(_BRANCHES):
        raise VaultUnavailable(
            "no branch is checked out in the vault's repository (detached HEAD)",
            reason="repository_busy",
            hint="Check a branch out first: run 'git switch <branch>'. Reading works meanwhile.",
        )
    return name


def is_born(git: Git, place: Place, name: str) -> bool:
    """Whether the branch has a commit."""
    if (place.common_dir / name).is_file():
        return True
    return git.ask("rev-parse", "--quiet", "--verify", f"{name}^0").ok


def _head_reference(git: Git, place: Place) -> str:
    """The reference that HEAD stands for, "" when it stands for a commit."""
    with disk_trouble("HEAD", doing="read"):
        head = place.git_dir / "HEAD"
        if head.is_symlink():
            return os.readlink(head)
        text = head.read_text(encoding="utf-8", errors="surrogateescape").strip()
    if not text.startswith(_REFERENCE):
        return ""
    name = text.removeprefix(_REFERENCE).strip()
    return _ask_for_reference(git) if name == _KEPT_ELSEWHERE else name


def _ask_for_reference(git: Git) -> str:
    answer = git.ask("symbolic-ref", "--quiet", "HEAD")
    if answer.code not in (0, 1):
        raise failed("symbolic-ref", answer.err)
    return os.fsdecode(answer.out).strip()
