"""Today's marks over the past: what a note's owner marks as sensitive is so in every version of the note.

The vault is asked when an answer is made, so that a mark counts for an index of the past that is already built.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

from commonplace.errors import NotFound, Refused, VaultUnavailable
from commonplace.flows.read import locate
from commonplace.index.base import Found, Index, Reading
from commonplace.model import Document
from commonplace.notes import parse
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import is_sensitive
from commonplace.vault.base import StorageBackend


@dataclass(frozen=True, slots=True)
class Veil:
    """What is sensitive in the vault as it is now; `names` says where notes that were moved are today."""

    vault: StorageBackend
    safety: SafetyOptions
    names: Mapping[str, str]

    def covers(self, path: str) -> bool:
        """Whether the note that was there is sensitive today, or cannot be read: when in doubt, it is."""
        return any(self._is_sensitive(each) for each in {path, self.names.get(path, path)})

    def over(self, index: Index) -> Index:
        """The same index, in which what this veil covers is sensitive."""
        return cast("Index", _VeiledIndex(index, self))

    def _is_sensitive(self, path: str) -> bool:
        try:
            blob = self.vault.read(locate(path, self.vault))
        except NotFound:
            return False
        except (Refused, VaultUnavailable):
            return True
        return is_sensitive(parse(blob.content, path=path, mtime=blob.stat.mtime), self.safety)


def as_sensitive(document: Document, *, is_remote: bool = False) -> Document:
    """The document as if its note had the mark; nothing of it is for an encoder that `is_remote`."""
    chunks = (
        tuple(replace(chunk, parts=(), sentences=()) for chunk in document.chunks) if is_remote else document.chunks
    )
    return replace(document, sensitive=True, metadata={**document.metadata, "sensitive": True}, chunks=chunks)


class _VeiledIndex:
    """An index that is read through the veil; all else is its own."""

    def __init__(self, index: Index, veil: Veil) -> None:
        self._index, self._veil = index, veil

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        with self._index.reading() as reading:
            yield cast("Reading", _VeiledReading(reading, self._veil))


class _VeiledReading:
    def __init__(self, reading: Reading, veil: Veil) -> None:
        self._reading, self._veil = reading, veil

    def __getattr__(self, name: str) -> object:
        return getattr(self._reading, name)

    def found(self, numbers: Sequence[int]) -> tuple[Found, ...]:
        return tuple(
            replace(each, document=as_sensitive(each.document)) if self._is_covered(each.document) else each
            for each in self._reading.found(numbers)
        )

    def _is_covered(self, document: Document) -> bool:
        return not document.sensitive and self._veil.covers(document.source_id)
