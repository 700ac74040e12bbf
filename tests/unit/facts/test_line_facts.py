"""Structured lines as facts."""

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.line_facts import line_facts
from commonplace.facts.triples import Predicates
from commonplace.model import Candidate, Fact, Origins
from commonplace.notes import parse

RULES = FactRules()


def facts_of(text: str, *, path: str = "People/Ada.md", user: str = "me") -> tuple[Fact, ...]:
    note = parse(text.encode(), path=path, mtime=1e9)
    return line_facts(note, place="", sensitive=False, rules=FactRules(user=user))


def test_a_statement_is_a_fact_about_its_note() -> None:
    """Its kind is the word in brackets, its topics the tags at its end, its source the note."""
    (fact,) = facts_of("# H\n\n- [Insight] sleeps *little* #health #health\n")

    assert fact == Fact(
        id=fact.id,
        path="People/Ada.md",
        line=3,
        origin="line",
        text="sleeps *little*",
        kind="insight",
        fact="fact",
        topics=("health",),
        subject="Ada",
        origins=Origins(trust="read"),
        fingerprint=RULES.fingerprint(Candidate(text="Sleeps *little*.")),
    )


def test_a_relation_is_a_triple_from_note_to_note() -> None:
    """The name of the link's target is the object, whatever the link shows."""
    (fact,) = facts_of("- works at [[Companies/Acme|the firm]] #work\n")

    assert (fact.subject, fact.predicate, fact.object) == ("Ada", "works_at", "Acme")
    assert (fact.text, fact.kind, fact.topics) == ("works at [[Companies/Acme]]", "", ("work",))
    assert fact.fingerprint == RULES.fingerprint(
        Candidate(text="", subject="ada", predicate="works_at", object="[[acme]]")
    )


def test_facts_come_in_the_order_of_their_lines() -> None:
    """Statements and relations alike."""
    facts = facts_of("- knows [[Bob]]\n- [fact] tall\n- knows [[Eve]]\n")

    assert [each.line for each in facts] == [1, 2, 3]


def test_a_line_keeps_its_id_while_its_words_stay() -> None:
    """Lines before it, topics and other keys do not matter; its words, its note and its owner do."""
    (first,) = facts_of("- [fact] tall\n")
    (moved,) = facts_of("---\nmood: sunny\n---\n# H\n\n- [Fact] tall #looks\n")
    others = [*facts_of("- [fact] short\n"), *facts_of("- [idea] tall\n")]
    others += [*facts_of("- [fact] tall\n", path="People/Bob.md"), *facts_of("- [fact] tall\n", user="other")]

    assert moved.id == first.id
    assert len({first.id, *(each.id for each in others)}) == 5


def test_lines_that_are_alike_have_ids_of_their_own() -> None:
    """When one of them goes, the first id stays."""
    twice = facts_of("- knows [[Bob]]\n- knows [[Bob]]\n")
    (once,) = facts_of("- knows [[Bob]]\n")

    assert len({each.id for each in twice}) == 2
    assert twice[0].id == once.id


def test_a_line_was_updated_when_its_note_says_and_recorded_nobody_knows_when() -> None:
    """A note may be older than its lines. The file's time says nothing: it differs from copy to copy."""
    (dated,) = facts_of("---\ncreated: 2026-03-01\nupdated: 2026-04-01T10:00:00+02:00\n---\n- [fact] tall\n")
    (bare,) = facts_of("---\nupdated: long ago\n---\n- [fact] tall\n")

    assert (dated.recorded, dated.begins, dated.updated) == ("", "", "2026-04-01T08:00:00Z")
    assert (bare.recorded, bare.updated) == ("", "")


@pytest.mark.parametrize("text", ["", "- plain\n", "- [ ] task\n", "```\n- [fact] code\n```\n"])
def test_other_lines_are_no_facts(text: str) -> None:
    """Only structured lines outside code count."""
    assert facts_of(text) == ()


def test_a_hand_made_note_among_entries_has_facts_by_its_lines() -> None:
    """Without an id it is no entry."""
    assert len(facts_of("- [fact] tall\n", path="Agent/Memory/notes.md")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "- [tip] rinse it first",
        "- [Decision] paint it green",
        "- [tasting] smells of pears #cider",
        "- reports_to [[Bob]]",
        "- reports to [[Bob]]",
        "- interested in [[Bees]]",
        "- sails with [[Bob]] #boats",
    ],
)
def test_a_line_that_shows_what_it_is_becomes_a_fact(line: str) -> None:
    """By a known kind or predicate, a predicate with an underscore, or a topic."""
    assert len(facts_of(f"{line}\n")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "- [Miller] could not have known that",
        "- [Miller] could not have known that #history",
        "- [miller] will send the draft around",
        "- a [[person]]",
        "- by [[Miller]]",
        "- read [[Dune]]",
        "- progress bar for [[imports]]",
        "- see also [[Dune]]",
    ],
)
def test_a_line_of_an_ordinary_list_is_no_fact(line: str) -> None:
    """Who spoke, words added to a quotation, keywords and to-dos look like structured lines."""
    assert facts_of(f"{line}\n") == ()


def test_plain_words_in_a_diary_are_not_about_the_day() -> None:
    """A line that names its predicate as such still counts."""
    text = "- uses [[Dune]]\n- part_of [[Week 7]]\n"

    assert [each.predicate for each in facts_of(text, path="Journal/2026-02-11.md")] == ["part_of"]
    assert [each.predicate for each in facts_of(text, path="Journal/2026-02-11 Review.md")] == ["uses", "part_of"]


def test_predicates_of_the_settings_are_known() -> None:
    """Plain words for them are enough."""
    note = parse(b"- rents from [[Bob]]\n", path="People/Ada.md", mtime=1e9)
    rules = FactRules(Predicates(single=frozenset({"rents_from"})))

    assert line_facts(note, place="", sensitive=False, rules=RULES) == ()
    assert len(line_facts(note, place="", sensitive=False, rules=rules)) == 1
