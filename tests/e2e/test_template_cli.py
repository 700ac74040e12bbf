"""Templates from the command line: listed, shown, run once, and a dry run that prints the note."""

import re
from pathlib import Path

import pytest
import yaml

from commonplace import open_memory
from commonplace.facts.commitments import COMMITTED
from commonplace.model.layout import ARCHIVE_FOLDER, MEMORY, PEOPLE, STAGING
from tests.command_line import Run, answer, new_vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault in which something happened today."""
    folder = new_vault(tmp_path / "vault")
    with open_memory(folder) as memory:
        memory.entries.save("Ada prefers tea to coffee.", kind="preference")
    return folder


@pytest.mark.usefixtures("one_day")
def test_a_dry_run_prints_the_note_and_a_run_writes_it_once(run: Run, vault: Path) -> None:
    """The printed note is the one that is written."""
    shown = run("template", "run", "daily_reflection", "--dry-run").stdout
    assert not (vault / "Reflections").exists()
    written = answer(run("template", "run", "daily_reflection", "--json"))
    text = (vault / written["path"]).read_text()

    assert "- Ada prefers tea to coffee. ^e-" in shown
    assert text.partition("\n# ")[2].rstrip() == shown.partition("\n# ")[2].rstrip()
    assert (written["skipped"], written["text"]) == (False, text)
    assert run("template", "run", "daily_reflection", "--date", "2001-01-01").stdout.startswith(
        "Reflections/2001-01-01.md is not written: nothing"
    )


def test_templates_are_listed_and_shown(run: Run, vault: Path) -> None:
    """A template of the vault is marked, with what is wrong with it; the other fails no command."""
    own = vault / "Templates/commonplace/weekly_review.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\na: 1\n---\n{{ ''.__class__() }}\n")
    templates = {each["name"]: each for each in answer(run("template", "list", "--json"))["templates"]}
    refused = run("template", "run", "weekly_review")

    assert templates["daily_reflection"]["origin"] == "packaged"
    assert "may call nothing but" in templates["weekly_review"]["problem"]
    assert "yours: Templates/commonplace/weekly_review.md" in run("template", "list").stdout
    assert run("template", "show", "daily_reflection").stdout.startswith("---\ntype: daily-reflection\n")
    assert refused.returncode == 3
    assert "line 4 of the template Templates/commonplace/weekly_review.md is refused" in refused.stderr
    assert run("template", "show", "nope").returncode == 2


def test_a_profile_and_the_log_of_commitments_are_run_by_name(run: Run, vault: Path) -> None:
    """A note of the person gets a proposal; a profile without a name is a usage error."""
    (vault / "People").mkdir()
    (vault / "People/Ada.md").write_text("# Ada\n\n- [ ] [[Ada]]: send the offer\n")
    run("sync")
    profile, log = run("template", "run", "person_profile", "--about", "Ada"), run("template", "run", "commitment_log")
    nobody = run("template", "run", "person_profile")

    assert profile.stdout.startswith("People/Ada.md is yours: the sections wait: commonplace review show p-")
    assert log.stdout == "wrote Commitments/Commitment log.md\n"
    assert (nobody.returncode, "--about" in nobody.stderr) == (2, True)


def test_a_base_for_obsidian_names_the_folders_of_the_vault(run: Run) -> None:
    """It is printed and not written, is valid YAML, and asks for folders and keys that entries and notes have."""
    printed = run("template", "base").stdout
    base = yaml.safe_load(printed)
    asked = re.findall(r'inFolder\("([^"]+)"\)', printed)

    names = ["People", "Meetings", "Open commitments", "Waiting for review", "Stale facts"]
    assert [view["name"] for view in base["views"]] == names
    assert {*asked} == {PEOPLE, MEMORY, STAGING, f"{MEMORY}/{ARCHIVE_FOLDER}"}
    assert f'predicate == "{COMMITTED}"' in printed
