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
from commonplace.app.identities import make_device_tokens, make_identities, server_settings
from commonplace.client.paths import DaemonFiles
from commonplace.client.start import DaemonState
from commonplace.daemon.capture.worker import CaptureWorker
from commonplace.daemon.jobs import Chore, ChoreRunner, RequestCounter, memory_mb, settle_garbage
from commonplace.daemon.live_feed import LiveFeed
from commonplace.daemon.metrics import Metrics
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
from commonplace.daemon.vaults import Vaults, unready_reason
from commonplace.errors import CommonplaceError, UsageError, VaultUnavailable, missing_extra
from commonplace.events import emit
from commonplace.identity.access import Identities
from commonplace.model.change import Via
from commonplace.model.diagnostics import Finding
from commonplace.model.moment import moment_text, parse_moment
from commonplace.web.job_queue import JobQueue
from commonplace.web.live_events import LiveEvents
from commonplace.web.page.sessions import LOGIN, PageSessions

if TYPE_CHECKING:
    from commonplace.daemon.spans import Spans
    from commonplace.daemon.workers import WorkerPool
    from commonplace.policy.options import ServeOptions
    from commonplace.settings.harmless import SettingsWriter
    from commonplace.settings.schema import Settings

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
HostChecks = Callable[[], Sequence[Finding]]
"""What doctor checks outside of the vaults: recording, and the hosts that Commonplace is installed in."""


def serve(
    *,
    flags: Mapping[str, object],
    ready: ReadyCallback,
    writer: "SettingsWriter",
    checks: HostChecks = tuple,
    port: int | None = None,
) -> DaemonState | None:
    """Be the daemon until it is stopped; `ready` is called when it listens. Returns None.

    The page calls `writer` to change settings, and `checks` for what doctor says about the agents' hosts. If a daemon
    runs already, serve nothing and return its state. Raises VaultUnavailable if it cannot listen, UsageError for a
    wrong setting.
    """
    if not all(map(find_spec, ("fastapi", "fastmcp", "uvicorn"))):
        raise missing_extra("serve", "the daemon")
    files = user_daemon_files()
    settings = server_settings(flags)
    options = settings.serve
    options.check_address()
    with instance_lock(files) as lock:
        if lock is None:
            return _other_daemon(files)
        log_everything_to(_open_log(files.log, options))
        events.listen("info")
        daemon = Daemon(files, lock, settings=settings, flags=flags, writer=writer, checks=checks)
        asyncio.run(daemon.run(port=port or options.port, ready=ready))
    return None


class Daemon:
    """One run of the daemon, by the process that holds the instance lock."""

    def __init__(
        self,
        files: DaemonFiles,
        lock: InstanceLock,
        *,
        settings: "Settings",
        flags: Mapping[str, object],
        writer: "SettingsWriter",
        checks: HostChecks,
    ) -> None:
        self._files, self._lock = files, lock
        self._options, self._hook_options, capture = settings.serve, settings.hooks, settings.capture
        self._flags, self._writer, self._checks = flags, writer, checks
        self._vaults = Vaults(flags=flags, most=self._options.open_vaults)
        self._capture = CaptureWorker(files.folder, self._vaults.memory_for, capture)
        self._tokens = Tokens(files.tokens, make_device_tokens(settings))
        self._identities = Identities(make_identities(settings))
        self._counter = RequestCounter()
        self._stop = asyncio.Event()
        self._live, self._asked_jobs = LiveEvents(), JobQueue()
        self._feed = LiveFeed(self._live, self._vaults.opened)
        self._metrics, self._spans = Metrics(), make_spans(self._options.otel)
        jobs = (
            Chore("open new vaults", self._vaults.open_all, every=_OPEN_VAULTS_EVERY),
            Chore(
                "record which tokens were used",
                self._write_uses,
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
        notices = [self._feed.notice, self._metrics.notice, *([self._spans.notice] if self._spans else [])]
        ends = [events.observe(notice) for notice in notices]
        try:
            await self._serve(sockets, state)
        finally:
            self._clean_up()
            for end in ends:
                end()

    def _listen(self, port: int) -> socket.socket:
        """A listening socket on that port; on no other one if hosts have it in their files. Raises VaultUnavailable."""
        hosts = hosts_over_http(self._files.folder)
        elsewhere = sorted({url for url in hosts.values() if urlsplit(url).port != port})
        if elsewhere:
            emit("http_entries_elsewhere", level="warning", port=port, entries=elsewhere)
        return listen_on_port(port, needed_by=sorted(hosts), host=self._options.host)

    async def _serve(self, sockets: Mapping[Via, socket.socket], state: DaemonState) -> None:
        from commonplace.daemon.server.guard import guard_app
        from commonplace.daemon.server.hook_events import HookEvents
        from commonplace.daemon.server.hook_routes import HookRoutes
        from commonplace.daemon.server.http_server import DaemonApp, DaemonControl, make_http_server
        from commonplace.daemon.workers import WorkerPool
        from commonplace.settings.harmless import SettingsEditor
        from commonplace.web.oauth_routes import oauth_routes

        workers = WorkerPool(self._options.workers, flags=self._flags)
        proof = partial(DaemonProof(self._files.folder / PROOF_FILE).answer, port=state.port)
        sessions = PageSessions(_now, lambda code: self._identities.redeem(code, now=_now()))
        control = DaemonControl(
            status=partial(self._status, state, workers),
            stop=self._stop.set,
            prove=proof,
            link=partial(self._page_link, state, sessions),
            metrics=partial(self._metrics_text, state, workers),
            unready=self._unready,
            vaults=self._vaults.registered,
            checks=self._checks,
        )
        events = HookEvents(self._files.folder)
        hooks = HookRoutes(self._vaults.memory_for, events, self._capture, self._hook_options)
        app = DaemonApp(
            self._vaults.memory_for,
            control,
            self._counter,
            sessions=sessions,
            hooks=[*hooks.routes, *oauth_routes(self._identities, _now)],
            live=self._live,
            jobs=self._asked_jobs,
            settings=SettingsEditor(self._flags, self._writer),
            workers=workers,
            identities=self._identities,
        )
        guard = partial(
            guard_app,
            app,
            options=self._options,
            tokens=self._tokens,
            sessions=sessions,
            identities=self._identities,
            clock=_now,
        )
        async with app.running():
            servers = {via: make_http_server(guard(via=via), self._options, grace=_GRACE_SECONDS) for via in sockets}
            tasks = [asyncio.create_task(servers[via].serve([sockets[via]])) for via in sockets]
            self._jobs.begin()  # not sooner: nothing shall take time from the first answer
            self._learning.begin()
            self._capture.begin()
            self._feed.begin()
            settle_garbage()
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
            emit("daemon_stopping", requests=self._counter.requests)
            self._live.close()  # a stream has no end of its own
            for server in servers.values():
                server.should_exit = True
            await asyncio.gather(*tasks)
            await workers.end()  # after the requests that wait for them
            stopping.cancel()

    def _page_link(self, state: DaemonState, sessions: PageSessions, vault: str) -> str:
        """A link by which one browser signs in to the page of that vault. Raises NotFound and UsageError."""
        if self._options.team:
            hint = "Sign in as a person: `commonplace person invite ID` prints a link."
            raise UsageError("the page of a team server is for people who sign in", hint=hint)
        root = self._vaults.find(vault) if vault or self._vaults.registered() else ""
        return f"{state.url}{LOGIN}?code={sessions.make_code(vault=str(root))}"

    def _unready(self) -> tuple[str, ...]:
        """Why requests cannot be answered in full now; empty if they can."""
        try:
            self._identities.has_people  # noqa: B018 (asks the database)
        except CommonplaceError as error:
            people = unready_reason(error, "the list of people cannot be read")
            return tuple(dict.fromkeys((people, *self._vaults.unready())))
        return self._vaults.unready()

    def _write_uses(self) -> str:
        """Write when tokens and grants were used; returns how many."""
        return f"{self._tokens.write_uses()}, {self._identities.grants.write_uses()} grants"

    def _status(self, state: DaemonState, workers: "WorkerPool") -> dict[str, Any]:
        """What `commonplace status` shows."""
        from commonplace.daemon.server.hook_events import read_hook_events

        return {
            **asdict(state),
            "requests": self._counter.requests,
            "memory_mb": memory_mb(),
            "workers": workers.status(),
            "log": str(self._files.log),
            **self._vault_status(),
            "chores": [*self._jobs.status(), *self._learning.status()],
            "hooks": read_hook_events(self._files.folder),
            "capture": self._capture.status(),
        }

    def _metrics_text(self, state: DaemonState, workers: "WorkerPool", vault: str) -> str:
        """The metrics; of what is true now, that of the named vault alone, if one is named. Raises NotFound."""
        gauges = [
            ("build_info", (state.version,), 1.0),
            ("start_time_seconds", (), parse_moment(state.started).timestamp()),
            ("memory_bytes", (), (memory_mb() + sum(each["memory_mb"] for each in workers.status())) * 1e6),
            ("workers", (), workers.ready),
            ("event_listeners", (), self._live.listeners),
            *self._vaults.gauges(vault),
        ]
        return self._metrics.text(gauges)

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
        self._asked_jobs.end(within=0.0)  # it ends meanwhile
        ended = self._feed.end(within=_GRACE_SECONDS)
        ended = self._asked_jobs.end(within=_GRACE_SECONDS) and ended
        ended = self._capture.end(within=_GRACE_SECONDS) and ended
        ended = self._learning.end(within=_GRACE_SECONDS) and ended
        ended = self._jobs.end(within=_GRACE_SECONDS) and ended
        ended = self._vaults.close() and ended
        self._tokens.close()
        if self._spans:
            self._spans.end()
        emit("daemon_stopped", ended_all=ended)


def make_spans(address: str | None) -> "Spans | None":
    """Sends spans to the collector at that address; None without one. Raises UsageError without the packages."""
    if not address:
        return None
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        raise UsageError(f"serve.otel is not an address: {address!r}", hint="Such as http://127.0.0.1:4318.")
    try:
        from commonplace.daemon.spans import Spans
    except ModuleNotFoundError as error:
        raise missing_extra("otel", "the setting serve.otel") from error
    return Spans(address)


def listen_on_port(port: int, *, needed_by: Sequence[str] = (), host: str = LOOPBACK) -> socket.socket:
    """A listening socket on that port of the loopback, or on the next free one. Raises VaultUnavailable.

    On another address, where a proxy looks for it, no other port is tried.

    `needed_by` are hosts that have the address in their files: for them, no other port is tried.
    """
    tried = 1 if needed_by or host != LOOPBACK else _PORTS_TRIED
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in range(port, min(port + tried, 65536)):
        # With its protocol named, asyncio sets TCP_NODELAY: else each answer on a connection that is kept takes 40 ms
        # longer, in which the kernel waits for the caller to acknowledge its head.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise _cannot_listen(f"{host}:{number}", error) from error
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
