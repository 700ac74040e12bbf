"""What a device-local store does beyond the contract: modes, names on disk, rollback and OS errors."""

import errno
import os
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

from commonplace.errors import Conflict, VaultUnavailable
from commonplace.testing import ContractCheck, Store
from commonplace.testing.reads import PATHS
from commonplace.vault import atomic, temporary_files
from commonplace.vault import tree as spell
from commonplace.vault.base import ABSENT
from commonplace.vault.local import DeviceLocal
from commonplace.vault.syscalls import rename_new
from commonplace.vault.tree import FileLocation


@pytest.fixture
def store(tmp_path: Path) -> DeviceLocal:
    return DeviceLocal(tmp_path)


def _write(store: DeviceLocal, path: str, content: bytes = b"new", *, expected: str | None = None) -> None:
    with store.transaction() as changes:
        changes.write(store.resolve(path), content, expected=expected)


def _change_all(store: DeviceLocal) -> None:
    with store.transaction() as changes:
        changes.write(store.resolve("replaced.md"), b"new")
        changes.write(store.resolve("new/folder/new.md"), b"new")
        changes.delete(store.resolve("deleted.md"))
        changes.move(store.resolve("moved.md"), store.resolve("other/moved.md"))
        changes.write(store.resolve("last.md"), b"new")


def _write_both(store: DeviceLocal) -> None:
    with store.transaction() as changes:
        changes.write(store.resolve("first.md"), b"new")
        changes.write(store.resolve("second.md"), b"new")


def test_a_new_file_has_the_mode_of_the_umask(store: DeviceLocal, tmp_path: Path) -> None:
    """A note is as readable as any other file the person makes."""
    before = os.umask(0o027)
    try:
        _write(store, "note.md")
    finally:
        os.umask(before)

    assert (tmp_path / "note.md").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode(store: DeviceLocal, tmp_path: Path, mode: int) -> None:
    """What a person hid stays hidden, and what was shared stays shared."""
    (tmp_path / "note.md").write_bytes(b"old")
    (tmp_path / "note.md").chmod(mode)

    _write(store, "note.md")

    assert (tmp_path / "note.md").stat().st_mode & 0o777 == mode


def test_a_name_the_disk_spells_decomposed_is_that_file(store: DeviceLocal, tmp_path: Path) -> None:
    """A Mac writes accents decomposed: path and folder are found, and the locator carries the disk's spelling."""
    composed, decomposed = "Caf\u00e9/M\u00fcsli.md", unicodedata.normalize("NFD", "Caf\u00e9/M\u00fcsli.md")
    (tmp_path / decomposed).parent.mkdir()
    (tmp_path / decomposed).write_bytes(b"old")

    _write(store, composed)
    _write(store, "Caf\u00e9/neu/x.md")

    assert store.resolve(composed).path == decomposed
    assert (tmp_path / decomposed).read_bytes() == b"new"
    assert store.resolve("Caf\u00e9/neu/y.md").path == unicodedata.normalize("NFD", "Caf\u00e9") + "/neu/y.md"
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize("check", PATHS, ids=str)
def test_a_disk_that_ignores_case_changes_no_rule(
    check: ContractCheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system opens `note.md` as `NOTE.md`, the list of the folder decides what it is called."""
    real = spell._lstat

    def lstat(folder: int, name: str) -> os.stat_result | None:
        key = unicodedata.normalize("NFC", name).casefold()
        names = (each for each in spell._names_in(folder) if unicodedata.normalize("NFC", each).casefold() == key)
        return real(folder, next(names, name))

    monkeypatch.setattr(spell, "_lstat", lstat)

    check(Store(open=lambda: DeviceLocal(tmp_path)))


def test_when_a_change_fails_those_before_it_are_taken_back(
    store: DeviceLocal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure at the last step leaves bytes, modes and folders as they were before the first."""
    for name in ("replaced.md", "deleted.md", "moved.md", "last.md"):
        (tmp_path / name).write_bytes(name.encode())
        (tmp_path / name).chmod(0o640)
    before = _snapshot(tmp_path)
    real = atomic.replace

    def fail_at_last(place: FileLocation, content: bytes, *, expected: str, mode: int) -> None:
        if place.path == "last.md":
            raise OSError(errno.EIO, "Input/output error")
        real(place, content, expected=expected, mode=mode)

    monkeypatch.setattr(atomic, "replace", fail_at_last)
    with pytest.raises(VaultUnavailable, match=r"could not change last\.md"):
        _change_all(store)

    assert _snapshot(tmp_path) == before


def test_a_change_that_cannot_be_taken_back_is_told(
    store: DeviceLocal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a person saves over our write before it is taken back, their bytes stay and the error names the file."""
    (tmp_path / "first.md").write_bytes(b"old")

    def save_and_fail(place: FileLocation, content: bytes, *, mode: int | None = None) -> None:
        while len(os.listdir(tmp_path)) > 1 or (tmp_path / "first.md").read_bytes() == b"old":
            time.sleep(0)  # until the other thread has made it
        (tmp_path / "first.md").write_bytes(b"a person's words")
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(atomic, "create", save_and_fail)
    with pytest.raises(VaultUnavailable, match=r"not all changes before it could be undone: first\.md"):
        _write_both(store)

    assert _snapshot(tmp_path) == {"first.md": (b"a person's words", 0o644)}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, errno.EDQUOT])
def test_what_the_system_says_becomes_our_error(
    store: DeviceLocal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """No OSError leaves the room: the error names the path and says what to do, and no half-made file stays."""
    (tmp_path / "note.md").write_bytes(b"old")

    def refuse(opened: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(temporary_files, "flush", refuse)
    with pytest.raises(VaultUnavailable, match=os.strerror(number)) as error:
        _write(store, "note.md")

    assert (error.value.path, error.value.reason, bool(error.value.hint)) == ("note.md", "unavailable", True)
    assert _snapshot(tmp_path) == {"note.md": (b"old", 0o644)}


@pytest.mark.parametrize("path", ["note.md", "new/folder/new.md"])
def test_a_folder_that_cannot_be_flushed_is_as_before(
    store: DeviceLocal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """What is not known to be on the disk is not acknowledged, and is taken out again."""
    (tmp_path / "note.md").write_bytes(b"old")

    def refuse(opened: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(atomic, "flush", refuse)
    with pytest.raises(VaultUnavailable):
        _write(store, path)

    assert _snapshot(tmp_path) == {"note.md": (b"old", 0o644)}
    assert os.listdir(tmp_path) == ["note.md"]


def test_an_error_of_the_system_in_the_block_is_the_callers_own(store: DeviceLocal) -> None:
    """The caller's block may read other files: what goes wrong there is not about the vault."""
    with pytest.raises(FileNotFoundError), store.transaction():
        Path("/nonexistent/file").read_text()


def test_a_write_that_expects_absence_meets_a_file_made_meanwhile(
    store: DeviceLocal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's new file of that name stays, and ours is refused."""

    def save_first(source_folder: int, source: str, folder: int, name: str) -> None:
        (tmp_path / "new/note.md").write_bytes(b"a person's words")
        rename_new(source_folder, source, folder, name)

    monkeypatch.setattr(atomic, "rename_new", save_first)
    with pytest.raises(Conflict, match="already exists"):
        _write(store, "new/note.md", expected=ABSENT)

    assert _snapshot(tmp_path) == {"new/note.md": (b"a person's words", 0o644)}


def test_the_room_can_be_imported_where_the_system_is_another() -> None:
    """Windows has neither fcntl nor the flags that keep links out: the import works, and opening says so."""
    program = """
import os, sys
sys.modules["fcntl"] = None
for flag in ("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC"):
    delattr(os, flag)
os.supports_dir_fd.clear()
from pathlib import Path
from commonplace.errors import VaultUnavailable
from commonplace.vault.local import DeviceLocal
try:
    DeviceLocal(Path("."))
except VaultUnavailable as error:
    print(error.hint)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "WSL" in run.stdout


def _snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and mode; folders without files count too."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes() if path.is_file() else b"", path.stat().st_mode & 0o777)
        for path in root.rglob("*")
        if path.is_file() or not any(path.iterdir())
    }
