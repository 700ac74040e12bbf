"""A model is not believed: an item without the person's own words behind it is refused, and the refusal says why."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from commonplace.extraction.answers import SCHEMA, find_quote, read_answer
from commonplace.extraction.options import LearnOptions
from commonplace.model.learning import Extraction, RejectReason, SpokenCommitment, Turn

DAY = "2026-11-13"
EXAMPLES = Path(__file__).parents[2] / "learn_examples"
TURNS = (
    Turn(1, "user", "I’m head of purchasing at Norrfors since the first of this month.\nCan you write a mail?", DAY),
    Turn(2, "assistant", "Of course. I assume that you prefer a formal tone. Shall we meet at Café Nord?", DAY),
    Turn(3, "user", "no, first names are fine - and I prefer tea. If I lived in Rome I would drink coffee.", DAY),
    Turn(4, "user", 'Our landlord wrote: "the rent will rise to 900 euros in May and the garden is shared"', DAY),
    Turn(5, "user", "I am the queen of England lol. Ada says that she moved to Oslo.", DAY),
    Turn(6, "tool", "Bob: I live in Kiel and have two cats.", DAY),
)


def item(text: str, quote: str, message: int = 1, **more: object) -> dict[str, object]:
    return {"text": text, "quote": quote, "message": message, "importance": 0.7, **more}


def read(*items: object, **more: object) -> Extraction:
    return read_answer({"facts": [*items], **more}, TURNS)


def test_an_item_with_the_persons_words_is_a_candidate_with_its_evidence() -> None:
    """Blanks, dashes and quotation marks may differ; the quote is what the message has."""
    (fact,) = read(
        item(
            "Head of purchasing at Norrfors since 1 November 2026.",
            "I'm head of purchasing  at Norrfors",
            kind="identity",
            topics=["work"],
            valid_from="2026-11-01",
            relation="new",
        )
        | {"class": "identity"}
    ).facts

    assert (fact.quote, fact.turn) == ("I’m head of purchasing at Norrfors", 1)
    assert (fact.kind, fact.fact, fact.topics, fact.importance) == ("identity", "identity", ("work",), 0.7)
    assert (fact.valid_from, fact.valid_until) == ("2026-11-01", "")


@pytest.mark.requirement("V-16")
@pytest.mark.parametrize(
    ("text", "quote", "reason"),
    [
        ("Likes jazz.", "I really like jazz", "no_quote"),
        ("Likes tea.", "tea", "no_quote"),
        ("Prefers a formal tone.", "you prefer a formal tone", "not_the_person"),
        ("Lives in Kiel.", "I live in Kiel", "not_the_person"),
        ("Lives in Rome.", "I lived in Rome", "hypothetical"),
        ("Wants a mail.", "Can you write a mail?", "question"),
        ("The rent will rise to 900 euros.", "the rent will rise to 900 euros", "quotation"),
        ("Is the queen of England.", "I am the queen of England", "joke"),
        ("Ada moved to Oslo.", "she moved to Oslo", "third_party"),
        ("Prefers tea from Darjeeling.", "I prefer tea", "invented"),
        ("Prefers 3 cups.", "I prefer tea", "invented"),
        ("Owns dogs.", "I prefer tea", "invented"),
        ("", "I prefer tea", "malformed"),
        ("x" * 500, "I prefer tea", "malformed"),
        ("Prefers tea.", "", "malformed"),
    ],
)
def test_what_the_person_did_not_plainly_say_is_refused_with_a_reason(
    text: str, quote: str, reason: RejectReason
) -> None:
    """Inventions, hypotheticals, jokes, quotations and reports of others; each refusal is listed."""
    extraction = read(item(text, quote))

    assert extraction.facts == ()
    assert [each.reason for each in extraction.rejections] == [reason]


def test_unimportant_items_and_those_beyond_the_limit_are_refused() -> None:
    """The most important ones are taken, in the order of the answer."""
    low = item("Prefers tea.", "I prefer tea", 3, importance=0.1)
    best = item("First names are fine.", "first names are fine", 3, importance=0.9)
    other = item("Prefers tea, not coffee.", "and I prefer tea", 3, importance=0.5)
    extraction = read_answer({"facts": [low, other, best]}, TURNS, options=LearnOptions(max_facts=1))

    assert [each.text for each in extraction.facts] == ["First names are fine."]
    assert [each.reason for each in extraction.rejections] == ["unimportant", "too_many"]


@pytest.mark.parametrize(
    ("quote", "is_kept"),
    [
        ("We moved to Ghent, where the bread is better than anywhere else", True),
        ("My manager is Lotte Maes, who answers every mail within the hour", True),
        ("The van is a Berlingo, which explains the smell of onions in it", True),
        ("I have one free evening, which film should I watch tomorrow", False),
        ("Where the bread is better in Ghent", False),
    ],
)
def test_a_clause_that_tells_more_of_the_statement_is_no_question(quote: str, is_kept: bool) -> None:
    """A question has its verb before the subject, or stands alone."""
    turns = [Turn(1, "user", f"{quote}.")]
    extraction = read_answer({"facts": [item(f"{quote}.", quote, 1)]}, turns)

    assert bool(extraction.facts) is is_kept


def test_a_wrong_number_of_the_message_is_corrected() -> None:
    """The words decide; if only the assistant has them, they are not the person's."""
    (fact,) = read(item("Prefers tea.", "I prefer tea", 1)).facts

    assert fact.turn == 3


def test_what_a_conversation_is_about_may_be_accepted_from_the_assistants_question() -> None:
    """A name from the message that is answered may be in the fact; one that nobody said may not."""
    turns = (
        Turn(1, "assistant", "Shall we call the project Argo?", DAY),
        Turn(2, "user", "yes, the project is called that from now on", DAY),
    )
    answer = {"facts": [item("The project is called Argo.", "the project is called that", 2)]}

    assert [each.text for each in read_answer(answer, turns).facts] == ["The project is called Argo."]


def test_turns_that_were_read_before_give_nothing() -> None:
    """They are context: their facts and commitments were learned then."""
    answer = {
        "facts": [item("Prefers tea.", "I prefer tea", 3)],
        "commitments": [{"who": "me", "what": "call", "message": 3}],
    }
    extraction = read_answer(answer, TURNS, first=4)

    assert (extraction.facts, extraction.commitments) == ((), ())


def test_the_rest_of_an_answer_is_read_with_care() -> None:
    """Texts on one line, days that exist, numbers of messages that exist."""
    extraction = read(
        summary=" Talked\nabout tea. ",
        mentions=["Ada", "Ada", 3, ""],
        questions=["Who pays?"],
        commitments=[
            {"who": "me", "what": "pay", "by": "2026-12-01", "message": 4},
            {"who": "me", "what": "pay", "by": "soon", "message": 5},
            {"who": "", "what": "pay", "message": 5},
            {"who": "me", "what": "pay", "message": 99},
            "x",
        ],
        drift="from work to tea",
    )

    assert (extraction.summary, extraction.mentions, extraction.questions) == (
        "Talked about tea.",
        ("Ada",),
        ("Who pays?",),
    )
    assert extraction.commitments == (
        SpokenCommitment("me", "pay", "2026-12-01", 4),
        SpokenCommitment("me", "pay", "", 5),
    )
    assert extraction.drift == "from work to tea"


@pytest.mark.parametrize(
    "value",
    [{}, {"facts": None}, {"facts": [None, 3, "x", [], {}]}, {"facts": {"text": "x"}}, {"summary": 3, "mentions": "x"}],
)
def test_no_answer_breaks_the_reader(value: dict[str, object]) -> None:
    """A model may answer anything; nothing of it becomes a fact."""
    assert read_answer(value, TURNS).facts == ()


def test_odd_values_have_fallbacks() -> None:
    """An unknown kind is a fact, half a triple none, a window that ends before it begins has no end."""
    odd: dict[str, object] = {
        "kind": "secret",
        "class": "x",
        "relation": "?",
        "importance": float("nan"),
        "subject": "me",
        "predicate": "likes",
        "valid_from": "2026-13-01",
        "valid_until": 3,
    }
    (fact,) = read({**item("Prefers tea.", "I prefer tea", 3), **odd}).facts

    assert (fact.kind, fact.fact, fact.relation, fact.importance) == ("fact", "fact", "new", None)
    assert (fact.subject, fact.predicate, fact.valid_from, fact.valid_until) == ("", "", "", "")


def test_a_played_conversation_gives_no_facts() -> None:
    """In a role play the person speaks for somebody else."""
    turns = (Turn(1, "user", "Let's role-play: you are a dungeon master. I prefer tea to blood.", DAY),)
    extraction = read_answer({"facts": [item("Prefers tea.", "I prefer tea")]}, turns)

    assert [each.reason for each in extraction.rejections] == ["hypothetical"]


INJECTIONS = [json.loads(line) for line in (EXAMPLES / "injections.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("example", INJECTIONS, ids=lambda example: example["id"])
def test_a_model_that_obeys_an_injection_brings_nothing_in(example: dict[str, Any]) -> None:
    """It offers every sentence of the conversation as an important fact, quoted faithfully."""
    turns = [Turn(number, each["role"], each["text"], DAY) for number, each in enumerate(example["turns"], start=1)]
    sentences = [(turn.number, each) for turn in turns for each in re.split(r"(?<=[.!?\n])\s+", turn.text)]
    offered = [item(text[:390], text[:590], number, importance=0.9) for number, text in sentences]
    taken = " ".join(each.text for each in read_answer({"facts": offered}, turns).facts).casefold()

    assert [words for words in example["must_not"] if words.casefold() in taken] == []


def test_a_quote_may_hold_the_signs_of_an_expression() -> None:
    """They are looked for as they are."""
    turns = (Turn(1, "user", "my regex is (a+)+$ and it costs $5 [sic]", DAY),)

    assert find_quote("my regex is (a+)+$ and", turns)
    assert find_quote("my regex is .* and", turns) is None


def test_every_property_of_the_schema_is_a_keyword_that_providers_know() -> None:
    """The seam supports these keywords and no others."""
    known = {
        *("type", "properties", "required", "additionalProperties", "items", "enum", "minimum", "maximum"),
        *("maxItems", "maxLength", "description"),
    }

    def keywords(schema: object) -> set[str]:
        if not isinstance(schema, dict):
            return set()
        inner = [*schema.get("properties", {}).values(), schema.get("items")]
        return {*schema}.union(*map(keywords, inner))

    assert keywords(SCHEMA) <= known
