"""Every backend keeps the contract, and every check of the contract can fail."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from commonplace.testing import CHECKS, ContractBroken, ContractCheck, Store, checks_for
from commonplace.vault.base import StorageBackend
from commonplace.vault.inmemory import InMemory
from commonplace.vault.local import DeviceLocal
from commonplace.vault.obsidian import ObsidianVault
from commonplace.vault.postgresql.store import PostgresqlVault
from tests.components import require
from tests.contract.broken_backends import BREAKAGES, Breakage
from tests.gitvault import AUTHOR, new_vault
from tests.postgresql import new_tenant, postgresql_server


def _in_memory(root: Path) -> Callable[[], StorageBackend]:
    store = InMemory()
    return lambda: store


def _obsidian_vault(root: Path) -> Callable[[], StorageBackend]:
    if not any(root.iterdir()):
        new_vault(root)
    return lambda: ObsidianVault(root, author=AUTHOR)


def _postgresql(root: Path) -> Callable[[], StorageBackend]:
    tenant = new_tenant()
    return lambda: PostgresqlVault(postgresql_server(), tenant=tenant, author=AUTHOR)


def _declared(twin: str) -> tuple[ContractCheck, ...]:
    """The checks for a twin; that in PostgreSQL says what it can do without a server."""
    kinds = {"postgresql": PostgresqlVault}
    return checks_for(cast(StorageBackend, kinds.get(twin) or TWINS[twin](Path(__file__).parent)()))


TWINS: dict[str, Callable[[Path], Callable[[], StorageBackend]]] = {
    "device-local": lambda root: lambda: DeviceLocal(root),
    "in-memory": _in_memory,
    "obsidian-vault": _obsidian_vault,
    "postgresql": _postgresql,
}
PAIRS = [pytest.param(twin, check, id=f"{twin}-{check}") for twin in TWINS for check in _declared(twin)]


@pytest.mark.requirement("A-03", "A-30", "D-33")
@pytest.mark.parametrize(("twin", "check"), PAIRS)
def test_every_backend_keeps_every_rule(twin: str, check: ContractCheck, tmp_path: Path) -> None:
    """A backend keeps the rules for all, and those of the capabilities it declares."""
    if twin == "postgresql":
        require("postgres")
    store = Store(open=TWINS[twin](tmp_path))

    check(store)


@pytest.mark.parametrize("breakage", BREAKAGES, ids=str)
def test_a_broken_backend_fails_exactly_the_check_of_the_rule_it_breaks(
    breakage: Breakage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each check holds one rule: a backend that breaks it fails there, and nowhere else."""
    monkeypatch.setattr("commonplace.testing.reads._STOP_TIMEOUT_S", 0.5)  # one of them never stops
    failed = [check.name for check in checks_for(breakage.store().open()) if _fails(check, breakage.store())]

    assert failed == [breakage.check]


def test_every_check_has_a_backend_that_fails_it() -> None:
    """No check that cannot fail."""
    assert sorted(breakage.check for breakage in BREAKAGES) == sorted(check.name for check in CHECKS)


def test_a_broken_rule_is_told_in_a_sentence() -> None:
    """Whoever writes a backend reads what it did wrong."""
    (breakage,) = (each for each in BREAKAGES if each.check == "check_no_update_is_lost")
    (check,) = (each for each in CHECKS if each.name == breakage.check)

    with pytest.raises(ContractBroken, match=r"updates .* were lost"):
        check(breakage.store())


def _fails(check: ContractCheck, store: Store) -> bool:
    try:
        check(store)
    except ContractBroken:
        return True
    return False
