"""The vault as it stood: which commit a moment had, and which files that commit holds.

What counts is the branch's own line, the first parent of each commit: what was merged in was not here before its merge.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from commonplace.errors import Refused, UsageError
from commonplace.model import Problem, Stat
from commonplace.vault.base import Listing, Skip
from commonplace.vault.git.committing import MODES
from commonplace.vault.git.program import Answer, Call, Git, failed
from commonplace.vault.paths import is_git, is_temporary, normal, printable
from commonplace.vault.skipping import skipping

_LINK: Final = "120000"
_NOTHING_YET: Final = ("unknown revision", "bad revision", "ambiguous argument")


def commit_at(git: Git, when: datetime) -> str | None:
    """The newest commit whose committer's time is not later. Raises UsageError for a time without a zone."""
    if when.tzinfo is None:
        raise UsageError(f"the time {when.isoformat()} has no zone", hint="Give it one, such as datetime.now(UTC).")
    seconds = int(when.timestamp() // 1)
    if seconds < 0:
        return None  # git counts from 1970
    return _on_the_line(git, "--max-count=1", f"--min-age={seconds}") or None


def begins(git: Git) -> datetime | None:
    """When the oldest commit of the line was made; of a shallow clone, the oldest that it has."""
    line = _on_the_line(git, "--max-parents=0", "--timestamp")
    return datetime.fromtimestamp(int(line.split(" ")[0]), UTC) if line else None


def list_at(git: Git, commit: str, *, skip: Skip | None) -> Listing:
    """The files below the vault's folder in that commit, with its time, in order of their paths.

    Sizes are those of what git keeps: line endings may differ in the working tree.
    Raises VaultUnavailable when there is no such commit.
    """
    when, tree = git.tell_all(
        Call(("rev-list", "--max-count=1", "--timestamp", "--end-of-options", f"{commit}^0", "--")),
        Call(("ls-tree", "-r", "-z", "--long", "--end-of-options", f"{commit}^0")),
    )
    made = float(when.out.split(b" ", 1)[0])
    is_skipped = skipping(skip)
    files, passed_over = list[Stat](), list[Problem]()
    for mode, size, path in _entries(tree):
        if any(is_git(name) or is_temporary(name) for name in path.split("/")) or is_skipped(printable(path)):
            continue
        problem = _problem(path, mode)
        if problem:
            passed_over.append(problem)
        else:
            files.append(Stat(path, made, int(size)))
    return Listing(tuple(sorted(files, key=lambda file: file.path)), tuple(sorted(passed_over)))


def _on_the_line(git: Git, *choice: str) -> str:
    """The last line that `rev-list` says of the branch's own line; "" when it has no commit like that."""
    answer = git.ask("rev-list", "--first-parent", *choice, "HEAD", "--")
    if not answer.ok:
        if any(sign in answer.err for sign in _NOTHING_YET):
            return ""  # no commit yet
        raise failed("rev-list", answer.err)
    return os.fsdecode(answer.out).strip().rpartition("\n")[2]


def _entries(tree: Answer) -> Iterator[tuple[str, str, str]]:
    """Mode, size and path of each; of what is no file, the size is a dash."""
    for field in tree.fields:
        about, _, path = field.partition("\t")
        mode, _, _, size = about.split()
        yield mode, size, path


def _problem(path: str, mode: str) -> Problem | None:
    """Why a path is passed over, in the words of a listing of the folder."""
    try:
        normal(path)
    except Refused as refusal:
        return Problem(printable(path), 0, refusal.message, "unusable-name")
    if mode == _LINK:
        return Problem(path, 0, "a symbolic link: links are not followed", "symlink")
    if mode not in MODES:
        return Problem(path, 0, "a repository of its own: its files are not kept here", "submodule")
    return None
