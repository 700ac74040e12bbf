"""Commits: objects, the branch and the index are written here, under git's own lock files, without a git process.

A draft is what a commit needs on the disk before anyone sees it: objects, the new index and the branch's new value.
Publishing a draft takes the locks of HEAD, the branch and the index, checks that nothing has moved since the draft was
made, and renames two files. The lock of the index is held for that moment only: a person's git command that meets it
fails. Each lock is a link to a file of ours in `.git/commonplace`: by that, one that a killed process left is known
to be ours whatever the clock says (`remove_own_locks`). In the index exactly our paths are set, whatever is staged.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from commonplace.errors import Conflict, VaultUnavailable
from commonplace.vault.git.collisions import REFLOG_MESSAGE
from commonplace.vault.git.history import trailer_lines
from commonplace.vault.git.index_file import IndexFile, ParsedIndex
from commonplace.vault.git.location import FILE_MODES, RepositoryLocation
from commonplace.vault.git.objects import (
    NewObject,
    ObjectFolder,
    ObjectReader,
    ParallelWriter,
    TreeEditor,
    TreeEntry,
    WrittenObjects,
    new_object,
)
from commonplace.vault.git.own_files import (
    HEAD_MARK,
    NO_HARD_LINKS,
    WORK_FOLDER,
    append_to_log,
    open_below,
    unlock_reference,
)
from commonplace.vault.git.run import Git
from commonplace.vault.git.state import BranchTip, branch_tip, collects_garbage, refuse_if_busy
from commonplace.vault.syscalls import change_stamp, flush, translate_os_errors

BRANCH_WAIT_S = 5.0
"""How long another program may keep moving or locking the branch."""

INDEX_WAIT_S = 5.0
"""How long another program may hold the lock of the index."""

StillPublished = Callable[[], bool]
"""True if the files that are being committed are still on the disk; asked while git's locks are held."""

_PAUSE_S: Final = 0.02
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class Author:
    """The author of our commits, whatever is configured."""

    name: str
    email: str

    def line(self, now: float) -> bytes:
        """The author line of a commit, with the time and the zone of this machine."""
        zone = time.strftime("%z", time.localtime(now))
        return f"{_without_brackets(self.name)} <{_without_brackets(self.email)}> {int(now)} {zone}".encode()


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit to be made: the bytes of each path, None for a path that is removed.

    `modes` are those of files that are not on the disk yet; without one, a file has the mode that is found there.
    """

    message: str
    trailers: tuple[tuple[str, str], ...]
    files: Mapping[str, bytes | None]
    modes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileToCommit:
    """A file to be committed: its blob, which `new` is unless git has it already, with its mode if HEAD has none."""

    entry: TreeEntry
    new: NewObject | None


@dataclass(frozen=True, slots=True)
class PreparedCommit:
    """A commit in the repository's own terms: paths relative to the root of the working tree."""

    message: bytes
    files: Mapping[str, FileToCommit | None]


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """Commits to be made in order, all or none, and what must hold for them.

    `allowed` are the blobs that the branch may have at each path, whoever moved it meanwhile: with another one, making
    the commits would undo someone's change. `stages` is False to leave the index as it is. A rehearsal ends when the
    branch would move, and its objects are removed: there must be none of them yet.
    """

    commits: Sequence[PreparedCommit]
    author: Author
    allowed: Mapping[str, frozenset[str | None]]
    stages: bool = True
    is_rehearsal: bool = False


@dataclass(frozen=True, slots=True)
class Workplace:
    """What making commits needs of a repository; `owner` names our files in `.git/commonplace`, one for each vault."""

    git: Git
    location: RepositoryLocation
    objects: ObjectReader
    index: IndexFile
    owner: str

    @property
    def folder(self) -> Path:
        """The folder of our own files in this working tree's git directory."""
        return self.location.git_dir / WORK_FOLDER

    def make_folder(self) -> None:
        """Create that folder if it is missing. Raises VaultUnavailable, also for a link that leads elsewhere."""
        with (
            translate_os_errors(str(self.folder), doing="create"),
            open_below(self.location.git_dir, WORK_FOLDER, makes=True),
        ):
            return

    @property
    def object_folder(self) -> ObjectFolder:
        """Where new objects are written."""
        objects = self.location.common_dir / "objects"
        return ObjectFolder(objects, self.folder / f"{self.owner}-object-", self.location.object_format, self.owner)


def message_of(commit: NewCommit) -> bytes:
    """The message with its trailers, each on one line, in a paragraph of their own at the end."""
    trailers = trailer_lines(commit.trailers)
    text = commit.message.replace("\0", "").strip() or "commonplace"
    return f"{text}\n\n{trailers}".strip().encode(errors="replace") + b"\n"


def commit_all(
    place: Workplace, request: CommitRequest, *, draft: "Draft | None" = None, published: StillPublished | None = None
) -> tuple[str, ...]:
    """Make the commits on top of the branch and return their ids; () when `published` says no, and none is made.

    A draft that was made before is used if nothing has moved since. Raises VaultUnavailable, and Conflict when someone
    committed another version of a path meanwhile; then none is made either.
    """
    started = time.monotonic()
    while True:
        with draft or Draft(place, request) as current:
            outcome = current.publish(published)
        draft = None
        if not isinstance(outcome, _Obstacle):
            return outcome
        if time.monotonic() - started > outcome.patience:
            raise outcome.error
        if outcome.is_lock:
            time.sleep(_PAUSE_S)


def stage(place: Workplace, entries: Mapping[str, TreeEntry | None]) -> None:
    """Set index entries, or remove those that are None. Raises VaultUnavailable(repository_busy) if it stays locked."""
    started = time.monotonic()
    lock = place.location.git_dir / "index.lock"
    while True:
        with _WorkFiles(place) as files, translate_os_errors(str(place.location.git_dir), doing="write the index in"):
            index = _NewIndex(place, files.index, entries)
            index.write()
            with _held({lock: files.index}) as busy:
                if busy is None and not index.has_moved:
                    index.put_in_place(lock)
                    return
        if time.monotonic() - started > INDEX_WAIT_S:
            raise _index_held(lock)
        time.sleep(_PAUSE_S)


class Draft:
    """Commits that are on the disk and in no branch yet. Publish it inside its block, once."""

    def __init__(self, place: Workplace, request: CommitRequest) -> None:
        """Start writing objects, index and branch in threads. Raises VaultUnavailable and Conflict."""
        self._place = place
        self._request = request
        self._tip = branch_tip(place.git, place.location)
        self._files = _WorkFiles(place)
        self._writer = ParallelWriter()
        self._written = WrittenObjects((), None)
        try:
            self.ids, entries, objects = _build(place, request, self._tip)
            self._written = place.object_folder.write(objects, writer=self._writer)
            self._index = _NewIndex(place, self._files.index, entries)
            head_text = f"{HEAD_MARK}{self._tip.branch}\n".encode(errors="surrogateescape")
            self._writer.run(partial(_write_work_file, self._files.head, head_text))
            self._writer.run(partial(_write_work_file, self._files.branch, f"{self.ids[-1]}\n".encode()))
            if request.stages:
                self._writer.run(self._index.write)
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def publish(self, published: StillPublished | None) -> "tuple[str, ...] | _Obstacle":
        """Move the branch and the index; returns the ids of the commits, or what was in the way.

        () when `published` says no. Raises VaultUnavailable while a merge or the like is in progress.
        """
        self._writer.wait()
        location = self._place.location
        with translate_os_errors(str(location.git_dir), doing="move the branch in"), _held(self._references()) as busy:
            if busy:
                return _branch_held(busy, self._tip.branch)
            if branch_tip(self._place.git, location) != self._tip:
                return _Obstacle(_kept_moving(self._tip.branch), BRANCH_WAIT_S, is_lock=False)
            index_lock = location.git_dir / "index.lock"
            # the last one: git waits for the locks of references, but gives up at once on that of the index
            with _held({index_lock: self._files.index} if self._request.stages else {}) as busy:
                if busy:
                    return _Obstacle(_index_held(busy), INDEX_WAIT_S, is_lock=True)
                if self._request.stages and self._index.has_moved:
                    return _Obstacle(_kept_moving(self._tip.branch), BRANCH_WAIT_S, is_lock=False)
                refuse_if_busy(self._place.git, location)
                if self._place.object_folder.missing(self._written):
                    return _Obstacle(_kept_pruning(), BRANCH_WAIT_S, is_lock=False)
                if published and not published():
                    return ()
                if self._request.is_rehearsal:
                    self._rehearse_move()
                    return ()
                self._move_branch()
                if self._request.stages:
                    self._index.put_in_place(index_lock)
            self._write_logs()
        self._write_missing()
        return self.ids

    def _write_missing(self) -> None:
        """Write objects again that `git prune` has removed meanwhile, or may remove: it has looked before the move."""
        folder = self._place.object_folder
        if self._written.pack is None and collects_garbage(self._place.location):
            objects = list(self._written.objects)
        else:
            objects = folder.missing(self._written)
        if objects:
            writer = ParallelWriter()
            try:
                again = folder.write(objects, writer=writer, in_pack=True)
                writer.wait()
            finally:
                writer.close()
            folder.release(again)

    def _references(self) -> dict[Path, Path]:
        """The locks of HEAD and the branch, each with our file; none where only git can move the branch."""
        if not self._tip.is_plain:
            return {}
        location = self._place.location
        return {
            location.git_dir / "HEAD.lock": self._files.head,
            location.common_dir / f"{self._tip.branch}.lock": self._files.branch,
        }

    def _move_branch(self) -> None:
        if self._tip.is_plain:
            unlock_reference(self._place.location.common_dir, self._tip.branch)
        else:
            new = self.ids[-1]
            old = self._tip.commit or "0" * len(new)
            self._place.git.run("update-ref", "-m", REFLOG_MESSAGE, self._tip.branch, new, old)

    def _rehearse_move(self) -> None:
        """Let git lock a branch that only git can move; the locks of any other are ours by now."""
        if not self._tip.is_plain:
            update = f"start\nupdate {self._tip.branch} {self.ids[-1]} {self._tip.commit or ''}\nprepare\nabort\n"
            self._place.git.run("update-ref", "--stdin", stdin=os.fsencode(update))

    def _write_logs(self) -> None:
        """Write down the move as git does, unless git was told to keep no logs, or did it. HEAD is still locked."""
        location, new = self._place.location, self.ids[-1]
        if not self._tip.is_plain or not self._keeps_logs:
            return
        ids = f"{self._tip.commit or '0' * len(new)} {new} ".encode()
        line = ids + self._request.author.line(time.time()) + f"\t{REFLOG_MESSAGE}\n".encode()
        append_to_log(location.git_dir, "logs/HEAD", line)
        append_to_log(location.common_dir, f"logs/{self._tip.branch}", line)

    @property
    def _keeps_logs(self) -> bool:
        """True if there is a log, or git would begin one."""
        if (self._place.location.git_dir / "logs/HEAD").is_file():
            return True
        setting = self._place.git.try_run("config", "--type=bool", "--get", "core.logAllRefUpdates").stdout
        return setting.strip() != b"false"

    def _close(self) -> None:
        self._writer.close()
        self._files.close()
        self._place.object_folder.release(self._written)
        if self._request.is_rehearsal:
            self._place.object_folder.remove(self._written.objects)


# What a draft is made of


def _build(
    place: Workplace, request: CommitRequest, tip: BranchTip
) -> tuple[tuple[str, ...], dict[str, TreeEntry | None], list[NewObject]]:
    """The ids of the commits, the index entries after them, and the objects to be written."""
    ids: list[str] = []
    parent, now = tip.commit, time.time()
    entries: dict[str, TreeEntry | None] = {}
    with place.objects.batch() as batch:
        editor = TreeEditor(place.objects, batch, place.location.object_format)
        tree = place.objects.tree_of(parent, batch) if parent else None
        for commit in request.commits:
            files = {path: file.entry if file else None for path, file in commit.files.items()}
            tree = editor.edit(tree, files)
            if not ids:
                _refuse_other_versions(request.allowed, editor.before)
            new = _commit_object(tree, parent, request.author.line(now), commit.message, place.location.object_format)
            editor.objects += [file.new for file in commit.files.values() if file and file.new]
            editor.objects.append(new)
            entries |= {path: place.objects.find(tree, path, batch) for path in files}
            parent = new.id
            ids.append(new.id)
    return tuple(ids), {path: _blob_only(entry) for path, entry in entries.items()}, editor.objects


def _blob_only(entry: TreeEntry | None) -> TreeEntry | None:
    return entry if entry and entry.is_blob else None


def _refuse_other_versions(
    allowed: Mapping[str, frozenset[str | None]], before: Mapping[str, TreeEntry | None]
) -> None:
    for path, entry in before.items():
        blob = entry.id if entry and entry.is_blob else None
        if path in allowed and blob not in allowed[path]:
            raise Conflict(
                f"another program committed another version of {path} at the same moment",
                path=path,
                hint="Read it again and repeat the change on its current content.",
            )


def _commit_object(tree: str, parent: str | None, who: bytes, message: bytes, object_format: str) -> NewObject:
    parents = f"parent {parent}\n" if parent else ""
    body = f"tree {tree}\n{parents}".encode() + b"author %s\ncommitter %s\n\n%s" % (who, who, message)
    return new_object("commit", body, object_format)


class _NewIndex:
    """The index with other entries, written aside; it has the time of the one before.

    By that time git knows of which files it must compare the content, because they may have changed since.
    """

    def __init__(self, place: Workplace, file: Path, entries: Mapping[str, TreeEntry | None]) -> None:
        self._place = place
        self._file = file
        self._entries = entries
        self._named = {os.fsencode(path): entry for path, entry in entries.items()}
        self._before = place.index.read()
        self._parsed: ParsedIndex | None = None

    @property
    def has_moved(self) -> bool:
        """True if another program has changed the index since."""
        return self._before.stamp != change_stamp(self._place.index.file)

    def write(self) -> None:
        """Write and fsync it. Raises OSError, VaultUnavailable."""
        before, entries = self._before, {name: self._with_staged_mode(name, each) for name, each in self._named.items()}
        self._parsed = before.parsed.with_entries(entries) if before.parsed else None
        if self._parsed:
            _write_work_file(self._file, self._parsed.data)
        else:
            _write_index_by_git(self._place, before.data, self._entries, to=self._file)
        if before.mode is not None:
            os.chmod(self._file, before.mode)
            os.utime(self._file, ns=(before.modified_ns, before.modified_ns))

    def _with_staged_mode(self, name: bytes, entry: TreeEntry | None) -> TreeEntry | None:
        """The entry with the mode that is staged: a person can have made the file executable and not committed that."""
        staged = self._before.parsed.staged(name) if self._before.parsed else None
        keeps = entry and staged and {entry.mode, staged.mode} <= set(FILE_MODES)
        return TreeEntry(staged.mode, entry.id) if entry and staged and keeps else entry

    def put_in_place(self, lock: Path) -> None:
        """Rename the lock, which is this file, to the index."""
        inode = lock.stat().st_ino
        os.rename(lock, self._place.index.file)
        if self._parsed:
            with suppress(OSError):
                self._file.unlink()  # this changes the stamp of the index; before the rename, the lock must be ours
                self._place.index.adopt(self._parsed, inode)


def _write_index_by_git(place: Workplace, data: bytes, entries: Mapping[str, TreeEntry | None], *, to: Path) -> None:
    """Write an index of a kind that only git writes: git changes a copy of it."""
    if data:
        _write_work_file(to, data)
    zeros = "0" * (64 if place.location.object_format == "sha256" else 40)
    lines = [
        os.fsencode(f"{f'{entry.mode} {entry.id}' if entry else f'0 {zeros}'}\t{path}") + b"\0"
        for path, entry in entries.items()
    ]
    place.git.with_index(to).run("update-index", "-z", "--index-info", stdin=b"".join(lines))


# Files and locks


class _WorkFiles:
    """The files of one draft in `.git/commonplace`, which become locks and then the branch and the index."""

    def __init__(self, place: Workplace) -> None:
        place.make_folder()
        stem = place.folder / f"{place.owner}-{os.urandom(6).hex()}"
        self.head, self.branch, self.index = (stem.with_suffix(each) for each in (".head", ".branch", ".index"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the files; what became the branch or the index keeps its other name."""
        for file in (self.branch, self.index, self.head):
            with suppress(OSError):
                file.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """Why a draft was not published: the error if that stays so, and for how long to try."""

    error: VaultUnavailable
    patience: float
    is_lock: bool


@contextmanager
def _held(locks: Mapping[Path, Path]) -> Iterator[Path | None]:
    """Take these locks, each made from a file of ours, and give back those that still exist when the block ends.

    Yields the first lock that another program holds, and then none is held; None when all are.
    """
    held: list[tuple[Path, os.stat_result]] = []
    try:
        busy = None
        for lock, file in locks.items():
            with translate_os_errors(str(lock), doing="create"):
                if not _take(lock, file, held):
                    busy = lock
                    break
        if busy:
            _release(held)
        yield busy
    finally:
        _release(held)


def _take(lock: Path, file: Path, held: list[tuple[Path, os.stat_result]]) -> bool:
    try:
        _link(file, lock)
    except FileExistsError:
        return False
    except FileNotFoundError:  # a branch that is packed may have no folder
        lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            _link(file, lock)
        except FileExistsError:
            return False
    held.append((lock, os.lstat(lock)))
    return True


def _link(file: Path, lock: Path) -> None:
    try:
        os.link(file, lock)
    except OSError as error:
        if error.errno not in NO_HARD_LINKS:
            raise
        _write_work_file(lock, file.read_bytes())
        shutil.copystat(file, lock)  # by the time of the index, git knows which files to compare


def _release(held: list[tuple[Path, os.stat_result]]) -> None:
    """Remove the locks that were not renamed. One of the same name may be another program's by now."""
    while held:
        lock, ours = held.pop()
        with suppress(FileNotFoundError):
            if os.path.samestat(ours, os.lstat(lock)):
                lock.unlink()


def _write_work_file(file: Path, content: bytes) -> None:
    """Write a new file and fsync it."""
    with open(os.open(file, _NEW_FILE, 0o666), "wb") as opened:
        opened.write(content)
        opened.flush()
        flush(opened.fileno())


def _branch_held(lock: Path, branch: str) -> _Obstacle:
    error = VaultUnavailable(
        f"another program has locked {branch} for {BRANCH_WAIT_S:g} seconds: {lock}",
        path=str(lock),
        reason="repository_busy",
        hint="Let it finish and try again. Only if no git process runs, remove this file.",
    )
    return _Obstacle(error, BRANCH_WAIT_S, is_lock=True)


def _kept_moving(branch: str) -> VaultUnavailable:
    return VaultUnavailable(
        f"another program kept changing {branch} or the index for {BRANCH_WAIT_S:g} seconds",
        reason="repository_busy",
        hint="Let it finish and try again.",
    )


def _kept_pruning() -> VaultUnavailable:
    return VaultUnavailable(
        f"a git command kept removing new objects from the vault's repository for {BRANCH_WAIT_S:g} seconds",
        reason="repository_busy",
        hint="Let 'git gc', 'git prune' or 'git repack' finish and try again.",
    )


def _index_held(lock: Path) -> VaultUnavailable:
    return VaultUnavailable(
        f"another program has held the index of the vault's repository for {INDEX_WAIT_S:g} seconds",
        path=str(lock),
        reason="repository_busy",
        hint="Let it finish and try again. Only if no git process runs, remove this file.",
    )


def _without_brackets(text: str) -> str:
    return "".join(char for char in text if char.isprintable() and char not in "<>").strip() or "Commonplace"
