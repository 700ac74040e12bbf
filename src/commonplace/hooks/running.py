"""The process of a hook: it always ends well, in time, and with at most one line for a person to read."""

import os

from commonplace.hooks.deadline import deadline_of
from commonplace.hooks.line import Line
from commonplace.hooks.skips import note_skip
from commonplace.hooks.turn import Skipped, take_turn

_OUT, _ERR = 1, 2


def run_hook(line: Line) -> None:
    """Answer the host, and end this process with exit code 0: a host takes any other for a wish to stop."""
    deadline = deadline_of(line.event)
    deadline.enforce(lambda: _skip(line, "it took too long"))
    try:
        answer = take_turn(line, deadline)
        deadline.end(lambda: _write(_OUT, answer))
    except Skipped as skipped:
        reason = str(skipped)
        deadline.end(lambda: _skip(line, reason))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the outermost door: the host goes on whatever it is)
        unexpected = f"unexpected {type(error).__name__}: {error}"
        deadline.end(lambda: _skip(line, unexpected))


def _skip(line: Line, reason: str) -> None:
    if reason:
        _write(_ERR, f"commonplace: skipped ({' '.join(reason.split())})")
        note_skip(line.event, host=line.host, reason=reason)


def _write(descriptor: int, text: str) -> None:
    """One line, or none for an empty text; in one piece where the system can."""
    rest = f"{text}\n".encode("utf-8", "replace") if text else b""
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        return  # nobody reads: then there is nobody to be told either
