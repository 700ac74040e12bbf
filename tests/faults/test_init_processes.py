"""Many `init` at once: every vault is on the list, and one vault is on it once."""

import json
import subprocess
from pathlib import Path

from tests.run_length import rounds
from tests.warm import warm_program

PROCESSES = rounds(4, long=12)


def run_all(folders: list[Path]) -> list[int]:
    """The exit codes of `init` in each folder, all started before one is waited for."""
    command = [warm_program(), "init", "--yes", "--set", "embedding.provider=none"]
    running = [subprocess.Popen([*command, str(folder)], stdout=subprocess.DEVNULL) for folder in folders]
    return [process.wait(timeout=300) for process in running]


def listed() -> list[str]:
    """The folders of the vaults on the list."""
    command = [warm_program(), "vault", "list", "--json"]
    vaults = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return sorted(each["vault"] for each in vaults["vaults"])


def new_folder(folder: Path) -> Path:
    """A folder that looks like a vault."""
    (folder / ".obsidian").mkdir(parents=True)
    (folder / "note.md").write_text("# A note\n")
    return folder


def test_each_of_many_vaults_is_registered(tmp_path: Path) -> None:
    """The list is read and written under a lock."""
    folders = [new_folder(tmp_path / f"vault {number}") for number in range(PROCESSES)]

    assert run_all(folders) == [0] * PROCESSES
    assert listed() == sorted(map(str, folders))


def test_one_vault_is_registered_once(tmp_path: Path) -> None:
    """Whoever comes second finds it initialized."""
    folder = new_folder(tmp_path / "vault")

    assert run_all([folder] * PROCESSES) == [0] * PROCESSES
    assert listed() == [str(folder)]
    log = ["git", "-C", str(folder), "log", "--format=%h"]
    assert len(subprocess.run(log, capture_output=True, check=True).stdout.split()) == 1
