"""Text: the folded forms in which two spellings of one name compare equal, and expressions compiled at first use.

The folding functions differ where rooms differ in what must match. Use `fold_name` unless you need one of the others.
"""

import re
from collections.abc import Callable, Iterator
from unicodedata import normalize


def fold_name(name: str) -> str:
    """A file or folder name as any file system might compare it: without case, accents in one normalization form."""
    if name.isascii():
        return name.lower()
    return normalize("NFC", normalize("NFC", name).casefold())


def counted(number: int, name: str) -> str:
    """How many there are of what has that name, for people: `1 note`, `1,200 notes`."""
    return f"{number:,} {name}" if number == 1 else f"{number:,} {name}s"


def fold_phrase(text: str) -> str:
    """A name of several words, as entities and topics compare: `fold_name` with single spaces between the words."""
    return normalize("NFC", " ".join(normalize("NFC", text).split()).casefold())


def fold_heading(text: str) -> str:
    """A heading as section paths compare: like `fold_phrase`, but not composed again after folding."""
    return " ".join(normalize("NFC", text).split()).casefold()


def fold_stored(text: str) -> str:
    """A name as index rows store it: folded first and composed once, which existing rows rely on."""
    return normalize("NFC", text.casefold())


def lower_name(text: str) -> str:
    """A link target as Obsidian compares it: lower case, so that `Straße` and `Strasse` stay two names."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text).lower())


class LazyPattern:
    """A regular expression compiled at first use, so that importing a module with many of them is cheap."""

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source, self._flags = source, flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def search(self, text: str, *span: int) -> re.Match[str] | None:
        """The first match in the text, or from a start to an end within it."""
        return self.compiled.search(text, *span)

    def match(self, text: str, *span: int) -> re.Match[str] | None:
        """The match at the beginning of the text, or of the span."""
        return self.compiled.match(text, *span)

    def fullmatch(self, text: str, *span: int) -> re.Match[str] | None:
        """The match of the whole text, or of the whole span."""
        return self.compiled.fullmatch(text, *span)

    def finditer(self, text: str, *span: int) -> Iterator[re.Match[str]]:
        """All matches in order, in the text or in the span."""
        return self.compiled.finditer(text, *span)

    def findall(self, text: str) -> list[str]:
        """The texts of all matches, for an expression with at most one group."""
        return self.compiled.findall(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """The text with every match replaced."""
        return self.compiled.sub(replacement, text)

    def split(self, text: str) -> list[str]:
        """The parts of the text between the matches."""
        return self.compiled.split(text)
