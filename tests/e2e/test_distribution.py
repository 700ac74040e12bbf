"""What is published: the wheel, its metadata, and the lines of the README that run it in a clean environment."""

import os
import subprocess
import sys
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

from commonplace import DISTRIBUTION, __version__

REPOSITORY = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree as `make dist` builds it."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(REPOSITORY)]
    made = subprocess.run(build, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture
def clean(tmp_path: Path) -> dict[str, str]:
    """An environment with a new home folder, in which nothing of this project can be imported."""
    home = tmp_path / "home"
    home.mkdir()
    ours = ("COMMONPLACE_", "XDG_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "HOME": str(home), "PATH": f"{TOOLS}:/usr/local/bin:/usr/bin:/bin"}


def run(clean: dict[str, str], *command: str) -> str:
    """What the command prints; a failing command fails the test with all that it said."""
    ran = subprocess.run(command, env=clean, cwd=clean["HOME"], capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode())


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    said = metadata(wheel)

    assert (said["Name"], said["Version"]) == ("commonplace-memory", __version__)
    assert said["Name"] == DISTRIBUTION
    assert said["License-Expression"] == "MIT"
    assert (said["Author"], said["Requires-Python"]) == ("The Commonplace developers", ">=3.11")
    assert {each.partition(",")[0] for each in said.get_all("Project-URL", [])} == {"Homepage", "Documentation"}
    assert said["Description-Content-Type"] == "text/markdown"
    assert str(said.get_payload()).startswith("# Commonplace")


def test_the_wheel_holds_the_program_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    info = f"commonplace_memory-{__version__}.dist-info/"
    assert [name for name in names if not name.startswith(("commonplace/", info))] == []
    assert {"commonplace/py.typed", "commonplace/sample_vault/People/Ada Lindqvist.md"} <= {*names}
    data = [name for name in names if name.endswith((".onnx", ".safetensors", ".jsonl", ".db"))]
    fitted_on = ["commonplace/extraction/examples/clauses.jsonl", "commonplace/flows/when_examples.jsonl"]
    assert (
        sorted(data) == fitted_on
    )  # the classifier of clauses, and the line between cues that name a situation or not


def test_uvx_runs_it_from_nothing(wheel: Path, clean: dict[str, str]) -> None:
    uvx = ("uvx", "--from", f"commonplace-memory[all] @ {wheel.as_uri()}", "commonplace")

    assert run(clean, *uvx, "--version").strip() == f"commonplace {__version__}"
    run(clean, *uvx, "init", "Notes")
    run(clean, *uvx, "save", "Waters the beds at six.", "--kind", "preference")
    assert "Waters the beds at six." in run(clean, *uvx, "search", "beds")


def test_pipx_installs_the_command(wheel: Path, clean: dict[str, str]) -> None:
    run(clean, "pipx", "install", f"{wheel}[all]")

    command = str(Path(clean["HOME"]) / ".local" / "bin" / "commonplace")
    assert run(clean, command, "--version").strip() == f"commonplace {__version__}"


def test_on_windows_it_says_what_to_do(clean: dict[str, str]) -> None:
    start = "import sys; sys.platform = 'win32'; from commonplace.__main__ import main; main()"
    ran = subprocess.run([sys.executable, "-c", start], env=clean, capture_output=True, text=True, timeout=240)

    assert ran.returncode == 1
    assert "Install it inside WSL" in ran.stderr
