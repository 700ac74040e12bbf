"""Calling the running daemon on its socket, and stopping it."""

import json
import signal
import time
from typing import Any, Final

from commonplace.client.paths import DaemonFiles, Unreachable, daemon_files
from commonplace.client.start import end_daemon, frozen_daemon, is_daemon_running, signal_daemon
from commonplace.errors import VaultUnavailable

_STOPPING: Final = 40.0  # seconds: requests, a chore and the watchers each have some to end
_ANSWER: Final = 15.0  # seconds; it may still be loading


def stop_daemon(*, force: bool = False) -> bool:
    """Stop the daemon and wait for its end; True if one was running. `force` ends one that does not answer or stop.

    Raises VaultUnavailable if it does not answer or does not stop.
    """
    from commonplace.daemon.service.state_files import running_daemon, user_daemon_files

    where = user_daemon_files()
    if not is_daemon_running(where):
        return False
    if frozen := frozen_daemon(where):
        return _end(where, f"the daemon (process {frozen.pid}) does not answer", force=force)
    if _reply_to("POST", "/daemon/stop") is None and (running := running_daemon(where)):
        signal_daemon(running, where, signal.SIGTERM)
    deadline = time.monotonic() + _STOPPING
    while is_daemon_running(where):
        if time.monotonic() > deadline:
            return _end(where, "the daemon does not stop", force=force)
        time.sleep(0.05)
    return True


def _end(where: DaemonFiles, said: str, *, force: bool) -> bool:
    """End the daemon's process if `force` is given; True once it has ended. Raises VaultUnavailable otherwise."""
    from commonplace.daemon.service.state_files import running_daemon

    running = running_daemon(where)
    if not force or not running:
        hint = "`commonplace stop --force` ends it; the end of its log may say why."
        raise VaultUnavailable(said, path=str(where.log), hint=hint)
    try:
        end_daemon(running, where)
    except Unreachable as error:
        raise VaultUnavailable(str(error), path=str(where.log), hint=f"Its process id is {running.pid}.") from error
    return True


def call_daemon(method: str, path: str) -> dict[str, Any] | None:
    """The daemon's response on its socket; None if none answers. Raises VaultUnavailable if it refuses."""
    try:
        return None if frozen_daemon(daemon_files()) else _reply_to(method, path)
    except Unreachable:
        return None


def _reply_to(method: str, path: str) -> dict[str, Any] | None:
    """The response of a daemon that is known to be well; None if none answers. Raises VaultUnavailable."""
    from commonplace.client.http import call

    try:
        reply = call(method, path, timeout=_ANSWER)
    except Unreachable:
        return None
    told = json.loads(reply.body)
    if reply.status != 200:
        raise VaultUnavailable(f"the daemon refused: {told['error']['message']}", hint=told["error"].get("hint"))
    return dict(told)
