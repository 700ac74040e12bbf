"""Structured events, written to standard error.

A library must not print unasked: until a door calls `listen`, only warnings and errors come out.
structlog takes a tenth of a second to import, so it is imported when the first event is really written.
"""

import sys
from typing import Any, Literal

Level = Literal["debug", "info", "warning", "error"]
_ORDER: tuple[Level, ...] = ("debug", "info", "warning", "error")
_threshold: Level = "warning"


def listen(level: Level) -> None:
    """From now on, write events of this level and above."""
    global _threshold
    _threshold = level


def emit(event: str, *, level: Level = "info", **fields: Any) -> None:
    """Write one event to standard error: a line for people on a terminal, JSON otherwise."""
    if _ORDER.index(level) < _ORDER.index(_threshold):
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
