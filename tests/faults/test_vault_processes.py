"""Many processes change one vault under git at once: they take turns, and each change is a commit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gitvault import git, leftovers, new_vault, status

PROCESSES, ROUNDS = (8, 500) if os.environ.get("FAULTS") == "long" else (4, 8)

COUNT = """
import sys
from pathlib import Path
from commonplace.vault.git import Author
from commonplace.vault.obsidian import ObsidianVault
vault = ObsidianVault(Path(sys.argv[1]), author=Author("Commonplace", "commonplace@localhost"))
at = vault.resolve("count.md")
for number in range(int(sys.argv[2])):
    with vault.transaction(wait=600) as changes:
        changes.write(at, b"%d\\n" % (int(changes.read(at).content) + 1))
"""


@pytest.mark.requirement("A-29", "I-44")
def test_many_processes_lose_no_update_and_each_is_a_commit(tmp_path: Path) -> None:
    """One lock for the whole vault does what a lock for each file would: no update is lost."""
    root = tmp_path / "vault"
    new_vault(root, count="0\n")
    counting = [subprocess.Popen([sys.executable, "-c", COUNT, root, str(ROUNDS)]) for _ in range(PROCESSES)]

    assert [process.wait(timeout=1500) for process in counting] == [0] * PROCESSES
    assert (root / "count.md").read_text() == f"{PROCESSES * ROUNDS}\n"
    assert int(git(root, "rev-list", "--count", "HEAD", "--", "count.md")) == PROCESSES * ROUNDS + 1
    assert (status(root), leftovers(root)) == ([], [])
