"""Facts and entries for a prompt: facts about whatever it names, the entries nearest to it, and a fact as a line.

Entries are found by meaning and words and judged among entries alone; each becomes a line or a playbook.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonplace.context.options import NOTE_KIND
from commonplace.context.selection import ENTRY_RULE, EntryMatch, fitting_entries, with_newest
from commonplace.facts.claims import kind_of_speaker
from commonplace.facts.commitments import is_commitment
from commonplace.facts.cues import is_playbook, phrases_of
from commonplace.facts.entry_paths import PLAYBOOK_KINDS, id_digits
from commonplace.facts.groups import giving_way, newest_first, newest_of, said_last
from commonplace.facts.playbooks import fitting_task
from commonplace.facts.profile import is_about_person, is_constraint, person_names
from commonplace.facts.relevance import fair_share, possible_names
from commonplace.facts.triples import ME, triple_sentence
from commonplace.flows.calendars import next_meetings_line
from commonplace.flows.encode import query_vectors, vector_warnings
from commonplace.flows.memory.commitments import commitments_named
from commonplace.flows.memory.facts import doubts_of, fact_snapshots, facts_for_prompt
from commonplace.flows.memory.groups import groups_among, nearness
from commonplace.flows.memory.neighbours import FLOOR
from commonplace.flows.search.candidates import CandidateSearch, Phrasing
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Fact, FactSnapshot, Filters
from commonplace.model.context import ContextSection, OmittedPiece, Piece
from commonplace.model.layout import MEMORY, is_entry_path
from commonplace.model.moment import long_day
from commonplace.questions.prompt_needs import asks_for_commitments, asks_for_meetings, need_of
from commonplace.questions.question import query_of_prompt
from commonplace.questions.words import query_words

PieceOrOmission = Piece | OmittedPiece

_TOPIC_BOOST: Final = 0.2  # added to the score of what is about the conversation's topics, as a part of it
_PER_LINE: Final = 1e-6
_SPARE: Final = 10  # extra facts, for those that are left out
_PERSON: Final = "Person"  # the subject of facts about the vault's owner
_WORD: Final = re.compile(r"\w{3,}")


def fact_pieces(prompt: str, session: Session, *, topics: Sequence[str]) -> tuple[PieceOrOmission, ...]:
    """The facts about what the prompt names, the most relevant first; those about these topics are boosted.

    Raises IndexDamaged.
    """
    stores = session.stores
    most = stores.facts.max_knowledge_facts
    relevant = facts_for_prompt(prompt, session, limit=2 * most + _SPARE)
    named = (each.snapshot for each in relevant if each.is_named and not each.snapshot.fact.always_load)
    facts = [each for each in named if not is_commitment(each.fact)]
    doubts = doubts_of(facts, session, below=stores.context.doubt_below)
    pieces = [
        replace(
            fact_piece(snapshot, session),
            why="the prompt names it",
            score=_score(snapshot, topics),
            doubt=doubts[snapshot.fact.id],
        )
        for snapshot in facts
    ]
    by_id = {snapshot.fact.id: snapshot.fact for snapshot in facts}
    best = sorted(pieces, key=lambda piece: (-piece.score, piece.key))
    shared = fair_share(best, lambda piece: by_id[piece.key], limit=most)
    ranked = [*dict.fromkeys(each.key for each in (*shared, *best))]
    groups = groups_among(by_id.values(), session, prompt=prompt)
    keys = {*with_newest(ranked, newest_of(groups), giving_way(groups, prompt=prompt), limit=len(shared))}
    said = f"the {most} most relevant facts were included"
    chosen = [each for each in best if each.key in keys]
    left_out = (OmittedPiece("facts", piece.source, "section", said) for piece in best if piece.key not in keys)
    return (*chosen, *_promises(prompt, session), *_meetings(prompt, session), *left_out)


def _meetings(prompt: str, session: Session) -> Iterator[Piece]:
    """The next meetings of the person's calendars in one line, for a prompt that asks about them."""
    if not asks_for_meetings(prompt) or not (line := next_meetings_line(session)):
        return
    digest = hashlib.sha256(line.encode(errors="surrogatepass")).hexdigest()[:12]
    why = "the prompt asks for them"
    yield Piece(section="facts", key=f"meetings#{digest}", document="", source="calendar", text=line, why=why)


def _promises(prompt: str, session: Session) -> Iterator[Piece]:
    """The open commitments of the people whom the prompt names, in one line; it comes again when they change.

    A prompt that asks for commitments and names nobody gets those of all. Where it does not ask, the line yields: a
    preference that applies now is worth more.
    """
    is_asked = asks_for_commitments(prompt)
    line, commitments = commitments_named(prompt, session, or_all=is_asked)
    if not line:
        return
    first = commitments[0]
    digest = hashlib.sha256(line.encode(errors="surrogatepass")).hexdigest()[:12]
    yield Piece(
        section="facts",
        key=f"commitments#{digest}",
        document=first.path,
        source=f"{first.path}:{first.line}",
        text=line,
        why=f"the prompt {'asks for them' if is_asked else 'names someone who has something to do'}",
        day=first.since,
        yields=not is_asked,
    )


def with_topic_boost(score: float, topics: Iterable[str], *, boosted: Iterable[str]) -> float:
    """The score, raised if one of the topics is boosted."""
    folded = {topic.casefold() for topic in boosted}
    return score * (1 + _TOPIC_BOOST) if folded & {topic.casefold() for topic in topics} else score


def withheld_note(path: str, section: ContextSection) -> OmittedPiece:
    """A note that is left out because it is sensitive. An entry's name is made of its words, so it is not shown."""
    source = "an entry" if is_entry_path(path) else path
    return OmittedPiece(section, source, "sensitive", "its owner hides it from programs")


def _score(snapshot: FactSnapshot, topics: Sequence[str]) -> float:
    """How relevant a fact is; equally important lines of one note keep their order."""
    boosted = with_topic_boost(snapshot.importance, snapshot.fact.topics, boosted=topics)
    return round(boosted - snapshot.fact.line * _PER_LINE, 6)


def fact_piece(snapshot: FactSnapshot, session: Session) -> Piece:
    """The fact as a piece of one line; the caller says why it is considered."""
    fact = snapshot.fact
    return Piece(
        section="facts",
        key=fact.id,
        document=fact.path,
        # The digits name an entry in every command; its path would be longer than its statement.
        source=f"{fact.path}:{fact.line}" if fact.origin == "line" else id_digits(fact.id),
        text=fact_line(snapshot, session),
        why="",
        kind=fact.kind,
        day=fact.begins[:10],
        valid_until=snapshot.until,
        fact=fact.id,
    )


def fact_line(snapshot: FactSnapshot, session: Session, *, longest: int = 0) -> str:
    """The fact in one line that says whom it is about, who said it and when it begins or ends, if that is ahead.

    A text with more than `longest` characters is cut; 0 cuts nothing.
    """
    fact = snapshot.fact
    text = " ".join(fact.text.split())
    subject = fact.subject.strip().strip("[]")
    if fact.origin == "line" and fact.predicate:
        text = triple_sentence(subject, fact.predicate, fact.object)
    elif session.stores.rules.entity(subject) == ME:
        text = f"{_PERSON}: {text}"
    elif subject and not _mentions(text, subject):
        kind = f" ({fact.kind})" if fact.origin == "line" and fact.kind not in ("", "fact") else ""
        text = f"{subject}{kind}: {text}"
    if longest and len(text) > longest:
        text = f"{text[:longest].rpartition(' ')[0] or text[:longest]} ..."
    said_by = f" (said by {fact.origins.author})" if fact.origins.author else ""
    return f"{text}{said_by}{_ahead(snapshot)}"


def _ahead(snapshot: FactSnapshot) -> str:
    """What the line adds about time: `(planned, from 3 December 2026)`, `(until 2026-12-03)`; empty for most."""
    if snapshot.state == "future":
        return f" (planned, from {long_day(snapshot.fact.begins)})"
    if snapshot.fact.due:
        return f" (due {snapshot.fact.due})"
    return f" (until {snapshot.until[:10]})" if snapshot.until else ""


def _mentions(text: str, subject: str) -> bool:
    """True if the text has the subject's name, or a part of it."""
    return bool({*_WORD.findall(subject.casefold())} & {*_WORD.findall(text.casefold())})


_POOL: Final = 48  # entries that are read by each half of the search
_NEAR_CHOSEN: Final = 0.5  # the cosine from which an entry may say what the best one has become
_OMITTED: Final = 5  # entries too far from the prompt that are listed as left out
_UNFITTING: Final = 0.7  # the score of a playbook whose tasks are worded otherwise; a plain entry needs 0.55
_MOST_PLAYBOOKS: Final = 200  # of each kind that are looked at, the last updated first
_MAX_LINE: Final = 600  # characters of an entry that is shown whole, as one line


@dataclass(frozen=True, slots=True)
class EntryRequest:
    """The prompts to judge entries by, the newest last, and what narrows or ranks them.

    `kinds` are the requested ones, else those of the phase of work; empty for all. `topics` are the conversation's.
    """

    prompts: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    project: str = ""
    topics: tuple[str, ...] = ()

    @property
    def is_for_notes_alone(self) -> bool:
        """True if only notes were requested."""
        return {*self.kinds} == {NOTE_KIND}


@dataclass(frozen=True, slots=True)
class EntryPieces:
    """The pieces and omissions, and what was missing in the search for them."""

    pieces: tuple[PieceOrOmission, ...] = ()
    degraded: tuple[str, ...] = ()

    def nearest(self, *, without: Collection[ContextSection] = ()) -> float:
        """The score of the entry that fits best and is not in a section that is left out; 0 if none fits."""
        scores = (each.score for each in self.pieces if isinstance(each, Piece) and each.section not in without)
        return max(scores, default=0.0)


def entry_pieces(request: EntryRequest, session: Session) -> EntryPieces:
    """The entries that fit one of the prompts, the best first. Raises IndexDamaged."""
    if request.is_for_notes_alone:
        return EntryPieces()
    pieces: dict[str, PieceOrOmission] = {}
    degraded: list[str] = []
    for prompt in reversed(request.prompts):
        found = _for_prompt(prompt, request, session)
        degraded += found.degraded
        for piece in found.pieces:
            key = piece.key if isinstance(piece, Piece) else f"{piece.source}: {piece.said}"
            pieces.setdefault(key, piece)
    return EntryPieces(tuple(pieces.values()), tuple(dict.fromkeys(degraded)))


@dataclass(frozen=True, slots=True)
class EntryCandidates:
    """The nearest entries to a prompt by id, how near each is, and how many entries there are in all."""

    snapshots: Mapping[str, FactSnapshot]
    matches: Mapping[str, EntryMatch]
    count: int
    degraded: tuple[str, ...] = ()


def entry_candidates(prompt: str, session: Session) -> EntryCandidates:
    """The nearest entries that hold or will hold, whether they fit the prompt or not. Raises IndexDamaged."""
    stores, query = session.stores, query_of_prompt(prompt)
    with stores.index.reader() as reader:
        versions = dict(reader.versions())
    vectors, failures = query_vectors(query, versions, stores)
    phrasing = Phrasing(query_words(query).words, vectors)
    with stores.index.reader() as reader:
        matches, count = _matches(phrasing, reader)
        facts = FactQuery(paths=tuple(matches), origins=("entry",), statuses=("active",), sensitive=False)
        records = reader.facts(facts) if matches else ()
    held = [each for each in fact_snapshots(records, session) if each.state in ("current", "future")]
    snapshots = {each.fact.id: each for each in held}
    near = {
        id: replace(matches[each.fact.path], is_constraint=is_constraint(each.fact), is_cued=bool(each.fact.when))
        for id, each in snapshots.items()
    }
    warnings = vector_warnings(versions, vectors, stores, failures=failures)
    return EntryCandidates(snapshots, near, count, tuple(warnings))


def _matches(phrasing: Phrasing, reader: IndexReader) -> tuple[dict[str, EntryMatch], int]:
    """The nearest entries by path, and how many entries there are."""
    filters = Filters(path=f"{MEMORY}/", sensitive="out")
    found = CandidateSearch(reader, filters, mode="hybrid", pool=_POOL).matches(phrasing)
    best: dict[str, EntryMatch] = {}
    for number, attributes in reader.chunk_attributes(sorted(found.numbers)).items():
        path, words, sense = attributes.path, found.words.get(number), found.vectors.get(number)
        match = EntryMatch(
            sense.best if sense else None, words.score if words else 0.0, own=sense.cosine if sense else None
        )
        best[path] = max(match, best.get(path, match), key=EntryMatch.score)
    return best, reader.count_documents(filters)


def _for_prompt(prompt: str, request: EntryRequest, session: Session) -> EntryPieces:
    """A piece for each entry that fits the prompt, and an omission for the nearest that do not."""
    candidates = entry_candidates(prompt, session)
    playbooks = _playbooks_for(prompt, session)
    names = frozenset(possible_names(prompt, session.stores.rules))
    reasons = {id: _out_of_scope(each.fact, request, session, names=names) for id, each in candidates.snapshots.items()}
    reasons |= {id: reason or _unfitting(id, candidates) for id, reason in reasons.items() if id not in playbooks}
    near = {
        id: replace(match, is_on_topic=_is_on_topic(candidates.snapshots[id].fact, request.topics))
        for id, match in candidates.matches.items()
        if not reasons[id] and id not in playbooks
    }
    holding = (each.fact for id, each in candidates.snapshots.items() if id in near and each.state == "current")
    groups = groups_among(holding, session, prompt=prompt)
    need, count = need_of(prompt), candidates.count
    older = giving_way(groups, prompt=prompt)
    chosen = fitting_entries(near, need=need, count=count, newest=newest_of(groups), giving_way=older)
    every = fitting_entries(near, need=need, count=count, rule=replace(ENTRY_RULE, most=len(near)))
    chosen += _newer(chosen, every, candidates, session)
    snapshots = [candidates.snapshots[id] for id in chosen]
    doubts = doubts_of(snapshots, session, below=session.stores.context.doubt_below)
    pieces = [_piece(each, near[each.fact.id], session, doubt=doubts[each.fact.id]) for each in snapshots]
    others = sorted((id for id in near if id not in chosen), key=lambda id: -near[id].score())[:_OMITTED]
    omitted = [
        *(OmittedPiece("facts", id_digits(id), "scope", reason) for id, reason in reasons.items() if reason),
        *(OmittedPiece("facts", id_digits(id), "unsure", f"too far from the prompt ({near[id]})") for id in others),
    ]
    procedures = [
        _procedure(snapshot, task, session)
        for snapshot, task in playbooks.values()
        if not _out_of_scope(snapshot.fact, request, session, names=names)
    ]
    return EntryPieces((*procedures, *pieces, *omitted), candidates.degraded)


def _newer(chosen: Sequence[str], every: Sequence[str], candidates: EntryCandidates, session: Session) -> list[str]:
    """The entry said last of those that fit but had no room, if it was said on a later day than the chosen ones.

    It must be near to the best of these, which may have become what it says; and if somebody else said it, a neighbour.
    """
    if not chosen:
        return []
    facts = {id: snapshot.fact for id, snapshot in candidates.snapshots.items()}
    best, since = facts[chosen[0]], max(said_last(facts[id])[:10] for id in chosen)
    newer = newest_first(facts[id] for id in every if id not in chosen and said_last(facts[id])[:10] > since)
    near = nearness([best], newer, session) if newer else {}
    floors = {fact.id: _NEAR_CHOSEN if kind_of_speaker(fact) == kind_of_speaker(best) else FLOOR for fact in newer}
    return [fact.id for fact in newer if near[fact.id] >= floors[fact.id]][:1]


def _playbooks_for(prompt: str, session: Session) -> dict[str, tuple[FactSnapshot, str]]:
    """The playbooks of which a task fits the prompt, by id, each with that task."""
    is_task = need_of(prompt) in ("task", "personal")
    found: dict[str, tuple[FactSnapshot, str]] = {}
    with session.stores.index.reader() as reader:
        query = FactQuery(origins=("entry",), statuses=("active",), sensitive=False, limit=_MOST_PLAYBOOKS)
        records = [each for kind in PLAYBOOK_KINDS for each in reader.facts(replace(query, folder=f"{MEMORY}/{kind}/"))]
    fitting = {
        record.fact.id: task
        for record in records
        if is_playbook(record.fact) and (task := fitting_task(prompt, phrases_of(record.fact.when), is_task=is_task))
    }
    for snapshot in fact_snapshots([each for each in records if each.fact.id in fitting], session):
        if snapshot.state == "current":
            found[snapshot.fact.id] = (snapshot, fitting[snapshot.fact.id])
    return found


def _unfitting(id: str, candidates: EntryCandidates) -> str:
    """Why a playbook whose tasks do not fit is left out, unless it is very near by meaning; empty for others."""
    if not is_playbook(candidates.snapshots[id].fact) or candidates.matches[id].score() >= _UNFITTING:
        return ""
    return "none of its tasks fits the prompt"


def _procedure(snapshot: FactSnapshot, task: str, session: Session) -> Piece:
    """The playbook whose task fits, whole; it comes before what is only near."""
    piece = replace(fact_piece(snapshot, session), section="playbooks", text=snapshot.fact.text)
    doubts = doubts_of([snapshot], session, below=session.stores.context.doubt_below)
    why = f"its task fits the prompt: {task}"
    return replace(piece, why=why, score=1.0 + snapshot.importance, doubt=doubts[snapshot.fact.id])


def _is_on_topic(fact: Fact, topics: tuple[str, ...]) -> bool:
    return bool({*map(str.casefold, fact.topics)} & {*map(str.casefold, topics)})


def _out_of_scope(fact: Fact, request: EntryRequest, session: Session, *, names: frozenset[str]) -> str:
    """Why the entry is not considered; empty if it is."""
    kinds = {fact.kind, *(("constraint",) if is_constraint(fact) else ())}
    if request.kinds and not kinds & {*request.kinds}:
        return f"its kind, {fact.kind or 'none'}, was not requested"
    if is_elsewhere(fact, session, project=request.project, names=names):
        return f"it belongs to the project {fact.project}"
    return ""


def is_elsewhere(fact: Fact, session: Session, *, project: str, names: frozenset[str] = frozenset()) -> bool:
    """True if the entry belongs to another project than the one at hand, is not about the person and is not named."""
    rules = session.stores.rules
    if not fact.project or not project or fact.project.casefold() == project.casefold():
        return False
    if is_about_person(fact, names=person_names((), user=rules.user)):
        return False
    return not names & {rules.entity(name) for name in (fact.project, fact.subject, fact.object) if name}


def _piece(snapshot: FactSnapshot, match: EntryMatch, session: Session, *, doubt: str) -> Piece:
    """The entry as a line; a playbook, or an entry too long for a line, as a text of its own."""
    fact = snapshot.fact
    piece = replace(
        fact_piece(snapshot, session), why=f"fits the prompt ({match})", score=round(match.rank(), 4), doubt=doubt
    )
    if fact.kind in PLAYBOOK_KINDS:
        return replace(piece, section="playbooks", text=fact.text)
    if len(fact.text) > _MAX_LINE:
        return replace(piece, section="recalled", text=fact.text)
    return replace(piece, text=fact_line(snapshot, session))
