"""Turns to write: one caller's many writes keep no other caller waiting."""

import asyncio

from commonplace.mcp_server.turns import WRITES, Turns

AT_ONCE, OF_ONE = WRITES


def test_a_caller_whose_writes_take_long_keeps_no_other_waiting() -> None:
    """However many it sends, it has a few at once; another's write is let in beside them."""

    async def two_callers() -> tuple[int, bool]:
        turns, over, at_work = Turns(*WRITES), asyncio.Event(), 0

        async def long_write() -> None:
            nonlocal at_work
            async with turns.of("greedy"):
                at_work += 1
                await over.wait()

        async def short_write() -> None:
            async with turns.of("modest"):
                pass

        greedy = [asyncio.create_task(long_write()) for _ in range(4 * AT_ONCE)]
        await asyncio.sleep(0)
        done, _ = await asyncio.wait([asyncio.create_task(short_write())], timeout=5)
        begun = at_work
        over.set()
        await asyncio.gather(*greedy)
        return begun, bool(done)

    assert asyncio.run(two_callers()) == (OF_ONE, True)


def test_all_callers_together_write_a_few_at_once() -> None:
    """Else those that wait in threads leave none for those who read; nothing is kept of callers that are gone."""

    async def many_callers() -> tuple[int, object]:
        turns, here, most = Turns(*WRITES), 0, 0

        async def write(name: str) -> None:
            nonlocal here, most
            async with turns.of(name):
                here += 1
                most = max(most, here)
                await asyncio.sleep(0)
                here -= 1

        await asyncio.gather(*(write(f"caller {number}") for number in range(5 * AT_ONCE)))
        return most, (turns._each, turns._here)

    assert asyncio.run(many_callers()) == (AT_ONCE, ({}, {}))
