"""Turns at remembering: one at a time, in all threads and processes, and a wait that ends."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commonplace.app.stores import save_lock_in
from commonplace.errors import VaultUnavailable


@pytest.mark.parametrize("kept", [True, False])
def test_threads_take_turns(tmp_path: Path, kept: bool) -> None:
    """Of many that look and then write, none sees what another is about to change."""
    turn = save_lock_in(tmp_path if kept else None, wait=10)
    count = 0

    def add() -> None:
        nonlocal count
        for _ in range(50):
            with turn():
                seen = count
                threading.Event().wait(0)
                count = seen + 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert count == 200


def test_another_process_is_waited_for_and_told_of(tmp_path: Path) -> None:
    """A lock that is held elsewhere ends in a clear error, and a killed holder leaves it free."""
    script = (
        "import sys, time; from pathlib import Path; from commonplace.app.stores import save_lock_in\n"
        "with save_lock_in(Path(sys.argv[1]), wait=1)():\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(VaultUnavailable) as error, save_lock_in(tmp_path, wait=0.1)():
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with save_lock_in(tmp_path, wait=5)():
        again = True

    assert error.value.reason == "locked"
    assert again
