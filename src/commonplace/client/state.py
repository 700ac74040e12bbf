"""What the running daemon says of itself in `serve.json`."""

import json
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True, slots=True)
class State:
    """One daemon: its process, since when it runs, its version, and the two ways in."""

    pid: int
    started: str
    version: str
    port: int
    socket: str
    url: str


def read_state(file: Path) -> State | None:
    """What the file says; None when there is no such file, or it is not a whole one. Raises OSError."""
    try:
        said = json.loads(file.read_bytes())
        return State(**{part.name: said[part.name] for part in fields(State)})
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
