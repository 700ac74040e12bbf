"""A memory to remember with: a real vault under real git, a real SQLite index, the hashing encoder."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from commonplace.app import open_with
from commonplace.memory import Memory
from commonplace.model import Actor, ActorKind
from commonplace.settings.load import load_settings
from tests.vaults import make_vault

SETTINGS = {"embedding.provider": "hashing"}


def make_memory(
    folder: Path,
    *,
    actor: ActorKind = "person",
    clock: Callable[[], datetime] | None = None,
    settings: dict[str, object] | None = None,
    is_patient: bool = True,
) -> Memory:
    """The memory of the vault below that folder, made at first."""
    vault = folder / "vault"
    if not (vault / ".git").exists():
        make_vault(vault)
    flags = {**SETTINGS, "data": str(folder / "data"), "vault.root": str(vault), **(settings or {})}
    loaded = load_settings(flags=flags).settings
    clock = clock or (lambda: datetime.now(UTC))
    return open_with(loaded, actor=Actor(actor, "test"), clock=clock, is_patient=is_patient)


class Calendar:
    """A clock that stands still until it is told otherwise."""

    def __init__(self, at: datetime = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)) -> None:
        self.at = at

    def __call__(self) -> datetime:
        """Now."""
        return self.at

    def pass_(self, **time: float) -> None:
        """Let time pass."""
        self.at += timedelta(**time)
