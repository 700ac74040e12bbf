"""What a device-local store refuses to touch: symbolic links below its root, and anything but a regular file."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, Refused, VaultUnavailable
from commonplace.model import Stat
from commonplace.vault import files, tree
from commonplace.vault.base import Locator
from commonplace.vault.local import DeviceLocal
from commonplace.vault.tree import FileLocation


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault beside a folder that is not part of it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.md").write_text("secret")
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "real").mkdir()
    (vault / "real/note.md").write_text("real")
    return vault


def _read(store: DeviceLocal, path: str) -> None:
    store.read(Locator(path, store))


def _stat(store: DeviceLocal, path: str) -> None:
    store.stat(Locator(path, store))


def _exists(store: DeviceLocal, path: str) -> None:
    store.exists(Locator(path, store))


def _write(store: DeviceLocal, path: str) -> None:
    with store.transaction() as changes:
        changes.write(Locator(path, store), b"new")


def _delete(store: DeviceLocal, path: str) -> None:
    with store.transaction() as changes:
        changes.delete(Locator(path, store))


def _move_from(store: DeviceLocal, path: str) -> None:
    with store.transaction() as changes:
        changes.move(Locator(path, store), store.resolve("moved.md"))


def _move_to(store: DeviceLocal, path: str) -> None:
    with store.transaction() as changes:
        changes.move(store.resolve("real/note.md"), Locator(path, store))


VERBS: list[Callable[[DeviceLocal, str], None]] = [_read, _stat, _exists, _write, _delete, _move_from, _move_to]
LINKS = {
    "file-outside.md": "../outside/secret.md",
    "file-inside.md": "real/note.md",
    "dangling.md": "nowhere.md",
    "folder-outside/secret.md": "../outside",
    "folder-inside/note.md": "real",
}


@pytest.mark.requirement("D-29", "D-33")
@pytest.mark.parametrize("path", LINKS)
def test_no_verb_follows_a_link(root: Path, path: str) -> None:
    """A link is refused as file and as folder, wherever it leads, even when it came after the path was resolved."""
    link = path.partition("/")[0]
    (root / link).symlink_to(LINKS[path])

    for verb in VERBS:
        with pytest.raises(Refused, match=f"'{link}' is a symbolic link") as refusal:
            verb(DeviceLocal(root), path)

        assert (refusal.value.reason, (root / link).is_symlink()) == ("path_escape", True), verb
        assert (root.parent / "outside/secret.md").read_text() == "secret", verb
        assert (root / "real/note.md").read_text() == "real", verb
        assert sorted(os.listdir(root.parent / "outside")) == ["secret.md"], verb


@pytest.mark.parametrize("path", LINKS)
def test_a_link_is_refused_when_its_path_is_resolved(root: Path, path: str) -> None:
    """The first guard says so at once."""
    (root / path.partition("/")[0]).symlink_to(LINKS[path])

    with pytest.raises(Refused, match="is a symbolic link"):
        DeviceLocal(root).resolve(path)


def test_a_new_file_is_not_made_through_a_linked_folder(root: Path) -> None:
    """Folders on the way are made, but never behind a link."""
    (root / "link").symlink_to("../outside")
    store = DeviceLocal(root)

    with pytest.raises(Refused), store.transaction() as changes:
        changes.write(Locator("link/new/deep.md", store), b"new")

    assert sorted(os.listdir(root.parent / "outside")) == ["secret.md"]


@pytest.mark.parametrize("path", ["../outside/secret.md", "real/../../outside/secret.md", "/etc/hostname", ".git/x.md"])
def test_a_locator_that_nobody_resolved_leads_nowhere(root: Path, path: str) -> None:
    """Every verb holds the rules of paths again, so that a forged locator gains nothing."""
    for verb in VERBS:
        with pytest.raises(Refused):
            verb(DeviceLocal(root), path)

        assert (root.parent / "outside/secret.md").read_text() == "secret", verb


def test_a_file_swapped_for_a_link_before_it_is_opened_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was a file when it was looked at is opened without following a link."""
    real = files.stat_file

    def look_then_swap(place: FileLocation) -> Stat:
        seen = real(place)
        (root / "real/note.md").unlink()
        (root / "real/note.md").symlink_to(root.parent / "outside/secret.md")
        return seen

    monkeypatch.setattr(files, "stat_file", look_then_swap)
    with pytest.raises(Refused, match="is a symbolic link"):
        _read(DeviceLocal(root), "real/note.md")


@pytest.mark.parametrize("verb", [_read, _write])
def test_a_folder_swapped_for_a_link_before_it_is_entered_is_not_entered(
    root: Path, monkeypatch: pytest.MonkeyPatch, verb: Callable[[DeviceLocal, str], None]
) -> None:
    """What was a folder when it was looked at is opened without following a link."""
    real = tree._Descent.enter

    def swap_then_enter(descent: tree._Descent, name: str, *, flags: int = tree.FOLDER_FLAGS) -> None:
        (root / "real").rename(root / "was real")
        (root / "real").symlink_to(root.parent / "outside")
        real(descent, name, flags=flags)

    monkeypatch.setattr(tree._Descent, "enter", swap_then_enter)
    with pytest.raises(Refused, match="'real' is a symbolic link"):
        verb(DeviceLocal(root), "real/secret.md")

    assert (root.parent / "outside/secret.md").read_text() == "secret"


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket"])
def test_no_verb_touches_what_is_no_file(root: Path, kind: str) -> None:
    """A folder, a pipe or a socket under a note's name is refused, and nobody waits for it."""
    path = root / "odd.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        _make_socket(path)
    before = path.lstat().st_ino

    for verb in VERBS:
        with pytest.raises(Refused, match=r"odd\.md is a .*, not a file"):
            verb(DeviceLocal(root), "odd.md")

        assert path.lstat().st_ino == before, verb


def _make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is at most 107 bytes long
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


def test_the_root_itself_may_be_a_link(root: Path) -> None:
    """A person may keep the vault elsewhere and link to it."""
    alias = root.parent / "alias"
    alias.symlink_to(root)
    store = DeviceLocal(alias)

    assert store.read(store.resolve("real/note.md")).content == b"real"


@pytest.mark.parametrize("name", ["missing", "file.md", "loop"])
def test_a_root_that_is_no_folder_is_unavailable(tmp_path: Path, name: str) -> None:
    """What cannot be a vault is said when it is opened, with a hint."""
    (tmp_path / "file.md").write_text("text")
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(VaultUnavailable) as error:
        DeviceLocal(tmp_path / name)

    assert (error.value.path, bool(error.value.hint)) == (str(tmp_path / name), True)


def test_a_root_that_went_away_is_unavailable(root: Path) -> None:
    """An unmounted vault is not an empty one."""
    store = DeviceLocal(root)
    root.rename(root.parent / "elsewhere")

    for use in (lambda: store.resolve("real/note.md"), store.list, lambda: _write(store, "new.md")):
        with pytest.raises(CommonplaceError) as error:
            use()
        assert (type(error.value), error.value.reason) == (VaultUnavailable, "unavailable")
