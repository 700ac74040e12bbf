"""Work on a vault in another process that is killed in the middle, after a chosen number of calls of our functions."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType

from commonplace import open_memory
from commonplace.memory import Memory


def killed_after(
    steps: int | None,
    work: Callable[[Memory], bool],
    root: Path,
    *,
    rooms: Sequence[str],
    settings: Mapping[str, object],
    opens: Callable[[], Memory] | None = None,
) -> int:
    """How many calls of functions of these rooms the work made: 0 if it was killed, -1 if `work` returned False.

    Without `steps` it is not killed. `opens` opens the memory, if it needs more than settings.
    """
    opens = opens or (lambda: open_memory(root, settings=dict(settings)))
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, str(_count(steps, work, opens, rooms=rooms)).encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 20)
    os.close(reader)
    os.waitpid(child, 0)
    return int(told or 0)


def _count(
    steps: int | None, work: Callable[[Memory], bool], opens: Callable[[], Memory], *, rooms: Sequence[str]
) -> int:
    calls = 0
    counts: dict[CodeType, bool] = {}  # by function: a search of names at each call would take most of the time

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        if event != "call":
            return
        code = frame.f_code
        if code not in counts:
            counts[code] = any(f"commonplace/{room}" in code.co_filename for room in rooms)
        if counts[code]:
            calls += 1
            if calls == steps:
                os.kill(os.getpid(), signal.SIGKILL)

    with opens() as memory:
        sys.setprofile(count)
        is_right = work(memory)
        sys.setprofile(None)
    return calls if is_right else -1
