"""Search: a query about today or a past day -> understood -> encoded -> candidates -> ranked -> hits with reasons.

`search` is the verb: it also checks that the note of each hit has not changed on disk since it was indexed, so that no
hit comes from a note that no longer says it. `search_index` is one reading of one index, at one moment.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.as_of import open_past
from commonplace.flows.encode import query_vectors, vector_warnings
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.index_notes import index_notes
from commonplace.flows.read import stat_or_none
from commonplace.flows.search.candidates import CandidateSearch, HybridScorer, Phrasing
from commonplace.flows.stores import Stores
from commonplace.index.base import Bm25Parameters, IndexReader, StoredChunk
from commonplace.model import Answer, Filters, Hit, Mode, SearchUnit
from commonplace.model.layout import is_visible_in
from commonplace.model.moment import moment_text
from commonplace.policy.sensitivity import Audience, visibility
from commonplace.questions.question import Question, understand
from commonplace.questions.snippets import cut_snippet
from commonplace.questions.words import STOP_WORDS, query_words
from commonplace.ranking.candidates import WEIGHTS, best_cosine, effective_k
from commonplace.ranking.hybrid import Clues, RankRequest, RecencyDecay, ScoredDocument, confidence, rank
from commonplace.ranking.options import RankingPart
from commonplace.ranking.score_modes import EmptySearch, RankedChunk, best_per_document, explain_no_results, fuse

POOL: Final = 48  # candidates from each half of the search, or four for each requested hit
HYBRID_POOL: Final = 96  # in the mode hybrid, which compares candidates by their sentences
SCORED: Final = 48  # chunks that the mode hybrid scores with their documents, or six for each requested hit
WIDER: Final = 2  # times as many if documents are ranked: each needs only one chunk
WIDEST: Final = 32  # times as many at most, if few documents have most of the chunks
SNIPPET_WIDTH: Final = 320  # characters of a hit that a terminal shows
_TITLE_ONLY: Final = Bm25Parameters(fields=(1, 0, 0, 0, 0))
_ATTEMPTS: Final = 5  # searches until no hit is from a note that has just changed
_SPARE: Final = 10  # extra hits, for those in other channels
_ELSEWHERE: Final = "All hits belong to a channel: give its scope."
_RESTLESS: Final = "All hits are being changed at this moment: search again."


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question and how to answer it; `as_of` is a moment as text, empty for now.

    `by` is what is ranked. Phrases such as "last week" are relative to `now`, or to the clock if it is None. With
    `snippets`, hits show the part of their text that has most of the question's words. `explain_empty` says why there
    are no hits, for which the whole index is counted. `channel` leaves out what other channels hold, unless it is None.
    """

    text: str
    mode: Mode = "hybrid"
    k: int | None = None
    min_score: float | None = None
    filters: Filters = field(default_factory=Filters)
    as_of: str = ""
    snippets: bool = False
    by: SearchUnit = "chunk"
    now: datetime | None = None
    channel: str | None = None
    explain_empty: bool = True


def search(query: SearchQuery, stores: Stores, *, audience: Audience) -> Answer:
    """The hits for a query, best first. Raises UsageError, IndexDamaged, and NotFound before history begins."""
    start = time.perf_counter()
    if not query.text.strip():
        return Answer(query.text, query.mode, searched=False, hits=(), took_ms=0.0, empty="The question is empty.")
    k = effective_k(query.k, default_k=stores.retrieval.default_k, max_k=stores.retrieval.max_k)
    wider = query if query.channel is None else replace(query, k=k + _SPARE)
    answer = _search_past(wider, stores, audience) if query.as_of else _search_today(wider, stores, audience)
    if query.channel is not None:
        answer = _in_channel(answer, query.channel, limit=k)
    answer = replace(answer, took_ms=round((time.perf_counter() - start) * 1000, 1))
    emit(
        "memory_retrieval",
        k=k,
        hits=len(answer.hits),
        mode=answer.mode,
        latency_ms=answer.took_ms,
        sources=list(query.filters.sources),
        times=answer.times,
    )
    return answer


def _in_channel(answer: Answer, channel: str, *, limit: int) -> Answer:
    """The answer without the hits in other channels."""
    hits = tuple(hit for hit in answer.hits if is_visible_in(hit.path, channel=channel))[:limit]
    return replace(answer, hits=hits, empty=answer.empty if hits or not answer.hits else _ELSEWHERE)


def _search_past(query: SearchQuery, stores: Stores, audience: Audience) -> Answer:
    last = datetime.fromisoformat(query.as_of) - timedelta(seconds=1)
    past = open_past(last, stores)
    try:
        answer = search_index(query, past.stores, audience).answer
        degraded = (*answer.degraded, *_missing_in_past(query, stores))
        return replace(answer, as_of=moment_text(last), history_begins=past.begins, degraded=degraded)
    finally:
        past.stores.index.close()


def _missing_in_past(query: SearchQuery, stores: Stores) -> tuple[str, ...]:
    """What a search in the past leaves out, although a search of today covers it."""
    are_requested = stores.sources and (not query.filters.sources or {*query.filters.sources} - {VAULT})
    if are_requested and stores.history.conversations(limit=1):
        return ("conversations: a search of the past covers notes only",)
    return ()


def _search_today(query: SearchQuery, stores: Stores, audience: Audience) -> Answer:
    """Search until no hit is from a note that changed since it was indexed; what cannot be settled is left out."""
    for _ in range(_ATTEMPTS):
        result = search_index(query, stores, audience)
        changed = {path for path, indexed in result.stamps.items() if _stamp(path, stores) != indexed}
        if not changed:
            return result.answer
        try:
            index_notes(changed, stores)
        except CommonplaceError as error:
            emit("ingest_failed", level="warning", paths=len(changed), said=str(error))
            break
    answer = result.answer
    hits = tuple(hit for hit in answer.hits if hit.path not in changed)
    left_out = len(answer.hits) - len(hits)
    warning = f"index: {left_out} hits left out, whose notes have changed and could not be indexed again"
    return replace(answer, hits=hits, degraded=(*answer.degraded, warning), empty=None if hits else _RESTLESS)


def _stamp(path: str, stores: Stores) -> tuple[float, int] | None:
    stat = stat_or_none(path, stores.vault)
    return (stat.mtime, stat.size) if stat else None


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """The answer of one index, and the mtime and size with which it has the notes of the hits, by path."""

    answer: Answer
    stamps: Mapping[str, tuple[float, int]]


@dataclass(frozen=True, slots=True)
class _Request:
    """A query with every default filled in."""

    query: SearchQuery
    filters: Filters
    now: datetime
    k: int
    min_score: float
    recency: RecencyDecay | None
    without: frozenset[RankingPart]
    sees_sensitive: bool


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A question with its words and vectors: as it is phrased, and as the people it names would phrase it.

    `halves` are the two things that it asks for, if it does. `chunks` is how many the index has.
    """

    question: Question
    plain: Phrasing
    spoken: Phrasing | None
    mode: Mode
    halves: tuple[Phrasing, ...] = ()
    chunks: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The ranked chunks, the best cosine of all candidates, and how confident the ranking is."""

    chunks: tuple[RankedChunk, ...]
    best_cosine: float | None
    confidence: float | None = None


def search_index(query: SearchQuery, stores: Stores, audience: Audience) -> IndexAnswer:
    """What one index has for the query. The query is encoded first, which may be slow; then the index is read once."""
    request, times = _request(query, stores, audience), dict[str, float]()
    with stores.index.reader() as reader:
        versions = dict(reader.versions()) if WEIGHTS[query.mode][1] else {}
        has_names = "names" not in request.without
        speakers = reader.speakers(sensitive=request.sees_sensitive) if has_names else frozenset[str]()
    with _timed(times, "understand"):
        question = understand(query.text, now=request.now, speakers=speakers)
    encoded = _encode(query, question, versions, stores, times)
    degraded = list(encoded.warnings)
    with stores.index.reader() as reader:
        if reader.last_sync() is None:
            degraded.append("index: the vault was never synced (run `commonplace sync`)")
        ranking = _rank(reader, request, encoded, times)
        with _timed(times, "hits"):
            chunks = reader.chunks([each.key for each in ranking.chunks])
            hits = _hits(chunks, ranking, request, words=encoded.plain.words)
        if not request.sees_sensitive:
            titles = withheld_titles(reader, encoded.plain.words, path=query.filters.path, limit=request.k)
            hits = (*hits, *titles)[: request.k]
        empty = _why_empty(reader, request, encoded.mode, ranking) if query.explain_empty and not hits else None
    answer = Answer(
        query.text,
        encoded.mode,
        searched=True,
        hits=hits,
        took_ms=0.0,
        degraded=tuple(degraded),
        empty=empty,
        times=times,
        confidence=ranking.confidence,
        understood=_understood(question),
    )
    notes = (each.document for each in chunks if each.document.source_type == VAULT)
    return IndexAnswer(answer, {note.source_id: (note.mtime, note.size) for note in notes})


def _request(query: SearchQuery, stores: Stores, audience: Audience) -> _Request:
    options, now = stores.retrieval, query.now or stores.clock()
    sees_sensitive = visibility(sensitive=True, audience=audience) == "whole"
    filters = replace(query.filters, at=query.filters.at or moment_text(now))
    return _Request(
        query,
        filters if sees_sensitive else replace(filters, sensitive="out"),
        now,
        k=effective_k(query.k, default_k=options.default_k, max_k=options.max_k),
        min_score=options.min_score if query.min_score is None else query.min_score,
        recency=RecencyDecay(days) if (days := options.recency_half_life_days) else None,
        without=frozenset(options.without),
        sees_sensitive=sees_sensitive,
    )


@contextmanager
def _timed(times: dict[str, float], what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    times[what] = round(times.get(what, 0.0) + (time.perf_counter() - start) * 1000, 2)


def _encode(
    query: SearchQuery, question: Question, versions: Mapping[str, int], stores: Stores, times: dict[str, float]
) -> _Encoded:
    """The question with its words and vectors; without any vector, the mode becomes `words`."""
    words, mode = query_words(query.text).words, query.mode
    if not WEIGHTS[mode][1]:
        return _Encoded(question, Phrasing(words, {}), None, mode)
    with _timed(times, "encode"):
        vectors, failures = query_vectors(query.text, versions, stores)
        if not vectors and (versions or stores.encoders.current is None):
            mode = "words"
        spoken = None
        if question.speakers and mode == "hybrid":
            spoken_vectors, more = query_vectors(question.sense, versions, stores)
            failures += more
            spoken = Phrasing(question.words.words, vectors | spoken_vectors)  # if only this failed, the plain ones do
        halves = tuple(
            Phrasing(query_words(half).words, query_vectors(half, versions, stores)[0])
            for half in (question.halves if mode == "hybrid" else ())
        )
        warnings = vector_warnings(versions, vectors, stores, failures=failures)
    plain, count = Phrasing(words, vectors), sum(versions.values())
    return _Encoded(question, plain, spoken, mode, halves, chunks=count, warnings=tuple(warnings))


def _rank(reader: IndexReader, request: _Request, encoded: _Encoded, times: dict[str, float]) -> _Ranking:
    """The best chunks; the pool is widened while the best chunks come from too few documents."""
    mode, by_document = encoded.mode, request.query.by == "document"
    wider = WIDER if by_document else 1
    while True:
        pool = max(HYBRID_POOL if mode == "hybrid" else POOL, 4 * request.k) * wider
        candidates = CandidateSearch(reader, request.filters, mode=mode, pool=pool)
        with _timed(times, "rank"):
            if mode == "hybrid":
                ranking = _rank_hybrid(reader, candidates, request, encoded, most=max(SCORED, 6 * request.k) * wider)
            else:
                ranking = _rank_fused(reader, candidates, request, encoded)
        for what, took in candidates.times.items():
            times[what] = round(times.get(what, 0.0) + took, 2)
            times["rank"] = round(times["rank"] - took, 2)
        is_short = by_document and len(ranking.chunks) < request.k and candidates.count >= pool
        if not is_short or wider >= WIDEST:
            return ranking
        wider *= 2 * WIDER


def _rank_hybrid(
    reader: IndexReader, candidates: CandidateSearch, request: _Request, encoded: _Encoded, *, most: int
) -> _Ranking:
    question = encoded.question
    clues = Clues(
        windows=question.windows,
        phrases=question.phrases,
        speakers=frozenset(question.speakers),
        asks_reply=question.asks_reply,
        recency=request.recency,
        without=request.without,
    )
    scorer = HybridScorer(reader, candidates, clues, most=most)
    documents, dropped = scorer.documents(encoded.plain, encoded.spoken, encoded.halves)
    cosine = _highest(best_cosine(one.candidate) for document in documents for one in document.chunks)
    ranked = rank(documents, RankRequest(request.query.by, request.k, request.min_score, dropped))
    return _Ranking(ranked, cosine, _confidence(documents, encoded) if ranked else 0.0)


def _confidence(documents: Sequence[ScoredDocument], encoded: _Encoded) -> float | None:
    """How sure the answer is; None for a question of nothing but stop words, which asks for nothing."""
    if STOP_WORDS.issuperset(encoded.question.words.spelled):
        return None
    return confidence(documents, (encoded.spoken or encoded.plain).words, chunks=encoded.chunks)


def _rank_fused(reader: IndexReader, candidates: CandidateSearch, request: _Request, encoded: _Encoded) -> _Ranking:
    matches = candidates.matches(encoded.plain)
    by_sentences = "sentences" not in request.without
    chunks = [
        matches.candidate(number, attributes, by_sentences=by_sentences)
        for number, attributes in reader.chunk_attributes(sorted(matches.numbers)).items()
    ]
    count, mode = len(encoded.plain.words), encoded.mode
    ranked = fuse(chunks, mode=mode, min_score=request.min_score, word_count=count, dropped=matches.dropped)
    if request.query.by == "document":
        ranked = best_per_document(ranked, {each.key: each.document for each in chunks})
    return _Ranking(ranked[: request.k], _highest(best_cosine(each, mode) for each in chunks))


def _highest(cosines: Iterable[float | None]) -> float | None:
    return max((each for each in cosines if each is not None), default=None)


def _hits(
    chunks: Sequence[StoredChunk], ranking: _Ranking, request: _Request, *, words: Sequence[str]
) -> tuple[Hit, ...]:
    return tuple(
        hit_of(chunk, ranked, words=words, snippet=request.query.snippets, at=request.filters.at)
        for chunk, ranked in zip(chunks, ranking.chunks, strict=True)
        if request.sees_sensitive or not chunk.document.sensitive
    )


def hit_of(stored: StoredChunk, ranked: RankedChunk, *, words: Sequence[str], snippet: bool, at: str = "") -> Hit:
    """The chunk as a hit; with `snippet`, it has the part of its text with most of the words.

    If it begins after the moment `at`, its metadata say from when it is planned.
    """
    document, chunk = stored.document, stored.chunk
    begins = document.valid_from
    cut = cut_snippet(chunk.text, words, width=SNIPPET_WIDTH) if snippet else None
    turn = {"turn": chunk.line, "role": chunk.voice, "speaker": chunk.speaker, "at": chunk.at} if chunk.voice else {}
    return Hit(
        chunk_id=chunk.id,
        document_id=document.id,
        source_type=document.source_type,
        path=document.source_id,
        title=document.title,
        heading_path=chunk.heading_path,
        line=chunk.line,
        text=chunk.text,
        score=ranked.score,
        cosine=ranked.cosine,
        sensitive=document.sensitive,
        updated=document.updated,
        metadata={**document.metadata, **turn, **({"planned_from": begins} if at and begins > at else {})},
        why=ranked.why,
        snippet=cut.text if cut else "",
        marks=cut.marks if cut else (),
    )


def withheld_titles(reader: IndexReader, words: Sequence[str], *, path: str, limit: int) -> tuple[Hit, ...]:
    """Sensitive documents whose title has a word of the query, as hits without text.

    Nothing else of them is searched: an answer that depended on their text would reveal it.
    """
    filters = Filters(path=path, sensitive="only")
    matches = reader.match_words(words, filters, limit=limit, bm25=_TITLE_ONLY).matches
    chunks = {each.document.id: each for each in reader.chunks([match.number for match in matches])}
    return tuple(map(_withheld_hit, chunks.values()))


def _withheld_hit(stored: StoredChunk) -> Hit:
    document = stored.document
    return Hit(
        chunk_id=stored.chunk.id,
        document_id=document.id,
        source_type=document.source_type,
        path=document.source_id,
        title=document.title,
        heading_path=(),
        line=0,
        text="",
        score=0.0,
        cosine=None,
        sensitive=True,
        updated=document.updated,
        metadata={"sensitive": True},
        why={"title": {"withheld": "the text is sensitive"}},
    )


def _why_empty(reader: IndexReader, request: _Request, mode: Mode, ranking: _Ranking) -> str:
    counts = reader.counts()
    return explain_no_results(
        EmptySearch(
            mode=mode,
            documents=sum(counts.documents.values()),
            passing=reader.count_documents(request.filters),
            synced=counts.synced is not None,
            words=query_words(request.query.text).spelled,
            nearest=ranking.best_cosine,
            min_score=request.min_score,
        )
    )


def _understood(question: Question) -> Mapping[str, Any]:
    """What the question was understood to say besides its words."""
    parts = {
        "speakers": question.speakers,
        "names": question.names,
        "phrases": question.phrases,
        "windows": tuple(asdict(window) for window in question.windows),
        "asks_reply": question.asks_reply,
        "asks_many": question.asks_many,
        "halves": question.halves,
    }
    return {name: value for name, value in parts.items() if value}
