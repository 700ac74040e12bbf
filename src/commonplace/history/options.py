"""Settings of the history. None of them may be set from inside a vault."""

from dataclasses import dataclass
from typing import Literal

from commonplace.model import option

HistoryBackend = Literal["sqlite", "postgresql"]


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """The settings block `history`."""

    backend: HistoryBackend = option(
        "sqlite",
        "Where the history is stored: sqlite, in files of the data folder; or postgresql, in the database of "
        "`postgresql.url`, which several machines may share. `commonplace vault copy-history` copies it.",
    )
