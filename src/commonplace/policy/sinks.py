"""What may be shown where: sensitive text stays with its owner."""

from collections.abc import Mapping
from typing import Final, Literal

Sink = Literal["person", "prompt", "mcp", "model", "remote_encoder", "export"]
Shown = Literal["whole", "title_only", "ask"]

SENSITIVE_TEXT: Final[Mapping[Sink, Shown]] = {
    "person": "whole",
    "prompt": "title_only",
    "mcp": "title_only",
    "model": "title_only",
    "remote_encoder": "title_only",
    "export": "ask",
}


def shown(sensitive: bool, sink: Sink) -> Shown:  # noqa: FBT001 - said in the order of the table
    """How much of a note goes there: all of it, its title and path only, or what the person answers when asked."""
    return SENSITIVE_TEXT[sink] if sensitive else "whole"
