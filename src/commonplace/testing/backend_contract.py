"""Every rule that a storage backend keeps, theme by theme."""

from commonplace.testing.changing import CHANGING
from commonplace.testing.concurrency import CONCURRENCY
from commonplace.testing.contract import Check
from commonplace.testing.deriving import DERIVING
from commonplace.testing.history import HISTORY
from commonplace.testing.listing import LISTING
from commonplace.testing.paths import PATHS
from commonplace.testing.reading import READING
from commonplace.testing.telling import TELLING
from commonplace.testing.together import TOGETHER
from commonplace.testing.watching import WATCHING
from commonplace.vault.base import StorageBackend

CHECKS: tuple[Check, ...] = (
    *READING,
    *LISTING,
    *PATHS,
    *CHANGING,
    *TOGETHER,
    *TELLING,
    *DERIVING,
    *CONCURRENCY,
    *HISTORY,
    *WATCHING,
)


def checks_for(backend: StorageBackend) -> tuple[Check, ...]:
    """The checks that this backend must pass: those for all, and those for the capabilities it declares."""
    return tuple(check for check in CHECKS if check.needs is None or check.needs in backend.capabilities)
