"""The git repository of a vault: what is committed, staged and ignored, and our own commits."""

import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from commonplace.vault.base import Listing, Merge, Revision, Skip
from commonplace.vault.git import history, path_state, state
from commonplace.vault.git.commit import (
    Author,
    FileToCommit,
    NewCommit,
    PreparedCommit,
    commit_all,
    message_of,
    stage,
)
from commonplace.vault.git.conversion import Attributes, Converter, disable_filter
from commonplace.vault.git.location import FILE_MODES, find
from commonplace.vault.git.path_state import PathStates, TrackedBlobs, id_query, read_ids
from commonplace.vault.git.run import Git

_MAINTENANCE_TIMEOUT_S = 600.0


class Repository:
    """The repository that covers a vault's folder. Paths are relative to the vault."""

    def __init__(self, folder: Path, *, author: Author, filters: bool = False) -> None:
        """Open the repository. Raises VaultUnavailable when git is missing or no repository covers the folder."""
        self._git = Git(folder.resolve())
        self._author = author
        self._location = find(self._git)
        self.paths = PathStates(self._git, self._location)
        self._converter = Converter(self._git, self._location, filters)
        self._modes: dict[str, str] = {}  # of the last committed files, for their index entries

    def refuse_if_busy(self) -> None:
        """Raise VaultUnavailable(repository_busy) during a merge, rebase, bisect..., and with a detached HEAD."""
        state.refuse_if_busy(self._git, self._location)

    def refuse_unwritable(self, paths: Sequence[str]) -> None:
        """Raise Refused for a path that is ignored, needs an external filter, or is in another repository."""
        path_state.refuse_unwritable(self._git.folder, self.paths, paths, filters=self._converter.filters)

    def head(self) -> str | None:
        """The newest commit of the branch; None when there is none yet."""
        result = self._git.try_run("rev-parse", "--quiet", "--verify", "HEAD^0")
        return os.fsdecode(result.stdout).strip() or None

    def tracked_blobs(self, paths: Sequence[str]) -> Mapping[str, TrackedBlobs]:
        """The blobs of each path in HEAD and in the index."""
        return self.paths.blobs(paths)

    def blob_id(self, path: str, content: bytes) -> str:
        """The id git gives these bytes at that path, after converting line endings and encoding."""
        return self._converter.blob_id(path, content, self._attributes(path))

    def blob(self, blob_id: str, *, path: str) -> bytes:
        """The blob as a checkout would write it to the working tree at that path."""
        return self._converter.checkout(blob_id, path, self._attributes(path))

    def commit(self, commits: Sequence[NewCommit]) -> tuple[str, ...]:
        """Make the commits, in order, on top of the branch, all or none. Raises VaultUnavailable."""
        if not commits:
            return ()
        attributes = self.paths.attributes(list({path: None for commit in commits for path in commit.files}))
        prepared = [self._prepare(commit, attributes) for commit in commits]
        result = commit_all(self._git, self._location, prepared, author=self._author)
        self._modes = dict(result.modes)
        return result.ids

    def stage(self, files: Mapping[str, str | None]) -> None:
        """Set these index entries to these blobs, or remove them. Raises VaultUnavailable(repository_busy)."""
        if not files:
            return
        modes = {path: self._modes.pop(self._location.inside(path), None) for path, blob_id in files.items() if blob_id}
        staged = self.paths.modes([path for path, mode in modes.items() if mode is None])
        entries = {}
        for path, blob_id in files.items():
            mode = modes.get(path) or staged.get(path)
            entries[path] = f"{mode if mode in FILE_MODES else self._new_mode(path)} {blob_id}" if blob_id else None
        stage(self._git, self._location, entries)

    def find_mutation(self, mutation: str) -> str | None:
        """The commit whose trailer has that id, if it is among the newest of the branch."""
        return history.find_mutation(self._git, mutation)

    def revisions(self, path: str | None, *, ours: bool, limit: int | None) -> tuple[Revision, ...]:
        """The commits that touched the path, or the vault; newest first; `ours` leaves out other programs'."""
        return history.revisions(self._git, path, ours=ours, limit=limit)

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
        contents = iter(self._blobs(present, attributes))
        return [next(contents) if blob_id else None for blob_id in ids]

    def commit_at(self, when: datetime) -> str | None:
        """The newest first-parent commit of the branch that is not later than that time."""
        return history.commit_at(self._git, when)

    def history_begins(self) -> datetime | None:
        """The time of the first commit on the branch's first-parent line."""
        return history.begins(self._git)

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

    def maintain(self) -> None:
        """Run git's maintenance (pack and prune) if git considers it due."""
        self._git.try_run(
            "maintenance", "run", "--auto", "--quiet", settings=("gc.autoDetach=false",), timeout=_MAINTENANCE_TIMEOUT_S
        )

    def _attributes(self, path: str) -> Attributes:
        return self.paths.attributes([path])[path]

    def _blobs(self, blobs: Sequence[tuple[str, str]], attributes: Mapping[str, Attributes]) -> list[bytes]:
        """Many blobs, each with its path, as a checkout would write them; read by one process."""
        if not blobs:
            return []
        separator = secrets.token_hex(16)  # the size git reports is that of before the conversion
        stdin = b"".join(os.fsencode(f"{blob_id} {self._location.inside(path)}\n") for blob_id, path in blobs)
        drivers = () if self._converter.filters else {each.driver for each in attributes.values()}
        settings = [setting for driver in drivers for setting in disable_filter(driver)]
        result = self._git.run("cat-file", "--filters", f"--batch={separator}", stdin=stdin, settings=settings)
        return [each.removesuffix(b"\n") for each in result.stdout.split(f"{separator}\n".encode())[1:]]

    def _prepare(self, commit: NewCommit, attributes: Mapping[str, Attributes]) -> PreparedCommit:
        files: dict[str, FileToCommit | None] = {}
        for path, content in commit.files.items():
            file = None
            if content is not None:
                stored = self._converter.store(path, content, attributes[path])
                file = FileToCommit(content, stored, self._new_mode(path))
            files[self._location.inside(path)] = file
        return PreparedCommit(message_of(commit), files)

    def _new_mode(self, path: str) -> str:
        """The mode of a path that is new to git: executable when the file on disk is and core.fileMode is on."""
        try:
            executable = os.lstat(self._git.folder / path).st_mode & 0o100
        except OSError:
            executable = 0
        return FILE_MODES[1] if executable and self._trusts_modes else FILE_MODES[0]

    @cached_property
    def _trusts_modes(self) -> bool:
        return self._git.try_run("config", "--type=bool", "--get", "core.fileMode").stdout != b"false\n"
