"""`serve`: take the lock, open the log, and be the daemon; or find the one that runs already."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from commonplace import events
from commonplace.client.places import Places
from commonplace.client.state import State
from commonplace.daemon.log import Log, take_over
from commonplace.daemon.running import Daemon, Told
from commonplace.daemon.single import announced, claimed, our_places
from commonplace.errors import VaultUnavailable
from commonplace.settings import load_settings

if TYPE_CHECKING:
    from commonplace.policy.doors import ServeOptions

_READY_WITHIN: Final = 10.0  # seconds that another daemon has to say where it is


def serve(*, flags: Mapping[str, object], ready: Told, port: int | None = None) -> State | None:
    """Be the daemon until it is told to stop; `ready` is called when it listens.

    Gives the daemon that runs already, if there is one, and serves nothing then. Raises VaultUnavailable when it
    cannot listen, UsageError for a wrong setting.
    """
    where = our_places()
    outside = {**flags, "vault.root": str(where.folder)}  # no vault's own file is read: a broken one harms that vault
    settings = load_settings(flags=outside).settings
    options = settings.serve
    with claimed(where) as claim:
        if claim is None:
            return _other(where)
        take_over(_log_at(where.log, options))
        events.listen("info")
        daemon = Daemon(where, claim, options=options, capture=settings.capture, flags=flags)
        asyncio.run(daemon.run(port=port or options.port, ready=ready))
    return None


def _log_at(path: Path, options: "ServeOptions") -> Log:
    try:
        return Log(path, most_bytes=options.log_bytes, older=options.log_files)
    except OSError as error:
        message = f"the daemon's log cannot be opened: {error.strerror}"
        raise VaultUnavailable(message, path=str(path), hint="Move it away, or mend its permissions.") from error


def _other(where: Places) -> State:
    """The daemon that holds the lock, once it says where it is. Raises VaultUnavailable when it does not."""
    deadline = time.monotonic() + _READY_WITHIN
    while time.monotonic() < deadline:
        if found := announced(where):
            return found
        time.sleep(0.05)
    raise VaultUnavailable("another daemon is starting or stopping", hint="Try again in a moment.")
