"""Hooks as Claude Code and Codex read them: for each event a command that hands it to the daemon."""

import shlex
from pathlib import Path
from typing import Final

from commonplace.hosts.edits import Listed
from commonplace.hosts.host import PORTABLE, Around, Asked, HostFile

EVENTS: Final = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}
"""What the hosts call an event, and what we do."""

_PATIENCE: Final = 5  # seconds; the hook gives up by itself long before
_AT_THE_END: Final = 3  # seconds; Codex lets no hook take longer there, and complains of one that might


def hooks_file(path: Path, host: str, asked: Asked, around: Around) -> HostFile:
    """The file with our hooks in it."""
    edits = [
        Listed(
            ("hooks", event),
            nest="hooks",
            leaf={
                "type": "command",
                "command": _command(word, host, asked, around),
                "timeout": _AT_THE_END if event == "SessionEnd" else _PATIENCE,
            },
        )
        for event, word in EVENTS.items()
    ]
    return HostFile(path, "json", tuple(edits))


def _command(event: str, host: str, asked: Asked, around: Around) -> str:
    program = PORTABLE if asked.reach == "project" else around.program
    line = " ".join(shlex.quote(word) for word in (*program, "hook", event, "--host", host, *around.vault_words))
    if asked.reach == "project":  # whoever shares the project without having us shall not hear of us
        return f"if command -v {PORTABLE[0]} >/dev/null 2>&1; then {line}; fi"
    return line
