"""What of playbooks reaches a prompt: the right one alone, and silence otherwise."""

from pathlib import Path

import pytest

from commonplace.memory import Memory
from commonplace.model import Actor
from tests.memories import make_memory

DEPLOY = "Deploy the website:\n1. Run the tests.\n2. Build with `make site`.\n3. Copy dist/ to the server."
INVOICE = "Write the monthly invoice:\n1. Add up the hours.\n2. Fill in the template.\n3. Send it to Ada."
PAINT = "Paint the fence:\n1. Brush it clean.\n2. Sand the boards.\n3. Apply two coats."
BACKUP = "Restore the backup:\n1. Stop the service.\n2. Unpack the archive.\n3. Start the service."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory with three playbooks and a preference."""
    memory = make_memory(tmp_path)
    memory.entries.save(DEPLOY, kind="procedural", when="deploy the website, publish the site")
    memory.entries.save(INVOICE, kind="procedural", when="write the invoice")
    memory.entries.save(BACKUP, kind="workflow", when="restore the backup")
    memory.entries.save("Prefers short pull requests.", kind="preference")
    return memory


def playbooks(memory: Memory, prompt: str, **how: str) -> list[str]:
    """The first lines of the playbooks that reach the prompt."""
    context = memory.context(prompt, profile=False, within=None, **how)  # type: ignore[arg-type]
    texts = [each.piece.text for each in context.included if each.piece.section == "playbooks"]
    assert all(text in context.text for text in texts)
    return [text.partition("\n")[0] for text in texts]


@pytest.mark.requirement("I-70")
@pytest.mark.parametrize(
    ("prompt", "task"),
    [
        ("Please deploy our website now.", "Deploy the website:"),
        ("can you publish the site?", "Deploy the website:"),
        ("Write March's invoice, please.", "Write the monthly invoice:"),
        ("The disk died: restore last night's backup.", "Restore the backup:"),
    ],
)
def test_the_playbook_whose_task_fits_reaches_the_prompt_alone(memory: Memory, prompt: str, task: str) -> None:
    """Whole, with its steps, and no other playbook beside it."""
    assert playbooks(memory, prompt) == [task]


@pytest.mark.requirement("I-70")
@pytest.mark.parametrize(
    "prompt",
    [
        "What is the capital of France?",
        "Fix the failing test in parser.py.",
        "Write a poem about the sea.",
        "How are you?",
        "Which server do we use?",
    ],
)
def test_no_playbook_reaches_a_prompt_that_no_task_fits(memory: Memory, prompt: str) -> None:
    """A word in common with a step is no reason."""
    assert playbooks(memory, prompt) == []


def test_the_reason_names_the_task_and_a_left_out_one_says_why(memory: Memory) -> None:
    """`context --explain` shows both."""
    context = memory.context("Please deploy our website now.", profile=False, within=None)

    assert [each.piece.why for each in context.included] == ["its task fits the prompt: deploy the website"]


def test_a_playbook_comes_once_in_a_conversation(memory: Memory) -> None:
    """The model has read it already."""
    assert playbooks(memory, "deploy the website", conversation="s1") == ["Deploy the website:"]
    assert playbooks(memory, "deploy the website again", conversation="s1") == []


def test_a_playbook_is_kept_when_the_budget_cuts_what_is_recalled(memory: Memory) -> None:
    """An actionable procedure outranks recalled snippets: only user and channel memory come before it."""
    memory.notes.write("Inbox/Website.md", f"# Website\n\nDeploy the website notes. {'The website is old. ' * 60}\n")
    context = memory.context(
        "what do my notes say: deploy the website", profile=False, within=None, budget=500, notes="always"
    )

    assert [each.piece.section for each in context.included][:1] == ["playbooks"]
    assert "3. Copy dist/ to the server." in context.text


def test_forgotten_and_waiting_playbooks_do_not_come(memory: Memory) -> None:
    """Only what holds now; and what an agent proposes only after the person has approved it."""
    (fact,) = [each.fact for each in memory.facts.about() if each.fact.text == DEPLOY]
    memory.entries.forget(fact.id)
    agent = memory.acting(Actor("agent", "mcp"))
    agent.entries.save(PAINT, kind="procedural", when="paint the fence", trust="told")

    assert playbooks(memory, "deploy the website") == []
    assert playbooks(memory, "paint the fence") == []
    memory.reviews.approve(all=True)
    assert playbooks(memory, "paint the fence") == ["Paint the fence:"]


def test_tasks_survive_a_new_version_and_a_rebuild(memory: Memory) -> None:
    """They are a key of the note, and every door shows them."""
    (fact,) = [each.fact for each in memory.facts.about() if each.fact.text == DEPLOY]
    new = memory.entries.evolve(fact.id, DEPLOY.replace("Copy", "Sync"), reason="rsync since March").fact
    memory.index.rebuild()

    assert new.when == "deploy the website, publish the site"
    assert memory.entries.show(new.id).fact.when == new.when
    assert memory.notes.read(new.path).frontmatter["when"] == new.when
