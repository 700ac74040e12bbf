"""A stretch of work that Ctrl-C does not cut in half: the signal comes when it is over."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_HELD_BACK = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold back the signals that end a program until the block has ended.

    Python handles them in the main thread, so elsewhere there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        came.append(number)

    handlers = {number: signal.getsignal(number) for number in _HELD_BACK}
    ours = [number for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)]
    for number in ours:
        signal.signal(number, remember)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, handlers[number])
        for number in came:
            signal.raise_signal(number)
