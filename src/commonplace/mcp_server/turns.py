"""Turns to write: few at once, and of those no one caller has all."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

AT_ONCE: Final = 8
"""Writes of all callers: they take turns anyway, and those that wait in a thread leave none for those who read."""

OF_ONE: Final = 2
"""Writes of one caller: a long one may take minutes, and others are not to wait for it."""


class Turns:
    """Who may write now. One event loop has it."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(AT_ONCE)
        self._each: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(OF_ONE))
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
