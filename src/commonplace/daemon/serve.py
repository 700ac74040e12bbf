"""The daemon's process: takes the instance lock, opens the log, listens on two sockets, and serves until stopped.

The sockets listen before anything heavy is loaded, so that an early caller waits for the answer instead of being
refused.
"""

import asyncio
import errno
import gc
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from commonplace import __version__, events
from commonplace.client.paths import DaemonFiles
from commonplace.client.start import DaemonState
from commonplace.daemon.capture.worker import CaptureWorker
from commonplace.daemon.jobs import Chore, ChoreRunner, RequestCounter, memory_mb
from commonplace.daemon.service.install_file import hosts_over_http
from commonplace.daemon.service.state_files import (
    InstanceLock,
    Log,
    instance_lock,
    log_everything_to,
    running_daemon,
    user_daemon_files,
)
from commonplace.daemon.tokens import PROOF_FILE, DaemonProof, Tokens
from commonplace.daemon.vaults import Vaults
from commonplace.errors import CommonplaceError, VaultUnavailable, missing_extra
from commonplace.events import emit
from commonplace.model.change import Via
from commonplace.model.moment import moment_text
from commonplace.settings.load import load_settings

if TYPE_CHECKING:
    from commonplace.context.options import HookOptions
    from commonplace.policy.options import ServeOptions
    from commonplace.sources.options import CaptureOptions

ReadyCallback = Callable[[DaemonState], None]
LOOPBACK: Final = "127.0.0.1"
_READY_SECONDS: Final = 10.0  # for another daemon to write its addresses
_PORTS_TRIED: Final = 21  # the requested port and the next twenty
_BACKLOG: Final = 512  # connections that may wait while the daemon is loading
_GRACE_SECONDS: Final = 10  # for requests, and then for a job, to end
_OPEN_VAULTS_EVERY: Final = 5.0
_WRITE_TOKENS_EVERY: Final = 60.0
_TIDY_EVERY: Final = 6 * 3600.0
_TIDY_FIRST: Final = 600.0
_LEARN_EVERY: Final = 60.0
_LEARN_FIRST: Final = 60.0
_JOBS_EVERY: Final = 60.0
_JOBS_FIRST: Final = 90.0
_now = partial(datetime.now, UTC)


def serve(*, flags: Mapping[str, object], ready: ReadyCallback, port: int | None = None) -> DaemonState | None:
    """Be the daemon until it is stopped; `ready` is called when it listens. Returns None.

    If a daemon runs already, serve nothing and return its state. Raises VaultUnavailable if it cannot listen,
    UsageError for a wrong setting.
    """
    if not all(map(find_spec, ("fastapi", "fastmcp", "uvicorn"))):
        raise missing_extra("serve", "the daemon")
    files = user_daemon_files()
    outside = {**flags, "vault.root": str(files.folder)}  # no vault's settings: a broken one must not stop the daemon
    settings = load_settings(flags=outside).settings
    options = settings.serve
    with instance_lock(files) as lock:
        if lock is None:
            return _other_daemon(files)
        log_everything_to(_open_log(files.log, options))
        events.listen("info")
        daemon = Daemon(files, lock, options=options, capture=settings.capture, hooks=settings.hooks, flags=flags)
        asyncio.run(daemon.run(port=port or options.port, ready=ready))
    return None


class Daemon:
    """One run of the daemon, by the process that holds the instance lock."""

    def __init__(
        self,
        files: DaemonFiles,
        lock: InstanceLock,
        *,
        options: "ServeOptions",
        capture: "CaptureOptions",
        hooks: "HookOptions",
        flags: Mapping[str, object],
    ) -> None:
        self._files, self._lock, self._options, self._hook_options = files, lock, options, hooks
        self._vaults = Vaults(flags=flags)
        self._capture = CaptureWorker(files.folder, self._vaults.memory_for, capture)
        self._tokens = Tokens(files.tokens)
        self._counter = RequestCounter()
        self._stop = asyncio.Event()
        jobs = (
            Chore("open new vaults", self._vaults.open_all, every=_OPEN_VAULTS_EVERY),
            Chore(
                "record which tokens were used",
                self._tokens.write_uses,
                every=_WRITE_TOKENS_EVERY,
                first=_WRITE_TOKENS_EVERY,
            ),
            Chore(
                "tidy the repositories", self._vaults.tidy, every=_TIDY_EVERY, first=_TIDY_FIRST, waits_for_quiet=True
            ),
        )
        self._jobs = ChoreRunner(jobs, is_quiet=self._counter.is_quiet)
        # apart from the others: a model may take minutes to answer
        learn = Chore("learn from conversations", self._vaults.learn, every=_LEARN_EVERY, first=_LEARN_FIRST)
        upkeep = Chore(
            "run due jobs", self._vaults.run_jobs, every=_JOBS_EVERY, first=_JOBS_FIRST, waits_for_quiet=True
        )
        self._learning = ChoreRunner((learn, upkeep), is_quiet=self._counter.is_quiet)

    async def run(self, *, port: int, ready: ReadyCallback) -> None:
        """Serve until a signal or a request stops it. Raises VaultUnavailable if it cannot listen."""
        self._handle_signals()
        gc.disable()  # collecting garbage while modules are loaded takes a sixth of the time, and finds none
        sockets: dict[Via, socket.socket] = {"tcp": self._listen(port), "socket": listen_on_file(self._files.socket)}
        state = _state(sockets["tcp"].getsockname()[1], self._files)
        self._lock.announce(state)
        ready(state)
        emit("daemon_started", **asdict(state))
        try:
            await self._serve(sockets, state)
        finally:
            self._clean_up()

    def _listen(self, port: int) -> socket.socket:
        """A listening socket on that port; on no other one if hosts have it in their files. Raises VaultUnavailable."""
        hosts = hosts_over_http(self._files.folder)
        elsewhere = sorted({url for url in hosts.values() if urlsplit(url).port != port})
        if elsewhere:
            emit("http_entries_elsewhere", level="warning", port=port, entries=elsewhere)
        return listen_on_port(port, needed_by=sorted(hosts))

    async def _serve(self, sockets: Mapping[Via, socket.socket], state: DaemonState) -> None:
        from commonplace.daemon.server.guard import guard_app
        from commonplace.daemon.server.hook_events import HookEvents
        from commonplace.daemon.server.hook_routes import HookRoutes
        from commonplace.daemon.server.http_server import DaemonApp, DaemonControl, make_http_server

        proof = partial(DaemonProof(self._files.folder / PROOF_FILE).answer, port=state.port)
        control = DaemonControl(partial(self._status, state), self._stop.set, proof)
        events = HookEvents(self._files.folder)
        hooks = HookRoutes(self._vaults.memory_for, events, self._capture, self._hook_options)
        app = DaemonApp(self._vaults.memory_for, control, self._counter, hooks=hooks.routes)
        guard = partial(guard_app, app, options=self._options, tokens=self._tokens, clock=_now)
        async with app.running():
            servers = {via: make_http_server(guard(via=via), self._options, grace=_GRACE_SECONDS) for via in sockets}
            tasks = [asyncio.create_task(servers[via].serve([sockets[via]])) for via in sockets]
            self._jobs.begin()  # not sooner: nothing shall take time from the first answer
            self._learning.begin()
            self._capture.begin()
            gc.freeze()
            gc.enable()
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
            emit("daemon_stopping", requests=self._counter.requests)
            for server in servers.values():
                server.should_exit = True
            await asyncio.gather(*tasks)
            stopping.cancel()

    def _status(self, state: DaemonState) -> dict[str, Any]:
        """What `commonplace status` shows."""
        from commonplace.daemon.server.hook_events import read_hook_events

        return {
            **asdict(state),
            "requests": self._counter.requests,
            "memory_mb": memory_mb(),
            "log": str(self._files.log),
            **self._vault_status(),
            "chores": [*self._jobs.status(), *self._learning.status()],
            "hooks": read_hook_events(self._files.folder),
            "capture": self._capture.status(),
        }

    def _vault_status(self) -> dict[str, Any]:
        try:
            return {"vaults": self._vaults.status(), "said": ""}
        except CommonplaceError as error:  # the list of vaults is broken; everything else can be shown
            return {"vaults": [], "said": str(error)}

    def _handle_signals(self) -> None:
        """The first signal stops the daemon, the second ends it at once; neither loses anything acknowledged."""
        loop = asyncio.get_running_loop()

        def stop() -> None:
            self._stop.set()
            for each in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(each)
                signal.signal(each, signal.SIG_DFL)

        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, stop)

    def _clean_up(self) -> None:
        self._vaults.end_learning()
        ended = self._capture.end(within=_GRACE_SECONDS)
        ended = self._learning.end(within=_GRACE_SECONDS) and ended
        ended = self._jobs.end(within=_GRACE_SECONDS) and ended
        ended = self._vaults.close() and ended
        self._tokens.close()
        emit("daemon_stopped", ended_all=ended)


def listen_on_port(port: int, *, needed_by: Sequence[str] = ()) -> socket.socket:
    """A listening socket on that port of the loopback, or on the next free one. Raises VaultUnavailable.

    `needed_by` are hosts that have the address in their files: for them, no other port is tried.
    """
    for number in range(port, min(port + (1 if needed_by else _PORTS_TRIED), 65536)):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, number))
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise _cannot_listen(f"{LOOPBACK}:{number}", error) from error
        else:
            return listener
    if needed_by:
        raise VaultUnavailable(
            f"port {port} is in use by another program, and {', '.join(needed_by)} would look for the daemon there",
            hint="End that program, to which they may have sent their tokens: `commonplace token revoke HOST` and "
            "install them again. Or choose another port: `commonplace settings set serve.port N`.",
        )
    message = f"no port from {port} to {number} is free"
    raise VaultUnavailable(message, hint="Choose another: `commonplace serve --port N`, or the setting serve.port.")


def listen_on_file(path: Path) -> socket.socket:
    """A listening socket at that path, in place of what a dead daemon left there. Raises VaultUnavailable."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    umask = os.umask(0o177)  # private to its owner from the first moment
    try:
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _cannot_listen(str(path), error) from error
    finally:
        os.umask(umask)
    return listener


def _cannot_listen(address: str, error: OSError) -> VaultUnavailable:
    return VaultUnavailable(f"cannot listen on {address}: {error.strerror}", hint="Find out which program uses it.")


def _open_log(path: Path, options: "ServeOptions") -> Log:
    try:
        return Log(path, most_bytes=options.log_bytes, older=options.log_files)
    except OSError as error:
        message = f"the daemon's log cannot be opened: {error.strerror}"
        raise VaultUnavailable(message, path=str(path), hint="Move it away, or fix its permissions.") from error


def _other_daemon(files: DaemonFiles) -> DaemonState:
    """The daemon that holds the lock, once it has written its state. Raises VaultUnavailable if it does not."""
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        if state := running_daemon(files):
            return state
        time.sleep(0.05)
    raise VaultUnavailable("another daemon is starting or stopping", hint="Try again in a moment.")


def _state(port: int, files: DaemonFiles) -> DaemonState:
    return DaemonState(
        pid=os.getpid(),
        started=moment_text(datetime.now(UTC)),
        version=__version__,
        port=port,
        socket=str(files.socket),
        url=f"http://{LOOPBACK}:{port}",
    )
