"""The noise of a vault: how near its passages come to prompts that have nothing to do with it.

In a large vault something is always near. What a dozen everyday prompts bring up is the measure of that: a passage for
a prompt that does not ask for notes must be clearly nearer. Measured once for a size of the index, and kept in memory.
"""

import threading
from dataclasses import replace
from math import log2
from typing import Final

from commonplace.events import emit
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Stores
from commonplace.model.layout import is_entry_path

PROBES: Final = (
    "Why is the build failing?",
    "Write a short poem about the sea.",
    "What is the capital of Australia?",
    "Refactor this function so that it is easier to read.",
    "How do I center a div?",
    "Translate this sentence into French.",
    "Plan a birthday party for a child.",
    "What does this error message mean?",
    "Explain how a car engine works.",
    "Give me three ideas for dinner.",
    "Commit the changes and push them.",
    "What happened in the news today?",
)
_STEPS: Final = 4  # for each doubling of the index
_HITS: Final = 8  # some of which may be entries or conversations
_UNKNOWN: Final = 0.5  # that of a garden of 748 notes is 0.49


def noise_level(stores: Stores) -> float:
    """The second highest score that a passage has for one of the probes; the highest may be what the vault is about.

    A prompt that does not wait for the encoder does not wait for this either: it gets the noise of a large vault, and
    the level is measured in the background. Raises IndexDamaged.
    """
    size = _size(stores)
    if size is None:
        return _UNKNOWN
    if size not in stores.noise_levels:
        if not stores.waits_for_encoder:
            _measure_in_background(size, stores)
            return _UNKNOWN
        stores.noise_levels[size] = _measured(stores)
    return stores.noise_levels[size]


def _size(stores: Stores) -> int | None:
    """The size of the index in steps, four for each doubling; None while some of it waits for vectors."""
    with stores.index.reader() as reader:
        versions = reader.versions()
    if stores.encoders.current and versions.get(""):
        return None
    return round(log2(sum(versions.values()) + 1) * _STEPS)


def _measured(stores: Stores) -> float:
    return sorted(_best_score(probe, stores) for probe in PROBES)[-2]


def _measure_in_background(size: int, stores: Stores) -> None:
    """Measure the level in a thread of its own; until it is known, others get that of a large vault, too."""
    stores.noise_levels[size] = _UNKNOWN
    waiting = replace(stores, waits_for_encoder=True, query_cache=None)

    def measure() -> None:
        try:
            stores.noise_levels[size] = _measured(waiting)
        except BaseException as error:  # noqa: BLE001 (no thread waits for it, and the next measures again)
            stores.noise_levels.pop(size, None)
            emit("noise_not_measured", level="warning", error=type(error).__name__)

    threading.Thread(target=measure, name="measure-noise", daemon=True).start()


def _best_score(probe: str, stores: Stores) -> float:
    query = SearchQuery(probe, k=_HITS, min_score=0.0, explain_empty=False)
    hits = search(query, stores, audience="prompt").hits
    notes = (hit for hit in hits if hit.source_type != "chat" and not is_entry_path(hit.path))
    return max((hit.score for hit in notes), default=0.0)
