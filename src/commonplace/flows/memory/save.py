"""Save: the only way into memory. A candidate -> screened -> compared with what is known -> an entry or a confirmation.

Every verb is one commit, made by `notes.write.change`, and a writer finds its own words at once. Nothing is ever
overwritten: a new statement becomes a new entry, and one that it replaces goes to the archive with links both ways.
Nothing is ended on a guess (`facts.integrate`): who has read both says what ends, here or later (`verdicts`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from commonplace.errors import CommonplaceError, Conflict, Refused, UsageError
from commonplace.events import emit
from commonplace.extraction.spoken_dates import absolute_dates
from commonplace.facts.claims import is_own_word, with_end
from commonplace.facts.commitments import without_day
from commonplace.facts.cues import CUES
from commonplace.facts.entry_format import changed_keys
from commonplace.facts.entry_paths import archive_path
from commonplace.facts.integrate import integrate, said_at, was_said_before
from commonplace.facts.validity import holds, until_of
from commonplace.flows.ingest.index_notes import refresh_note
from commonplace.flows.memory.amend import active_entry, confirm_fact, entry_edit, refuse_redirect
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.neighbours import FLOOR, WORDS_ALONE, is_elsewhere, is_narrower, nearest, neighbours
from commonplace.flows.memory.new_entry import (
    JudgedCandidate,
    complete_candidate,
    flipped_among,
    new_entry_note,
    screen_candidate,
    successor_note,
)
from commonplace.flows.memory.spoken import is_spoken_change
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
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Bond, Candidate, EntryResult, Fact, FactRecord, Terms, Verdict
from commonplace.model.entry_field import entry_fields, inherited
from commonplace.model.layout import was_staged
from commonplace.model.moment import parse_moment
from commonplace.notes import parse
from commonplace.questions.question import time_windows

if TYPE_CHECKING:
    from commonplace.screening.gate import GateResult

_LEFT_OUT: Final = "The relations were not added: say in an entry of its own what adds to it or contradicts it."
_ATTEMPTS: Final = 5  # comparisons with what is known, while notes change
SAYS_SAME: Final = "It says the same as "
"""How the reason of an entry begins that somebody put away because another one says the same."""
_OTHER_WORDS: Final = "Somebody has said that these words say the same."
_RIVALS: Final = 500  # facts of one subject and predicate that are compared, the last updated first
_SAID_BEFORE: Final = "It was said before a near entry was ended, corrected or rejected: is it the same?"
_OTHER_SELF: Final = "Only the person says who they are."
_OVER: Final = 0.54
"""The nearness from which what was said before may be what was ended since; `bench/changes.py` prints the curve."""
_OVER_BY_WORDS: Final = 0.25
"""That nearness where there is no encoder: 55 of 88 paraphrases reach it, and 10 of 517 statements reach another's."""


def save(candidate: Candidate, session: Session, *, dry_run: bool = False) -> EntryResult:
    """Save the candidate as a new entry, or confirm the entry that says it already. Never overwrites.

    Raises Refused for secrets and junk, Conflict, UsageError, VaultUnavailable and IndexDamaged.
    """
    candidate = complete_candidate(candidate, session)
    gate = screen_candidate(candidate, session)
    for _ in range(_ATTEMPTS):
        with session.stores.save_lock():
            here = session.at(session.clock())
            entry, is_current = _decide(candidate, gate, here)
            if is_current:
                return _apply(entry, here, dry_run=dry_run)
    raise Conflict("the entries it is compared with keep changing", hint="Try again in a moment.")


def with_neighbours(result: EntryResult, session: Session) -> EntryResult:
    """The result of a save, with the nearest entries of which nobody has said how they relate to the new one."""
    if result.action in ("confirm", "settle") or result.staged:
        return result
    fact, here = result.fact, session.at(session.clock())
    settled = {fact.id, fact.supersedes, *(target for _, target in fact.bonds), *(each.id for each in result.ended)}
    try:
        with entry_reader(session.stores) as reader:  # the older one may say how it relates to this one
            settled |= {edge.source for edge in reader.bonds([fact.id])}
        near, by_words = neighbours(fact, here, without=settled)
    except CommonplaceError as error:  # it is saved, and that is the answer
        emit("neighbours_not_found", level="warning", said=str(error))
        return result
    return replace(result, neighbours=near, by_words=by_words)


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
            waits = ("end", old.fact.id) in entry.old.bonds
            hint = "The person decides whether it replaces the old one." if waits else "Forget the old one instead."
            raise Conflict(f"the entry {entry.old.id} already says this", path=entry.old.path, hint=hint)
        entry = replace(
            entry,
            verdict=Verdict("supersede", old.fact.id, reason.strip()),
            old=old.fact,
            holds=holds(old, here.now),
            must_wait=entry.staged_because,
            was_forgotten=False,
            flipped=flipped_among([old.fact], here),
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
    candidate: Candidate, gate: "GateResult", session: Session, *, instead_of: Fact | None = None
) -> tuple[JudgedCandidate, bool]:
    """What becomes of the candidate; False if the index was stale for an entry that it concerns."""
    known = known_facts(candidate, session)
    staged_or_not = [each for each in known if not instead_of or each.fact.id != instead_of.id]
    in_line = _lines_without_verdict(candidate, known, session)
    stated = {target for bond, target in candidate.bonds if bond == "update"}
    compared = [each for each in staged_or_not if _is_compared(each.fact, candidate, session)]
    compared = [each for each in compared if each.fact.id not in in_line]
    too_late = {each.fact.id for each in known if each.fact.id in stated and was_said_before(candidate, each.fact)}
    bonds = tuple(each for each in candidate.bonds if each[0] != "update" or each[1] not in too_late)
    bonds = (*bonds, *_held_with(instead_of, compared))
    candidate = replace(candidate, bonds=bonds)
    other_days = _said_of_other_days(candidate, compared, session)
    if stays := None if instead_of else _settled_as_same(candidate, known, session, other_days=other_days):
        compared.append(stays)
        verdict = Verdict("confirm", stays.fact.id, _OTHER_WORDS)
    else:
        verdict = integrate(candidate, compared, rules=session.stores.rules, now=session.now, other_days=other_days)
    if verdict.action != "confirm":
        candidate = replace(candidate, bonds=(*bonds, *_said_beside(other_days, compared)))
    endings = {verdict.target, *verdict.also} | (stated - too_late)
    olds = endings if verdict.action in ("supersede", "insert") else set()
    ended = [instead_of] if instead_of else [each.fact for each in compared if each.fact.id in olds]
    candidate = _as_spoken(candidate, ended, session)
    concerned = [each.fact for each in compared if each.fact.id in endings]
    stale = [each for each in concerned if not refresh_note(each.path, session.stores)]
    old = next((each for each in concerned if each.id == verdict.target), None)
    same = with_the_words(candidate, known, session)
    entry = JudgedCandidate(
        candidate,
        verdict,
        old,
        gate,
        session.actor.kind,
        session.clock(),
        others=tuple(each for each in concerned if each is not old and verdict.action in ("supersede", "insert")),
        waiting=next((each for each in same if _is_waiting(each)), None),
        was_forgotten=any(each.status == "deleted" for each in same),
        rejected=next((each for each in same if _is_rejected(each)), None),
        must_wait=_must_wait(candidate, verdict, ended, session),
        flipped=flipped_among(concerned, session) if session.actor.kind != "person" else frozenset(),
    )
    return entry, not stale


def _is_compared(fact: Fact, candidate: Candidate, session: Session) -> bool:
    """False for what waits, and for what is known in one project, if the candidate is for all and does not name it."""
    is_named = ("update", fact.id) in candidate.bonds
    return fact.place != "staging" and (is_named or not is_narrower(fact, candidate, session))


def _held_with(old: Fact | None, known: Iterable[FactRecord]) -> Iterator[tuple[Bond, str]]:
    """The bonds by which a new version of the entry holds with all that was said to hold with the old one."""
    for each in known:
        if old and ("both", old.id) in each.fact.bonds:
            yield "both", each.fact.id


def _said_beside(other_days: frozenset[str], known: Iterable[FactRecord]) -> Iterator[tuple[Bond, str]]:
    """The bonds by which words hold beside the same words that were said of other days."""
    yield from (("both", each.fact.id) for each in known if each.fact.id in other_days and each.fact.status == "active")


def _as_spoken(candidate: Candidate, ended: Sequence[Fact], session: Session) -> Candidate:
    """The candidate; as the person's own word if they said so, in words that the agent quotes, and it ends theirs."""
    if candidate.is_spoken or not is_spoken_change(candidate.origins.quote, candidate, ended, session):
        return candidate
    return replace(candidate, is_spoken=True, origins=replace(candidate.origins, trust="told"))


def _must_wait(candidate: Candidate, verdict: Verdict, ended: Sequence[Fact], session: Session) -> str:
    """Why the entry waits for the person because of what is near to it; empty if it need not.

    What the person said to end the ended ones is no rival of them.
    """
    if verdict.action == "confirm" or session.actor.kind == "person":
        return ""
    is_over = "" < (verdict.until or candidate.valid_until) <= session.now  # it says who they were
    is_identity = "identity" in (candidate.kind, candidate.fact) and not is_over
    if not candidate.said and not is_identity:
        return ""
    sensitive = session.sees_sensitive or bool(candidate.said)  # no caller says when it was said, so none can probe
    near = nearest(candidate, session, archived=True, sensitive=sensitive)
    over, floor = (_OVER_BY_WORDS, WORDS_ALONE) if near.by_words else (_OVER, FLOOR)
    for record, score, _ in near.entries:
        fact = record.fact
        if is_elsewhere(fact, candidate, session):
            continue
        if candidate.said and score >= over and candidate.said < _over_since(record, session):
            return _SAID_BEFORE
        is_own = is_own_word(fact) and "identity" in (fact.kind, fact.fact)
        is_meant = session.actor.kind == "agent" and candidate.is_spoken and fact.id in {each.id for each in ended}
        if is_identity and is_own and score >= floor and holds(record, session.now) and not is_meant:
            return _OTHER_SELF
    return ""


def _over_since(record: FactRecord, session: Session) -> str:
    """When somebody said that the entry is over, or forgot or rejected it; empty if nobody did.

    What was learned and ended the entry at once said so in its conversation, and not on the day on which it was read.
    """
    fact = record.fact
    if fact.superseded_by and not fact.deleted_at:
        with entry_reader(session.stores) as reader:
            replacing = reader.facts(FactQuery(ids=(fact.superseded_by,)))
        if at_once := [each.fact for each in replacing if each.fact.recorded >= fact.superseded_at]:
            return said_at(at_once[0])
    ended = until_of(record)[0] if record.end else ""
    invalidated = fact.invalidated_at if fact.invalidated_at > fact.recorded else ""  # else it was over from the first
    return max(invalidated, fact.superseded_at, fact.deleted_at, ended)


def _is_waiting(fact: Fact) -> bool:
    return fact.place == "staging" and fact.status == "active"


def _is_rejected(fact: Fact) -> bool:
    """True if the person rejected the entry, or forgot it, while it waited."""
    return fact.status == "deleted" and was_staged(fact.path)


def known_facts(candidate: Candidate, session: Session) -> tuple[FactRecord, ...]:
    """The known facts that the candidate may confirm or end: those with its words, staged ones included, those with its
    subject and predicate, and those that it is said to replace.

    Facts that this actor may not see are left out, and facts of other projects that nobody names. Raises IndexDamaged.
    """
    with entry_reader(session.stores) as reader:
        near = (*_same_words(candidate, reader, session), *_rivals(candidate, reader, session))
        named = _replaced(candidate, reader)
    found = (*(each for each in near if not is_elsewhere(each.fact, candidate, session)), *named)
    return tuple({each.fact.id: each for each in found}.values())


def with_the_words(candidate: Candidate, known: Iterable[FactRecord], session: Session) -> tuple[Fact, ...]:
    """Those of the known facts that have the candidate's words or its triple."""
    print_ = session.stores.rules.fingerprint(candidate)
    return tuple(each.fact for each in known if each.fact.fingerprint == print_)


def _lines_without_verdict(candidate: Candidate, known: Iterable[FactRecord], session: Session) -> frozenset[str]:
    """The ids of lines with the candidate's words, if it is said how these relate to others: no line can say that."""
    verdicts = {target for bond, target in candidate.bonds if bond in ("update", "both")}
    lines = (each.id for each in with_the_words(candidate, known, session) if each.origin == "line")
    return frozenset(lines) - verdicts if verdicts else frozenset()


def _settled_as_same(
    candidate: Candidate, known: Iterable[FactRecord], session: Session, *, other_days: frozenset[str]
) -> FactRecord | None:
    """The entry that holds and of which somebody said that these words say the same; None if there is none.

    What has a day of its own, or is said to relate to that entry in another way, is a new statement.
    """
    same = with_the_words(candidate, known, session)
    away = [each for each in same if each.status == "superseded" and each.reason.startswith(SAYS_SAME)]
    if not away or candidate.fact == "event" or candidate.valid_until or any(each.status == "active" for each in same):
        return None
    ids = {each.superseded_by for each in away if each.id not in other_days} - {each for _, each in candidate.bonds}
    with entry_reader(session.stores) as reader:
        found = reader.facts(FactQuery(ids=tuple(sorted(ids)), sensitive=session.sees_sensitive)) if ids else ()
    return next((each for each in found if holds(each, session.now)), None)


def _said_of_other_days(candidate: Candidate, known: Iterable[FactRecord], session: Session) -> frozenset[str]:
    """The ids of the facts with the candidate's words that meant another day by them, such as "tomorrow"."""
    same = with_the_words(candidate, known, session)
    if not same:
        return frozenset()
    zone = session.stores.calendars.zone

    def meant(moment: str) -> tuple[object, ...]:
        return _times_meant(candidate.text, parse_moment(moment).astimezone(zone))

    said = meant(candidate.said or session.now)
    return frozenset(each.id for each in same if each.recorded and meant(said_at(each)) != said)


def _times_meant(text: str, now: datetime) -> tuple[object, ...]:
    """What the times in the text mean if it is said now, by every reader of times; what lies "in two days" as the past
    is read."""
    mirrored = re.sub(r"\bin (\w+ \w+)\b", r"\1 ago", text)
    windows = [(each.start, each.end) for each in (*time_windows(text, now=now), *time_windows(mirrored, now=now))]
    return (*windows, absolute_dates(text, now.date()).text, *_day_words(text, now.date()))


def _day_words(text: str, day: date) -> Iterator[str]:
    """The days that words such as "morgen" mean: those that mean the next day when they are said a day later."""
    for word in re.findall(r"\w+", text):
        today, next_day = (without_day(f" by {word}", each.isoformat())[1] for each in (day, day + timedelta(days=1)))
        if word.islower() and today and next_day == str(date.fromisoformat(today) + timedelta(days=1)):
            yield today


def _same_words(candidate: Candidate, reader: IndexReader, session: Session) -> tuple[FactRecord, ...]:
    print_ = session.stores.rules.fingerprint(candidate)
    return reader.facts(FactQuery(fingerprint=print_, sensitive=session.sees_sensitive, staged=True))


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


def _apply(entry: JudgedCandidate, session: Session, *, dry_run: bool) -> EntryResult:
    if entry.verdict.action == "confirm" and entry.old:
        old, said = entry.old, entry.candidate.said
        is_over = old.status != "active" or "" < old.valid_until <= session.now
        is_old_news = "" < said[:10] < session.now[:10]
        is_witness = session.actor.kind == "person" or not is_own_word(old) or entry.verdict.reason != _OTHER_WORDS
        # What was said long ago does not confirm that it holds today, nor a program's words those of the person.
        is_dry = dry_run or is_over or is_old_news or not is_witness
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
        waiting = entry.waiting
        return EntryResult("confirm", waiting, reason, old=waiting.id, staged=True, changed=False, waiting=entry.asked)
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
    cues = {name: getattr(candidate, name) for name in CUES}
    return confirm_fact(old, session, reason=reason, bonds=bonds, cues=cues, is_spoken=candidate.is_spoken)


def _write(entry: JudgedCandidate, session: Session, *, dry_run: bool) -> EntryResult:
    """Write the entry, and end those that it replaces, in one commit. Raises as `change` does, and Refused."""
    stores, waits, fact = session.stores, entry.staged_because, entry.fact()
    content = _content(entry, fact, stores)
    note = parse(content, path=fact.path, mtime=0.0)
    verb = "evolve" if entry.verdict.action == "supersede" and entry.ended else "save"
    why = entry.verdict.reason if verb == "evolve" else waits
    message, spoken = commit_message(stores, verb=verb, path=fact.path), entry.candidate.is_spoken
    terms = Terms(message=message, why=why, spoken=spoken, dry_run=dry_run)
    at, permit = locate(fact.path, stores.vault), Permit(session, terms, "remember", fact.path)
    refuse_redirect(permit.ask(incoming=note), fact.path)
    endings = [] if waits else [_ending(each, entry, fact, session, terms) for each in entry.ended]

    def plan(read: Reader) -> tuple[Edit, ...]:
        return (Edit(at, None, content, parsed=note), *(ending.edit(read) for ending in endings))

    permits = [permit, *(ending.permit for ending in endings)]
    moves = move_trailers(*(move for ending in endings for move in ending.moves))
    edits, result = change(plan, permits, path=fact.path, trailers=moves)
    changed = change_result(edits[0], permit, result, more=edits[1:])
    return EntryResult(
        action=entry.action,
        fact=fact,
        reason=waits or entry.reason,
        old=entry.verdict.target,
        commit=changed.commit,
        staged=bool(waits),
        changed=changed.changed,
        difference=changed.difference,
        ended=() if waits else entry.ended,
        waiting=entry.asked,
    )


def _ending(old: Fact, entry: JudgedCandidate, new: Fact, session: Session, terms: Terms) -> "Ending":
    """The ending of an entry; one that was replaced before ends earlier, and keeps the versions that followed it."""
    return Ending(old, new, session, terms, is_over=entry.replaces_now and old.status == "active")


def _content(entry: JudgedCandidate, fact: Fact, stores: Stores) -> bytes:
    """The note's bytes; a new version keeps a person's own keys of the old note, such as a sensitive mark."""
    if not entry.ended or not fact.supersedes:
        return new_entry_note(fact, tags=entry.candidate.tags)
    old = stores.vault.read(locate(entry.ended[0].path, stores.vault))
    return successor_note(old.content, entry.ended[0], fact, tags=entry.candidate.tags)


class Ending:
    """An entry that ends where another begins: its keys say so, and it goes to the archive if it `is_over` now."""

    def __init__(self, old: Fact, new: Fact, session: Session, terms: Terms, *, is_over: bool, since: str = "") -> None:
        """`since` is the moment at which the new entry took over, if that is not when it begins."""
        self._old, self._new, self._session, self._is_over = old, new, session, is_over
        self._since = since or new.begins
        self._target = archive_path(old.path) if is_over else old.path
        self.permit = Permit(session, terms, "remember", old.path)
        self.moves = ((old.path, self._target),) if self._target != old.path else ()

    def edit(self, read: Reader) -> Edit:
        """The edit of the old entry. Raises Conflict if it is no longer what the index says."""
        old, new, now = self._old, self._new, self._session.now
        ends = min(self._since, old.valid_until) if old.valid_until else self._since
        ends = max(ends, old.begins)  # an entry that is corrected from its beginning on never held
        ended = with_end(old, ends, now=now)
        if self._is_over:
            ended = replace(ended, status="superseded", superseded_by=new.id, superseded_at=now)
        edit, note = entry_edit(old, changed_keys(old, ended), self._session, read)
        refuse_redirect(self.permit.ask(there=note), old.path)
        if self._target == old.path:
            return edit
        refuse_redirect(self.permit.ask(self._target, there=note, moved_from=old.path), self._target)
        return replace(edit, moved_to=locate(self._target, self._session.stores.vault))
