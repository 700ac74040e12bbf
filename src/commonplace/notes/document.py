"""A note's bytes taken apart into its frontmatter and its body, and put together again without a byte's difference."""

import re
from dataclasses import dataclass

BOM = "\ufeff"
_FENCE = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_KEY = re.compile(r"""(?:[^\W\d][\w -]*|"[^"\n]+"|'[^'\n]+')[ \t]*:(?:[ \t]|\r?\n|\Z)""")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Document:
    """A note's text in five pieces; joined in this order they are the whole note.

    Bytes that are not UTF-8 stand in it as surrogates (`surrogateescape`), and `bad_line` is the first line with one.
    `opening`, `block` and `closing` are empty when there is no frontmatter.
    `unclosed` tells a note that opens a frontmatter with a key and never closes it; all of it is body.
    """

    bom: str
    opening: str
    block: str
    closing: str
    body: str
    bad_line: int | None
    unclosed: bool

    @property
    def text(self) -> str:
        """The whole note."""
        return self.bom + self.head + self.body

    @property
    def head(self) -> str:
        """The frontmatter with its two fences."""
        return self.opening + self.block + self.closing


def split(raw: bytes) -> Document:
    """The pieces of a note, for any bytes."""
    text, bad_line = _decode(raw)
    bom = BOM if text.startswith(BOM) else ""
    opening = _FENCE.match(text, len(bom))
    if not opening:
        return Document(bom, "", "", "", text[len(bom) :], bad_line, unclosed=False)
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        unclosed = _KEY.match(text, opening.end()) is not None
        return Document(bom, "", "", "", text[len(bom) :], bad_line, unclosed)
    block = text[opening.end() : closing.start()]
    return Document(bom, opening.group(), block, closing.group(), text[closing.end() :], bad_line, unclosed=False)


def render(document: Document) -> bytes:
    """The note's bytes, exactly those it was split from."""
    return document.text.encode("utf-8", "surrogateescape")


def readable(text: str) -> str:
    """The text with a replacement character for every byte that is not UTF-8; its length stays the same."""
    return _ESCAPED_BYTE.sub("\ufffd", text)


def _decode(raw: bytes) -> tuple[str, int | None]:
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError as error:
        return raw.decode("utf-8", "surrogateescape"), raw.count(b"\n", 0, error.start) + 1
