"""Jobs that a person asked for over HTTP: run one after another, in the background, until the daemon stops."""

import threading
from collections import deque
from typing import Final

from commonplace.errors import CommonplaceError, Conflict, Refused, VaultUnavailable
from commonplace.events import emit
from commonplace.memory import Memory

MOST_WAITING: Final = 20


class JobQueue:
    """Its thread starts with the first job and ends with the last one. Its methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: deque[tuple[Memory, str]] = deque()  # the first one is running
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()

    def add(self, memory: Memory, name: str) -> int:
        """Run that job of this memory once the others have ended; returns how many are ahead of it.

        Raises NotFound, Conflict if it is waiting or running already, Refused if too many wait.
        """
        if memory.jobs.show(name).is_running:
            raise Conflict(f"the job {name} is running already", hint=f"`commonplace jobs log {name}` shows it.")
        with self._lock:
            if self._ending.is_set():
                raise VaultUnavailable("the daemon is stopping", hint="Start it again: `commonplace serve`.")
            if name in self._names(memory):
                raise Conflict(f"the job {name} was asked for already", hint="Wait until it has run.")
            if len(self._asked) >= MOST_WAITING:
                raise Refused(f"{MOST_WAITING} jobs are waiting", reason="too_large", hint="Wait until some have run.")
            self._asked.append((memory, name))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="asked jobs", daemon=True)
                self._thread.start()
            return len(self._asked) - 1

    def waiting(self, memory: Memory) -> list[str]:
        """The names of the jobs of this memory that were asked for and have not ended."""
        with self._lock:
            return self._names(memory)

    def end(self, *, within: float) -> bool:
        """Start no other job, and let the running one end before its next step; True if it did in time."""
        self._ending.set()
        thread = self._thread
        if thread:
            thread.join(within)
        return not (thread and thread.is_alive())

    def _names(self, memory: Memory) -> list[str]:
        vault = memory.conversations.vault_folder
        return [name for each, name in self._asked if each.conversations.vault_folder == vault]

    def _run(self) -> None:
        while job := self._next():
            memory, name = job
            try:
                memory.jobs.run(name, stops=self._ending.is_set)
            except CommonplaceError as error:  # another process runs it, or the vault is away
                emit("job_not_run", level="warning", job=name, said=error.message)
            except Exception as error:  # noqa: BLE001 (a job runner: whatever it is, the other jobs go on)
                emit("job_broke", level="warning", job=name, exc_info=error)
            with self._lock:
                self._asked.popleft()

    def _next(self) -> tuple[Memory, str] | None:
        """The job to run now; None ends the thread."""
        with self._lock:
            if self._asked and not self._ending.is_set():
                return self._asked[0]
            self._asked.clear()
            self._thread = None
            return None
