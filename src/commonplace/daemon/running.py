"""The daemon at work: one event loop, two sockets, from the first signal handler to the last clean-up.

The sockets listen before anything heavy is loaded: a caller who comes early waits for the answer, and is not refused.
"""

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from commonplace.client.places import Places
from commonplace.client.state import State
from commonplace.daemon.captures import Captures
from commonplace.daemon.chores import Chore, Chores
from commonplace.daemon.hook_events import HookEvents, hook_events
from commonplace.daemon.listening import LOOPBACK, listen_on_file, listen_on_port
from commonplace.daemon.single import Claim
from commonplace.daemon.tally import Tally, memory_mb
from commonplace.daemon.tokens import Tokens
from commonplace.daemon.vaults import Vaults
from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.model.caller import Via
from commonplace.model.moment import moment_text

if TYPE_CHECKING:
    import uvicorn

    from commonplace.policy.doors import ServeOptions
    from commonplace.sources.options import CaptureOptions

Told = Callable[[State], None]

_GRACE: Final = 10  # seconds that requests, and then a chore, have to end
_LOOK_FOR_VAULTS: Final = 5.0
_TOKENS: Final = 60.0
_TIDY: Final = 6 * 3600.0
_TIDY_FIRST: Final = 600.0
_now = partial(datetime.now, UTC)


class Daemon:
    """One run of the daemon, by whoever holds the claim."""

    def __init__(
        self,
        where: Places,
        claim: Claim,
        *,
        options: "ServeOptions",
        capture: "CaptureOptions",
        flags: Mapping[str, object],
    ) -> None:
        self._places, self._claim, self._options = where, claim, options
        self._vaults = Vaults(flags=flags)
        self._captures = Captures(where.folder, self._vaults.memory_for, capture)
        self._tokens = Tokens(where.tokens)
        self._tally = Tally()
        self._stop = asyncio.Event()
        chores = (
            Chore("open new vaults", self._vaults.look, every=_LOOK_FOR_VAULTS),
            Chore("write down which tokens were used", self._tokens.write_uses, every=_TOKENS, first=_TOKENS),
            Chore("tidy the repositories", self._vaults.tidy, every=_TIDY, first=_TIDY_FIRST, waits_for_quiet=True),
        )
        self._chores = Chores(chores, is_quiet=self._tally.is_quiet)

    async def run(self, *, port: int, ready: Told) -> None:
        """Serve until told to stop, by a signal or a request. Raises VaultUnavailable when it cannot listen."""
        self._heed_signals()
        gc.disable()  # looking for garbage while modules are loaded takes a sixth of the time, and finds none
        sockets: dict[Via, socket.socket] = {"tcp": listen_on_port(port), "socket": listen_on_file(self._places.socket)}
        state = _state(sockets["tcp"].getsockname()[1], self._places)
        self._claim.announce(state)
        ready(state)
        emit("daemon_started", **asdict(state))
        try:
            await self._serve(sockets, state)
        finally:
            self._clean_up()

    async def _serve(self, sockets: Mapping[Via, socket.socket], state: State) -> None:
        from commonplace.daemon.doors import Doors, Itself
        from commonplace.daemon.guard import guarded
        from commonplace.daemon.hook_routes import HookDoor

        itself = Itself(partial(self._status, state), self._stop.set)
        hooks = HookDoor(self._vaults.memory_for, HookEvents(self._places.folder), self._captures)
        doors = Doors(self._vaults.memory_for, itself, self._tally, hooks=hooks.routes)
        guard = partial(guarded, doors, options=self._options, tokens=self._tokens, clock=_now)
        async with doors.running():
            servers = {via: _server(guard(via=via), self._options) for via in sockets}
            at_work = [asyncio.create_task(servers[via].serve([sockets[via]])) for via in sockets]
            self._chores.begin()  # not sooner: nothing is to take time from the first answer
            self._captures.begin()
            gc.freeze()
            gc.enable()
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait([stopping, *at_work], return_when=asyncio.FIRST_COMPLETED)
            emit("daemon_stopping", requests=self._tally.requests)
            for server in servers.values():
                server.should_exit = True
            await asyncio.gather(*at_work)
            stopping.cancel()

    def _status(self, state: State) -> dict[str, Any]:
        """What `commonplace status` shows."""
        return {
            **asdict(state),
            "requests": self._tally.requests,
            "memory_mb": memory_mb(),
            "log": str(self._places.log),
            **self._vaults_told(),
            "chores": self._chores.told(),
            "hooks": hook_events(self._places.folder),
            "capture": self._captures.told(),
        }

    def _vaults_told(self) -> dict[str, Any]:
        try:
            return {"vaults": self._vaults.told(), "said": ""}
        except CommonplaceError as error:  # the list of vaults is broken: all else still can be told
            return {"vaults": [], "said": str(error)}

    def _heed_signals(self) -> None:
        """The first signal asks the daemon to stop, the second ends it at once; nothing acknowledged is lost by it."""
        loop = asyncio.get_running_loop()

        def heed() -> None:
            self._stop.set()
            for each in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(each)
                signal.signal(each, signal.SIG_DFL)

        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, heed)

    def _clean_up(self) -> None:
        ended = self._captures.end(within=_GRACE)
        ended = self._chores.end(within=_GRACE) and ended
        ended = self._vaults.close() and ended
        self._tokens.close()
        emit("daemon_stopped", ended_all=ended)


def _state(port: int, where: Places) -> State:
    return State(
        pid=os.getpid(),
        started=moment_text(datetime.now(UTC)),
        version=version("commonplace"),
        port=port,
        socket=str(where.socket),
        url=f"http://{LOOPBACK}:{port}",
    )


def _server(app: Any, options: "ServeOptions") -> "uvicorn.Server":
    """An HTTP server that leaves signals and the application's beginning and end to us."""
    import uvicorn

    from commonplace.daemon.connections import connection_for
    from commonplace.daemon.guard import LONGEST_HEAD

    class Server(uvicorn.Server):
        capture_signals = staticmethod(nullcontext)  # type: ignore[assignment]

    config = uvicorn.Config(
        app,
        http=connection_for(options),
        h11_max_incomplete_event_size=LONGEST_HEAD,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE,
    )
    return Server(config)
