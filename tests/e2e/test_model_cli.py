"""`commonplace model`, as people and programs run it."""

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.components import MODEL_FOLDER, MULTILINGUAL_FOLDER
from tests.warm import warm_program

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The program, with a model folder of its own."""

    def call(
        *words: str, stderr: int = subprocess.PIPE, more: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        folder = {"COMMONPLACE_EMBEDDING__MODEL_FOLDER": str(tmp_path / "models/minilm-l6-v2")}
        return subprocess.run(
            [warm_program(), *words],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            check=False,
            env={**os.environ, **folder, **(more or {})},
        )

    return call


@pytest.mark.needs("model")
def test_the_model_is_installed_and_its_status_says_so(run: Run, tmp_path: Path) -> None:
    """Before: not there, and what to do. After: there. With -v, one event for each stage; without, nothing."""
    folder = tmp_path / "models/minilm-l6-v2"
    before = run("model", "status")
    done = run("model", "install", "-v", "--from", str(MODEL_FOLDER))
    stages = [json.loads(line)["stage"] for line in done.stderr.splitlines() if line.startswith("{")]
    again = run("model", "install", "--json")
    after = json.loads(run("model", "status", "--json").stdout)

    assert "Run `commonplace model install`" in before.stdout
    assert (done.returncode, done.stdout) == (0, f"The model is ready in {folder} ({MODEL_FOLDER}).\n")
    assert stages == [
        "checking",
        "fetching model.safetensors",
        "fetching tokenizer.json",
        "checking",
        "building the graph",
    ]
    assert (json.loads(again.stdout)["ok"], again.stderr) == (True, "")
    assert after == {
        "ok": True,
        "model": "minilm-l6-v2",
        "folder": str(folder),
        "variant": "int8",
        "installed": True,
        "missing": [],
        "graph_built": True,
    }


@pytest.mark.needs("model")
def test_a_terminal_shows_one_line_that_wipes_itself(run: Run) -> None:
    """Progress takes no room: every state replaces the one before, and the last leaves nothing."""
    leader, follower = pty.openpty()
    done = run("model", "install", "--from", str(MODEL_FOLDER), stderr=follower)
    os.write(follower, b"!")  # so that there is something to read, should it all be done within a second
    shown = os.read(leader, 100_000).decode().removesuffix("!")
    os.close(follower)
    os.close(leader)

    assert done.returncode == 0
    assert "\n" not in shown
    assert not shown or shown.startswith("\r\033[K")
    assert not shown or shown.endswith("\r\033[K")


def test_a_place_without_a_model_is_a_failure_of_the_provider(run: Run, tmp_path: Path) -> None:
    """Exit code 7, what was tried, and what else to do."""
    done = run("model", "install", "--from", str(tmp_path))

    assert done.returncode == 7
    assert f"{tmp_path}: it does not contain model.safetensors" in done.stderr
    assert "model install minilm-l6-v2 --from FILE" in done.stderr


def test_every_model_is_listed_with_its_state(run: Run, tmp_path: Path) -> None:
    """What it is for, its licence, how much has to be downloaded, and which one is in use."""
    more = {"COMMONPLACE_EMBEDDING__PROVIDER": "use-multilingual"}

    listed = {each["name"]: each for each in json.loads(run("model", "list", "--json", more=more).stdout)["models"]}
    shown = run("model", "list", more=more).stdout

    assert [*listed] == ["minilm-l6-v2", "gte-small", "use-multilingual"]
    assert [each["in_use"] for each in listed.values()] == [False, False, True]
    assert [each["download_megabytes"] for each in listed.values()] == [84, 161, 32]
    assert listed["gte-small"]["folder"] == str(tmp_path / "models/gte-small")
    assert not any(each["installed"] for each in listed.values())
    assert "in use, but not installed: 32 MB to download" in shown


def test_an_unknown_model_is_refused_with_the_list(run: Run) -> None:
    """For `install` and for `use` alike."""
    for verb in ("install", "use"):
        done = run("model", verb, "word2vec")

        assert done.returncode == 2
        assert "The models are minilm-l6-v2, gte-small, use-multilingual." in done.stderr


@pytest.mark.needs("multilingual")
def test_a_model_is_chosen_by_one_word_and_the_next_sync_encodes_again(run: Run, home: Path, tmp_path: Path) -> None:
    """Not before it is installed. The settings file keeps its comments, and the index has vectors of the new one."""
    settings = home / "config/commonplace/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('# mine\n[embedding]\nmodel = "hashing"  # quick\n')
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/a.md").write_text("The dog is called Bruno.\n")
    from_file = {"COMMONPLACE_EMBEDDING__PROVIDER": ""}
    run("init", str(tmp_path / "vault"), more=from_file)
    run("sync", more=from_file)

    early = run("model", "use", "use-multilingual", more=from_file)
    run("model", "install", "use-multilingual", "--from", str(MULTILINGUAL_FOLDER), more=from_file)
    done = run("model", "use", "use-multilingual", more=from_file)
    synced = json.loads(run("sync", "--json", more=from_file).stdout)
    found = json.loads(run("search", "Wie heißt der Hund?", "--mode", "sense", "--json", more=from_file).stdout)

    assert (early.returncode, done.returncode) == (7, 0)
    assert "Run `commonplace model install use-multilingual`." in early.stderr
    assert settings.read_text() == '# mine\n[embedding]\nprovider = "use-multilingual"\n'
    assert synced["encoded"] > 0
    assert [hit["source_path"] for hit in found["results"]] == ["a.md"]
    assert found["degraded"] == []


@pytest.mark.needs("multilingual")
def test_a_variable_that_names_another_encoder_is_said(run: Run, tmp_path: Path) -> None:
    """The file is changed, but the variable counts: nobody has to wonder why nothing happens."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models/use-multilingual").symlink_to(MULTILINGUAL_FOLDER)

    done = run("model", "use", "use-multilingual")

    assert "$COMMONPLACE_EMBEDDING__PROVIDER sets embedding.provider to hashing, and that counts." in done.stdout
