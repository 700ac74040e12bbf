"""Recall: a question about today or about a day in the past -> hits, best first.

A hit whose note has changed on the disk since it was indexed is looked at again before it is shown: no hit from a note
that no longer says it.
"""

import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.document import VAULT
from commonplace.flows.ingest import ingest_paths
from commonplace.flows.look_up import Ask, LookUp
from commonplace.flows.past import shelf_at
from commonplace.flows.read import standing
from commonplace.flows.shelf import Shelf
from commonplace.model import Answer
from commonplace.policy.sinks import Sink
from commonplace.recalling.modes import effective_k
from commonplace.recalling.standing import in_channel
from commonplace.recalling.times import in_utc

_LOOKS: Final = 5  # searches until no hit is of a note that has just changed
_SPARE: Final = 10  # hits beyond those wanted, for those that other channels hold
_ELSEWHERE: Final = "What was found belongs to a channel: give its scope."
_RESTLESS: Final = "What was found is being changed at this moment: ask again."


def recall(ask: Ask, shelf: Shelf, *, sink: Sink) -> Answer:
    """The hits for a question, best first. Raises UsageError, IndexDamaged, and NotFound for a past without history."""
    start = time.perf_counter()
    if not ask.text.strip():
        return Answer(ask.text, ask.mode, searched=False, hits=(), took_ms=0.0, empty="The question is empty.")
    answer = _in_channel(ask, shelf, sink)
    answer = replace(answer, took_ms=round((time.perf_counter() - start) * 1000, 1))
    emit(
        "memory_retrieval",
        k=effective_k(ask.k, default_k=shelf.retrieval.default_k, max_k=shelf.retrieval.max_k),
        hits=len(answer.hits),
        mode=answer.mode,
        latency_ms=answer.took_ms,
        sources=list(ask.filters.sources),
        times=answer.times,
    )
    return answer


def _in_channel(ask: Ask, shelf: Shelf, sink: Sink) -> Answer:
    """The answer without what other channels hold; some more is looked for in its place."""
    most = effective_k(ask.k, default_k=shelf.retrieval.default_k, max_k=shelf.retrieval.max_k)
    wider = ask if ask.channel is None else replace(ask, k=most + _SPARE)
    answer = _answer_of_past(wider, shelf, sink) if ask.as_of else _answer_of_today(wider, shelf, sink)
    if ask.channel is None:
        return answer
    hits = tuple(hit for hit in answer.hits if in_channel(hit.path, channel=ask.channel))[:most]
    return replace(answer, hits=hits, empty=answer.empty if hits or not answer.hits else _ELSEWHERE)


def _answer_of_past(ask: Ask, shelf: Shelf, sink: Sink) -> Answer:
    last = datetime.fromisoformat(ask.as_of) - timedelta(seconds=1)
    past = shelf_at(last, shelf)
    try:
        answer = LookUp(ask, past.shelf, sink).answer()
        degraded = (*answer.degraded, *_left_out_of_past(ask, shelf))
        return replace(answer, as_of=in_utc(last), history_begins=past.begins, degraded=degraded)
    finally:
        past.shelf.index.close()


def _left_out_of_past(ask: Ask, shelf: Shelf) -> tuple[str, ...]:
    """What an answer about the past does without, though one about today has it."""
    are_wanted = shelf.sources and (not ask.filters.sources or {*ask.filters.sources} - {VAULT})
    if are_wanted and shelf.history.conversations(limit=1):
        return ("conversations: a search of the past covers notes only",)
    return ()


def _answer_of_today(ask: Ask, shelf: Shelf, sink: Sink) -> Answer:
    """The answer, once none of its hits is of a note that has changed since; what cannot be settled is left out."""
    for _ in range(_LOOKS):
        look = LookUp(ask, shelf, sink)
        answer = look.answer()
        changed = {path for path, known in look.read.items() if _stands(path, shelf) != known}
        if not changed:
            return answer
        try:
            ingest_paths(changed, shelf)
        except CommonplaceError as error:
            emit("ingest_failed", level="warning", paths=len(changed), said=str(error))
            break
    hits = tuple(hit for hit in answer.hits if hit.path not in changed)
    left = (
        f"index: {len(answer.hits) - len(hits)} hits left out, whose notes have changed and could not be indexed anew"
    )
    return replace(answer, hits=hits, degraded=(*answer.degraded, left), empty=None if hits else _RESTLESS)


def _stands(path: str, shelf: Shelf) -> tuple[float, int] | None:
    stat = standing(path, shelf.vault)
    return (stat.mtime, stat.size) if stat else None
