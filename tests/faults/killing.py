"""Work on a vault in another process that is killed in the middle, after a chosen number of calls of our functions."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from commonplace import open_memory
from commonplace.memory import Memory


def killed_after(
    steps: int | None,
    work: Callable[[Memory], bool],
    root: Path,
    *,
    rooms: Sequence[str],
    settings: Mapping[str, object],
) -> int:
    """How many calls of functions of these rooms the work made: 0 if it was killed, -1 if `work` returned False.

    Without `steps` it is not killed.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, str(_count(steps, work, root, rooms=rooms, settings=settings)).encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 20)
    os.close(reader)
    os.waitpid(child, 0)
    return int(told or 0)


def _count(
    steps: int | None,
    work: Callable[[Memory], bool],
    root: Path,
    *,
    rooms: Sequence[str],
    settings: Mapping[str, object],
) -> int:
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        if event == "call" and any(f"commonplace/{room}" in frame.f_code.co_filename for room in rooms):
            calls += 1
            if calls == steps:
                os.kill(os.getpid(), signal.SIGKILL)

    with open_memory(root, settings=dict(settings)) as memory:
        sys.setprofile(count)
        is_right = work(memory)
        sys.setprofile(None)
    return calls if is_right else -1
