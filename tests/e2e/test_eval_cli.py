"""`commonplace eval` as people and programs run it."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command_line import run_commonplace
from tests.warm import warm_program

PATIENCE = 60.0
FILLER = "Bread rises slowly. Yeast wants warmth, flour, water, salt, patience and a bowl with a lid on its top today."

Done = subprocess.CompletedProcess[str]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the data of vaults goes, and temporary files, too, if there are any."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def run(vault: Path, *words: str) -> Done:
    return run_commonplace("--vault", str(vault), "eval", *words)


def texts_of(vault: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in vault.rglob("*") if file.is_file()}


def test_a_person_sees_how_well_search_works_on_their_vault(sample: Path, data: Path) -> None:
    """A table by mode and kind, then what was missed; the vault is as it was, and nothing temporary is left."""
    before = texts_of(sample)
    done = run(sample, "--misses", "1")
    head, *table = done.stdout.partition("\n\n")[0].splitlines()

    assert (done.returncode, done.stderr.count("questions about 17 notes")) == (0, 1), done.stderr
    assert head.split() == ["mode", "kind", "n", "@1", "@5", "@10", "MRR"]
    assert {line.split()[0] for line in table} == {"hybrid", "words", "sense", "rrf"}
    assert done.stdout.count("    expected  ") == 1
    assert texts_of(sample) == before
    assert [*data.rglob("*scratch-*")] == []


def test_a_program_gets_the_same_numbers_each_time(sample: Path) -> None:
    """The same seed, the same answer, but for the time it took and what had to be encoded."""
    words = ("--mode", "words", "--questions", "4", "--seed", "3", "--json")
    first, again = (json.loads(run(sample, *words).stdout) for _ in range(2))
    beside = ("took_ms", "encoded")

    assert {key: value for key, value in first.items() if key not in beside} == {
        key: value for key, value in again.items() if key not in beside
    }
    assert (first["ok"], first["questions"], first["modes"]) == (True, 4, ["words"])
    assert [row["n"] for row in first["rows"] if row["kind"] == "all"] == [4]


@pytest.mark.parametrize(
    ("words", "said"), [((), "too few questions can be made from this vault"), (("--mode", "x"), "no mode is called")]
)
def test_what_cannot_be_evaluated_is_said_plainly(tmp_path: Path, words: Sequence[str], said: str) -> None:
    """Exit code 2, the reason, and what to do."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/a.md").write_text("Few words.\n")
    done = run(tmp_path / "vault", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_what_a_killed_evaluation_left_goes_with_the_next(sample: Path, data: Path) -> None:
    """It holds what the notes say, so it does not stay for ever."""
    run(sample, "--mode", "words", "--questions", "1")
    (lock,) = data.rglob("scratch.lock")
    left = lock.with_name("scratch-left")
    left.mkdir()
    (left / "index.db").write_text("what the notes say")
    done = run(sample, "--mode", "words", "--questions", "1")

    assert done.returncode == 0, done.stderr
    assert not left.exists()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_whoever_stops_it_leaves_nothing_behind(tmp_path: Path, data: Path, ending: signal.Signals) -> None:
    """Ctrl-C while the temporary index is filled."""
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(600):
        (vault / f"{number}.md").write_text(f"{FILLER}\n\n## Heading of number{number}\n\n{FILLER} {number}\n")
    command = [warm_program(), "--vault", str(vault), "eval"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + PATIENCE
    while not any(data.rglob("scratch-*/index.db*")) and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(running.pid, ending)
    _, told = running.communicate(timeout=PATIENCE)

    assert (running.returncode, told) == (130, b"")
    assert [*data.rglob("*scratch-*")] == []
