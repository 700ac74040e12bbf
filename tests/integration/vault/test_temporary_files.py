"""A replaced note keeps its owner and attributes, and Ctrl-C does not interrupt a change halfway."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.vault.local import DeviceLocal
from commonplace.vault.syscalls import defer_interrupts


def write(root: Path, name: str, content: bytes) -> None:
    store = DeviceLocal(root)
    with store.transaction() as changes:
        changes.write(store.resolve(name), content)


def test_a_replaced_note_keeps_its_extended_attributes(tmp_path: Path) -> None:
    """Labels that other programs put on it, such as a file manager's tags."""
    note = tmp_path / "a.md"
    note.write_text("old")
    try:
        os.setxattr(note, "user.tag", b"red")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    write(tmp_path, "a.md", b"new")

    assert (note.read_text(), os.getxattr(note, "user.tag")) == ("new", b"red")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to someone else")
def test_a_replaced_note_keeps_its_owner(tmp_path: Path) -> None:
    """A service that writes for a person does not take their note away from them."""
    note = tmp_path / "a.md"
    note.write_text("old")
    os.chown(note, 1234, 1235)
    write(tmp_path, "a.md", b"new")

    assert (note.stat().st_uid, note.stat().st_gid) == (1234, 1235)


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Interrupts as a terminal sends them: a job in the background of a shell starts with them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_waits_until_the_changes_are_made() -> None:
    """And is not lost."""
    steps = []

    def work() -> None:
        with defer_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("done")

    with pytest.raises(KeyboardInterrupt):
        work()

    assert steps == ["done"]
