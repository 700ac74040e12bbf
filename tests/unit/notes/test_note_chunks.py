"""A note cut into passages."""

import itertools
import re

import pytest

from commonplace.encoders.options import EmbeddingOptions
from commonplace.notes import parse
from commonplace.notes.chunks import chunks_of
from commonplace.notes.passages import Passage, parts_of

TOKEN = re.compile(r"\w{1,8}|[^\w\s]")
SENTENCE = "Seven small words make up this one. "


def tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text)]


def chunked(text: str, *, max_tokens: int = 256, overlap: int = 32) -> tuple[Passage, ...]:
    note = parse(text.encode(), path="Note.md", mtime=0.0)
    return chunks_of(note, tokens=tokens, max_tokens=max_tokens, overlap=overlap)


def shown(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(passage.heading_path, passage.text) for passage in chunked(text)]


@pytest.mark.requirement("D-51")
def test_each_section_is_a_passage_that_names_its_headings_from_the_top() -> None:
    """The heading path is a list such as `["ProjectPlan", "Design", "Schema"]`, so that an answer cites a section."""
    found = shown("before\n\n# ProjectPlan\nplan\n## Design\ndesign\n### Schema\nschema\n## Cost\ncost\n")

    assert found == [
        ((), "before"),
        (("ProjectPlan",), "plan"),
        (("ProjectPlan", "Design"), "design"),
        (("ProjectPlan", "Design", "Schema"), "schema"),
        (("ProjectPlan", "Cost"), "cost"),
    ]


def test_headings_are_named_without_their_markup() -> None:
    """Links by their words, no emphasis, no block id."""
    found = shown("# **Bold** [[Ada Lindqvist|Ada]] and [site](https://x.org) `code` snake_case ^id-1\ntext\n")

    assert found == [(("Bold Ada and site code snake_case",), "text")]


def test_a_heading_without_text_is_no_passage_where_those_below_it_name_it() -> None:
    """Its words live in their heading path."""
    assert shown("# A\n\n## B\n\ntext\n") == [(("A", "B"), "text")]


def test_headings_that_no_text_names_are_together_a_passage() -> None:
    """So a leaf without text can be found, and so can a note that has only headings."""
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
def test_a_note_without_text_is_one_empty_passage(text: str) -> None:
    """The note itself can be found by its title and tags."""
    (passage,) = chunked(text)

    assert (passage.text, passage.heading_path, passage.tokens) == ("", (), 0)


def test_a_passage_begins_at_the_line_of_its_text_in_the_file() -> None:
    """Frontmatter and blank lines count, and an indent is kept."""
    found = chunked("---\na: 1\n---\n\n# H\r\n\r\n    code\r\n\r\n## I\r\n\r\nlast")

    assert [(passage.line, passage.text) for passage in found] == [(7, "    code"), (11, "last")]


@pytest.mark.requirement("D-10")
def test_a_long_section_is_cut_to_the_size_and_overlap_that_are_set() -> None:
    """256 tokens with 32 of overlap: the headings, the text and two marks fit, and whole sentences are shared."""
    options = EmbeddingOptions()
    sentences = [f"Sentence {number} says a little more. " for number in range(200)]
    found = chunked("# H\n" + "".join(sentences), max_tokens=options.max_tokens, overlap=options.chunk_overlap)

    assert (options.max_tokens, options.chunk_overlap) == (256, 32)
    assert all(len(tokens(f"{each.under}\n{each.text}")) + 2 <= 256 for each in found)
    assert all(each.tokens == len(tokens(each.text)) > 200 for each in found[:-1])
    for before, after in itertools.pairwise(found):
        shared = max(size for size in range(len(after.text)) if before.text.endswith(after.text[:size].rstrip()))
        assert 20 <= len(tokens(after.text[:shared])) <= 32
        assert after.text.startswith("Sentence ")


def test_cuts_are_at_blocks_before_lines_and_lines_before_sentences() -> None:
    """A paragraph or an item that fits is never cut."""
    paragraph = SENTENCE * 4
    items = "".join(f"- {SENTENCE}{number}\n" for number in range(12))
    found = chunked(f"{paragraph}\n\n{paragraph}\n\n{paragraph}\n\n{items}", max_tokens=66, overlap=0)

    assert [passage.text for passage in found[:2]] == [
        f"{paragraph}\n\n{paragraph.strip()}",
        f"{paragraph}\n\n" + "\n".join(items.split("\n")[:3]),
    ]
    assert all(passage.text.startswith("- ") for passage in found[2:])


def test_a_fence_that_fits_stays_whole_and_is_never_shared() -> None:
    """The chunk before it ends early; the one behind it begins anew."""
    fence = "```py\n" + "x = 1\n" * 12 + "```"
    found = chunked(f"{SENTENCE * 6}\n\n{fence}\n\n{SENTENCE * 6}", max_tokens=60, overlap=10)

    assert [passage.text.count("```") for passage in found] == [0, 2, 0]
    assert found[1].text.endswith(fence)
    assert found[2].text == (SENTENCE * 6).strip()


def test_a_fence_too_large_is_cut_at_lines() -> None:
    """No line of it is in two chunks."""
    lines = [f"value_{number} = compute(number)" for number in range(40)]
    found = chunked("```\n" + "\n".join(lines) + "\n```\n", max_tokens=60, overlap=16)

    assert len(found) > 1
    assert "\n".join(passage.text for passage in found) == "```\n" + "\n".join(lines) + "\n```"


def test_a_table_too_large_is_cut_at_rows_under_its_head() -> None:
    """Each chunk can be read alone, and each row stands in one."""
    rows = [f"| {number} | row {number} |" for number in range(40)]
    found = chunked("intro\n\n| a | b |\n|---|---|\n" + "\n".join(rows) + "\n\nend\n", max_tokens=60, overlap=8)
    tables = [passage for passage in found if "|" in passage.text]

    assert [found[0].text, found[-1].text] == ["intro", "end"]
    assert all(passage.text.startswith("| a | b |\n|---|---|\n| ") for passage in tables)
    assert [row for passage in tables for row in passage.text.split("\n")[2:]] == rows
    assert [passage.line for passage in tables[:2]] == [3, 5 + len(tables[0].text.split("\n")) - 2]


def test_comments_are_text() -> None:
    """A person may search for what stands in them, a heading in one is none."""
    assert shown("a %%why%%\n\n<!-- when -->\n\n%%\n# no heading\n%%\n") == [
        ((), "a %%why%%\n\n<!-- when -->\n\n%%\n# no heading\n%%")
    ]


def test_headings_that_would_fill_the_chunk_are_cut_where_they_are_encoded() -> None:
    """The path that is cited stays whole."""
    long = "word " * 300
    (passage,) = chunked(f"# Top\n## {long}\ntext\n")

    assert passage.heading_path == ("Top", long.strip())
    assert len(tokens(passage.under)) == 128
    assert passage.text == "text"


@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, "東京" * 50_000, "w " * 100_000, "\x00" * 50_000, "- x\n" * 20_000, "```\n" + "x\n" * 20_000],
)
def test_no_text_is_too_long(text: str) -> None:
    """Chunks stay small, whatever the text is made of."""
    found = chunked(text)

    assert all(len(tokens(passage.text)) <= 254 for passage in found)
    assert max(len(passage.text) for passage in found) <= 254 * 16


def test_a_word_that_a_tokenizer_takes_for_one_token_is_cut_all_the_same() -> None:
    """A megabyte in one token would be a megabyte in one hit."""
    note = parse(b"x" * 100_000, path="a.md", mtime=0.0)
    found = chunks_of(note, tokens=lambda text: [(0, len(text))] if text else [], max_tokens=256, overlap=32)

    assert "".join(passage.text for passage in found).startswith("x" * 90_000)
    assert max(len(passage.text) for passage in found) <= 256 * 16


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
    found = chunks_of(note, tokens=long_words_are_one, max_tokens=19, overlap=0)

    assert "".join(passage.text for passage in found) == "x" * 300
    assert [(len(passage.text), passage.tokens) for passage in found] == [(272, 1), (14, 14), (14, 14)]


def test_a_section_is_measured_in_few_calls() -> None:
    """One for its headings, one for a text that fits: a tokenizer takes longer than all the rest."""
    calls = 0

    def counted(text: str) -> list[tuple[int, int]]:
        nonlocal calls
        calls += 1
        return tokens(text)

    note = parse(b"# A\n" + SENTENCE.encode() * 10 + b"\n\n- item\n" * 20, path="a.md", mtime=0.0)
    chunks_of(note, tokens=counted, max_tokens=256, overlap=32)

    assert calls == 2


def test_the_first_passage_is_encoded_with_the_title_beside_it() -> None:
    """Unless its headings say the same."""
    passage = Passage("text", ("A", "B"), 1, 1, "A > B")

    assert parts_of(passage, "Note", is_first=True) == ("A > B\ntext", "Note")
    assert parts_of(passage, "Note", is_first=False) == ("A > B\ntext",)
    assert parts_of(passage, "b", is_first=True) == ("A > B\ntext",)
    assert parts_of(Passage("", (), 1, 0, ""), "Note", is_first=True) == ("Note",)
