"""Something wrong in a note: a value that is collected and shown, never raised."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """What is wrong, and where: `code` is one word for programs, `message` a sentence for people."""

    path: str
    line: int
    message: str
    code: str
