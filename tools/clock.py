"""Runs a command from another moment on, to show that no test depends on the hour or the day.

    python -m tools.clock '2026-11-30 23:57:00' pytest tests/unit

The moment is UTC, and the clock goes on from there; every process that the command starts has it, and so have the times
of files. Only the clock is shifted, not what measures time: libfaketime (Debian: faketime) reads it, and what sleeps
until a moment of the monotonic clock goes past libfaketime, which would shift that as well. A program that is linked
statically (`codex`) keeps its own clock, Node reads the times of files past us, and the browser of the tests, which
would spin, keeps its own clock, too.
"""

import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_LIBRARY: Final = "faketime/libfaketime.so.1"
_SOURCE: Final = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long shift;
__attribute__((constructor)) static void begin(void)
{ const char *said = getenv("FAKETIME"); shift = said ? atoll(said) : 0; }

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{ return syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0; }

int fstatat(int folder, const char *path, struct stat *told, int flags)
{
  int failed = syscall(SYS_newfstatat, folder, path, told, flags);
  if (!failed) { told->st_atim.tv_sec += shift; told->st_mtim.tv_sec += shift; told->st_ctim.tv_sec += shift; }
  return failed;
}
int stat(const char *path, struct stat *told) { return fstatat(AT_FDCWD, path, told, 0); }
int lstat(const char *path, struct stat *told) { return fstatat(AT_FDCWD, path, told, AT_SYMLINK_NOFOLLOW); }
int fstat(int file, struct stat *told) { return fstatat(file, "", told, AT_EMPTY_PATH); }
int fstatat64(int, const char *, struct stat64 *, int) __attribute__((alias("fstatat")));
int stat64(const char *, struct stat64 *) __attribute__((alias("stat")));
int lstat64(const char *, struct stat64 *) __attribute__((alias("lstat")));
int fstat64(int, struct stat64 *) __attribute__((alias("fstat")));

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *told)
{
  int failed = syscall(SYS_statx, folder, path, flags, mask, told);
  if (!failed) {
    told->stx_atime.tv_sec += shift; told->stx_btime.tv_sec += shift;
    told->stx_ctime.tv_sec += shift; told->stx_mtime.tv_sec += shift;
  }
  return failed;
}
int utimensat(int folder, const char *path, const struct timespec times[2], int flags)
{
  struct timespec set[2];
  for (int each = 0; times && each < 2; each++) {
    set[each] = times[each];
    if (set[each].tv_nsec != UTIME_NOW && set[each].tv_nsec != UTIME_OMIT) set[each].tv_sec -= shift;
  }
  return syscall(SYS_utimensat, folder, path, times ? set : NULL, flags);
}
int futimens(int file, const struct timespec times[2]) { return utimensat(file, NULL, times, 0); }
"""
"""The times of files are the kernel's, which keeps the real clock: they are shifted as programs read or set them."""


def surroundings(moment: datetime, folder: Path) -> dict[str, str]:
    """The variables that shift the clock of a command; what it needs is made in the folder."""
    found = list(Path("/usr/lib").glob(f"*/{_LIBRARY}"))
    if not found:
        sys.exit("A shifted clock needs libfaketime (Debian: apt-get install faketime).")
    source, ours = folder / "clock.c", folder / "clock.so"
    source.write_text(_SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(ours), str(source)], check=True)
    shift = moment - datetime.now(UTC)
    return {
        "LD_PRELOAD": f"{ours} {found[0]}",
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
