"""Which parts of a turn are the person's own words, and which somebody else's."""

import pytest

from commonplace.extraction.speech import MOST_CHARACTERS, own_parts


@pytest.mark.parametrize(
    ("turn", "parts"),
    [
        ("My dentist is Dr. Okafor.", ("My dentist is Dr. Okafor.",)),
        ("Run this:\n```\nmake check\n```\nand tell me.", ("Run this:", "and tell me.")),
        ("> I moved to Oslo.\nIs that true?", ("Is that true?",)),
        ("Translate this mail:\nI moved to Oslo.", ("Translate this mail:",)),
        ('He wrote "I have moved to Oslo" to me.', ("He wrote", "to me.")),
        ('Call it "Oslo" from now on.', ('Call it "Oslo" from now on.',)),
        ("From: Tom\nI moved to Oslo.", ()),
        ('Mum wrote "hi dear,\nI moved to Oslo" - funny.', ("Mum wrote", "- funny.")),
        ("Er schrieb »Ich wohne in Oslo« mir.", ("Er schrieb", "mir.")),
        ("Er schrieb ‚Ich wohne in Oslo‘ mir.", ("Er schrieb", "mir.")),
        ("Hm?\n<email>\nI moved to Oslo.\n</email>\nWho is it?", ("Hm?", "Who is it?")),
        ("What <b>is</b> this?\n<teammate-message id='x'>\nI moved to Oslo.", ("What", "this?")),
        ("I got this:\n\n    I moved to Oslo.\n\nIs it true?", ("I got this:", "Is it true?")),
        ("I moved to Oslo, where a < b and b > c.", ("I moved to Oslo, where a < b and b > c.",)),
        ("", ()),
    ],
)
def test_the_persons_own_words_are_told_from_others(turn: str, parts: tuple[str, ...]) -> None:
    """Parts on both sides of a quotation are not joined."""
    assert own_parts(turn) == parts


def test_a_long_turn_is_pasted_from_its_second_paragraph_on() -> None:
    """Nobody types a page."""
    pasted = "\n".join(f"Line {number} of the log." for number in range(20))

    assert own_parts(f"What went wrong?\n{pasted}") == ("What went wrong?",)
    assert own_parts("x" * (MOST_CHARACTERS + 1)) == ()
