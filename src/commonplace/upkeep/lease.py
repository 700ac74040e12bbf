"""The lease of a job, on the disk: one process runs it at a time, and the lease of a dead one is taken over at once.

A lease names its process by boot, process id and start time, which no other process has. A process that lives keeps its
lease until it ends in time; one that is late loses it, and sees so before its next step.
"""

import os
import platform
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from commonplace.errors import VaultUnavailable
from commonplace.history.base import JobStore
from commonplace.model.moment import moment_text
from commonplace.model.upkeep import JobLease

GRACE: Final = timedelta(minutes=5)
"""How long after its time limit a run keeps its lease: a step that has begun may wait for a model."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_START_FIELD: Final = 19  # of /proc/PID/stat, counted after the name: the start time in ticks since the boot


@dataclass(slots=True)
class HeldLease:
    """A lease that this run holds."""

    store: JobStore
    lease: JobLease
    length: timedelta

    def renew(self, now: datetime) -> bool:
        """Keep it for its full length from now; False if another process has taken it over."""
        self.lease = replace(self.lease, until=moment_text(now + self.length))
        return self.store.take_lease(self.lease, now=now)


@contextmanager
def hold_lease(job: str, store: JobStore, *, seconds: float, now: datetime) -> Iterator[HeldLease]:
    """Hold the lease of a job. Raises VaultUnavailable (`locked`) if another process runs it."""
    boot, process = this_process()
    length = timedelta(seconds=seconds) + GRACE
    lease = JobLease(job=job, owner=secrets.token_hex(8), boot=boot, process=process, until=moment_text(now + length))
    present = store.job_lease(job)
    replaces = present.owner if present and is_dead(present) else ""
    if not store.take_lease(lease, now=now, replaces=replaces):
        hint = "Wait until it has ended; `commonplace jobs log` shows it."
        raise VaultUnavailable(f"another process is running the job {job}", reason="locked", hint=hint)
    held = HeldLease(store, lease, length)
    try:
        yield held
    finally:
        store.end_lease(held.lease)


def is_held(job: str, store: JobStore, *, now: datetime) -> bool:
    """True while a process that lives holds the lease of that job."""
    present = store.job_lease(job)
    return present is not None and present.until > moment_text(now) and not is_dead(present)


def is_dead(lease: JobLease) -> bool:
    """True if the process that holds the lease has certainly ended; of one elsewhere only the lease's end tells."""
    held, here = _place(lease.boot), _place(this_process()[0])
    if held.machine and held.machine != here.machine:
        return False  # machines that share a database cannot see each other's processes
    if (held.boot, held.space) != (here.boot, here.space):
        return bool(held.boot and here.boot and held.boot != here.boot)  # started again; another container is not known
    number, _, start = lease.process.partition(".")
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError, OverflowError):
        return False
    return bool(start) and _start_of(int(number)) != start


def this_process() -> tuple[str, str]:
    """What identifies this process: boot, space of process ids and machine; then the id and the start time."""
    try:
        boot = f"{_BOOT.read_text(encoding='ascii').strip()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:  # not Linux
        boot = "/"
    return f"{boot}/{platform.node()}", f"{os.getpid()}.{_start_of(os.getpid())}"


class _Place(NamedTuple):
    """Where a process runs; the machine is empty in leases of older versions."""

    boot: str
    space: str
    machine: str


def _place(boot: str) -> _Place:
    return _Place(*(*boot.split("/", 2), "", "")[:3])


def _start_of(process: int) -> str:
    """When a process was started; empty if the system does not tell."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[_START_FIELD]
