"""Wording: the same words are the same statement, and some words turn a statement round."""

import pytest

from commonplace.facts.statement_words import claim_stems, fingerprint, jaccard, opposes, reorders, words_of


@pytest.mark.parametrize(
    "text",
    [
        "ada works at acme",
        "Ada works at **Acme**!",
        "  Ada\tworks\nat Acme ",
        "[[Ada]] works at [[Companies/Acme]].",
        "\u201cAda works at Acme.\u201d",
        "Ada works\u00ad at\u200b Acme.",
        "\uff21da works at Acme.",
        "Ada - works at Acme.",
    ],
)
def test_the_same_words_have_the_same_fingerprint(text: str) -> None:
    """Case, emphasis, links, spaces, quotes and invisible signs do not make another statement."""
    assert fingerprint(text) == fingerprint("Ada works at Acme.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Uses C++.", "Uses C."),
        ("Uses C#.", "Uses C."),
        ("It is -5 outside.", "It is 5 outside."),
        ("[[Ada Lindqvist|Ada]] left.", "[[Ada Byron|Ada]] left."),
        ("~~Likes tea~~", "Likes tea"),
        ("!!!", "???"),
    ],
)
def test_signs_that_change_a_word_change_the_fingerprint(one: str, other: str) -> None:
    """What belongs to a word stays, and a link means the note that it names."""
    assert fingerprint(one) != fingerprint(other)


def test_a_fingerprint_is_a_sha256_in_hex_for_any_text() -> None:
    """Even half a pair of surrogates, which no file can hold, has a fingerprint."""
    assert len(fingerprint("\ud800")) == 64


def test_apostrophes_are_one_sign() -> None:
    """A curly apostrophe is as good as a straight one."""
    assert words_of("She doesn\u2019t.") == ("she", "doesn't")


def test_jaccard_is_the_share_of_common_words() -> None:
    """Words that both have, of all words that either has; nothing equals nothing."""
    assert jaccard("strong black coffee", "Black coffee") == pytest.approx(2 / 3)
    assert jaccard("tea", "coffee") == 0
    assert jaccard("", "") == 1


def test_what_a_statement_claims_is_told_without_hollow_words() -> None:
    """Articles, the user in front and endings carry no claim; every negation is the same one."""
    assert claim_stems("The user prefers the short answers.") == claim_stems("I prefer short answer.")
    assert claim_stems("Ich trinke keinen Kaffee.") == ("ich", "trink", "not", "kaffe")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 8080.", "The port is 9090."),
        ("Python 3.11 is required.", "Python 3.12 is required."),
        ("Clara has two cats.", "Clara has 3 cats."),
        ("We deploy on Tuesdays.", "We deploy on Thursdays."),
        ("It is due in March.", "It is due in April."),
        ("Wir treffen uns am Montag.", "Wir treffen uns am Freitag."),
        ("I like cilantro.", "I do not like cilantro."),
        ("Use mocks.", "Don\u2019t use mocks."),
        ("Ben eats meat.", "Ben never eats meat."),
        ("Ada works at Acme.", "Ada no longer works at Acme."),
        ("Ada works at Acme.", "Ada used to work at Acme."),
        ("Clara mag Katzen.", "Clara mag keine Katzen."),
        ("Der Kunde zahlt.", "Der Kunde zahlt nicht."),
        ("Er fliegt mit Gep\u00e4ck.", "Er fliegt ohne Gep\u00e4ck."),
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        ("Use tabs instead of spaces.", "Use spaces instead of tabs."),
        ("Chose Postgres over MySQL.", "Chose SQLite over Postgres."),
        ("Lieber Tee statt Kaffee.", "Lieber Kaffee statt Tee."),
        ("Retries are enabled.", "Retries are disabled."),
        ("Ada moved to Berlin.", "Ada moved from Berlin."),
    ],
)
def test_statements_that_cannot_both_be_meant_oppose_each_other(one: str, other: str) -> None:
    """A number, a date, a negation, an opposite or a swapped preference stands between them, both ways round."""
    assert opposes(one, other)
    assert opposes(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada works at Acme.", "Ada works at Acme since 2020."),
        ("Clara has two cats.", "Clara has 2 cats."),
        ("The fee is 1,000 euros.", "The fee is 1000 euros."),
        ("I do not eat meat.", "I never eat meat."),
        ("I prefer tabs over spaces.", "I prefer tabs over spaces in Go."),
        ("It is due in March.", "It is due on Monday in March."),
        ("Ada moved from Berlin to Rome.", "Ada moved to Rome."),
    ],
)
def test_statements_that_can_both_be_meant_do_not_oppose_each_other(one: str, other: str) -> None:
    """Saying more, or the same in another way, is no opposition."""
    assert not opposes(one, other)
    assert not opposes(other, one)


@pytest.mark.parametrize(
    ("one", "other", "changed"),
    [
        ("Ada manages Bob.", "Bob manages Ada.", True),
        ("Ada switched from Vim to Emacs.", "Ada switched from Emacs to Vim.", True),
        ("Ada pays Bob and Carl.", "Bob pays Ada.", True),
        ("I like tea and coffee.", "I like coffee and tea.", False),
        ("Ada works at Acme since 2020.", "Since 2020 Ada works at Acme.", False),
        ("Der Server steht im Keller.", "Im Keller steht der Server.", False),
        ("Ada manages Bob.", "Ada manages Bob.", False),
    ],
)
def test_words_that_change_places_may_change_who_does_what(one: str, other: str, changed: bool) -> None:
    """A part that moves to the front, or the two sides of an `and`, changes nothing; a swap does."""
    assert reorders(one, other) is changed
