"""The words of notes and questions."""

import pytest

from commonplace.questions.words import MAX_WORDS, count_words, query_words, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Gardens, gardening; GARDENED", ["garden", "garden", "garden"]),
        ("café cafe\u0301 Łódź Straße İstanbul Ёлка", ["cafe", "cafe", "lodz", "strass", "istanbul", "елка"]),
        ("हिन्दी नमस्ते", ["हिन्दी", "नमस्ते"]),
        ("ＡＢＣ ﬁre", ["abc", "fire"]),
        ("3.14 v1.2", ["3.14", "3", "14", "v1.2", "v1", "2"]),
        ("C++, C# (not c) .NET", ["c++", "c#", "not", "c", ".net", "net"]),
        ("node.js foo_bar __init__", ["node.js", "node", "js", "foo_bar", "foo", "bar", "init"]),
        ("camelCase HTTPServer", ["camelcas", "camel", "case", "httpserver", "http", "server"]),
        ("e-mail", ["email", "e", "mail"]),
        ("2026-03-01", ["2026-03-01", "2026", "03", "01"]),
        ("ada@example.org", ["ada@example.org", "ada", "exampl", "org"]),
        ("https://example.org/a", ["https", "example.org", "exampl", "org", "a"]),
        ("don't Ada's Ada’s l'été O'Brien", ["dont", "ada", "ada", "lete", "ete", "obrien", "brien"]),
        ("東京に", ["東", "東京", "京", "京に", "に"]),
        ("がか", ["が", "がか", "か"]),
        ("한국 ไทย", ["한", "한국", "국", "ไ", "ไท", "ท", "ทย", "ย"]),
        ("東京tower2", ["東", "東京", "京", "tower2"]),
        ("🚀 **bold** [[Link|shown]] #tag/sub", ["🚀", "bold", "link", "shown", "tag", "sub"]),
        ("\x00 ' \" * -- ()", []),
    ],
)
def test_a_text_is_found_by_these_words(text: str, words: list[str]) -> None:
    """Whatever case, accents and endings; joined words whole and in parts; unspaced scripts by letters and pairs."""
    assert words_of(text) == words


def test_a_very_long_word_is_cut() -> None:
    """Its first 64 characters count."""
    assert words_of("x1" * 500) == ["x1" * 32]
    assert query_words("x1" * 500).words == ("x1" * 32,)


@pytest.mark.parametrize(
    ("question", "words", "left_out"),
    [
        ("How do I write pull requests?", ("write", "pull", "request"), ("how", "do", "i")),
        ("to be or not to be", ("to", "be", "or", "not"), ()),
        ("what does the WHO say about IT", ("who", "say", "it"), ("what", "does", "the", "about")),
        ("WHAT IS THIS GARDEN", ("garden",), ("what", "is", "this")),
        ("東京タワー 高", ("東京", "京タ", "タワ", "ワー", "高"), ()),
        ("garden gardens", ("garden",), ()),
        ("🚀", ("🚀",), ()),
        ("", (), ()),
    ],
)
def test_a_question_asks_for_its_words_once_without_stop_words(
    question: str, words: tuple[str, ...], left_out: tuple[str, ...]
) -> None:
    """Unless it has nothing else; capitals that are names stay."""
    found = query_words(question)

    assert (found.words, found.left_out) == (words, left_out)


@pytest.mark.parametrize(
    "question",
    ['say "river"', '"river', "river*", "NEAR(river)", "AND river OR", "-river", "^river", "body:river", "river; --'"],
)
def test_no_sign_in_a_question_is_an_operator(question: str) -> None:
    """Quotes and operators of query languages do not change the words."""
    found = query_words(question)

    assert "river" in found.words
    assert all(word.isalpha() for word in found.words)


def test_a_very_long_question_is_searched_by_what_it_repeats() -> None:
    """At most 64 words, in the order they stand; the others are named."""
    text = " ".join(f"word{number}" for number in range(1500)) + " word1400 word7 word1400"
    found = query_words(text)

    assert len(text) > 10_000
    assert len(found.words) == MAX_WORDS
    assert found.words[7] == "word7"
    assert found.words[-1] == "word1400"
    assert len(found.left_out) == 1500 - MAX_WORDS


def test_words_are_counted_by_field() -> None:
    """Title, aliases, headings, tags, body."""
    counts = count_words(
        title="Garden",
        aliases=["The plot", "Plots"],
        headings=["Plan"],
        tags=["garden/beds"],
        body="Beds of a garden, a plan",
    )

    assert sum(count[4] for count in counts.values()) == 6
    assert counts["garden"] == (1, 0, 0, 1, 1)
    assert counts["plot"] == (0, 2, 0, 0, 0)
    assert counts["plan"] == (0, 0, 1, 0, 1)
    assert counts["a"] == (0, 0, 0, 0, 2)


def test_people_are_shown_the_words_that_they_wrote() -> None:
    """Not their stems; of two that are searched as one, the first."""
    found = query_words("Irrigate the mornings, irrigating each morning")

    assert (found.words, found.spelled) == (("irrig", "morn"), ("irrigate", "mornings"))
