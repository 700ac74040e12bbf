"""`commonplace user`: USER.md and CHANNEL.md by operations, as a person types them."""

from pathlib import Path

import pytest

from tests.command_line import Run, answer


@pytest.mark.requirement("X-19", "I-36", "I-42")
def test_every_operation_can_be_typed(run: Run, vault: Path) -> None:
    """From an empty vault: append, add-heading, replace, remove, remove-heading, apply, show and log."""
    run("user", "append", "Lives in York.")
    run("user", "add-heading", "Food", "Likes tea.", "Likes coffee.")
    run("user", "add-heading", "Food", "--subheading", "Sweets", "Likes cake.")
    run("user", "append", "Likes honey.", "--heading", "Food", "--subheading", "Sweets")
    run("user", "replace", "Likes coffee...", "Likes espresso.")
    run("user", "remove", "likes tea", "--heading", "Food")
    shown = run("user", "show").stdout
    log = answer(run("user", "log", "--json"))

    assert shown == (
        "- Lives in York.\n\n## Food\n\n- Likes espresso.\n\n### Sweets\n\n- Likes cake.\n- Likes honey.\n"
    )
    assert (vault / "Agent/USER.md").read_text() == shown
    assert [each["operation"]["op"] for each in reversed(log["operations"])] == [
        *("append", "add_heading", "add_heading", "append", "replace", "remove")
    ]
    assert {(each["actor"], each["outcome"]) for each in log["operations"]} == {("person", "applied")}
    run("user", "remove-heading", "Food")
    assert (vault / "Agent/USER.md").read_text() == "- Lives in York.\n\n"
    assert run("undo").returncode == 0
    assert run("user", "show").stdout == shown


def test_outcomes_are_said_and_refusals_are_errors(run: Run, vault: Path) -> None:
    """What is there already is no error; what is refused exits with 3 and says what to do."""
    run("user", "append", "Lives in York.")
    known = run("user", "append", "lives in york")
    refused = run("user", "append", "Likes tea.", "--heading", "Food")
    dry = run("user", "remove", "Lives in York.", "--dry-run")

    assert (known.returncode, known.stdout) == (0, "Agent/USER.md: append already there, nothing changed\n")
    assert refused.returncode == 3
    assert "commonplace user add-heading" in refused.stdout
    assert "-- Lives in York." in dry.stdout
    assert "Lives in York." in (vault / "Agent/USER.md").read_text()


def test_a_missing_heading_is_added_on_request(run: Run, vault: Path) -> None:
    """With the one above it; where both are there, nothing is added but the statement; a dry run writes nothing."""
    create = ("--heading", "Food", "--subheading", "Allergies", "--create")
    dry = run("user", "append", "Allergic to nuts.", *create, "--dry-run")
    was_there = (vault / "Agent/USER.md").exists()
    for text in ("Allergic to nuts.", "Allergic to eggs.", "Allergic to eggs."):
        assert run("user", "append", text, *create).returncode == 0

    assert ("+- Allergic to nuts." in dry.stdout, was_there) == (True, False)
    assert (vault / "Agent/USER.md").read_text().split("\n\n") == [
        "## Food",
        "### Allergies",
        "- Allergic to nuts.\n- Allergic to eggs.\n",
    ]


def test_operations_come_from_a_file_too(run: Run, vault: Path, tmp_path: Path) -> None:
    """With a code fence around them, as models write them; text that is no JSON is an error."""
    file = tmp_path / "ops.json"
    file.write_text('```json\n{"ops": [{"op": "append", "line": "Meets on Mondays."}, {"op": "zap"}]}\n```\n')
    applied = answer(run("user", "apply", str(file), "--channel", "team", "--json"))
    file.write_text("no")
    wrong, missing = run("user", "apply", str(file)), run("user", "apply", "missing.json")

    assert [(each["outcome"], each["reason"]) for each in applied["results"]] == [
        ("applied", ""),
        ("rejected", "unknown_op"),
    ]
    assert (vault / "Agent/channels/team/CHANNEL.md").read_text() == "- Meets on Mondays.\n"
    assert wrong.returncode == 2
    assert missing.stderr.startswith("commonplace: missing.json cannot be read: No such file or directory\n")
