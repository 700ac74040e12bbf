"""Sentences: what each says is compared with a question on its own."""

import time

import pytest

from commonplace.notes.chunks import MAX_SENTENCES, last_sentences, sentences_of

MANY = 1_000_000
LONG = "This sentence is long enough to stand alone"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("  \n ", ()),
        ("ok", ("ok",)),
        (f"{LONG}. {LONG}! {LONG}? {LONG}… {LONG}", (f"{LONG}.", f"{LONG}!", f"{LONG}?", f"{LONG}…", LONG)),
        (f'"{LONG}." {LONG}.) {LONG}', (f'"{LONG}."', f"{LONG}.)", LONG)),
        (f"{LONG}\n\n{LONG}", (LONG, LONG)),
        (f"{'船' * 30}。{'海' * 30}！{'島' * 30}", (f"{'船' * 30}。", f"{'海' * 30}！", "島" * 30)),
        (f"Yes. {LONG}. No.", (f"Yes. {LONG}. No.",)),
        (f"- {LONG}\n* **{LONG}**\n## {LONG}\n> {LONG}", (LONG, LONG, LONG, LONG)),
        ("version 3.14 of the file a.b.c is the newest one", ("version 3.14 of the file a.b.c is the newest one",)),
    ],
    ids=["empty", "blank", "word", "signs", "quotes", "lines", "ideographs", "short ones", "marks", "inner points"],
)
def test_a_text_is_cut_after_its_sentences(text: str, found: tuple[str, ...]) -> None:
    """At signs with a blank behind them and at line breaks; a short one goes with its neighbour."""
    assert sentences_of(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{LONG}, see [the page](https://a.b/c_(d)?e=f) of it.", f"{LONG}, see the page of it."),
        (f'![A ship at sea](ship.png "Ours") {LONG}.', f"A ship at sea {LONG}."),
        (f"{LONG} of [[2024-05-03|that day]] in [[Bergen]].", f"{LONG} of that day in Bergen."),
        (f"{LONG} (https://a.b/c?d=e#f).", f"{LONG} ("),
        (f"[x] {LONG}: array[0], a function(of it) [1].", f"[x] {LONG}: array[0], a function(of it) [1]."),
    ],
    ids=["link", "picture", "wiki links", "address", "other brackets"],
)
def test_addresses_are_not_encoded(text: str, found: str) -> None:
    """Of a link its text is: an address has as many tokens as a sentence, and its words say nothing more."""
    assert sentences_of(text) == (found,)


def test_a_line_with_nothing_but_an_address_is_no_sentence() -> None:
    """It is in the chunk as a whole."""
    assert sentences_of(f"{LONG}\n<https://a.b/c>\n- https://a.b/d\n{LONG}") == (LONG, LONG)


def test_there_are_at_most_so_many() -> None:
    """What comes behind them counts with the text as a whole."""
    found = sentences_of(" ".join(f"{LONG} {number}." for number in range(100)))

    assert len(found) == MAX_SENTENCES
    assert found[-1] == f"{LONG} {MAX_SENTENCES - 1}."


@pytest.mark.parametrize(
    "text",
    ["." * MANY, ". " * MANY, "x" * MANY, " " * MANY, "。" * MANY, '."' * MANY, "\n" * MANY, "](" * MANY, "[" * MANY],
    ids=["dots", "dots and blanks", "one word", "blanks", "ideographic", "quotes", "lines", "links", "brackets"],
)
def test_a_hostile_text_takes_no_long_time(text: str) -> None:
    """The time grows with the length of the text and no faster."""
    start = time.thread_time()
    sentences_of(text)
    last_sentences(text)

    assert time.thread_time() - start < 5


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("", ""),
        ("Short.\nTwo lines. ", "Short. Two lines."),
        (f"{'a' * 300}. {LONG}. And this.", f"{LONG}. And this."),
        (f"{'word ' * 60}end", f"{'word ' * 39}end"),
        ("x" * 300, "x" * 200),
        (f"{LONG}. " * 10 + "Last.", f"{LONG}. " * 4 + "Last."),
    ],
    ids=["empty", "whole", "sentences", "words", "one word", "as many as fit"],
)
def test_the_closing_is_the_last_whole_sentences_that_fit(text: str, end: str) -> None:
    """In one line; of a sentence that is too long, its end from the beginning of a word."""
    assert last_sentences(text) == end
    assert len(last_sentences(text)) <= 200
