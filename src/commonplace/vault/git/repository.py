"""The git repository of a vault: what is committed, staged and ignored, and our own commits."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Final

from commonplace.vault.base import CommitChange, Listing, Merge, Revision, Skip
from commonplace.vault.git import collisions, history, path_state, state
from commonplace.vault.git.collisions import LogEntry, LostEdits, MergeCollision
from commonplace.vault.git.commit import (
    Author,
    CommitRequest,
    Draft,
    FileToCommit,
    NewCommit,
    PreparedCommit,
    StillPublished,
    Workplace,
    commit_all,
    message_of,
    stage,
)
from commonplace.vault.git.conversion import Attributes, Converter
from commonplace.vault.git.location import FILE_MODES, find
from commonplace.vault.git.objects import TreeEntry, new_object
from commonplace.vault.git.own_files import claim, remove_own_locks, vault_id
from commonplace.vault.git.path_state import PathStates, TrackedBlobs, id_query, read_ids
from commonplace.vault.git.run import Git
from commonplace.vault.syscalls import flush_folder, translate_os_errors

AllowedBlobs = Mapping[str, frozenset[str | None]]
"""The blobs that the branch may have at each path, None for no file."""

_MAINTENANCE_TIMEOUT_S = 600.0
_GRACE_S = 14 * 24 * 3600  # git's default of gc.pruneExpire: an object that no branch has stays for two weeks


_KEPT_LOGS: Final = 4  # answers about the newest commits that are kept


class Repository:
    """The repository that covers a vault's folder. Paths are relative to the vault."""

    def __init__(self, folder: Path, *, author: Author, filters: bool = False) -> None:
        """Open the repository. Raises VaultUnavailable when git is missing or no repository covers the folder."""
        self._git = Git(folder.resolve())
        self._author = author
        self._location = find(self._git)
        self.paths = PathStates(self._git, self._location)
        self._converter = Converter(self._git, self._location, filters)
        owner = f"{self._git.folder.stat().st_ino:x}"  # another vault may be in the same repository
        self._logs: tuple[str, dict[tuple[str | None, bool, int | None], tuple[Revision, ...]]] = ("", {})
        self._workplace = Workplace(self._git, self._location, self.paths.objects, self.paths.index, owner)

    @cached_property
    def id(self) -> str:
        """What tells the vault in this folder from every other: made when it is first asked for, kept in `.git`."""
        return vault_id(self._location.git_dir, self._workplace.owner)

    def claim(self, state: Path) -> None:
        """Note that this state folder is the vault's. Raises VaultUnavailable when another one on this machine is."""
        claim(self._location.git_dir, self._workplace.owner, state)

    def refuse_if_busy(self) -> None:
        """Raise VaultUnavailable(repository_busy) during a merge, rebase, bisect..., and with a detached HEAD."""
        state.refuse_if_busy(self._git, self._location)

    def refuse_unwritable(self, paths: Sequence[str]) -> None:
        """Raise Refused for a path that is ignored, needs an external filter, or is in another repository."""
        path_state.refuse_unwritable(self._git.folder, self.paths, paths, filters=self._converter.filters)

    def head(self) -> str | None:
        """The newest commit of the branch; None when there is none yet."""
        return state.head_commit(self._git, self._location)

    def tracked_blobs(self, paths: Sequence[str]) -> Mapping[str, TrackedBlobs]:
        """The blobs of each path in HEAD and in the index."""
        return self.paths.blobs(paths)

    def blob_id(self, path: str, content: bytes) -> str:
        """The id git gives these bytes at that path, after converting line endings and encoding."""
        return self._converter.blob_id(path, content, self._attributes(path))

    def blob_ids(self, files: Mapping[str, bytes]) -> Mapping[str, str]:
        """The id git gives the bytes of each path."""
        attributes = self.paths.attributes(list(files))
        return {path: self._converter.blob_id(path, content, attributes[path]) for path, content in files.items()}

    def blob(self, blob_id: str, *, path: str) -> bytes:
        """The blob as a checkout would write it to the working tree at that path."""
        return self._converter.checkout(blob_id, path, self._attributes(path))

    def commit(
        self,
        commits: Sequence[NewCommit],
        *,
        allowed: AllowedBlobs | None = None,
        draft: Draft | None = None,
        published: StillPublished | None = None,
        stages: bool = True,
    ) -> tuple[str, ...]:
        """Make the commits, in order, on top of the branch, all or none, and stage their files; returns their ids.

        `allowed` are the blobs that the branch may have at each path: with another one, someone's change would be
        undone, and Conflict is raised. `published` is asked under git's locks; when it says no, () comes back and
        nothing is changed. Raises VaultUnavailable. `stages` is False to leave the index as it is.
        """
        if not commits:
            return ()
        request = self._request(commits, allowed=allowed or {}, stages=stages)
        return commit_all(self._workplace, request, draft=draft, published=published)

    def draft(self, commits: Sequence[NewCommit], *, allowed: AllowedBlobs) -> Draft:
        """Commits whose objects are written while the caller does something else; pass it to `commit` in its block."""
        return Draft(self._workplace, self._request(commits, allowed=allowed, stages=True))

    def rehearse(self, path: str, content: bytes) -> None:
        """Commit a new file, but neither move the branch nor keep anything. Raises VaultUnavailable.

        Git must not have these bytes. All folders of the newest commit are read, too.
        """
        new = new_object("blob", content, self._location.object_format)
        files = {self._location.inside(path): FileToCommit(TreeEntry(FILE_MODES[0], new.id), new)}
        request = CommitRequest([PreparedCommit(b"rehearsal\n", files)], self._author, {}, is_rehearsal=True)
        commit_all(self._workplace, request)
        objects, head = self._workplace.objects, self.head()
        with objects.batch() as batch:
            objects.read_all(objects.tree_of(head, batch) if head else None, batch)

    def stage(self, files: Mapping[str, str | None]) -> None:
        """Set these index entries to these blobs, or remove them. Raises VaultUnavailable(repository_busy)."""
        if not files:
            return
        modes = self.paths.modes([path for path, blob_id in files.items() if blob_id])
        entries: dict[str, TreeEntry | None] = {}
        for path, blob_id in files.items():
            mode = modes.get(path)
            entry = TreeEntry(mode if mode in FILE_MODES else self._new_mode(path), blob_id) if blob_id else None
            entries[self._location.inside(path)] = entry
        stage(self._workplace, entries)

    def remove_own_locks(self) -> tuple[str, ...]:
        """Remove the lock files that a killed process of ours left, and return their names; call it with the lock."""
        return remove_own_locks(self._location, self._workplace.owner)

    def release_packs(self) -> None:
        """Let git repack what killed processes of ours have left; call it with the lock."""
        self._workplace.object_folder.release_all()

    def flush(self) -> None:
        """Wait until the branch and the index are on the disk."""
        with translate_os_errors(str(self._location.git_dir), doing="write"):
            branch = state.branch(self._git, self._location)
            for folder in {(self._location.common_dir / branch).parent, self._location.git_dir}:
                if folder.is_dir():
                    flush_folder(folder)

    def contains(self, commit: str) -> bool:
        """True if the commit is in the history of the branch."""
        return commit == self.head() or self._git.try_run("merge-base", "--is-ancestor", commit, "HEAD").ok

    def is_on_another_branch(self, commit: str) -> bool:
        """True if a branch that is not checked out has the commit in its history."""
        return bool(self._git.try_run("for-each-ref", f"--contains={commit}", "--count=1", "refs/heads").stdout)

    def log(self) -> list[LogEntry]:
        """The newest moves of the branch, oldest first, from git's own log."""
        return collisions.read_log(self._location, state.branch(self._git, self._location))

    def merge_collision(self, log: Sequence[LogEntry]) -> MergeCollision | None:
        """The newest merge, if it met a commit of ours and the branch has not been moved back since."""
        return collisions.merge_collision(self._location, log)

    def lost_edits(self, collision: MergeCollision, *, bases: Sequence[str]) -> LostEdits | None:
        """The edits that the merge put aside and did not apply; `bases` are the commits of ours that it met."""
        return collisions.lost_edits(self._git, self._location, self.paths.objects, collision=collision, bases=bases)

    def is_above(self, commit: str, base: str) -> bool:
        """True if both commits exist and the first has the second in its history."""
        return self._git.try_run("merge-base", "--is-ancestor", base, commit).ok

    def find_mutation(self, mutation: str) -> str | None:
        """The commit whose trailer has that id, if it is among the newest of the branch."""
        return history.find_mutation(self._git, mutation)

    def revisions(self, path: str | None, *, ours: bool, limit: int | None) -> tuple[Revision, ...]:
        """The commits that touched the path, or the vault; newest first; `ours` leaves out other programs'.

        What a branch holds follows from its newest commit, so the last few answers are kept as long as that stays.
        """
        head = self.head() if limit else None
        if head is None:
            return history.revisions(self._git, path, ours=ours, limit=limit)
        if head != self._logs[0]:
            self._logs = (head, {})
        _, answers = self._logs
        key = (path, ours, limit)
        if key not in answers:
            found = history.revisions(self._git, path, ours=ours, limit=limit)
            if len(answers) >= _KEPT_LOGS:
                answers.clear()
            answers[key] = found
        return answers[key]

    def content_at(self, path: str, commit: str) -> bytes | None:
        """The file's bytes in that commit; None when it was not there."""
        (result,) = self._git.run_all(id_query([f"{commit}:{self._location.inside(path)}"]))
        (blob_id,) = read_ids(result)
        return None if blob_id is None else self.blob(blob_id, path=path)

    def contents_at(self, files: Sequence[tuple[str, str]]) -> list[bytes | None]:
        """The bytes of many files, each a path and a commit; None where the file was not there."""
        if not files:
            return []
        (result,) = self._git.run_all(id_query(f"{commit}:{self._location.inside(path)}" for path, commit in files))
        ids = read_ids(result)
        present = [(blob_id, path) for blob_id, (path, _) in zip(ids, files, strict=True) if blob_id]
        attributes = self.paths.attributes(list({path: None for _, path in present})) if present else {}
        contents = iter(self._converter.checkout_all(present, attributes))
        return [next(contents) if blob_id else None for blob_id in ids]

    def commit_at(self, when: datetime) -> str | None:
        """The newest first-parent commit of the branch that is not later than that time."""
        return history.commit_at(self._git, when)

    def history_begins(self) -> datetime | None:
        """The time of the first commit on the branch's first-parent line."""
        return history.begins(self._git)

    def line_of(self, commit: str, *, limit: int | None = None) -> tuple[str, ...]:
        """The commits of the first-parent line that ends in this one, newest first; at most `limit`."""
        return history.first_parents(self._git, commit, limit=limit)

    def changes(self, *, after: str | None, until: str) -> tuple[CommitChange, ...]:
        """What each commit of the first-parent line after `after` changed, oldest first."""
        return history.first_parent_changes(self._git, after=after, until=until)

    def changes_since(self, commit: str | None) -> tuple[CommitChange, ...] | None:
        """What each commit after this one changed, merged-in ones included; None if the branch does not contain it."""
        return history.changes_since(self._git, commit)

    def read_blobs(self, ids: Sequence[str], *, largest: int) -> Iterator[bytes | None]:
        """The blobs as git stores them; None for one that is missing or too large."""
        return history.raw_blobs(self._git, ids, largest=largest)

    def list_at(self, commit: str, *, skip: Skip | None) -> Listing:
        """The vault's files in that commit."""
        return history.list_at(self._git, commit, skip=skip)

    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """The three-way merge of both changes, in the line ending of `ours`."""
        return history.merge(self._git, base=base, ours=ours, theirs=theirs)

    def held_by(self, *paths: str) -> tuple[int, tuple[str, ...]]:
        """How many commits of any branch changed one of the paths, and the names of the remotes."""
        return history.held_by(self._git, paths)

    def inside(self, path: str) -> str:
        """The path relative to the root of the working tree, of which the vault may be a part."""
        return self._location.inside(path)

    def outside(self, path: str) -> str | None:
        """The vault's path of a file, which is given relative to the root of the working tree; None for another's."""
        return path.removeprefix(self._location.prefix) if path.startswith(self._location.prefix) else None

    def maintain(self) -> None:
        """Run git's maintenance (pack and prune) if git considers it due and no `git gc` of the person runs."""
        if state.collects_garbage(self._location):
            return
        settings = ("gc.autoDetach=false", *self._grace_period())
        self._git.try_run("maintenance", "run", "--auto", "--quiet", settings=settings, timeout=_MAINTENANCE_TIMEOUT_S)

    def _grace_period(self) -> tuple[str, ...]:
        """The setting by which no new object is pruned: no branch has those of a write that is being made.

        A person who keeps objects for longer, or for ever, gets that.
        """
        expiry = self._git.try_run("config", "--type=expiry-date", "--get", "gc.pruneExpire").stdout.strip()
        is_long = expiry.isdigit() and int(expiry) <= time.time() - _GRACE_S
        return () if is_long else (f"gc.pruneExpire={_GRACE_S}.seconds.ago",)

    def _attributes(self, path: str) -> Attributes:
        return self.paths.attributes([path])[path]

    def _request(self, commits: Sequence[NewCommit], *, allowed: AllowedBlobs, stages: bool) -> CommitRequest:
        attributes = self.paths.attributes(list({path: None for commit in commits for path in commit.files}))
        prepared = [self._prepare(commit, attributes) for commit in commits]
        inside = {self._location.inside(path): blobs for path, blobs in allowed.items()}
        return CommitRequest(prepared, self._author, inside, stages)

    def _prepare(self, commit: NewCommit, attributes: Mapping[str, Attributes]) -> PreparedCommit:
        files: dict[str, FileToCommit | None] = {}
        for path, content in commit.files.items():
            file = None
            if content is not None:
                mode = self._new_mode(path, commit.modes.get(path))
                stored = self._converter.store(path, content, attributes[path])
                new = None if stored else new_object("blob", content, self._location.object_format)
                file = FileToCommit(TreeEntry(mode, stored or (new.id if new else "")), new)
            files[self._location.inside(path)] = file
        return PreparedCommit(message_of(commit), files)

    def _new_mode(self, path: str, mode: int | None = None) -> str:
        """The mode of a path that is new to git: executable if the file is, or will be, and core.fileMode is on."""
        if mode is None:
            try:
                mode = os.lstat(self._git.folder / path).st_mode
            except OSError:
                mode = 0
        executable = mode & 0o100
        return FILE_MODES[1] if executable and self._trusts_modes else FILE_MODES[0]

    @cached_property
    def _trusts_modes(self) -> bool:
        return self._git.try_run("config", "--type=bool", "--get", "core.fileMode").stdout != b"false\n"
