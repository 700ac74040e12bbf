"""A transaction on the rows of a vault: compare, change the files, and add one commit; which files were renamed."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonplace.database.postgresql import Connection
from commonplace.errors import Refused
from commonplace.vault.base import Label, TransactionResult, version_of
from commonplace.vault.changes import Change, Move, Write, completed_label
from commonplace.vault.file_table import apply_changes, look_up
from commonplace.vault.git.commit import Author, NewCommit, message_of
from commonplace.vault.git.history import MUTATION, path_trailers
from commonplace.vault.postgresql.commits import (
    PathChange,
    StoredCommit,
    add_commit,
    commit_id,
    head_number,
    id_of,
    kind_of,
    read_blobs,
    set_head,
)
from commonplace.vault.postgresql.files import StoredFile, files_like, put_files, remove_files
from commonplace.vault.postgresql.schema import rows_of

_LEAST_LIKENESS: Final = 30  # percent; a note that was renamed and edited at once counts as renamed, as in git
_MOST_COMPARED: Final = 1000  # pairs of files in one commit


def carry_out(
    connection: Connection, tenant: str, changes: Sequence[Change], *, label: Label | None, author: Author
) -> TransactionResult:
    """Make all of these changes, in one commit. Raises when one is refused, and then the caller makes none."""
    paths = [path for change in changes for path in _paths(change)]
    before = files_like(connection, tenant, paths)
    now = _now(connection)
    after = apply_changes(before, changes, create=lambda content: new_file(content, now))
    removed = [path for path in before if path not in after]
    written = {path: file for path, file in after.items() if before.get(path) is not file}
    head = head_number(connection, tenant)
    if not removed and not written:
        return TransactionResult(id_of(connection, tenant, head), changed=False)
    remove_files(connection, tenant, removed)
    put_files(connection, tenant, {path: replace(file, is_derived=False) for path, file in written.items()})
    made = _file_changes(before, written, removed)
    if not made:  # only derived files were removed
        return TransactionResult(id_of(connection, tenant, head), changed=True)
    made = find_renames(connection, tenant, made)
    parent = (head, id_of(connection, tenant, head) or "")
    commit = _commit(completed_label(label, changes), made, author=author, now=now, parent=parent)
    add_commit(connection, tenant, commit, made)
    set_head(connection, tenant, commit.number)
    return TransactionResult(commit.id, changed=True)


def derive_file(connection: Connection, tenant: str, path: str, content: bytes) -> None:
    """Write a derived file, which no commit has, unless it has this content already.

    Raises Refused when a file that is in the history is there, or a folder.
    """
    before = files_like(connection, tenant, [path])
    after = apply_changes(before, [Write(path, content, None)], create=lambda new: _derived(new, _now(connection)))
    present = before.get(look_up(before, path).path)
    if present and not present.is_derived:
        raise _is_in_history(path)
    put_files(connection, tenant, {each: file for each, file in after.items() if before.get(each) is not file})


def new_file(content: bytes, now: float) -> StoredFile:
    """A file with these bytes, written now."""
    return StoredFile(version_of(content), len(content), now, content=content)


def find_renames(connection: Connection, tenant: str, changes: Sequence[PathChange]) -> list[PathChange]:
    """The changes of a commit, whose contents are stored, with what was renamed."""
    return with_renames(changes, _read_texts(connection, tenant, changes))


def with_renames(changes: Sequence[PathChange], contents: Mapping[bytes, bytes]) -> list[PathChange]:
    """The changes, each new file with the removed one that it resembles most, if there is one."""
    gone = [each for each in changes if each.after is None and each.before]
    new = [each for each in changes if each.before is None and each.after]
    if not gone or not new or len(gone) * len(new) > _MOST_COMPARED:
        return [*changes]
    pairs = sorted(
        ((_likeness(old, each, contents), old.path, each.path) for old in gone for each in new),
        key=lambda pair: (-pair[0], pair[1:]),
    )
    sources: dict[str, tuple[str, int]] = {}
    taken: set[str] = set()
    for likeness, source, target in pairs:
        if likeness >= _LEAST_LIKENESS and source not in taken and target not in sources:
            sources[target] = (source, likeness)
            taken.add(source)
    return [
        replace(each, source=sources[each.path][0], likeness=sources[each.path][1]) if each.path in sources else each
        for each in changes
    ]


def _likeness(old: PathChange, new: PathChange, contents: Mapping[bytes, bytes]) -> int:
    """How much of the larger file both have, by whole lines, in percent."""
    if old.before == new.after:
        return 100
    before, after = contents.get(old.before or b"", b""), contents.get(new.after or b"", b"")
    common = Counter(before.splitlines(keepends=True)) & Counter(after.splitlines(keepends=True))
    return sum(len(line) * count for line, count in common.items()) * 100 // max(len(before), len(after), 1)


def _read_texts(connection: Connection, tenant: str, changes: Sequence[PathChange]) -> dict[bytes, bytes]:
    """The contents of the files that were removed and added, if there are both."""
    gone = {each.before for each in changes if each.after is None and each.before}
    new = {each.after for each in changes if each.before is None and each.after}
    if not gone or not new or gone == new or len(gone) * len(new) > _MOST_COMPARED:
        return {}
    return dict(read_blobs(connection, tenant, gone | new))


def _file_changes(
    before: Mapping[str, StoredFile], written: Mapping[str, StoredFile], removed: Iterable[str]
) -> list[PathChange]:
    """What the commit holds: derived files were in no commit before."""
    changes = [
        PathChange(path, _hash(before.get(path)), file.hash, file.size)
        for path, file in written.items()
        if _hash(before.get(path)) != file.hash
    ]
    return changes + [PathChange(path, hash, None) for path in removed if (hash := _hash(before[path]))]


def _hash(file: StoredFile | None) -> bytes | None:
    return file.hash if file and not file.is_derived else None


def _commit(
    label: Label, changes: Sequence[PathChange], *, author: Author, now: float, parent: tuple[int, str]
) -> StoredCommit:
    (number, above), line = parent, author.line(now).decode()
    mutation = (MUTATION, os.urandom(16).hex())  # names the commit after an export, too
    trailers = (*label.trailers, *path_trailers([each.path for each in changes]), mutation)
    body = message_of(NewCommit(label.message, trailers, {}))
    id = commit_id([above], committer=line, body=body, changes=changes)
    return StoredCommit(number + 1, id, (number,) if number else (), number + 1, line, line, body, kind_of(body))


def _derived(content: bytes, now: float) -> StoredFile:
    return replace(new_file(content, now), is_derived=True)


def _is_in_history(path: str) -> Refused:
    return Refused(
        f"a file that Commonplace did not generate is where a generated one belongs: {path}",
        path=path,
        hint="Rename it, or delete it if it is a copy of a generated one.",
    )


def _now(connection: Connection) -> float:
    """The time by the clock of the server, which is one for all machines."""
    return float(rows_of(connection, "SELECT extract(epoch FROM clock_timestamp())::double precision", {})[0][0])


def _paths(change: Change) -> tuple[str, ...]:
    return (change.path, change.destination) if isinstance(change, Move) else (change.path,)
