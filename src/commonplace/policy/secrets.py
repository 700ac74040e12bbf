"""Which secrets a text holds: keys, tokens, passwords, private keys, card numbers. None of them leaves this room."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from commonplace.policy.secret_numbers import numbers_in
from commonplace.policy.secret_patterns import Form, forms_in
from commonplace.policy.secret_words import told_in

_WINDOW: Final = 2_000  # characters looked at together: no expression may run away on one endless line
_OVERLAP: Final = 400  # longer than any secret that is told by its beginning
_SHORTEST: Final = 4  # characters of a line that can hold one
_INVISIBLE: Final = dict.fromkeys(
    (*map(ord, "\u00ad\u061c\ufeff"), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070))
)
_COLOURS: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")  # a terminal's own signs
_BLOCK: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?P<rest>.{0,400})|PuTTY-User-Key-File-\d: \S",
    re.DOTALL,
)
_BLOCK_BODY: Final = re.compile(r"(?=[A-Za-z+/]{0,40}?[A-Z0-9+/])(?=[A-Z0-9+/]{0,40}?[a-z])[A-Za-z0-9+/]{12,}")


@dataclass(frozen=True, slots=True)
class Secret:
    """That a line, counted from one, holds a secret of that kind; the secret itself is not in here."""

    kind: str
    line: int

    def __str__(self) -> str:
        return f"{self.kind} in line {self.line}"


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Every kind of secret in the text, once for each line that holds it, in order. Empty when there is none."""
    found = {Secret("private key", text.count("\n", 0, begin) + 1): None for begin in key_blocks(text)}
    for number, line in enumerate(text.split("\n"), start=1):
        found |= {Secret(form.kind, number): None for form in secrets_in(seen(line))}
    return tuple(sorted(found, key=lambda secret: secret.line))


def seen(line: str) -> str:
    """The line without signs that nobody sees, which could stand in the middle of a secret or right before it."""
    return (_COLOURS.sub("", line) if "\x1b" in line else line).translate(_INVISIBLE)


def secrets_in(line: str) -> Iterator[Form]:
    """Every secret in a line, for this room alone. Those that the line holds more than once may come again."""
    if len(line) < _SHORTEST:
        return
    for begin in range(0, max(1, len(line) - _OVERLAP), _WINDOW - _OVERLAP):
        window = line[begin : begin + _WINDOW]
        yield from forms_in(window)
        yield from told_in(window)
        yield from numbers_in(window)


def key_blocks(text: str) -> Iterator[int]:
    """Where private keys with something in them begin; a header that is only spoken of is none."""
    for found in _BLOCK.finditer(text):
        rest = found["rest"]
        if rest is None or not rest.strip() or _BLOCK_BODY.search(rest.split("-----")[0]):
            yield found.start()
