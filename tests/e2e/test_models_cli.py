"""A language model from the command line: set up, used, checked, and its key seen nowhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.llm.options import TASKS
from tests.command_line import Run, answer
from tests.llm_server import MODEL, Answer, Failure, ModelScript, serving_models

KEY = "sk-very-secret"
TALK = "User: I keep bees in Leipzig, nine hives of them.\nAssistant: Nine hives are a lot of honey.\n"
FACT = {"text": "Keeps bees in Leipzig.", "quote": "I keep bees in Leipzig", "message": 1, "importance": 0.8}


@pytest.fixture
def server(run: Run) -> Iterator[ModelScript]:
    """A server that the person's settings name."""
    with serving_models(default=Answer({"facts": [FACT]})) as script:
        for key, value in {
            "provider": "openai",
            "base_url": script.openai,
            "model": MODEL,
            "key_env": "MY_KEY",
        }.items():
            assert run("settings", "set", f"llm.{key}", value).returncode == 0
        yield script


def of_models(run: Run, **environ: str) -> list[str]:
    """What the doctor says about models."""
    findings = answer(run("doctor", "--json", **environ))["findings"]
    return [each["said"] for each in findings if each["what"] == "models"]


def test_a_model_is_set_up_used_and_checked(run: Run, server: ModelScript) -> None:
    """Settings, a conversation that it reads, and what that came to."""
    run("conversation", "add", "-", "--interface", "chatgpt", "--id", "1", given=TALK)
    (learned,) = answer(run("learn", "--all", "--json", MY_KEY=KEY))["results"]

    assert learned["extractor"].startswith(f"{MODEL}@")
    assert [each["text"] for each in learned["items"]] == ["Keeps bees in Leipzig."]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert of_models(run, MY_KEY=KEY) == [
        f"{' and '.join(TASKS)}: {MODEL}@127.0.0.1 answers (on this machine)",
        "spent today: 150 of 2,000,000 tokens, $0.0000 of $1.00",
    ]
    assert "MY_KEY holds no key" in of_models(run)[0]


def test_the_key_is_shown_and_stored_nowhere(run: Run, server: ModelScript, tmp_path: Path) -> None:
    """Not in output, settings, history or index, also when the server refuses it and repeats it."""
    server.default = Failure(401, {"type": KEY, "message": f"wrong key {KEY}"})
    commands = (
        ("learn", "--all"),
        ("doctor",),
        ("settings", "show"),
        ("--verbose", "save", "Keeps bees behind the old mill.", "--kind", "preference"),
    )
    run("conversation", "add", "-", "--interface", "chatgpt", "--id", "1", given=TALK)
    shown = "".join(done.stdout + done.stderr for done in (run(*words, MY_KEY=KEY) for words in commands))

    assert server.requests
    assert KEY not in shown
    places = [tmp_path, Path.home()]
    files = {file for place in places for file in place.rglob("*") if file.is_file()}
    assert [file for file in files if KEY.encode() in file.read_bytes()] == []
    assert "not asked until the settings change" in of_models(run, MY_KEY=KEY)[0]
    assert "not asked" not in of_models(run, MY_KEY="sk-another")[0]
