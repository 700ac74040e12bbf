"""Permissions that count: the tests may run as root, who is above them."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_DAC_OVERRIDE = 1  # linux/capability.h: by it root writes where the permissions forbid it
_CAPABILITY_VERSION_3 = 0x20080522
_GET_SECUREBITS, _SET_SECUREBITS = 27, 28  # linux/prctl.h
_NO_SETUID_FIXUP = 1 << 2  # linux/securebits.h: access(2) then counts what root may do now, not what it might


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Permissions count in this thread and those it starts, also for root; programs that it starts are root again."""
    if os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    if not hasattr(libc, "capget") or libc.capget(header, data):
        pytest.skip("the capabilities of root cannot be taken away")
    bits, effective = libc.prctl(_GET_SECUREBITS), data[0]
    assert libc.prctl(_SET_SECUREBITS, bits | _NO_SETUID_FIXUP) == 0
    data[0] &= ~(1 << _DAC_OVERRIDE)
    assert libc.capset(header, data) == 0
    try:
        yield
    finally:
        data[0] = effective
        assert libc.capset(header, data) == 0
        assert libc.prctl(_SET_SECUREBITS, bits) == 0


@contextmanager
def read_only(*paths: Path) -> Iterator[None]:
    """Nobody may write to these files and folders, not even root."""
    modes = {path: path.stat().st_mode for path in paths if not path.is_symlink()}
    for path, mode in modes.items():
        path.chmod(mode & 0o555)
    try:
        with ordinary_user():
            yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
