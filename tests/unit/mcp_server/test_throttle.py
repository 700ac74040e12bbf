"""The throttle: one caller's many writes do not make other callers wait."""

import asyncio

from commonplace.mcp_server.server import WRITE_LIMITS, Throttle

LIMIT, PER_CALLER = WRITE_LIMITS


def test_a_caller_whose_writes_take_long_keeps_no_other_waiting() -> None:
    """It has a few slots, however many calls it sends; another caller gets one besides them."""

    async def two_callers() -> tuple[int, bool]:
        throttle, over, at_work = Throttle(*WRITE_LIMITS), asyncio.Event(), 0

        async def long_write() -> None:
            nonlocal at_work
            async with throttle.slot("greedy"):
                at_work += 1
                await over.wait()

        async def short_write() -> None:
            async with throttle.slot("modest"):
                pass

        greedy = [asyncio.create_task(long_write()) for _ in range(4 * LIMIT)]
        await asyncio.sleep(0)
        done, _ = await asyncio.wait([asyncio.create_task(short_write())], timeout=60)
        begun = at_work
        over.set()
        await asyncio.gather(*greedy)
        return begun, bool(done)

    assert asyncio.run(two_callers()) == (PER_CALLER, True)


def test_all_callers_together_write_a_few_at_once() -> None:
    """Otherwise waiting writes would use up the threads; nothing is kept of callers that are gone."""

    async def many_callers() -> tuple[int, object]:
        throttle, here, most = Throttle(*WRITE_LIMITS), 0, 0

        async def write(name: str) -> None:
            nonlocal here, most
            async with throttle.slot(name):
                here += 1
                most = max(most, here)
                await asyncio.sleep(0)
                here -= 1

        await asyncio.gather(*(write(f"caller {number}") for number in range(5 * LIMIT)))
        return most, (throttle._each, throttle._present)

    assert asyncio.run(many_callers()) == (LIMIT, ({}, {}))
