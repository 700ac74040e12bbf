"""How much a caller may send, and how often: rates and bodies."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from commonplace.daemon.head import Head
from commonplace.daemon.refusals import Refusal, too_large, too_slow

if TYPE_CHECKING:
    from starlette.types import Receive

_REMEMBERED: Final = 1000  # callers; a name costs nothing on the socket, so names do not pile up


@dataclass(slots=True)
class _Bucket:
    left: float
    seen: float


class Rates:
    """A bucket for each caller, which fills by `per_second` up to `burst`, and which each request draws from."""

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: dict[str, _Bucket] = {}

    def draw(self, caller: str, *, now: float) -> float:
        """The seconds that this caller has to wait; 0.0 when the request may go on."""
        bucket = self._buckets.get(caller)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[caller] = _Bucket(self._burst, now)
        bucket.left = self._filled(bucket, now)
        bucket.seen = now
        if bucket.left < 1:
            return (1 - bucket.left) / self._per_second
        bucket.left -= 1
        return 0.0

    def _filled(self, bucket: _Bucket, now: float) -> float:
        """A clock that was set back fills nothing."""
        return min(self._burst, bucket.left + max(0.0, now - bucket.seen) * self._per_second)

    def _make_room(self, now: float) -> None:
        """Forget the callers whose bucket is full again: to them nothing changes; then the oldest."""
        if len(self._buckets) < _REMEMBERED:
            return
        self._buckets = {
            name: bucket for name, bucket in self._buckets.items() if self._filled(bucket, now) < self._burst
        }
        while len(self._buckets) >= _REMEMBERED:
            del self._buckets[next(iter(self._buckets))]


async def read_body(head: Head, receive: "Receive", *, most: int, seconds: float) -> bytes | Refusal | None:
    """The whole body; None when the caller went away. A body that is too large or too slow is refused at once.

    What the caller says of the length is believed when it is too large, and never when it is small enough.
    """
    if head.length is not None and head.length > most:
        return too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > most:
                    return too_large(most)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        return too_slow(seconds)
