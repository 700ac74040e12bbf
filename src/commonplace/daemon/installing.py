"""Installing the daemon with the system, so that it starts at login; and taking that back."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.daemon.unit import Command, Unit, unit_of
from commonplace.errors import VaultUnavailable

PROGRAM: Final = (sys.executable, "-m", "commonplace", "-q", "serve")
_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Installed:
    """What was done: the file, whether it is another than before, and the commands that are left for a person."""

    path: Path
    changed: bool
    left: tuple[str, ...]


def this_unit() -> Unit:
    """The unit for this machine and this user."""
    return unit_of(sys.platform, home=Path.home(), program=PROGRAM, environ=os.environ, user=os.getuid())


def install(unit: Unit) -> Installed:
    """Write the unit and let the system start it, where the system can. Raises VaultUnavailable for the disk."""
    try:
        changed = not unit.path.exists() or unit.path.read_text(encoding="utf-8") != unit.text
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        half_made = unit.path.with_name(f".{unit.path.name}.{os.getpid()}")
        half_made.write_text(unit.text, encoding="utf-8")
        half_made.replace(unit.path)
    except OSError as error:
        raise _disk_said(unit, error) from error
    return Installed(unit.path, changed, _left_of(unit.start))


def uninstall(unit: Unit) -> Installed:
    """Let the system forget the unit, and remove it. Raises VaultUnavailable for the disk."""
    if not os.path.lexists(unit.path):
        return Installed(unit.path, changed=False, left=())
    left = _left_of(unit.end)
    try:
        unit.path.unlink()
    except OSError as error:
        raise _disk_said(unit, error) from error
    return Installed(unit.path, changed=True, left=left)


def _left_of(commands: tuple[Command, ...]) -> tuple[str, ...]:
    """Run the commands; from the first that cannot be run on, they are left for a person."""
    for number, command in enumerate(commands):
        if not _works(command):
            return tuple(" ".join(each) for each in commands[number:])
    return ()


def _works(command: Command) -> bool:
    if not shutil.which(command[0]):
        return False
    try:
        run = subprocess.run(command, capture_output=True, check=False, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


def _disk_said(unit: Unit, error: OSError) -> VaultUnavailable:
    message = f"the unit cannot be changed: {error.strerror}"
    return VaultUnavailable(message, path=str(unit.path), hint="Look at the folder's permissions.")
