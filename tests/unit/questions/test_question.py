"""What a question asks for, by rules alone."""

import timeit
from datetime import UTC, datetime

import pytest

from commonplace.questions.names import find_speakers
from commonplace.questions.question import MAX_READ, Question, has_nothing_to_search, query_of_prompt, understand

NOW = datetime(2024, 5, 15, 10, 0, tzinfo=UTC)
SPEAKERS = frozenset(
    {"Melanie", "Caroline", "James", "Will", "Sandra", "Ada Lindqvist", "Jo Berg", "Jo Dahl", "S", "You"}
)


def _asked(text: str) -> Question:
    return understand(text, now=NOW, speakers=SPEAKERS)


@pytest.mark.parametrize(
    ("text", "sense", "speakers"),
    [
        ("What is Melanie's dog called?", "What is my dog called?", ["Melanie"]),
        ("What is Melanie’s dog called?", "What is my dog called?", ["Melanie"]),
        ("What did Melanie paint?", "What did I paint?", ["Melanie"]),
        ("What did Mel paint?", "What did I paint?", ["Melanie"]),
        ("What did Mel's son paint?", "What did my son paint?", ["Melanie"]),
        ("What does James' car cost?", "What does my car cost?", ["James"]),
        ("Did Caroline call Melanie?", "Did I call I?", ["Caroline", "Melanie"]),
        ("Did Mel call Melanie's son?", "Did I call my son?", ["Melanie"]),
        ("What did Ada say?", "What did I say?", ["Ada Lindqvist"]),
        ("What did Ada Lindqvist say?", "What did I say?", ["Ada Lindqvist"]),
        ("what does melanie like", "what does I like", ["Melanie"]),
        ("WHAT DOES MELANIE LIKE", "WHAT DOES I LIKE", ["Melanie"]),
        ("What did Jo Berg say?", "What did I say?", ["Jo Berg"]),
        ("Melanie likes what?", "I likes what?", ["Melanie"]),
        ("What would Will do?", "What would I do?", ["Will"]),
        ("Is it S's or Ada's?", "Is it my or my?", ["S", "Ada Lindqvist"]),
    ],
)
def test_known_speakers_are_turned_to_the_first_person(text: str, sense: str, speakers: list[str]) -> None:
    """By name, first name or the beginning of it, and as the index spells them."""
    found = _asked(text)

    assert found.sense == sense
    assert list(found.speakers) == speakers


@pytest.mark.parametrize(
    "text",
    [
        "What did Jo say?",
        "Will it rain?",
        "will it rain?",
        "Where is San Francisco?",
        "Mel is short for what?",
        "Did Melanie Griffith sing?",
        "What did Melanies say?",
        "What did Marc-Melanie say?",
        "Who is melanie@example.org?",
        "What did You say?",
        "Who was the sand man in Rome?",
        "What did Zoe say?",
        "what is in the melanie",
    ],
)
def test_what_could_be_somebody_else_is_no_speaker(text: str) -> None:
    """Two speakers with one name, a verb, a longer name and a part of a word are no mention."""
    found = _asked(text)

    assert (found.sense, found.speakers) == (text, ())


def test_the_longest_name_that_is_meant_counts() -> None:
    """Of many names with one beginning; an ambiguous abbreviation matches nobody."""
    many = frozenset({"Ann", "Ann Lee", "Ann Lee Fox", *(f"Ann {number}" for number in range(100))})

    def named(text: str) -> list[str]:
        return [each.speaker for each in find_speakers(text, many)]

    assert named("What did Ann Lee Fox tell Ann Lee, Ann and Ann 17?") == ["Ann Lee Fox", "Ann Lee", "Ann", "Ann 17"]
    assert named("What did Ann, Lee Fox and Ann 170 say?") == ["Ann", "Ann"]
    assert find_speakers("What did Ann say?", frozenset({"Ann 1", "Ann 2"})) == ()


def test_a_question_costs_no_more_where_very_many_speak() -> None:
    """The cost depends on the words of the question, not on the twenty thousand speakers."""
    text = ("What did Ann say? " * 112)[:2000]

    def seconds(speakers: frozenset[str]) -> float:
        find_speakers(text, speakers)
        return min(timeit.repeat(lambda: find_speakers(text, speakers), number=1, repeat=5))

    few, many = (frozenset(f"Ann {number}" for number in range(1, most + 1)) for most in (2, 20_000))

    assert seconds(many) < 20 * seconds(few)


def test_the_names_of_speakers_are_not_searched_for_while_other_words_remain() -> None:
    """A question of nothing but a name still searches for the name."""
    assert _asked("What did Melanie's children paint?").words.words == ("children", "paint")
    assert _asked("Who is Melanie?").words.words == ("melani",)
    assert understand("What did Melanie paint?", now=NOW).words.words == ("melani", "paint")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What did Ada do in New York for NASA?", ["Ada", "New York", "NASA"]),
        ("Did Ada's Python code run?", ["Ada", "Python"]),
        ("Has Berlin grown? I love Berlin.", ["Berlin"]),
        ("Berlin is how large?", []),
        ("New York is how large?", ["New York"]),
        ("Show Ada the plan.", ["Ada"]),
        ("What did I do on Monday in May?", []),
        ("Is IT what I do?", ["IT"]),
        ("I'm asking what I’ve said.", []),
        ("WHO IS ADA?", []),
        ("What Is The Best Way Home?", []),
        ("Was macht Zoë in Århus?", ["Zoë", "Århus"]),
        ("who is ada", []),
    ],
)
def test_names_are_known_by_their_capitals(text: str, names: list[str]) -> None:
    """Capitals at the beginning of a sentence, months, weekdays and I do not count."""
    assert list(understand(text, now=NOW).names) == names


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('Who said "never again" and "always"?', ["never again", "always"]),
        ("Who said “never again”?", ["never again"]),
        ("Who said «never again»?", ["never again"]),
        ("Who said 'don't stop' there?", ["don't stop"]),
        ("Who said ‘don’t stop’ there?", ["don’t stop"]),
        ("What do the dogs' and the cats' owners eat?", []),
        ("Who doesn't know that it isn't so?", []),
        ("Who likes rock 'n' roll?", []),
        ('Who said "?', []),
    ],
)
def test_quoted_phrases_are_found_and_apostrophes_are_not_quotes(text: str, phrases: list[str]) -> None:
    """All quotation marks that people use are recognised."""
    assert list(understand(text, now=NOW).phrases) == phrases


@pytest.mark.parametrize(
    "text",
    [
        "What did you suggest for dinner?",
        "What did you originally recommend?",
        "Which film have you mentioned?",
        "What was the book you’ve recommended?",
        "Remind me what you said about tea.",
        "Can you remind me of the name of that restaurant?",
        "In our previous chat there was a recipe: which one?",
        "What was in your last answer?",
        "Where is the list you gave me?",
        "What were the steps we discussed earlier?",
    ],
)
def test_a_question_about_an_earlier_reply_is_known(text: str) -> None:
    """It asks about something an assistant said."""
    assert understand(text, now=NOW).asks_reply


@pytest.mark.parametrize(
    "text",
    [
        "Can you suggest a film?",
        "Could you recommend a restaurant?",
        "Do you give advice?",
        "Remind me to buy milk.",
        "Remind me what I said about tea.",
        "What did I tell Ada?",
        "What did my doctor suggest?",
        "What did the note say: 'you said so'?",
    ],
)
def test_a_request_for_something_new_is_not_about_a_reply(text: str) -> None:
    """Nor is one about what the person or others said."""
    assert not understand(text, now=NOW).asks_reply


@pytest.mark.parametrize(
    "text",
    [
        "How many books have I read?",
        "How much did I spend in total?",
        "How often did I swim?",
        "List my trips.",
        "Can you list the films?",
        "What are all my allergies?",
        "Which of every kind do I own?",
        "Which films have I seen?",
        "What activities did Melanie do?",
        "Which did I buy first, the lamp or the chair?",
        "Did I swim more in the sea or in the lake?",
        "In which order did I visit them?",
        "How long was it between the move and the wedding?",
        "What did I learn across the meetings?",
        "Which cities have we visited?",
    ],
)
def test_a_question_over_several_places_is_known(text: str) -> None:
    """Counts, lists, orders, comparisons and the time between two things."""
    assert understand(text, now=NOW).asks_many


@pytest.mark.parametrize(
    "text",
    [
        "What is my dog called?",
        "Is it all right?",
        "Did I like it at all?",
        "What do I do every Monday?",
        "Where did we meet each other?",
        "What is on the list?",
        "Which bus did I take?",
        "Tea or coffee?",
        "When did I move?",
    ],
)
def test_a_question_with_one_answer_is_not_over_several_places(text: str) -> None:
    """A question that merely contains such a word needs one place."""
    assert not understand(text, now=NOW).asks_many


def test_of_a_very_long_text_only_the_beginning_is_read_by_the_rules() -> None:
    """Its words and the text to encode are still those of the whole text."""
    text = "plain " * (MAX_READ // 6 + 1) + "What did Melanie do yesterday in Zanzibar?"
    found = _asked(text)

    assert (found.text, found.sense, found.windows, found.names) == (text, text, (), ())
    assert "zanzibar" in found.words.words


def test_a_short_prompt_is_looked_for_as_it_is() -> None:
    """Nothing of it is lost, quotes and line ends included."""
    prompt = "Why?\n\n> it failed\n"

    assert query_of_prompt(prompt) == prompt


def test_of_a_long_log_the_question_and_each_error_once_are_looked_for() -> None:
    """The first lines, the last ones, and what went wrong between them, however often it did."""
    log = [f"2026-10-20T04:{minute:02}:07 INFO reading {minute}" for minute in range(60)]
    log[30] = log[40] = "2026-10-20T04:30:00 WARN connect failed rc=-2"
    log[45] = "2026-10-20T04:45:00 ERROR no space left"

    gist = query_of_prompt("\n".join(["Why are readings lost?", *log, "It began on Monday."])).splitlines()

    assert gist[0] == "Why are readings lost?"
    assert gist[-1] == "It began on Monday."
    assert [line for line in gist if "WARN" in line or "ERROR" in line] == [log[30], log[45]]
    assert len("\n".join(gist)) < 1000


def test_what_is_quoted_from_a_mail_is_not_looked_for_beside_a_question() -> None:
    """Unless there is nothing else."""
    mail = "\n".join(f"> Line {number} of a long answer, which goes on and on." for number in range(40))

    assert query_of_prompt(f"Does this fit our budget?\n\n{mail}") == "Does this fit our budget?"
    assert "Line 0 of" in query_of_prompt(mail)


def test_one_endless_line_is_cut_and_not_lost() -> None:
    """Its beginning and its end are looked for."""
    gist = query_of_prompt("begin " + "x" * 100_000 + " end")

    assert gist.startswith("begin")
    assert len(gist) < 1000


@pytest.mark.parametrize(
    ("prompt", "is_empty"),
    [("What can you do?", True), ("No, not like that.", True), ("Where is Ada?", False), ("42", False)],
)
def test_a_prompt_of_little_words_names_nothing_to_look_for(prompt: str, *, is_empty: bool) -> None:
    """It refers to something said before."""
    assert has_nothing_to_search(prompt) is is_empty


@pytest.mark.parametrize(
    ("text", "halves"),
    [
        (
            "the oldest bridge in town, and who paid for its repair",
            ("the oldest bridge in town", "who paid for its repair"),
        ),
        ("sour dough starters; winter bird seed", ("sour dough starters", "winter bird seed")),
        ("steel frames versus carbon forks", ("steel frames", "carbon forks")),
        ("alte Brücken im Ort, und neue Radwege am Fluss", ("alte Brücken im Ort", "neue Radwege am Fluss")),
    ],
)
def test_a_question_for_two_things_has_two_halves(text: str, halves: tuple[str, ...]) -> None:
    """Each is searched for alone, too."""
    assert understand(text, now=NOW).halves == halves


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bread and butter pudding",
        "the red boat, and why",
        "red boats, and blue boats, and green boats",
        "the longest river, the deepest lake and the highest hill",
        "a long story about a bridge" * 8 + ", and what became of the old ferry",
    ],
)
def test_a_question_for_one_thing_or_many_has_no_halves(text: str) -> None:
    """Nor one whose second half says nothing, nor a long text."""
    assert understand(text, now=NOW).halves == ()
