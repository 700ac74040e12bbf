"""Integration: what becomes of a candidate that meets what is known."""

from dataclasses import replace
from typing import Any

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.integrate import compare, integrate
from commonplace.model import Action, Bond, Candidate, Fact, FactEnd, FactRecord, Origins, Verdict

RULES = FactRules()
JANUARY, FEBRUARY, MARCH = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"
APRIL, NOW, AUGUST = "2026-04-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-08-01T00:00:00Z"
SECRET_WORDS = ("Acme", "Globex", "Ada", "engineer", "coffee")


def triple(object: str, *, predicate: str = "works_at", begins: str = "", until: str = "") -> Candidate:
    """What somebody says of Ada."""
    return Candidate(
        text=f"Ada {predicate} {object}.",
        subject="Ada",
        predicate=predicate,
        object=object,
        valid_from=begins,
        valid_until=until,
    )


def known(
    object: str, id: str = "old", *, predicate: str = "works_at", begins: str = JANUARY, recorded: str = ""
) -> Fact:
    """What is known of Ada."""
    return Fact(
        id=id,
        path=f"{id}.md",
        line=1,
        origin="entry",
        text=f"Ada {predicate} {object}.",
        subject="[[Ada]]",
        predicate=predicate,
        object=object,
        valid_from=begins,
        recorded=recorded or begins,
    )


def ended(fact: Fact, at: str, **fields: Any) -> Fact:
    """The fact as another one ended it."""
    return replace(fact, valid_until=at, invalidated_at=at, **fields)


def statement(text: str, id: str = "old") -> Fact:
    """A statement that is known."""
    return Fact(id=id, path=f"{id}.md", line=1, origin="entry", text=text, recorded=JANUARY)


def decide(candidate: Candidate, *facts: Fact) -> Verdict:
    """The verdict on the candidate beside these facts."""
    return integrate(candidate, [FactRecord(fact, None) for fact in facts], rules=RULES, now=NOW)


def decided(candidate: Candidate, *facts: Fact) -> tuple[Action, str]:
    """The action and its target."""
    verdict = decide(candidate, *facts)
    return verdict.action, verdict.target


def test_what_nobody_knew_is_inserted() -> None:
    """A candidate that meets nothing becomes a new fact, with a reason."""
    verdict = decide(triple("Acme"))

    assert (verdict.action, verdict.target, verdict.until) == ("insert", "", "")
    assert verdict.reason


def test_the_same_triple_confirms() -> None:
    """Spelling and links do not make another value."""
    assert decided(triple("[[acme]]", predicate="Works at"), known("Acme")) == ("confirm", "old")


def test_a_new_value_replaces_the_one_that_holds() -> None:
    """A single-valued predicate has one value: the old one is superseded by the new."""
    assert decided(triple("Globex"), known("Acme")) == ("supersede", "old")


@pytest.mark.parametrize(
    ("old", "new"), [("engineer", "senior engineer"), ("senior engineer", "engineer"), ("engineer", "manager")]
)
def test_a_role_is_replaced_whether_or_not_it_contains_the_old_one(old: str, new: str) -> None:
    """Values are compared whole: "engineer" never blocks "senior engineer", nor the reverse."""
    candidate = triple(new, predicate="has_role")

    assert decided(candidate, known(old, predicate="has_role")) == ("supersede", "old")


def test_a_value_that_begins_before_a_later_one_ends_where_that_begins() -> None:
    """What was true earlier does not end what is true now: windows tell when a value held, not the words of it."""
    verdict = decide(triple("Initech", begins=JANUARY), known("Acme", begins=MARCH))

    assert (verdict.action, verdict.target, verdict.until) == ("insert", "", MARCH)


def test_a_value_between_two_replaces_the_first_and_ends_at_the_second() -> None:
    """It follows the one that held when it begins, and is followed by the next."""
    facts = (ended(known("Acme", "first"), MARCH), known("Globex", "second", begins=MARCH))
    verdict = decide(triple("Initech", begins=FEBRUARY), *facts)

    assert (verdict.action, verdict.target, verdict.until) == ("supersede", "first", MARCH)


def test_a_value_that_ends_before_the_next_begins_keeps_its_end() -> None:
    """Its own window is shorter than the gap."""
    verdict = decide(triple("Initech", begins=JANUARY, until=FEBRUARY), known("Acme", begins=MARCH))

    assert (verdict.action, verdict.until) == ("insert", "")


def test_a_value_within_the_time_of_a_replaced_one_ends_that_one() -> None:
    """The replaced fact keeps its status, and its window ends when the candidate begins."""
    fields = {"status": "superseded", "place": "archive", "superseded_by": "second", "superseded_at": MARCH}
    replaced = ended(known("Acme", "first"), MARCH, **fields)
    verdict = decide(triple("Initech", begins=FEBRUARY), replaced, known("Globex", "second", begins=MARCH))

    assert (verdict.action, verdict.target, verdict.until) == ("insert", "first", MARCH)


def test_a_value_that_begins_in_the_future_leaves_the_present_one_until_then() -> None:
    """The known one is not replaced yet: it only ends when the new one begins."""
    verdict = decide(triple("Globex", begins=AUGUST), known("Acme"))

    assert (verdict.action, verdict.target) == ("insert", "old")


def test_a_value_that_is_over_is_not_confirmed() -> None:
    """A window that ended is not opened again: the same value becomes a new fact."""
    assert decided(triple("Acme"), replace(known("Acme"), valid_until=MARCH)) == ("insert", "")


def test_a_value_that_another_has_ended_does_not_hold() -> None:
    """Of two that compete, the one that won is replaced."""
    near = [
        FactRecord(known("Acme", "lost"), FactEnd(MARCH, "won")),
        FactRecord(known("Globex", "won", begins=MARCH), None),
    ]
    verdict = integrate(triple("Initech"), near, rules=RULES, now=NOW)

    assert (verdict.action, verdict.target) == ("supersede", "won")


def test_the_same_value_with_an_end_of_its_own_is_a_new_version() -> None:
    """That something will be over is news, even when the thing itself is none."""
    candidate = triple("Acme", until=AUGUST)

    assert decided(candidate, known("Acme")) == ("supersede", "old")
    assert decided(candidate, replace(known("Acme"), valid_until=AUGUST)) == ("confirm", "old")


def test_the_same_that_was_so_earlier_ends_where_the_known_one_begins() -> None:
    """That a thing was so before is a fact of its own, up to where the known one takes over."""
    verdict = decide(triple("tea", predicate="likes", begins=JANUARY), known("tea", predicate="likes", begins=MARCH))

    assert (verdict.action, verdict.until) == ("insert", MARCH)


def test_a_value_that_a_later_one_ended_is_known_for_its_time() -> None:
    """Said again of that time it is confirmed; with an end of its own it says something new."""
    facts = (ended(known("Acme"), MARCH), known("Globex", "next", begins=MARCH))

    assert decided(triple("Acme", begins=JANUARY), *facts) == ("confirm", "old")
    assert decided(triple("Acme", begins=JANUARY, until=APRIL), *facts) == ("supersede", "old")


@pytest.mark.requirement("I-57")
def test_the_usual_end_of_an_expiring_fact_is_no_news() -> None:
    """Said again within its days it is confirmed; after them it is a new fact."""
    again = triple("chess", predicate="interested_in", until="2026-08-30T00:00:00Z")
    fresh = replace(known("chess", predicate="interested_in", begins=APRIL), valid_until="2026-06-30T00:00:00Z")

    assert decided(again, fresh) == ("confirm", "old")
    assert decided(again, replace(fresh, valid_until="2026-05-30T00:00:00Z")) == ("insert", "")


@pytest.mark.requirement("I-56")
def test_what_is_temporary_stands_beside_others_and_may_come_again() -> None:
    """A visit ends no home and no other visit; the same visit from another day on is another visit."""
    visit = triple("Rome", predicate="visiting")

    assert decided(visit, known("Berlin", predicate="lives_in")) == ("insert", "")
    assert decided(visit, known("Oslo", predicate="visiting")) == ("insert", "")
    assert decided(visit, known("Rome", predicate="visiting")) == ("confirm", "old")
    assert decided(replace(visit, valid_from=APRIL), known("Rome", predicate="visiting")) == ("insert", "")


@pytest.mark.requirement("I-58")
def test_many_values_of_other_predicates_stand_beside_each_other() -> None:
    """Whoever likes tea may like coffee too."""
    assert decided(triple("tea", predicate="likes"), known("coffee", predicate="likes")) == ("insert", "")


@pytest.mark.requirement("I-59")
@pytest.mark.parametrize(
    ("old", "new", "is_near"),
    [
        ("hiking in the Alps", "hiking in Alps", True),
        ("very strong black coffee", "strong black coffee", True),
        ("black coffee", "strong black coffee", True),
        ("coffee", "very strong black coffee", False),
        ("black coffee beans", "black tea beans", False),
        ("the Berlin office of Acme", "the Munich office of Globex", False),
    ],
)
def test_nearly_the_same_object_is_marked_and_never_merged(old: str, new: str, *, is_near: bool) -> None:
    """From 0.6 of common words on it may be the same value, which somebody who reads both says; both stand."""
    candidate, fact = triple(new, predicate="likes"), known(old, predicate="likes")
    comparison = compare(candidate, [], rules=RULES, now=NOW)

    assert comparison.is_nearly_the_same(FactRecord(fact, None)) == is_near
    assert decided(candidate, fact) == ("insert", "")


@pytest.mark.requirement("I-59")
def test_objects_are_compared_only_after_their_predicates() -> None:
    """The same words of another predicate or another subject are another fact, and not nearly the same."""
    others = (known("black tea", predicate="likes"), replace(known("black tea", predicate="sells"), subject="Ben"))
    candidate = triple("black tea", predicate="sells")
    comparison = compare(candidate, [], rules=RULES, now=NOW)

    assert decided(candidate, *others) == ("insert", "")
    assert not any(comparison.is_nearly_the_same(FactRecord(fact, None)) for fact in others)


@pytest.mark.parametrize(
    "gone",
    [
        {"status": "deleted"},
        {"status": "archived", "place": "archive"},
        {"place": "staging"},
        {"place": "archive"},
    ],
)
def test_what_nobody_stands_by_does_not_count(gone: dict[str, str]) -> None:
    """Forgotten, archived and staged facts neither confirm nor are replaced."""
    assert decided(triple("Acme"), replace(known("Acme"), **gone)) == ("insert", "")  # type: ignore[arg-type]


def test_a_line_of_a_note_is_confirmed_but_never_replaced() -> None:
    """Its writer alone changes it; a new value stands beside it and ends it by its beginning."""
    line = replace(known("Acme"), origin="line", valid_from="", recorded="")

    assert decided(triple("Acme"), line) == ("confirm", "old")
    assert decided(triple("Globex"), line) == ("insert", "old")


@pytest.mark.parametrize("beside", [{"valid_until": AUGUST}, {"fact": "event"}, {"bonds": (("both", "old"),)}])
def test_what_is_said_to_hold_beside_the_known_value_ends_nothing(beside: dict[str, Any]) -> None:
    """An event, what ends on a stated day, and what the caller says holds with others rival no value."""
    assert decided(replace(triple("Globex"), **beside), known("Acme")) == ("insert", "")


@pytest.mark.parametrize("beside", [{"valid_until": AUGUST}, {"fact": "event"}])
def test_a_known_value_that_holds_beside_others_is_not_replaced(beside: dict[str, Any]) -> None:
    """It is an event, or ends by itself."""
    assert decided(triple("Globex"), replace(known("Acme"), **beside)) == ("insert", "")


def test_both_is_said_of_two_values_and_spares_neither_from_a_third() -> None:
    """What holds with another one is replaced like that one, unless the new value is said to hold with it, too."""
    first = known("Acme", "first")
    second = replace(known("Globex", "second", begins=MARCH), bonds=(("both", "first"), ("both", "a song")))
    third = triple("Initech")

    verdict = decide(third, first, second)
    assert (verdict.action, {verdict.target, *verdict.also}) == ("supersede", {"first", "second"})
    verdict = decide(replace(third, bonds=(("both", "second"),)), first, second)
    assert (verdict.target, verdict.also) == ("first", ("first",))


def test_both_with_something_else_leaves_the_other_value_to_be_replaced() -> None:
    """It is no word about the value that is known."""
    assert decided(replace(triple("Globex"), bonds=(("both", "a song"),)), known("Acme")) == ("supersede", "old")


def test_what_was_said_earlier_ends_nothing_that_was_recorded_later() -> None:
    """Only a stated beginning outranks what is known; else it is part of the past, and holds at no moment."""
    verdict = decide(replace(triple("Acme"), said=FEBRUARY), known("Globex", begins=JANUARY, recorded=MARCH))

    assert (verdict.action, verdict.target, verdict.until) == ("insert", "", FEBRUARY)


def test_what_was_said_earlier_is_ended_by_what_begins_later() -> None:
    """The known value begins after the words were said, and ends them then."""
    verdict = decide(replace(triple("Acme"), said=FEBRUARY), known("Globex", begins=MARCH))

    assert (verdict.action, verdict.target, verdict.until) == ("insert", "", MARCH)


def test_a_stated_beginning_outranks_what_was_recorded_later() -> None:
    """Who says since when it holds is not guessed at."""
    candidate = replace(triple("Acme", begins=MARCH), said=FEBRUARY)

    assert decided(candidate, known("Globex", begins=JANUARY, recorded=APRIL)) == ("supersede", "old")


def undated(object: str, id: str = "old", *, recorded: str, **fields: Any) -> Fact:
    """What is known of Ada, without a word about when it began."""
    return replace(known(object, id, begins="", recorded=recorded), **fields)


@pytest.mark.parametrize("begins", ["2026-03-01T00:00:00Z", JANUARY])
def test_a_stated_beginning_outranks_one_that_is_only_the_moment_of_recording(begins: str) -> None:
    """ "Since today" or "since January", said later: when the known value was written down says nothing of before."""
    verdict = decide(triple("Globex", begins=begins), undated("Acme", recorded="2026-03-01T15:01:00Z"))

    assert (verdict.action, verdict.target, verdict.until) == ("supersede", "old", "")
    assert verdict.reason == "`works_at` has one value at a time, and this one was said later."


def test_what_states_a_later_beginning_or_was_said_later_is_not_outranked() -> None:
    """Then the new value is part of the past, up to there."""
    past = triple("Globex", begins=JANUARY)
    cases = [
        decide(past, known("Acme", begins=MARCH)),
        decide(replace(past, said=FEBRUARY), undated("Acme", recorded=MARCH)),
        decide(past, undated("Globex", recorded=MARCH)),
    ]

    assert [(each.action, each.target, each.until) for each in cases] == [("insert", "", MARCH)] * 3


def test_what_was_learned_states_no_beginning_by_the_moment_of_its_message() -> None:
    """It begins as it was said; a day that it names is another thing."""
    learned = undated("Acme", recorded=APRIL, valid_from="2026-03-01T09:30:00Z", origins=Origins(trust="mined"))

    assert decided(triple("Globex", begins=JANUARY), learned) == ("supersede", "old")
    assert decided(triple("Globex", begins=JANUARY), replace(learned, valid_from=MARCH)) == ("insert", "")


def test_all_values_without_a_stated_beginning_since_then_are_outranked() -> None:
    """A chain that nobody dated ends where the stated value begins, up to the next one that is dated."""
    fields = {"status": "superseded", "place": "archive", "superseded_by": "second", "superseded_at": APRIL}
    chain = (ended(undated("Acme", "first", recorded=MARCH), APRIL, **fields), undated("Ci", "second", recorded=APRIL))

    verdict = decide(triple("Globex", begins=FEBRUARY), *chain)
    assert (verdict.target, {*verdict.also}, verdict.until) == ("second", {"first", "second"}, "")
    dated = ended(known("Do", "dated", begins="2026-03-15T00:00:00Z"), APRIL, **fields)
    verdict = decide(triple("Globex", begins=FEBRUARY), *chain, dated)
    assert (verdict.target, {*verdict.also}, verdict.until) == ("first", {"first"}, "2026-03-15T00:00:00Z")


def test_the_same_words_confirm() -> None:
    """A statement is recognised by its words alone."""
    assert decided(Candidate(text="i like coffee"), statement("I like coffee.")) == ("confirm", "old")


def test_the_same_words_of_another_subject_are_another_fact() -> None:
    """What two notes say of themselves is not the same."""
    fact = replace(statement("Uses tabs."), subject="Acme")

    assert decided(Candidate(text="Uses tabs.", subject="Globex"), fact) == ("insert", "")
    assert decided(Candidate(text="Uses tabs."), fact) == ("confirm", "old")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Is an engineer.", "Is a senior engineer."),
        ("Is allergic to nuts.", "Is allergic to nuts, but not to peanuts."),
        ("Ben purchased a bike.", "Ben bought a bike."),
        ("I like cilantro.", "I do not like cilantro."),
        ("Ben lives in Berlin.", "Ben lives in Hamburg."),
        ("Ben lives in Berlin.", "Ben now lives in Hamburg; he has moved from Berlin."),
        ("The server room stays < 25 degrees.", "The server room stays > 25 degrees."),
        ("Rule: never force-push to main.", "Rule: squash commits before merging."),
        ("Nora is allergic to penicillin.", "Nora stopped smoking last year."),
    ],
)
def test_a_statement_neither_repeats_nor_ends_another_one(old: str, new: str) -> None:
    """A restriction, another value, the opposite, other words for the same: all stand until somebody reads both."""
    assert decided(Candidate(text=new), statement(old)) == ("insert", "")


def test_no_sentence_is_read_as_a_triple() -> None:
    """A statement ends no triple, and a triple no statement."""
    assert decided(Candidate(text="Ada works at Globex now."), known("Acme")) == ("insert", "")
    assert decided(triple("Globex"), statement("Ada works at Acme.")) == ("insert", "")


def test_the_same_words_with_an_end_of_their_own_are_a_new_version() -> None:
    """Until when it holds is news, so a statement that adds an end is not merely confirmed."""
    candidate, fact = Candidate(text="Ben has a bike.", valid_until=AUGUST), statement("Ben has a bike.")

    assert decided(candidate, fact) == ("supersede", "old")
    assert decided(candidate, replace(fact, valid_until=AUGUST)) == ("confirm", "old")
    assert decided(candidate, replace(fact, origin="line")) == ("insert", "")


def test_the_same_event_is_the_same_only_on_the_same_day() -> None:
    """Events may come again, and so may what is said without a day."""
    ran = replace(statement("Ran a marathon."), fact="event", valid_from=JANUARY)
    again = Candidate(text="Ran a marathon.", fact="event", valid_from="2026-01-01T18:00:00Z")

    assert decided(again, ran) == ("confirm", "old")
    assert decided(replace(again, valid_from=APRIL), ran) == ("insert", "")
    assert decided(replace(again, valid_from=""), ran) == ("insert", "")


def test_words_that_meant_another_day_are_not_repeated() -> None:
    """ "The dentist is tomorrow" says another thing every day."""
    records = [FactRecord(statement("The dentist is tomorrow."), None)]
    candidate = Candidate(text="The dentist is tomorrow.")

    assert integrate(candidate, records, rules=RULES, now=NOW).action == "confirm"
    assert integrate(candidate, records, rules=RULES, now=NOW, other_days=frozenset({"old"})).action == "insert"


def test_words_that_mean_another_day_later_do_not_end_those_that_were_said_earlier() -> None:
    """What is learned late stands beside the same words that were said since."""
    later = replace(statement("Is ill today."), recorded=MARCH)
    candidate, records = Candidate(text="Is ill today.", said=FEBRUARY), [FactRecord(later, None)]

    assert integrate(candidate, records, rules=RULES, now=NOW, other_days=frozenset({"old"})).until == ""


@pytest.mark.parametrize(
    ("bond", "action"),
    [("update", "supersede"), ("extend", "extend"), ("derive", "derive"), ("contradict", "contradict")],
)
def test_a_bond_that_the_caller_states_is_kept(bond: Bond, action: str) -> None:
    """Whoever says how a statement stands to another is believed."""
    verdict = decide(Candidate(text="Ben sings.", bonds=((bond, "other"),)), statement("Ben paints."))

    assert (verdict.action, verdict.target) == (action, "other")


def test_of_several_stated_bonds_the_replacement_comes_first() -> None:
    """It is what happens to the other entry."""
    bonds: tuple[tuple[Bond, str], ...] = (("derive", "one"), ("both", "two"), ("update", "three"))

    assert decided(Candidate(text="Ben sings.", bonds=bonds)) == ("supersede", "three")


@pytest.mark.parametrize("bond", ["update", "extend", "derive", "contradict"])
def test_a_stated_bond_to_something_else_hides_no_ending_of_the_other_value(bond: Bond) -> None:
    """The value before is among what ends, whatever else the new one is said to stand to."""
    verdict = decide(replace(triple("Globex"), bonds=((bond, "other"),)), known("Acme"))

    assert verdict.action == "supersede"
    assert "old" in (verdict.target, *verdict.also)
    assert (verdict.target == "other") == (bond == "update")


def test_what_is_said_to_replace_the_other_value_ends_it_once() -> None:
    """The caller says what follows from the triple alone."""
    verdict = decide(replace(triple("Globex"), bonds=(("update", "old"),)), known("Acme"))

    assert (verdict.action, verdict.target, verdict.also) == ("supersede", "old", ())


def test_the_same_words_are_known_whatever_bond_is_stated() -> None:
    """What is known already is not said twice."""
    candidate = Candidate(text="I like coffee.", bonds=(("derive", "other"),))

    assert decided(candidate, statement("I like coffee.")) == ("confirm", "old")


def test_reasons_are_sentences_that_quote_nothing() -> None:
    """A reason stands in other notes and in the audit: it must not keep what is erased."""
    cases = [
        decide(triple("Globex"), known("Acme")),
        decide(triple("Acme"), known("Acme")),
        decide(triple("Globex", begins=AUGUST), known("Acme")),
        decide(replace(triple("Globex"), said=FEBRUARY), known("Acme", recorded=MARCH)),
        decide(Candidate(text="I do not like coffee."), statement("I like coffee.")),
        decide(triple("senior engineer", predicate="likes"), known("engineer", predicate="likes")),
    ]

    for verdict in cases:
        assert verdict.reason[0].isupper() or verdict.reason[0] == "`"
        assert verdict.reason.endswith(".")
        assert not any(word in verdict.reason for word in SECRET_WORDS)
