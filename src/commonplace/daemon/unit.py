"""What lets the system start the daemon at login: a systemd user unit, or a launchd agent. Text; nothing is run."""

import plistlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LABEL: Final = "commonplace.serve"
HANDED_DOWN: Final = (
    "PATH",  # git is found as it is found now
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "COMMONPLACE_STATE",
    "COMMONPLACE_DATA",
    "COMMONPLACE_SETTINGS",
    "COMMONPLACE_USER",
)
"""Variables that say where things are. No other goes into the file: it might be a secret."""

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A file of the system's: where it lies, what it says, and the commands that make it count or not."""

    path: Path
    text: str
    start: tuple[Command, ...]
    end: tuple[Command, ...]


def unit_of(platform: str, *, home: Path, program: Sequence[str], environ: Mapping[str, str], user: int) -> Unit:
    """The unit for this kind of system: launchd's on macOS, else systemd's."""
    kept = {name: environ[name] for name in HANDED_DOWN if environ.get(name)}
    if platform == "darwin":
        path = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        out: Command = ("launchctl", "bootout", f"gui/{user}/{LABEL}")
        return Unit(path, agent_text(program, kept), (("launchctl", "bootstrap", f"gui/{user}", str(path)),), (out,))
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    again: Command = ("systemctl", "--user", "daemon-reload")
    return Unit(
        config / "systemd" / "user" / "commonplace.service",
        unit_text(program, kept),
        (again, ("systemctl", "--user", "enable", "--now", "commonplace.service")),
        (("systemctl", "--user", "disable", "--now", "commonplace.service"), again),
    )


def unit_text(program: Sequence[str], environ: Mapping[str, str]) -> str:
    """A systemd user unit that runs the program."""
    command = " ".join(_quoted(word).replace("$", "$$") for word in program)
    variables = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in environ.items())
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


def agent_text(program: Sequence[str], environ: Mapping[str, str]) -> str:
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


def _quoted(word: str) -> str:
    """The word as systemd reads it back: quotes and backslashes escaped, and `%`, which else stands for something."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped.replace("%", "%%")}"'
