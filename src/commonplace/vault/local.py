"""The backend `device-local`: notes are files in a folder of this machine, without history."""

from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.vault.base import Capability, Label, Locator, OnCommit, TransactionResult
from commonplace.vault.batch import LOCK_WAIT_S, checked_derived_path, make_noted, plan_all, write_derived
from commonplace.vault.changes import Changes
from commonplace.vault.contract_errors import path_of
from commonplace.vault.folder import Folder


class DeviceLocal(Folder):
    """A folder whose files are replaced one by one, each atomically. It keeps no history."""

    name = "device-local"
    capabilities = frozenset({Capability.PERSISTENT, Capability.SHARED, Capability.WATCHED})

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: OnCommit | None = None
    ) -> Iterator[Changes]:
        """Take the lock and collect changes. Raises VaultUnavailable(locked) after `wait` seconds."""
        with self._hold(wait=wait):
            changes = Changes(self)
            try:
                yield changes
            finally:
                changes.close()
            steps = plan_all(self._tree, changes.planned)
            make_noted(self._tree, steps, unfinished=self._unfinished())
            if then and changes.planned:
                then(TransactionResult(None, changed=bool(steps)))

    def derive(self, at: Locator, content: bytes) -> None:
        """Write a derived file atomically. Raises Refused for a path that is not named `_index.md`."""
        path = checked_derived_path(path_of(at, self))
        with self._hold(wait=LOCK_WAIT_S):
            write_derived(self._tree, path, content, unfinished=self._unfinished())
