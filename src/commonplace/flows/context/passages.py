"""Passages of notes and old conversations for a prompt: only if it plainly asks for them, or is very near to one.

A person's own earlier prompts are never memory. An answer of an assistant counts below an entry: where an entry fits
the prompt, no old answer is shown beside it.

In a large vault something is always near: the noise of the vault. What a dozen everyday prompts bring up is the measure
of that, and a passage for a prompt that does not ask for notes must be clearly nearer. Measured once for a size of the
index, and kept in memory.
"""

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonplace.context.options import NOTE_KIND, NotesMode
from commonplace.context.selection import (
    PASSAGE_RULE,
    PLAIN_ENTRY,
    holds_nothing,
    holds_only_links,
    is_off_topic,
    passage_threshold,
    passage_title,
)
from commonplace.events import emit
from commonplace.flows.context.facts import PieceOrOmission, with_topic_boost, withheld_note
from commonplace.flows.search.noise import PROBES, size_step
from commonplace.flows.search.search import SearchQuery, search
from commonplace.flows.stores import Session, Stores
from commonplace.model import Answer, Filters, Hit
from commonplace.model.context import OmittedPiece, Piece
from commonplace.model.conversation import hit_speaker, is_claim, quote_turn_headers
from commonplace.model.layout import MEMORY, is_entry_path, is_recallable
from commonplace.questions.prompt_needs import asks_for_notes, need_of
from commonplace.questions.question import query_of_prompt
from commonplace.sources.conversations import CHAT, CORRECTION, THREAD_TYPES, cut_words

_CORRECTED: Final = 120  # characters of what a correction corrects
_HITS: Final = 16  # passages that are considered
_NOT_ENTRIES: Final = Filters(outside=(MEMORY,))  # entries are judged among entries alone, and must not crowd out notes
_DAY: Final = re.compile(r"\d{4}-(?:\d{2}-\d{2}|W\d{2})")


@dataclass(frozen=True, slots=True)
class PassageRequest:
    """A prompt, and what narrows or ranks its passages: kinds, channel and topics.

    `kinds` are the requested ones, else those of the phase of work; empty for all. `nearest_entry` is the score of the
    entry that fits the prompt best, 0 if none does.
    """

    prompt: str
    mode: NotesMode
    kinds: tuple[str, ...] = ()
    channel: str = ""
    topics: tuple[str, ...] = ()
    nearest_entry: float = 0.0

    @property
    def is_asked(self) -> bool:
        """True if the prompt plainly asks for notes or conversations, or the caller does."""
        return self.mode == "always" or {*self.kinds} == {NOTE_KIND} or asks_for_notes(self.prompt)

    @property
    def why_not(self) -> str:
        """Why no passage is searched for; empty if some are."""
        if self.kinds and NOTE_KIND not in self.kinds:
            return "notes were not requested"
        if self.mode == "off":
            return "context.notes is off"
        if self.mode == "asked" and not self.is_asked:
            return "the prompt does not ask for notes"
        if self.nearest_entry >= PLAIN_ENTRY and not self.is_asked:
            return "an entry plainly fits the prompt, which does not ask for notes"
        return ""


def passage_pieces(request: PassageRequest, session: Session) -> tuple[tuple[PieceOrOmission, ...], Answer]:
    """The passages that fit the prompt, and the answer of the search for them. Raises IndexDamaged."""
    if reason := request.why_not:
        answer = Answer(request.prompt, "hybrid", searched=False, hits=(), took_ms=0.0, empty=reason)
        return (OmittedPiece("recalled", "", "scope", reason),), answer
    query = SearchQuery(
        query_of_prompt(request.prompt),
        k=min(_HITS, session.stores.retrieval.max_k),
        min_score=0.0,
        filters=_NOT_ENTRIES,
        explain_empty=False,
    )
    answer = search(query, session.stores, audience="prompt")
    return tuple(_pieces(answer.hits, request, session)), answer


def _pieces(hits: Sequence[Hit], request: PassageRequest, session: Session) -> Iterable[PieceOrOmission]:
    ours = [hit for hit in hits if not _out_of_scope(hit, request)]
    scores = {hit.chunk_id: _score(hit, request) for hit in ours}
    least = passage_threshold(scores.values(), least=session.stores.context.min_score)
    is_near = _is_near(request, session, best=max(scores.values(), default=0.0))
    for hit in hits:
        if hit.sensitive:
            yield withheld_note(hit.path, "recalled")
        elif reason := _out_of_scope(hit, request):
            source = "another place" if reason == _ELSEWHERE else _source_of(hit)
            yield from () if is_entry_path(hit.path) else (OmittedPiece("recalled", source, "scope", reason),)
        elif not is_near or scores[hit.chunk_id] < least or is_off_topic(hit):
            yield OmittedPiece("recalled", _source_of(hit), "unsure", f"too far from the prompt ({_nearness(hit)})")
        elif holds_only_links(hit.text):
            yield OmittedPiece("recalled", _source_of(hit), "unsure", "it contains only links")
        elif holds_nothing(hit.text):
            yield OmittedPiece("recalled", _source_of(hit), "unsure", "its section is empty")
        else:
            yield replace(_piece(hit), score=scores[hit.chunk_id])


def _is_near(request: PassageRequest, session: Session, *, best: float) -> bool:
    """True if the best passage is near enough; the noise is measured only if it may be."""
    need = need_of(request.prompt)
    if request.is_asked:
        return True
    if best < PASSAGE_RULE.threshold(noise=0.0, need=need):
        return False
    return best >= PASSAGE_RULE.threshold(noise=noise_level(session.stores), need=need)


_ELSEWHERE: Final = "it belongs to another channel, or is a style"


def _out_of_scope(hit: Hit, request: PassageRequest) -> str:
    """Why a hit is not considered as a passage; empty if it is."""
    if hit.sensitive or is_entry_path(hit.path):
        return "judged apart"
    if not is_recallable(hit.path, channel=request.channel):
        return _ELSEWHERE
    if hit.source_type not in THREAD_TYPES:
        return ""
    if hit.metadata.get("memory"):
        return "its conversation is not used for memory"
    if hit.source_type == CORRECTION:
        return "only a program says that the person said it" if is_claim(hit.metadata) else ""
    if hit.metadata.get("role") != "assistant":
        return "an earlier prompt is not memory"
    return "a fact says it, and counts before an old answer" if request.nearest_entry else ""


def _score(hit: Hit, request: PassageRequest) -> float:
    return round(with_topic_boost(hit.score, _topics_of(hit), boosted=request.topics), 4)


def _words(hit: Hit) -> str:
    """The passage as a prompt is given it: a turn with its headers quoted, a correction with what it corrects."""
    if hit.source_type not in THREAD_TYPES:
        return hit.text
    words, corrected = quote_turn_headers(hit.text), str(hit.metadata.get("corrects") or "")
    if hit.source_type != CORRECTION or not corrected:
        return words
    return f"{words}\n(The person said this to correct: {quote_turn_headers(cut_words(corrected, _CORRECTED))})"


def _piece(hit: Hit) -> Piece:
    return Piece(
        section="recalled",
        key=f"{hit.path}#{hit.line}",
        document=hit.path,
        source=_source_of(hit),
        text=_words(hit),
        why=f"fits the prompt ({_nearness(hit)})",
        title=passage_title(hit.path, hit.heading_path),
        day=_day_of(hit),
    )


def _topics_of(hit: Hit) -> tuple[str, ...]:
    topics = hit.metadata.get("frontmatter", {}).get("topics") or ()
    return tuple(map(str, topics)) if isinstance(topics, list | tuple) else (str(topics),)


def _day_of(hit: Hit) -> str:
    """The day the passage is about, or else that of its last change as far as the note says it.

    Empty if the note's name is a day or a week. The time of a file is left out: after a clone it is that of the clone.
    """
    at = str(hit.metadata.get("at") or "")
    is_told = at or hit.metadata.get("undated") or _DAY.search(hit.path.rpartition("/")[2])
    return at[:10] if is_told else hit.updated[:10]


def _nearness(hit: Hit) -> str:
    return f"score {hit.score:.2f}" + ("" if hit.cosine is None else f", cosine {hit.cosine:.2f}")


def _source_of(hit: Hit) -> str:
    if hit.source_type in THREAD_TYPES:
        noun = "conversation" if hit.source_type == CHAT else hit.source_type
        return ", ".join(filter(None, (f"{noun} {hit.path}", f"turn {hit.line}", hit_speaker(hit.metadata))))
    return f"{hit.path}:{hit.line}"


_PROBE_HITS: Final = 8  # some of which may be conversations
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
    return size_step(sum(versions.values()))


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

    threading.Thread(target=measure, name="measure-noise").start()


def _best_score(probe: str, stores: Stores) -> float:
    query = SearchQuery(probe, k=_PROBE_HITS, min_score=0.0, filters=_NOT_ENTRIES, explain_empty=False)
    hits = search(query, stores, audience="prompt").hits
    notes = (hit for hit in hits if hit.source_type not in THREAD_TYPES)
    return max((hit.score for hit in notes), default=0.0)
