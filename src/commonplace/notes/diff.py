"""The difference between two versions of a note, for people."""

import re
from difflib import unified_diff

from commonplace.notes.document import readable


def difference(before: bytes | None, after: bytes | None, *, path: str, to: str | None = None) -> str:
    """A unified diff, as git shows it; empty when nothing differs. `to` is the path afterwards, where it is another."""
    head = f"rename from {path}\nrename to {to}\n" if to else ""
    if before == after:
        return head
    lines = unified_diff(
        _lines(before),
        _lines(after),
        fromfile="/dev/null" if before is None else f"a/{path}",
        tofile="/dev/null" if after is None else f"b/{to or path}",
    )
    return head + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(content: bytes | None) -> list[str]:
    """The lines with their endings; only a line feed ends one."""
    text = readable((content or b"").decode("utf-8", "surrogateescape"))
    return [line for line in re.split(r"(?<=\n)", text) if line]
