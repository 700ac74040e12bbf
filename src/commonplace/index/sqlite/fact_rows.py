"""Facts as rows, and rows as what they were."""

import json
from dataclasses import MISSING, Field, asdict, fields
from typing import Any, Final

from commonplace.index.base import Rules
from commonplace.index.sqlite.rows import folded, json_text, storable
from commonplace.model import Document, End, Fact, Known, Origins

_TUPLES: Final = ("topics", "confirmed")


def fact_columns(fact: Fact, document: Document, *, rules: Rules) -> dict[str, Any]:
    """What a fact's row says apart from its document's key, its position and its end."""
    texts = {
        "user_id": document.user,
        "id": fact.id,
        "path": document.source_id,
        "place": document.place,
        "origin": fact.origin,
        "status": fact.status,
        "fingerprint": fact.fingerprint,
        "claim": rules.claim(fact),
        "subject": rules.entity(fact.subject),
        "predicate": fact.predicate,
        "object": rules.entity(fact.object),
        "updated_at": fact.updated,
    }
    return {name: storable(text) for name, text in texts.items()} | {
        "sensitive": int(document.sensitive),
        "always_load": int(fact.always_load),
        "fact_json": fact_text(fact),
    }


def topics_of(fact: Fact) -> set[str]:
    """Under which topics a fact can be asked for."""
    return {folded(topic) for topic in fact.topics}


def fact_text(fact: Fact) -> str:
    """All of the fact but what is usual, for `fact_of`."""
    told = {field.name: getattr(fact, field.name) for field in fields(Fact) if not _is_usual(fact, field)}
    return json_text(told | ({"origins": asdict(fact.origins)} if "origins" in told else {}))


def fact_of(text: str) -> Fact:
    """The fact that was kept."""
    told: dict[str, Any] = json.loads(text)
    told |= {name: tuple(told[name]) for name in _TUPLES if name in told}
    if "bonds" in told:
        told["bonds"] = tuple((bond, target) for bond, target in told["bonds"])
    if "origins" in told:
        told["origins"] = Origins(**told["origins"])
    return Fact(**told)


def known_of(text: str, end_at: str, end_by: str) -> Known:
    """The fact, and its end where another begins."""
    return Known(fact_of(text), End(end_at, end_by) if end_by else None)


def _is_usual(fact: Fact, field: Field[Any]) -> bool:
    return field.default is not MISSING and getattr(fact, field.name) == field.default
