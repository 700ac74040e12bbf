"""The pool of workers: when it starts processes, and when it ends them."""

import asyncio
import os
from pathlib import Path
from unittest.mock import patch

from commonplace.daemon.worker_process import ReadVaults
from commonplace.daemon.workers import WorkerPool, default_workers
from commonplace.mcp_server.direct_calls import ToolCall
from commonplace.model import SCOPES, Caller
from tests.daemons import register, small_vault, surroundings

CALL = ToolCall(1, "note_read", {"path": "People/Jonas.md"}, "2025-06-18")
CALLER = Caller("test", frozenset(SCOPES))


async def until(is_so: "asyncio.Event", *, within: float = 60.0) -> None:
    await asyncio.wait_for(is_so.wait(), within)


async def crowd(pool: WorkerPool, size: int) -> list[bytes]:
    """The answers of so many calls at once, of which none ends before all have come."""
    come = asyncio.Event()
    waiting = 0

    async def otherwise() -> bytes:
        nonlocal waiting
        waiting += 1
        if waiting == size:
            come.set()
        await until(come)
        return b"here"

    return [*await asyncio.gather(*(pool.answer(CALL, CALLER, otherwise) for _ in range(size)))]


async def answer_elsewhere() -> bytes:
    return b"here"


def test_workers_start_with_a_crowd_and_end_when_it_has_gone(tmp_path: Path) -> None:
    """A few callers start none; after the idle time no process is left."""
    environ = surroundings(tmp_path)
    register(environ, small_vault(tmp_path / "Notes"))

    async def live() -> tuple[bool, bytes, bool]:
        pool = WorkerPool(1, flags={}, idle=0.2)
        try:
            await crowd(pool, 2)
            starts_alone = bool(pool.status())
            await crowd(pool, 4)
            async with asyncio.timeout(60):
                while (result := await pool.answer(CALL, CALLER, answer_elsewhere)) == b"here":
                    await crowd(pool, 4)  # again if the worker was idle for so long before the call that it ended
                    await asyncio.sleep(0.05)
            async with asyncio.timeout(60):
                while pool.status():
                    await asyncio.sleep(0.05)
            return starts_alone, result, bool(pool.ready)
        finally:
            await pool.end()

    with patch.dict(os.environ, environ, clear=True):
        starts_alone, result, is_ready = asyncio.run(live())

    assert not starts_alone
    assert b"Jonas builds sensors" in result
    assert not is_ready


def test_a_worker_acts_for_the_person_of_the_caller(tmp_path: Path) -> None:
    """What a call costs, and what it says of itself, is that person's, as in the daemon's own process."""
    environ, vault = surroundings(tmp_path), small_vault(tmp_path / "Notes")
    register(environ, vault)
    with patch.dict(os.environ, environ, clear=True):
        memory = ReadVaults({}).memory_for(Caller("laptop", frozenset(SCOPES), vault=str(vault), person="ada"))
        memory.entries.save("The tank holds 300 litres.")
        newest = memory.notes.log(limit=1)[0]
        memory.close()

    assert (newest.origin, newest.person) == ("laptop", "ada")


def test_a_machine_has_as_many_workers_as_cores_up_to_four() -> None:
    """One core has none: they would only take turns with the daemon."""
    assert default_workers() in (0, 2, 3, 4)


def test_a_pool_of_none_answers_by_the_daemon() -> None:
    """Whatever the crowd."""

    async def ask() -> tuple[list[bytes], int]:
        pool = WorkerPool(0, flags={})
        return await crowd(pool, 8), len(pool.status())

    assert asyncio.run(ask()) == ([b"here"] * 8, 0)
