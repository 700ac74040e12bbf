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
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
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
    found = dict.fromkeys(_blocks(text))
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > 3:
            found |= {Secret(form.kind, number): None for form in _forms(line.translate(_INVISIBLE))}
    return tuple(sorted(found, key=lambda secret: secret.line))


def _forms(line: str) -> Iterator[Form]:
    for begin in range(0, max(1, len(line) - _OVERLAP), _WINDOW - _OVERLAP):
        window = line[begin : begin + _WINDOW]
        yield from forms_in(window)
        yield from told_in(window)
        yield from numbers_in(window)


def _blocks(text: str) -> Iterator[Secret]:
    """Private keys with something in them; a header that is only spoken of is none."""
    for found in _BLOCK.finditer(text):
        rest = found["rest"]
        if rest is None or not rest.strip() or _BLOCK_BODY.search(rest.split("-----")[0]):
            yield Secret("private key", text.count("\n", 0, found.start()) + 1)
