"""The whole history of a vault as a stream that `git fast-import` reads, and a history of git as rows.

Ids, authors, times, messages and merges stay as they are. A version of a file is the same bytes on both sides.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonplace.database.postgresql import Connection
from commonplace.model.progress import Progress
from commonplace.vault.base import version_of
from commonplace.vault.changes import Delete, Write
from commonplace.vault.git.transfer import ExportedCommit, blob_lines, commit_lines
from commonplace.vault.postgresql.commits import (
    PathChange,
    StoredCommit,
    add_commit,
    all_commits,
    changes_of,
    head_number,
    kind_of,
    moment,
    read_blobs,
    set_head,
)
from commonplace.vault.postgresql.files import LONGEST_PATH, StoredFile, put_blobs, put_files, stored_length
from commonplace.vault.postgresql.schema import rows_of
from commonplace.vault.postgresql.write import find_renames

_COMMITS_AT_ONCE: Final = 200
_BYTES_AT_ONCE: Final = 16_000_000
_EDITS_AT_ONCE: Final = 500

ReadContents = Callable[[Sequence[str]], Iterator[bytes | None]]
"""Reads the contents that have these ids of git; None for one that is missing or too large."""


@dataclass(frozen=True, slots=True)
class HistorySize:
    """How much a vault holds: commits, files as they are now, versions of files, and the bytes of those."""

    commits: int
    files: int
    versions: int
    size: int


def history_size(connection: Connection, tenant: str) -> HistorySize:
    """How much the vault holds."""
    query = """
    SELECT (SELECT count(*) FROM vault_commits WHERE tenant = %(tenant)s),
      (SELECT count(*) FROM vault_notes WHERE tenant = %(tenant)s AND content IS NULL),
      (SELECT count(*) FROM vault_blobs WHERE tenant = %(tenant)s),
      (SELECT coalesce(sum(octet_length(content)), 0)::bigint FROM vault_blobs WHERE tenant = %(tenant)s)
    """
    return HistorySize(*rows_of(connection, query, {"tenant": tenant})[0])


def export_stream(connection: Connection, tenant: str, *, progress: Progress) -> Iterator[bytes]:
    """The history for `git fast-import`, a few commits at a time."""
    total = head_number(connection, tenant)
    marks: dict[str, int] = {}
    first_mark = history_size(connection, tenant).versions
    done = 0
    while some := all_commits(connection, tenant, after=done, limit=_COMMITS_AT_ONCE):
        changes = changes_of(connection, tenant, [each.number for each in some])
        for group in _groups([c for each in some for c in changes[each.number]], known=marks):
            for hash, content in read_blobs(connection, tenant, group):
                marks[hash.hex()] = len(marks) + 1
                yield blob_lines(marks[hash.hex()], content)
        for each in some:
            yield from commit_lines(_exported(each, changes[each.number]), marks.__getitem__, first_mark=first_mark)
        done = some[-1].number
        progress("commits", done, total)


def current_files(connection: Connection, tenant: str) -> Iterator[tuple[str, bytes]]:
    """The files as they are now, without derived ones, a few at a time."""
    query = "SELECT path, hash, size FROM vault_notes WHERE tenant = %(tenant)s AND content IS NULL ORDER BY path"
    rows = rows_of(connection, query, {"tenant": tenant})
    for group in _by_size([(path, hash, size) for path, hash, size in rows]):
        contents = dict(read_blobs(connection, tenant, {hash for _, hash, _ in group}))
        yield from ((path, contents[hash]) for path, hash, _ in group)


def edits_since(
    connection: Connection, tenant: str, present: Iterable[tuple[str, bytes]]
) -> Iterator[list[Write | Delete]]:
    """What makes the vault's files the present ones, in parts of which each is a transaction."""
    query = "SELECT path, hash FROM vault_notes WHERE tenant = %(tenant)s"
    stored = {path: hash.hex() for path, hash in rows_of(connection, query, {"tenant": tenant})}
    part, size, gone = list[Write | Delete](), 0, {*stored}
    for path, content in present:
        gone.discard(path)
        if stored.get(path) == version_of(content):
            continue
        part.append(Write(path, content, None))
        size += len(content)
        if size > _BYTES_AT_ONCE or len(part) >= _EDITS_AT_ONCE:
            yield part
            part, size = [], 0
    part += [Delete(path, None) for path in sorted(gone)]
    if part:
        yield part


def import_commits(
    connection: Connection, tenant: str, commits: Sequence[ExportedCommit], *, read: ReadContents, progress: Progress
) -> list[str]:
    """Store a history of git in a vault without one; returns the paths of versions that could not be read."""
    history = _Import(connection, tenant, read, commits)
    for start in range(0, len(commits), _COMMITS_AT_ONCE):
        some = commits[start : start + _COMMITS_AT_ONCE]
        history.load({blob for each in some for blob in each.files.values() if blob})
        for each in some:
            history.add(each)
        progress("commits", start + len(some), len(commits))
    if commits:
        set_head(connection, tenant, commits[-1].number)
        put_files(connection, tenant, history.files_at_end())
    return sorted(history.unread)


class _Import:
    """A history on its way into the tables: what each content is stored as, and the files at commits still needed."""

    def __init__(
        self, connection: Connection, tenant: str, read: ReadContents, commits: Sequence[ExportedCommit]
    ) -> None:
        self._connection, self._tenant, self._read = connection, tenant, read
        self._last = commits[-1].number if commits else 0
        self._landed = landings(commits)
        self._children = Counter(each.parents[0] for each in commits if each.parents)
        self._stored: dict[str, StoredFile | None] = {}
        self._states: dict[int, dict[str, StoredFile]] = {}
        self.unread: set[str] = set()

    def load(self, blobs: set[str]) -> None:
        """Store these contents unless they are stored."""
        new, files, size = sorted(blobs - self._stored.keys()), list[StoredFile](), 0
        for blob, content in zip(new, self._read(new), strict=True):
            if content is None:
                self._stored[blob] = None
                continue
            files.append(StoredFile(version_of(content), len(content), 0.0, content=content))
            self._stored[blob] = replace(files[-1], content=None)
            size += len(content)
            if size > _BYTES_AT_ONCE:
                put_blobs(self._connection, self._tenant, files)
                files, size = [], 0
        put_blobs(self._connection, self._tenant, files)

    def add(self, commit: ExportedCommit) -> None:
        """Store the commit and what it changed."""
        files, changes = self._files_before(commit), list[PathChange]()
        when = moment(commit.committer).timestamp()
        for path, blob in commit.files.items():
            if stored_length(path) > LONGEST_PATH:
                self.unread.add(path)
                continue
            old, new = files.pop(path, None), self._stored[blob] if blob else None
            if new is not None:
                files[path] = replace(new, mtime=when)
            elif blob:
                self.unread.add(path)
            before, after = old.hash if old else None, new.hash if new else None
            if before != after:
                changes.append(PathChange(path, before, after, new.size if new else 0))
        self._store(commit, changes)
        if self._children[commit.number] or commit.number == self._last:
            self._states[commit.number] = files

    def files_at_end(self) -> Mapping[str, StoredFile]:
        """The files after the last commit."""
        return self._states[self._last]

    def _files_before(self, commit: ExportedCommit) -> dict[str, StoredFile]:
        """The files of the first parent; a copy if another commit needs them, too."""
        if not commit.parents:
            return {}
        parent = commit.parents[0]
        self._children[parent] -= 1
        return dict(self._states[parent]) if self._children[parent] else self._states.pop(parent)

    def _store(self, commit: ExportedCommit, changes: Sequence[PathChange]) -> None:
        row = StoredCommit(
            number=commit.number,
            id=commit.id,
            parents=commit.parents,
            landed=self._landed[commit.number],
            committer=commit.committer,
            author=commit.author,
            body=commit.body,
            kind=kind_of(commit.body),
        )
        add_commit(self._connection, self._tenant, row, find_renames(self._connection, self._tenant, changes))


def landings(commits: Sequence[ExportedCommit]) -> dict[int, int]:
    """For each commit the number of that of the first-parent line with which it came to the branch."""
    parents = {each.number: each.parents for each in commits}
    line, number = list[int](), commits[-1].number if commits else 0
    while number:
        line.append(number)
        number = parents[number][0] if parents[number] else 0
    landed: dict[int, int] = {}
    for each in reversed(line):
        waiting = [each]
        while waiting:
            current = waiting.pop()
            if current not in landed:
                landed[current] = each
                waiting += parents[current]
    return landed


def _exported(commit: StoredCommit, changes: Sequence[PathChange]) -> ExportedCommit:
    """The commit for git; what is left of an erased file is no change there."""
    files = {each.path: each.after.hex() if each.after else None for each in changes if each.before != b""}
    return ExportedCommit(commit.number, commit.id, commit.parents, commit.author, commit.committer, commit.body, files)


def _groups(changes: Sequence[PathChange], *, known: Container[str]) -> Iterator[set[bytes]]:
    """The contents of these changes that are not known yet, in groups that fit into memory."""
    new = {each.after: each.size for each in changes if each.after and each.after.hex() not in known}
    return ({hash for _, hash, _ in group} for group in _by_size([("", hash, size) for hash, size in new.items()]))


def _by_size(files: Sequence[tuple[str, bytes, int]]) -> Iterator[list[tuple[str, bytes, int]]]:
    """The files in groups that fit into memory."""
    group, size = list[tuple[str, bytes, int]](), 0
    for each in files:
        if group and size + each[2] > _BYTES_AT_ONCE:
            yield group
            group, size = [], 0
        group.append(each)
        size += each[2]
    if group:
        yield group
