"""Where this process is: the home, the folder, the program that runs, and the daemon's address."""

import os
import shutil
import sys
from pathlib import Path

from commonplace.daemon.single import announced, our_places
from commonplace.hosts.host import Around


def around_here(*, port: int, vault: str = "") -> Around:
    """What is around this process; the port is that of the daemon that runs, else the given one."""
    running = announced(our_places())
    return Around(
        home=Path.home(),
        project=Path.cwd(),
        program=this_program(),
        environ=dict(os.environ),
        platform=sys.platform,
        url=f"{running.url if running else f'http://127.0.0.1:{port}'}/mcp",
        vault=vault,
    )


def this_program() -> tuple[str, ...]:
    """The words that run this very program from anywhere: by its name on the path where that is the same one."""
    beside = Path(sys.executable).with_name("commonplace")
    found = shutil.which("commonplace")
    if not os.access(beside, os.X_OK):
        return (sys.executable, "-P", "-m", "commonplace")  # else a module of the project's would be run for ours
    if found and os.path.realpath(found) == os.path.realpath(beside):
        return (os.path.abspath(found),)
    return (str(beside),)
