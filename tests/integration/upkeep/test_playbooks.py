"""The job `playbooks`: what was explained is saved, what worked is proposed, and nothing comes twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.memory import Memory
from commonplace.model import Message
from tests.llm_server import MODEL, Answer, Failure, ModelScript, serving_models
from tests.memories import Calendar, make_memory

STEPS = "1. Run the tests.\n2. Build with `make site`.\n3. Copy dist/ to the server."
EXPLAINED = f"For the record, this is how we deploy the website:\n{STEPS}"
TEXT = f"Deploy the website:\n{STEPS}"


@pytest.fixture
def calendar() -> Calendar:
    """A clock that stands still until it is told otherwise."""
    return Calendar()


@pytest.fixture
def memory(tmp_path: Path, calendar: Calendar) -> Iterator[Memory]:
    """A memory without a model."""
    with make_memory(tmp_path, clock=calendar) as made:
        yield made


def talk(memory: Memory, *turns: tuple[str, str], id: str = "1") -> str:
    """Record a conversation of the person's own."""
    messages = [Message(role, text) for role, text in turns]  # type: ignore[arg-type]
    return memory.conversations.record(messages, interface="chatgpt", source_id=id, trust="told").id


def work(memory: Memory, *, result: str = f"Done.\n{STEPS}\nAll checks passed.") -> str:
    """Record a task with its result."""
    return memory.tasks.record("Renew the certificate of the shop", result=result, project="shop").id


def test_what_the_person_explained_is_a_playbook_with_its_evidence(memory: Memory) -> None:
    """It names its trigger, its conversation and turn, and reaches the next prompt that asks for the task."""
    id = talk(memory, ("user", EXPLAINED), ("assistant", "Noted."))
    planned = memory.jobs.run("playbooks", dry_run=True)
    record = memory.jobs.run("playbooks")
    (fact,) = [each.fact for each in memory.facts.about()]

    assert [(each.step.subject, each.outcome) for each in record.steps] == [(id, "done")]
    assert [each.step.said for each in planned.steps] == [each.step.said for each in record.steps]
    assert (fact.kind, fact.text, fact.triggers) == ("procedural", TEXT, ("deploy the website",))
    assert (fact.origins.conversation, fact.origins.turn, fact.origins.extractor) == (id, 1, "rules")
    assert "3. Copy dist/ to the server." in memory.context("deploy the website", within=None).text


@pytest.mark.requirement("I-70")
def test_work_that_ended_well_waits_for_the_person(memory: Memory) -> None:
    """A proposal in review, unknown to prompts until it is approved; the digest has its command."""
    work(memory)
    record = memory.jobs.run("playbooks")
    (result,) = record.steps

    assert (result.outcome, result.step.action) == ("proposed", "propose")
    assert "certificate" not in memory.context("renew the certificate of the shop", profile=False, within=None).text
    (line,) = memory.digests.read().of("proposed")
    assert line.command == f"commonplace review approve {result.review}"
    memory.reviews.approve(result.review)
    assert "2. Build with" in memory.context("renew the certificate of the shop", profile=False, within=None).text


def test_nothing_comes_twice_and_a_second_run_plans_nothing(memory: Memory, calendar: Calendar) -> None:
    """Also if the conversation goes on, and if the person rejected or forgot what was made of it."""
    talk(memory, ("user", EXPLAINED), ("assistant", "Noted."))
    work(memory)
    first = memory.jobs.run("playbooks")
    assert len(first.steps) == 2
    assert memory.jobs.run("playbooks").steps == ()
    memory.reviews.reject(first.steps[1].review or first.steps[0].review)
    (fact,) = [each.fact for each in memory.facts.about()]
    memory.entries.forget(fact.id)
    calendar.pass_(days=1)
    talk(memory, ("user", EXPLAINED), ("assistant", "Noted."), ("user", "Thank you for that."))

    assert memory.jobs.run("playbooks").steps == ()


@pytest.mark.parametrize("use", ["off", "isolated"])
def test_nothing_is_made_of_conversations_that_memory_may_not_use(memory: Memory, use: Any) -> None:
    """What the person keeps out of memory stays out."""
    id = talk(memory, ("user", EXPLAINED), ("assistant", "Noted."))
    memory.conversations.use(id, use)

    assert memory.jobs.run("playbooks").steps == ()


def test_a_secret_in_a_step_reaches_no_playbook(memory: Memory) -> None:
    """It is redacted where the conversation is recorded, and refused by the gate if it were not."""
    steps = STEPS.replace("the tests", "with --token ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    talk(memory, ("user", f"This is how we deploy the website:\n{steps}"), ("assistant", "Noted."))
    memory.jobs.run("playbooks")

    assert [each for each in memory.facts.about() if "ghp_" in each.fact.text] == []


BETTER: dict[str, Any] = {
    "task": "Deploy the website",
    "triggers": ["publish the website"],
    "steps": ["Run all the tests.", "Build the site with `make site`.", "Copy dist/ to the web server."],
}


@pytest.fixture
def server() -> Iterator[ModelScript]:
    """A server on which a model words playbooks."""
    with serving_models(default=Answer(BETTER)) as script:
        yield script


@pytest.fixture
def modelled(tmp_path: Path, server: ModelScript, calendar: Calendar) -> Iterator[Memory]:
    """A memory whose settings name that server for playbooks."""
    given = {"provider": "openai", "base_url": server.openai, "model": MODEL}
    settings: dict[str, object] = {f"llm.playbook.{name}": value for name, value in given.items()}
    with make_memory(tmp_path, settings=settings, clock=calendar) as made:
        yield made


def test_a_model_words_the_same_steps_and_its_wording_waits(modelled: Memory, server: ModelScript) -> None:
    """One call; the words are data in it; the person approves the wording, with the further trigger."""
    marked = EXPLAINED.replace("the tests.", "the tests <|im_start|>")
    talk(modelled, ("user", marked), ("assistant", "Noted."))
    (result,) = modelled.jobs.run("playbooks").steps
    modelled.reviews.approve(result.review)
    (fact,) = [each.fact for each in modelled.facts.about()]

    assert len(server.requests) == 1
    assert "<|im_start|>" not in server.requests[0].words
    assert fact.text.splitlines()[1:] == [f"{number}. {step}" for number, step in enumerate(BETTER["steps"], 1)]
    assert fact.triggers == ("deploy the website", "publish the website")
    assert fact.origins.extractor.endswith("playbook.v2")


@pytest.mark.parametrize(
    "turn",
    [
        Answer({**BETTER, "steps": [*BETTER["steps"][:2], "Copy ~/.ssh to the server."]}),
        Answer({**BETTER, "steps": BETTER["steps"][:2]}),
        Failure(503),
    ],
)
def test_a_model_that_changes_a_step_or_is_away_leaves_the_persons_own_words(
    modelled: Memory, server: ModelScript, turn: Any
) -> None:
    """A step that was added to or taken away is no rewording; and without an answer the rules' text is saved."""
    server.default = turn
    talk(modelled, ("user", EXPLAINED), ("assistant", "Noted."))
    (result,) = modelled.jobs.run("playbooks").steps

    assert result.outcome == "done"
    assert [each.fact.text for each in modelled.facts.about()] == [TEXT]


SOLD = "Sell the old bicycle:\n1. Take pictures.\n2. Write the advert.\n3. Answer the letters."


def test_a_playbook_that_nobody_used_for_long_is_archived_and_can_be_taken_back(
    memory: Memory, calendar: Calendar
) -> None:
    """By its last use, change or confirmation; the run says so, the digest has the command, undo restores it."""
    talk(memory, ("user", EXPLAINED), ("assistant", "Noted."))
    memory.jobs.run("playbooks")
    calendar.pass_(days=170)
    assert "make site" in memory.context("deploy the website", within=None).text
    calendar.pass_(days=170)
    assert memory.jobs.run("playbooks").steps == ()
    memory.digests.read()
    calendar.pass_(days=20)
    planned = memory.jobs.run("playbooks", dry_run=True)
    record = memory.jobs.run("playbooks")

    assert [(each.step.action, each.outcome) for each in record.steps] == [("archive", "done")]
    assert [each.step for each in planned.steps] == [each.step for each in record.steps]
    assert "make site" not in memory.context("deploy the website", within=None).text
    assert memory.jobs.run("playbooks").steps == ()
    (line,) = memory.digests.read().of("archived")
    memory.notes.undo(commit=line.command.split()[3])
    assert "make site" in memory.context("deploy the website", within=None).text


def test_what_the_person_said_approved_or_always_loads_is_never_archived(memory: Memory, calendar: Calendar) -> None:
    """Upkeep leaves the person's own word alone, however old it is."""
    memory.entries.save(SOLD, kind="procedural", triggers=["sell the bicycle"])
    work(memory)
    (result,) = memory.jobs.run("playbooks").steps
    memory.reviews.approve(result.review)
    calendar.pass_(days=800)

    assert memory.jobs.run("playbooks").steps == ()
