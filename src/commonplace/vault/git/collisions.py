"""Collisions: the traces that a person's git command leaves when one of our commits met it halfway.

`git reset --hard`, which `git stash` runs, looks up HEAD, takes its locks, and sets the branch to what it looked up. A
commit of ours in between is dropped. The trace is a log entry "reset: moving to HEAD" that moves the branch: no person
asks for that.

`git merge` looks up HEAD, notes it in ORIG_HEAD, and reads the index. If our commit comes before the index is read, the
merge refuses to go on and sets index and files back to the commit that it looked up: our files and the person's edits
are off the disk. It has put the edits into a stash commit that nothing names and applies that one, but does not care
if this fails, as it does beside a lock of the index. If our commit comes later, the merge cannot move the branch and
stays in progress, with an index that does not know our files: the commit that concludes it removes them. The trace of
the first is ORIG_HEAD, which names the commit below ours although no command has moved the branch back; that of the
second is a concluding commit that undoes exactly our last ones, while the disk has them.
"""

import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable
from commonplace.vault.git.location import FILE_MODES, RepositoryLocation
from commonplace.vault.git.objects import ObjectReader, TreeEditor, TreeEntry
from commonplace.vault.git.run import Git, version
from commonplace.vault.syscalls import change_stamp, read_regular

REFLOG_MESSAGE: Final = "commit (commonplace)"
"""What our commits are called in git's logs."""

LONGEST_MERGE_S: Final = 60.0
"""How long a merge may take from its start to its end."""

_LOG_TAIL_BYTES: Final = 16_384  # about a hundred entries
_ENTRY: Final = re.compile(rb"^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t\n]*> (\d{1,12}) [+-]\d{4}\t(.*)$", re.MULTILINE)
_COMMIT_ID: Final = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
_RESET: Final = b"reset: moving to HEAD"
_OURS: Final = REFLOG_MESSAGE.encode()
_CONCLUDES: Final = b"commit (merge): "
# the entries of commands that only add commits to the branch
_FORWARD: Final = re.compile(rb"commit(?: \((?:commonplace|merge|cherry-pick)\))?(?:: .*)?|(?:cherry-pick|revert): .*")
_MERGED: Final = re.compile(rb".*: (?:Fast-forward|Merge made by .*)")
_FIRST_GIT_WITH_TREE: Final = (2, 39)  # the oldest that was seen to leave the tree of an applied stash


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One move of the branch: the commits before and after it, its time in seconds, and what git calls it."""

    old: str
    new: str
    when: int
    message: bytes

    @property
    def is_ours(self) -> bool:
        """True for a commit of ours."""
        return self.message == _OURS

    @property
    def is_collision(self) -> bool:
        """True for a reset to HEAD that moved the branch."""
        return self.message == _RESET and self.old != self.new

    @property
    def is_forward(self) -> bool:
        """True if the branch has kept the commits that it had."""
        return self.old == self.new or bool(_FORWARD.fullmatch(self.message) or _MERGED.fullmatch(self.message))


@dataclass(frozen=True, slots=True)
class MergeCollision:
    """A merge that began on the commit `base` and met a commit of ours on top of it; `written` is when it began."""

    base: str
    written: float

    @property
    def key(self) -> str:
        """What tells this merge from another on the same commit."""
        return f"{self.base} {self.written}"


@dataclass(frozen=True, slots=True)
class ConcludedMerge:
    """A merge that stayed in progress and was concluded by `commit`: `tip` is the one below it.

    After `base` there are commits of ours that were made in the time that a merge takes.
    """

    base: str
    tip: str
    commit: str


@dataclass(frozen=True, slots=True)
class LostEdits:
    """A stash commit that a merge made and did not apply: the blobs of the edited files, by path from the top."""

    commit: str
    blobs: Mapping[str, str]


def read_log(location: RepositoryLocation, branch: str) -> list[LogEntry]:
    """The newest moves of the branch, oldest first; none if there can be no trace, or where git keeps no log file."""
    tail = _read_tail(location.common_dir / "logs" / branch)
    base = _read_tail(location.git_dir / "ORIG_HEAD").strip()
    signs = (b"\t" + _RESET, b"\t" + _CONCLUDES, b"\n" + base + b" ")
    return _parse(tail) if any(sign in tail for sign in signs) else []


def _read_tail(file: Path) -> bytes:
    try:
        return read_regular(file, last=_LOG_TAIL_BYTES) or b""
    except OSError:
        return b""


def _parse(tail: bytes) -> list[LogEntry]:
    return [
        LogEntry(old.decode(), new.decode(), int(when), message) for old, new, when, message in _ENTRY.findall(tail)
    ]


def dropping_resets(log: Sequence[LogEntry]) -> list[LogEntry]:
    """The resets that dropped commits by accident; none from before a person moved the branch back themselves."""
    found: list[LogEntry] = []
    for entry in log:
        if entry.is_collision:
            found.append(entry)
        elif not entry.is_forward:
            found = []
    return found


def merge_collision(location: RepositoryLocation, log: Sequence[LogEntry]) -> MergeCollision | None:
    """The newest merge, if it met a commit of ours and the branch has not been moved back since."""
    file = location.git_dir / "ORIG_HEAD"
    base, stamp = _read_tail(file).strip(), change_stamp(file)
    if not stamp or not _COMMIT_ID.fullmatch(base):
        return None
    written = stamp[3] / 1e9
    first = next((at for at in reversed(range(len(log))) if log[at].old == base.decode() and log[at].is_ours), None)
    if first is None or not all(entry.is_forward for entry in log[first:]):
        return None
    meanwhile = [entry for entry in log[first:] if entry.when <= written + 1]
    if not all(entry.is_ours for entry in meanwhile):
        return None
    if abs(written - log[first].when) > LONGEST_MERGE_S or _was_reset(location, base.decode(), written):
        return None
    return MergeCollision(base.decode(), written)


def concluded_merges(log: Sequence[LogEntry]) -> list[ConcludedMerge]:
    """The merges that were concluded soon after commits of ours; none from before the branch was moved back."""
    found: list[ConcludedMerge] = []
    ours: list[LogEntry] = []
    for entry in log:
        if entry.is_ours:
            ours.append(entry)
        elif entry.message.startswith(_CONCLUDES):
            ours = [each for each in ours if entry.when - each.when <= LONGEST_MERGE_S]
            found += [ConcludedMerge(ours[0].old, entry.old, entry.new)] if ours else []
        elif not entry.is_forward:
            found, ours = found if entry.is_collision else [], []
    return found


def _was_reset(location: RepositoryLocation, commit: str, when: float) -> bool:
    """True if a reset, and not a merge, has written ORIG_HEAD: the log of HEAD has one from the commit to itself."""
    stays = (each for each in _parse(_read_tail(location.git_dir / "logs/HEAD")) if each.old == each.new == commit)
    return any(each.message == _RESET and abs(each.when - when) < 2 for each in stays)


def lost_edits(
    git: Git, location: RepositoryLocation, objects: ObjectReader, *, collision: MergeCollision, bases: Sequence[str]
) -> LostEdits | None:
    """The edits that the merge put aside and did not apply; None if there are none.

    `bases` are our commits that it met: a stash of the person is of the commit that ORIG_HEAD names. An applied stash
    has left the tree of its result among the objects.
    """
    if version() < _FIRST_GIT_WITH_TREE:
        return None
    for commit, body in _new_commits(location, collision.written):
        fields = body.partition(b"\n\n")[0].split(b"\n")
        base = fields[1].removeprefix(b"parent ").decode() if len(fields) > 1 else ""
        if b"\n\nWIP on " not in body or base not in bases or _is_stashed(location, commit):
            continue
        with objects.batch() as batch:
            edits = _difference(git, base, commit)
            editor = TreeEditor(objects, batch, location.object_format)
            applied = editor.edit(objects.tree_of(collision.base, batch), edits)
        if not git.try_run("cat-file", "-e", applied).ok:
            return LostEdits(commit, {path: entry.id for path, entry in edits.items() if entry})
    return None


def _new_commits(location: RepositoryLocation, since: float) -> Iterator[tuple[str, bytes]]:
    """The commits that became loose objects since then, within the time that a merge takes."""
    for folder in (location.common_dir / "objects").glob("[0-9a-f][0-9a-f]"):
        for file in _files_from(folder, since - 1, since + LONGEST_MERGE_S):
            with suppress(OSError, zlib.error):
                stored = zlib.decompress(read_regular(file) or b"")
                header, _, body = stored.partition(b"\0")
                if header.startswith(b"commit "):
                    yield folder.name + file.name, body


def _files_from(folder: Path, first: float, last: float) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(each.path) for each in entries if first <= each.stat(follow_symlinks=False).st_mtime <= last]
    except OSError:
        return []


def _is_stashed(location: RepositoryLocation, commit: str) -> bool:
    """True if the commit is in the person's list of stashes."""
    try:
        return commit.encode() in (read_regular(location.common_dir / "logs/refs/stash") or b"")
    except OSError:  # nobody can tell: then it counts as the person's
        return True


def _difference(git: Git, old: str, new: str) -> dict[str, TreeEntry | None]:
    """The files that differ between two commits, as the second has them; None for one that it does not have."""
    listed = git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", "--end-of-options", old, new).fields
    files: dict[str, TreeEntry | None] = {}
    for raw, path in zip(listed[::2], listed[1::2], strict=True):
        _, mode, _, blob, _ = raw.removeprefix(":").split(" ")
        if mode not in (*FILE_MODES, "000000"):
            raise VaultUnavailable(f"{path} is no file in the commit {new}", path=path)
        files[path] = TreeEntry(mode, blob) if mode in FILE_MODES else None
    return files
