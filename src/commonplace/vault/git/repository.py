"""The git repository of a vault: what is committed, staged, ignored, and how our own commits get in."""

import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from commonplace.vault.base import Listing, Merge, Revision, Skip
from commonplace.vault.git import excluding, founding, history, merging, moments, place, refusing, staging, state
from commonplace.vault.git.attributes import Attributes, without
from commonplace.vault.git.committing import MODES, Author, New, NewCommit, Prepared, commit_all, message_of
from commonplace.vault.git.converting import Converter
from commonplace.vault.git.knowledge import Kept, Knowledge, ask_ids, read_ids
from commonplace.vault.git.program import Git

__all__ = ["Author", "Kept", "NewCommit", "Repository"]

_MAINTENANCE_LIMIT_S = 600.0


class Repository:
    """The repository that covers a vault's folder. Paths are relative to the vault."""

    def __init__(self, folder: Path, *, author: Author, filters: bool = False) -> None:
        """Open it. Raises VaultUnavailable when git is missing or no repository covers the folder."""
        self._git = Git(folder.resolve())
        self._author = author
        self._place = place.find(self._git)
        self._knowledge = Knowledge(self._git, self._place)
        self._convert = Converter(self._git, self._place, filters)
        self._modes: dict[str, str] = {}  # of what was committed last, for its index entries

    @staticmethod
    def create(folder: Path, *, author: Author) -> "Repository":
        """Open the repository that covers the folder, untouched; make one when there is none."""
        git = Git(folder.resolve())
        if not place.covers(git):
            founding.found(git, author=author)
        return Repository(folder, author=author)

    def refuse_if_busy(self) -> None:
        """Raise VaultUnavailable(repository_busy) during a merge, rebase, bisect..., and with a detached HEAD."""
        state.refuse_if_busy(self._git, self._place)

    def refuse_unwritable(self, paths: Sequence[str]) -> None:
        """Raise Refused for a path that is ignored, filtered by an external program, or another repository's."""
        refusing.refuse_unwritable(self._git.folder, self._knowledge, paths, filters=self._convert.filters)

    def is_kept_out(self, path: str) -> bool:
        """Whether git was told by us never to take this path."""
        return excluding.is_excluded(self._place, path)

    def refuse_held(self, path: str) -> None:
        """Raise Refused for a path that is in the index, in whatever state."""
        excluding.refuse_held(self._knowledge, path)

    def keep_out(self, path: str) -> None:
        """Let git never take this path, in any working tree of this clone.

        Raises Refused when it has or would take it all the same, and for a path that is another repository's.
        """
        refusing.refuse_nested(self._git.folder, path)
        excluding.exclude(self._place, path)
        excluding.refuse_unless_ignored(self._knowledge, path)

    def head(self) -> str | None:
        """The newest commit of the branch."""
        answer = self._git.ask("rev-parse", "--quiet", "--verify", "HEAD^0")
        return os.fsdecode(answer.out).strip() or None

    def kept(self, paths: Sequence[str]) -> Mapping[str, Kept]:
        """What git knows of each path: its blobs in HEAD and in the index."""
        return self._knowledge.kept(paths)

    def blob_id(self, path: str, content: bytes) -> str:
        """The id git gives these bytes at that path: line endings and encoding converted."""
        return self._convert.blob_id(path, content, self._attributes(path))

    def blob(self, blob_id: str, *, path: str) -> bytes:
        """The blob as a checkout would put it into the working tree at that path."""
        return self._convert.out_of_git(blob_id, path, self._attributes(path))

    def commit(self, commits: Sequence[NewCommit]) -> tuple[str, ...]:
        """Make the commits, in order, on top of the branch, all or none. Raises VaultUnavailable."""
        if not commits:
            return ()
        about = self._knowledge.attributes(list({path: None for commit in commits for path in commit.files}))
        prepared = [self._prepared(commit, about) for commit in commits]
        made = commit_all(self._git, self._place, prepared, author=self._author)
        self._modes = dict(made.modes)
        return made.ids

    def stage(self, files: Mapping[str, str | None]) -> None:
        """Set these index entries to these blobs, or remove them. Raises VaultUnavailable(repository_busy)."""
        if not files:
            return
        modes = {path: self._modes.pop(self._place.inside(path), None) for path, blob_id in files.items() if blob_id}
        staged = self._knowledge.modes([path for path, mode in modes.items() if mode is None])
        entries = {}
        for path, blob_id in files.items():
            mode = modes.get(path) or staged.get(path)
            entries[path] = f"{mode if mode in MODES else self._new_mode(path)} {blob_id}" if blob_id else None
        staging.stage(self._git, self._place, entries)

    def find_mutation(self, mutation: str) -> str | None:
        """The commit with that id in its trailers, if it is among the newest of the branch."""
        return history.find_mutation(self._git, mutation)

    def revisions(self, path: str | None, *, ours: bool, limit: int | None) -> tuple[Revision, ...]:
        """The commits that touched the path, or the vault; newest first; `ours` leaves out other programs'."""
        return history.revisions(self._git, path, ours=ours, limit=limit)

    def content_at(self, path: str, commit: str) -> bytes | None:
        """The file as it was in that commit; None when it was not there."""
        (answer,) = self._git.tell_all(ask_ids([f"{commit}:{self._place.inside(path)}"]))
        (blob_id,) = read_ids(answer)
        return None if blob_id is None else self.blob(blob_id, path=path)

    def contents_at(self, wanted: Sequence[tuple[str, str]]) -> list[bytes | None]:
        """The file of each path as it was in the commit beside it; None where it was not there. For many at once."""
        if not wanted:
            return []
        (answer,) = self._git.tell_all(ask_ids(f"{commit}:{self._place.inside(path)}" for path, commit in wanted))
        ids = read_ids(answer)
        there = [(blob_id, path) for blob_id, (path, _) in zip(ids, wanted, strict=True) if blob_id]
        about = self._knowledge.attributes(list({path: None for _, path in there})) if there else {}
        contents = iter(self._blobs(there, about))
        return [next(contents) if blob_id else None for blob_id in ids]

    def commit_at(self, when: datetime) -> str | None:
        """The newest commit of the branch's own line that is not later than that moment."""
        return moments.commit_at(self._git, when)

    def begins(self) -> datetime | None:
        """When the first commit of the branch's own line was made."""
        return moments.begins(self._git)

    def list_at(self, commit: str, *, skip: Skip | None) -> Listing:
        """The vault's files as they were in that commit."""
        return moments.list_at(self._git, commit, skip=skip)

    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """What comes of both changes of the base, in the line ending of `ours`."""
        return merging.merge(self._git, base=base, ours=ours, theirs=theirs)

    def held_by(self, *paths: str) -> tuple[int, tuple[str, ...]]:
        """How many commits of any branch changed one of the paths, and the names of the remotes."""
        return history.held_by(self._git, paths)

    def inside(self, path: str) -> str:
        """The path from the root of the repository, of which the vault may be a part."""
        return self._place.inside(path)

    def maintain(self) -> None:
        """Let git pack and prune what has gathered, if it finds that due."""
        self._git.ask(
            "maintenance", "run", "--auto", "--quiet", settings=("gc.autoDetach=false",), limit=_MAINTENANCE_LIMIT_S
        )

    def _attributes(self, path: str) -> Attributes:
        return self._knowledge.attributes([path])[path]

    def _blobs(self, blobs: Sequence[tuple[str, str]], about: Mapping[str, Attributes]) -> list[bytes]:
        """As `blob`, for many, each with its path, in one process."""
        if not blobs:
            return []
        mark = secrets.token_hex(16)  # the size that git tells is that of before the conversion
        given = b"".join(os.fsencode(f"{blob_id} {self._place.inside(path)}\n") for blob_id, path in blobs)
        drivers = () if self._convert.filters else {attributes.driver for attributes in about.values()}
        settings = [each for driver in drivers for each in without(driver)]
        told = self._git.tell("cat-file", "--filters", f"--batch={mark}", given=given, settings=settings)
        return [each.removesuffix(b"\n") for each in told.out.split(f"{mark}\n".encode())[1:]]

    def _prepared(self, commit: NewCommit, about: Mapping[str, Attributes]) -> Prepared:
        files: dict[str, New | None] = {}
        for path, content in commit.files.items():
            new = None
            if content is not None:
                stored = self._convert.stored(path, content, about[path])
                new = New(content, stored, self._new_mode(path))
            files[self._place.inside(path)] = new
        return Prepared(message_of(commit), files)

    def _new_mode(self, path: str) -> str:
        """The mode with which a path comes into git: executable when the file on disk is, and git looks at that."""
        try:
            executable = os.lstat(self._git.folder / path).st_mode & 0o100
        except OSError:
            executable = 0
        return MODES[1] if executable and self._trusts_modes else MODES[0]

    @cached_property
    def _trusts_modes(self) -> bool:
        return self._git.ask("config", "--type=bool", "--get", "core.fileMode").out != b"false\n"
