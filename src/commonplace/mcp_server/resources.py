"""The resources: every note of the vault by its path."""

from typing import Final

from fastmcp.resources.template import ResourceTemplate

from commonplace.mcp_server.door import Door
from commonplace.mcp_server.failures import failing

NOTE: Final = "vault://note/{path*}"


def note_template(door: Door) -> ResourceTemplate:
    """A note as it stands in its file, with the guards of note_read."""

    def note(path: str) -> str:
        return door.memory().notes.read(path).text

    return ResourceTemplate.from_function(
        failing(note),
        NOTE,
        name="note",
        title="A note of the vault",
        description="The text of the note at that path, such as vault://note/People/Ada.md.",
        mime_type="text/markdown",
    )
