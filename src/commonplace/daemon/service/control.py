"""Calling the running daemon on its socket, and stopping it."""

import json
import os
import signal
import time
from typing import Any, Final

from commonplace.client.paths import Unreachable
from commonplace.errors import VaultUnavailable

_STOPPING: Final = 40.0  # seconds: requests, a chore and the watchers each have some to end


_ANSWER: Final = 15.0


def stop_daemon() -> bool:
    """Stop the daemon and wait for its end; True if one was running. Raises VaultUnavailable if it does not stop."""
    from commonplace.daemon.service.state_files import is_daemon_running, running_daemon, user_daemon_files

    where = user_daemon_files()
    if not is_daemon_running(where):
        return False
    running = running_daemon(where)
    if call_daemon("POST", "/daemon/stop") is None and running:
        os.kill(running.pid, signal.SIGTERM)  # it holds the lock, so this is its own process id
    deadline = time.monotonic() + _STOPPING
    while is_daemon_running(where):
        if time.monotonic() > deadline:
            raise VaultUnavailable("the daemon does not stop", path=str(where.log), hint="Check the end of its log.")
        time.sleep(0.05)
    return True


def call_daemon(method: str, path: str) -> dict[str, Any] | None:
    """The daemon's response on its socket; None if none is running. Raises VaultUnavailable if it refuses."""
    from commonplace.client.http import call

    try:
        reply = call(method, path, timeout=_ANSWER)
    except Unreachable:
        return None
    told = json.loads(reply.body)
    if reply.status != 200:
        raise VaultUnavailable(f"the daemon refused: {told['error']['message']}", hint=told["error"].get("hint"))
    return dict(told)
