"""Laws of words and snippets: any text is safe, and what a note says can be asked for."""

from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from commonplace.questions.snippets import cut_snippet
from commonplace.questions.words import MAX_WORDS, STOP_WORDS, count_words, query_words, words_of

TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            "Café",
            "C++",
            ".NET",
            "e-mail",
            "東京タワー",
            "ไทย",
            "don't",
            "foo_bar",
            "a",
            "'",
            "-",
            ".",
            "camelCase",
            "🚀",
            "हिन्दी",
        ]
    )
).map(" ".join)


@given(TEXTS)
def test_a_text_asked_as_a_question_finds_itself(text: str) -> None:
    """Each word of the question is one that the text was counted by."""
    found = query_words(text)

    assert set(found.words) <= set(words_of(text))
    assert len(set(found.words)) == len(found.words) <= MAX_WORDS
    assert bool(found.words) == bool(words_of(text))


@given(TEXTS)
def test_words_are_the_same_however_their_accents_are_composed_and_whatever_their_case(text: str) -> None:
    """Composed or not, upper case or lower; parts that only capitals show are left aside."""
    plain = text.lower()

    assert words_of(normalize("NFC", plain)) == words_of(normalize("NFC", normalize("NFD", plain)))
    assert all(word and len(word) <= 64 for word in words_of(text))


@given(TEXTS)
def test_counts_of_all_fields_are_those_of_their_words(text: str) -> None:
    """None is lost, none is counted twice."""
    counts = count_words(title=text, aliases=[text, text], headings=[], tags=[], body=text)
    words = words_of(text)

    assert {word: (count[0], count[4]) for word, count in counts.items()} == {
        word: (words.count(word), words.count(word)) for word in words
    }


@given(TEXTS, TEXTS, st.integers(1, 80))
def test_a_snippet_marks_words_of_the_question(text: str, question: str, width: int) -> None:
    """It is no wider than asked, and each mark stands on something that matches."""
    words = set(query_words(question).words)
    found = cut_snippet(text, words, width=width)

    assert len(found.text) <= width
    assert list(found.marks) == sorted(found.marks)
    assert all(words & set(words_of(found.text[start:end])) for start, end in found.marks)


def test_stop_words_are_written_as_words_are_folded() -> None:
    """About 150 of them, each one a word."""
    assert 150 <= len(STOP_WORDS) <= 220
    assert all(word.isascii() and word.isalpha() and word == word.lower() for word in STOP_WORDS)
