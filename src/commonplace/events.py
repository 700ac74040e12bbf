"""Structured events, written to standard error, or passed to whoever asks for them.

A library must not print unasked: until a door calls `listen`, only warnings and errors come out.
structlog takes a tenth of a second to import, so it is imported when the first event is really written.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal

Level = Literal["debug", "info", "warning", "error"]
_ORDER: tuple[Level, ...] = ("debug", "info", "warning", "error")
_threshold: Level = "warning"
Ear = Callable[[Level, str, Mapping[str, Any]], None]
_ear: Ear | None = None


def listen(level: Level) -> None:
    """From now on, write events of this level and above."""
    global _threshold
    _threshold = level


def pass_to(ear: Ear | None) -> None:
    """From now on, give events to this one instead of writing them; None writes them again."""
    global _ear
    _ear = ear


def emit(event: str, *, level: Level = "info", **fields: Any) -> None:
    """Tell of one event, on standard error if nobody else wants it: a line for people on a terminal, JSON otherwise."""
    if _ORDER.index(level) < _ORDER.index(_threshold):
        return
    if _ear:
        _ear(level, event, fields)
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
