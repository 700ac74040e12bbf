"""Which facts belong before a prompt."""

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.relevance import names_in, relevant
from commonplace.model import Fact, Held

RULES = FactRules(user="robin")


def held(id: str, subject: str, predicate: str = "", object: str = "", *, importance: float = 0.5) -> Held:
    fact = Fact(
        id=id,
        path=f"{id}.md",
        line=1,
        origin="entry",
        text=f"{subject} {predicate} {object}.",
        subject=subject,
        predicate=predicate,
        object=object,
    )
    return Held(fact, "current", "", "", importance)


def chosen(prompt: str, *facts: Held, most: int = 10) -> list[str]:
    return [each.held.fact.id for each in relevant(facts, names=names_in(prompt, RULES), rules=RULES, most=most)]


def test_names_are_found_in_the_words_of_a_prompt() -> None:
    """One word or a few in a row, whatever their case, without marks around them."""
    names = names_in("Did Ada Lindqvist (of Acme Corp.) call?", RULES)

    assert {"ada", "ada lindqvist", "acme corp", "acme"} <= set(names)


@pytest.mark.requirement("I-05")
def test_what_is_known_of_the_person_is_always_there_and_others_where_the_prompt_names_them() -> None:
    """Identity facts always, plus any fact whose subject or object stands in the prompt, which go first."""
    me = held("me", "Robin", "lives_in", "Berlin", importance=0.9)
    ada, acme = held("ada", "Ada", "likes", "tea"), held("acme", "Jonas", "works_at", "Acme")

    assert chosen("hello", me, ada, acme) == ["me"]
    assert chosen("write to ada about ACME", me, ada, acme) == ["acme", "ada", "me"]


@pytest.mark.requirement("I-06")
@pytest.mark.parametrize(
    "predicate", ["decided", "interested_in", "completed", "acquired", "disposed_of", "traveled_to"]
)
def test_passing_things_come_only_where_the_prompt_is_about_them(predicate: str) -> None:
    """Also for the person themselves."""
    bought = held("bought", "me", predicate, "kayak")

    assert chosen("what is for dinner", bought) == []
    assert chosen("is the kayak dry", bought) == ["bought"]


@pytest.mark.requirement("I-07")
def test_there_are_no_more_than_the_cap_the_most_important_first() -> None:
    """Of what is named first, then of the person."""
    facts = [held(str(number), "me", "likes", f"x{number}", importance=number / 10) for number in range(9)]

    assert chosen("x3", *facts, most=3) == ["3", "8", "7"]
    assert chosen("x3", *facts, most=0) == []
