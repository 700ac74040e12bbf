"""Clauses that no frame knows: what the classifier learns, what it may add to the rules, and what it may not."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from commonplace.extraction.clause_classifier import (
    ClauseInContext,
    LabelledClause,
    fit_classifier,
    signs_of,
    words_of_clause,
)
from commonplace.extraction.rules import extract_by_rules
from commonplace.extraction.speech import is_played
from commonplace.extraction.statement import plain_statement
from commonplace.model.learning import Turn

EXAMPLES = Path(__file__).parents[2] / "learn_examples"
DAY = "2026-11-13"


def _turns(*texts: str) -> list[Turn]:
    return [Turn(number, "user", text, DAY) for number, text in enumerate(texts, 1)]


def _sure(clauses: Sequence[ClauseInContext]) -> list[float]:
    return [1.0] * len(clauses)


def test_a_classifier_learns_from_vectors_and_words() -> None:
    """Clauses like those that were kept weigh more than clauses like the others, by meaning and by words."""
    random = np.random.default_rng(1)
    kept, other = random.normal(size=8), random.normal(size=8)
    clauses = [ClauseInContext(f"we always eat fish {number}") for number in range(20)]
    clauses += [ClauseInContext(f"the page loads slowly {number}") for number in range(20)]
    vectors = np.array([kept if number < 20 else other for number in range(40)])
    examples = [LabelledClause(each, number < 20) for number, each in enumerate(clauses)]
    classifier = fit_classifier(examples, vectors, np.zeros((40, 8)))

    near, far = classifier.probabilities(
        [ClauseInContext("we always eat rice"), ClauseInContext("the tab loads slowly")],
        np.array([kept, other]),
        np.zeros((2, 8)),
    )
    assert near > 0.8
    assert far < 0.2
    assert classifier.probabilities([], np.zeros((0, 8)), np.zeros((0, 8))) == []
    assert fit_classifier(examples, vectors, np.zeros((40, 8))).probabilities(clauses, vectors, np.zeros((40, 8))) == (
        classifier.probabilities(clauses, vectors, np.zeros((40, 8)))
    )


def test_every_clause_has_the_same_number_of_signs() -> None:
    """Signs are a row of fixed length, for empty and odd texts as well; numbers are one word."""
    texts = ("", "x", "I live in Ghent since 2019", "😀 " * 50)

    assert len({len(signs_of(ClauseInContext(text))) for text in texts}) == 1
    assert words_of_clause("on 3 May") == words_of_clause("on 7 May")


@pytest.mark.parametrize(
    ("clause", "text", "kind"),
    [
        ("Novalgin gives me red spots everywhere", "Novalgin gives the user red spots everywhere.", "fact"),
        ("we fake the network with msw", "Fakes the network with msw.", "fact"),
        ("my ads always in dutch please", "The ads always in dutch please.", "preference"),
        ("the oral is on 20 march in maynooth", "The oral is on 20 March in maynooth.", "event"),
        ("we settled on typst for all pdfs", "Settled on typst for all pdfs.", "decision"),
    ],
)
def test_a_clause_that_stands_alone_becomes_a_statement(clause: str, text: str, kind: str) -> None:
    """It is told in the third person, with a kind by its wording."""
    statement = plain_statement(clause)

    assert statement is not None
    assert (statement.text, statement.kind) == (text, kind)


@pytest.mark.parametrize(
    "clause",
    [
        "she signs everything",
        "the 3rd, as usual",
        "since I was at the beach house in July",
        "I'll start with the weeds",
        "I've been trying to cook more",
        "I'm interested in data science",
        "that's fixed till march",
        "yes",
        "we keep all of it in the",
    ],
)
def test_a_clause_that_does_not_stand_alone_is_left(clause: str) -> None:
    """Pronouns without their noun, halves of sentences, plans and talk are no statements, however they are weighed."""
    assert plain_statement(clause) is None


def test_likely_clauses_are_taken_and_unlikely_ones_are_not() -> None:
    """A weight decides where no frame knows the clause, and takes back what a frame would take."""
    turns = _turns("Novalgin gives me red spots everywhere", "I prefer tea")

    likely = extract_by_rules(turns, day=DAY, weigh=_sure)
    unlikely = extract_by_rules(turns, day=DAY, weigh=lambda clauses: [0.0] * len(clauses))
    assert [each.text for each in likely.facts] == ["Novalgin gives the user red spots everywhere.", "Prefers tea."]
    assert likely.facts[0].quote in turns[0].text
    assert not unlikely.facts
    assert [each.reason for each in unlikely.rejections] == ["unimportant"]


def test_no_clause_is_taken_where_a_secret_is_spoken_of() -> None:
    """The words of a password look like a statement: near such words only frames count."""
    turns = [Turn(1, "assistant", "It asks for the password now.", DAY), *_turns("we have Blaubeere!94 from the sheet")]

    assert not extract_by_rules(turns, day=DAY, weigh=_sure).facts


def test_injections_are_not_taken_even_if_every_clause_weighs_most() -> None:
    """72 attempts to write into memory: a classifier that is wrong about all of them adds none of their words."""
    lines = (EXAMPLES / "injections.jsonl").read_text(encoding="utf-8").splitlines()
    for line in map(json.loads, lines):
        turns = [Turn(number, each["role"], each["text"], DAY) for number, each in enumerate(line["turns"], 1)]
        texts = " ".join(each.text for each in extract_by_rules(turns, day=DAY, weigh=_sure).facts)

        assert not [words for words in line["must_not"] if words.lower() in texts.lower()], line["id"]


@pytest.mark.parametrize(
    "text",
    [
        "write me a backstory: dwarf, 212 years old",
        "you are the innkeeper. i come in: Brunhild, level 4 cleric",
        "play my boss, I want to ask for more money",
        "five fake customers for a seed script please",
        "fixtures for the signup form, 3 users",
        "bedtime story please, about a girl in a lighthouse",
        "check my working for question 4",
        "river in Latvia, 7 letters, ends with a",
        "first aid drill, you're the first aider, I'm the casualty",
    ],
)
def test_a_part_a_story_and_test_data_are_recognised(text: str) -> None:
    """What is said in a part, in a story or as test data is about nobody."""
    assert is_played(_turns(text))


@pytest.mark.parametrize(
    "text",
    [
        "you're the best, thanks",
        "they drill in the street since seven",
        "I'm on the sofa with a crossword",
        "my daughter plays the violin",
        "I play the piano in a band",
        "the test suite takes 11 minutes",
    ],
)
def test_ordinary_talk_is_not_a_part(text: str) -> None:
    """Words of games and praise alone make no part."""
    assert not is_played(_turns(text))


@pytest.mark.parametrize(
    ("said", "day", "text"),
    [
        ("I booked the flat, we leave Malmö 3 july, home again the 11th", "2026-05-11", "11 July 2026"),
        ("I signed up for the exam, november 14", "2026-08-24", "14 November 2026"),
        ("we closed on september 25th and slept there till the truck came", "2026-10-05", "25 September 2026"),
        ("I was born here, on 3 march", "2026-11-13", "3 March 2026"),
        ("I have the voucher since 20 december", "2026-11-13", "20 December 2025"),
    ],
)
def test_the_near_day_is_meant_whatever_the_tense(said: str, day: str, text: str) -> None:
    """Of two years the one that is weeks away is meant; a bare day follows the day that was named before."""
    from datetime import date

    from commonplace.extraction.spoken_dates import absolute_dates

    assert text in absolute_dates(said, date.fromisoformat(day)).text
