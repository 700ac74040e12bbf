"""The whole program on data that is damaged or cannot be written: each command works, or says what is wrong."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import Run, answer
from tests.permissions import read_only

READS = (
    ("search", "kettle"),
    ("facts", "Ada"),
    ("log",),
    ("note", "list"),
    ("stats",),
    ("context", "who is Ada"),
    ("topics",),
    ("timeline", "Ada"),
    ("review",),
    ("conversation", "list"),
)
WRITES = (("save", "Ada drinks green tea every morning."), ("sync",), ("rebuild",), ("lint",))


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A few notes: a damaged index is copied into place many times."""
    (tmp_path / "vault").mkdir()
    for name in ("Ada", "Boat", "Kettle"):
        (tmp_path / "vault" / f"{name}.md").write_text(f"# {name}\n\nAda works at Acme. The kettle is on the {name}.\n")
    return tmp_path / "vault"


@pytest.fixture
def data(vault: Path, run: Run) -> Path:
    """The data folder of the vault, which is synced and has a saved fact."""
    assert run("init", str(vault), named=False).returncode == 0
    assert run("save", "Ada works at Acme as an engineer.").returncode == 0
    assert run("sync").returncode == 0
    (folder,) = (Path(os.environ["XDG_DATA_HOME"]) / "commonplace").glob("vault-*")
    return folder


def said_well(done: subprocess.CompletedProcess[str], *, code: int) -> bool:
    """The exit code, a message and below it what to do; nothing of the inside of the program."""
    return done.returncode == code and done.stderr.count("\n") > 1 and "Traceback" not in done.stderr


def test_a_data_folder_that_cannot_be_written_can_be_read(data: Path, run: Run) -> None:
    """Questions are answered, changes are refused with what to do, and doctor names each file."""
    with read_only(data, *data.rglob("*")):
        read = {words: run(*words) for words in READS}
        refused = {words: run(*words) for words in WRITES}
        found = [each for each in answer(run("doctor", "--json"))["findings"] if not each["ok"]]

    assert {words: done.stderr for words, done in read.items() if done.returncode} == {}
    assert {words: done.stderr for words, done in refused.items() if not said_well(done, code=5)} == {}
    assert all("permission" in done.stderr for done in refused.values())
    assert {each["what"] for each in found} == {"history", "vectors", "index"}
    assert all("permission" in each["remedy"] for each in found)
    assert run("doctor").returncode == 0


@pytest.mark.parametrize("size", [2, 64, 4096])
def test_a_damaged_index_is_told_by_every_command_and_mended_by_rebuild(data: Path, run: Run, size: int) -> None:
    """Wherever the bytes are: an answer, or one message with its hint."""
    places = random.Random(size)
    shutil.copytree(data, data.with_name("whole"))
    file = data / "index/index.db"
    whole = file.read_bytes()
    wrong = {}
    for at in (0, *(places.randrange(len(whole) - size) for _ in range(3))):
        shutil.rmtree(data)
        shutil.copytree(data.with_name("whole"), data)
        file.write_bytes(whole[:at] + places.randbytes(size) + whole[at + size :])
        for words in (*READS, *WRITES, ("doctor",)):
            done = run(*words)
            is_told = done.returncode == 6 and "commonplace rebuild" in done.stderr
            if (done.returncode > 1 and not is_told) or "Traceback" in done.stderr:
                wrong[at, words] = done.stderr
        assert (run("rebuild").returncode, run("search", "kettle").returncode) == (0, 0)

    assert wrong == {}


def test_an_empty_head_is_told_with_a_command_that_mends_it(vault: Path, data: Path, run: Run) -> None:
    """`init` neither promises to mend it nor makes another repository over it; after the command all goes on."""
    (vault / ".git/HEAD").write_text("")
    (wrong,) = (each for each in answer(run("doctor", "--json"))["findings"] if not each["ok"])
    again = run("init", str(vault), named=False)
    command = wrong["remedy"].removeprefix("Run: ").removesuffix(".")

    assert "its HEAD is missing, empty or garbage" in wrong["said"]
    assert said_well(again, code=5)
    assert command in again.stderr
    subprocess.run(["sh", "-c", command], check=True)
    assert run("doctor").returncode == 0
    assert run("init", str(vault), named=False).returncode == 0
