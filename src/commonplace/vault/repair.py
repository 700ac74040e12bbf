"""Repair: bring back what a person's git command took by accident, because one of our commits met it halfway.

`git.collisions` finds the traces. A commit that a reset dropped is made again, with its message; files that a merge
took off the disk are put back, and so are the person's edits if git did not. A path is touched only if nobody has
changed it since: whatever else is there stays, and `lost_versions` names what is missing. A collision is settled once,
and noted in the state folder: what a person removes afterwards stays away.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Final

from commonplace.errors import CommonplaceError, Conflict, NotFound, Refused
from commonplace.events import emit
from commonplace.vault.base import ABSENT, KIND, CommitChange, Label, LostVersion, version_of
from commonplace.vault.batch import put_version
from commonplace.vault.files import read_file
from commonplace.vault.git.collisions import (
    LONGEST_MERGE_S,
    ConcludedMerge,
    LogEntry,
    MergeCollision,
    concluded_merges,
    dropping_resets,
)
from commonplace.vault.git.commit import NewCommit
from commonplace.vault.git.history import MUTATION, PATH
from commonplace.vault.git.repository import Repository
from commonplace.vault.journal import Journal, JournalEntry, JournalFile
from commonplace.vault.recovery import PASSING
from commonplace.vault.syscalls import translate_os_errors
from commonplace.vault.tree import FolderTree

_MERGE_ENDS_S: Final = 0.5  # how long a merge may take to put the person's edits back, before we look for them
_MOST_NOTED: Final = 500  # settled collisions; the part of git's log that is read has about a hundred entries


@dataclass(frozen=True, slots=True)
class _PathState:
    """A path as it is now: its blobs in HEAD, in the index and on the disk, where it also has a version and a mode."""

    head: str | None
    staged: str | None
    on_disk: str | None
    version: str
    mode: int | None


_States = Mapping[str, _PathState]
_Chains = Mapping[str, Sequence[str | None]]
"""By path, the blobs that commits gave it one after the other, beginning with the one before them."""


class SettledCollisions:
    """The file that names the collisions which are settled. Only the holder of the vault's lock may use it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @cached_property
    def keys(self) -> list[str]:
        """What names them, oldest first."""
        with translate_os_errors(str(self._file), doing="read"):
            try:
                return self._file.read_text(encoding="ascii", errors="replace").splitlines()
            except FileNotFoundError:
                return []

    def add(self, key: str) -> None:
        """Note that this one is settled."""
        self.keys.append(key)
        with translate_os_errors(str(self._file), doing="write"):
            self._file.write_text("".join(f"{each}\n" for each in self.keys[-_MOST_NOTED:]), encoding="ascii")


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of one vault, whose lock the caller holds."""

    tree: FolderTree
    git: Repository
    file: JournalFile
    settled: SettledCollisions

    def run(self) -> None:
        """Settle every collision that is not settled yet. Raises VaultUnavailable; the next call tries again."""
        log = self.git.log()
        for reset in dropping_resets(log):
            self._settle(f"{reset.old} {reset.new} {reset.when}", partial(self._settle_reset, reset))
        for concluded in concluded_merges(log):
            self._settle(concluded.commit, partial(self._settle_concluded, concluded))
        if merge := self.git.merge_collision(log):
            self._settle(merge.key, partial(self._settle_merge, merge))

    def _settle(self, key: str, settle: Callable[[], bool]) -> None:
        """Settle the collision unless it is settled. One that cannot be, for a damaged object, stops no write."""
        if key in self.settled.keys:
            return
        try:
            is_settled = settle()
        except CommonplaceError as error:
            if error.reason in PASSING or self.file.read():
                raise
            emit("collision_not_settled", level="warning", said=error.message)
            is_settled = True
        if is_settled:
            self.settled.add(key)

    def lost_versions(self) -> tuple[LostVersion, ...]:
        """What the newest resets dropped, settled or not, where the path has another content now."""
        lost: list[LostVersion] = []
        for reset in dropping_resets(self.git.log()):
            dropped, since = self._dropped(reset)
            lost += self._lost(dropped, self._states(_paths(dropped)), since)
        return tuple(lost)

    # A reset that dropped commits

    def _settle_reset(self, reset: LogEntry) -> bool:
        """Make our commits again that the reset dropped, and tell what was changed since; returns True."""
        dropped, since = self._dropped(reset)
        chains, states = _chains(dropped), self._states(_paths(dropped))
        touched = {*_paths(since)}
        paths = [
            path
            for path, chain in chains.items()
            if (state := states.get(path)) and path not in touched and _is_taken_back(state, chain)
        ]
        if paths and self._make_again(dropped, {path: chains[path] for path in paths}, states):
            emit("dropped_commits_made_again", level="warning", dropped_by=reset.new, paths=paths)
        for lost in self._lost(dropped, self._states(_paths(dropped)), since):
            emit("dropped_write_not_restored", level="warning", path=lost.path, command=lost.command)
        return True

    def _dropped(self, reset: LogEntry) -> tuple[list[CommitChange], Sequence[CommitChange]]:
        """Our commits that the reset dropped and that nobody has made again, and the commits since then."""
        since = self.git.changes_since(reset.new) if self.git.is_above(reset.old, reset.new) else None
        if since is None:  # the objects are gone, or the branch was moved elsewhere
            return [], ()
        made = {_identity(change) for change in since}
        dropped = self.git.changes(after=reset.new, until=reset.old)
        return [each for each in dropped if _is_ours(each) and _identity(each) not in made], since

    def _lost(
        self, dropped: Sequence[CommitChange], states: _States, since: Sequence[CommitChange]
    ) -> list[LostVersion]:
        """The newest version of each path that is not there now; never one of a note that was erased since."""
        erased = {path for each in since if each.revision.trailers.get(KIND) == "erase" for path in each.revision.paths}
        newest = {path: change for change in dropped for path in change.blobs if path not in erased}
        return [
            LostVersion(path, change.revision.commit)
            for path, change in newest.items()
            if path not in states or change.blobs[path] not in (states[path].on_disk, states[path].head)
        ]

    def _make_again(self, commits: Sequence[CommitChange], chains: _Chains, states: _States) -> bool:
        """Publish the newest versions of these paths and commit all versions; False if someone was faster.

        A journal says so meanwhile: after a crash, recovery takes the commit for one that was not made yet.
        """
        contents = {
            path: [None if blob is None else self.git.blob(blob, path=path) for blob in chain]
            for path, chain in chains.items()
        }
        final = {path: content[-1] for path, content in contents.items()}
        journal = self._journal(commits[-1], final, states)
        self.file.write(journal)
        for path, content in final.items():
            state = states[path]
            put_version(self.tree, path, content, expected=state.version, mode=state.mode)
        allowed = {path: frozenset(chain) for path, chain in chains.items()}
        try:
            made = self.git.commit(
                _commits(commits, contents), allowed=allowed, published=lambda: self._stand(journal.entries)
            )
        except Conflict:
            made = ()
        if not made:
            self._take_back(journal, states)
        elif not self.file.is_on_disk_of(self.tree.root):
            self.git.flush()
        self.file.remove()
        return bool(made)

    def _journal(self, last: CommitChange, final: Mapping[str, bytes | None], states: _States) -> Journal:
        trailers = [each for each in _trailers(last) if each[0] not in (PATH, MUTATION)]
        return Journal(
            mutation=last.revision.trailers.get(MUTATION) or os.urandom(16).hex(),
            label=Label(last.revision.message, tuple(trailers)),
            entries=tuple(
                JournalEntry(
                    path=path,
                    before=states[path].version,
                    after=ABSENT if content is None else version_of(content),
                    mode=states[path].mode,
                    blob=states[path].on_disk,
                    head=states[path].head,
                    staged=states[path].staged,
                )
                for path, content in final.items()
            ),
            folders=self._folders_to_make([path for path, content in final.items() if content is not None]),
            pid=os.getpid(),
            started=datetime.now(UTC).isoformat(timespec="milliseconds"),
            vault=self.git.id,
        )

    def _folders_to_make(self, paths: Iterable[str]) -> tuple[str, ...]:
        parents = {str(parent) for path in paths for parent in PurePosixPath(path).parents[:-1]}
        return tuple(sorted(parent for parent in parents if not os.path.isdir(self.tree.root / parent)))

    def _stand(self, entries: Sequence[JournalEntry]) -> bool:
        """True if every path has its version after the mutation."""
        now = self._states([entry.path for entry in entries])
        return all(entry.path in now and now[entry.path].version == entry.after for entry in entries)

    def _take_back(self, journal: Journal, states: _States) -> None:
        for entry in journal.entries:
            blob = states[entry.path].on_disk
            content = None if blob is None else self.git.blob(blob, path=entry.path)
            put_version(self.tree, entry.path, content, expected=entry.after, mode=entry.mode)
        self.tree.remove_folders(journal.folders)

    # A merge that set index and files back

    def _settle_merge(self, merge: MergeCollision) -> bool:
        """Put back what the merge took; True if that was something, or if the merge has ended for sure."""
        changes = self.git.changes_since(merge.base)
        if changes is None:
            return True
        ours = [each for each in changes if _is_ours(each)]
        chains, states = _chains(ours), self._states(_paths(ours))
        edits = []
        if any(path in states and _is_off_disk(states[path], chain) for path, chain in chains.items()):
            time.sleep(max(0.0, min(_MERGE_ENDS_S, merge.written + _MERGE_ENDS_S - time.time())))
            states = self._states(_paths(ours))
            edits = self._put_edits_back(merge, ours)
        files = self._put_files_back(chains, states)
        if edits or files:
            emit("merge_collision_settled", level="warning", edits=edits, files=files)
        return bool(edits or files) or time.time() - merge.written > LONGEST_MERGE_S

    def _put_files_back(self, chains: _Chains, states: _States) -> list[str]:
        """Files that the branch has in our version, and the index, if not the disk too, in the version before."""
        paths = [path for path, chain in chains.items() if path in states and _is_set_back(states[path], chain)]
        for path in paths:
            blob, state = chains[path][-1], states[path]
            if state.on_disk != blob:
                content = None if blob is None else self.git.blob(blob, path=path)
                put_version(self.tree, path, content, expected=state.version, mode=state.mode)
        self.git.stage({path: chains[path][-1] for path in paths})
        return paths

    def _settle_concluded(self, merge: ConcludedMerge) -> bool:
        """Make commits again that the merge undid in the branch, where the disk still has our version; returns True."""
        since = self.git.changes_since(merge.commit)
        if since is None or not self.git.is_above(merge.tip, merge.base):
            return True
        ours = [each for each in self.git.changes(after=merge.base, until=merge.tip) if _is_ours(each)]
        chains, states = _chains(ours), self._states(_paths(ours))
        touched = {*_paths(since)}
        undone = {
            path: (change.before.get(path), change.blobs.get(path))
            for change in self.git.changes(after=merge.tip, until=merge.commit)
            for path in change.revision.paths
        }
        paths = [
            path
            for path, chain in chains.items()
            if undone.get(path) == (chain[-1], chain[0])
            and path not in touched
            and path in states
            and _is_undone(states[path], chain)
        ]
        if paths and self._make_again(ours, {path: chains[path] for path in paths}, states):
            emit("undone_commits_made_again", level="warning", undone_by=merge.commit, paths=paths)
        return True

    def _put_edits_back(self, merge: MergeCollision, ours: Sequence[CommitChange]) -> list[str]:
        """The person's edits that the merge did not put back: where the disk has what the merge began with."""
        lost = self.git.lost_edits(merge, bases=[each.revision.commit for each in ours])
        if lost is None:
            return []
        inside = {path: blob for name, blob in lost.blobs.items() if (path := self.git.outside(name)) is not None}
        states, put = self._states(inside), []
        for path, blob in inside.items():
            state = states.get(path)
            if state and state.on_disk == state.head == state.staged and path not in _paths(ours):
                content = self.git.blob(blob, path=path)
                put_version(self.tree, path, content, expected=state.version, mode=state.mode)
                put.append(path)
            elif state is None or state.on_disk != blob:
                missing = LostVersion(path, lost.commit)
                emit("edits_not_restored", level="warning", path=path, command=missing.command)
        return put

    def _states(self, paths: Iterable[str]) -> dict[str, _PathState]:
        """The paths as they are now, without those where something else than a file is."""
        files, versions, modes = dict[str, bytes](), dict[str, str](), dict[str, int]()
        for path in paths:
            with suppress(Refused):
                try:
                    with translate_os_errors(path, doing="examine"), self.tree.locate(path) as location:
                        file = read_file(location)
                except NotFound:
                    versions[path] = ABSENT
                else:
                    files[path], versions[path], modes[path] = file.blob.content, file.blob.version, file.mode
        tracked, blobs = self.git.tracked_blobs(list(versions)), self.git.blob_ids(files)
        return {
            path: _PathState(tracked[path].head, tracked[path].staged, blobs.get(path), version, modes.get(path))
            for path, version in versions.items()
        }


def _is_ours(change: CommitChange) -> bool:
    """True for a commit of a transaction, and for one of a person's edits that a transaction made."""
    trailers = change.revision.trailers
    return MUTATION in trailers or trailers.get(KIND) == "snapshot"


def _identity(change: CommitChange) -> str:
    """What a commit and the one that was made again have in common."""
    return change.revision.trailers.get(MUTATION) or f"{change.revision.message} {sorted(change.blobs.items())}"


def _paths(changes: Iterable[CommitChange]) -> list[str]:
    return list(dict.fromkeys(path for change in changes for path in change.revision.paths))


def _chains(changes: Iterable[CommitChange]) -> dict[str, list[str | None]]:
    """The chain of each path, from the last content that someone else gave it in between."""
    chains: dict[str, list[str | None]] = {}
    for change in changes:
        for path in change.revision.paths:
            before = change.before.get(path)
            if path not in chains or chains[path][-1] != before:
                chains[path] = [before]
            chains[path].append(change.blobs.get(path))
    return chains


def _is_taken_back(state: _PathState, chain: Sequence[str | None]) -> bool:
    """True if the branch has the content from before, and nobody has put other content on the disk or staged it."""
    return state.head == chain[0] != chain[-1] and state.staged in chain and state.on_disk in chain


def _is_undone(state: _PathState, chain: Sequence[str | None]) -> bool:
    """True if branch and index have the content from before, and the disk has ours."""
    return state.head == state.staged == chain[0] != chain[-1] == state.on_disk


def _is_off_disk(state: _PathState, chain: Sequence[str | None]) -> bool:
    """True if index and disk have the content from before, and the branch has ours."""
    return state.staged == state.on_disk == chain[0] != chain[-1] == state.head


def _is_set_back(state: _PathState, chain: Sequence[str | None]) -> bool:
    """True if at least the index has the content from before; with ours on the disk, a repair was cut short."""
    return _is_off_disk(state, chain) or (state.staged == chain[0] != chain[-1] == state.head == state.on_disk)


def _trailers(change: CommitChange) -> list[tuple[str, str]]:
    trailers = change.revision.trailers
    return [(name, value) for name, values in trailers.items() for value in values.split("\n")]


def _commits(commits: Sequence[CommitChange], contents: Mapping[str, Sequence[bytes | None]]) -> list[NewCommit]:
    """The same commits, with those of their files that are to be made again: the newest versions of each path."""
    left = {path: list(versions[1:]) for path, versions in contents.items()}
    made = []
    for change in reversed(commits):
        files = {path: left[path].pop() for path in change.revision.paths if left.get(path)}
        if files:
            made.append(NewCommit(change.revision.message, tuple(_trailers(change)), files))
    return made[::-1]
