"""Twenty everyday saves: what each does to what is known, and what the answer, the facts and a context show.

The page docs/guide/everyday.md tells the same for people. Nothing is ended but by somebody who has read both.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace.memory import Memory
from commonplace.model import Actor, EntryResult
from commonplace.model.request import NewEntry
from tests.memories import Calendar, make_memory

pytestmark = [pytest.mark.needs("model"), pytest.mark.usefixtures("real_model")]


class Book:
    """One person's memory, on days that the test chooses."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.calendar = Calendar()
        settings = settings or {"embedding.provider": "minilm-l6-v2"}
        self.person = make_memory(folder, clock=self.calendar, settings=settings)

    def by(self, speaker: str) -> Memory:
        """The memory for the person, or for an agent of that name."""
        return self.person if speaker == "person" else self.person.acting(Actor("agent", speaker))

    def save(self, text: str, on: str = "", by: str = "person", **more: Any) -> EntryResult:
        """Save a statement on a day at noon."""
        if on:
            self.calendar.at = datetime.fromisoformat(f"{on}T12:00").replace(tzinfo=UTC)
        return self.by(by).entries.add(NewEntry(text, **more))

    @property
    def facts(self) -> list[str]:
        """What holds, as `commonplace facts` lists it."""
        return sorted(each.fact.text for each in self.person.facts.list(limit=500).facts)

    def context(self, prompt: str) -> str:
        """What is put before a prompt."""
        return self.person.context(prompt, within=None, profile=False, peek=True).text

    def settle(
        self, new: EntryResult, by: str = "person", until: str = "", **verdict: list[EntryResult]
    ) -> EntryResult:
        """Say how an entry relates to others."""
        named: dict[str, Any] = {how: [each.fact.id for each in old] for how, old in verdict.items()}
        return self.by(by).entries.settle(new.fact.id, until=until, **named)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """An empty memory."""
    return Book(tmp_path)


def shown(result: EntryResult) -> list[str]:
    """The texts of the neighbours in the answer, sorted."""
    return sorted(each.fact.text for each in result.neighbours)


def ended(result: EntryResult) -> list[str]:
    """The texts of what the answer says it ended."""
    return [each.text for each in result.ended]


def test_01_a_move_stands_beside_the_old_home_until_somebody_says_so(book: Book) -> None:
    """The answer shows the old home; one short call ends it, and `undo` brings it back."""
    old = book.save("Lives in Oslo, in the Thorvald Meyers gate.", on="2026-03-02")
    new = book.save("Moved to a flat in Bergen.", on="2026-05-19")

    assert (shown(new), ended(new)) == (["Lives in Oslo, in the Thorvald Meyers gate."], [])
    assert book.facts == ["Lives in Oslo, in the Thorvald Meyers gate.", "Moved to a flat in Bergen."]
    settled = book.settle(new, replaces=[old])
    assert ended(settled) == ["Lives in Oslo, in the Thorvald Meyers gate."]
    assert book.facts == ["Moved to a flat in Bergen."]
    book.person.notes.undo(commit=settled.commit)
    assert len(book.facts) == 2


def test_02_a_second_job_leaves_the_first(book: Book) -> None:
    """Both hold; once that is said, a later save does not show them as undecided."""
    first = book.save("Works as a nurse at the harbour clinic.")
    second = book.save("Works on Saturdays at the flower market, too.")
    book.settle(second, both=[first])

    assert book.facts == ["Works as a nurse at the harbour clinic.", "Works on Saturdays at the flower market, too."]


def test_03_a_dose_that_changed_is_never_already_known(book: Book) -> None:
    """Two numbers are two statements; the spelling of one unit is one."""
    old = book.save("Takes 50 mg of sertraline in the morning.")
    again = book.save("takes 50mg of sertraline in the morning")
    new = book.save("Takes 75 mg of sertraline in the morning.")

    assert again.action == "confirm"
    assert (new.action, ended(new), shown(new)) == ("insert", [], [old.fact.text])
    assert ended(book.settle(new, replaces=[old])) == [old.fact.text]


def test_04_a_meeting_that_was_moved_names_the_old_one(book: Book) -> None:
    """Two dates stand beside each other, both shown, until one is said to replace the other."""
    old = book.save("The review with Petra is on 12 June at 10:00.", kind="event")
    new = book.save("The review with Petra was moved to 15 June at 14:00.", kind="event")

    assert shown(new) == [old.fact.text]
    assert len(book.facts) == 2
    book.settle(new, replaces=[old])
    assert book.facts == [new.fact.text]


def test_05_a_deadline_is_replaced_in_the_first_call(book: Book) -> None:
    """Whoever knows the older entry settles while saving."""
    old = book.save("The grant application is due on 30 September.", on="2026-06-01")
    new = book.save("The grant application is due on 15 October.", on="2026-08-01", replaces=[old.fact.id])

    assert ended(new) == ["The grant application is due on 30 September."]
    assert book.facts == ["The grant application is due on 15 October."]


def test_06_two_children_who_are_alike_stay_two(book: Book) -> None:
    """Names that differ by one letter are never one."""
    book.save("Amadi is allergic to hazelnuts.")
    other = book.save("Amari is allergic to hazelnuts.")

    assert (other.action, shown(other)) == ("insert", ["Amadi is allergic to hazelnuts."])
    assert book.facts == ["Amadi is allergic to hazelnuts.", "Amari is allergic to hazelnuts."]


def test_07_no_longer_ends_nothing_by_itself(book: Book) -> None:
    """A verb of change is a word: what is unrelated stays, and what it ends is named by whoever has read both."""
    smoker = book.save("Nora smokes ten cigarettes a day.")
    allergy = book.save("Nora is allergic to penicillin.")
    new = book.save("Nora no longer smokes.")

    assert ended(new) == []
    assert shown(new) == sorted([smoker.fact.text, allergy.fact.text])
    book.settle(new, replaces=[smoker])
    assert book.facts == ["Nora is allergic to penicillin.", "Nora no longer smokes."]


def test_08_five_addresses_that_nobody_settles_are_five_with_their_days(book: Book) -> None:
    """Nothing is lost; the newest is known by its day."""
    towns = ["Turku", "Tampere", "Vaasa", "Oulu", "Rauma"]
    for month, town in enumerate(towns, start=2):
        new = book.save(f"Our office address is Harbour Street 4, {town}.", on=f"2026-{month:02}-03")

    assert len(new.neighbours) == 4
    assert [each.fact.recorded[:10] for each in book.person.facts.list().facts if "Rauma" in each.fact.text] == [
        "2026-06-03"
    ]
    assert len(book.facts) == 5


def test_09_moving_back_begins_anew(book: Book) -> None:
    """Oslo, Bergen, Oslo again: as a triple each ends the one before, and the first is not confirmed by the third."""
    facts = book.person.facts
    facts.add("Nora", "lives_in", "Oslo", valid_from="2025-01-01")
    facts.add("Nora", "lives_in", "Bergen", valid_from="2025-09-01")
    back = facts.add("Nora", "lives_in", "Oslo", valid_from="2026-02-01")

    assert [each.object for each in back.ended] == ["Bergen"]
    assert [each.fact.begins[:10] for each in facts.about("Nora")] == ["2026-02-01"]


def test_10_a_typo_is_mended_by_the_person_and_leaves_no_second_entry(book: Book) -> None:
    """The wrong spelling stays in the history of the right one."""
    wrong = book.save("The dentist is Dr. Okafro.", on="2026-03-02")
    right = book.save("The dentist is Dr. Okafor.", on="2026-03-03", replaces=[wrong.fact.id])

    assert book.facts == ["The dentist is Dr. Okafor."]
    assert [each.fact.text for each in book.person.entries.show(right.fact.id).versions] == [
        "The dentist is Dr. Okafro.",
        "The dentist is Dr. Okafor.",
    ]


def test_11_an_event_twice_is_two_events(book: Book) -> None:
    """The same words on the same day are one; on another day they are another event."""
    first = book.save("The boiler was repaired.", on="2026-03-02", kind="event")
    same = book.save("The boiler was repaired.", kind="event")
    second = book.save("The boiler was repaired.", on="2026-07-11", kind="event")

    assert (first.action, same.action, second.action) == ("insert", "confirm", "insert")
    assert book.facts == ["The boiler was repaired.", "The boiler was repaired."]


def test_12_a_temporary_change_ends_and_the_old_value_still_holds(book: Book) -> None:
    """With a stated end it rivals nothing; afterwards the old one holds alone."""
    book.save("Parks the car in the yard.", on="2026-04-01")
    roof = book.save("Parks the car in Mill Lane while the roof is being done.", on="2026-05-04")
    book.settle(roof, until="2026-06-01")

    assert len(book.facts) == 2
    book.calendar.pass_(days=60)
    assert book.facts == ["Parks the car in the yard."]


def test_13_said_weekly_in_other_words_it_is_one_after_one_verdict_each(book: Book) -> None:
    """`same` keeps the older wording and counts as a confirmation; nothing is folded before somebody says so."""
    ways = ["Runs along the canal before breakfast.", "Goes for a run by the canal before breakfast.",
            "Before breakfast: a run along the canal."]  # fmt: skip
    first = book.save(ways[0], on="2026-03-02")
    for week, way in enumerate(ways[1:], start=1):
        new = book.save(way, on=f"2026-03-{2 + 7 * week:02}")
        assert ways[0] in shown(new)
        book.settle(new, same=[first])

    assert book.facts == [ways[0]]
    assert book.person.entries.show(first.fact.id).fact.confirmed == ("2026-03-09", "2026-03-16")


def test_14_two_agents_that_disagree_stand_beside_each_other_with_their_names(book: Book) -> None:
    """Each may end its own and the other's; neither does so by likeness."""
    one = book.save("The staging database runs on PostgreSQL 15.", by="codex")
    other = book.save("The staging database runs on PostgreSQL 16.", by="claude-code")

    assert (shown(other), ended(other)) == ([one.fact.text], [])
    assert [each.origins.interface for each in (one.fact, other.fact)] == ["codex", "claude-code"]
    assert ended(book.settle(other, by="claude-code", replaces=[one])) == [one.fact.text]


def test_15_without_an_encoder_the_answer_says_that_words_were_compared(tmp_path: Path) -> None:
    """Shared words find what they can, and nothing else changes."""
    book = Book(tmp_path, **{"embedding.provider": "none"})
    book.save("The router password hint is the name of the cat.")
    new = book.save("The router stands in the hall.")

    assert new.by_words
    assert ended(new) == []
    assert len(book.facts) == 2


def test_16_a_hundred_facts_at_once_end_nothing(book: Book) -> None:
    """Each is its own entry, however alike they are."""
    for number in range(100):
        book.save(f"Locker {number + 1} belongs to member {400 - number}.")

    assert len(book.facts) == 100


def test_17_an_exception_is_not_already_known(book: Book) -> None:
    """No word of a restriction is lost; it covers the statement that it restricts."""
    old = book.save("Is allergic to nuts.")
    new = book.save("Is allergic to nuts, but not to peanuts.")

    assert (new.action, shown(new)) == ("insert", ["Is allergic to nuts."])
    assert ended(book.settle(new, covers=[old])) == ["Is allergic to nuts."]
    assert book.facts == ["Is allergic to nuts, but not to peanuts."]


def test_18_the_opposite_of_a_rule_is_shown_beside_it(book: Book) -> None:
    """ "Include" after "never include" confirms nothing and ends nothing by itself."""
    rule = book.save("Never include the raw data in reports.")
    new = book.save("Include the raw data in reports.")

    assert (new.action, shown(new), ended(new)) == ("insert", [rule.fact.text], [])
    assert rule.fact.confirmed == book.person.entries.show(rule.fact.id).fact.confirmed


def test_19_an_agent_against_the_persons_word_stands_beside_it_and_its_ending_waits(book: Book) -> None:
    """The statement is not hidden, and the person's own stays until the person says so."""
    own = book.save("Prefers uv to poetry.", on="2026-03-02")
    new = book.save("Uses poetry for Python projects.", on="2026-03-03", by="codex", replaces=[own.fact.id])

    assert (ended(new), [each.text for each in new.waiting]) == ([], ["Prefers uv to poetry."])
    assert book.facts == ["Prefers uv to poetry.", "Uses poetry for Python projects."]


def test_20_what_began_earlier_ends_nothing_that_says_that_it_began_later(book: Book) -> None:
    """An older value of a triple that is learned today is part of the past, and the answer says so; but what states no
    beginning was only written down then, and the value that is said later ends it."""
    facts = book.person.facts
    book.save("", on="2026-06-01", subject="Nora", predicate="works_at", object="Nordbank", valid_from="2026-06-01")
    book.save("", subject="Ada", predicate="works_at", object="Nordbank")
    past = facts.add("Nora", "works_at", "Havnelab", valid_from="2024-01-01")
    present = facts.add("Ada", "works_at", "Havnelab", valid_from="2024-01-01")

    assert (past.fact.valid_until[:10], ended(past)) == ("2026-06-01", [])
    assert past.reason == "`works_at` has one value at a time, and a later one is known."
    assert [each.fact.object for each in facts.about("Nora")] == ["Nordbank"]
    assert ended(present) == ["Ada works at Nordbank."]
    assert [each.fact.object for each in facts.about("Ada")] == ["Havnelab"]
