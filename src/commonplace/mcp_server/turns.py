"""Turns: few at once, and of those no one caller has all."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

WRITES: Final = (8, 2)
"""Of all callers and of one. They take turns anyway, and those that wait in a thread leave none for those who read; a
long one may take minutes, and others are not to wait for it."""

READS: Final = (2, 2)
"""The same for reading. Threads of one process get in each other's way: of 10k entries, one at a time answers 119
searches a second, two 105, four 65; with two, a long one does not hold up all others."""


class Turns:
    """Whose turn it is now: so many of all callers, and so many of one. One event loop has it."""

    def __init__(self, at_once: int, of_one: int) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._each: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(of_one))
        self._here: defaultdict[str, int] = defaultdict(int)

    @asynccontextmanager
    async def of(self, caller: str) -> AsyncIterator[None]:
        """It is this caller's turn in the block; its own others are waited for before those of all."""
        self._here[caller] += 1
        try:
            async with self._each[caller], self._all:
                yield
        finally:
            self._here[caller] -= 1
            if not self._here[caller]:  # nobody of that name waits: names do not pile up
                del self._here[caller], self._each[caller]
