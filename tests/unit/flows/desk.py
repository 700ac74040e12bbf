"""A desk to write at: a real vault under real git, with an in-memory history."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from commonplace.flows.write import Desk
from commonplace.history.inmemory import InMemoryHistory
from commonplace.model import Actor, ActorKind
from commonplace.policy.options import SafetyOptions
from commonplace.vault.git import Author, Repository
from commonplace.vault.obsidian import ObsidianVault

ME = Author("Commonplace", "commonplace@localhost")


def make_desk(
    root: Path, *, actor: ActorKind = "person", safety: SafetyOptions | None = None, wait: float = 10
) -> Desk:
    """A desk over the vault in that folder, which is put under git when it is not yet."""
    Repository.create(root, author=ME)
    return Desk(
        vault=ObsidianVault(root, author=ME),
        history=InMemoryHistory(),
        actor=Actor(actor, "test"),
        safety=safety or SafetyOptions(),
        message="commonplace: {verb} {path}",
        ignored=lambda path: False,
        clock=lambda: datetime(2026, 11, 15, tzinfo=UTC),
        ingest=lambda paths: None,
        forget=lambda paths, contents: None,
        wait=wait,
    )


def git(root: Path, *words: str) -> str:
    """What git prints."""
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout


def state(root: Path) -> tuple[dict[str, bytes], str, str]:
    """Everything that a refused change must leave alone: files, HEAD, and what git says of the tree."""
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
    return files, git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain=v1")
