"""New ids: UUIDs of version 7, so that those made later come later in order."""

import os
from datetime import datetime
from typing import Final
from uuid import UUID

_MICROSECONDS: Final = 1000  # in a millisecond: as many as fit the 12 bits below it


def new_id(now: datetime) -> str:
    """An id that no other has, and that stands after those of earlier moments."""
    micros = int(now.timestamp() * 1_000_000)
    millis, rest = divmod(micros, _MICROSECONDS)
    value = (millis & (2**48 - 1)) << 80
    value |= 0x7 << 76 | (rest * 4096 // _MICROSECONDS) << 64
    value |= 0b10 << 62 | int.from_bytes(os.urandom(8)) >> 2
    return str(UUID(int=value))


def new_nonce() -> str:
    """Eight digits that no text could know beforehand."""
    return os.urandom(4).hex()
