"""Filters as SQL: which documents, and with them which chunks, a query may return. `queries` executes it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from commonplace.index.document_values import fold_label, valid_unicode
from commonplace.index.tables.sql import json_text
from commonplace.model import Filters

_PASSING: Final = " FROM memory_documents d WHERE user_id = :user AND deleted_at IS NULL"
_RANGE: Final = "first_chunk, chunk_count"
_RANGES_AMONG: Final = (
    "SELECT first_chunk, chunk_count FROM memory_documents d INDEXED BY memory_documents_by_chunk"
    " WHERE first_chunk IN (SELECT value FROM json_each(:among)) AND chunk_count > 0"
    " AND user_id = :user AND deleted_at IS NULL"
)
NOT_STAGED: Final = "place <> 'staging'"
NOT_ARCHIVED: Final = "place <> 'archive' AND status NOT IN ('superseded', 'expired', 'archived', 'deleted')"
"""What a search finds unless it asks for the archive."""
_IS_VALID: Final = "(ends_at = '' OR ends_at > :at)"
"""What has ended is not found; what begins later is, and the hit says so."""
_ENDED: Final = """
SELECT first_chunk, chunk_count FROM memory_documents INDEXED BY memory_documents_by_end
WHERE user_id = :user AND ends_at <> '' AND ends_at > :after AND ends_at <= :until AND chunk_count > 0
"""
_LAST_CHANGE: Final = (
    "SELECT max(ends_at) FROM memory_documents WHERE user_id = :user AND ends_at <> '' AND ends_at <= :at"
)
_HAS_LABEL: Final = (
    "EXISTS (SELECT 1 FROM memory_labels WHERE document = d.key AND field = '{field}'"
    " AND label IN (SELECT value FROM json_each(:{field})))"
)
_IS_IN: Final = "(source_id = :{folder} OR (source_id >= :{folder} || '/' AND source_id < :{folder} || '0'))"
_IS_ABOUT: Final = """
(d.key IN (SELECT value FROM json_each(:entity_keys)) OR d.key IN (
  SELECT document FROM memory_links WHERE path IN (SELECT value FROM json_each(:entity_paths))
  UNION SELECT document FROM memory_facts INDEXED BY memory_facts_by_subject
  WHERE user_id = :user AND subject <> '' AND subject IN (SELECT value FROM json_each(:entity_names))
  UNION SELECT document FROM memory_facts INDEXED BY memory_facts_by_object
  WHERE user_id = :user AND object <> '' AND object IN (SELECT value FROM json_each(:entity_names))))
"""
_ALL_RANGES: Final = f"""
SELECT first_chunk, chunk_count, {NOT_ARCHIVED} AND (:at = '' OR ({_IS_VALID})) FROM memory_documents
WHERE user_id = :user AND deleted_at IS NULL AND {NOT_STAGED}
"""  # noqa: S608
_BEFORE_ALL: Final = "0"  # sorts before every moment


@dataclass(frozen=True, slots=True)
class EntityMatches:
    """The documents that the entities of a filter refer to: by key, and by path for links to them.

    `names` are the normalized names under which facts may be about them.
    """

    keys: tuple[int, ...] = ()
    paths: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def searchable_sql(at: str) -> tuple[str, dict[str, Any]]:
    """Selects ranges of all searchable chunks, each with whether a search at that moment returns it without filters.

    A range is a document's first chunk number and how many chunks it has.
    """
    return _ALL_RANGES, {"at": at}


def passing_sql(
    filters: Filters | None, entities: EntityMatches, *, among: Sequence[int] | None = None, columns: str = _RANGE
) -> tuple[str, dict[str, Any]]:
    """Selects the ranges of the documents that pass the filters; without filters, of all that a search may return.

    With `among`, only those that begin with one of these chunks are looked at. `columns` selects something else.
    """
    conditions, values = _filter_conditions(filters, entities) if filters else ([], {})
    if among is None:
        return " AND ".join([f"SELECT {columns}{_PASSING}", NOT_STAGED, *conditions]), values
    return " AND ".join([_RANGES_AMONG, NOT_STAGED, *conditions]), values | {"among": json_text([*among])}


def _filter_conditions(filters: Filters, entities: EntityMatches) -> tuple[list[str], dict[str, Any]]:
    at = "" if filters.archived else filters.at
    conditions, values = _conditions(replace(filters, path=_folder(filters.path), at=at))
    outside = {f"outside{place}": _folder(each) for place, each in enumerate(filters.outside)}
    conditions += [f"NOT {_IS_IN.format(folder=name)}" for name in outside]
    values |= outside
    if filters.entities:
        conditions.append(_IS_ABOUT)
        matches = {"keys": entities.keys, "paths": entities.paths, "names": entities.names}
        values |= {f"entity_{what}": json_text(each) for what, each in matches.items()}
    return conditions, values


def ended_sql(one: str, other: str) -> tuple[str, dict[str, Any]]:
    """Selects the ranges of the documents that end between two moments: they pass at one of them alone."""
    return _ENDED, {"after": min(one, other), "until": max(one, other)}


def last_change_sql(filters: Filters) -> tuple[str, dict[str, Any]] | None:
    """Selects the last change of any document's validity up to `filters.at`; None if the filters have no moment."""
    if filters.archived or not filters.at:
        return None
    return _LAST_CHANGE, {"at": valid_unicode(filters.at)}


def at_change(filters: Filters, change: str | None) -> Filters:
    """The filters with `at` rounded down to that change; "" means that they have no moment.

    The same documents pass at all moments between two changes, so their masks can be reused.
    """
    return replace(filters, at=_BEFORE_ALL if change is None else change)


def _conditions(filters: Filters) -> tuple[list[str], dict[str, Any]]:
    available: dict[str, tuple[str, Any]] = {
        "sources": ("source_type IN (SELECT value FROM json_each(:sources))", json_text(filters.sources)),
        "kinds": (_HAS_LABEL.format(field="kind"), _labels(filters.kinds)),
        "tags": (_HAS_LABEL.format(field="tag"), _labels(filters.tags)),
        "topics": (_HAS_LABEL.format(field="topic"), _labels(filters.topics)),
        "path": (_IS_IN.format(folder="path"), filters.path),
        "since": ("updated_at >= :since", valid_unicode(filters.since)),
        "until": ("updated_at < :until", valid_unicode(filters.until)),
        "sensitive": ("sensitive = :sensitive", int(filters.sensitive == "only")),
        "at": (_IS_VALID, valid_unicode(filters.at)),
    }
    parameters = {"kinds": "kind", "tags": "tag", "topics": "topic"}
    used = [name for name in available if getattr(filters, name)]
    conditions = [available[name][0] for name in used]
    values = {parameters.get(name, name): available[name][1] for name in used}
    return (conditions if filters.archived else [*conditions, NOT_ARCHIVED]), values


def _folder(path: str) -> str:
    return valid_unicode(path).rstrip("/")


def _labels(labels: Sequence[str]) -> str:
    return json_text([fold_label(label) for label in labels])
