"""Private files: whole or as they were, for their owner alone, changed by one program at a time."""

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonplace.daemon.private_files import turn_at, write_privately


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another program has its turn at this file."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.parametrize("is_lasting", [True, False])
def test_a_file_says_what_was_written_to_its_owner_alone(tmp_path: Path, is_lasting: bool) -> None:
    """Also where one is there that others may read."""
    path = tmp_path / "list.json"
    path.write_text("old")
    path.chmod(0o644)
    write_privately(path, {"a": "\N{GRINNING FACE}"}, is_lasting=is_lasting)

    assert json.loads(path.read_text()) == {"a": "\N{GRINNING FACE}"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_cannot_be_written_leaves_the_file_as_it_was_and_nothing_else(tmp_path: Path) -> None:
    """A disk that is full must not fill up with halves."""
    path = tmp_path / "list.json"
    write_privately(path, {"a": 1})

    with pytest.raises(TypeError):
        write_privately(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert os.listdir(tmp_path) == ["list.json"]


def test_a_turn_that_does_not_come_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program may hang; when it has gone, the turn comes."""
    monkeypatch.setattr("commonplace.daemon.private_files._TURN", 0.05)
    path = tmp_path / "list.json"

    with held(path), pytest.raises(TimeoutError, match="another program"), turn_at(path):
        pass
    with turn_at(path):
        assert path.with_suffix(".lock").exists()
