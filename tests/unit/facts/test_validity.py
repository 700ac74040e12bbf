"""What holds when, and what was known when."""

from dataclasses import replace

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.triples import Predicates
from commonplace.facts.validity import as_known, holds, merge_names, state_of, state_until, until_of
from commonplace.model import Fact, FactEnd, FactRecord, FactState

RULES = FactRules()
NEVER = "9999-01-01T00:00:00Z"


def moment(day: str) -> str:
    return f"{day}T00:00:00Z"


MARCH, APRIL, MAY, JUNE, JULY = map(moment, ("2026-03-01", "2026-04-01", "2026-05-01", "2026-06-01", "2026-07-01"))

ACME = Fact(
    id="a",
    path="Agent/Memory/fact/2026-03/acme-000001.md",
    line=0,
    origin="entry",
    text="Ada works at Acme.",
    subject="Ada",
    predicate="works_at",
    object="Acme",
    recorded=MARCH,
    updated=MARCH,
)
BETA = replace(ACME, id="b", text="Ada works at Beta.", object="Beta", recorded=MAY, updated=MAY)


def alone(fact: Fact) -> FactRecord:
    return FactRecord(fact, None)


def replaced(old: Fact, by: Fact, *, at: str) -> Fact:
    """As the flow writes it: the window is closed where the new one begins."""
    return replace(
        old,
        status="superseded",
        place="archive",
        valid_until=by.begins,
        invalidated_at=at,
        was_valid_until=old.valid_until,
        superseded_by=by.id,
        superseded_at=at,
        updated=at,
    )


def test_a_fact_holds_from_its_beginning_up_to_its_end_and_not_at_it() -> None:
    """The window stands beside the words, and past its end the fact counts no longer."""
    fact = alone(replace(ACME, valid_from=APRIL, valid_until=JUNE))

    assert [state_of(fact, at=at) for at in (MARCH, APRIL, MAY, JUNE, JULY)] == [
        "future",
        "current",
        "current",
        "ended",
        "ended",
    ]
    assert [holds(fact, at) for at in (MARCH, APRIL, JUNE)] == [False, True, False]


def test_a_fact_without_a_beginning_holds_from_when_it_was_recorded() -> None:
    """Nothing says that it was so before."""
    fact = alone(ACME)

    assert not holds(fact, "2026-02-28T23:59:59Z")
    assert holds(fact, MARCH)
    assert holds(fact, NEVER)


def test_a_fact_of_a_line_without_a_date_holds_always() -> None:
    """It has no moment of its own: it stands as long as its line does."""
    line = alone(replace(ACME, origin="line", recorded="", updated=""))

    assert holds(line, moment("1970-01-01"))
    assert holds(line, NEVER)


@pytest.mark.parametrize(
    ("fact", "state"),
    [
        (replace(ACME, place="staging", status="deleted"), "staged"),
        (replace(ACME, status="deleted", deleted_at=JUNE), "deleted"),
        (replace(ACME, status="archived"), "archived"),
        (replace(ACME, place="archive"), "archived"),
        (replace(ACME, status="expired", updated=MARCH), "expired"),
        (replace(ACME, status="superseded", superseded_at=MARCH, place="archive"), "superseded"),
        (replace(ACME, status="superseded", valid_until=JULY, updated=APRIL), "superseded"),
        (replace(ACME, status="expired", valid_until=JULY, updated="", valid_from=MARCH), "expired"),
        (replace(ACME, place="inbox"), "current"),
    ],
)
def test_the_status_and_the_place_say_what_does_not_hold(fact: Fact, state: FactState) -> None:
    """Also where a person wrote the status alone."""
    assert state_of(alone(fact), at=MAY) == state


def test_a_replaced_fact_held_while_its_window_lasted() -> None:
    """Who asks for a day before the replacing is told what was so on that day."""
    old = alone(replaced(ACME, replace(BETA, valid_from=APRIL), at=MAY))

    assert [state_of(old, at=at) for at in (MARCH, APRIL, MAY)] == ["current", "superseded", "superseded"]
    assert until_of(old) == (APRIL, "b")


def test_a_replaced_fact_whose_window_stayed_open_ends_when_it_was_replaced() -> None:
    """So it is where a person marks it in their editor."""
    old = alone(replace(ACME, status="superseded", superseded_by="b", superseded_at=MAY, valid_until=JULY))

    assert until_of(old) == (MAY, "b")
    assert [holds(old, at) for at in (APRIL, MAY, JUNE)] == [True, False, False]


def test_an_expired_fact_held_until_it_ended() -> None:
    """Its end is its own, else when its note last changed."""
    ended = alone(replace(ACME, status="expired", valid_until=APRIL, updated=JUNE))
    marked = alone(replace(ACME, status="expired", updated=MAY))

    assert [state_of(ended, at=at) for at in (MARCH, APRIL)] == ["current", "expired"]
    assert [state_of(marked, at=at) for at in (APRIL, MAY)] == ["current", "expired"]


def test_the_earlier_end_counts_and_names_what_ended_it() -> None:
    """Of the fact's own end and that by another; at the same moment the other is named."""
    own = replace(ACME, valid_until=MAY)

    assert until_of(FactRecord(own, FactEnd(APRIL, "b"))) == (APRIL, "b")
    assert until_of(FactRecord(own, FactEnd(JUNE, "b"))) == (MAY, "")
    assert until_of(FactRecord(own, FactEnd(MAY, "b"))) == (MAY, "b")
    assert until_of(alone(ACME)) == ("", "")


def test_what_will_be_replaced_holds_until_then_and_names_its_heir() -> None:
    """A new value that begins later leaves the old one active, with its end."""
    old = replace(replaced(ACME, replace(BETA, valid_from=JULY), at=MAY), status="active", place="")

    assert [state_of(alone(old), at=at) for at in (JUNE, JULY)] == ["current", "ended"]
    assert until_of(alone(old)) == (JULY, "b")


def test_the_state_follows_from_the_end_that_another_fact_causes() -> None:
    record = FactRecord(ACME, FactEnd(MAY, "b"))
    until, ended_by = until_of(record)

    assert (until, ended_by) == (MAY, "b")
    for at, state in ((APRIL, "current"), (MAY, "ended")):
        assert state_until(ACME, until, at=at) == state_of(record, at=at) == state


@pytest.mark.requirement("I-61")
def test_a_fact_that_expires_by_itself_can_be_ended_before() -> None:
    """Ending does not depend on whether there was an end already; what was known before keeps the old end."""
    until = Predicates().default_until("interested_in", MARCH)
    fact = replace(ACME, predicate="interested_in", valid_until=until)
    early = moment("2026-03-02")
    ended = replace(fact, valid_until=early, invalidated_at=APRIL, was_valid_until=until, updated=APRIL)
    (before,) = as_known([alone(ended)], known_at=moment("2026-03-20"), rules=RULES)

    assert until == moment("2026-05-30")
    assert holds(alone(fact), moment("2026-05-29"))
    assert not holds(alone(fact), until)
    assert state_of(alone(ended), at=early) == "ended"
    assert before.fact == replace(fact, updated=moment("2026-03-20"))


def test_nothing_is_known_before_it_is_recorded_but_lines_always_are() -> None:
    """A value that was true long before is still unknown until someone writes it down."""
    early = replace(ACME, valid_from=moment("2020-01-01"))
    line = replace(ACME, id="c", origin="line", recorded="", predicate="likes")

    found = as_known([alone(early), alone(line)], known_at=moment("2026-02-01"), rules=RULES)

    assert [each.fact.id for each in found] == ["c"]


def test_a_fact_was_active_before_it_was_replaced() -> None:
    """Known in April, Ada works at Acme and nothing tells of an end; known in June, she worked there until May."""
    knowns = [alone(replaced(ACME, BETA, at=MAY)), alone(BETA)]

    assert as_known(knowns, known_at=APRIL, rules=RULES) == (alone(replace(ACME, updated=APRIL)),)
    assert as_known(knowns, known_at=JUNE, rules=RULES) == tuple(knowns)


def test_what_is_learned_late_changes_what_was_true_and_not_what_was_known() -> None:
    """Recorded in June: since April it was Beta. Known in May, in April it was Acme."""
    late = replace(BETA, valid_from=APRIL, recorded=JUNE)
    knowns = [alone(replaced(ACME, late, at=JUNE)), alone(late)]

    def told(*, at: str, known_at: str) -> list[str]:
        return [each.fact.object for each in as_known(knowns, known_at=known_at, rules=RULES) if holds(each, at)]

    assert told(at=MAY, known_at=MAY) == ["Acme"]
    assert told(at=MAY, known_at=JUNE) == ["Beta"]
    assert told(at=MARCH, known_at=JUNE) == ["Acme"]


def test_a_forgotten_fact_was_known_before_it_was_forgotten() -> None:
    """Its status and the reason of forgetting come later."""
    gone = replace(ACME, status="deleted", deleted_at=JUNE, reason="wrong", updated=JUNE)

    assert as_known([alone(gone)], known_at=MAY, rules=RULES) == (alone(replace(ACME, updated=MAY)),)
    assert as_known([alone(gone)], known_at=JUNE, rules=RULES) == (alone(gone),)


def test_a_fact_that_was_replaced_and_then_forgotten_was_replaced_between() -> None:
    """Each of the two is undone on its own."""
    old = replaced(ACME, BETA, at=MAY)
    gone = replace(old, status="deleted", deleted_at=JULY, updated=JULY)

    (between,) = as_known([alone(gone)], known_at=JUNE, rules=RULES)
    (before,) = as_known([alone(gone)], known_at=APRIL, rules=RULES)

    assert between.fact == replace(old, updated=JUNE)
    assert before.fact == replace(ACME, updated=APRIL)


def test_later_confirmations_are_not_yet_known() -> None:
    """Those of the same day are."""
    fact = replace(ACME, confirmed=("2026-03-01", "2026-04-01", "2026-05-01"))

    (found,) = as_known([alone(fact)], known_at="2026-04-01T12:00:00Z", rules=RULES)

    assert found.fact.confirmed == ("2026-03-01", "2026-04-01")


def test_an_end_by_a_fact_that_was_recorded_later_does_not_count() -> None:
    """Two devices wrote two values: before the second was known, the first stood alone."""
    knowns = [FactRecord(ACME, FactEnd(MAY, "b")), alone(BETA)]

    assert as_known(knowns, known_at=APRIL, rules=RULES) == (alone(replace(ACME, updated=MARCH)),)
    assert as_known(knowns, known_at=MAY, rules=RULES) == tuple(knowns)


def test_an_end_by_a_fact_that_is_not_given_stays() -> None:
    """Such as one that whoever asks may not see."""
    gamma = replace(BETA, id="c", object="Gamma", recorded=JULY)
    knowns = [FactRecord(ACME, FactEnd(JUNE, "hidden")), alone(gamma)]

    assert as_known(knowns, known_at=JULY, rules=RULES)[0].end == FactEnd(JUNE, "hidden")


def test_facts_of_two_names_of_one_entity_end_each_other() -> None:
    """Ada Lovelace's later home ends Ada's; an entity with another name, and other predicates, are left alone."""
    first = replace(ACME, predicate="lives_in", object="Rehovot")
    second = replace(first, id="b", subject="Ada Lovelace", object="London", recorded=MAY)
    other = replace(first, id="c", subject="Jonas", object="Oslo", recorded=APRIL)
    knowns = [alone(each) for each in (first, second, other)]
    found = merge_names(knowns, names=("ada", "ada lovelace"), subject="Ada Lovelace", rules=RULES)

    assert found == (FactRecord(first, FactEnd(MAY, "b")), alone(second), alone(other))
    assert merge_names(knowns, names=("ada", "countess"), subject="Ada", rules=RULES) == tuple(knowns)


def test_of_two_ends_by_other_facts_the_earlier_counts() -> None:
    """The one that the index knows of, or the one by another name."""
    names = ("ada", "ada lovelace")
    later = replace(BETA, subject="Ada Lovelace")

    for end, wanted in ((FactEnd(APRIL, "x"), FactEnd(APRIL, "x")), (FactEnd(JUNE, "x"), FactEnd(MAY, "b"))):
        found = merge_names([FactRecord(ACME, end), alone(later)], names=names, subject="Ada", rules=RULES)
        assert found[0].end == wanted
