"""The words of a statement: which are equal, which deny something, and how many two texts share."""

import pytest

from commonplace.facts.words import claim_stems, denials, fingerprint, folded_words, jaccard


@pytest.mark.parametrize(
    "texts",
    [
        ("The gate is green.", "the  gate IS green", "The gate is green...", "The gate is green ."),
        ("She said no.", 'She said "no".', "She said \u201cno.\u201d", "She said 'no'"),
        ('Size "5" fits.', "Size '5' fits.", "Size 5 fits."),
        ('Sang "the boys of 1990" twice.', "Sang the boys of 1990 twice."),
        ("Die STRA\u1e9eE ist gesperrt.", "Die Stra\u00dfe ist gesperrt."),
        ("Tea, then coffee.", "Tea then coffee", "Tea \u2014 then coffee", "Tea - then coffee"),
        ("It's Ada's.", "It\u2019s Ada\u2019s"),
        ("Works at [[Acme]].", "Works at Acme"),
        ("Meets on March 3 at 4 pm.", "meets on 3 MARCH at 16:00"),
        ("Weighs 72 kg", "weighs seventy-two  kilos."),
        ("na\u00efve", "nai\u0308ve", "NAI\u0308VE"),
    ],
)
def test_equal_words_have_one_fingerprint(texts: tuple[str, ...]) -> None:
    """Case, blanks, the full stop at the end, commas, quotation marks, dashes and one spelling of a value."""
    assert len({fingerprint(text) for text in texts}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The server room stays < 25 degrees.", "The server room stays > 25 degrees."),
        ("Uses Vue/React.", "Uses React."),
        ("Writes C.", "Writes C++."),
        ("Writes C.", "Writes C#."),
        ("Likes tea.", "Likes tea?"),
        ("The door is 5'.", 'The door is 5".'),
        ("The door is 5'.", "The door is 5."),
        ("Temperature: -5", "Temperature: 5"),
        ("The score was 5 - 3.", "The score was 5 3."),
        ("Version 1.0", "Version 10"),
        ("Runs every Friday.", "Runs on Friday."),
        ("Jonas works at Tatra.", "As far as I know, Jonas works at Tatra."),
        ("Dogs are allowed.", "No dogs are allowed."),
        ("Pays 5% of it.", "Pays 5 of it."),
        ("Drinks wine in Ma\u00dfen.", "Drinks wine in Massen."),
        ('The pipe is 5" wide.', 'The pipe is "5" wide.'),
        ('The pipe is 5".', 'The pipe is "5".'),
        ("The tank holds 1,500 litres.", "The tank holds 1500 litres."),
        ("Wants 5 min temperature readings.", "Wants 5 minutes temperature readings."),
        ("The **gate** is green.", "The gate is green."),
        ("...", "!"),
    ],
)
def test_every_other_sign_and_word_counts(one: str, other: str) -> None:
    """None of them is folded away."""
    assert fingerprint(one) != fingerprint(other)


def test_the_words_of_equal_texts_come_in_order_and_in_one_form() -> None:
    """They can be read: the folded form is a text again."""
    assert folded_words("On May 5th, \u201cVue/React\u201d costs \u20ac5.") == (
        "on",
        "5",
        "may",
        "vue/react",
        "costs",
        "5",
        "\u20ac",
    )
    assert folded_words(" - ") == ()


def test_denials_are_words_that_deny_in_whatever_apostrophe() -> None:
    """Those of a list, and every word in n't."""
    assert denials("He never sings, doesn\u2019t dance and is no bore.") == {"never", "doesn't", "no"}
    assert denials("He knows another notary.") == frozenset()


def test_shared_words_are_counted_after_folding() -> None:
    """From 0 for none to 1 for all; two texts without words share all."""
    assert jaccard("black tea, hot", "Hot black TEA") == 1.0
    assert jaccard("black tea", "green tea") == pytest.approx(1 / 3)
    assert jaccard("", "") == 1.0


def test_claim_stems_leave_out_words_without_a_claim_and_signs() -> None:
    """Articles and auxiliaries say nothing by themselves."""
    assert claim_stems("The cats are (really) sleeping!") == claim_stems("cat sleeps")
