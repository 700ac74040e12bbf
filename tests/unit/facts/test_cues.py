"""The cues of an entry: limits, phrases, and the text that they make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.facts.cues import checked_cue, counted_cue, is_playbook, joined_phrases, phrases_of, text_about
from commonplace.model import Fact
from commonplace.model.request import LONGEST_CUE

PHRASES = st.lists(st.from_regex(r"\A[abc]([abc, ]*[abc])?\Z"), unique=True, max_size=5).map(tuple)


def fact(**fields: str) -> Fact:
    return Fact(**({"id": "1", "path": "p.md", "text": "Tag main."} | fields), line=1, origin="entry")  # type: ignore[arg-type]


def test_phrases_stand_between_commas_or_between_semicolons() -> None:
    """A semicolon lets a phrase have commas of its own; each phrase comes once."""
    assert phrases_of("restaurants, menus , menus,, dinner at friends") == ("restaurants", "menus", "dinner at friends")
    assert phrases_of("red, white or rose; dinner") == ("red, white or rose", "dinner")
    assert phrases_of("") == ()


@given(PHRASES.filter(lambda phrases: len(phrases) != 1 or "," not in phrases[0]))
def test_joined_phrases_are_read_as_they_were(phrases: tuple[str, ...]) -> None:
    """The list of an old note and one text say the same."""
    assert phrases_of(joined_phrases(phrases)) == phrases


def test_a_cue_that_is_too_long_is_refused_with_its_length_and_what_to_write() -> None:
    """Blanks do not count; the error says which field it is."""
    assert checked_cue("  how she\n commutes ", "about") == "how she commutes"
    with pytest.raises(UsageError, match="`when` has 121 characters; it may have 120") as error:
        checked_cue("x" * 121, "when")
    assert "situations" in str(error.value.hint)


@given(st.text("ab ,", max_size=3 * LONGEST_CUE))
def test_what_counts_of_a_cue_is_its_beginning(cue: str) -> None:
    """Never more than its limit, and all of a short one."""
    counted = counted_cue(cue)

    assert len(counted) <= LONGEST_CUE
    assert cue.startswith(counted)
    assert len(cue) > LONGEST_CUE or counted == cue


def test_a_statement_is_compared_with_what_it_is_about_before_it() -> None:
    """Without that, by its words alone."""
    assert text_about("Takes the bus.", "how she commutes") == "how she commutes: Takes the bus."
    assert text_about("Takes the bus.", "") == "Takes the bus."


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"kind": "workflow", "when": "release", "text": "Release:\n1. Tag."}, True),
        ({"kind": "workflow", "when": "release"}, False),
        ({"kind": "workflow", "text": "Release:\n1. Tag."}, False),
        ({"kind": "fact", "when": "release", "text": "Release:\n1. Tag."}, False),
    ],
)
def test_steps_that_say_when_they_are_needed_are_a_playbook(fields: dict[str, str], expected: bool) -> None:
    """One sentence about a way of working is recalled as every statement is."""
    assert is_playbook(fact(**fields)) is expected
