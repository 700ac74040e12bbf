"""Lines of transcripts as Claude Code and Codex write them, for tests; real ones are in tests/transcript_examples."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, Any] = MappingProxyType({})
AT = "2026-11-15T19:14:58.406Z"


def claude(role: str, content: Any, *, id_: str, at: str = AT, more: Mapping[str, Any] = NOTHING) -> str:
    """A line of Claude Code."""
    message = {"role": role, "content": content}
    line = {"type": role, "uuid": id_, "timestamp": at, "isSidechain": False, "message": message}
    return json.dumps({**line, **more}) + "\n"


def codex(role: str, text: str, *, id_: str = "", at: str = AT, more: Mapping[str, Any] = NOTHING) -> str:
    """A line of Codex."""
    kind = "output_text" if role == "assistant" else "input_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **more}
    return (
        json.dumps({"timestamp": at, "type": "response_item", "payload": payload | ({"id": id_} if id_ else {})}) + "\n"
    )


def claude_folder(home: Path) -> Path:
    """A folder below home in which Claude Code keeps the transcripts of a project."""
    folder = home / ".claude" / "projects" / "-home-ada-garden"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
