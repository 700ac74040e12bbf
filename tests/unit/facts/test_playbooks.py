"""Playbooks: which messages hold a procedure, which do not, and when a task fits."""

import pytest

from commonplace.facts.playbooks import Playbook, find_playbooks, fitting_task, rewording
from commonplace.model import Message

STEPS = "1. Run the tests.\n2. Build with `make site`.\n3. Copy dist/ to the server.\n"
EXPLAINED = {
    "This is how we deploy the website:\n" + STEPS: "Deploy the website",
    "For the record, our process for deploying the website:\n" + STEPS: "Deploying the website",
    "Good. To deploy the website, do this:\n" + STEPS: "Deploy the website",
    "Whenever I deploy the website:\n\n" + STEPS: "Deploy the website",
}
SEQUENCES = {
    "To deploy the website, first run the tests, then build with `make site`, and finally copy dist/ to the server.",
    "Note this. When we deploy the website, we always first run the tests, then build with `make site`, "
    "then copy dist/ to the server.",
}
NOT_PROCEDURES = (
    "Please do this now:\n" + STEPS,
    STEPS,
    "Maybe we could deploy the website like this. To deploy the website:\n" + STEPS,
    "To deploy the website:\n1. Run the tests.\n2. Build.\n",
    "First run the tests, then build, then copy it over.",
    "My favourite films:\n1. Alien\n2. Brazil\n3. Contact\n",
    "How do I deploy the website?",
)


def said(*turns: tuple[str, str]) -> list[Message]:
    """Messages by role and text."""
    return [Message(role, text) for role, text in turns]  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "task"), EXPLAINED.items())
def test_steps_below_a_line_that_names_their_task_are_a_procedure(text: str, task: str) -> None:
    """The task and the steps are the person's own words."""
    (playbook,) = find_playbooks(said(("user", text)))

    assert playbook == Playbook(
        task, ("Run the tests.", "Build with `make site`.", "Copy dist/ to the server."), 1, is_explained=True
    )
    assert playbook.text == f"{task}:\n1. Run the tests.\n2. Build with `make site`.\n3. Copy dist/ to the server."


@pytest.mark.parametrize("text", sorted(SEQUENCES))
def test_first_then_finally_is_a_procedure_if_a_task_is_named(text: str) -> None:
    """Three steps in one sentence, in their order."""
    (playbook,) = find_playbooks(said(("user", text)))

    assert playbook.task == "Deploy the website"
    assert playbook.steps == ("run the tests", "build with `make site`", "copy dist/ to the server")


@pytest.mark.parametrize("text", NOT_PROCEDURES)
def test_requests_lists_questions_and_hedges_are_no_procedures(text: str) -> None:
    """What is to be done once, what is no task, what is only wondered about, what has two steps."""
    assert find_playbooks(said(("user", text))) == ()


def test_work_that_the_person_says_went_well_is_a_procedure() -> None:
    """The request names the task, the agent's answer has the steps, the person confirms."""
    messages = said(
        ("user", "Could you please renew the certificate? It ends on Friday."),
        ("assistant", f"Done:\n{STEPS}"),
        ("user", "Perfect, thanks, that worked."),
    )

    (playbook,) = find_playbooks(messages)

    assert (playbook.task, playbook.turn, playbook.is_explained) == ("Renew the certificate", 2, False)


@pytest.mark.parametrize("reply", ["", "That did not work.", "It worked, but can you also do the other one?", "ok"])
def test_work_without_a_plain_word_that_it_went_well_is_none(reply: str) -> None:
    """No confirmation, a failure, a new question, a mere courtesy."""
    messages = said(("user", "Renew the certificate."), ("assistant", STEPS), *([("user", reply)] if reply else []))

    assert find_playbooks(messages) == ()


def test_a_task_with_its_result_is_a_procedure_if_the_result_says_that_it_succeeded() -> None:
    """A failure in the result, or no word of success, leaves nothing."""
    request = ("user", "Renew the certificate of the shop")

    (playbook,) = find_playbooks(said(request, ("assistant", f"{STEPS}All checks passed.")), is_task=True)
    assert playbook.task == "Renew the certificate of the shop"
    assert find_playbooks(said(request, ("assistant", f"{STEPS}The last check failed.")), is_task=True) == ()
    assert find_playbooks(said(request, ("assistant", "Done, it passed.")), is_task=True) == ()


def test_a_task_fits_if_all_its_words_are_in_the_prompt() -> None:
    """In any order and form; a single word only fits a task, not a question about the word."""
    tasks = ("deploy the website",)
    assert fitting_task("Please deploy our new website today", tasks, is_task=True) == "deploy the website"
    assert fitting_task("is the website deployed?", tasks, is_task=False) == "deploy the website"
    assert fitting_task("deploy the database", tasks, is_task=True) == ""
    assert fitting_task("what does release mean?", ("release",), is_task=False) == ""
    assert fitting_task("release it", ("release",), is_task=True) == "release"
    assert fitting_task("anything", ("", "the"), is_task=True) == ""


WORDED = Playbook("Deploy the website", ("run tests", "build with `make site`", "copy dist/ to host 7"), 1, True)
GOOD = ["Run the tests.", "Build the site with `make site`.", "Copy dist/ to host 7."]


def test_a_rewording_keeps_every_step_command_path_and_number() -> None:
    """Other words for the same steps are taken, with phrases that are about the same task."""
    answer = {"task": "Deploy the website", "steps": GOOD, "when": ["publish the website", "cook dinner", "go"]}

    assert rewording(WORDED, answer) == ("Deploy the website", tuple(GOOD), ("publish the website",))


@pytest.mark.parametrize(
    "answer",
    [
        {"task": "Deploy the website", "steps": GOOD[:2], "when": []},
        {"task": "Deploy the website", "steps": [*GOOD, "Celebrate."], "when": []},
        {"task": "Deploy the website", "steps": [GOOD[0], "Build with `rm -rf /`.", GOOD[2]], "when": []},
        {"task": "Deploy the website", "steps": [GOOD[0], GOOD[1], "Copy dist/ to host 8."], "when": []},
        {"task": "Deploy the website", "steps": ["Email the keys to eve.", *GOOD[1:]], "when": []},
        {"task": "Bake bread", "steps": GOOD, "when": []},
        {},
    ],
)
def test_a_rewording_that_changes_a_step_is_dropped(answer: dict[str, object]) -> None:
    """One step less, more, or another; another command, another number, another task."""
    assert rewording(WORDED, answer) is None
