"""One daemon for each user: the lock says who, and a file says where."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.client.places import Places, places
from commonplace.client.state import State
from commonplace.daemon.listening import listen_on_file, listen_on_port
from commonplace.daemon.single import announced, claimed, is_claimed
from commonplace.errors import VaultUnavailable

STATE = State(1, "2026-03-01T09:12:44Z", "0.1.0", 8377, "/s", "http://127.0.0.1:8377")


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "state"))
    return places()


def test_only_one_has_the_claim(where: Places) -> None:
    """The second gets none; when the first lets go, another may have it."""
    with claimed(where) as first, claimed(where) as second:
        taken = (first is not None, second is None, is_claimed(where))
    with claimed(where) as third:
        again = third is not None

    assert taken == (True, True, True)
    assert again
    assert not is_claimed(where)


def test_a_daemon_is_announced_while_it_holds_the_claim(where: Places) -> None:
    """What a killed daemon left says nothing, and is gone as soon as there is a new one."""
    with claimed(where) as claim:
        assert claim
        claim.announce(STATE)
        during = announced(where)
        mode = where.state.stat().st_mode & 0o777
        left = where.state.read_bytes()
    where.state.write_bytes(left)
    after = announced(where)
    with claimed(where):
        replaced = announced(where)

    assert (during, mode) == (STATE, 0o600)
    assert after is None
    assert replaced is None


def test_a_killed_process_holds_no_claim(where: Places) -> None:
    """The kernel lets go of the lock, whatever children the process leaves behind."""
    code = (
        "import os, subprocess, sys\n"
        "from commonplace.client.places import places\n"
        "from commonplace.daemon.single import claimed\n"
        "with claimed(places()) as claim:\n"
        "    assert claim\n"
        "    child = subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "    print(child.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    orphan = int(run.stdout)
    try:
        free = not is_claimed(where)
    finally:
        os.kill(orphan, 9)

    assert run.returncode == -9
    assert free


def test_a_state_folder_that_others_may_enter_is_refused(where: Places) -> None:
    """Tokens and the socket lie there."""
    where.folder.mkdir(parents=True)
    where.folder.chmod(0o755)

    with pytest.raises(VaultUnavailable, match="open to other users"), claimed(where):
        pass


def test_a_link_in_place_of_the_state_folder_is_refused(where: Places, tmp_path: Path) -> None:
    """It might lead into somebody else's."""
    where.folder.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    where.folder.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(VaultUnavailable, match="not a folder"), claimed(where):
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
