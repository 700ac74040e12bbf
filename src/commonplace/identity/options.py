"""Settings of the people of a server. None of them may be set from inside a vault."""

from dataclasses import dataclass
from typing import Literal

from commonplace.model import option

IdentityBackend = Literal["sqlite", "postgresql"]


@dataclass(frozen=True, slots=True)
class IdentityOptions:
    """The settings block `identity`."""

    backend: IdentityBackend = option(
        "sqlite",
        "Where people, their tokens and OAuth grants are stored: sqlite, in files of the daemon's folder; or "
        "postgresql, in the database of `postgresql.url`, so that several daemons know the same people. "
        "`commonplace person copy` copies everybody from one to the other.",
    )
