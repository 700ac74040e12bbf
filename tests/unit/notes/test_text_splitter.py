"""A text split into spans."""

import re

from commonplace.notes.text_splitter import TokenOffsets, split_text

LONG = "The second sentence alone has nearly as many words as one single span may hold. "
SHORT = "The first one is short. "


def tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S+", text)]


def split(text: str, *, limit: int, overlap: int) -> list[str]:
    spans = split_text(text, TokenOffsets(text, tokens), limit=limit, overlap=overlap)
    return [text[span.start : span.end] for span in spans]


def test_an_overlap_leaves_room_for_the_text_that_follows() -> None:
    """A span shares less with the one before, or nothing, if it would exceed the limit otherwise."""
    assert split(SHORT * 3 + LONG, limit=15, overlap=6) == [SHORT * 3, LONG]
    assert split(SHORT * 3 + LONG, limit=20, overlap=6) == [SHORT * 3, SHORT + LONG]
