"""What of a prompt is looked for: a short one whole, of a long one what the person says and what went wrong.

A long prompt is mostly pasted: a log, a mail, a file. The question stands before it or after it.
"""

import re
from collections.abc import Iterator
from typing import Final

_SHORT: Final = 600  # characters of a prompt that is taken whole: encoding takes as long as the text is
_END: Final = 250  # characters of its beginning, and of its end
_LONGEST_LINE: Final = 200
_MOST_ERRORS: Final = 3

_QUOTED = re.compile(r"^\s*(?:>|\|)")
_ERROR = re.compile(
    r"error|exception|fail|fatal|refused|denied|cannot|timeout|timed out|panic|traceback", re.IGNORECASE
)
_MOMENT = re.compile(r"[\d:.,TZ/+-]*\d[\d:.,TZ/+-]*")


def gist_of(prompt: str) -> str:
    """A short prompt as it is; of a long one its beginning, the first errors that stand in it, and its end.

    What is quoted from a mail is left out where something else is said.
    """
    if len(prompt) <= _SHORT:
        return prompt
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    said = [line for line in lines if not _QUOTED.match(line)] or lines
    beginning, end = _first(said), _first(said[::-1])[::-1]
    return "\n".join(dict.fromkeys([*beginning, *_errors(said), *end]))


def _first(lines: list[str]) -> list[str]:
    """The first lines, as many as have room, and one at least, cut if it must be."""
    taken: list[str] = []
    for line in lines:
        if taken and sum(map(len, taken)) + len(line) > _END:
            break
        taken.append(line[:_END])
    return taken


def _errors(lines: list[str]) -> Iterator[str]:
    """The first lines that tell of an error, each kind of them once, without the moment at which it happened."""
    seen: set[str] = set()
    for line in lines:
        if not _ERROR.search(line):
            continue
        kind = _MOMENT.sub("", line)
        if kind not in seen:
            seen.add(kind)
            yield line[:_LONGEST_LINE]
        if len(seen) == _MOST_ERRORS:
            return
