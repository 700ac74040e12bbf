"""The moment at which the process ends, whatever it waits for then."""

import _thread
import os
import time
from collections.abc import Callable

_SECONDS = {"session-start": 0.8, "prompt": 0.5}
_OTHERS = 0.3
_ALREADY = 0.05  # seconds that the interpreter may have taken until it came here
_TO_WRITE = 0.05  # seconds for the last words, or for an answer that is being written at that moment


class Deadline:
    """How long an event may take, from the start of the process on."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._ending = _thread.allocate_lock()

    @property
    def left(self) -> float:
        """Seconds until then; never less than a millisecond, so that it can be given to whatever waits."""
        return max(0.001, self._until - time.monotonic())

    def enforce(self, give_up: Callable[[], None]) -> None:
        """End the process then, with exit code 0, unless it is ending already; `give_up` has the last word."""
        _thread.start_new_thread(self._wait, (give_up,))

    def end(self, last_words: Callable[[], None]) -> None:
        """End the process now, with exit code 0."""
        with self._ending:
            try:
                last_words()
            finally:
                os._exit(0)  # whatever else Python would do at its end takes longer than it is worth

    def _wait(self, give_up: Callable[[], None]) -> None:
        time.sleep(self.left)
        _thread.start_new_thread(_leave, ())
        self.end(give_up)


def _leave() -> None:
    """The last resort, should even the last words wait for a disk."""
    time.sleep(_TO_WRITE)
    os._exit(0)


def deadline_of(event: str) -> Deadline:
    """The deadline of an event whose process has just begun."""
    return Deadline(_SECONDS.get(event, _OTHERS) - _ALREADY)
