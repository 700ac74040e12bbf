"""Git, by plumbing: a commit touches exactly our paths, whatever else the person has staged, edited or configured."""

from commonplace.vault.git.repository import Author, Kept, NewCommit, Repository

__all__ = ["Author", "Kept", "NewCommit", "Repository"]
