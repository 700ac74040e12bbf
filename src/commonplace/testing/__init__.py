"""The contract of storage backends, as checks that anyone can run against a backend of their own.

No test framework is needed. With pytest:

    import pytest
    from commonplace.testing import Store, checks_for
    from my_package import MyBackend

    @pytest.mark.parametrize("check", checks_for(MyBackend("/tmp/any")), ids=str)
    def test_my_backend_keeps_the_contract(check, tmp_path):
        check(Store(open=lambda: MyBackend(tmp_path)))

Every check needs an empty store of its own. A check that fails raises ContractBroken, which names the rule.

- `contract`      what a check is, and what checks share
- `reads`         paths, read, stat, exists, list; events for changes in the store
- `changes`       write, delete, move and derive; commits, old versions, merges
- `transactions`  all or nothing, results, locking and concurrent openers
"""

from commonplace.testing.changes import CHANGES, DERIVED_FILES, HISTORY
from commonplace.testing.contract import ContractBroken, ContractCheck, Store
from commonplace.testing.reads import LISTING, PATHS, READING, WATCHING
from commonplace.testing.transactions import CONCURRENCY, RESULTS, TRANSACTIONS
from commonplace.vault.base import StorageBackend

__all__ = ["CHECKS", "Check", "ContractBroken", "ContractCheck", "Store", "checks_for"]

Check = ContractCheck

CHECKS: tuple[ContractCheck, ...] = (
    *READING,
    *LISTING,
    *PATHS,
    *CHANGES,
    *TRANSACTIONS,
    *RESULTS,
    *DERIVED_FILES,
    *CONCURRENCY,
    *HISTORY,
    *WATCHING,
)


def checks_for(backend: StorageBackend) -> tuple[ContractCheck, ...]:
    """The checks this backend must pass: those for every backend, and those for the capabilities it declares."""
    return tuple(check for check in CHECKS if check.needs is None or check.needs in backend.capabilities)
