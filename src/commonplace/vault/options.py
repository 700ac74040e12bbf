"""The settings of a vault."""

from dataclasses import dataclass
from pathlib import Path

from commonplace.model import option


@dataclass(frozen=True, slots=True)
class VaultOptions:
    """The block `vault`."""

    root: Path | None = option(None, "The folder that holds the notes, or postgresql:NAME for a vault in a database.")
    backend: str = option("obsidian-vault", "The storage backend that stores the notes.")
    git_filters: bool = option(
        False, "Whether git's external filters (LFS, git-crypt) run on our commits; only for a repository you trust."
    )
    lock_wait_seconds: float = option(10.0, "How long a write waits for another to finish.", at_least=0)
    git_author_name: str = option("Commonplace", "Author of every commit that Commonplace makes.")
    git_author_email: str = option("commonplace@localhost", "Address of that author.")
    commit_message: str = option("commonplace: {verb} {path}", "Message of a commit when the caller gives none.")
    max_read_bytes: int = option(
        5_000_000, "Largest note that is read and indexed, in bytes; a larger one is a problem.", at_least=1000
    )
    ignore_globs: tuple[str, ...] = option((".obsidian/**", ".trash/**", ".git/**"), "Paths that no command lists.")
