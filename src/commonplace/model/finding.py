"""What a look at the whole installation finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: whether it is well, what was seen, and what to do where it is not."""

    what: str
    ok: bool
    said: str
    remedy: str = ""
    path: str | None = None
    line: int = 0
