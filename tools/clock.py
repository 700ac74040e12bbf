"""Runs a command from another moment on, to show that no test depends on the hour or the day.

    python -m tools.clock '2026-11-30 23:57:00' pytest tests/unit

The moment is UTC, and the clock goes on from there; every process that the command starts has it. Only the clock is
shifted, not what measures time: libfaketime (Debian: faketime) reads it, and what sleeps until a moment of the
monotonic clock goes past libfaketime, which would shift that as well. A program that is linked statically (`codex`)
keeps its own clock, and so does the browser of the tests, which would spin.
"""

import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_LIBRARY: Final = "faketime/libfaketime.so.1"
_SLEEP: Final = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{ return syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0; }
"""


def surroundings(moment: datetime, folder: Path) -> dict[str, str]:
    """The variables that shift the clock of a command; what it needs is made in the folder."""
    found = list(Path("/usr/lib").glob(f"*/{_LIBRARY}"))
    if not found:
        sys.exit("A shifted clock needs libfaketime (Debian: apt-get install faketime).")
    source, sleep = folder / "sleep.c", folder / "sleep.so"
    source.write_text(_SLEEP)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(sleep), str(source)], check=True)
    shift = moment - datetime.now(UTC)
    return {
        "LD_PRELOAD": f"{sleep} {found[0]}",
        "FAKETIME": f"{shift.total_seconds():+.0f}s",
        "DONT_FAKE_MONOTONIC": "1",
    }


def main() -> int:
    """Run the command; its exit code."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    moment = datetime.fromisoformat(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        shifted = surroundings(moment if moment.tzinfo else moment.replace(tzinfo=UTC), Path(folder))
        return subprocess.run(sys.argv[2:], env={**os.environ, **shifted}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
