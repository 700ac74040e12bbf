"""Worker processes that answer the calls of tools that only read, so that many callers have more than one core.

The daemon's own process keeps both sockets, the guard, all that writes, watches and runs jobs. It hands a plain call
that only reads to a worker, over a socket pair that nobody else has: the caller goes along, and the answer and the
events of the call come back. Events are reported here, as if the call had been answered here: the log, the metrics, the
spans and the live events know no difference. A worker opens the same files: every question begins a read transaction,
so that it sees whatever was acknowledged before.

Workers are started when callers crowd, and end when the crowd has been gone for some time: one person with a few agents
needs none. A call whose worker died is answered by the daemon itself, and the worker is started again.

A frame is its length, a line of JSON, and, after a call, the bytes of the result.
"""

import asyncio
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from pydantic_core import from_json, to_json

from commonplace.daemon.jobs import memory_mb
from commonplace.events import Level, emit
from commonplace.mcp_server.direct_calls import ToolCall
from commonplace.mcp_server.server import Throttle
from commonplace.model import Caller

AT_ONCE: Final = 2
"""Calls that a worker has at the same time: one that computes, and one that waits for the disk or is next."""

MODULE: Final = "commonplace.daemon.worker_process"
_CROWD: Final = 4  # reads at once from which workers are worth their memory
_IDLE_SECONDS: Final = 600.0  # without a crowd until the workers end
_CHECK_SECONDS: Final = 15.0
_FIRST_PAUSE: Final = 1.0  # seconds until a worker that died is started again; doubled each time
_LONGEST_PAUSE: Final = 60.0
_STABLE_SECONDS: Final = 60.0  # after which a worker that dies is not one that cannot start
_END_SECONDS: Final = 5.0
_MOST_WORKERS: Final = 4  # that are started unless the setting says more
_LENGTH: Final = struct.Struct("!I")
_BUFFER: Final = 2**20


def default_workers() -> int:
    """As many as there are cores, up to four; none on a machine with one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST_WORKERS) if cores > 1 else 0


def frame(head: Mapping[str, Any], rest: bytes = b"") -> bytes:
    """The bytes of one frame."""
    line = to_json(head, fallback=str) + b"\n"
    return _LENGTH.pack(len(line) + len(rest)) + line + rest


async def read_frame(stream: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    """The next frame: its line and what follows. Raises IncompleteReadError at the end of the stream."""
    (length,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    line, _, rest = (await stream.readexactly(length)).partition(b"\n")
    return from_json(line), rest


class WorkerLost(Exception):
    """The worker ended before it had answered."""


@dataclass(slots=True)
class Worker:
    """One running process, its end of the socket pair, and the calls that it has."""

    process: asyncio.subprocess.Process
    stream: asyncio.StreamReader
    writer: asyncio.StreamWriter
    started: float
    is_ready: bool = False
    answered: int = 0
    calls: dict[int, asyncio.Future[tuple[dict[str, Any], bytes]]] = field(default_factory=dict)

    def lose(self) -> None:
        """Fail the calls that it has."""
        self.is_ready = False
        for waiting in self.calls.values():
            if not waiting.done():
                waiting.set_exception(WorkerLost())


class WorkerPool:
    """Up to `count` workers, or as many as fit this machine. Belongs to one event loop.

    `flags` are those of the daemon's command line; after `idle` seconds without a crowd the workers end.
    """

    def __init__(self, count: int | None, *, flags: Mapping[str, object], idle: float = _IDLE_SECONDS) -> None:
        self._count = count = default_workers() if count is None else count
        self._flags, self._idle = flags, idle
        self._workers: dict[int, Worker] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._ending: list[asyncio.Task[None]] = []
        self._throttle = Throttle(count * AT_ONCE, AT_ONCE)
        self._reads = self._numbers = 0
        self._crowded = 0.0

    async def answer(self, call: ToolCall, caller: Caller, otherwise: Callable[[], Awaitable[bytes]]) -> bytes:
        """The result of a call that only reads, by a worker; by `otherwise` if none is ready or it died."""
        self._reads += 1
        try:
            self._notice_crowd()
            if self._count and any(worker.is_ready for worker in self._workers.values()):
                async with self._throttle.slot(caller.name):
                    with suppress(WorkerLost, ConnectionError):
                        return await self._hand_over(call, caller)
            return await otherwise()
        finally:
            self._reads -= 1

    async def end(self) -> None:
        """End every worker; those that do not end by themselves are killed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._ending, return_exceptions=True)
        self._tasks.clear()

    @property
    def ready(self) -> int:
        """How many workers answer calls now."""
        return sum(worker.is_ready for worker in self._workers.values())

    def status(self) -> list[dict[str, Any]]:
        """Each worker, for `status`."""
        return [
            {
                "pid": worker.process.pid,
                "ready": worker.is_ready,
                "answered": worker.answered,
                "memory_mb": memory_mb(worker.process.pid),
            }
            for worker in [*self._workers.values()]
        ]

    def _notice_crowd(self) -> None:
        """Start the workers if many read at once; remember when that was."""
        if self._count and self._reads >= _CROWD:
            self._crowded = time.monotonic()
            if not self._tasks:
                self._tasks = [asyncio.create_task(self._keep(place)) for place in range(self._count)]
                self._tasks.append(asyncio.create_task(self._end_when_idle()))

    async def _end_when_idle(self) -> None:
        while time.monotonic() - self._crowded < self._idle:
            await asyncio.sleep(min(_CHECK_SECONDS, self._idle))
        emit("workers_idle", workers=len(self._workers))
        self._ending, self._tasks = [task for task in self._tasks if task is not asyncio.current_task()], []
        for task in self._ending:
            task.cancel()

    async def _hand_over(self, call: ToolCall, caller: Caller) -> bytes:
        """Raises WorkerLost if no worker is ready any more, or the chosen one dies."""
        ready = [worker for worker in self._workers.values() if worker.is_ready]
        if not ready:
            raise WorkerLost
        worker = min(ready, key=lambda each: len(each.calls))
        self._numbers += 1
        number = self._numbers
        waiting: asyncio.Future[tuple[dict[str, Any], bytes]] = asyncio.get_running_loop().create_future()
        worker.calls[number] = waiting
        try:
            values = {**asdict(caller), "scopes": sorted(caller.scopes)}
            worker.writer.write(frame({"number": number, "call": asdict(call), "caller": values}))
            head, result = await waiting
        finally:
            worker.calls.pop(number, None)
        worker.answered += 1
        _report(head["events"])
        return result

    async def _keep(self, place: int) -> None:
        """Run a worker, and another one whenever it dies, until this task is cancelled."""
        pause = _FIRST_PAUSE
        while True:
            start, code = time.monotonic(), None
            with suppress(OSError):  # no process could be started
                code = await self._run(place)
            pause = _FIRST_PAUSE if time.monotonic() - start > _STABLE_SECONDS else min(pause * 2, _LONGEST_PAUSE)
            emit("worker_died", level="warning", code=code, restarts_in=pause)
            await asyncio.sleep(pause)

    async def _run(self, place: int) -> int | None:
        """Run a worker until it ends; returns its exit code."""
        worker = await self._start()
        self._workers[place] = worker
        try:
            await self._listen(worker)
        finally:
            if self._workers.get(place) is worker:  # otherwise a crowd came back while it ended
                del self._workers[place]
            worker.lose()
            worker.writer.close()  # at the end of its stream it ends by itself
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await asyncio.shield(worker.process.wait())
            if worker.process.returncode is None:
                worker.process.kill()
                await worker.process.wait()
        return worker.process.returncode

    async def _start(self) -> Worker:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)  # noqa: FBT003 (the standard library's)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", MODULE, str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd="/",
                start_new_session=True,  # a key that interrupts the daemon is not meant for it
            )
        finally:
            theirs.close()
        stream, writer = await asyncio.open_connection(sock=ours, limit=_BUFFER)
        writer.write(frame({"flags": json.loads(json.dumps(dict(self._flags), default=str))}))
        return Worker(process, stream, writer, started=time.monotonic())

    async def _listen(self, worker: Worker) -> None:
        """Take the frames of a worker until its stream ends."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head, rest = await read_frame(worker.stream)
                if number := head.get("number"):
                    waiting = worker.calls.get(number)
                    if waiting and not waiting.done():
                        waiting.set_result((head, rest))
                    else:  # whoever asked has gone
                        _report(head["events"])
                elif head.get("ready"):
                    worker.is_ready = True
                    emit("worker_ready", pid=worker.process.pid, seconds=round(time.monotonic() - worker.started, 1))
                else:
                    _report(head["events"])


def _report(events: list[tuple[Level, str, dict[str, Any]]]) -> None:
    """Report what a worker told, in the context of the request that it was done for."""
    for level, event, fields in events:
        emit(event, level=level, **fields)
