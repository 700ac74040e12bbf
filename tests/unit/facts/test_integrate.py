"""Integration: what becomes of a candidate that meets what is known."""

from dataclasses import replace
from typing import get_args

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.integrate import integrate
from commonplace.model import Action, Bond, Candidate, Fact, FactEnd, FactRecord, Origin, SimilarFact, Verdict

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


def known(object: str, id: str = "old", *, predicate: str = "works_at", begins: str = JANUARY) -> Fact:
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
        recorded=begins,
    )


def statement(text: str, id: str = "old") -> Fact:
    """A statement that is known."""
    return Fact(id=id, path=f"{id}.md", line=1, origin="entry", text=text, recorded=JANUARY)


def decide(candidate: Candidate, *facts: Fact, cosine: float | None = None) -> Verdict:
    """The verdict on the candidate beside these facts."""
    near = [SimilarFact(FactRecord(fact, None), cosine) for fact in facts]
    return integrate(candidate, near, rules=RULES, now=NOW)


def decided(candidate: Candidate, *facts: Fact, cosine: float | None = None) -> tuple[Action, str]:
    """The action and its target."""
    verdict = decide(candidate, *facts, cosine=cosine)
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
    facts = (replace(known("Acme", "first"), valid_until=MARCH), known("Globex", "second", begins=MARCH))
    verdict = decide(triple("Initech", begins=FEBRUARY), *facts)

    assert (verdict.action, verdict.target, verdict.until) == ("supersede", "first", MARCH)


def test_a_value_that_ends_before_the_next_begins_keeps_its_end() -> None:
    """Its own window is shorter than the gap."""
    verdict = decide(triple("Initech", begins=JANUARY, until=FEBRUARY), known("Acme", begins=MARCH))

    assert (verdict.action, verdict.until) == ("insert", "")


def test_a_value_within_the_time_of_a_replaced_one_ends_that_one() -> None:
    """The replaced fact keeps its status, and its window ends when the candidate begins."""
    replaced = replace(
        known("Acme", "first"),
        status="superseded",
        place="archive",
        valid_until=MARCH,
        superseded_by="second",
        superseded_at=MARCH,
    )
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
        SimilarFact(FactRecord(known("Acme", "lost"), FactEnd(MARCH, "won")), None),
        SimilarFact(FactRecord(known("Globex", "won", begins=MARCH), None), None),
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


def test_an_end_that_a_later_value_cut_short_is_no_news() -> None:
    """Said again with its longer end, a value that ends where the next begins is confirmed."""
    facts = (replace(known("Acme"), valid_until=MARCH), known("Globex", "next", begins=MARCH))

    assert decided(triple("Acme", begins=JANUARY, until=APRIL), *facts) == ("confirm", "old")


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
    ("old", "new", "action"),
    [
        ("hiking in the Alps", "hiking in Alps", "confirm"),
        ("very strong black coffee", "strong black coffee", "confirm"),
        ("black coffee", "strong black coffee", "supersede"),
        ("coffee", "very strong black coffee", "insert"),
        ("dark roast coffee beans", "light roast coffee beans", "insert"),
        ("the Berlin office of Acme", "the Munich office of Acme", "insert"),
        ("the 3 old oak trees", "the 4 old oak trees", "insert"),
        ("long walks with dogs", "long walks without dogs", "insert"),
    ],
)
def test_nearly_the_same_object_is_the_same_value(old: str, new: str, action: str) -> None:
    """From 0.6 of common words on: fewer words confirm, more words replace; another value stands beside it."""
    assert decide(triple(new, predicate="likes"), known(old, predicate="likes")).action == action


@pytest.mark.requirement("I-59")
def test_objects_are_compared_only_after_their_predicates() -> None:
    """The same words of another predicate or another subject are another fact."""
    assert decided(triple("black tea", predicate="sells"), known("black tea", predicate="likes")) == ("insert", "")
    other = replace(known("black tea", predicate="likes"), subject="Ben")
    assert decided(triple("black tea", predicate="likes"), other) == ("insert", "")


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


def test_the_same_words_confirm() -> None:
    """A statement is recognised by its words, without asking how near it is in meaning."""
    assert decided(Candidate(text="i like **coffee**"), statement("I like coffee.")) == ("confirm", "old")


def test_the_same_words_of_another_subject_are_another_fact() -> None:
    """What two notes say of themselves is not the same."""
    fact = replace(statement("Uses tabs."), subject="Acme")

    assert decided(Candidate(text="Uses tabs.", subject="Globex"), fact, cosine=1.0) == ("insert", "")


@pytest.mark.parametrize(
    ("old", "new", "cosine", "action"),
    [
        ("Is an engineer.", "Is a senior engineer.", 0.85, "supersede"),
        ("Ben purchased a bike.", "Ben bought a bike.", 0.98, "confirm"),
        ("The user prefers concise answers.", "I prefer concise answers.", 0.73, "confirm"),
        ("Ben lives in Berlin.", "Ben lives in Berlin Mitte.", 0.95, "supersede"),
        ("I like cilantro.", "I do not like cilantro.", 0.88, "supersede"),
        ("We deploy on Tuesdays.", "We deploy on Thursdays.", 0.91, "supersede"),
        ("Ben lives in Berlin.", "Ben lives in Hamburg.", 0.84, "supersede"),
        ("I prefer tabs over spaces.", "I prefer spaces over tabs.", 0.98, "supersede"),
        ("Clara lives in Lisbon.", "Clara lives in Lisbon near the river with her cats.", 0.82, "supersede"),
        ("Ada manages Bob.", "Bob manages Ada.", 0.97, "extend"),
        ("Ben prefers red wine.", "Ben prefers white wine.", 0.89, "supersede"),
        ("Ben drinks red wine with fish.", "Ben cooks with red wine.", 0.78, "extend"),
        ("My sister lives in Lisbon.", "My brother lives in Lisbon.", 0.88, "insert"),
        ("Ada works at Acme.", "Ada went to university in Uppsala.", 0.46, "insert"),
    ],
)
def test_a_statement_near_in_meaning_is_weighed_by_its_words(old: str, new: str, cosine: float, action: str) -> None:
    """The same in other words confirms, the same and more replaces; what differs becomes a version with an edge."""
    assert decide(Candidate(text=new), statement(old), cosine=cosine).action == action


@pytest.mark.parametrize(
    ("new", "action"),
    [
        ("Ada Byron has a dog called Rex.", "confirm"),
        ("Ada has a dog called Rex.", "confirm"),
        ("Ada Lindqvist has a dog called Rex.", "insert"),
        ("Ben has a dog called Rex.", "insert"),
    ],
)
def test_the_name_of_the_user_is_the_user(new: str, action: str) -> None:
    """In full or the first name alone; another family name is another person."""
    rules = FactRules(user="Ada Byron")
    similar = [SimilarFact(FactRecord(statement("Has a dog called Rex."), None), 0.85)]

    assert integrate(Candidate(text=new), similar, rules=rules, now=NOW).action == action


def test_the_same_in_other_words_with_an_end_of_its_own_is_a_new_version() -> None:
    """Until when it holds is news, so a statement that adds an end is not merely confirmed."""
    candidate, fact = Candidate(text="Ben bought a bike.", valid_until=AUGUST), statement("Ben purchased a bike.")

    assert decided(candidate, fact, cosine=0.98) == ("supersede", "old")
    assert decided(candidate, replace(fact, valid_until=AUGUST), cosine=0.98) == ("confirm", "old")
    assert decided(candidate, replace(fact, origin="line"), cosine=0.98) == ("extend", "old")


@pytest.mark.requirement("V-17")
def test_only_what_is_near_and_shares_a_topic_is_grey() -> None:
    """A model is asked only where meaning and topic are near and no word says that something changed."""
    fact = replace(statement("Ben lives in Berlin."), topics=("home",))
    moved = Candidate(text="Ben lives in Hamburg.", topics=("Home", "family"))

    assert decide(moved, fact, cosine=0.84).is_grey
    assert not decide(replace(moved, text="Ben now lives in Hamburg."), fact, cosine=0.84).is_grey
    assert decide(replace(moved, topics=("work",)), fact, cosine=0.84) == decide(moved)
    assert not decide(Candidate(text="Ben lives in Berlin Mitte."), fact, cosine=0.95).is_grey


def test_the_same_subject_is_as_good_as_a_common_topic() -> None:
    """Two statements about one thing compare whatever their topics."""
    fact = replace(statement("It runs on port 8080."), topics=("network",), subject="Staging")
    candidate = Candidate(text="It runs on port 9090.", topics=("servers",), subject="[[staging]]")

    assert decided(candidate, fact, cosine=0.9) == ("supersede", "old")


@pytest.mark.parametrize(
    ("one", "other", "compares"),
    [("", "idea", True), ("fact", "insight", True), ("idea", "fact", False), ("mine", "yours", False)],
)
def test_kinds_of_one_family_compare(one: str, other: str, compares: bool) -> None:
    """An idea does not confirm a fact; an entry without a kind may be of any."""
    fact = replace(statement("Ben bought a bike."), kind=other)
    verdict = decide(Candidate(text="Ben purchased a bike.", kind=one), fact, cosine=0.98)

    assert (verdict.action == "confirm") is compares


def test_a_statement_does_not_replace_a_triple() -> None:
    """It would lose the triple: what says more only adds to it."""
    candidate = Candidate(text="Ada works_at Acme in Ulm.")

    assert decided(candidate, known("Acme"), cosine=0.95) == ("extend", "old")


def test_without_meaning_words_alone_decide() -> None:
    """With no encoder there is no cosine, and from 0.6 of common words on the words are weighed."""
    fact = statement("Ben lives in Berlin.")

    assert decided(Candidate(text="Ben lives in Berlin Mitte."), fact) == ("supersede", "old")
    assert decided(Candidate(text="Ben moved away."), fact) == ("insert", "")


def test_the_best_of_several_counts() -> None:
    """What says the same counts before what it adds to or speaks against."""
    facts = (
        statement("Ben lives in Hamburg.", "against"),
        statement("Ben lives in Berlin now.", "same"),
        statement("Ben likes living in Berlin.", "near"),
    )

    assert decided(Candidate(text="Ben lives in Berlin."), *facts, cosine=0.9) == ("confirm", "same")


def test_the_same_event_on_another_day_is_another_event() -> None:
    """Events may come again; without a day of its own the same words confirm."""
    ran = replace(statement("Ran a marathon."), fact="event", valid_from=JANUARY)
    again = Candidate(text="Ran a marathon.", fact="event", valid_from=APRIL)

    assert decided(again, ran) == ("insert", "")
    assert decided(replace(again, valid_from=""), ran) == ("confirm", "old")


@pytest.mark.parametrize(
    ("bond", "action"), list(zip(get_args(Bond), ("supersede", "extend", "derive", "contradict"), strict=True))
)
def test_a_bond_that_the_caller_states_is_kept(bond: Bond, action: str) -> None:
    """Whoever says how a statement stands to another is believed; there is nothing to ask a model."""
    verdict = decide(Candidate(text="Ben sings.", bonds=((bond, "other"),)), statement("Ben paints."), cosine=0.6)

    assert (verdict.action, verdict.target, verdict.is_grey) == (action, "other", False)


def test_a_stated_bond_neither_repeats_what_is_known_nor_keeps_two_values() -> None:
    """The same words still confirm, and a single value still replaces the old one."""
    bonds: tuple[tuple[Bond, str], ...] = (("derive", "other"),)
    same = Candidate(text="I like coffee.", bonds=bonds)

    assert decided(same, statement("I like coffee.")) == ("confirm", "old")
    assert decided(replace(triple("Globex"), bonds=bonds), known("Acme")) == ("supersede", "old")


@pytest.mark.parametrize("bond", ["extend", "derive"])
@pytest.mark.parametrize(("origin", "action"), [("entry", "supersede"), ("line", "contradict")])
def test_what_is_said_to_add_still_replaces_what_it_changes(bond: Bond, origin: Origin, action: str) -> None:
    """Nobody puts another value beside a known one by calling it an addition."""
    candidate = Candidate(text="The server listens on port 9090.", bonds=((bond, "other"),))
    fact = replace(statement("The server listens on port 8080."), origin=origin)

    assert decided(candidate, fact, cosine=0.9) == (action, "old")


@pytest.mark.parametrize("user", ["", "  "])
def test_a_user_without_a_name_is_nobody_in_a_statement(user: str) -> None:
    """Every text begins with an empty name."""
    near = [SimilarFact(FactRecord(statement("Drinks tea."), None), 0.9)]

    verdict = integrate(Candidate(text="Drinks no tea."), near, rules=replace(RULES, user=user), now=NOW)

    assert verdict.action == "supersede"


def test_a_fact_without_words_is_not_compared() -> None:
    """An entry of dots neither repeats nor changes anything."""
    assert decided(Candidate(text="The server's port is 8080."), statement("..."), cosine=0.6) == ("insert", "")


def test_reasons_are_sentences_that_quote_nothing() -> None:
    """A reason stands in other notes and in the audit: it must not keep what is erased."""
    cases = [
        decide(triple("Globex"), known("Acme")),
        decide(triple("Acme"), known("Acme")),
        decide(triple("Globex", begins=AUGUST), known("Acme")),
        decide(Candidate(text="I do not like coffee."), statement("I like coffee."), cosine=0.9),
        decide(triple("senior engineer", predicate="likes"), known("engineer", predicate="likes")),
    ]

    for verdict in cases:
        assert verdict.reason[0].isupper() or verdict.reason[0] == "`"
        assert verdict.reason.endswith(".")
        assert not any(word in verdict.reason for word in SECRET_WORDS)


@pytest.mark.parametrize(
    ("known_text", "action"),
    [("Moved to Bergen in November 2026.", "insert"), ("Lives in Oslo.", "supersede")],
)
def test_what_was_once_ends_only_what_names_the_same_thing(known_text: str, action: Action) -> None:
    """ "Used to live in Oslo" says that Oslo is over, and nothing about Bergen."""
    assert decide(Candidate(text="Used to live in Oslo."), statement(known_text), cosine=0.6).action == action
