"""The known entries nearest to a statement: by meaning and by the words that they share, those of its subject first.

Nearness decides nothing. It only finds what somebody who can read should see beside a new statement.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from commonplace.facts.cues import text_about
from commonplace.facts.integrate import compare
from commonplace.facts.profile import is_about_person, person_names
from commonplace.facts.validity import state_of
from commonplace.flows.cues import counting_cue
from commonplace.flows.encode import query_vectors
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.search.candidates import CHUNK_BM25
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Candidate, Fact, FactRecord, Filters
from commonplace.model.entry_field import made_from
from commonplace.model.fact import Neighbour
from commonplace.model.layout import MEMORY
from commonplace.questions.words import query_words

if TYPE_CHECKING:
    from commonplace.index.base import Fixed

MOST: Final = 5
"""Entries that are shown beside a new one."""

FLOOR: Final = 0.25
"""The cosine, with what shared words add to it, from which an entry is shown. `bench/changes.py` prints the curve."""

WORDS_ALONE: Final = 0.1
"""The score of shared words from which an entry is shown where there is no encoder."""

_SHARED_WORDS: Final = 0.15  # what a chunk full of the statement's words adds to its cosine
_POOL: Final = 24  # chunks that are compared, by meaning and by words
_LIVE: Final = ("current", "future")


class Nearest(NamedTuple):
    """Entries with how near they are, the nearest first; `by_words` if there is no encoder to compare meanings."""

    entries: tuple[tuple[FactRecord, float, float | None], ...]
    by_words: bool


def neighbours(
    statement: Candidate | Fact, session: Session, *, without: Collection[str] = ()
) -> tuple[tuple[Neighbour, ...], bool]:
    """The entries that hold and are near to the statement, at most MOST, and whether only words were compared.

    None with these ids. Raises IndexDamaged.
    """
    candidate = made_from(Candidate, statement)
    found, rules = nearest(candidate, session), session.stores.rules
    subject = rules.entity(candidate.subject)
    comparison = compare(candidate, [], rules=rules, now=session.now)
    shown = []
    for record, score, cosine in found.entries:
        fact = record.fact
        is_live = state_of(record, at=session.now) in _LIVE and fact.id not in without
        is_near = score >= (WORDS_ALONE if cosine is None else FLOOR)
        is_same = comparison.is_nearly_the_same(record)
        if is_live and (is_near or is_same) and not is_elsewhere(fact, candidate, session):
            own = bool(subject) and rules.entity(fact.subject) == subject
            shown.append((not is_same, not own, -score, Neighbour(fact, cosine, is_same)))
    shown.sort(key=lambda each: (*each[:3], each[3].fact.id))
    return tuple(each[3] for each in shown[:MOST]), found.by_words


def compared_text(statement: Candidate | Fact) -> str:
    """The text by which two entries are compared: what a statement is about, and its words."""
    return text_about(statement.text, counting_cue(statement.about))


def nearest(
    candidate: Candidate, session: Session, *, archived: bool = False, sensitive: bool | None = None
) -> Nearest:
    """The entries near to the candidate that this actor may see, in any state; `archived` adds what was put away.

    With `sensitive` those that it may not see as well, for what nobody is shown.
    """
    stores = session.stores
    with entry_reader(stores) as reader:
        versions = dict(reader.versions())
    waiting = replace(stores, waits_for_encoder=True)  # a save waits for the encoder
    vectors = query_vectors(compared_text(candidate), versions, waiting)[0]
    sees_all = session.sees_sensitive if sensitive is None else sensitive
    filters = Filters(path=MEMORY, sensitive="" if sees_all else "out", archived=archived)
    with stores.index.reader() as reader:
        scores = _scores(compared_text(candidate), vectors, filters, reader)
        records = reader.facts(FactQuery(paths=tuple(scores), origins=("entry",))) if scores else ()
    ranked = sorted(((each, *scores[each.fact.path]) for each in records), key=lambda each: (-each[1], each[0].fact.id))
    return Nearest(tuple(ranked), by_words=not vectors)


def is_elsewhere(fact: Fact, statement: Candidate | Fact, session: Session) -> bool:
    """True if the fact is of another project, and each project may have its own such fact."""
    projects = {fact.project.casefold(), statement.project.casefold()} - {""}
    return len(projects) > 1 and _may_differ(fact, statement, session)


def is_narrower(fact: Fact, statement: Candidate | Fact, session: Session) -> bool:
    """True if the fact is of one project and the statement of all, and each project may have its own such fact."""
    return bool(fact.project) and not statement.project and _may_differ(fact, statement, session)


def _may_differ(fact: Fact, statement: Candidate | Fact, session: Session) -> bool:
    """False for what is the same in each project: the person, and the named subject of a triple."""
    about = person_names((), user=session.stores.rules.user)
    return not statement.predicate and not is_about_person(fact, names=about)


def _scores(
    text: str, vectors: "Mapping[str, Fixed]", filters: Filters, reader: IndexReader
) -> dict[str, tuple[float, float | None]]:
    """The score of each entry by its path, and its cosine."""
    alike = reader.match_words(query_words(text).words, filters, limit=_POOL, bm25=CHUNK_BM25).matches[:_POOL]
    words = {match.number: match.score for match in alike}
    cosines: dict[int, float] = {}
    for version, vector in vectors.items():
        near = reader.match_vector(vector, filters, version=version, limit=_POOL)[:_POOL]
        scored = (*near, *reader.score_vector(vector, [*words], version=version))
        cosines |= {match.number: max(match.cosine, cosines.get(match.number, -1.0)) for match in scored}
    scores: dict[str, tuple[float, float | None]] = {}
    numbers = [*dict.fromkeys((*cosines, *words))]
    for number, chunk in zip(numbers, reader.chunks(numbers), strict=True):
        cosine = cosines.get(number)
        score = words.get(number, 0.0) * (_SHARED_WORDS if vectors else 1.0) + (cosine or 0.0)
        path = chunk.document.source_id
        if path not in scores or score > scores[path][0]:
            scores[path] = score, cosine
    return scores
