"""The backend `postgresql`: a vault whose notes, with every version of them, are rows of a database.

A transaction holds the vault's turn, an advisory lock, on one connection; when its block ends, the changes and their
commit are made in one transaction of another connection, before `then` is called. Whenever a process dies, the server
ends both: there is nothing to recover. Reads take no lock.
"""

import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from commonplace.database.postgresql import Connection, PostgresqlServer, TenantDatabase
from commonplace.errors import Conflict, NotFound, Refused, UsageError, VaultUnavailable
from commonplace.events import emit
from commonplace.model import Stat
from commonplace.model.progress import Progress
from commonplace.vault.base import (
    ABSENT,
    KIND,
    Blob,
    Capability,
    CommitChange,
    Label,
    Listing,
    Locator,
    LostVersion,
    Merge,
    OnCommit,
    Revision,
    Skip,
    WatchEvent,
)
from commonplace.vault.batch import LOCK_WAIT_S, checked_derived_path
from commonplace.vault.changes import Changes, Write
from commonplace.vault.contract_errors import already_exists, path_of
from commonplace.vault.file_table import look_up
from commonplace.vault.git.commit import Author
from commonplace.vault.git.history import merge
from commonplace.vault.git.run import Git
from commonplace.vault.git.transfer import ExportedCommit
from commonplace.vault.paths import normal, normal_folder, skip_filter
from commonplace.vault.postgresql import commits
from commonplace.vault.postgresql.files import checked_path, files_like, list_files, read_file, stat_file, stat_files
from commonplace.vault.postgresql.schema import AREA
from commonplace.vault.postgresql.streams import (
    HistorySize,
    ReadContents,
    current_files,
    edits_since,
    export_stream,
    history_size,
    import_commits,
)
from commonplace.vault.postgresql.watch import notify, watch_vault
from commonplace.vault.postgresql.write import carry_out, derive_file

_TURN: Final = "turn"
_BLOBS_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class ImportResult:
    """How many files an import committed as edits, and the paths of versions that could not be stored."""

    edits: int
    unread: tuple[str, ...]


class PostgresqlVault:
    """One vault in a database; it belongs to a tenant, whose rows no other tenant sees."""

    name = "postgresql"
    capabilities = frozenset(
        {
            Capability.PERSISTENT,
            Capability.SHARED,
            Capability.HISTORY,
            Capability.WATCHED,
            Capability.ERASABLE,
        }
    )

    def __init__(
        self, server: PostgresqlServer, *, tenant: str, author: Author, max_read_bytes: int | None = None
    ) -> None:
        self._server = server
        self._database = TenantDatabase(server, AREA, tenant=tenant)
        self._tenant = tenant
        self._author = author
        self._most = max_read_bytes
        self._held = threading.local()

    def resolve(self, path: str) -> Locator:
        """Where that file is or would be. Raises Refused."""
        clean = checked_path(path)
        with self._database.read_transaction() as connection:
            return Locator(look_up(files_like(connection, self._tenant, [clean]), clean).path, self)

    def read(self, at: Locator) -> Blob:
        """The file's bytes. Raises NotFound, and Refused for a folder."""
        path = path_of(at, self)
        with self._database.read_transaction() as connection:
            return read_file(connection, self._tenant, path, most=self._most)

    def exists(self, at: Locator) -> bool:
        """True if the file exists. Raises Refused for a folder."""
        try:
            self.stat(at)
        except NotFound:
            return False
        return True

    def stat(self, at: Locator) -> Stat:
        """Size and modification time of the file. Raises NotFound, and Refused for a folder."""
        path = path_of(at, self)
        with self._database.read_transaction() as connection:
            return stat_file(connection, self._tenant, path)

    def stats(self, paths: Iterable[str]) -> Mapping[str, Stat]:
        """The same of several files with one query, by the paths given; those that are no files are left out."""
        clean: dict[str, str] = {}
        for path in paths:
            with suppress(Refused):
                clean[path] = normal(path)
        with self._database.read_transaction() as connection:
            return stat_files(connection, self._tenant, clean)

    def list(self, folder: str = "", *, recursive: bool = True, skip: Skip | None = None) -> Listing:
        """The files below a folder. Raises NotFound when there is no such folder."""
        path = normal_folder(folder)
        with self._database.read_transaction() as connection:
            files = list_files(connection, self._tenant, path)
        depth = path.count("/") + 1 if path else 0
        is_skipped = skip_filter(skip, below=f"{path}/" if path else "")
        chosen = (each for each in files if recursive or each.path.count("/") == depth)
        return Listing(tuple(each for each in chosen if not is_skipped(each.path)), ())

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        """Take the vault's turn and collect changes. Raises VaultUnavailable(locked) after `wait` seconds."""
        with self._hold(wait) as turn:
            changes = Changes(self)
            try:
                yield changes
            finally:
                changes.close()
            if not changes.planned:
                return
            turn.execute("SELECT 1")  # raises if the turn was lost with its connection
            with self._database.write_transaction() as connection:
                result = carry_out(connection, self._tenant, changes.planned, label=label, author=self._author)
                if result.changed:
                    notify(connection, self._tenant)
            if then:
                then(result)

    def derive(self, at: Locator, content: bytes) -> None:
        """Write a derived file, which no commit has. Raises Refused for a path that is not named `_index.md`."""
        path = checked_derived_path(path_of(at, self))
        with self._hold(LOCK_WAIT_S), self._database.write_transaction() as connection:
            derive_file(connection, self._tenant, path, content)

    def watch(
        self, *, stop: threading.Event, skip: Skip | None = None, step: float = 0.5
    ) -> Iterator[tuple[WatchEvent, ...]]:
        """The events from this call on, until `stop` is set; () every `step` seconds while there are none."""
        return watch_vault(self._server, self._database, stop=stop, skip=skip, step=step)

    def revisions(
        self, at: Locator | None = None, *, ours: bool = False, limit: int | None = None
    ) -> tuple[Revision, ...]:
        """The commits that touched the file, or any file; newest first; `ours` leaves out those of other programs."""
        path = None if at is None else path_of(at, self)
        with self._database.read_transaction() as connection:
            return commits.revisions(connection, self._tenant, path, ours=ours, limit=limit)

    def read_at(self, at: Locator, commit: str) -> bytes | None:
        """The file's bytes in that commit; None when it was not there."""
        return self.read_all_at([(at, commit)])[0]

    def read_all_at(self, wanted: Sequence[tuple[Locator, str]]) -> Sequence[bytes | None]:
        """The bytes of many files, each in the commit given with it; None where the file was not there."""
        by_commit: dict[str, dict[str, None]] = {}
        for at, commit in wanted:
            by_commit.setdefault(commit, {})[path_of(at, self)] = None
        contents: dict[tuple[str, str], bytes | None] = {}
        with self._database.read_transaction() as connection:
            for commit, paths in by_commit.items():
                found = commits.contents_at(connection, self._tenant, commit, [*paths])
                contents.update({(path, commit): each for path, each in zip(paths, found, strict=True)})
        return [contents[path_of(at, self), commit] for at, commit in wanted]

    def commit_at(self, when: datetime) -> str | None:
        """The newest first-parent commit that is not later than that time; None before history begins."""
        with self._database.read_transaction() as connection:
            return commits.commit_at(connection, self._tenant, when)

    def history_begins(self) -> datetime | None:
        """The time of the first commit; None when there is none yet."""
        with self._database.read_transaction() as connection:
            return commits.history_begins(connection, self._tenant)

    def head(self) -> str | None:
        """The newest commit; None when there is none yet."""
        with self._database.read_transaction() as connection:
            return commits.id_of(connection, self._tenant, commits.head_number(connection, self._tenant))

    def line_of(self, commit: str, *, limit: int | None = None) -> tuple[str, ...]:
        """The commits of the first-parent line that ends in this one, newest first; at most `limit`."""
        with self._database.read_transaction() as connection:
            return commits.line_of(connection, self._tenant, commit, limit=limit)

    def changes(self, *, after: str | None, until: str) -> tuple[CommitChange, ...]:
        """What each commit of the first-parent line after `after` changed, oldest first."""
        with self._database.read_transaction() as connection:
            return commits.line_changes(connection, self._tenant, after=after, until=until)

    def changes_since(self, commit: str | None) -> tuple[CommitChange, ...] | None:
        """What each commit after this one changed, merged-in ones included; None if the branch does not contain it."""
        with self._database.read_transaction() as connection:
            return commits.changes_since(connection, self._tenant, commit)

    def read_blobs(self, ids: Sequence[str], *, largest: int) -> Iterator[bytes | None]:
        """The stored bytes of files that `changes` names; None for one that is missing or larger than that."""
        for start in range(0, len(ids), _BLOBS_AT_ONCE):
            hashes = [bytes.fromhex(each) for each in ids[start : start + _BLOBS_AT_ONCE]]
            with self._database.read_transaction() as connection:
                found = dict(commits.read_blobs(connection, self._tenant, {*hashes}, largest=largest))
            yield from (found.get(each) for each in hashes)

    def list_at(self, commit: str, *, skip: Skip | None = None) -> Listing:
        """The files in that commit. Raises VaultUnavailable when there is no such commit."""
        is_skipped = skip_filter(skip)
        with self._database.read_transaction() as connection:
            files = commits.list_at(connection, self._tenant, commit)
        return Listing(tuple(each for each in files if not is_skipped(each.path)), ())

    def read_listed_at(self, commit: str, paths: Sequence[str]) -> Sequence[bytes | None]:
        """The bytes of files that `list_at` lists for that commit, whatever is at their paths today."""
        with self._database.read_transaction() as connection:
            return commits.contents_at(connection, self._tenant, commit, [normal(path) for path in paths])

    def refuse(self, files: Sequence[Locator]) -> None:
        """Raise VaultUnavailable if the server does not answer; nothing else stops a write."""
        with self._database.read_transaction():
            pass

    def rehearse(self, at: Locator, *, wait: float = 10.0) -> None:
        """Create this file in a transaction that is rolled back. Raises what would stop a write."""
        path = path_of(at, self)
        with self._hold(wait), self._database.write_transaction() as connection:
            changes = [Write(path, b"rehearsal\n", ABSENT)]
            connection.execute("SAVEPOINT rehearsal")
            carry_out(connection, self._tenant, changes, label=None, author=self._author)
            connection.execute("ROLLBACK TO rehearsal")

    def recover(self, *, wait: float = 10.0) -> None:
        """Do nothing: the server takes back what a crash cut short."""

    def lost_versions(self) -> tuple[LostVersion, ...]:
        """Nothing: no git command runs in a database."""
        return ()

    def held_by(self, at: Locator, *more: Locator) -> tuple[int, tuple[str, ...]]:
        """How many commits changed one of the files; a database has no remotes."""
        with self._database.read_transaction() as connection:
            return commits.count_commits(connection, self._tenant, [path_of(each, self) for each in (at, *more)]), ()

    def path_in_history(self, at: Locator) -> str:
        """The file's path, which is the same in the history."""
        return path_of(at, self)

    def merge(self, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """The three-way merge of two changes of `base`, as git makes it."""
        git = Git(Path(tempfile.gettempdir()), trusts_repository=True)  # there is no repository to distrust
        return merge(git, base=base, ours=ours, theirs=theirs)

    def maintain(self) -> None:
        """Do nothing: the server maintains its tables."""

    def erase_history(self, files: Sequence[Locator], *, wait: float = 10.0) -> None:
        """Remove every version of these files, and their names. Raises Conflict if one of the files exists."""
        paths = [path_of(each, self) for each in files]
        with self._hold(wait), self._database.write_transaction() as connection:
            present = files_like(connection, self._tenant, paths)
            if existing := next((path for path in paths if path in present), None):
                raise already_exists(existing)
            commits.erase(connection, self._tenant, paths)

    def size(self) -> HistorySize:
        """How much the vault holds."""
        with self._database.read_transaction() as connection:
            return history_size(connection, self._tenant)

    @contextmanager
    def exported(self, *, progress: Progress) -> Iterator[tuple[Iterator[bytes], Iterator[tuple[str, bytes]]]]:
        """The history for `git fast-import`, and the files as they are now, both of the same moment."""
        with self._database.read_transaction() as connection:
            stream = export_stream(connection, self._tenant, progress=progress)
            yield stream, current_files(connection, self._tenant)

    def import_history(
        self,
        commits_of_git: Sequence[ExportedCommit],
        present: Iterable[tuple[str, bytes]],
        *,
        read: ReadContents,
        progress: Progress,
    ) -> ImportResult:
        """Fill an empty vault with a history and then with the present files, all or nothing.

        What the files have that no commit has becomes a commit of its own. Raises Conflict if the vault is not empty.
        """
        edits = 0
        with self._hold(LOCK_WAIT_S), self._database.write_transaction() as connection:
            there = history_size(connection, self._tenant)
            if there.commits or there.files:
                raise Conflict("the vault is not empty", hint="Import into a new one: --vault postgresql:NAME.")
            unread = import_commits(connection, self._tenant, commits_of_git, read=read, progress=progress)
            for part in edits_since(connection, self._tenant, present):
                label = Label(f"commonplace: commit your edits of {len(part)} files", ((KIND, "snapshot"),))
                carry_out(connection, self._tenant, part, label=label, author=self._author)
                edits += len(part)
            notify(connection, self._tenant)
        return ImportResult(edits, tuple(unread))

    @contextmanager
    def _hold(self, wait: float) -> Iterator[Connection]:
        """Hold the vault's turn. Once the block is done, losing the connection that holds it changes nothing."""
        if getattr(self._held, "is_held", False):
            raise UsageError("a transaction is already open in this thread", hint="End it before the next one begins.")
        self._held.is_held, is_done = True, False
        try:
            with self._database.exclusive(_TURN, wait=wait) as turn:
                yield turn
                is_done = True
        except VaultUnavailable as error:
            if not is_done:
                raise
            emit("vault_turn_lost", level="warning", said=error.message)
        finally:
            self._held.is_held = False
