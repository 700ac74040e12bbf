"""Lets the system start the daemon at login, with a systemd user unit or a launchd agent; and takes that back."""

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonplace.errors import VaultUnavailable

PROGRAM: Final = (sys.executable, "-m", "commonplace", "-q", "serve")
LABEL: Final = "commonplace.serve"
PASSED_VARIABLES: Final = (
    "PATH",  # git is found as it is found now
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "COMMONPLACE_STATE",
    "COMMONPLACE_DATA",
    "COMMONPLACE_SETTINGS",
    "COMMONPLACE_USER",
)
"""Variables that say where things are. No other variable goes into the file: it might be a secret."""

Command = tuple[str, ...]
_COMMAND_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class ServiceFile:
    """A unit or agent: its path, its text, and the commands that activate and deactivate it."""

    path: Path
    text: str
    start: tuple[Command, ...]
    end: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class ServiceChange:
    """What was done: the file, whether it changed, and the commands that are left for a person to run."""

    path: Path
    changed: bool
    left: tuple[str, ...]


def current_service() -> ServiceFile:
    """The service file for this machine and this user."""
    return service_file(sys.platform, home=Path.home(), program=PROGRAM, environ=os.environ, user=os.getuid())


def install_service(service: ServiceFile) -> ServiceChange:
    """Write the file and let the system start the daemon, if it can. Raises VaultUnavailable."""
    try:
        changed = not service.path.exists() or service.path.read_text(encoding="utf-8") != service.text
        service.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = service.path.with_name(f".{service.path.name}.{os.getpid()}")
        temporary.write_text(service.text, encoding="utf-8")
        temporary.replace(service.path)
    except OSError as error:
        raise _disk_error(service, error) from error
    return ServiceChange(service.path, changed, _run(service.start))


def uninstall_service(service: ServiceFile) -> ServiceChange:
    """Deactivate the service and remove its file. Raises VaultUnavailable."""
    if not os.path.lexists(service.path):
        return ServiceChange(service.path, changed=False, left=())
    left = _run(service.end)
    try:
        service.path.unlink()
    except OSError as error:
        raise _disk_error(service, error) from error
    return ServiceChange(service.path, changed=True, left=left)


def service_file(
    platform: str, *, home: Path, program: Sequence[str], environ: Mapping[str, str], user: int
) -> ServiceFile:
    """The service file for this platform: launchd's on macOS, otherwise systemd's."""
    variables = {name: environ[name] for name in PASSED_VARIABLES if environ.get(name)}
    if platform == "darwin":
        path = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        bootstrap: Command = ("launchctl", "bootstrap", f"gui/{user}", str(path))
        bootout: Command = ("launchctl", "bootout", f"gui/{user}/{LABEL}")
        return ServiceFile(path, launchd_agent(program, variables), (bootstrap,), (bootout,))
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    reload: Command = ("systemctl", "--user", "daemon-reload")
    return ServiceFile(
        config / "systemd" / "user" / "commonplace.service",
        systemd_unit(program, variables),
        (reload, ("systemctl", "--user", "enable", "--now", "commonplace.service")),
        (("systemctl", "--user", "disable", "--now", "commonplace.service"), reload),
    )


def systemd_unit(program: Sequence[str], environ: Mapping[str, str]) -> str:
    """A systemd user unit that runs the program."""
    command = " ".join(_quote(word).replace("$", "$$") for word in program)
    variables = "".join(f"Environment={_quote(f'{name}={value}')}\n" for name, value in environ.items())
    return (
        "[Unit]\n"
        "Description=Commonplace, a memory for AI agents\n"
        "\n"
        "[Service]\n"
        "Type=exec\n"
        f"ExecStart={command}\n"
        f"{variables}"
        "Restart=on-failure\n"
        "RestartSec=2\n"
        "TimeoutStopSec=40\n"
        "KillMode=mixed\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def launchd_agent(program: Sequence[str], environ: Mapping[str, str]) -> str:
    """A launchd agent that runs the program."""
    agent = {
        "Label": LABEL,
        "ProgramArguments": [*program],
        "EnvironmentVariables": dict(environ),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ExitTimeOut": 40,
    }
    return plistlib.dumps(agent, sort_keys=False).decode()


def _quote(word: str) -> str:
    """The word quoted for systemd: quotes and backslashes escaped, and `%`, which would start a specifier."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped.replace("%", "%%")}"'


def _run(commands: tuple[Command, ...]) -> tuple[str, ...]:
    """Run the commands up to the first that fails; that one and the following ones are left for a person."""
    for number, command in enumerate(commands):
        if not _succeeds(command):
            return tuple(" ".join(each) for each in commands[number:])
    return ()


def _succeeds(command: Command) -> bool:
    if not shutil.which(command[0]):
        return False
    try:
        run = subprocess.run(command, capture_output=True, check=False, timeout=_COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


def _disk_error(service: ServiceFile, error: OSError) -> VaultUnavailable:
    message = f"the service file cannot be changed: {error.strerror}"
    return VaultUnavailable(message, path=str(service.path), hint="Check the folder's permissions.")
