"""`VectorCache` in memory."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.index.base import Fixed


class InMemoryVectorCache:
    """Vectors that are gone with the process."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, str], Fixed] = {}

    def get(self, version: str, hashes: Sequence[str]) -> "Mapping[str, Fixed]":
        """Those vectors that are there, by hash."""
        return {each: self._vectors[version, each] for each in hashes if (version, each) in self._vectors}

    def put(self, version: str, vectors: "Mapping[str, Fixed]") -> None:
        """Keep these vectors."""
        self._vectors |= {(version, each): vector.copy() for each, vector in vectors.items()}

    def forget(self, hashes: Sequence[str]) -> None:
        """Drop the vectors of these texts, whatever their version."""
        gone = set(hashes)
        self._vectors = {key: vector for key, vector in self._vectors.items() if key[1] not in gone}

    def mend(self) -> bool:
        """Nothing here can break."""
        return False

    def drop_unused(self, *, before: date) -> int:
        """Nothing here outlives the process."""
        return 0

    def close(self) -> None:
        """Nothing is open."""
