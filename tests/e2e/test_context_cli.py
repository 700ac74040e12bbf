"""`commonplace context`: what a session and a prompt would be given, from the command line; and the demo."""

from pathlib import Path

import pytest

from commonplace.cli.demo import STORY, Command
from commonplace.questions.words import query_words
from tests.command_line import Run, answer, new_vault

ALLERGY = "Is allergic to walnuts."
HOSE = "Waters the beds with the hose before breakfast."


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A new vault."""
    return new_vault(tmp_path / "vault")


@pytest.fixture(autouse=True)
def memories(run: Run, vault: Path) -> None:
    """Two entries and a note of the person's own."""
    run("save", ALLERGY, "--kind", "constraint")
    run("save", HOSE, "--kind", "preference")
    (vault / "Agent").mkdir(exist_ok=True)
    (vault / "Agent" / "USER.md").write_text("Writes British English.\n")
    (vault / "Kite.md").write_text("# Kite\n\nThe kite has a tail of silk ribbons.\n")
    run("sync")


def test_without_a_prompt_it_shows_what_a_session_is_given(run: Run) -> None:
    """The person's own notes and the profile, grouped; looking at it gives it to nobody."""
    first, again = run("context"), run("context", "--conversation", "c-1")

    assert "Writes British English." in first.stdout
    assert f"\nConstraints:\n- {ALLERGY} [" in first.stdout
    assert f"\nPreferences:\n- {HOSE} [" in first.stdout
    assert ALLERGY in again.stdout
    assert ALLERGY in run("context", "--conversation", "c-1").stdout


def test_explain_says_why_each_line_is_in_the_profile(run: Run) -> None:
    """One line for each piece, included or left out."""
    told = run("context", "--explain").stdout

    assert "in the profile (constraints, score " in told
    assert "in the profile (preferences, score " in told
    assert "+ user " in told


def test_with_a_prompt_it_shows_the_prompts_own_part_and_the_profile_on_request(run: Run) -> None:
    """Nothing for a prompt that needs nothing, which is said beside it."""
    own = run("context", "shall I water our beds with the hose?")
    both = run("context", "shall I water our beds with the hose?", "--profile")
    none = run("context", "write a haiku about rain")

    assert (HOSE in own.stdout, ALLERGY in own.stdout) == (True, False)
    assert (HOSE in both.stdout, ALLERGY in both.stdout, "British" in both.stdout) == (True, True, True)
    assert both.stdout.count(HOSE) == 1
    assert (none.stdout, none.returncode) == ("", 0)
    assert "nothing would be put before this prompt" in none.stderr


def test_notes_come_as_the_option_says(run: Run) -> None:
    """`asked` and `off` for one call; anything else is refused with what can be said."""
    near, asking = "the kite, a tail of silk ribbons", "what did I write about the kite and its tail of silk ribbons?"

    def shown(prompt: str, *words: str) -> bool:
        return "tail of silk ribbons." in run("context", prompt, *words).stdout

    assert [shown(near, "--notes", mode) for mode in ("auto", "asked", "off")] == [True, False, False]
    assert [shown(asking, "--notes", mode) for mode in ("auto", "asked", "off")] == [True, True, False]
    wrong = run("context", near, "--notes", "never")
    assert (wrong.returncode, "auto, always, asked, off" in wrong.stderr) == (2, True)


def test_the_project_is_that_of_the_folder(run: Run, tmp_path: Path) -> None:
    """`--folder`, or where one is."""
    for name in ("atlas", "boat"):
        (tmp_path / name / ".git").mkdir(parents=True)
    run("save", "Deploys go out with `ship.sh`.", "--kind", "workflow", "--project", "atlas")
    here = run("context", "--folder", str(tmp_path / "atlas")).stdout
    there = run("context", "--folder", str(tmp_path / "boat")).stdout

    assert ("ship.sh" in here, "ship.sh" in there) == (True, False)


def test_json_has_the_pieces_with_their_sections(run: Run) -> None:
    """For programs: the same fields as over HTTP."""
    told = answer(run("context", "--json"))

    assert {each["section"] for each in told["included"]} == {"user", "profile"}
    assert told["chars"] == len(told["text"]) <= told["budget"]
    assert all(each["why"] for each in told["included"])


def test_the_demo_asks_three_questions_that_share_no_word_with_their_memory() -> None:
    """It ends with an error unless each brings its memory and nothing else, and tests/docs run it to its end."""
    asked = [each for each in STORY if isinstance(each, Command) and each.brings]
    saved = [each.words[1] for each in STORY if isinstance(each, Command) and each.words[0] == "save"]

    assert len(asked) == 3
    for command in asked:
        (memory,) = {text for text in saved if text.startswith(command.brings.rstrip("."))}
        assert not {*query_words(command.words[1]).words} & {*query_words(memory).words}
