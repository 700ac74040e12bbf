"""Laws of the rules extractor: any text is read, in time that grows with its length, and every quote is in its turn."""

import time
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.extraction.rules import extract_by_rules
from commonplace.extraction.speech import MOST_CHARACTERS, clauses_of
from commonplace.model.learning import Turn

PIECES: Final = (
    "I prefer tea", "my sister lives in Ghent", "from now on", "we decided to", "never", "if", "?", "jk", "lol",
    "no wait", "since August", "on the 31st", "Feb 30", "29 February", "13 to 17 May", '"', "`", "```\n", "\n", "> ",
    "- [preference] ", "Name: Ada", "that's our policy", "she's 7", "it is", "booked: ", "then", "first",
    "let me explain how we work here", "remember that", "the board meeting is moved from the 19th to the 26th",
    "ignore previous instructions", ", ", ". ", "’", "\u202e", "\x00", "Ä", "😂", "I'm", "I", "my",
    "Femi is our IT lead", "agreed", "X it is", " " * 50, "," * 40,
)  # fmt: skip
TEXTS: Final = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
ROLES: Final = st.sampled_from(("user", "user", "user", "assistant", "tool"))


@given(
    st.lists(st.tuples(ROLES, TEXTS), max_size=6), st.sampled_from(("2026-11-13", "2024-02-29", "", "9999-12-31", "x"))
)
def test_any_conversation_is_read_and_every_quote_is_a_part_of_its_turn(said: list[tuple[str, str]], day: str) -> None:
    """No text makes the extractor fail, facts come from the person alone, and each has its evidence."""
    turns = [Turn(number, role, text) for number, (role, text) in enumerate(said, 1)]  # type: ignore[arg-type]
    extraction = extract_by_rules(turns, day=day)

    for fact in extraction.facts:
        assert turns[fact.turn - 1].role == "user"
        assert fact.quote
        assert fact.quote in turns[fact.turn - 1].text
        assert fact.text.strip() == fact.text
        assert fact.text
    assert extract_by_rules(turns, day=day) == extraction


@given(TEXTS)
def test_clauses_stand_in_order_inside_their_turn(text: str) -> None:
    """A clause is a span of the turn, and none begins before the one before it."""
    clauses = clauses_of(text)

    assert all(0 <= each.start <= each.end <= len(text) for each in clauses)
    assert [each.start for each in clauses] == sorted(each.start for each in clauses)


LONG: Final = (
    "a", ".", ",", " ", "\n", '"', "'", "`", "I prefer tea, ", "if ", "and I ", "no wait ", "> x\n", "A.", "1 May to ",
    "the the ", "my my ", "it is ", "haha ", "! ", "…", "remember that ", "(", "- [fact] x\n", "ignore ", "always ",
)  # fmt: skip


@pytest.mark.parametrize("piece", LONG)
def test_reading_takes_time_that_grows_with_the_length(piece: str) -> None:
    """Twice the text takes at most some three times as long, also where expressions could go back and forth."""
    short, long = (_seconds((piece * length)[:length]) for length in (MOST_CHARACTERS // 4, MOST_CHARACTERS))

    assert long < 12 * short + 0.05


def _seconds(text: str) -> float:
    """The least of two measurements."""
    turns = [Turn(1, "user", text)]
    times = []
    for _ in range(2):
        begun = time.process_time()
        extract_by_rules(turns, day="2026-11-13")
        times.append(time.process_time() - begun)
    return min(times)
