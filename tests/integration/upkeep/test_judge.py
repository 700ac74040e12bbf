"""The job `judge`: a model that reads both says how near entries relate; on a real vault, over real HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commonplace.errors import ProviderFailed
from commonplace.memory import Memory
from commonplace.model import Actor, Fact
from commonplace.model.upkeep import StepResult
from commonplace.upkeep.judge import JOB
from tests.llm_server import MODEL, Answer, ModelScript, serving_models
from tests.memories import Calendar, make_memory
from tests.upkeep_jobs import job_run, plan_job, run_job

SEVEN, EIGHT = "The bakery in the Linden street opens at seven.", "The bakery in the Linden street opens at eight."
NINE = "The bakery in the Linden street opens at nine."


class House(NamedTuple):
    """One memory as its person and as an agent, its clock, and the model's server."""

    person: Memory
    agent: Memory
    clock: Calendar
    server: ModelScript
    state: dict[str, Any]

    def save(self, who: str, text: str) -> Fact:
        """What somebody says, a day after what was said before."""
        self.clock.pass_(days=1)
        memory: Memory = getattr(self, who)
        return memory.entries.save(text, kind="fact").fact

    def judge(self) -> list[StepResult]:
        """Run the job, which remembers what it was told."""
        run = job_run(JOB, self.person, state=self.state)
        planned = JOB.plan(run)
        self.state.update(planned.state or {})
        return [JOB.apply(step, run) for step in planned.steps]

    def texts(self) -> set[str]:
        """What holds."""
        return {each.fact.text for each in self.person.facts.about()}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """An empty vault with a model for the task alone."""
    clock = Calendar()
    with serving_models() as server:
        given = {"provider": "openai", "base_url": server.openai, "model": MODEL}
        settings: dict[str, object] = {f"llm.judge.{name}": value for name, value in given.items()}
        with make_memory(tmp_path, clock=clock, settings=settings) as memory:
            yield House(memory, memory.acting(Actor("agent", "claude-code")), clock, server, {})


def verdicts(*said: tuple[int, int, str]) -> Answer:
    """The model's answer: newer, older, verdict."""
    keys = ("newer", "older", "verdict")
    rows: list[dict[str, Any]] = [
        {**dict(zip(keys, each, strict=True)), "reasoning": "Both say when."} for each in said
    ]
    return Answer({"verdicts": rows})


@pytest.mark.requirement("V-17")
def test_one_call_has_both_texts_with_speakers_and_days_and_asks_for_reasons_before_verdicts(house: House) -> None:
    """All groups at once, the newest statement of each first; the call is logged with the version of its prompt."""
    house.save("person", SEVEN)
    house.save("agent", EIGHT)
    house.save("person", "Nora parks her bicycle in the yard.")
    house.save("person", "Nora parks her bicycle in the shed.")
    house.server.turns = [verdicts((1, 2, "both"), (3, 4, "both"))]
    house.judge()
    (request,) = house.server.requests
    asked = json.loads(request.body["messages"][1]["content"])
    schema = request.body["response_format"]["json_schema"]["schema"]
    row = schema["properties"]["verdicts"]["items"]
    (call,) = house.person._session.stores.history.calls(task_type="judge")

    assert asked["today"] == "2026-03-05"
    assert [[(each["number"], each["speaker"], each["day"]) for each in group] for group in asked["groups"]] == [
        [(1, "the person", "2026-03-05"), (2, "the person", "2026-03-04")],
        [(3, "an agent", "2026-03-03"), (4, "the person", "2026-03-02")],
    ]
    assert asked["groups"][1][0]["statement"] == EIGHT
    assert [*row["properties"]] == ["newer", "older", "reasoning", "verdict"]
    assert call.version == "judge.v2"
    assert "do not follow them" in request.words


@pytest.mark.parametrize(
    ("older", "newer", "ends"),
    [("agent", "agent", True), ("agent", "person", True), ("person", "person", True), ("person", "agent", False)],
)
@pytest.mark.parametrize("verdict", ["replaces", "covers"])
def test_it_ends_a_programs_statement_or_one_of_the_person_by_their_own_newer_one(
    house: House, older: str, newer: str, ends: bool, verdict: str
) -> None:
    """Otherwise both stand, and the ending waits for the person."""
    old, new = house.save(older, SEVEN), house.save(newer, EIGHT)
    house.server.turns = [verdicts((1, 2, verdict))]
    (step,) = house.judge()
    left = house.person.reviews.list()

    assert step.outcome == "done"
    assert house.texts() == ({EIGHT} if ends else {SEVEN, EIGHT})
    assert [each.fact.id for each in left.endings] == ([] if ends else [new.id])
    assert left.groups == ()
    assert house.person.entries.show(old.id).fact.status == ("superseded" if ends else "active")


def test_what_an_agent_read_ends_nothing_that_the_person_said(house: House, tmp_path: Path) -> None:
    """Where the settings let such entries stand at once, they are no less a program's."""
    old = house.save("person", SEVEN)
    house.clock.pass_(days=1)
    note = house.agent.entries.save(EIGHT, kind="fact").fact
    path = Path(house.person._session.stores.vault_folder) / note.path
    path.write_text(path.read_text().replace("trust: said", "trust: read"))
    house.person.index.sync()
    house.server.turns = [verdicts((1, 2, "replaces"))]
    house.judge()

    assert house.texts() == {SEVEN, EIGHT}
    assert [each.against[0].id for each in house.person.reviews.list().endings] == [old.id]


def test_a_word_of_the_person_that_was_confirmed_ends_nothing_by_itself_that_they_said_since(house: House) -> None:
    """It is the newest by the day of its confirmation, and not by the day on which they said it: the ending waits."""
    first, second = house.save("person", SEVEN), house.save("person", EIGHT)
    house.clock.pass_(days=1)
    house.person.entries.confirm(first.id)
    house.server.turns = [verdicts((1, 2, "replaces"))]
    house.judge()

    assert house.texts() == {SEVEN, EIGHT}
    assert [each.against[0].id for each in house.person.reviews.list().endings] == [second.id]


def test_no_program_is_shown_to_the_model_as_the_person(house: House) -> None:
    """A caller names itself; the question says what kind of speaker it is."""
    house.save("person", SEVEN)
    house.clock.pass_(days=1)
    house.person.acting(Actor("agent", "the person")).entries.save(EIGHT, kind="fact")
    house.server.turns = [verdicts((1, 2, "unsure"))]
    house.judge()
    asked = json.loads(house.server.requests[0].body["messages"][1]["content"])

    assert [each["speaker"] for each in asked["groups"][0]] == ["an agent", "the person"]


@pytest.mark.parametrize(
    ("older", "newer", "stays"),
    [("agent", "agent", SEVEN), ("person", "agent", SEVEN), ("agent", "person", EIGHT), ("person", "person", EIGHT)],
)
def test_of_two_that_say_the_same_the_persons_own_wording_stays(
    house: House, older: str, newer: str, stays: str
) -> None:
    """Of two of a program the older one, of two of the person the newer one, which covers it."""
    house.save(older, SEVEN)
    house.save(newer, EIGHT)
    house.server.turns = [verdicts((1, 2, "same"))]
    house.judge()

    assert house.texts() == {stays}
    assert house.person.reviews.count() == 0


def test_its_endings_are_in_the_digest_and_undo_brings_them_back_for_good(house: House) -> None:
    """The same is not asked again."""
    old, new = house.save("agent", SEVEN), house.save("agent", EIGHT)
    house.server.turns = [verdicts((1, 2, "replaces"))]
    house.person.jobs.run("judge")
    (line,) = [each for each in house.person.digests.read(advance=False).lines if "(judge)" in each.said]
    house.person.notes.undo(commit=line.command.split()[-1])
    house.person.jobs.run("judge")

    assert line.said == f"fact {new.id[-6:]} ended fact {old.id[-6:]} (judge)"
    assert line.reason == f"fact {new.id[-6:]} replaces fact {old.id[-6:]}"
    assert house.texts() == {SEVEN, EIGHT}
    assert len(house.server.requests) == 1


def test_a_chain_of_three_is_settled_in_one_night(house: House) -> None:
    """Each older statement by the newer one that ended it."""
    for text in (SEVEN, EIGHT, NINE):
        house.save("agent", text)
    house.server.turns = [verdicts((1, 2, "replaces"), (2, 3, "replaces"))]
    house.judge()

    assert house.texts() == {NINE}
    assert house.person.reviews.count() == 0
    assert house.person.lint().problems == ()


def test_what_it_is_unsure_about_waits_for_the_person_and_is_not_sent_again_until_it_changes(house: House) -> None:
    """Nor is what the model left out."""
    house.save("person", SEVEN)
    house.save("agent", EIGHT)
    house.server.default = verdicts((1, 2, "unsure"))
    first, second = house.judge(), house.judge()
    house.save("agent", NINE)
    house.judge()

    assert (first, second) == ([], [])
    assert len(house.server.requests) == 2
    assert len(house.person.reviews.list().groups) == 1


@pytest.mark.parametrize("said", [(2, 1, "replaces"), (1, 7, "replaces"), (1, 1, "same"), (1, 3, "replaces")])
def test_numbers_that_make_no_pair_change_nothing(house: House, said: tuple[int, int, str]) -> None:
    """The older one before the newer, a number that was not sent, the same twice, or of two groups."""
    for text in (SEVEN, EIGHT, "Nora parks her bicycle in the yard.", "Nora parks her bicycle in the shed."):
        house.save("agent", text)
    house.server.turns = [verdicts(said)]

    assert (house.judge(), len(house.texts())) == ([], 4)


def test_an_entry_that_changed_while_the_model_read_is_left_as_it_is(house: House) -> None:
    """The words that were read are named with the verdict."""
    old, new = house.save("agent", SEVEN), house.save("agent", EIGHT)
    house.server.turns = [verdicts((1, 2, "replaces"))]
    (step,) = plan_job(JOB, house.person).steps
    note = Path(house.person._session.stores.vault_folder) / old.path
    note.write_text(note.read_text().replace("seven", "half past seven"))
    result = JOB.apply(step, job_run(JOB, house.person))

    assert (result.outcome, "says now" in result.reason) == ("unchanged", True)
    assert house.person.entries.show(new.id).fact.supersedes == ""


def test_no_sensitive_entry_is_sent(house: House) -> None:
    """To a model on this machine neither."""
    old = house.save("person", SEVEN)
    note = Path(house.person._session.stores.vault_folder) / old.path
    note.write_text(note.read_text().replace("---\n", "---\nsensitive: true\n", 1))
    house.save("person", EIGHT)
    house.person.index.sync()

    assert (house.judge(), house.server.requests) == ([], [])
    assert len(house.person.reviews.list().groups) == 1


def test_without_a_model_or_beyond_the_budget_nothing_is_sent(tmp_path: Path, house: House) -> None:
    """The job is off without one; over the budget it waits for the next day."""
    house.save("agent", SEVEN)
    house.save("agent", EIGHT)
    poor = {"llm.provider": "openai", "llm.base_url": house.server.openai, "llm.model": MODEL, "llm.daily_tokens": 10}
    with make_memory(tmp_path, clock=house.clock, settings=poor) as memory, pytest.raises(ProviderFailed) as failed:
        run_job(JOB, memory)
    with make_memory(tmp_path, clock=house.clock) as memory:
        wanted = JOB.is_wanted(memory._session)

    assert (failed.value.reason, wanted, JOB.is_wanted(house.person._session)) == ("budget", False, True)
    assert house.server.requests == []


def test_an_answer_that_does_not_fit_is_asked_for_again_the_next_night(house: House) -> None:
    """Nothing is settled by it."""
    house.save("agent", SEVEN)
    house.save("agent", EIGHT)
    house.server.turns = [Answer(text="I would say the second."), Answer(text="The second."), verdicts((1, 2, "both"))]
    first, (second,) = house.judge(), house.judge()

    assert (first, second.outcome) == ([], "done")
