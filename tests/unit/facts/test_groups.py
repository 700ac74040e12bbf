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


@pytest.mark.parametrize("floor", [near_from, near_words_from])
def test_among_more_entries_they_must_be_nearer(floor: Any) -> None:
    """By as much for each ten times as many, down to very few."""
    few, many, more = (floor(count) for count in (35, 350, 3500))

    assert many - few == pytest.approx(more - many)
    assert few < many
    assert floor(0) == floor(14) < few
