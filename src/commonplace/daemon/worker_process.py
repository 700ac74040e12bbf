"""A worker's process: reads calls from the daemon, answers them from the same files, and ends with its daemon.

It has no log, no metrics and no watcher: what it has to tell are events, which the daemon reports. It writes only what
reading writes in any process: that a memory was used, and the index of a note that changed beside us.
Run as `python -m commonplace.daemon.worker_process FD`, with the descriptor of its end of a socket pair.
"""

import asyncio
import logging
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import cache
from pathlib import Path
from typing import Any, Final

from commonplace import events
from commonplace.app import open_with
from commonplace.app.encoders import make_encoders
from commonplace.daemon.jobs import settle_garbage
from commonplace.daemon.vaults import VaultRegistry, folder_identity, settings_stamp
from commonplace.daemon.workers import AT_ONCE, frame, read_frame
from commonplace.errors import CommonplaceError
from commonplace.events import Level
from commonplace.mcp_server.caller import CurrentCall, caller_of_request
from commonplace.mcp_server.direct_calls import DirectCalls, ToolCall
from commonplace.mcp_server.server import make_tools
from commonplace.memory import Memory
from commonplace.model import Actor, Caller
from commonplace.settings.load import load_settings

_TURN: Final = 0.05  # seconds that a thread computes before another may: two searches that alternate take longer
_POLL: Final = 0.02  # seconds between two looks whether the encoder is loaded
_FRAMES: Final = 8  # of an error's stack that are told
_DAEMON: Final = Actor("job", "daemon")
_told: ContextVar["Told | None"] = ContextVar("told", default=None)


class Told:
    """The events of one call, until its answer is sent; later ones go by themselves."""

    def __init__(self) -> None:
        self.events: list[tuple[Level, str, Mapping[str, Any]]] = []
        self.is_sent = False


class ReadVaults:
    """The registered vaults, opened for reading and not watched. Opened anew if their settings or folders change."""

    def __init__(self, flags: Mapping[str, object]) -> None:
        self._flags = {key: value for key, value in flags.items() if key != "vault.root"}
        self._registry = VaultRegistry(flags)
        self._open: dict[Path, tuple[object, Memory]] = {}
        self._lock = threading.Lock()
        self._encoders = cache(make_encoders)

    def memory_for(self, caller: Caller) -> Memory:
        """The memory of the caller's vault, in which it acts as an agent. Raises NotFound and VaultUnavailable."""
        return self._get(self._registry.find(caller.vault)).acting(Actor("agent", caller.name, caller.person))

    def open_all(self) -> None:
        """Open every vault, with its encoder; one that cannot be opened says so when somebody asks for it."""
        with suppress(CommonplaceError):
            for root in self._registry.vaults:
                with suppress(CommonplaceError):
                    self._get(root)

    def _get(self, root: Path) -> Memory:
        stamp = settings_stamp(), folder_identity(root)
        opened = self._open.get(root)
        if opened and opened[0] == stamp:
            return opened[1]
        with self._lock:
            opened = self._open.get(root)
            if not opened or opened[0] != stamp:
                opened = self._open[root] = stamp, self._opened(root)
        return opened[1]

    def _opened(self, root: Path) -> Memory:
        """The memory of a vault; waits for the encoder, so that no answer is by words alone for want of it.

        One that was opened with other settings goes on for the calls that have it, and is closed with the last of them.
        """
        settings = load_settings(flags={**self._flags, "vault.root": str(root)}).settings
        memory = open_with(settings, actor=_DAEMON, is_patient=False, encoders=self._encoders)
        memory.index.readiness()  # starts to load the encoder
        while memory.index.is_loading():
            time.sleep(_POLL)
        memory.context.measure_noise()
        return memory


class WorkerProcess:
    """Answers calls until the daemon closes the stream."""

    def __init__(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._stream, self._writer = stream, writer
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="call")

    async def run(self) -> None:
        """Read the flags, open the vaults, say that they are open, and answer."""
        head, _ = await read_frame(self._stream)
        events.listen("debug")
        events.pass_to(self._tell)
        logging.getLogger().setLevel(logging.CRITICAL)  # what libraries say is not ours to write anywhere
        vaults = ReadVaults(head["flags"])
        await self._loop.run_in_executor(self._threads, vaults.open_all)
        call = CurrentCall(vaults.memory_for, caller_of_request)
        calls = DirectCalls(make_tools(call), call)
        settle_garbage()
        self._writer.write(frame({"ready": True}))
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head, _ = await read_frame(self._stream)
                copy_context().run(self._begin, calls, head)

    def _begin(self, calls: DirectCalls, head: Mapping[str, Any]) -> None:
        _told.set(told := Told())
        call = ToolCall(**head["call"])
        caller = Caller(**{**head["caller"], "scopes": frozenset(head["caller"]["scopes"])})
        answer = self._loop.run_in_executor(self._threads, copy_context().run, calls.answer, call, caller)
        answer.add_done_callback(lambda done: self._answered(head["number"], done, told))

    def _answered(self, number: int, answer: "asyncio.Future[bytes]", told: Told) -> None:
        if error := answer.exception():  # every error of a tool is a result: this process itself is broken
            raise SystemExit(f"a call failed: {type(error).__name__}") from error
        told.is_sent = True
        self._writer.write(frame({"number": number, "events": told.events}, answer.result()))

    def _tell(self, level: Level, event: str, fields: Mapping[str, Any]) -> None:
        """An event: it goes with the answer of its call, or by itself if it belongs to none."""
        said = level, event, _told_fields(fields)
        told = _told.get()
        if told and not told.is_sent:
            told.events.append(said)
        else:
            self._loop.call_soon_threadsafe(self._writer.write, frame({"events": [said]}))


def _told_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, with an error as the log would write it: its type and its stack, and never its message."""
    told = {name: value for name, value in fields.items() if name != "exc_info"}
    error = fields.get("exc_info")
    if isinstance(error, BaseException):
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        told["error"] = type(error).__name__
        told["through"] = [f"{Path(each.filename).name}:{each.lineno} {each.name}" for each in frames]
    return told


async def _serve(descriptor: int) -> None:
    stream, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor))
    await WorkerProcess(stream, writer).run()


def main() -> None:
    """Be a worker until the daemon closes the stream. Signals are for the daemon, which ends its workers."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    sys.setswitchinterval(_TURN)
    asyncio.run(_serve(int(sys.argv[1])))


if __name__ == "__main__":
    main()
