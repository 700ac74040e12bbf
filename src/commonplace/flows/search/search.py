"""Search: a query about today or a past day -> understood -> encoded -> candidates -> ranked -> hits with reasons.

`search` is the verb: it also checks that the note of each hit has not changed on disk since it was indexed, so that no
hit comes from a note that no longer says it. `search_index` is one reading of one index, at one moment.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.as_of import open_past
from commonplace.flows.encode import never_synced_text, query_vectors, vector_warnings
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.index_notes import index_notes
from commonplace.flows.search.candidates import CandidateSearch, HybridScorer, Phrasing
from commonplace.flows.search.noise import needed_nearness
from commonplace.flows.stores import Stores
from commonplace.index.base import Bm25Parameters, IndexReader, StoredChunk
from commonplace.model import Answer, Filters, Hit, Mode, SearchUnit
from commonplace.model.layout import CHANNELS, is_visible_in, obsidian_link, wordless_path
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.policy.sensitivity import Audience, visibility
from commonplace.questions.question import Question, understand
from commonplace.questions.snippets import cut_snippet
from commonplace.questions.words import STOP_WORDS, query_words
from commonplace.ranking.candidates import (
    DECIMALS,
    WEIGHTS,
    best_cosine,
    candidate_nearness,
    effective_k,
    limit_per_note,
)
from commonplace.ranking.hybrid import Clues, RankRequest, RecencyDecay, ScoredDocument, confidence, rank
from commonplace.ranking.options import RankingPart
from commonplace.ranking.score_modes import EmptySearch, RankedChunk, best_per_document, explain_no_results, fuse
from commonplace.sources.conversations import ISOLATED, THREAD_TYPES

POOL: Final = 48  # candidates from each half of the search, or four for each requested hit
HYBRID_POOL: Final = 96  # in the mode hybrid, which compares candidates by their sentences
ENCODED_ENOUGH: Final = 0.9  # of all chunks; below it one without vectors would come after every one that has them
SCORED: Final = 48  # chunks that the mode hybrid scores with their documents, or six for each requested hit
WIDER: Final = 2  # times as many if documents are ranked: each needs only one chunk
WIDEST: Final = 32  # times as many at most, if few documents have most of the chunks
SNIPPET_WIDTH: Final = 320  # characters of a hit that a terminal shows
_TITLE_ONLY: Final = Bm25Parameters(fields=(1, 0, 0, 0, 0))
_ATTEMPTS: Final = 5  # searches until no hit is from a note that has just changed
_SPARE: Final = 10  # extra hits, for those in other channels
_ELSEWHERE: Final = "All hits belong to another channel: give its scope."
_NO_CHANNELS: Final = "Notes of channels were not searched: give the scope of a channel to search it."
_RESTLESS: Final = "All hits are being changed at this moment: search again."


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question and how to answer it; `as_of` is a moment as text, empty for now.

    `by` is what is ranked. Phrases such as "last week" are relative to `now`, or to the clock if it is None. With
    `snippets`, hits show the part of their text that has most of the question's words. `explain_empty` says why there
    are no hits, for which the whole index is counted. `channel` leaves out what other channels hold, unless it is None.
    At most `per_note` passages of one note are among the hits, 0 for any number. Without a `min_score`, there are no
    hits if none of the question's words occurs and no passage is nearer than unrelated questions are to the vault.
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
    per_note: int = 0
    explain_empty: bool = True


def search(query: SearchQuery, stores: Stores, *, audience: Audience, progress: Progress = ignore_progress) -> Answer:
    """The hits for a query, best first. Raises UsageError, IndexDamaged, and NotFound before history begins.

    `progress` counts the notes that a search of the past has to index first.
    """
    start = time.perf_counter()
    if not query.text.strip():
        return Answer(query.text, query.mode, searched=False, hits=(), took_ms=0.0, empty="The question is empty.")
    k = effective_k(query.k, default_k=stores.retrieval.default_k, max_k=stores.retrieval.max_k)
    scoped, past = _scoped(query, k=k), bool(query.as_of)
    shown = partial(_shown, stores=stores, channel=query.channel, limit=k)
    if past:
        answer = shown(_search_past(scoped, stores, audience, progress))
    else:
        answer = shown(_search_today(scoped, stores, audience, shown))
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


def _scoped(query: SearchQuery, *, k: int) -> SearchQuery:
    """The query without the notes of channels; if it names a channel, with spare hits for those of other channels."""
    if query.channel is None:
        return query
    if query.channel:
        return replace(query, k=k + _SPARE)
    return replace(query, filters=replace(query.filters, outside=(*query.filters.outside, CHANNELS)))


def _shown(answer: Answer, *, stores: Stores, channel: str | None, limit: int) -> Answer:
    """The answer as the caller gets it: without what does not belong there, and without the spare hits."""
    answer = replace(answer, hits=_one_of_each_turn(_in_its_source(answer.hits, stores)))
    return answer if channel is None else _in_channel(answer, channel, limit=limit)


def _in_its_source(hits: tuple[Hit, ...], stores: Stores) -> tuple[Hit, ...]:
    """The hits without those of a conversation that has just been isolated, and is not yet in that source."""
    said = {hit.path: hit.source_type for hit in hits if hit.source_type in THREAD_TYPES}
    if not said:
        return hits
    traits, type_of = stores.history.thread_traits(said), stores.conversations.type_of
    moved = {path for path, type_ in said.items() if path in traits and type_of(traits[path]) != type_}
    return tuple(hit for hit in hits if hit.path not in moved or hit.source_type == VAULT)


def _one_of_each_turn(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The hits without the turns of a conversation that are among them as corrections."""
    corrected = {(parent, hit.text) for hit in hits if (parent := hit.metadata.get("parent"))}
    return tuple(hit for hit in hits if (hit.path, hit.text) not in corrected)


def _in_channel(answer: Answer, channel: str, *, limit: int) -> Answer:
    """The answer without the hits in other channels."""
    hits = tuple(hit for hit in answer.hits if is_visible_in(hit.path, channel=channel))[:limit]
    return replace(answer, hits=hits, empty=answer.empty if hits or not answer.hits else _ELSEWHERE)


def _search_past(query: SearchQuery, stores: Stores, audience: Audience, progress: Progress) -> Answer:
    last = datetime.fromisoformat(query.as_of) - timedelta(seconds=1)
    past = open_past(last, stores, progress=progress)
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


def _search_today(query: SearchQuery, stores: Stores, audience: Audience, shown: Callable[[Answer], Answer]) -> Answer:
    """Search until no hit is from a note that changed since it was indexed; what cannot be settled is left out.

    Of `shown` hits alone the notes are compared: each comparison looks at a file.
    """
    for _ in range(_ATTEMPTS):
        result = search_index(query, stores, audience)
        paths = {hit.path for hit in shown(result.answer).hits}
        changed = _changed(paths & result.stamps.keys(), result, stores)
        if not changed:
            return result.answer
        try:
            index_notes(changed, stores)
        except CommonplaceError as error:
            emit("ingest_failed", level="warning", paths=len(changed), said=str(error))
            break
    answer, changed = result.answer, _changed(result.stamps, result, stores)
    hits = tuple(hit for hit in answer.hits if hit.path not in changed)
    left_out = len(answer.hits) - len(hits)
    warning = f"index: {left_out} hits left out, whose notes have changed and could not be indexed again"
    return replace(answer, hits=hits, degraded=(*answer.degraded, warning), empty=None if hits else _RESTLESS)


def _changed(paths: Collection[str], result: "IndexAnswer", stores: Stores) -> set[str]:
    """Those of the notes that are not as the index has them."""
    stats = stores.vault.stats(paths)
    now = {path: (stat.mtime, stat.size) for path, stat in stats.items()}
    return {path for path in paths if now.get(path) != result.stamps[path]}


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
    """The ranked chunks, the best cosine and the best nearness of all candidates, and how confident the ranking is.

    `is_by_clue`: a word of the question occurs, or who spoke or when counts. `rejected` is as in the answer.
    """

    chunks: tuple[RankedChunk, ...]
    best_cosine: float | None
    nearness: float | None = None
    is_by_clue: bool = True
    confidence: float | None = None
    rejected: Mapping[str, float] = field(default_factory=dict)


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
            degraded.append(f"index: {never_synced_text(stores)}")
        ranking = _without_noise(_rank(reader, request, encoded, times), reader, request, stores)
        with _timed(times, "hits"):
            chunks = reader.chunks([each.key for each in ranking.chunks])
            hits = _hits(chunks, ranking, request, words=encoded.plain.words, vault=stores.vault_name)
        if not request.sees_sensitive:
            titles = _withheld_titles(reader, request, words=encoded.plain.words, vault=stores.vault_name)
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
        rejected=ranking.rejected,
    )
    notes = (each.document for each in chunks if each.document.source_type == VAULT)
    return IndexAnswer(answer, {note.source_id: (note.mtime, note.size) for note in notes})


def _request(query: SearchQuery, stores: Stores, audience: Audience) -> _Request:
    options, now = stores.retrieval, query.now or stores.clock()
    sees_sensitive = visibility(sensitive=True, audience=audience) == "whole"
    filters = replace(_without_isolated(query.filters, stores), at=query.filters.at or moment_text(now))
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


def _without_isolated(filters: Filters, stores: Stores) -> Filters:
    """The filters; if they name no source and something is isolated, with all other sources."""
    if filters.sources or not stores.index.stamps(ISOLATED):
        return filters
    return replace(filters, sources=(VAULT, *(each.type for each in stores.sources if each.type != ISOLATED)))


@contextmanager
def _timed(times: dict[str, float], what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    times[what] = round(times.get(what, 0.0) + (time.perf_counter() - start) * 1000, 2)


def _encode(
    query: SearchQuery, question: Question, versions: Mapping[str, int], stores: Stores, times: dict[str, float]
) -> _Encoded:
    """The question with its words and vectors; without enough vectors to compare, the mode becomes `words`."""
    words, mode = query_words(query.text).words, query.mode
    if not WEIGHTS[mode][1]:
        return _Encoded(question, Phrasing(words, {}), None, mode)
    with _timed(times, "encode"):
        vectors, failures = query_vectors(query.text, versions, stores)
        if not _are_enough(vectors, versions, mode) and (versions or stores.encoders.current is None):
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


def _are_enough(vectors: Mapping[str, object], versions: Mapping[str, int], mode: Mode) -> bool:
    """True if chunks can be ranked by meaning. While a vault is being encoded, a search by both goes by words alone."""
    if not WEIGHTS[mode][0]:
        return bool(vectors)
    seen = sum(number for version, number in versions.items() if version in vectors)
    return seen > 0 and seen >= ENCODED_ENOUGH * sum(versions.values())


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
        is_crowded = by_document or any(each.more for each in ranking.chunks)
        is_short = is_crowded and len(ranking.chunks) < request.k and candidates.count >= pool
        if not is_short or wider >= (WIDEST if by_document else WIDER):
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
        now=moment_text(request.now),
    )
    scorer = HybridScorer(reader, candidates, clues, most=most)
    documents, dropped = scorer.documents(encoded.plain, encoded.spoken, encoded.halves)
    chunks = [one.candidate for document in documents for one in document.chunks]
    query = request.query
    ranked = rank(documents, RankRequest(query.by, request.k, request.min_score, dropped, query.per_note))
    return _Ranking(
        ranked,
        _highest(map(best_cosine, chunks)),
        _highest(map(candidate_nearness, chunks)),
        is_by_clue=bool(clues.windows or clues.speakers or any(each.by for each in chunks)),
        confidence=_confidence(documents, encoded) if ranked else 0.0,
    )


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
    of_key = {each.key: each for each in chunks}
    best = limit_per_note(ranked, candidate=lambda one: of_key[one.key], k=request.k, per_note=request.query.per_note)
    return _Ranking(
        tuple(replace(each, more=more) for each, more in best),
        _highest(best_cosine(each, mode) for each in chunks),
        _highest(map(candidate_nearness, chunks)),
        is_by_clue=not WEIGHTS[mode][0] or any(each.by for each in chunks),
    )


def _without_noise(ranking: _Ranking, reader: IndexReader, request: _Request, stores: Stores) -> _Ranking:
    """The ranking, or one without chunks if no word of the question occurs and nothing is nearer than noise.

    A caller that gives a `min_score` decides how near is enough. The modes sense and vector ignore words.
    """
    if not ranking.chunks or ranking.is_by_clue or ranking.nearness is None or request.query.min_score is not None:
        return ranking
    words = query_words(request.query.text).spelled
    needed = needed_nearness(words, reader, request.filters, stores)
    if ranking.nearness >= needed:
        return ranking
    numbers = {"score": ranking.chunks[0].score, "nearness": ranking.nearness, "needed": needed}
    rejected = {name: round(value, DECIMALS) for name, value in numbers.items()}
    return replace(ranking, chunks=(), confidence=0.0 if request.query.mode == "hybrid" else None, rejected=rejected)


def _highest(cosines: Iterable[float | None]) -> float | None:
    return max((each for each in cosines if each is not None), default=None)


def _hits(
    chunks: Sequence[StoredChunk], ranking: _Ranking, request: _Request, *, words: Sequence[str], vault: str
) -> tuple[Hit, ...]:
    return tuple(
        _hit_of(chunk, ranked, words=words, snippet=request.query.snippets, at=request.filters.at, vault=vault)
        for chunk, ranked in zip(chunks, ranking.chunks, strict=True)
        if request.sees_sensitive or not chunk.document.sensitive
    )


def _hit_of(
    stored: StoredChunk, ranked: RankedChunk, *, words: Sequence[str], snippet: bool, at: str = "", vault: str = ""
) -> Hit:
    """The chunk as a hit; with `snippet`, it has the part of its text with most of the words.

    If it begins after the moment `at`, its metadata say from when it is planned. A note of a `vault` that has a name
    has a link to open it.
    """
    document, chunk = stored.document, stored.chunk
    begins = document.valid_from
    cut = cut_snippet(chunk.text, words, width=SNIPPET_WIDTH) if snippet else None
    turn = {"turn": chunk.line, "role": chunk.voice, "speaker": chunk.speaker, "at": chunk.at} if chunk.voice else {}
    undated = {} if document.is_dated else {"undated": True}
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
        metadata={**document.metadata, **turn, **undated, **({"planned_from": begins} if at and begins > at else {})},
        why=ranked.why,
        snippet=cut.text if cut else "",
        marks=cut.marks if cut else (),
        link=obsidian_link(document.source_id, vault=vault, heading_path=chunk.heading_path)
        if document.source_type == VAULT
        else "",
        more_in_note=ranked.more,
    )


def _withheld_titles(reader: IndexReader, request: _Request, *, words: Sequence[str], vault: str) -> tuple[Hit, ...]:
    """Sensitive documents whose title has a word of the query, as hits without text.

    Nothing else of them is searched: an answer that depended on their text would reveal it.
    """
    filters = Filters(path=request.query.filters.path, sensitive="only")
    matches = reader.match_words(words, filters, limit=request.k, bm25=_TITLE_ONLY).matches
    if not matches:
        return ()
    scores = {match.number: match.score for match in matches}
    chunks = sorted(reader.chunks([*scores]), key=lambda each: (-scores[each.number], each.document.source_id))
    return tuple(_withheld_hit(each, vault=vault) for each in {each.document.id: each for each in chunks}.values())


def _withheld_hit(stored: StoredChunk, *, vault: str) -> Hit:
    document = stored.document
    path = wordless_path(document.source_id)  # the name of an entry is made of its words
    return Hit(
        chunk_id=stored.chunk.id,
        document_id=document.id,
        source_type=document.source_type,
        path=path,
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
        link=obsidian_link(path, vault=vault) if document.source_type == VAULT and path == document.source_id else "",
    )


def _why_empty(reader: IndexReader, request: _Request, mode: Mode, ranking: _Ranking) -> str:
    counts = reader.counts()
    has_channels = CHANNELS in request.filters.outside and reader.count_documents(Filters(path=CHANNELS))
    said = explain_no_results(
        EmptySearch(
            mode=mode,
            documents=sum(counts.documents.values()),
            passing=reader.count_documents(request.filters),
            synced=counts.synced is not None,
            words=query_words(request.query.text).spelled,
            nearest=ranking.best_cosine,
            min_score=request.min_score,
            nearness=ranking.rejected.get("nearness"),
            needed=ranking.rejected.get("needed", 0.0),
        )
    )
    return f"{said} {_NO_CHANNELS}" if has_channels else said


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
