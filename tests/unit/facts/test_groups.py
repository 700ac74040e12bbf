"""Groups of entries of which nobody has said how they relate."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import pytest

from commonplace.facts.claims import FactRules
from commonplace.facts.groups import (
    DISPUTES,
    Group,
    about_others,
    giving_way,
    groups_of,
    near_from,
    near_words_from,
    newest_of,
    said_last,
)
from commonplace.model import Fact, Origins

RULES = FactRules(user="simon")
AGENT = Origins("mcp", trust="said")


def entry(id: str, *, day: int = 1, **fields: Any) -> Fact:
    """An entry that was recorded on that day of March."""
    given = {"text": f"Statement {id}.", "recorded": f"2026-03-{day:02d}T09:00:00Z", **fields}
    return Fact(id=id, path=f"{id}.md", line=0, origin="entry", **given)


def groups(*facts: Fact, near: Iterable[tuple[str, str]] | None = None) -> list[list[str]]:
    """The ids of each group; all are near to each other unless others are given."""
    pairs = combinations([fact.id for fact in facts], 2) if near is None else near
    return [[fact.id for fact in each.entries] for each in groups_of(facts, pairs, rules=RULES)]


def test_what_is_said_in_other_words_each_week_is_one_group_newest_first() -> None:
    """Of 52, not 1,326 pairs, also if one in six of them is not near to the newest."""
    facts = [replace(entry(f"{week:02d}"), recorded=f"2026-01-01T{week:06d}") for week in range(52)]
    ids = [fact.id for fact in reversed(facts)]
    near = [(one, other) for one, other in combinations(ids, 2) if (int(one) + int(other)) % 6]

    assert groups(*facts) == [ids]
    assert groups(*facts, near=near) == [ids]


def test_a_group_does_not_grow_along_a_chain() -> None:
    """Each of nine is near to the next alone: no group has more than two of them, and none is in two groups."""
    facts = [entry(f"{number}", day=number) for number in range(1, 10)]
    found = groups(*facts, near=pairwise([fact.id for fact in facts]))

    assert found == [["9", "8"], ["7", "6"], ["5", "4"], ["3", "2"]]


def test_the_order_of_what_is_given_makes_no_difference() -> None:
    """Neither of the entries nor of the pairs."""
    facts = [entry(f"{number}", day=number % 3 + 1) for number in range(6)]
    near = [*combinations([fact.id for fact in facts], 2)][::2]

    assert groups(*facts, near=near) == groups(*reversed(facts), near=[(two, one) for one, two in reversed(near)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (entry("a", fact="event"), entry("b")),
        (entry("a", valid_until="2026-12-01T00:00:00Z"), entry("b")),
        (entry("a"), entry("b", bonds=(("both", "a"),))),
        (entry("a", bonds=(("extend", "b"),)), entry("b")),
        (entry("a"), entry("b", supersedes="a")),
        (entry("a", superseded_by="b"), entry("b")),
        (entry("a", subject="Ada"), entry("b", subject="Bob")),
        (entry("a", kind="procedural"), entry("b")),
        (entry("a", subject="Ada", predicate="likes", object="tea"), entry("b", predicate="lives_in", object="York")),
        (entry("a", predicate="likes", object="black tea"), entry("b", predicate="likes", object="oat milk")),
    ],
    ids=["event", "stated end", "both", "extends", "version", "replaced", "subject", "playbook", "relation", "object"],
)
def test_what_rivals_nothing_is_settled_or_is_about_something_else_is_of_no_group(one: Fact, other: Fact) -> None:
    """However near it is."""
    assert groups(one, other) == []


def said(*texts: str) -> list[Fact]:
    """An entry for each text, the newest last; the text is its id."""
    return [replace(entry(text, day=day), text=text) for day, text in enumerate(texts, start=1)]


def test_first_words_that_several_words_follow_are_subjects_and_entries_of_two_are_of_no_group() -> None:
    """Ada lives and plays, and so does Ben; what is said of one of them again is of a group."""
    facts = said("Ada lives in Rome.", "Ben lives in Rome.", "Ada plays chess.", "Ben plays chess.", "Ben plays go.")

    assert groups(*facts, near=combinations([fact.id for fact in facts[2:]], 2)) == [
        ["Ben plays go.", "Ben plays chess."]
    ]
    assert groups(*facts[1:3], *facts[3:4], near=[(facts[2].id, facts[3].id)]) == [
        ["Ben plays chess.", "Ada plays chess."]
    ]


def test_a_verb_begins_no_subject() -> None:
    """Somebody prefers something and likes something: the two words are no names."""
    facts = said("Ada prefers tea and likes it.", "Likes tea.", "Prefers tea.", "Likes chess.", "Prefers chess.")

    assert groups(*facts, near=[("Likes tea.", "Prefers tea.")]) == [["Prefers tea.", "Likes tea."]]


def test_an_entry_that_begins_with_a_name_that_was_asked_for_is_of_no_group_with_one_without_it() -> None:
    """It answers, and the other does not. A name inside an entry is a value."""
    facts = said("Amadi's allergy is to nuts.", "Amari is allergic to milk.", "Amadi was tested in Leeds.")
    near = [*combinations([fact.id for fact in facts], 2)]

    def asked(*names: str) -> list[list[str]]:
        found = groups_of(facts, near, rules=RULES, names=frozenset(names))
        return [[fact.id for fact in each.entries] for each in found]

    assert asked("amadi") == [[facts[2].id, facts[0].id]]
    assert asked("leeds") == [[fact.id for fact in reversed(facts)]]


def test_what_begins_with_another_name_than_those_asked_for_is_about_others() -> None:
    """Unless it shares a name with what has one of those, or nothing begins with one of them."""
    lea, aino, chess, we = facts = said(
        "Léa has gone home; Tuomas stays in the guest room.",
        "Aino took the guest room over from Tuomas.",
        "Ben plays chess in the guest room.",
        "We're painting the guest room.",
    )

    assert about_others(facts, frozenset({"léa"})) == {chess.id}
    assert about_others([aino, chess, we], frozenset({"léa"})) == frozenset()
    assert about_others(facts, frozenset()) == frozenset()
    assert lea.id not in about_others(facts, frozenset({"léa"}))


def test_two_nearly_equal_triples_are_of_one_group() -> None:
    """The same subject and relation, and most words of the object."""
    one = entry("a", subject="Ada", predicate="likes", object="strong black tea", day=1)

    assert groups(one, replace(one, id="b", object="black tea", recorded="2026-03-02")) == [["b", "a"]]


def test_an_end_that_another_entry_caused_is_no_stated_one() -> None:
    """It is a value among others again when that one is gone."""
    ended = entry("a", valid_until="2026-12-01T00:00:00Z", invalidated_at="2026-03-02T09:00:00Z")

    assert groups(ended, entry("b", day=2)) == [["b", "a"]]


@pytest.mark.parametrize("bond", ["end", "contradict"])
def test_what_speaks_against_another_entry_is_of_its_group_however_far_it_is(bond: Any) -> None:
    """Unless the pairs of that bond are asked about elsewhere, as endings are that wait for the person."""
    facts = [entry("a"), entry("b", day=2, bonds=((bond, "a"),))]

    assert groups(*facts, near=()) == [["b", "a"]]
    assert groups_of(facts, [("a", "b")], rules=RULES, disputes=DISPUTES - {bond}) == ()


def test_the_newest_is_what_was_said_or_confirmed_last() -> None:
    """Oslo, Bergen, Oslo again; on one day, too, where the moment of the confirmation is known."""
    oslo, bergen = entry("oslo", day=1), entry("bergen", day=3)
    again = replace(oslo, confirmed=("2026-03-05",), updated="2026-03-05T10:00:00Z")
    same_day = replace(oslo, confirmed=("2026-03-03",), updated="2026-03-03T09:00:01Z")
    edited = replace(again, confirmed=("2026-03-02",))

    assert groups(oslo, bergen) == [["bergen", "oslo"]]
    assert groups(again, bergen) == [["oslo", "bergen"]]
    assert groups(same_day, bergen) == [["oslo", "bergen"]]
    assert groups(edited, bergen) == [["bergen", "oslo"]]
    assert [said_last(each)[:10] for each in (oslo, again, edited)] == ["2026-03-01", "2026-03-05", "2026-03-02"]


def test_what_was_said_earlier_and_learned_later_is_older() -> None:
    """The moment at which it was said counts, and not that of learning it."""
    learned = entry("learned", day=9, valid_from="2026-02-01T00:00:00Z")

    assert groups(learned, entry("known", day=1)) == [["known", "learned"]]


def test_older_entries_give_way_but_not_the_persons_word_to_a_program_nor_what_harms_if_it_is_missed() -> None:
    """The newest never does."""
    own, said = entry("own", day=1), entry("said", day=2, origins=AGENT)
    allergy = entry("allergy", day=1, text="Is allergic to nuts.")
    against_own = Group((entry("new", day=3, origins=AGENT), said, own))
    by_person = Group((entry("newest", day=3), replace(said, id="older"), allergy))

    assert newest_of([against_own, by_person]) == {
        "said": "new",
        "own": "new",
        "older": "newest",
        "allergy": "newest",
    }
    assert giving_way([against_own, by_person]) == {"said", "older"}


def test_what_has_a_word_of_the_prompt_that_the_newest_lacks_does_not_give_way() -> None:
    """It may be what was asked for; a word that both have, or that says nothing, makes no difference."""
    older, newest = said("Ben collects maps.", "Ben studies maps.")
    pair = [Group((newest, older))]

    assert giving_way(pair, prompt="what does Ben collect?") == frozenset()
    assert giving_way(pair, prompt="which maps does Ben have?") == {older.id}


@pytest.mark.parametrize("floor", [near_from, near_words_from])
def test_among_more_entries_they_must_be_nearer(floor: Any) -> None:
    """By as much for each ten times as many, down to very few."""
    few, many, more = (floor(count) for count in (35, 350, 3500))

    assert many - few == pytest.approx(more - many)
    assert few < many
    assert floor(0) == floor(14) < few
