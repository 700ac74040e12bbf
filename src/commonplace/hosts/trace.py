"""What has to be known to take an edit back so that the file says again, byte for byte, what it said before."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from commonplace.hosts.jsonc import BOM, Keys


@dataclass(frozen=True, slots=True)
class Trace:
    """How a file was before: which objects and arrays were not there, and what stood in those that were empty.

    `blank` is the whole text of a file that held nothing; None for one that held something, or was not there.
    `gap` and `tail` are the line ends that were put before and behind a block at the end of the file.
    """

    made: frozenset[Keys] = frozenset()
    holes: Mapping[Keys, str] = field(default_factory=dict)
    blank: str | None = None
    gap: str = ""
    tail: str = ""

    def followed_by(self, later: "Trace") -> "Trace":
        """The trace of both edits; of what both speak of, the earlier one knows how it was."""
        return replace(
            self,
            made=self.made | later.made,
            holes={**later.holes, **self.holes},
            blank=later.blank if self.blank is None else self.blank,
            gap=self.gap or later.gap,
            tail=self.tail or later.tail,
        )


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after an edit, and the trace of the edit."""

    text: str
    trace: Trace = field(default_factory=Trace)


def is_blank(text: str) -> bool:
    """Whether the text holds nothing."""
    return not text.strip(f"{BOM} \t\r\n")


def line_end_of(text: str) -> str:
    """The line end that the text uses."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
