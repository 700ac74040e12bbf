"""Vaults in a database to folders and back: the notes with every version of them, as a git repository.

What is written into a folder is a vault like any other: `commonplace init` adopts it.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.app.vaults import author_of, create_folder, open_postgresql
from commonplace.errors import CommonplaceError, Conflict, NotFound, Refused, UsageError
from commonplace.model.progress import Progress, ignore_progress
from commonplace.screening.secrets import is_secret_file
from commonplace.settings.database_vaults import shown_vault, tenant_in
from commonplace.settings.schema import Settings
from commonplace.vault.base import ABSENT
from commonplace.vault.folder import VaultLock
from commonplace.vault.git.baseline import plan_baseline
from commonplace.vault.git.history import raw_blobs
from commonplace.vault.git.location import covers
from commonplace.vault.git.run import Git
from commonplace.vault.git.transfer import ExportedCommit, present_files, read_history, repository_of_stream
from commonplace.vault.local import DeviceLocal

LARGEST_FILE: Final = 100_000_000
"""Bytes of the largest version that is imported; a larger one is left out, and named."""

_FILES_AT_ONCE: Final = 500
_UNREADABLE: Final = "it is missing in the repository, over 100 MB, or its path is over 1,000 bytes"


@dataclass(frozen=True, slots=True)
class VaultTransfer:
    """What an export or import did, or would do: the vault, the folder, the counts, and what is left out and why.

    `edits` are files of the folder with content that no commit had; an import commits them.
    """

    vault: str
    folder: Path
    commits: int
    files: int
    versions: int
    edits: int = 0
    left_out: tuple[tuple[str, str], ...] = ()


def export_vault(
    settings: Settings, folder: Path, *, dry_run: bool = False, progress: Progress = ignore_progress
) -> VaultTransfer:
    """Write the notes of a vault in a database, with their whole history, into a new or empty folder under git.

    Raises UsageError for a vault in a folder, Refused for a folder that is not empty; a failure leaves nothing there.
    """
    root = _database_root(settings, "A vault in a folder is copied with `git clone`.")
    vault, target = open_postgresql(settings, root), folder.expanduser().absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Refused("not an empty folder", path=str(target), hint="Name a new folder.")
    there = vault.size()
    done = VaultTransfer(shown_vault(root), target, there.commits, there.files, there.versions)
    if dry_run:
        return done
    author = author_of(settings.vault)
    with (
        _new_folder(target),
        vault.exported(progress=progress) as (stream, files),
        repository_of_stream(target, stream, author=author) as publish,
    ):
        _write_files(DeviceLocal(target), files)
        publish()
    return done


def import_vault(
    settings: Settings, folder: Path, *, dry_run: bool = False, progress: Progress = ignore_progress
) -> VaultTransfer:
    """Store the notes of a folder, with their git history if it has one, in an empty vault in a database.

    Raises UsageError for a vault in a folder, Conflict for a vault that is not empty; a failure leaves nothing there.
    """
    root = _database_root(settings, "Name the vault to fill with --vault postgresql:NAME.")
    vault, source = open_postgresql(settings, root), folder.expanduser().resolve()
    if not source.is_dir():
        raise UsageError("not a folder", path=str(source), hint="Name the folder of a vault.")
    there = vault.size()
    if there.commits or there.files:
        hint = "Import into a new vault: --vault postgresql:NAME."
        raise Conflict(f"the vault {shown_vault(root)} is not empty", hint=hint)
    with VaultLock(source).hold(wait=settings.vault.lock_wait_seconds):
        git, left_out = Git(source), dict[str, str]()
        commits, names = _read_folder(git, left_out)
        edits = 0
        if not dry_run:
            result = vault.import_history(
                commits,
                _present(DeviceLocal(source), names, left_out),
                read=lambda ids: raw_blobs(git, ids, largest=LARGEST_FILE),
                progress=progress,
            )
            left_out |= dict.fromkeys(result.unread, _UNREADABLE)
            edits = result.edits
    versions = len({blob for each in commits for blob in each.files.values() if blob})
    after = vault.size()
    counts = (len(commits), len(names), versions) if dry_run else (after.commits, after.files, after.versions)
    return VaultTransfer(shown_vault(root), source, *counts, edits=edits, left_out=tuple(sorted(left_out.items())))


def _database_root(settings: Settings, hint: str) -> Path:
    root = settings.vault.root
    if root is None or not tenant_in(root):
        raise UsageError(f"the vault {root} is not in a database" if root else "no vault was given", hint=hint)
    return root


def _read_folder(git: Git, left_out: dict[str, str]) -> tuple[Sequence[ExportedCommit], Sequence[str]]:
    """The history of the folder, and the files in it that belong to the vault."""
    if covers(git):
        return read_history(git, left_out), present_files(git)
    baseline = plan_baseline(git.folder, is_secret=is_secret_file)
    left_out |= {each.path: each.reason for each in baseline.left_out}
    return (), baseline.files


def _present(store: DeviceLocal, names: Iterable[str], left_out: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """The files with their bytes; what is no file any more is passed over."""
    for name in sorted(names):
        try:
            blob = store.read(store.resolve(name))
        except NotFound:
            continue
        except CommonplaceError as error:
            left_out[name] = error.message
            continue
        yield blob.stat.path, blob.content


def _write_files(store: DeviceLocal, files: Iterable[tuple[str, bytes]]) -> None:
    """Create the files, some at a time."""
    part: list[tuple[str, bytes]] = []
    for each in files:
        part.append(each)
        if len(part) == _FILES_AT_ONCE:
            _write_some(store, part)
            part = []
    _write_some(store, part)


def _write_some(store: DeviceLocal, files: Iterable[tuple[str, bytes]]) -> None:
    with store.transaction() as changes:
        for path, content in files:
            changes.write(store.resolve(path), content, expected=ABSENT)


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """Create the folder unless it is there; after a failure it is as before."""
    is_new = not folder.exists()
    create_folder(folder)
    try:
        yield
    except BaseException:
        for each in folder.iterdir():
            shutil.rmtree(each, ignore_errors=True) if each.is_dir() and not each.is_symlink() else each.unlink()
        if is_new:
            folder.rmdir()
        raise
