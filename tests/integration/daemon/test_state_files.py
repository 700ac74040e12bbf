"""Private files are whole and their owner's alone, and one process per user is the daemon."""

import fcntl
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonplace.client.paths import DaemonFiles, daemon_files
from commonplace.client.start import DaemonState, is_daemon_running
from commonplace.daemon.serve import listen_on_file, listen_on_port
from commonplace.daemon.service.state_files import (
    file_lock,
    instance_lock,
    running_daemon,
    write_private_file,
)
from commonplace.errors import VaultUnavailable

STATE = DaemonState(1, "2026-03-01T09:12:44Z", "0.1.0", 8377, "/s", "http://127.0.0.1:8377")


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DaemonFiles:
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "state"))
    return daemon_files()


def test_only_one_has_the_claim(where: DaemonFiles) -> None:
    """The second gets none; when the first lets go, another may have it."""
    with instance_lock(where) as first, instance_lock(where) as second:
        taken = (first is not None, second is None, is_daemon_running(where))
    with instance_lock(where) as third:
        again = third is not None

    assert taken == (True, True, True)
    assert again
    assert not is_daemon_running(where)


def test_a_daemon_is_announced_while_it_holds_the_claim(where: DaemonFiles) -> None:
    """What a killed daemon left says nothing, and is gone as soon as there is a new one."""
    with instance_lock(where) as claim:
        assert claim
        claim.announce(STATE)
        during = running_daemon(where)
        mode = where.state.stat().st_mode & 0o777
        left = where.state.read_bytes()
    where.state.write_bytes(left)
    after = running_daemon(where)
    with instance_lock(where):
        replaced = running_daemon(where)

    assert (during, mode) == (STATE, 0o600)
    assert after is None
    assert replaced is None


def test_a_killed_process_holds_no_claim(where: DaemonFiles) -> None:
    """The kernel lets go of the lock, whatever children the process leaves behind."""
    code = (
        "import os, subprocess, sys\n"
        "from commonplace.client.paths import daemon_files\n"
        "from commonplace.daemon.service.state_files import instance_lock\n"
        "with instance_lock(daemon_files()) as claim:\n"
        "    assert claim\n"
        "    child = subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "    print(child.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    orphan = int(run.stdout)
    try:
        free = not is_daemon_running(where)
    finally:
        os.kill(orphan, 9)

    assert run.returncode == -9
    assert free


def test_a_state_folder_that_others_may_enter_is_refused(where: DaemonFiles) -> None:
    """Tokens and the socket lie there."""
    where.folder.mkdir(parents=True)
    where.folder.chmod(0o755)

    with pytest.raises(VaultUnavailable, match="open to other users"), instance_lock(where):
        pass


def test_a_link_in_place_of_the_state_folder_is_refused(where: DaemonFiles, tmp_path: Path) -> None:
    """It might lead into somebody else's."""
    where.folder.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    where.folder.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(VaultUnavailable, match="not a folder"), instance_lock(where):
        pass


@pytest.mark.requirement("A-25")
def test_a_taken_port_leads_to_the_next_one_of_the_loopback() -> None:
    """127.0.0.1 and no other address of the machine."""
    first = listen_on_port(20000 + os.getpid() % 20000)
    second = listen_on_port(first.getsockname()[1])
    names = first.getsockname(), second.getsockname()
    first.close()
    second.close()

    assert {host for host, _ in names} == {"127.0.0.1"}
    assert 0 < names[1][1] - names[0][1] <= 20


def test_answers_on_a_kept_connection_do_not_wait_for_an_acknowledgement() -> None:
    """asyncio sets TCP_NODELAY on connections whose listener names its protocol, and on no others."""
    with listen_on_port(20000 + os.getpid() % 20000) as listener:
        protocol = listener.proto

    assert protocol == socket.IPPROTO_TCP


def test_a_dead_socket_is_replaced_and_the_new_one_is_its_owners_alone(tmp_path: Path) -> None:
    """Whatever the umask says."""
    path = tmp_path / "serve.sock"
    before = os.umask(0)
    try:
        listen_on_file(path).close()
        made = listen_on_file(path)
    finally:
        os.umask(before)
    made.close()

    assert path.stat().st_mode & 0o777 == 0o600


def test_a_daemon_that_cannot_write_where_it_listens_says_so() -> None:
    """The disk is full, or the place is taken by something else."""
    where = daemon_files()
    with instance_lock(where) as claim:
        assert claim
        where.state.mkdir()
        with pytest.raises(VaultUnavailable, match="state file cannot be written"):
            claim.announce(STATE)
        where.state.rmdir()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another program has its turn at this file."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_says_what_was_written_to_its_owner_alone(tmp_path: Path, durable: bool) -> None:
    """Also where one is there that others may read."""
    path = tmp_path / "list.json"
    path.write_text("old")
    path.chmod(0o644)
    write_private_file(path, {"a": "\N{GRINNING FACE}"}, durable=durable)

    assert json.loads(path.read_text()) == {"a": "\N{GRINNING FACE}"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_cannot_be_written_leaves_the_file_as_it_was_and_nothing_else(tmp_path: Path) -> None:
    """A disk that is full must not fill up with halves."""
    path = tmp_path / "list.json"
    write_private_file(path, {"a": 1})

    with pytest.raises(TypeError):
        write_private_file(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert os.listdir(tmp_path) == ["list.json"]


def test_a_turn_that_does_not_come_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program may hang; when it has gone, the turn comes."""
    monkeypatch.setattr("commonplace.daemon.service.state_files._LOCK_SECONDS", 0.05)
    path = tmp_path / "list.json"

    with held(path), pytest.raises(TimeoutError, match="another program"), file_lock(path):
        pass
    with file_lock(path):
        assert path.with_suffix(".lock").exists()
