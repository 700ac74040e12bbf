"""Learning from the command line: what is due is read, every outcome is listed, notes are marked by hand."""

from pathlib import Path

import pytest

from commonplace import open_memory
from tests.command_line import Run, answer, new_vault

TALK = "User: I live in Utrecht. Would you move to Rome?\nAssistant: You probably love Rome.\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A new vault."""
    return new_vault(tmp_path / "vault")


@pytest.fixture
def conversation(run: Run, vault: Path) -> str:
    """A conversation that the person added."""
    done = run("conversation", "add", "-", "--interface", "chatgpt", "--id", "1", "--json", given=TALK)
    return str(answer(done)["recorded"]["id"])


@pytest.mark.requirement("A-61")
def test_learning_shows_each_fact_with_its_evidence(run: Run, conversation: str) -> None:
    """A dry run changes nothing; the run says what was stored, and a second one finds nothing new."""
    tried = run("learn", "--all", "--dry-run")
    done = run("learn", "--all")
    again = answer(run("learn", "--all", "--json"))

    assert "would learn from 1 source: 1 " in tried.stdout
    assert "Lives in Utrecht." in done.stdout
    assert 'turn 1, "I live in Utrecht' in done.stdout
    assert again["results"] == []
    assert answer(run("facts", "--json"))["facts"][0]["source"]["quote"].startswith("I live in Utrecht")


def test_a_conversation_that_goes_on_is_left_alone(run: Run, conversation: str) -> None:
    """The answer says so, and how to read it nevertheless."""
    done = run("learn")

    assert "learned from 0 sources" in done.stdout
    assert "1 conversation" in done.stderr
    assert "--all" in done.stderr
    assert "Lives in Utrecht." in run("learn", "--conversation", conversation).stdout


def test_the_log_lists_every_outcome(run: Run, conversation: str) -> None:
    """Also by outcome; an unknown one is an error with the known ones."""
    run("learn", "--all")
    everything = answer(run("learn", "log", "--json"))["items"]
    stored = run("learn", "log", "--outcome", "stored", "--conversation", conversation[:6])

    assert {each["source"] for each in everything} == {conversation}
    assert "Lives in Utrecht." in stored.stdout
    assert run("learn", "log", "--outcome", "nonsense").returncode == 2


def test_status_and_doctor_say_what_is_due(run: Run, conversation: str) -> None:
    """And which extractor reads it."""
    shown = run("learn", "status")
    state = answer(run("learn", "status", "--json"))["learning"]

    assert "extractor  rules" in shown.stdout
    assert (state["due"], state["open"], state["parked"]) == (0, 1, [])
    assert "learning" in run("doctor").stdout


@pytest.mark.requirement("X-18")
def test_a_note_is_marked_read_and_unmarked(run: Run, vault: Path) -> None:
    """The mark is one line of its frontmatter."""
    note = vault / "Me.md"
    note.write_text("# Me\n\nI work as a nurse.\n")
    marked = run("note", "mark", "Me.md")
    learned = run("learn", "--note", "Me.md")

    assert marked.returncode == 0
    assert "memory: source" in note.read_text()
    assert "Works as a nurse." in learned.stdout
    assert run("note", "unmark", "Me.md").returncode == 0
    assert "memory: source" not in note.read_text()
    assert run("note", "mark", "Missing.md").returncode == 2


def test_review_shows_the_evidence_beside_a_claim(run: Run, vault: Path) -> None:
    """The quote, the conversation and the turn, so that the person can decide."""
    with open_memory(vault, actor="agent") as agent:
        id_ = agent.conversations.record([{"role": "user", "content": "I live in Utrecht."}], interface="bot").id
    run("learn", "--conversation", id_)
    shown, listed = run("review").stdout, answer(run("review", "--json"))["waiting"][0]["fact"]["source"]

    assert f"conversation {id_}" in shown
    assert 'said: "I live in Utrecht' in shown
    assert "(turn 1)" in shown
    assert (listed["conversation"], listed["turn"], listed["extractor"]) == (id_, 1, "rules")


def test_an_erased_conversation_takes_what_was_learned_with_it(run: Run, vault: Path, conversation: str) -> None:
    """Its entry is gone, and the log; what the person approved stays, without the quote."""
    run("learn", "--conversation", conversation)
    kept = answer(run("facts", "--json"))["facts"]
    run("conversation", "erase", conversation, "--yes")

    assert len(kept) == 1
    assert answer(run("facts", "--json"))["facts"] == []
    assert answer(run("learn", "log", "--json"))["items"] == []
    assert not [each for each in vault.rglob("*.md") if "Utrecht" in each.read_text()]


@pytest.mark.parametrize(
    "words",
    [
        ("learn", "--retry", "--dry-run"),
        ("learn", "--conversation", "c-1", "--note", "a.md"),
        ("learn", "--limit", "0"),
    ],
)
def test_options_that_do_not_fit_are_refused(run: Run, vault: Path, words: tuple[str, ...]) -> None:
    """With a hint."""
    assert run(*words).returncode == 2
