"""A note cut into chunks."""

import itertools
import re

import pytest

from commonplace.encoders.options import EmbeddingOptions
from commonplace.notes import parse
from commonplace.notes.chunks import TextChunk, chunk_note, texts_to_encode

TOKEN = re.compile(r"\w{1,8}|[^\w\s]")
SENTENCE = "Seven small words make up this one. "


def tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text)]


def chunked(text: str, *, max_tokens: int = 256, overlap: int = 32) -> tuple[TextChunk, ...]:
    note = parse(text.encode(), path="Note.md", mtime=0.0)
    return chunk_note(note, tokens=tokens, max_tokens=max_tokens, overlap=overlap)


def shown(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(chunk.heading_path, chunk.text) for chunk in chunked(text)]


@pytest.mark.requirement("D-51")
def test_each_section_is_a_chunk_that_names_its_headings_from_the_top() -> None:
    """The heading path is a list such as `["ProjectPlan", "Design", "Schema"]`, so that an answer cites a section."""
    chunks = shown("before\n\n# ProjectPlan\nplan\n## Design\ndesign\n### Schema\nschema\n## Cost\ncost\n")

    assert chunks == [
        ((), "before"),
        (("ProjectPlan",), "plan"),
        (("ProjectPlan", "Design"), "design"),
        (("ProjectPlan", "Design", "Schema"), "schema"),
        (("ProjectPlan", "Cost"), "cost"),
    ]


def test_headings_are_named_without_their_markup() -> None:
    """Links by their words, no emphasis, no block id."""
    chunks = shown("# **Bold** [[Ada Lindqvist|Ada]] and [site](https://x.org) `code` snake_case ^id-1\ntext\n")

    assert chunks == [(("Bold Ada and site code snake_case",), "text")]


def test_a_heading_without_text_is_not_a_chunk_if_chunks_below_it_name_it() -> None:
    """Its words live in their heading path."""
    assert shown("# A\n\n## B\n\ntext\n") == [(("A", "B"), "text")]


def test_headings_that_no_text_names_are_together_a_chunk() -> None:
    """So a leaf without text can be chunks, and so can a note that has only headings."""
    assert shown("# A\n## B\n# C\n") == [((), "# A\n## B\n# C")]
    assert shown("# A\ntext\n## Todo\n## Later\n# B\n## C\nmore\n") == [
        (("A",), "text"),
        (("A",), "## Todo\n## Later"),
        (("B", "C"), "more"),
    ]


def test_underlined_headings_are_headings() -> None:
    """The line of signs is not part of the text."""
    assert shown("Two\nlines\n===\ntext\n") == [(("Two lines",), "text")]


@pytest.mark.parametrize("text", ["", "---\ntags: [a]\n---\n", "\n \n\t\n", "---\na: 1\n---"])
def test_a_note_without_text_is_one_empty_chunk(text: str) -> None:
    """The note itself can be chunks by its title and tags."""
    (chunk,) = chunked(text)

    assert (chunk.text, chunk.heading_path, chunk.tokens) == ("", (), 0)


def test_a_chunk_begins_at_the_line_of_its_text_in_the_file() -> None:
    """Frontmatter and blank lines count, and an indent is kept."""
    chunks = chunked("---\na: 1\n---\n\n# H\r\n\r\n    code\r\n\r\n## I\r\n\r\nlast")

    assert [(chunk.line, chunk.text) for chunk in chunks] == [(7, "    code"), (11, "last")]


@pytest.mark.requirement("D-10")
def test_a_long_section_is_cut_to_the_size_and_overlap_that_are_set() -> None:
    """256 tokens with 32 of overlap: the headings, the text and two marks fit, and whole sentences are shared."""
    options = EmbeddingOptions()
    sentences = [f"Sentence {number} says a little more. " for number in range(200)]
    chunks = chunked("# H\n" + "".join(sentences), max_tokens=options.max_tokens, overlap=options.chunk_overlap)

    assert (options.max_tokens, options.chunk_overlap) == (256, 32)
    assert all(len(tokens(f"{each.heading_line}\n{each.text}")) + 2 <= 256 for each in chunks)
    assert all(each.tokens == len(tokens(each.text)) > 200 for each in chunks[:-1])
    for before, after in itertools.pairwise(chunks):
        shared = max(size for size in range(len(after.text)) if before.text.endswith(after.text[:size].rstrip()))
        assert 20 <= len(tokens(after.text[:shared])) <= 32
        assert after.text.startswith("Sentence ")


def test_cuts_are_at_blocks_before_lines_and_lines_before_sentences() -> None:
    """A paragraph or an item that fits is never cut."""
    paragraph = SENTENCE * 4
    items = "".join(f"- {SENTENCE}{number}\n" for number in range(12))
    chunks = chunked(f"{paragraph}\n\n{paragraph}\n\n{paragraph}\n\n{items}", max_tokens=66, overlap=0)

    assert [chunk.text for chunk in chunks[:2]] == [
        f"{paragraph}\n\n{paragraph.strip()}",
        f"{paragraph}\n\n" + "\n".join(items.split("\n")[:3]),
    ]
    assert all(chunk.text.startswith("- ") for chunk in chunks[2:])


def test_a_fence_that_fits_stays_whole_and_is_never_shared() -> None:
    """The chunk before it ends early; the one after it shares nothing with it."""
    fence = "```py\n" + "x = 1\n" * 12 + "```"
    chunks = chunked(f"{SENTENCE * 6}\n\n{fence}\n\n{SENTENCE * 6}", max_tokens=60, overlap=10)

    assert [chunk.text.count("```") for chunk in chunks] == [0, 2, 0]
    assert chunks[1].text.endswith(fence)
    assert chunks[2].text == (SENTENCE * 6).strip()


def test_a_fence_too_large_is_cut_at_lines() -> None:
    """No line of it is in two chunks."""
    lines = [f"value_{number} = compute(number)" for number in range(40)]
    chunks = chunked("```\n" + "\n".join(lines) + "\n```\n", max_tokens=60, overlap=16)

    assert len(chunks) > 1
    assert "\n".join(chunk.text for chunk in chunks) == "```\n" + "\n".join(lines) + "\n```"


def test_a_table_too_large_is_cut_at_rows_under_its_head() -> None:
    """Each chunk can be read alone, and each row is in one chunk."""
    rows = [f"| {number} | row {number} |" for number in range(40)]
    chunks = chunked("intro\n\n| a | b |\n|---|---|\n" + "\n".join(rows) + "\n\nend\n", max_tokens=60, overlap=8)
    tables = [chunk for chunk in chunks if "|" in chunk.text]

    assert [chunks[0].text, chunks[-1].text] == ["intro", "end"]
    assert all(chunk.text.startswith("| a | b |\n|---|---|\n| ") for chunk in tables)
    assert [row for chunk in tables for row in chunk.text.split("\n")[2:]] == rows
    assert [chunk.line for chunk in tables[:2]] == [3, 5 + len(tables[0].text.split("\n")) - 2]


def test_comments_are_text() -> None:
    """A person may search for the text of comments; a heading in a comment is not a heading."""
    assert shown("a %%why%%\n\n<!-- when -->\n\n%%\n# no heading\n%%\n") == [
        ((), "a %%why%%\n\n<!-- when -->\n\n%%\n# no heading\n%%")
    ]


def test_headings_that_would_fill_the_chunk_are_cut_where_they_are_encoded() -> None:
    """The path that is cited stays whole."""
    long = "word " * 300
    (chunk,) = chunked(f"# Top\n## {long}\ntext\n")

    assert chunk.heading_path == ("Top", long.strip())
    assert len(tokens(chunk.heading_line)) == 128
    assert chunk.text == "text"


def test_a_word_that_a_tokenizer_takes_for_one_token_is_cut_all_the_same() -> None:
    """A megabyte in one token would be a megabyte in one hit."""
    note = parse(b"x" * 100_000, path="a.md", mtime=0.0)
    chunks = chunk_note(note, tokens=lambda text: [(0, len(text))] if text else [], max_tokens=256, overlap=32)

    assert "".join(chunk.text for chunk in chunks).startswith("x" * 90_000)
    assert max(len(chunk.text) for chunk in chunks) <= 256 * 16


def test_a_cut_that_makes_more_tokens_is_cut_again() -> None:
    """Half of a word may have more tokens than the whole: what counts are those of the chunk's own text."""

    def long_words_are_one(text: str) -> list[tuple[int, int]]:
        words = [match.span() for match in re.finditer(r"\S+", text)]
        return [
            span
            for start, end in words
            for span in ([(start, end)] if end - start > 40 else [(at, at + 1) for at in range(start, end)])
        ]

    note = parse(b"x" * 300, path="a.md", mtime=0.0)
    chunks = chunk_note(note, tokens=long_words_are_one, max_tokens=19, overlap=0)

    assert "".join(chunk.text for chunk in chunks) == "x" * 300
    assert [(len(chunk.text), chunk.tokens) for chunk in chunks] == [(272, 1), (14, 14), (14, 14)]


def test_a_section_is_measured_in_few_calls() -> None:
    """One for its headings, one for a text that fits: a tokenizer takes longer than all the rest."""
    calls = 0

    def counted(text: str) -> list[tuple[int, int]]:
        nonlocal calls
        calls += 1
        return tokens(text)

    note = parse(b"# A\n" + SENTENCE.encode() * 10 + b"\n\n- item\n" * 20, path="a.md", mtime=0.0)
    chunk_note(note, tokens=counted, max_tokens=256, overlap=32)

    assert calls == 2


def test_the_first_chunk_is_encoded_with_the_title() -> None:
    """Unless its headings say the same."""
    chunk = TextChunk("text", ("A", "B"), 1, 1, "A > B")

    assert texts_to_encode(chunk, "Note", is_first=True) == ("A > B\ntext", "Note")
    assert texts_to_encode(chunk, "Note", is_first=False) == ("A > B\ntext",)
    assert texts_to_encode(chunk, "b", is_first=True) == ("A > B\ntext",)
    assert texts_to_encode(TextChunk("", (), 1, 0, ""), "Note", is_first=True) == ("Note",)
