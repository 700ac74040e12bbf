"""What was said earlier and is learned later: it ends nothing newer, and what has ended since does not come back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from commonplace.flows.learn.settle import settle_pending
from commonplace.memory import Memory
from commonplace.model import Actor
from commonplace.model.fact import RULES
from commonplace.model.learning import ExtractedFact, Extraction, LearnedBatch, LearnedItem
from tests.memories import Calendar, make_memory

VALUES = (
    ("The rent is 900 euros.", "The rent is 950 euros now.", "The rent is 900 euros a month."),
    ("The gym costs 40 euros a month.", "The gym costs 45 euros a month.", "The gym costs 40 euros."),
    ("Lives in Utrecht.", "Lives in Haarlem.", "Still lives in Utrecht."),
    ("The stand-up is at 9:30.", "The stand-up is at 10:00 now.", "The user's stand-up is at 9:30."),
    ("The manager is Dana.", "The manager is Wei.", "The manager at work is Dana."),
    (
        "The report is due on 3 June 2026.",
        "The report is due on 10 June 2026.",
        "The big report is due on 3 June 2026.",
    ),
    ("Runs three times a week.", "Runs once a week.", "Runs three times a week before work."),
    ("Takes 20 mg of citalopram.", "Takes 50 mg of citalopram.", "Takes 20 mg of citalopram every morning."),
)
"""A value, the one that replaced it, and the first one in other words, as it is learned from a conversation."""
BESIDE = ("Drinks tea.", "The office is in Bonn.", "Keeps bees.", "Sails at weekends.", "The broker restarts at night.")
"""What else is known: the weight of shared words is measured among others."""


class House(NamedTuple):
    """One memory as its person and as an agent, and the clock of both."""

    person: Memory
    agent: Memory
    clock: Calendar

    def as_(self, speaker: str) -> Memory:
        return self.person if speaker == "person" else self.agent

    def learn(self, text: str, *, minutes_ago: int, predicate: str = "", object: str = "") -> LearnedItem:
        """What becomes of a statement that the person made so long ago, in their own words."""
        at = self.clock.at - timedelta(minutes=minutes_ago)
        message = {"role": "user", "content": text, "at": at}
        source = self.person.conversations.record([message], interface="claude-code").id
        subject = "Ada" if predicate else ""
        fact = ExtractedFact(text=text, quote=text, turn=1, subject=subject, predicate=predicate, object=object)
        batch = LearnedBatch(source=source, extraction=Extraction(facts=(fact,)), extractor=RULES, until=1)
        session = self.person._session
        session.stores.history.begin_learning(batch, now=self.clock.at)
        (item,) = settle_pending(session)
        return item

    def begun(self) -> dict[str, str]:
        """What holds, and since when."""
        return {each.fact.text: each.fact.begins for each in self.person.facts.about() if each.fact.text not in BESIDE}

    def current(self) -> set[str]:
        return {*self.begun()}


@pytest.fixture(params=["hashing", "none"])
def house(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[House]:
    """A small memory, with an encoder and without."""
    clock = Calendar(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
    with make_memory(tmp_path, clock=clock, settings={"embedding.provider": request.param}) as memory:
        for text in BESIDE:
            memory.entries.save(text)
        yield House(memory, memory.acting(Actor("agent", "claude-code")), clock)


@pytest.mark.parametrize("speaker", ["person", "agent"])
@pytest.mark.parametrize(("old", "new", "again"), VALUES)
def test_a_value_that_was_replaced_does_not_come_back_by_words_that_are_older(
    house: House, speaker: str, old: str, new: str, again: str
) -> None:
    """Learned the same day: in the same words it is known already, in others it waits and is in no context."""
    first = house.as_(speaker).entries.save(old).fact
    house.clock.pass_(minutes=60)
    house.as_(speaker).entries.save(new, replaces=[first.id])
    house.clock.pass_(minutes=10)
    items = [house.learn(text, minutes_ago=20) for text in (old, again)]
    context = house.person.context(again, within=None).text

    assert [each.outcome for each in items] == ["confirmed", "staged"]
    assert "said before a near entry was ended" in items[1].reason
    assert house.current() == {new}
    assert (again in context, new in context) == (False, True)


@pytest.mark.parametrize("speaker", ["person", "agent"])
def test_what_is_older_ends_no_newer_value_that_nobody_has_settled(house: House, speaker: str) -> None:
    """It stands beside it with the moment at which it was said, so that the newer one comes first."""
    new = house.as_(speaker).entries.save("The rent is 950 euros now.").fact
    house.clock.pass_(minutes=10)
    item = house.learn("The rent is 900 euros a month.", minutes_ago=20)

    assert (item.outcome, item.old) == ("stored", "")
    assert house.begun() == {
        new.text: "2026-11-15T12:00:00Z",
        "The rent is 900 euros a month.": "2026-11-15T11:50:00Z",
    }


@pytest.mark.parametrize("speaker", ["person", "agent"])
def test_an_older_triple_is_part_of_the_past(house: House, speaker: str) -> None:
    """The moment of the message decides, and not its day; what is said later the same day ends the value before."""
    house.as_(speaker).facts.add("Ada", "works_at", "Globex")
    house.clock.pass_(minutes=10)
    older = house.learn("Ada works at Acme.", minutes_ago=20, predicate="works_at", object="Acme")
    then = house.current()
    newer = house.learn("Ada works at Initech.", minutes_ago=5, predicate="works_at", object="Initech")

    assert (older.outcome, newer.outcome) == ("stored", "replaced")
    assert (then, house.current()) == ({"Ada works at Globex."}, {"Ada works at Initech."})


def test_what_is_said_again_after_it_ended_holds_again(house: House) -> None:
    """Oslo, Bergen, Oslo again: the moment at which it was said is after the ending."""
    first = house.person.entries.save("Lives in Oslo.").fact
    house.clock.pass_(minutes=60)
    house.person.entries.save("Lives in Bergen.", replaces=[first.id])
    house.clock.pass_(minutes=60)
    item = house.learn("Lives in Oslo.", minutes_ago=20)

    assert item.outcome == "stored"
    assert house.current() == {"Lives in Bergen.", "Lives in Oslo."}


def test_what_is_near_to_words_that_were_forgotten_since_waits(house: House) -> None:
    """Forgotten and ended alike; what is said after that is new."""
    kept = house.person.entries.save("Takes 20 mg of citalopram.").fact
    house.clock.pass_(minutes=60)
    house.person.entries.forget(kept.id)
    house.clock.pass_(minutes=10)
    before = house.learn("Takes 20 mg of citalopram every morning.", minutes_ago=20)
    after = house.learn("Takes 20 mg of citalopram at noon.", minutes_ago=5)

    assert [before.outcome, after.outcome] == ["staged", "stored"]
    assert house.current() == {"Takes 20 mg of citalopram at noon."}


def test_what_was_said_long_ago_ends_nothing_and_has_the_moment_at_which_it_was_said(house: House) -> None:
    """Conversations of years ago: each statement stands, the newest last said; the same words are known already."""
    for text in ("Lives in Berlin.", "Works at Philips."):
        house.person.entries.save(text, kind="fact")
    said = (
        (2025, "I live in Utrecht. My cat is called Momo. I no longer work at Philips. I'm vegetarian."),
        (2024, "I live in Ghent. I live in Berlin."),
    )
    for year, text in said:
        message = {"role": "user", "content": text, "at": datetime(year, 3, 1, tzinfo=UTC)}
        house.person.conversations.record([message], interface="chatgpt", source_id=str(year))
    house.person.learning.run()
    years = {text: begins[:4] for text, begins in house.begun().items()}

    assert years == {
        "Lives in Berlin.": "2026",
        "Works at Philips.": "2026",
        "Lives in Utrecht.": "2025",
        "The cat is called Momo.": "2025",
        "No longer works at Philips.": "2025",
        "Is vegetarian.": "2025",
        "Lives in Ghent.": "2024",
    }
