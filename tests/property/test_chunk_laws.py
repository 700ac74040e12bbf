"""Laws of chunks and of links in the index: nothing is lost, nothing is too long, a few notes answer for all."""

import re
from collections.abc import Callable
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from commonplace.model import Link, Note
from commonplace.notes import LinkResolver, parse
from commonplace.notes.chunks import chunk_note, texts_to_encode
from commonplace.notes.link_resolver import NoteLinker

Spans = list[tuple[int, int]]
PIECES = re.compile(r"[^\W\u3000-\u9fff]{1,4}|\w|[^\w\s\x00]")
WORDS = re.compile(r"\S+")


def pieces(text: str) -> Spans:
    """Short pieces, as of words; a NUL is none."""
    return [match.span() for match in PIECES.finditer(text)]


def words_or_pieces(text: str) -> Spans:
    """A word of more than 40 characters is one token, a shorter one is one for each: cutting makes more of them."""
    return [
        span
        for match in WORDS.finditer(text)
        for span in ([match.span()] if len(match.group()) > 40 else [(at, at + 1) for at in range(*match.span())])
    ]


LINES = """word; two words here.; A sentence. Another one! A third? Yes.; # H; ## Deep one; ###### six; #; - item; - a
  - nested; > quoted; ```; ~~~; | a | b |; |---|---|; | 1 | 2 |; 東京タワーに行った。高い！; %%; <!--; -->; ===; ---;
<div>; <b>x</b>; [[Link]]; #tag; 1. one; \\; *; $$; longwordwithoutanyspaceswhatsoever"""
ODD_LINES = ["    code", "\tx", "a\rb", "\x00", "\u2028x", " ", ""]
LONG_WORDS = st.integers(10, 300).map(lambda length: ("0123456789" * 30)[:length])
LINE = st.sampled_from([*re.split(r";\s*", LINES), *ODD_LINES]) | st.text(max_size=8) | LONG_WORDS
BODIES = st.lists(st.tuples(LINE, st.integers(1, 4)), max_size=25).map(
    lambda drawn: "\n".join(line for line, times in drawn for _ in range(times))
)
HEADS = st.sampled_from(["", "", "---\na: 1\n---\n", "\ufeff"])
TOKENS: st.SearchStrategy[Callable[[str], Spans]] = st.sampled_from([pieces, words_or_pieces])


@st.composite
def notes(draw: st.DrawFn) -> Note:
    """A note of any text, with either kind of line end."""
    text = (draw(HEADS) + draw(BODIES)).replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))
    return parse(text.encode("utf-8", "replace"), path="a.md", mtime=0.0)


def text_of(note: Note) -> str:
    """The body without what stands in a line of its headings."""
    lines = note.body.split("\n")
    for heading in note.headings:
        at = heading.line - note.body_line
        length = 1
        if not re.match(r" {0,3}#{1,6}(\s|$)", lines[at]):
            while not re.fullmatch(r" {0,3}(=+|-+)\s*", lines[at + length]):
                length += 1
            length += 1
        lines[at : at + length] = [""] * length
    return "\n".join(lines)


@given(notes(), TOKENS, st.integers(16, 40), st.integers(0, 15))
def test_every_character_of_the_text_is_in_a_chunk_in_order(
    note: Note, tokens: Callable[[str], Spans], size: int, overlap: int
) -> None:
    """What is not blank and in no heading is found by reading the chunks one after the other."""
    chunks = chunk_note(note, tokens=tokens, max_tokens=size, overlap=overlap)
    read = iter("".join(chunk.text for chunk in chunks))

    assert all(sign in read for sign in text_of(note) if not sign.isspace())


@given(notes(), TOKENS, st.integers(16, 40), st.integers(0, 15))
def test_a_chunk_is_a_slice_of_the_note_at_its_line_and_fits_the_encoder(
    note: Note, tokens: Callable[[str], Spans], size: int, overlap: int
) -> None:
    """With its headings and two marks it has at most as many tokens as are allowed; only a table's head is repeated."""
    chunks = chunk_note(note, tokens=tokens, max_tokens=size, overlap=overlap)
    lines = note.text.split("\n")

    assert chunks == chunk_note(note, tokens=tokens, max_tokens=size, overlap=overlap)
    assert [chunk.line for chunk in chunks] == sorted(chunk.line for chunk in chunks)
    for chunk in chunks:
        assert chunk.tokens == len(tokens(chunk.text))
        assert len(tokens(texts_to_encode(chunk, "", is_first=False)[0])) + 2 <= size
        rest = "\n".join(lines[chunk.line - 1 :])
        first, *others = chunk.text.split("\n")
        assert chunk.text in rest or "\n".join(others[1:]) in rest
        assert not chunk.text or first in note.body


Form = Literal["wikilink", "embed", "markdown"]
FORMS: tuple[Form, ...] = ("wikilink", "embed", "markdown")
NAMES = st.sampled_from(["a", "A", "b", "é", "e\u0301", "É", "a.md", "x y", "b.md.md", "c.png", "A.MD"])
FOLDERS = st.sampled_from(["", "", "f/", "F/", "f/g/", "a/"])
PATHS = st.builds(lambda folder, name: f"{folder}{name}.md", FOLDERS, NAMES)
VAULTS = st.dictionaries(PATHS, st.lists(NAMES | PATHS, max_size=2).map(tuple), max_size=8)
TARGETS = st.builds(
    lambda lead, folder, name, end: f"{lead}{folder}{name}{end}",
    st.sampled_from(["", "", "./", "../", "/", "../../"]),
    FOLDERS,
    NAMES,
    st.sampled_from(["", ".md", " ", "/", "/.", "/z/.."]),
) | st.just("")


@given(VAULTS, TARGETS, PATHS, st.sampled_from(FORMS))
def test_the_notes_that_share_a_name_with_a_link_answer_for_all(
    vault: dict[str, tuple[str, ...]], target: str, source: str, form: Form
) -> None:
    """Resolving among them gives what the whole vault would, so the index need not look at the others."""
    link = Link(target, None, None, None, form=form, where="body", line=1, start=0, end=1)
    linker = NoteLinker()
    wanted = linker.names_in(link)
    few = {path: aliases for path, aliases in vault.items() if wanted & linker.names_of(path, aliases)}

    assert linker.resolve(link, source=source, among=few) == LinkResolver.of(vault, vault).resolve(link, source=source)
