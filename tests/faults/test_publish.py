"""The atomic publish against a person's editor, which knows no lock and may save at any moment."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.errors import Conflict
from commonplace.testing import ContractCheck, Store
from commonplace.testing.changes import CHANGES
from commonplace.testing.transactions import CONCURRENCY, TRANSACTIONS
from commonplace.vault import atomic, syscalls
from commonplace.vault.base import version_of
from commonplace.vault.local import DeviceLocal

Editor = Callable[[], object]
Interrupt = Callable[..., None]


@pytest.fixture
def tmp_path(on_disk: Path) -> Path:
    """What a disk does is tested on a disk."""
    return on_disk


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "folder").mkdir(parents=True)
    (root / "folder/note.md").write_bytes(b"before")
    return root


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Interrupt:
    """Let an editor do something right before each of the next calls of a step of the publish."""

    def before(step: str, *editors: Editor) -> None:
        real, waiting = getattr(atomic, step), iter(editors)

        def interrupted(*arguments: object, **named: object) -> object:
            next(waiting, lambda: None)()
            return real(*arguments, **named)

        monkeypatch.setattr(atomic, step, interrupted)

    return before


def _saves(path: Path, content: bytes) -> Editor:
    return lambda: path.write_bytes(content)


def _saves_by_rename(path: Path, content: bytes) -> Editor:
    def save() -> None:
        (path.parent / "editor~").write_bytes(content)
        (path.parent / "editor~").rename(path)

    return save


def _write(root: Path) -> None:
    store = DeviceLocal(root)
    with store.transaction() as changes:
        changes.write(store.resolve("folder/note.md"), b"ours")


def _delete(root: Path) -> None:
    store = DeviceLocal(root)
    with store.transaction() as changes:
        changes.delete(store.resolve("folder/note.md"))


def _move(root: Path) -> None:
    store = DeviceLocal(root)
    with store.transaction() as changes:
        changes.move(store.resolve("folder/note.md"), store.resolve("other/moved.md"))


def _files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.requirement("A-28")
@pytest.mark.parametrize(("change", "step"), [(_write, "exchange"), (_delete, "rename_new"), (_move, "rename_new")])
@pytest.mark.parametrize("saving", [_saves, _saves_by_rename])
def test_what_a_person_saves_between_compare_and_publish_stays(
    vault: Path,
    interrupt: Interrupt,
    change: Callable[[Path], None],
    step: str,
    saving: Callable[[Path, bytes], Editor],
) -> None:
    """The change is a Conflict, the person's bytes are in place, and nothing else is left behind."""
    interrupt(step, saving(vault / "folder/note.md", b"a person's words"))

    with pytest.raises(Conflict) as error:
        change(vault)

    assert error.value.expected == version_of(b"before")
    assert error.value.found == version_of(b"a person's words")
    assert _files(vault) == {"folder/note.md": b"a person's words"}
    assert sorted(os.listdir(vault)) == ["folder"]


def test_what_a_person_saves_twice_is_kept_twice(vault: Path, interrupt: Interrupt) -> None:
    """A second save that falls between the exchange and its way back is kept beside, and the error says where."""
    note = vault / "folder/note.md"
    interrupt("exchange", _saves(note, b"first save"), _saves(note, b"second save"))

    with pytest.raises(Conflict, match=r"kept next to it as note \(conflict ") as error:
        _write(vault)

    kept = _files(vault)
    assert kept.pop("folder/note.md") == b"first save"
    ((copy, content),) = kept.items()
    assert (content, copy.endswith("Z).md")) == (b"second save", True)
    assert Path(copy).name in error.value.message


def test_a_note_made_anew_while_it_is_deleted_is_kept(vault: Path, interrupt: Interrupt) -> None:
    """Neither what was saved before nor what was made after is lost."""
    note = vault / "folder/note.md"
    interrupt("rename_new", _saves(note, b"first save"), _saves(note, b"made anew"))

    with pytest.raises(Conflict, match="kept next to"):
        _delete(vault)

    assert sorted(_files(vault).values()) == [b"first save", b"made anew"]
    assert _files(vault)["folder/note.md"] == b"made anew"


def test_a_note_made_anew_while_it_is_moved_is_kept(vault: Path, interrupt: Interrupt) -> None:
    """When its old place is taken, what was to be moved stays at its new one, and the error says so."""
    note = vault / "folder/note.md"
    interrupt("rename_new", _saves(note, b"first save"), _saves(note, b"made anew"))

    with pytest.raises(Conflict, match=r"is now other/moved\.md"):
        _move(vault)

    assert _files(vault) == {"folder/note.md": b"made anew", "other/moved.md": b"first save"}


@pytest.mark.parametrize(("change", "step"), [(_write, "exchange"), (_delete, "rename_new"), (_move, "rename_new")])
def test_a_note_deleted_meanwhile_stays_deleted(
    vault: Path, interrupt: Interrupt, change: Callable[[Path], None], step: str
) -> None:
    """A person's delete is an edit too."""
    interrupt(step, (vault / "folder/note.md").unlink)

    with pytest.raises(Conflict):
        change(vault)

    assert _files(vault) == {}


def test_a_note_saved_then_deleted_is_put_back(vault: Path, interrupt: Interrupt) -> None:
    """Whoever deleted it deleted our version: the words saved before it come back rather than vanish."""
    note = vault / "folder/note.md"
    interrupt("exchange", _saves(note, b"a person's words"), note.unlink)

    with pytest.raises(Conflict):
        _write(vault)

    assert _files(vault) == {"folder/note.md": b"a person's words"}


@pytest.mark.parametrize(("change", "step"), [(_write, "exchange"), (_delete, "rename_new"), (_move, "rename_new")])
def test_a_note_swapped_for_a_link_is_not_followed(
    vault: Path, tmp_path: Path, interrupt: Interrupt, change: Callable[[Path], None], step: str
) -> None:
    """The link is put back as it was, and what it leads to is not touched, even if it says what was expected."""
    note, secret = vault / "folder/note.md", tmp_path / "secret.md"
    secret.write_bytes(b"before")

    def swap() -> None:
        note.unlink()
        note.symlink_to(secret)

    interrupt(step, swap)
    with pytest.raises(Conflict):
        change(vault)

    assert (os.readlink(note), secret.read_bytes()) == (str(secret), b"before")
    assert os.listdir(note.parent) == ["note.md"]


@pytest.mark.parametrize("step", ["write_temporary", "exchange"])
def test_a_folder_swapped_for_a_link_is_not_followed(
    vault: Path, tmp_path: Path, interrupt: Interrupt, step: str
) -> None:
    """The publish goes on in the folder it opened, wherever that was moved, and never through the link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_bytes(b"secret")

    def swap() -> None:
        (vault / "folder").rename(tmp_path / "moved away")
        (vault / "folder").symlink_to(outside)

    interrupt(step, swap)
    _write(vault)

    assert _files(outside) == {"note.md": b"secret"}
    assert _files(tmp_path / "moved away") == {"note.md": b"ours"}


@pytest.fixture
def _no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that knows neither flag of renameat2."""
    monkeypatch.setattr(syscalls, "_rename", lambda *names, flags: False)


@pytest.mark.usefixtures("_no_exchange")
@pytest.mark.parametrize("check", [*CHANGES, *TRANSACTIONS, *CONCURRENCY], ids=str)
def test_the_contract_is_kept_where_files_cannot_be_exchanged(check: ContractCheck, tmp_path: Path) -> None:
    """Some file systems only link and rename."""
    check(Store(open=lambda: DeviceLocal(tmp_path)))


@pytest.mark.usefixtures("_no_exchange")
@pytest.mark.parametrize(("change", "step"), [(_write, "exchange"), (_delete, "rename_new"), (_move, "rename_new")])
def test_a_save_is_noticed_where_files_cannot_be_exchanged(
    vault: Path, interrupt: Interrupt, change: Callable[[Path], None], step: str
) -> None:
    """The file is compared once more, right before it is replaced."""
    interrupt(step, _saves(vault / "folder/note.md", b"a person's words"))

    with pytest.raises(Conflict):
        change(vault)

    assert _files(vault) == {"folder/note.md": b"a person's words"}
