"""Save: the only way into memory. A candidate -> screened -> compared with what is known -> an entry or a confirmation.

Every verb is one commit, made by `notes.write.change`, and a writer finds its own words at once. Nothing is ever
overwritten: a new statement becomes a new entry, and the old one goes to the archive with links both ways.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from commonplace.errors import Conflict, Refused, UsageError
from commonplace.facts.claims import is_own_word
from commonplace.facts.entry_format import changed_keys
from commonplace.facts.entry_paths import archive_path
from commonplace.facts.integrate import integrate
from commonplace.facts.profile import is_about_person, person_names
from commonplace.facts.validity import holds
from commonplace.flows.encode import query_vectors
from commonplace.flows.ingest.index_notes import refresh_note
from commonplace.flows.memory.amend import active_entry, confirm_fact, entry_edit, refuse_redirect
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.new_entry import (
    JudgedCandidate,
    complete_candidate,
    new_entry_note,
    screen_candidate,
    successor_note,
)
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    change_result,
    commit_message,
    move_trailers,
    refuse_secrets,
)
from commonplace.flows.read import locate
from commonplace.flows.search.candidates import CHUNK_BM25
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import (
    Action,
    Candidate,
    EntryResult,
    Fact,
    FactRecord,
    Filters,
    SimilarFact,
    Terms,
    Verdict,
)
from commonplace.model.entry_field import entry_fields, inherited
from commonplace.model.fact import ACTIONS
from commonplace.model.layout import MEMORY, was_staged
from commonplace.notes import parse
from commonplace.questions.words import query_words

if TYPE_CHECKING:
    from commonplace.index.base import Fixed
    from commonplace.screening.gate import GateResult

_LEFT_OUT: Final = "The relations were not added: say in an entry of its own what adds to it or contradicts it."
_REPLACING: Final = ("supersede", "contradict")
_ATTEMPTS: Final = 5  # comparisons with what is known, while notes change and a model is asked
_NEAREST: Final = 24  # chunks of entries nearest in meaning that are compared
_SHARING_WORDS: Final = (
    24  # chunks of entries with words in common that are compared: changed values may mean little alike
)
_RIVALS: Final = 500  # facts of one subject and predicate that are compared, the last updated first


def save(candidate: Candidate, session: Session, *, dry_run: bool = False, confirms: bool = True) -> EntryResult:
    """Save the candidate as a new entry, or confirm the entry that says it already. Never overwrites.

    Without `confirms` an entry that says it already stays as it is, as is right for what was said long ago.
    A judge, if there is one, is asked where the rules cannot decide; the save lock is not held meanwhile, and if the
    judge cannot decide either, the rules' guess stands. Raises Refused for secrets and junk, Conflict, UsageError,
    VaultUnavailable and IndexDamaged.
    """
    judge = session.stores.judge
    candidate = complete_candidate(candidate, session)
    gate = screen_candidate(candidate, session)
    judged: dict[str, Action | None] = {}
    for _ in range(_ATTEMPTS):
        with session.stores.save_lock():
            here = session.at(session.clock())
            entry, is_current = _decide(candidate, gate, here, judged=judged)
            needs_judge = entry.verdict.is_grey and judge is not None and entry.verdict.target not in judged
            if is_current and not needs_judge:
                return _apply(entry, here, dry_run=dry_run, confirms=confirms)
        if needs_judge and entry.old and judge:
            judged[entry.old.id] = _checked(judge(candidate, entry.old))
    raise Conflict("the entries it is compared with keep changing", hint="Try again in a moment.")


def newer_fact(result: EntryResult, begins: str, session: Session) -> Fact | None:
    """The known fact that today's comparison would replace, if it is newer than the candidate."""
    if result.action not in _REPLACING or not begins:
        return None
    with session.stores.index.reader() as reader:
        old = next((each.fact for each in reader.facts(FactQuery(ids=(result.old,)))), None)
    return old if old and old.begins > begins else None


def _checked(action: Action | None) -> Action | None:
    """The judge's answer. Raises UsageError if it is not an action."""
    if action is not None and action not in ACTIONS:
        raise UsageError(f"the judge answered {action!r}", hint=f"It must answer one of: {', '.join(ACTIONS)}.")
    return action


def evolve(name: str, candidate: Candidate, session: Session, *, reason: str, dry_run: bool = False) -> EntryResult:
    """Replace an entry by a new version; the old one goes to the archive, and each names the other.

    Fields that the candidate leaves empty are taken from the entry, and so is its validity if it does not hold now:
    then it is corrected. Raises as `save` does, NotFound, and Conflict if the entry was replaced or forgotten, or if
    another entry has the new words.
    """
    if not reason.strip():
        raise UsageError("a new version needs a reason", hint="Say why: --reason 'moved to Berlin'.")
    refuse_secrets(reason)
    with session.stores.save_lock():
        here = session.at(session.clock())
        old = active_entry(name, here)
        heir = _inherit(candidate, old, here.now)
        successor = complete_candidate(heir, here, old_kind=old.fact.kind)
        gate = screen_candidate(successor, here)
        if _says_nothing_new(heir, successor, old.fact):
            return _confirm(old.fact, "it already says this", successor, gate, here, dry_run=dry_run)
        entry, _ = _decide(successor, gate, here, instead_of=old.fact)
        if entry.verdict.action == "confirm" and entry.old:
            raise Conflict(
                f"the entry {entry.old.id} already says this", path=entry.old.path, hint="Forget the old one instead."
            )
        entry = replace(
            entry,
            verdict=Verdict("supersede", old.fact.id, reason.strip()),
            old=old.fact,
            holds=holds(old, here.now),
            contradicts=entry.verdict.action == "contradict" or bool(entry.staged_because),
            was_forgotten=False,
        )
        return _waiting_result(entry) or _write(entry, here, dry_run=dry_run)


def _inherit(candidate: Candidate, old: FactRecord, now: str) -> Candidate:
    """The candidate, with what it leaves empty taken from the fact that it replaces."""
    fact, text, object_ = old.fact, candidate.text, candidate.object
    if fact.predicate and not object_:  # for a triple, the given words are its new object
        text, object_ = "", candidate.text.strip()
    lasting = fact.valid_until if fact.valid_until > now else ""
    begins, until = ("", lasting) if holds(old, now) else (fact.begins, fact.valid_until)
    values = inherited(Candidate, candidate, fact, as_version=True) | {
        "text": text,
        "object": object_,
        "valid_from": candidate.valid_from or begins,
        "valid_until": candidate.valid_until or until,
    }
    return Candidate(**values)


def _says_nothing_new(heir: Candidate, successor: Candidate, old: Fact) -> bool:
    """True if the completed successor has the old words and time, and nothing is given for any other field."""
    if (successor.text, successor.valid_until) != (old.text, old.valid_until):
        return False
    rows = (row.name for row in entry_fields(Candidate) if row.inherits != "never")
    is_same = all(getattr(heir, name) == getattr(old, name) for name in rows)
    return is_same and successor.valid_from in ("", old.begins)


def _decide(
    candidate: Candidate,
    gate: "GateResult",
    session: Session,
    *,
    judged: Mapping[str, Action | None] | None = None,
    instead_of: Fact | None = None,
) -> tuple[JudgedCandidate, bool]:
    """What becomes of the candidate, by the rules or by the judge; False if the index was stale for the old fact."""
    similar, same = similar_facts(candidate, session)
    compared = [each for each in similar if not instead_of or each.fact.id != instead_of.id]
    verdict = integrate(candidate, compared, rules=session.stores.rules, now=session.now)
    old = next((each.fact for each in compared if each.fact.id == verdict.target), None)
    is_current = old is None or refresh_note(old.path, session.stores)
    if verdict.is_grey and judged and (action := judged.get(verdict.target)):
        target = "" if action == "insert" else verdict.target
        verdict = Verdict(action, target, f"a model decided: {action}", verdict.until)
    entry = JudgedCandidate(
        candidate,
        verdict,
        old if verdict.target else None,
        gate,
        session.actor.kind,
        session.clock(),
        waiting=next((each.fact for each in same if _is_waiting(each.fact)), None),
        was_forgotten=any(each.fact.status == "deleted" for each in same),
        rejected=next((each.fact for each in same if _is_rejected(each.fact)), None),
    )
    return entry, is_current


def _is_waiting(fact: Fact) -> bool:
    return fact.place == "staging" and fact.status == "active"


def _is_rejected(fact: Fact) -> bool:
    """True if the person rejected the entry, or forgot it, while it waited."""
    return fact.status == "deleted" and was_staged(fact.path)


def similar_facts(candidate: Candidate, session: Session) -> tuple[tuple[SimilarFact, ...], tuple[FactRecord, ...]]:
    """The known facts to compare the candidate with, and those with exactly its words, staged ones included.

    Facts that this actor may not see are left out, and facts of other projects. Raises IndexDamaged.
    """
    stores = session.stores
    with entry_reader(stores) as reader:
        versions = dict(reader.versions())
    # a save is compared with everything, so it waits for the encoder
    waiting = replace(stores, waits_for_encoder=True)
    vectors = {} if candidate.predicate else query_vectors(candidate.text, versions, waiting)[0]
    with stores.index.reader() as reader:
        cosines = {} if candidate.predicate else _nearest(candidate.text, vectors, reader, session)
        same = _same_words(candidate, reader, session)
        others = (*_rivals(candidate, reader, session), *_entries_at(cosines, reader), *_replaced(candidate, reader))
    unstaged = [record for record in same if record.fact.place != "staging"]
    here = [record for record in (*unstaged, *others) if not _is_elsewhere(record.fact, candidate, session)]
    records = {record.fact.id: record for record in here}
    return tuple(SimilarFact(record, cosines.get(record.fact.path)) for record in records.values()), same


def _is_elsewhere(fact: Fact, candidate: Candidate, session: Session) -> bool:
    """True if the fact is of another project, and each project may have its own such fact.

    The person is the same in each project, and so is the named subject of a triple.
    """
    projects = {fact.project.casefold(), candidate.project.casefold()} - {""}
    if len(projects) < 2 or candidate.predicate:
        return False
    return not is_about_person(fact, names=person_names((), user=session.stores.rules.user))


def _same_words(candidate: Candidate, reader: IndexReader, session: Session) -> tuple[FactRecord, ...]:
    fingerprint = session.stores.rules.fingerprint(
        subject=candidate.subject, predicate=candidate.predicate, object=candidate.object, text=candidate.text
    )
    return reader.facts(FactQuery(fingerprint=fingerprint, sensitive=session.sees_sensitive, staged=True))


def _rivals(candidate: Candidate, reader: IndexReader, session: Session) -> tuple[FactRecord, ...]:
    if not candidate.predicate:
        return ()
    names = (session.stores.rules.entity(candidate.subject),)
    query = FactQuery(names=names, predicate=candidate.predicate, sensitive=session.sees_sensitive, limit=_RIVALS)
    return reader.facts(query)


def _replaced(candidate: Candidate, reader: IndexReader) -> tuple[FactRecord, ...]:
    """The facts that the caller says it replaces."""
    ids = tuple(target for bond, target in candidate.bonds if bond == "update")
    return reader.facts(FactQuery(ids=ids)) if ids else ()


def _nearest(
    text: str, vectors: "Mapping[str, Fixed]", reader: IndexReader, session: Session
) -> Mapping[str, float | None]:
    """The cosines of the entries nearest in meaning, and of those with the most words in common, by path.

    Without an encoder they have none.
    """
    filters = Filters(path=MEMORY, sensitive="" if session.sees_sensitive else "out")
    words = query_words(text).words
    alike = reader.match_words(words, filters, limit=_SHARING_WORDS, bm25=CHUNK_BM25).matches
    numbers = [match.number for match in alike[:_SHARING_WORDS]]
    if not vectors:
        return {chunk.document.source_id: None for chunk in reader.chunks(numbers)}
    cosines: dict[str, float] = {}
    for version, vector in vectors.items():
        near = reader.match_vector(vector, filters, version=version, limit=_NEAREST)[:_NEAREST]
        matches = (*near, *reader.score_vector(vector, numbers, version=version))
        best = {match.number: match.cosine for match in matches}
        for chunk in reader.chunks([*best]):
            path = chunk.document.source_id
            cosines[path] = max(best[chunk.number], cosines.get(path, -1.0))
    return cosines


def _entries_at(paths: Iterable[str], reader: IndexReader) -> tuple[FactRecord, ...]:
    query = FactQuery(paths=tuple(paths), origins=("entry",))
    return reader.facts(query) if query.paths else ()


def _apply(entry: JudgedCandidate, session: Session, *, dry_run: bool, confirms: bool) -> EntryResult:
    if entry.verdict.action == "confirm" and entry.old:
        is_dry = dry_run or not confirms
        return _confirm(entry.old, entry.verdict.reason, entry.candidate, entry.gate, session, dry_run=is_dry)
    return _waiting_result(entry) or _write(entry, session, dry_run=dry_run)


def _waiting_result(entry: JudgedCandidate) -> EntryResult | None:
    """The result for words that wait for the person already; None for others.

    Raises Refused if a program repeats words that the person rejected.
    """
    if entry.actor != "person" and entry.rejected:
        raise Refused(
            f"the person rejected these words on {entry.rejected.deleted_at[:10]}",
            hint="Do not save them again; if they are true now, ask the person to save them.",
        )
    if entry.waiting and entry.staged_because:
        reason = "it is already waiting for the person's approval"
        return EntryResult("confirm", entry.waiting, reason, old=entry.waiting.id, staged=True, changed=False)
    return None


def _confirm(
    old: Fact, reason: str, candidate: Candidate, gate: "GateResult", session: Session, *, dry_run: bool
) -> EntryResult:
    """Confirm the known fact. A line of a note, or a fact from a doubtful source, is reported and not changed.

    A program adds no bonds to what the person said, and to nothing that it contradicts something.
    """
    bonds = candidate.bonds
    if session.actor.kind != "person":
        bonds = () if is_own_word(old) or old.always_load else tuple(each for each in bonds if each[0] != "contradict")
    if len(bonds) < len(candidate.bonds):
        reason = f"{reason} {_LEFT_OUT}"
    if dry_run or old.origin == "line" or gate.verdict == "stage" or candidate.doubt:
        return EntryResult("confirm", old, reason, old=old.id, changed=False)
    return confirm_fact(old, session, reason=reason, bonds=bonds)


def _write(entry: JudgedCandidate, session: Session, *, dry_run: bool) -> EntryResult:
    """Write the entry, and end the old one, in one commit. Raises as `change` does, and Refused."""
    stores, waits, fact = session.stores, entry.staged_because, entry.fact()
    content = _content(entry, fact, stores)
    note = parse(content, path=fact.path, mtime=0.0)
    verb = "evolve" if entry.verdict.action == "supersede" else "save"
    why = entry.verdict.reason if verb == "evolve" else waits
    terms = Terms(message=commit_message(stores, verb=verb, path=fact.path), why=why, dry_run=dry_run)
    at, permit = locate(fact.path, stores.vault), Permit(session, terms, "remember", fact.path)
    refuse_redirect(permit.ask(incoming=note), fact.path)
    ending = (
        Ending(entry.ended, fact, session, terms, is_over=entry.replaces_now) if entry.ended and not waits else None
    )

    def plan(read: Reader) -> tuple[Edit, ...]:
        edit = Edit(at, None, content, parsed=note)
        return (edit, ending.edit(read)) if ending else (edit,)

    permits = [permit, ending.permit] if ending else [permit]
    edits, result = change(plan, permits, path=fact.path, trailers=move_trailers(*ending.moves) if ending else {})
    changed = change_result(edits[0], permit, result, more=edits[1:])
    return EntryResult(
        action=entry.verdict.action,
        fact=fact,
        reason=waits or entry.verdict.reason,
        old=entry.verdict.target,
        commit=changed.commit,
        staged=bool(waits),
        changed=changed.changed,
        difference=changed.difference,
    )


def _content(entry: JudgedCandidate, fact: Fact, stores: Stores) -> bytes:
    """The note's bytes; a new version keeps a person's own keys of the old note, such as a sensitive mark."""
    if entry.ended is None or not fact.supersedes:
        return new_entry_note(fact, tags=entry.candidate.tags)
    old = stores.vault.read(locate(entry.ended.path, stores.vault))
    return successor_note(old.content, entry.ended, fact, tags=entry.candidate.tags)


class Ending:
    """An entry that ends where another begins: its keys say so, and it goes to the archive if it `is_over` now."""

    def __init__(self, old: Fact, new: Fact, session: Session, terms: Terms, *, is_over: bool) -> None:
        self._old, self._new, self._session, self._is_over = old, new, session, is_over
        self._target = archive_path(old.path) if is_over else old.path
        self.permit = Permit(session, terms, "remember", old.path)
        self.moves = ((old.path, self._target),) if self._target != old.path else ()

    def edit(self, read: Reader) -> Edit:
        """The edit of the old entry. Raises Conflict if it is no longer what the index says."""
        old, new, now = self._old, self._new, self._session.now
        ends = min(new.begins, old.valid_until) if old.valid_until else new.begins
        ends = max(ends, old.begins)  # an entry that is corrected from its beginning on never held
        ended = replace(old, valid_until=ends, invalidated_at=now, was_valid_until=old.valid_until, updated=now)
        if self._is_over:
            ended = replace(ended, status="superseded", superseded_by=new.id, superseded_at=now)
        edit, note = entry_edit(old, changed_keys(old, ended), self._session, read)
        refuse_redirect(self.permit.ask(there=note), old.path)
        if self._target == old.path:
            return edit
        refuse_redirect(self.permit.ask(self._target, there=note, moved_from=old.path), self._target)
        return replace(edit, moved_to=locate(self._target, self._session.stores.vault))
