"""The blocks at the top level of a text: its paragraphs, and the items of its lists without their marks."""

import pytest

from commonplace.notes.markdown import top_blocks


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        ("One line\nand its second.", [("paragraph", "One line\nand its second.")]),
        ("One.\n\nTwo.", [("paragraph", "One."), ("paragraph", "Two.")]),
        ("- a\n- [ ] b\n* c", [("item", "a"), ("item", "b"), ("item", "c")]),
        ("1. a\n   - below\n2) b", [("item", "a\n   - below"), ("item", "b")]),
        ("# Title\n\nText.\n\n```\n- code\n```\n\n> quoted", [("paragraph", "Text.")]),
        ("One.\r\n\r\nTwo.", [("paragraph", "One."), ("paragraph", "Two.")]),
        ("-5 degrees\n-6 degrees", [("paragraph", "-5 degrees\n-6 degrees")]),
    ],
)
def test_paragraphs_and_items_are_found(text: str, blocks: list[tuple[str, str]]) -> None:
    """Headings, code and quotations are neither; what is inside an item belongs to it."""
    assert [(each.kind, each.text) for each in top_blocks(text)] == blocks
