"""The history of a vault: commits, the files at a commit, what each commit changed, and erasing a file from it.

A commit is named by its id, the beginning of it, or that with `^` for its first parent. The first-parent line consists
of the commits that landed as themselves; a commit of a merged branch has some of its own before it meets the line.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from commonplace.database.postgresql import Connection
from commonplace.errors import UsageError, VaultUnavailable
from commonplace.model import Stat
from commonplace.model.layout import wordless_path
from commonplace.vault.base import ERASED_PATH, KIND, CommitChange, Rename, Revision
from commonplace.vault.git.history import moment_of, split_message
from commonplace.vault.postgresql.schema import MAIN, rows_of

_NAME: Final = re.compile(r"([0-9a-f]{4,64})(\^*)")
_IDENT: Final = re.compile(r"(.*?) ?<[^>]*> (\d+) ([+-]\d{4})", re.DOTALL)
_ON_THE_LINE: Final = "(number = ANY(%(own)s) OR (landed = number AND number <= %(base)s))"
_COMMIT: Final = "number, id, parents, landed, committer, author, body, kind"
_NEW_COMMIT: Final = """
INSERT INTO vault_commits (tenant, number, id, parents, landed, at, author, committer, body, kind)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_NEW_CHANGE: Final = """
INSERT INTO vault_changes (tenant, number, path, landed, before, after, size, source, likeness)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_AT_POINT: Final = f"""
SELECT DISTINCT ON (path) path, after, size FROM vault_changes
WHERE tenant = %(tenant)s AND (%(paths)s::text[] IS NULL OR path = ANY(%(paths)s))
  AND {_ON_THE_LINE}
ORDER BY path, number DESC
"""  # noqa: S608
_REVISIONS: Final = f"""
SELECT {_COMMIT} FROM vault_commits c
WHERE tenant = %(tenant)s AND cardinality(parents) < 2 AND (kind <> '' OR NOT %(ours)s)
  AND EXISTS (SELECT FROM vault_changes d WHERE d.tenant = c.tenant AND d.number = c.number)
ORDER BY number DESC LIMIT %(limit)s
"""  # noqa: S608
_REVISIONS_OF_A_FILE: Final = f"""
SELECT {_COMMIT} FROM vault_commits
WHERE tenant = %(tenant)s AND cardinality(parents) < 2 AND (kind <> '' OR NOT %(ours)s)
  AND number IN (SELECT number FROM vault_changes WHERE tenant = %(tenant)s AND path = %(path)s)
ORDER BY number DESC LIMIT %(limit)s
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """A commit as its row has it; `kind` is that of a commit of ours, else empty."""

    number: int
    id: str
    parents: tuple[int, ...]
    landed: int
    committer: str
    author: str
    body: bytes
    kind: str

    @property
    def when(self) -> datetime:
        """The committer's time, in the zone of the commit."""
        return moment(self.committer)

    def revision(self, paths: Mapping[str, str]) -> Revision:
        """The commit for readers, with what became of each path."""
        message, trailers = split_message(self.body.decode(errors="replace"))
        match = _IDENT.fullmatch(self.author)
        return Revision(self.id, self.when, match[1] if match else self.author, message, trailers, paths)


@dataclass(frozen=True, slots=True)
class PathChange:
    """What a commit did to a path: its blobs before and after, None for no file, and where it was moved from."""

    path: str
    before: bytes | None
    after: bytes | None
    size: int = 0
    source: str | None = None
    likeness: int = 0

    @property
    def kind(self) -> str:
        """What became of the path."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


@dataclass(frozen=True, slots=True)
class _Point:
    """A place in the history: the commit of the line that it is or grew from, and its own commits since."""

    base: int
    own: tuple[int, ...]


def commit_id(parents: Sequence[str], *, committer: str, body: bytes, changes: Iterable[PathChange]) -> str:
    """The id of a new commit: a hash of all that it is."""
    digest = hashlib.sha256("\n".join((*parents, committer, "")).encode() + body)
    for each in sorted(changes, key=lambda change: change.path):
        digest.update(b"\0%s\0%s\0%s" % (each.path.encode(), each.before or b"", each.after or b""))
    return digest.hexdigest()[:40]


def kind_of(body: bytes) -> str:
    """The kind in the message of a commit of ours; empty for a commit of another program."""
    return split_message(body.decode(errors="replace"))[1].get(KIND, "")


def add_commit(connection: Connection, tenant: str, commit: StoredCommit, changes: Sequence[PathChange]) -> None:
    """Store a commit and what it changed."""
    at = int(moment(commit.committer).timestamp())
    row = (tenant, commit.number, commit.id, [*commit.parents], commit.landed, at, commit.author, commit.committer)
    connection.execute(_NEW_COMMIT, (*row, commit.body, commit.kind))
    rows = [
        (tenant, commit.number, c.path, commit.landed, c.before, c.after, c.size, c.source, c.likeness) for c in changes
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_NEW_CHANGE, rows)


def head_number(connection: Connection, tenant: str) -> int:
    """The number of the newest commit of the branch; 0 if there is none."""
    query = "SELECT head FROM vault_branches WHERE tenant = %(tenant)s AND name = %(name)s"
    return next((number for (number,) in rows_of(connection, query, {"tenant": tenant, "name": MAIN})), 0)


def set_head(connection: Connection, tenant: str, number: int) -> None:
    """Let the branch end in this commit."""
    connection.execute(
        "INSERT INTO vault_branches (tenant, name, head) VALUES (%s, %s, %s)"
        " ON CONFLICT (tenant, name) DO UPDATE SET head = excluded.head",
        (tenant, MAIN, number),
    )


def id_of(connection: Connection, tenant: str, number: int) -> str | None:
    """The id of the commit with that number; None for 0."""
    return next((each.id for each in _commits(connection, tenant, "number = %(number)s", number=number)), None)


def revisions(
    connection: Connection, tenant: str, path: str | None, *, ours: bool, limit: int | None
) -> tuple[Revision, ...]:
    """The commits that touched the path, or any; newest first, without merges."""
    values = {"tenant": tenant, "path": path, "ours": ours, "limit": limit}
    rows = rows_of(connection, _REVISIONS if path is None else _REVISIONS_OF_A_FILE, values)
    chosen = [_commit(row) for row in rows]
    changes = _changes_of(connection, tenant, [each.number for each in chosen], path=path)
    return tuple(each.revision({c.path: c.kind for c in changes[each.number]}) for each in chosen)


def commit_at(connection: Connection, tenant: str, when: datetime) -> str | None:
    """The newest commit of the line that is not later. Raises UsageError for a time without a time zone."""
    if when.tzinfo is None:
        hint = "Give it one, such as datetime.now(UTC)."
        raise UsageError(f"the time {when.isoformat()} has no time zone", hint=hint)
    condition = "landed = number AND at <= %(at)s ORDER BY number DESC LIMIT 1"
    return next((each.id for each in _commits(connection, tenant, condition, at=int(when.timestamp() // 1))), None)


def history_begins(connection: Connection, tenant: str) -> datetime | None:
    """The time of the first commit of the line."""
    found = _commits(connection, tenant, "landed = number ORDER BY number LIMIT 1")
    return next((each.when for each in found), None)


def contents_at(connection: Connection, tenant: str, commit: str, paths: Sequence[str]) -> list[bytes | None]:
    """The bytes of these files in that commit; None where there was no such file, or no such commit."""
    found = _find(connection, tenant, commit)
    if found is None or not paths:
        return [None] * len(paths)
    hashes = {path: hash for path, hash, _ in _files_at(connection, tenant, found, paths) if hash}
    blobs = dict(read_blobs(connection, tenant, {*hashes.values()}))
    return [blobs.get(hashes.get(path, b"")) for path in paths]


def list_at(connection: Connection, tenant: str, commit: str) -> list[Stat]:
    """The files in that commit, each with the commit's time. Raises VaultUnavailable if there is no such commit."""
    found = _require(connection, tenant, commit)
    when = found.when.timestamp()
    return [Stat(path, when, size) for path, hash, size in _files_at(connection, tenant, found, None) if hash]


def line_of(connection: Connection, tenant: str, commit: str, *, limit: int | None) -> tuple[str, ...]:
    """The ids of the first-parent line that ends in this commit, newest first. Raises VaultUnavailable."""
    point = _point(connection, tenant, _require(connection, tenant, commit))
    condition = f"{_ON_THE_LINE} ORDER BY number DESC LIMIT %(most)s"
    found = _commits(connection, tenant, condition, own=[*point.own], base=point.base, most=limit)
    return tuple(each.id for each in found)


def line_changes(connection: Connection, tenant: str, *, after: str | None, until: str) -> tuple[CommitChange, ...]:
    """What the commits of the line after `after` changed, up to `until`, oldest first. Raises VaultUnavailable."""
    start = _require(connection, tenant, after).landed if after else 0
    point = _point(connection, tenant, _require(connection, tenant, until))
    condition = f"{_ON_THE_LINE} AND landed > %(start)s ORDER BY number"
    found = _commits(connection, tenant, condition, own=[*point.own], base=point.base, start=start)
    return _with_changes(connection, tenant, found)


def changes_since(connection: Connection, tenant: str, commit: str | None) -> tuple[CommitChange, ...] | None:
    """What each commit that landed after this one changed, oldest first, without merges; None if it is not there."""
    found = _find(connection, tenant, commit) if commit else None
    if commit and (found is None or found.landed != found.number):
        return None
    condition = "landed > %(start)s AND cardinality(parents) < 2 ORDER BY number"
    chosen = _commits(connection, tenant, condition, start=found.number if found else 0)
    return _with_changes(connection, tenant, chosen)


def read_blobs(
    connection: Connection, tenant: str, hashes: Iterable[bytes], *, largest: int | None = None
) -> Iterator[tuple[bytes, bytes]]:
    """The blobs that exist and are not larger than that."""
    query = """
    SELECT hash, content FROM vault_blobs WHERE tenant = %(tenant)s AND hash = ANY(%(hashes)s)
    AND (%(largest)s::bigint IS NULL OR octet_length(content) <= %(largest)s)
    """
    values = {"tenant": tenant, "hashes": [*hashes], "largest": largest}
    return iter(rows_of(connection, query, values))


def count_commits(connection: Connection, tenant: str, paths: Sequence[str]) -> int:
    """How many commits changed one of the paths."""
    query = "SELECT count(DISTINCT number) FROM vault_changes WHERE tenant = %(tenant)s AND path = ANY(%(paths)s)"
    return int(rows_of(connection, query, {"tenant": tenant, "paths": [*paths]})[0][0])


def erase(connection: Connection, tenant: str, paths: Sequence[str]) -> None:
    """Remove every version of these files, their names and what commits say of them.

    A commit that erased one keeps a change without a name, which says that something was erased.
    """
    values = {"tenant": tenant, "paths": [*paths]}
    gone = """
    DELETE FROM vault_changes WHERE tenant = %(tenant)s AND path = ANY(%(paths)s)
    RETURNING number, path, landed, before, after
    """
    removed = rows_of(connection, gone, values)
    _rename_in_messages(connection, tenant, paths, {number for number, *_ in removed})
    erasing = {each.number for each in _commits(connection, tenant, "kind = 'erase'")}
    kept = {(number, nameless(path), landed) for number, path, landed, *_ in removed if number in erasing}
    with connection.cursor() as cursor:
        rows = [(tenant, number, path, landed, b"", None, 0, None, 0) for number, path, landed in kept]
        cursor.executemany(_NEW_CHANGE, rows)
    update = "UPDATE vault_changes SET source = NULL, likeness = 0 WHERE tenant = %s AND source = ANY(%s)"
    connection.execute(update, (tenant, [*paths]))
    _drop_blobs(connection, tenant, {hash for *_, before, after in removed for hash in (before, after) if hash})


def nameless(path: str) -> str:
    """What is left of the path of an erased note: that of an entry without its words, of another note nothing."""
    wordless = wordless_path(path)
    return wordless if wordless != path else ERASED_PATH


def _rename_in_messages(connection: Connection, tenant: str, paths: Sequence[str], numbers: set[int]) -> None:
    for each in _commits(connection, tenant, "number = ANY(%(numbers)s)", numbers=[*numbers]):
        body = each.body
        for path in paths:
            body = body.replace(path.encode(), nameless(path).encode())
        if body != each.body:
            connection.execute(
                "UPDATE vault_commits SET body = %s WHERE tenant = %s AND number = %s", (body, tenant, each.number)
            )


def _drop_blobs(connection: Connection, tenant: str, hashes: set[bytes]) -> None:
    """Delete those of these blobs that no commit has any more."""
    connection.execute(
        "DELETE FROM vault_blobs b WHERE tenant = %s AND hash = ANY(%s) AND NOT EXISTS"
        " (SELECT FROM vault_changes c WHERE c.tenant = b.tenant AND c.after = b.hash)",
        (tenant, [*hashes]),
    )


def all_commits(connection: Connection, tenant: str, *, after: int, limit: int) -> list[StoredCommit]:
    """The commits with higher numbers than that, in order, at most so many."""
    return _commits(connection, tenant, "number > %(after)s ORDER BY number LIMIT %(most)s", after=after, most=limit)


def changes_of(connection: Connection, tenant: str, numbers: Sequence[int]) -> dict[int, list[PathChange]]:
    """What each of these commits changed."""
    return _changes_of(connection, tenant, numbers, path=None)


def _with_changes(connection: Connection, tenant: str, commits: Sequence[StoredCommit]) -> tuple[CommitChange, ...]:
    changes = _changes_of(connection, tenant, [each.number for each in commits], path=None)
    return tuple(_commit_change(each, changes[each.number]) for each in commits)


def _commit_change(commit: StoredCommit, changes: Sequence[PathChange]) -> CommitChange:
    renames = tuple(Rename(each.source, each.path, each.likeness) for each in changes if each.source)
    return CommitChange(
        commit.revision({each.path: each.kind for each in changes}),
        {each.path: each.after.hex() for each in changes if each.after},
        renames,
        {each.path: each.before.hex() for each in changes if each.before},
    )


def _changes_of(
    connection: Connection, tenant: str, numbers: Sequence[int], *, path: str | None
) -> dict[int, list[PathChange]]:
    query = """
    SELECT number, path, before, after, size, source, likeness FROM vault_changes
    WHERE tenant = %(tenant)s AND number = ANY(%(numbers)s) AND (%(path)s::text IS NULL OR path = %(path)s)
    ORDER BY number, path
    """
    found: dict[int, list[PathChange]] = {number: [] for number in numbers}
    for number, *change in rows_of(connection, query, {"tenant": tenant, "numbers": [*numbers], "path": path}):
        found[number].append(PathChange(*change))
    return found


def _files_at(
    connection: Connection, tenant: str, commit: StoredCommit, paths: Sequence[str] | None
) -> list[tuple[str, bytes | None, int]]:
    point = _point(connection, tenant, commit)
    values = {"tenant": tenant, "paths": [*paths] if paths is not None else None, "own": [*point.own]}
    return [(path, hash, size) for path, hash, size in rows_of(connection, _AT_POINT, {**values, "base": point.base})]


def _point(connection: Connection, tenant: str, commit: StoredCommit) -> _Point:
    """The commit's place: it follows first parents until one is on the line."""
    own: list[int] = []
    while commit.landed != commit.number:
        own.append(commit.number)
        above = _commits(connection, tenant, "number = %(number)s", number=commit.parents[0]) if commit.parents else []
        if not above:
            return _Point(0, tuple(own))
        commit = above[0]
    return _Point(commit.number, tuple(own))


def _require(connection: Connection, tenant: str, commit: str) -> StoredCommit:
    found = _find(connection, tenant, commit)
    if found is None:
        raise VaultUnavailable(f"no such commit: {commit}", hint="`commonplace note history PATH` lists commits.")
    return found


def _find(connection: Connection, tenant: str, commit: str) -> StoredCommit | None:
    match = _NAME.fullmatch(commit)
    if match is None:
        return None
    condition = "id >= %(name)s AND id < %(after)s LIMIT 2"
    found = _commits(connection, tenant, condition, name=match[1], after=f"{match[1]}g")
    exact = [each for each in found if each.id == match[1]] or found
    current = exact[0] if len(exact) == 1 else None
    for _ in match[2]:
        above = current.parents[0] if current and current.parents else 0
        current = next(iter(_commits(connection, tenant, "number = %(number)s", number=above)), None)
    return current


def _commits(connection: Connection, tenant: str, condition: str, **values: object) -> list[StoredCommit]:
    query = f"SELECT {_COMMIT} FROM vault_commits WHERE tenant = %(tenant)s AND {condition}"  # noqa: S608 (our own words)
    return [_commit(row) for row in rows_of(connection, query, {"tenant": tenant, **values})]


def _commit(row: tuple[Any, ...]) -> StoredCommit:
    number, id, parents, landed, committer, author, body, kind = row
    return StoredCommit(number, id, tuple(parents), landed, committer, author, body, kind)


def moment(ident: str) -> datetime:
    """The time at the end of an author or committer."""
    match = _IDENT.fullmatch(ident)
    return moment_of(match[2], f" {match[3]}") if match else moment_of("0")
