"""A document as the index in memory keeps it."""

from dataclasses import dataclass

from commonplace.model import Document

Rows = tuple[tuple[float, tuple[int, ...]], ...]
"""Vectors, each as its scale and its whole numbers: those of a chunk's parts, then those of its sentences."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document, the numbers and vectors of its chunks, and when it was seen and removed."""

    document: Document
    numbers: tuple[int, ...]
    vectors: tuple[Rows, ...]
    seen: float
    deleted: int | None = None
