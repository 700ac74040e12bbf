"""Many processes change one vault under git at once: they take turns, and each change is a commit."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gitvault import git, leftovers, new_vault, status
from tests.run_length import rounds

PROCESSES, ROUNDS = rounds(3, long=8), rounds(6, long=100)
NOTES = 10

COUNT = """
import sys
import time
from collections.abc import Callable
from pathlib import Path
from commonplace.vault.git.commit import Author
from commonplace.vault.obsidian import ObsidianVault
vault = ObsidianVault(Path(sys.argv[1]), author=Author("Commonplace", "commonplace@localhost"))
at = vault.resolve("count.md")
for number in range(int(sys.argv[2])):
    with vault.transaction(wait=600) as changes:
        changes.write(at, b"%d\\n" % (int(changes.read(at).content) + 1))
"""


@pytest.mark.requirement("I-44")
def test_many_processes_lose_no_update_and_each_is_a_commit(tmp_path: Path) -> None:
    """One lock for the whole vault does what a lock for each file would: no update is lost."""
    root = tmp_path / "vault"
    new_vault(root, count="0\n")
    counting = [subprocess.Popen([sys.executable, "-c", COUNT, root, str(ROUNDS)]) for _ in range(PROCESSES)]

    assert [process.wait(timeout=1500) for process in counting] == [0] * PROCESSES
    assert (root / "count.md").read_text() == f"{PROCESSES * ROUNDS}\n"
    assert int(git(root, "rev-list", "--count", "HEAD", "--", "count.md")) == PROCESSES * ROUNDS + 1
    assert (status(root), leftovers(root)) == ([], [])


WRITE = """
import random, sys
from commonplace import Conflict, open_memory
root, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(name)
with open_memory(root, actor="agent", settings={"vault.lock_wait_seconds": 600}) as memory:
    for number in range(rounds):
        text, path = f"agent {name} {number}", f"Inbox/{chance.randrange(NOTES)}.md"
        while True:
            try:
                memory.notes.write(path, text + "\\n")
                break
            except Conflict:  # a person saved in that moment: theirs stays, and we try again
                continue
        print(text, flush=True)
"""


def test_many_writers_and_a_person_lose_nothing(tmp_path: Path) -> None:
    """Agents write overlapping notes in many processes while a person edits the files directly, as editors do."""
    root = tmp_path / "vault"
    new_vault(root)
    (root / "Inbox").mkdir()
    command = [sys.executable, "-c", WRITE.replace("NOTES", str(NOTES)), str(root)]
    writers = [
        subprocess.Popen([*command, f"w{number}", str(ROUNDS)], stdout=subprocess.PIPE, text=True)
        for number in range(PROCESSES)
    ]
    saved = _edit_until(lambda: all(writer.poll() is not None for writer in writers), root)
    acknowledged = [line for writer in writers for line in (writer.communicate()[0]).splitlines()]
    kept = _everything_kept(root)

    assert [writer.returncode for writer in writers] == [0] * PROCESSES
    assert len(acknowledged) == PROCESSES * ROUNDS
    assert [text for text in acknowledged if f"{text}\n".encode() not in kept] == []
    assert [text for text in saved if not any(text in content for content in kept)] == []
    assert leftovers(root) == []
    sys.stdout.write(
        f"{len(acknowledged)} writes by {PROCESSES} processes, {len(saved)} saves of a person: none lost\n"
    )


def _edit_until(done: Callable[[], bool], root: Path) -> list[bytes]:
    """Add lines to the notes, by replacing the file or in place; every line that was saved."""
    chance = random.Random(1)
    saved: list[bytes] = []
    while not done():
        time.sleep(0.05)  # the pace of a hurried person
        note = root / f"Inbox/{chance.randrange(NOTES)}.md"
        line = f"person {len(saved)}.\n".encode()
        if not note.exists():
            continue
        if chance.random() < 0.5:
            with note.open("ab") as opened:
                opened.write(line)
                is_there = os.fstat(opened.fileno()).st_nlink > 0  # else someone else replaced the file meanwhile
        else:
            half_made = root / "Inbox/.half-made.swp"
            half_made.write_bytes(note.read_bytes() + line)
            os.replace(half_made, note)
            is_there = True
        if is_there:
            saved.append(line)
    return saved


def _everything_kept(root: Path) -> set[bytes]:
    """What is on disk, conflict copies included, and every blob that git has."""
    kept = {path.read_bytes() for path in root.rglob("*.md")}
    ids = {line.split(" ")[0] for line in git(root, "rev-list", "--objects", "--all").splitlines()}
    given = "".join(f"{each}\n" for each in ids).encode()
    batch = subprocess.run(["git", "-C", root, "cat-file", "--batch"], input=given, capture_output=True, check=True)
    rest = batch.stdout
    while rest:
        header, _, rest = rest.partition(b"\n")
        size = int(header.split(b" ")[2])
        kept.add(rest[:size])
        rest = rest[size + 1 :]
    return kept
