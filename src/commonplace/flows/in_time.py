"""Several things done side by side until a moment; what is not ready by then is left behind."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from commonplace.errors import CommonplaceError
from commonplace.events import emit

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Gathered(Generic[_T]):
    """What was ready in time, by name; what was not; and what went wrong with which."""

    ready: Mapping[str, _T]
    late: tuple[str, ...]
    failed: Mapping[str, CommonplaceError]


def gather(parts: Mapping[str, Callable[[], _T]], *, within: float | None) -> Gathered[_T]:
    """Do all parts at once, for so many seconds at most; without a bound, until all are done.

    A part that is late goes on by itself, so that what it loads is there the next time; nobody waits for it, and what
    goes wrong with it then is an event. An error that is none of ours ends everything, as it would anywhere else.
    """
    until = None if within is None else time.monotonic() + within
    done: dict[str, _T] = {}
    failed: dict[str, BaseException] = {}
    over = threading.Event()

    def do(name: str, part: Callable[[], _T]) -> None:
        try:
            done[name] = part()
        except BaseException as error:  # noqa: BLE001 (it is raised, or told, by whoever waits)
            failed[name] = error
            if over.is_set():  # nobody waits any more
                emit("late_part_failed", level="warning", part=name, error=type(error).__name__)

    threads = [threading.Thread(target=do, args=each, name=f"gather-{each[0]}", daemon=True) for each in parts.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(None if until is None else max(0.0, until - time.monotonic()))
    over.set()
    ready, broken = dict(done), dict(failed)  # a late part may end at any moment from here on
    told: dict[str, CommonplaceError] = {}
    for name, error in broken.items():
        if not isinstance(error, CommonplaceError):
            raise error
        told[name] = error
    return Gathered(ready, tuple(name for name in parts if name not in ready and name not in told), told)
