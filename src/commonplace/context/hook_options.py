"""Settings of the hooks that put memory before prompts, for all hosts and for single ones."""

from dataclasses import dataclass

from commonplace.context.options import NOTES_MODES
from commonplace.model import option


def parse_host_notes(line: str) -> tuple[str, str]:
    """The host and its use of notes in a line such as `codex off`. Raises ValueError for any other line."""
    host, _, mode = line.strip().casefold().partition(" ")
    if mode.strip() not in NOTES_MODES:
        modes = ", ".join(NOTES_MODES)
        raise ValueError(f"{line!r} is not a host and its use of notes: write its name and one of {modes}")
    return host, mode.strip()


@dataclass(frozen=True, slots=True)
class HookOptions:
    """The block `hooks`."""

    screen_line: bool = option(
        True, "Whether a host that can show a line to the person shows in one what was recalled, or that it was late."
    )
    notes: tuple[str, ...] = option(
        (), "Hosts with a `context.notes` of their own: the name of the host and the value, such as `codex off`."
    )

    def __post_init__(self) -> None:
        for line in self.notes:
            parse_host_notes(line)

    def notes_for(self, host: str) -> str:
        """The host's own use of notes; empty if it has none. The last line about a host counts."""
        return dict(map(parse_host_notes, self.notes)).get(host, "")
