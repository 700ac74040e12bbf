"""The progress of a long command on standard error: one refreshed line on a terminal, elsewhere a line now and then."""

import shutil
import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Final

from commonplace.cli.invocation import Invocation, print_stderr
from commonplace.events import emit
from commonplace.model.progress import PROGRESS_VERBS, ProgressMeter, duration_text

_QUIET_S: Final = 1.0  # what is done within it shows nothing
_REFRESH_S: Final = 0.1  # between two updates of the line on a terminal
_PLAIN_S: Final = 3.0  # between two lines where standard error is not a terminal
_WIPE: Final = "\r\033[K"


class ProgressLine:
    """Shows how far a command has come, how fast it goes and how long it takes. Use it in a `with` block.

    Call it as a verb calls its `progress`: with what is counted, the number done, and the number of all. Silent with
    `-q` and `--json`, and for what is done within a second. `verbs` are other words for what is done.
    """

    def __init__(self, invocation: Invocation, verbs: Mapping[str, str] | None = None) -> None:
        self._is_silent = invocation.quiet or invocation.json
        self._is_terminal = sys.stderr.isatty()
        self._meter = ProgressMeter(time.monotonic, {**PROGRESS_VERBS, **(verbs or {})})
        self._name, self._stage, self._since = "", "", time.monotonic()
        self._is_shown = False
        self._ending, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._show_until_end, name="progress", daemon=True)

    def __call__(self, what: str, done: int, total: int) -> None:
        """Note how far the command has come."""
        with self._lock:
            self._stage = ""
            self._meter(what, done, total)

    def stage(self, name: str, done: int, total: int) -> None:
        """Note how far a download has come, in bytes; of a stage without numbers, its name and its time are shown.

        Each stage is also an event, which `-v` prints.
        """
        is_new = name != self._name
        if is_new:
            self._name = name
            emit("model_stage", level="debug", stage=name)
        if total > 1:
            self("bytes", done, total)
        elif is_new:
            with self._lock:
                self._stage, self._since = name, time.monotonic()

    def wipe(self) -> None:
        """Clear the line, and show nothing until the next call: something else is printed now."""
        with self._lock:
            if self._is_shown and self._is_terminal:
                sys.stderr.write(_WIPE)
                sys.stderr.flush()
            self._is_shown, self._stage = False, ""
            self._meter("", 0, 0)

    def _show_until_end(self) -> None:
        first, pause = (_QUIET_S, _REFRESH_S) if self._is_terminal else (_PLAIN_S, _PLAIN_S)
        wait = first
        while not self._ending.wait(wait):
            wait = pause
            with self._lock:
                if text := self._text():
                    self._show(text)

    def _text(self) -> str:
        if self._stage:
            return f"{self._stage}, {duration_text(time.monotonic() - self._since)}"
        return self._meter.text if self._meter.is_running else ""

    def _show(self, text: str) -> None:
        self._is_shown = True
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1  # a longer line would wrap, and could not be wiped
            sys.stderr.write(f"{_WIPE}{text[:width]}")
            sys.stderr.flush()
        else:
            print_stderr(text)

    def __enter__(self) -> "ProgressLine":
        if not self._is_silent:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        if self._thread.ident:  # it was started
            self._thread.join()
        self.wipe()
