"""A question for facts in SQL: each way in which a fact may fit walks an index, in the order of the answer."""

from collections.abc import Sequence
from typing import Any, Final

from commonplace.index.base import TAIL, FactQuery
from commonplace.index.sqlite.rows import folded, json_text, storable

_IN: Final = "IN (SELECT value FROM json_each(:{name}))"
_AMONG: Final = _IN.format(name="names")
_ENDS: Final = ("subject", "object")
_MANY: Final = 20
_ABOUT: Final = f"f.key IN (SELECT fact FROM memory_fact_topics WHERE topic {_IN})"  # noqa: S608
_LINKING: Final = """
f.origin = 'entry' AND f.document IN (
  SELECT l.document FROM memory_entities e CROSS JOIN memory_documents d ON d.key = e.document
  CROSS JOIN memory_links l ON l.path = d.source_id
  WHERE e.name IN (SELECT value FROM json_each(:names)) AND d.user_id = :user AND d.deleted_at IS NULL)
"""
_WAY: Final = """
SELECT key FROM (SELECT f.key FROM memory_facts f {by} WHERE f.user_id = :user AND f.keeps = 1 {conditions}
ORDER BY f.updated_at DESC, f.id LIMIT :limit)
"""
# The unary plus keeps SQLite from walking all facts in order: the keys are few.
_FACTS: Final = """
SELECT f.fact_json, f.end_at, f.end_by FROM memory_facts f WHERE f.key IN ({ways})
ORDER BY +f.updated_at DESC, f.id LIMIT :limit
"""


# Left to itself SQLite takes all facts of a user to be few. Fields with which hardly any fact fits come first.
_FEW: Final = {
    "ids": "INDEXED BY memory_facts_by_id",
    "prefix": "INDEXED BY memory_facts_by_id",
    "suffix": "INDEXED BY memory_facts_by_tail",
    "fingerprint": "INDEXED BY memory_facts_by_fingerprint",
    "claims": "INDEXED BY memory_facts_by_claim",
    "paths": "INDEXED BY memory_facts_by_path",
    "always_load": "INDEXED BY memory_facts_loaded_always",
}
_SOME: Final = {
    "topics": "NOT INDEXED",  # by their keys
    "predicate": "INDEXED BY memory_facts_by_predicate",
}
_EVERY: Final = "INDEXED BY memory_facts_by_update"


def facts_query(asked: FactQuery, *, user: str) -> tuple[str, dict[str, Any]]:
    """The question as SQL, and its values; rows are the text of a fact and its end."""
    conditions, values = _conditions(asked)
    few = next((by for field, by in _FEW.items() if getattr(asked, field)), "")
    ways, bound = _ways(asked)
    every = [_WAY.format(by=few or by, conditions=_joined([way, *conditions])) for by, way in ways]
    values |= bound | {"user": user, "limit": -1 if asked.limit is None else asked.limit}
    return _FACTS.format(ways=" UNION ".join(every)), values


def _ways(asked: FactQuery) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """The ways in which a fact may fit, each as the index that leads to it and a condition; and their values."""
    if asked.names:
        return _by_names([name for name in map(storable, dict.fromkeys(asked.names)) if name])
    some = next((by for field, by in _SOME.items() if getattr(asked, field)), "")
    return [(some or _EVERY, "")], {}


def _by_names(names: Sequence[str]) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """A way for each name, which walks no further than the limit; of many names, few have any fact, and one way does.

    SQLite unites 500 ways at most.
    """
    linking = ("INDEXED BY memory_facts_by_document", _LINKING)
    if len(names) > _MANY:
        together = [(f"INDEXED BY memory_facts_by_{end}", f"f.{end} <> '' AND f.{end} {_AMONG}") for end in _ENDS]
        return [*together, linking], {"names": json_text(names)}
    bound = {f"name{place}": name for place, name in enumerate(names)}
    ways = [
        (f"INDEXED BY memory_facts_by_{end}", f"f.{end} <> '' AND f.{end} = :{name}") for name in bound for end in _ENDS
    ]
    return [*ways, linking], bound | {"names": json_text(names)}


def _conditions(asked: FactQuery) -> tuple[list[str], dict[str, Any]]:
    given: dict[str, tuple[str, Any]] = {
        "ids": ("f.id " + _IN, _texts(asked.ids)),
        "paths": ("f.path " + _IN, _texts(asked.paths)),
        "fingerprint": ("f.fingerprint <> '' AND f.fingerprint = :{name}", storable(asked.fingerprint)),
        "claims": ("f.claim <> '' AND f.claim " + _IN, _texts(asked.claims)),
        "predicate": ("f.predicate <> '' AND f.predicate = :{name}", storable(asked.predicate)),
        "topics": (_ABOUT, _labels(asked.topics)),
        "statuses": ("f.status " + _IN, _texts(asked.statuses)),
        "origins": ("f.origin " + _IN, _texts(asked.origins)),
    }
    conditions = [given[name][0].format(name=name) for name in given if getattr(asked, name)]
    values = {name: given[name][1] for name in given if getattr(asked, name)}
    if asked.prefix:
        conditions.append("f.id >= :prefix AND f.id < :after")
        values |= {"prefix": storable(asked.prefix), "after": storable(asked.prefix) + "\U0010ffff"}
    if asked.suffix:
        conditions.append("substr(f.id, -6) = :tail AND substr(f.id, -length(:suffix)) = :suffix")
        values |= {"suffix": storable(asked.suffix), "tail": storable(asked.suffix)[-TAIL:]}
    plain = {
        "f.always_load = 1": asked.always_load,
        "f.sensitive = 0": not asked.sensitive,
        "f.place <> 'staging'": not asked.staged,
    }
    return [*conditions, *(condition for condition, holds in plain.items() if holds)], values


def _joined(conditions: Sequence[str]) -> str:
    return "".join(f" AND {each}" for each in conditions if each)


def _texts(texts: Sequence[str]) -> str:
    return json_text([*texts])


def _labels(labels: Sequence[str]) -> str:
    return json_text([folded(label) for label in labels])
