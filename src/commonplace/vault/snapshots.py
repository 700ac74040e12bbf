"""Snapshots: what a person wrote and git does not have yet is committed before we change it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.vault.batch import Effect
from commonplace.vault.git import Kept, NewCommit, Repository
from commonplace.vault.git.history import KIND

_TRAILERS = ((KIND, "snapshot"),)


@dataclass(frozen=True, slots=True)
class Known:
    """One path of a mutation and what git has of it; `blob` is git's id of the bytes on disk, None for no file."""

    effect: Effect
    kept: Kept
    blob: str | None

    @property
    def path(self) -> str:
        """The path."""
        return self.effect.path

    @property
    def staged_alone(self) -> str | None:
        """The id of a version that only the index holds: it is neither committed nor on disk."""
        return self.kept.staged if self.kept.staged not in (None, self.kept.head, self.blob) else None

    @property
    def is_edited(self) -> bool:
        """Whether the file on disk is not what HEAD holds, or will not be once the staged version is committed."""
        return self.blob is not None and self.blob != (self.staged_alone or self.kept.head)


def look_up(git: Repository, effects: Sequence[Effect]) -> tuple[Known, ...]:
    """What git has of every path."""
    kept = git.kept([effect.path for effect in effects])
    return tuple(Known(effect, kept[effect.path], _blob_of(git, effect)) for effect in effects)


def snapshots(git: Repository, known: Sequence[Known]) -> tuple[NewCommit, ...]:
    """The commits that keep what is only staged, and after it what is only on disk."""
    staged = {each.path: git.blob(each.staged_alone, path=each.path) for each in known if each.staged_alone}
    on_disk = {each.path: each.effect.before.blob.content for each in known if each.effect.before and each.is_edited}
    return tuple(_keep(files) for files in (staged, on_disk) if files)


def _keep(files: Mapping[str, bytes]) -> NewCommit:
    what = next(iter(files)) if len(files) == 1 else f"{len(files)} files"
    return NewCommit(f"commonplace: keep what was written in {what}", _TRAILERS, files)


def _blob_of(git: Repository, effect: Effect) -> str | None:
    return git.blob_id(effect.path, effect.before.blob.content) if effect.before else None
