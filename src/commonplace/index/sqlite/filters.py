"""Which chunks count in a search: one look at the documents, then a mask over each segment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import apsw
import numpy as np
import numpy.typing as npt

from commonplace.index.sqlite.rows import folded, json_text, storable
from commonplace.index.sqlite.segment import Numbers, Segment
from commonplace.model import Filters

Mask = npt.NDArray[np.bool_]

_LIVE: Final = "SELECT first_chunk, chunk_count FROM memory_documents d WHERE user_id = :user AND deleted_at IS NULL"
NOT_STAGED: Final = "place <> 'staging'"
NOT_ARCHIVED: Final = "place <> 'archive' AND status NOT IN ('superseded', 'expired', 'archived', 'deleted')"
"""What a search finds though nobody asks for the archive."""
_IS_VALID: Final = "valid_from <= :at AND (ends_at = '' OR ends_at > :at)"
_LAST_CHANGE: Final = """
SELECT max(value) FROM (
  SELECT max(valid_from) AS value FROM memory_documents
  WHERE user_id = :user AND valid_from <> '' AND valid_from <= :at
  UNION ALL
  SELECT max(ends_at) FROM memory_documents WHERE user_id = :user AND ends_at <> '' AND ends_at <= :at
)
"""
_HAS_LABEL: Final = (
    "EXISTS (SELECT 1 FROM memory_labels WHERE document = d.key AND field = '{field}'"
    " AND label IN (SELECT value FROM json_each(:{field})))"
)
_IS_ABOUT: Final = """
d.key IN (
  SELECT value FROM json_each(:entity_keys)
  UNION SELECT document FROM memory_links WHERE path IN (SELECT value FROM json_each(:entity_paths))
  UNION SELECT document FROM memory_facts INDEXED BY memory_facts_by_subject
  WHERE user_id = :user AND subject <> '' AND subject IN (SELECT value FROM json_each(:entity_names))
  UNION SELECT document FROM memory_facts INDEXED BY memory_facts_by_object
  WHERE user_id = :user AND object <> '' AND object IN (SELECT value FROM json_each(:entity_names))
)
"""
_EVERY: Final = f"""
SELECT first_chunk, chunk_count, {NOT_ARCHIVED} AND (:at = '' OR ({_IS_VALID})) FROM memory_documents
WHERE user_id = :user AND deleted_at IS NULL AND {NOT_STAGED}
"""  # noqa: S608
_DAWN: Final = "0"  # before every moment, and after none


@dataclass(frozen=True, slots=True)
class Entities:
    """The documents that the entities of a filter mean: by key, and by path where links may mean them.

    `names` are those under which facts may speak of them.
    """

    keys: tuple[int, ...] = ()
    paths: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Live:
    """The chunks that count, as a mask over each segment, and how many they are.

    `words` are those of their bodies, `replied` those of them that a program said; `documents` are those they are of.
    """

    masks: tuple[Mask, ...]
    sizes: tuple[int, ...]
    words: int
    replied: int
    documents: int

    @property
    def size(self) -> int:
        """How many chunks count."""
        return sum(self.sizes)


def at_last_change(connection: apsw.Connection, user: str, filters: Filters) -> Filters:
    """The same filters for every moment between two at which a document begins or ends to be valid.

    What passes them is the same at all of these, so a mask that was made for one does for the others.
    """
    if filters.archived or not filters.at:
        return replace(filters, at="")
    last: str | None = connection.execute(_LAST_CHANGE, {"user": user, "at": storable(filters.at)}).get
    return replace(filters, at=last or _DAWN)


def all_live(connection: apsw.Connection, user: str, segments: Sequence[Segment], *, at: str = "") -> tuple[Live, Live]:
    """Every chunk that a search of that user may find; then those that it finds at that moment without filters."""
    rows = connection.execute(_EVERY, {"user": user, "at": at}).fetchall()
    ranges = np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 3)
    return _masked(ranges[:, :2], segments), _masked(ranges[ranges[:, 2] > 0, :2], segments)


def live_under(
    connection: apsw.Connection, user: str, filters: Filters, *, entities: Entities, segments: Sequence[Segment]
) -> Live:
    """The chunks of that user which pass the filters."""
    conditions, values = _all_conditions(filters, entities)
    return _live(connection, conditions, values | {"user": user}, segments=segments)


def documents_under(connection: apsw.Connection, user: str, filters: Filters, *, entities: Entities) -> int:
    """How many documents of that user pass the filters."""
    conditions, values = _all_conditions(filters, entities)
    query = " AND ".join([_LIVE, *conditions])
    return len(connection.execute(query, values | {"user": user}).fetchall())


def mask_of(numbers: Numbers, first: Numbers, count: Numbers) -> Mask:
    """Which of the numbers, in order, lie in one of the ranges, which are in order and do not overlap."""
    if not len(numbers):
        return np.zeros(0, np.bool_)
    near = slice(
        int(np.searchsorted(first + count, numbers[0], side="right")),
        int(np.searchsorted(first, numbers[-1], side="right")),
    )
    begins = np.searchsorted(numbers, first[near])
    ends = np.searchsorted(numbers, first[near] + count[near])
    size = len(numbers) + 1
    return np.cumsum(np.bincount(begins, minlength=size) - np.bincount(ends, minlength=size))[:-1] > 0


def _all_conditions(filters: Filters, entities: Entities) -> tuple[list[str], dict[str, Any]]:
    at = "" if filters.archived else filters.at
    conditions, values = _conditions(replace(filters, path=storable(filters.path).rstrip("/"), at=at))
    if filters.entities:
        conditions.append(_IS_ABOUT)
        meant = {"keys": entities.keys, "paths": entities.paths, "names": entities.names}
        values |= {f"entity_{what}": json_text(each) for what, each in meant.items()}
    return [NOT_STAGED, *conditions], values


def _conditions(filters: Filters) -> tuple[list[str], dict[str, Any]]:
    given: dict[str, tuple[str, Any]] = {
        "sources": ("source_type IN (SELECT value FROM json_each(:sources))", json_text(filters.sources)),
        "kinds": (_HAS_LABEL.format(field="kind"), _labels(filters.kinds)),
        "tags": (_HAS_LABEL.format(field="tag"), _labels(filters.tags)),
        "topics": (_HAS_LABEL.format(field="topic"), _labels(filters.topics)),
        "path": ("(source_id = :path OR (source_id >= :path || '/' AND source_id < :path || '0'))", filters.path),
        "since": ("updated_at >= :since", storable(filters.since)),
        "until": ("updated_at < :until", storable(filters.until)),
        "sensitive": ("sensitive = :sensitive", int(filters.sensitive == "only")),
        "at": (_IS_VALID, storable(filters.at)),
    }
    bound = {"kinds": "kind", "tags": "tag", "topics": "topic"}
    asked = [name for name in given if getattr(filters, name)]
    conditions = [given[name][0] for name in asked]
    values = {bound.get(name, name): given[name][1] for name in asked}
    return (conditions if filters.archived else [*conditions, NOT_ARCHIVED]), values


def _labels(labels: Sequence[str]) -> str:
    return json_text([folded(label) for label in labels])


def _live(
    connection: apsw.Connection, conditions: Sequence[str], values: Mapping[str, Any], *, segments: Sequence[Segment]
) -> Live:
    rows = connection.execute(" AND ".join([_LIVE, *conditions]), values).fetchall()
    return _masked(np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 2), segments)


def _masked(ranges: npt.NDArray[np.int64], segments: Sequence[Segment]) -> Live:
    ranges = ranges[ranges[:, 1] > 0]
    first, count = ranges[np.argsort(ranges[:, 0])].T
    masks = tuple(mask_of(segment.numbers, first, count) for segment in segments)
    pairs = [*zip(segments, masks, strict=True)]
    return Live(
        masks=masks,
        sizes=tuple(int(np.count_nonzero(mask)) for mask in masks),
        words=sum(_words(segment, mask) for segment, mask in pairs),
        replied=sum(_words(segment, mask & segment.replies) for segment, mask in pairs),
        documents=len(ranges),
    )


def _words(segment: Segment, mask: Mask) -> int:
    return int(np.sum(segment.lengths, where=mask, dtype=np.int64))
