"""Claims: what only one fact may say at a time, and which of several holds when."""

from dataclasses import replace
from typing import Any

import pytest

from commonplace.facts.claims import FactRules, is_rivalling, rules_of
from commonplace.facts.options import FactsOptions
from commonplace.model import Candidate, Fact, FactEnd, Origins

RULES = FactRules(user="simon")
JANUARY, MARCH, MAY = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z"


def fact(id: str = "a", *, predicate: str = "works_at", object: str = "Acme", begins: str = JANUARY) -> Fact:
    """An active entry about Ada."""
    return Fact(
        id=id,
        path=f"{id}.md",
        line=1,
        origin="entry",
        text=f"Ada {predicate} {object}.",
        subject="Ada",
        predicate=predicate,
        object=object,
        valid_from=begins,
    )


@pytest.mark.requirement("I-53")
def test_a_single_valued_predicate_is_claimed_whatever_its_object() -> None:
    """Two employers of one person claim the same thing."""
    assert RULES.claim(fact()) == RULES.claim(fact(object="Globex", predicate="Works at")) == "ada|works_at"


@pytest.mark.requirement("I-58")
def test_any_other_predicate_is_claimed_with_its_object() -> None:
    """Many values stand beside each other; only the same one twice is one too many."""
    liked = fact(predicate="likes", object="[[Tea]]")

    assert RULES.claim(liked) == RULES.claim(replace(liked, object="tea")) == "ada|likes|tea"
    assert RULES.claim(replace(liked, object="coffee")) != RULES.claim(liked)


def test_a_statement_is_claimed_by_its_words() -> None:
    """The same words twice are one too many; what two notes say of themselves is not the same."""
    said = Fact(id="a", path="a.md", line=1, origin="entry", text="Use short names.")

    assert RULES.claim(said).startswith("=")
    assert RULES.claim(said) == RULES.claim(replace(said, id="b", text="use short names"))
    assert RULES.claim(replace(said, subject="Acme")) != RULES.claim(replace(said, subject="Globex"))


def test_the_same_event_of_another_day_claims_something_else() -> None:
    """It may happen again."""
    ran = Fact(id="a", path="a.md", line=1, origin="entry", text="Ran a race.", fact="event", valid_from=JANUARY)

    assert RULES.claim(ran) == RULES.claim(replace(ran, id="b", valid_from="2026-01-01T18:00:00Z"))
    assert RULES.claim(ran) != RULES.claim(replace(ran, valid_from=MARCH))


@pytest.mark.parametrize("beside", [{"valid_until": MAY}, {"bonds": (("end", "b"),)}])
def test_what_holds_beside_other_values_claims_its_own(beside: dict[str, Any]) -> None:
    """What has a stated end, and what waits to end another."""
    other = replace(fact(object="Globex"), **beside)

    assert not is_rivalling(other)
    assert RULES.claim(other) == "ada|works_at|globex"


@pytest.mark.parametrize("again", [{"fact": "event"}, {"predicate": "visiting"}])
def test_a_triple_that_may_recur_claims_its_own_day(again: dict[str, Any]) -> None:
    """An event, and what is true for a while: the same of another day ends nothing."""
    one = replace(fact(predicate="traveled_to", object="Rome"), **again)

    assert RULES.claim(one) == RULES.claim(replace(one, id="b", valid_from="2026-01-01T18:00:00Z"))
    assert RULES.claim(one) != RULES.claim(replace(one, valid_from=MARCH))


def test_words_that_are_said_to_hold_beside_the_same_words_claim_their_own_day() -> None:
    """Of three that name each other, each stands."""
    said = Fact(id="a", path="a.md", line=1, origin="entry", text="Is ill today.", valid_from=JANUARY)
    others = [replace(said, id=id, valid_from=day, bonds=(("both", "a"),)) for id, day in (("b", MARCH), ("c", MAY))]

    assert len({RULES.claim(each) for each in (said, *others)}) == 3


def test_what_is_said_to_hold_with_another_ends_not_even_its_own_words() -> None:
    """The person may keep both of two that say the same."""
    liked = fact(predicate="likes", object="tea")
    other = replace(liked, id="b", bonds=(("both", "a"),))

    assert RULES.claim(other) not in (RULES.claim(liked), "")


def test_two_values_that_are_said_to_hold_together_end_each_other_never_and_a_third_ends_both() -> None:
    """Whoever says it of two says nothing of a third; what each of them begins with does not matter."""
    first, second = fact("a"), replace(fact("b", begins=MARCH), bonds=(("both", "a"), ("both", "a song")))
    third = fact("c", begins=MAY)

    assert len({RULES.claim(each) for each in (first, second, third)}) == 1
    assert RULES.ends([first, second]) == {}
    assert RULES.ends([first, replace(second, valid_from=JANUARY)]) == {}
    assert RULES.ends([first, second, third]) == {"a": FactEnd(MAY, "c"), "b": FactEnd(MAY, "c")}


def test_a_programs_value_that_is_said_to_hold_with_the_persons_holds() -> None:
    """A less trusted one ends where a more trusted one begins, unless both hold."""
    mine, other = fact("mine"), replace(fact("other", begins=MARCH), origins=Origins(trust="said"))

    assert RULES.ends([mine, other]) == {"other": FactEnd(MARCH, "mine")}
    assert RULES.ends([mine, replace(other, bonds=(("both", "mine"),))]) == {}


def test_an_end_that_another_entry_caused_is_no_stated_one() -> None:
    """Else a value that was replaced would leave its time to two."""
    ended = replace(fact(), valid_until=MAY, invalidated_at=MAY)

    assert is_rivalling(ended)
    assert not is_rivalling(replace(ended, was_valid_until="2026-08-01T00:00:00Z"))


def test_a_statement_is_claimed_in_its_own_project_and_a_triple_in_all() -> None:
    """Two projects may each say how their tests run; a person has one employer wherever it was saved."""
    said = Fact(id="a", path="a.md", line=1, origin="entry", text="The tests run with make.", project="atlas")

    assert RULES.claim(said) == RULES.claim(replace(said, project="Atlas"))
    assert len({RULES.claim(replace(said, project=name)) for name in ("atlas", "boat", "")}) == 3
    assert RULES.claim(replace(fact(), project="atlas")) == RULES.claim(fact())


@pytest.mark.parametrize("status", ["superseded", "expired", "archived", "deleted"])
def test_only_active_facts_claim_anything(status: str) -> None:
    """What was replaced, ended, put away or forgotten competes with nothing."""
    assert RULES.claim(replace(fact(), status=status)) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(("place", "claims"), [("archive", False), ("staging", False), ("inbox", True)])
def test_what_waits_or_is_put_away_claims_nothing(place: str, claims: bool) -> None:
    """Staged and archived facts compete with nothing; those in the inbox do."""
    assert bool(RULES.claim(replace(fact(), place=place))) is claims  # type: ignore[arg-type]


def test_a_fact_ends_when_the_next_of_its_claim_begins() -> None:
    """Of three values, the first two end; the last one holds on."""
    facts = [fact("a"), fact("b", begins=MARCH), fact("c", begins=MAY)]

    assert RULES.ends(facts) == {"a": FactEnd(MARCH, "b"), "b": FactEnd(MAY, "c")}


def test_of_two_that_begin_at_once_the_higher_id_holds() -> None:
    """The other one never held, and the winner alone meets what comes next."""
    facts = [fact("b"), fact("a"), fact("c", begins=MAY)]

    assert RULES.ends(facts) == {"a": FactEnd(JANUARY, "b"), "b": FactEnd(MAY, "c")}


def test_of_two_without_a_beginning_one_still_ends() -> None:
    """An end at no moment would be no end: it lies before every moment instead."""
    ends = RULES.ends([fact("a", begins=""), fact("b", begins="")])

    assert ends == {"a": FactEnd("0001-01-01T00:00:00Z", "b")}


@pytest.mark.parametrize("until", [MARCH, "2026-02-01T00:00:00Z"])
def test_a_fact_whose_window_is_over_is_ended_by_nothing(until: str) -> None:
    """It ended by itself, before the next began or as it did: nothing competes."""
    facts = [replace(fact("a"), valid_until=until), fact("b", begins=MARCH)]

    assert RULES.ends(facts) == {}


def test_a_fact_that_never_holds_ends_nothing() -> None:
    """An empty window takes no place from anybody."""
    facts = [fact("a"), replace(fact("b", begins=MARCH), valid_until=MARCH)]

    assert RULES.ends(facts) == {}


def test_a_less_trusted_fact_holds_only_while_no_better_one_does() -> None:
    """It ends nothing that the person said, however late it begins, and ends where the person's word begins."""
    mine, line = fact("mine", begins=MARCH), replace(fact("line", begins=MAY), origin="line")
    early = replace(fact("early"), origins=Origins(trust="said"))
    late = replace(fact("late", begins=MAY), origins=Origins(trust="mined"))

    assert RULES.ends([mine, late]) == {"late": FactEnd(MAY, "mine")}
    assert RULES.ends([mine, early]) == {"early": FactEnd(MARCH, "mine")}
    assert RULES.ends([mine, line]) == {"line": FactEnd(MAY, "mine")}
    assert RULES.ends([replace(mine, valid_until=MAY), late]) == {}


def test_a_triple_has_the_same_fingerprint_in_any_spelling() -> None:
    """Text does not count where there is a triple; the user is the user by any name."""
    one = RULES.fingerprint(Candidate(subject="me", predicate="works at", object="[[Acme]]", text="Works at Acme."))
    other = RULES.fingerprint(Candidate(subject="Simon", predicate="works_at", object="acme", text="I am with Acme."))

    assert one == other
    assert one != RULES.fingerprint(
        Candidate(subject="me", predicate="works_at", object="Globex", text="Works at Globex.")
    )


def test_a_statement_has_the_fingerprint_of_its_words() -> None:
    """Without a predicate, subject and object do not count."""
    one, other = Candidate(subject="Acme", text="Use tabs."), Candidate(text="use tabs")

    assert RULES.fingerprint(one) == RULES.fingerprint(other)


def test_rules_come_from_the_options_and_the_user() -> None:
    """A predicate that a person made single-valued is claimed as one."""
    rules = rules_of(FactsOptions(single_valued=("drives",)), "simon")

    assert rules.entity("Simon") == "me"
    assert rules.claim(fact(predicate="drives")) == "ada|drives"


def test_a_replaced_fact_still_claims_the_time_in_which_it_held() -> None:
    """Else a value that another device had set beside it would hold again for that time."""
    rival = fact("a")
    beta = fact("b", object="Beta", begins=MARCH)
    gone = replace(beta, status="superseded", place="archive", valid_until=MAY, invalidated_at=MAY)

    assert RULES.claim(gone) == RULES.claim(rival)
    assert RULES.ends([rival, gone]) == {"a": FactEnd(MARCH, "b")}
    assert RULES.claim(replace(gone, valid_until="")) == ""
