"""Structured events, written to standard error or passed to a listener, and shown to observers.

A library must not print unasked: until a door calls `listen`, only warnings and errors are written. Observers see every
event, whatever its level: they count, and tell others that something happened.
structlog takes a tenth of a second to import, so it is imported when the first event is written.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal

Level = Literal["debug", "info", "warning", "error"]
_ORDER: tuple[Level, ...] = ("debug", "info", "warning", "error")
_threshold: Level = "warning"
Listener = Callable[[Level, str, Mapping[str, Any]], None]
_listener: Listener | None = None
Observer = Callable[[str, Mapping[str, Any]], None]
_observers: tuple[Observer, ...] = ()


def listen(level: Level) -> None:
    """From now on, write events of this level and above."""
    global _threshold
    _threshold = level


def pass_to(listener: Listener | None) -> None:
    """From now on, pass events to the listener instead of writing them; None writes them again."""
    global _listener
    _listener = listener


def observe(observer: Observer) -> Callable[[], None]:
    """From now on, show every event to the observer, in the thread in which it happens; returns what ends that.

    An observer must be quick, and raise nothing: it runs in the middle of what it observes.
    """
    global _observers
    _observers = (*_observers, observer)

    def end() -> None:
        global _observers
        _observers = tuple(each for each in _observers if each is not observer)

    return end


def emit(event: str, *, level: Level = "info", **fields: Any) -> None:
    """Report one event: to the observers, and to the listener or on standard error if it is important enough.

    On a terminal it is a line for people, otherwise JSON.
    """
    for observer in _observers:
        observer(event, fields)
    if _ORDER.index(level) < _ORDER.index(_threshold):
        return
    if _listener:
        _listener(level, event, fields)
        return
    import structlog

    show: Any = structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    logger = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            show,
        ],
    )
    getattr(logger, level)(event, **fields)
