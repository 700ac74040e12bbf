"""The settings of the index: where it is stored, and how vectors are searched."""

from dataclasses import dataclass
from typing import Literal

from commonplace.model import option

Backend = Literal["sqlite", "postgresql"]
VectorSearch = Literal["exact", "approximate"]


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """The block `index`."""

    backend: Backend = option(
        "sqlite", "Where the index is: in files of this machine, or in the database of the block `postgresql`."
    )
    search: VectorSearch = option(
        "exact",
        "How PostgreSQL compares vectors: exact, or approximate for vaults with very many notes, which finds nearly "
        "all of the nearest passages and stays fast.",
    )
