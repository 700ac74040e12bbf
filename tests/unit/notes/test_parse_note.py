"""A note as a whole."""

import hashlib
import time

import pytest

from commonplace.notes import parse

MILLION = 1_000_000
SIGNS = ("[", "`", "#", "%%", "[[a", "$", "[a](", "](", "<!--", "<a ", "\\", " ", "\r", "> ")


@pytest.mark.requirement("D-17")
def test_the_body_is_the_text_without_the_frontmatter() -> None:
    """Text keeps the mark, the fences and the line ends; body begins behind them."""
    raw = "\ufeff---\r\ntitle: x\r\n---\r\n# H\r\n\r\ntext\r\n".encode()
    note = parse(raw, path="A/b.md", mtime=12.5)

    assert note.text == raw.decode()
    assert note.body == "# H\r\n\r\ntext\r\n"
    assert (note.body_line, note.headings[0].line) == (4, 4)
    assert (note.frontmatter, note.path, note.mtime, note.size) == ({"title": "x"}, "A/b.md", 12.5, len(raw))
    assert note.version == hashlib.sha256(raw).hexdigest()
    assert note.problems == ()


def test_a_note_that_is_not_utf8_is_readable_and_says_so() -> None:
    """Bad bytes are replaced one for one, and the first bad line is a problem."""
    note = parse(b"---\na: \xff\n---\nb\xc3\n[[x]] \xe2\x82", path="a.md", mtime=0.0)

    assert note.frontmatter == {"a": "\ufffd"}
    assert note.body == "b\ufffd\n[[x]] \ufffd\ufffd"
    assert [(problem.line, problem.code) for problem in note.problems] == [(2, "not-utf8")]
    assert note.text[note.links[0].start : note.links[0].end] == "[[x]]"


@pytest.mark.parametrize(
    ("raw", "codes"),
    [
        (b"---\ntitle: x\n", ["unclosed-frontmatter"]),
        (b"---\nA rule.\n", []),
        (b"---\na: [\n---\ntext", ["invalid-yaml"]),
        (b"---\ntwo rules around words\n---\n", ["not-a-mapping"]),
        (b"", []),
    ],
)
def test_what_is_wrong_is_a_problem_and_the_rest_is_read(raw: bytes, codes: list[str]) -> None:
    """Nothing is raised, and the text is all there."""
    note = parse(raw, path="a.md", mtime=0.0)

    assert [problem.code for problem in note.problems] == codes
    assert note.text == raw.decode()


@pytest.mark.parametrize(
    "text",
    [
        *(
            sign * MILLION
            for sign in ("[", "`", "#", "%%", "[[a", "$", "[a](", "](", "<!--", "<a ", "\\", " ", "\r", "> ")
        ),
        "- [fact] " + " #a" * MILLION,
        " ".join("`" * length for length in range(1, 1400)),
        "x %%\n\n" * 100_000,
        "---\n" + "a: 1\n" * 100_000 + "---\n",
    ],
    ids=lambda text: text[:8].strip() + f" x {len(text)}",
)
def test_work_grows_with_the_text_and_no_faster(text: str) -> None:
    """A million of any sign takes a second or two; anything quadratic would take hours."""
    begun = time.perf_counter()
    parse(text.encode(), path="a.md", mtime=0.0)

    assert time.perf_counter() - begun < 20


def test_a_note_of_ten_megabytes_is_read_in_seconds() -> None:
    """Half a second per megabyte; a slow machine gets longer."""
    text = ("Some words about [[Links]] and #tags with `code`, a [link](Note.md) and more words.\n\n") * 120_000
    begun = time.perf_counter()
    note = parse(text.encode(), path="a.md", mtime=0.0)

    assert time.perf_counter() - begun < 60
    assert len(note.links) == 240_000
