"""The backend `device-local`: notes are files in a folder of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.vault.base import Capability, Label, Locator, Made, Then
from commonplace.vault.batch import make_all, plan_all
from commonplace.vault.changes import Changes
from commonplace.vault.derived import WAIT_S, refuse_other_names
from commonplace.vault.deriving import put_derived
from commonplace.vault.folder import Folder
from commonplace.vault.rules import own
from commonplace.vault.undisturbed import undisturbed


class DeviceLocal(Folder):
    """A folder whose files are replaced one by one, each in one step. It keeps no history."""

    name = "device-local"
    capabilities = frozenset({Capability.PERSISTENT, Capability.SHARED, Capability.WATCHED})

    @contextmanager
    def transaction(
        self, *, wait: float = 10.0, label: Label | None = None, then: Then | None = None
    ) -> Iterator[Changes]:
        """Take the lock and collect changes. Raises VaultUnavailable(locked) after `wait` seconds."""
        with self._lock.hold(wait=wait):
            changes = Changes(self)
            try:
                yield changes
            finally:
                changes.close()
            steps = plan_all(self._tree, changes.planned)
            with undisturbed():
                make_all(self._tree, steps)
            if then and changes.planned:
                then(Made(None, changed=bool(steps)))

    def derive(self, at: Locator, content: bytes) -> None:
        """Let a derived file say this, in one step. Raises Refused for a path that is not named `_index.md`."""
        path = refuse_other_names(own(at, self))
        with self._lock.hold(wait=WAIT_S):
            put_derived(self._tree, path, content)
