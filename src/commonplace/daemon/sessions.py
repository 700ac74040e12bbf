"""What the models of running sessions have read: what was put before them at the start is not put there again."""

import threading
import time
from collections import OrderedDict
from typing import Final

_MOST: Final = 1000  # sessions; one that is forgotten is told twice
_ECHO: Final = 2.0  # seconds in which a host runs all the hooks that it was told of for one event


class Sessions:
    """The marks of what each session was given at its start. Its methods may be called from several threads."""

    def __init__(self) -> None:
        self._read: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._answered: dict[str, float] = {}
        self._turn = threading.Lock()

    def remember(self, session: str, marks: frozenset[str]) -> None:
        """From now on these count as read in that session, and nothing else does."""
        with self._turn:
            self._read[session] = marks
            self._read.move_to_end(session)
            while len(self._read) > _MOST:
                self._read.popitem(last=False)

    def known(self, session: str) -> frozenset[str]:
        """What its model has read; nothing where that is not known."""
        with self._turn:
            if session in self._read:
                self._read.move_to_end(session)
            return self._read.get(session, frozenset())

    def forget(self, session: str) -> None:
        """The session is over, or its host is about to make it shorter."""
        with self._turn:
            self._read.pop(session, None)

    def is_first(self, event: str) -> bool:
        """Whether nobody has just asked about this very event; a host to which we were added twice asks twice."""
        now = time.monotonic()
        with self._turn:
            self._answered = {each: at for each, at in self._answered.items() if now - at < _ECHO}
            return self._answered.setdefault(event, now) == now

    def was_not_read(self, event: str) -> None:
        """Whoever asked about it has left before it was answered: the next one is first."""
        with self._turn:
            self._answered.pop(event, None)
