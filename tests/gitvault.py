"""Vaults under real git, for tests: created, queried, and checked for leftovers."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from commonplace.vault.base import Label, TransactionResult
from commonplace.vault.changes import Changes
from commonplace.vault.git.commit import Author
from commonplace.vault.obsidian import ObsidianVault
from commonplace.vault.paths import is_temporary
from tests.vaults import make_vault

AUTHOR = Author("Commonplace", "commonplace@localhost")


def new_vault(root: Path, **notes: str) -> ObsidianVault:
    """A vault in a repository of its own, with these notes in its baseline."""
    make_vault(root, {f"{name}.md": text for name, text in notes.items()})
    return ObsidianVault(root, author=AUTHOR)


def git(root: Path, *arguments: str, check: bool = True, given: str | None = None) -> str:
    """What git prints, as a person at a terminal would run it."""
    command = ["git", "-c", "user.name=A Person", "-c", "user.email=person@localhost", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=check, input=given).stdout


def status(root: Path) -> list[str]:
    """The lines of `git status --short`."""
    return git(root, "--no-optional-locks", "status", "--short", "--untracked-files=all").splitlines()


def kinds(root: Path, path: str = ".") -> list[str]:
    """The kinds of the commits that touched the path, newest first; "" for one that is not ours."""
    return git(root, "log", "--format=%(trailers:key=Commonplace-Kind,valueonly,separator=)", "--", path).split("\n")[
        :-1
    ]


def versions(root: Path, path: str) -> list[str]:
    """Every text the path ever had in the history of the branch, newest first."""
    commits = git(root, "log", "--format=%H", "--full-history", "--", path).split()
    return [git(root, "show", f"{commit}:{path}", check=False) for commit in commits]


def leftovers(root: Path) -> list[str]:
    """Temporary files, journals, and lock files and temporary objects of git."""
    state = Path(os.environ["XDG_STATE_HOME"]) / "commonplace/journals"
    left = [path for path in root.rglob("*") if is_temporary(path.name)]
    left += [path for path in (root / ".git").rglob("*") if path.suffix == ".lock" or "tmp_" in path.name]
    left += [path for path in (root / ".git/commonplace").glob("*") if not path.name.startswith(("vault-", "state-"))]
    return [str(path) for path in (*left, *(path for path in state.glob("*") if path.stat().st_size))]


def write(
    vault: ObsidianVault, path: str, text: str, *, expected: str | None = None, label: Label | None = None
) -> TransactionResult:
    """Write one note and return the result."""
    results: list[TransactionResult] = []
    with vault.transaction(label=label, then=results.append) as changes:
        changes.write(vault.resolve(path), text.encode(), expected=expected)
    return results[-1]


Change = Callable[[ObsidianVault, Changes], None]


def write_note(vault: ObsidianVault, changes: Changes) -> None:
    """Plan to write over note.md."""
    changes.write(vault.resolve("note.md"), b"ours\n")


def delete_note(vault: ObsidianVault, changes: Changes) -> None:
    """Plan to delete note.md."""
    changes.delete(vault.resolve("note.md"))


def move_note(vault: ObsidianVault, changes: Changes) -> None:
    """Plan to move note.md."""
    changes.move(vault.resolve("note.md"), vault.resolve("folder/moved.md"))


def make(vault: ObsidianVault, change: Change) -> None:
    """Make one of these changes."""
    with vault.transaction() as changes:
        change(vault, changes)
