"""Where a note's frontmatter begins and ends, and that nothing is lost on the way."""

import pytest

from commonplace.notes.note_text import render_note, split_note


@pytest.mark.parametrize(
    ("raw", "block", "body"),
    [
        (b"---\na: 1\n---\nbody\n", "a: 1\n", "body\n"),
        (b"---  \t\na: 1\n--- \t\nbody", "a: 1\n", "body"),
        (b"---\r\na: 1\r\n---\r\nbody\r\n", "a: 1\r\n", "body\r\n"),
        (b"\xef\xbb\xbf---\na: 1\n---\nbody", "a: 1\n", "body"),
        (b"---\na: 1\n---", "a: 1\n", ""),
        (b"---\n---\n", "", ""),
        (b"---\na: |\n  ---\n---\nbody", "a: |\n  ---\n", "body"),
        (b"---\na: 1\n---\none\n---\ntwo\n", "a: 1\n", "one\n---\ntwo\n"),
    ],
)
def test_a_frontmatter_stands_between_two_lines_of_dashes(raw: bytes, block: str, body: str) -> None:
    """Trailing blanks, a byte order mark and CRLF do not hide it; the first closing line ends it."""
    document = split_note(raw)

    assert (document.block, document.body) == (block, body)
    assert document.opening
    assert render_note(document) == raw


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"---",
        b"\n---\na: 1\n---\n",
        b" ---\na: 1\n---\n",
        b"----\na: 1\n----\n",
        b"---\na: 1\n--- x\n",
        b"---\ra: 1\r---\r",
        b"text\n---\na: 1\n---\n",
        b"\xef\xbb\xbftext",
    ],
)
def test_anything_else_is_all_body(raw: bytes) -> None:
    """Only the very first line may open a frontmatter, and only a line feed ends a line."""
    document = split_note(raw)

    assert document.opening == document.block == document.closing == ""
    assert render_note(document) == raw


@pytest.mark.parametrize(
    ("raw", "unclosed"),
    [
        (b"---\ntitle: x\n", True),
        (b"---\r\ntitle:\r\ntext", True),
        (b'---\n"my key": x\n', True),
        (b"---\nA rule above a paragraph.\n", False),
        (b"---\n\ntitle: x\n", False),
        (b"---\nhttp://example.org\n", False),
        (b"---\n", False),
    ],
)
def test_an_open_frontmatter_is_told_from_a_rule(raw: bytes, *, unclosed: bool) -> None:
    """Three dashes that are never closed are a defect only when a key follows them."""
    assert split_note(raw).unclosed is unclosed


def test_bytes_that_are_not_utf8_come_back_unchanged() -> None:
    """The document knows the first bad line, and renders it as it was."""
    raw = b"---\na: b\n---\nfine\nbad \xff\xfe\nbad again \x80"
    document = split_note(raw)

    assert document.bad_line == 5
    assert render_note(document) == raw
