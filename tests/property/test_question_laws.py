"""Laws of understanding: any text is safe, and only what the rules know is changed."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from commonplace.questions.names import find_speakers, in_first_person
from commonplace.questions.question import understand
from commonplace.ranking.hybrid import time_nearness

WORDS = """
    last this next past two 5 12 31 2023 2023-05-08 5/25/2023 week weeks month year weekend ago May march June Monday
    Saturday in on since before after until between and or from to the of a couple about every yesterday today tonight
    Christmas night new year's Eve ' " “ ” ’s Ada Ada's Mel Melanie’s Jo you said did which first how many all list ſ İ
    ﬁ é 東京 ٣ \ud800 . , ? - – ( 2 days"""
PIECES = st.sampled_from(WORDS.split())
TEXTS = st.lists(PIECES, max_size=14).map(" ".join) | st.text(max_size=80) | st.lists(PIECES, max_size=9).map("".join)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
NOWS = st.datetimes(timezones=ZONES)
SPEAKERS = st.frozensets(
    st.sampled_from(["Ada", "Melanie", "Jo Berg", "Jo", "Will", "", "May", "É", "'"]) | st.text(max_size=5)
)


@given(TEXTS, NOWS, SPEAKERS)
def test_any_text_is_understood_and_its_windows_have_a_beginning_and_an_end(
    text: str, now: datetime, speakers: frozenset[str]
) -> None:
    """At any time, in any zone, with any speakers."""
    found = understand(text, now=now, speakers=speakers)

    assert found.text == text
    assert set(found.speakers) <= speakers
    assert all(each.start < each.end and each.tolerance >= 0.5 for each in found.windows)
    assert all(len(each.start) == len(each.end) == 20 and each.said for each in found.windows)
    assert all(time_nearness(each.start, found.windows) == 1 for each in found.windows)
    assert all(name in text for name in (*found.names, *found.phrases))


@given(TEXTS, SPEAKERS)
def test_turning_names_to_the_first_person_leaves_all_else_as_it_is(text: str, speakers: frozenset[str]) -> None:
    """Byte for byte, before, between and after them."""
    mentions = find_speakers(text, speakers)
    ends = [0, *(each.end for each in mentions)]
    starts = [*(each.start for each in mentions), len(text)]
    kept = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    said = ["my" if each.possessive else "I" for each in mentions]

    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert in_first_person(text, mentions) == "".join(
        piece for pair in zip(kept, [*said, ""], strict=True) for piece in pair
    )


@given(
    st.sampled_from(
        ["two weeks ago", "last Saturday", "in June", "between March and May", "before June 2023", "someday"]
    ),
    st.text(st.sampled_from("bdfgkxz"), min_size=1, max_size=6),
    st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1), timezones=ZONES),
)
def test_windows_do_not_depend_on_the_case_of_other_words(phrase: str, word: str, now: datetime) -> None:
    """Nor on where in the question the time is said."""
    said = [
        understand(text, now=now).windows
        for text in (f"{word} {phrase}", f"{word.upper()} {phrase}", f"{phrase}, {word.title()}?", f"{phrase}")
    ]

    assert said[0] == said[1] == said[2] == said[3]
    assert bool(said[0]) == (phrase != "someday")


@given(TEXTS)
def test_nothing_known_of_speakers_leaves_the_text_as_it_is(text: str) -> None:
    """Then the words are those of the question, too."""
    found = understand(text, now=datetime(2024, 5, 15, tzinfo=UTC))

    assert (found.sense, found.speakers) == (text, ())
