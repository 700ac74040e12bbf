"""Review: what waits for the person, and what it speaks against; approved, edited or rejected, each in one commit.

An approved entry moves from staging to its place and becomes the person's own word; the entries that it speaks against
end and go to the archive in the same commit. A rejected one goes to the archive, so that `save` knows its words. Only
a person may review; `waiting_count` tells no more than a number, and is for everyone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.facts.entry_format import changed_keys
from commonplace.facts.entry_paths import entry_path, entry_slug, file_name, id_digits
from commonplace.facts.integrate import integrate
from commonplace.facts.validity import state_of
from commonplace.flows.ingest.index_notes import refresh_note
from commonplace.flows.memory.amend import active_entry, entry_edit
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.new_entry import complete_candidate, screen_candidate, successor_note
from commonplace.flows.memory.save import Ending, known_facts
from commonplace.flows.notes.proposals import proposals
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
from commonplace.flows.read import list_notes, locate
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Candidate, Fact, FactRecord, Origins, Terms
from commonplace.model.entry_field import made_from
from commonplace.model.fact import ReviewQueue, ReviewResult, WaitingEntry
from commonplace.model.layout import REJECTED, STAGING, is_entry_path, place_of

_AGAINST: Final = ("contradict", "end")  # relations of a waiting entry to what it would end
_LIVE: Final = ("current", "future")  # states of a fact that something can speak against


def waiting_count(session: Session) -> int:
    """How many entries and notes wait for the person. Raises IndexDamaged."""
    paths = _staged_paths(session.stores)
    if not paths:
        return 0
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(paths=paths, staged=True))
    return len(paths) - sum(record.fact.status != "active" for record in records)


def waiting_text(count: int, *, proposals: int = 0) -> str:
    """One line that says how much waits, by kind, and what to do; empty for none. `proposals` of them change notes."""
    if not count:
        return ""
    kinds = ((count - proposals, "memory", "memories"), (proposals, "proposal", "proposals"))
    parts = [f"{number} {one if number == 1 else many}" for number, one, many in kinds if number > 0]
    return f"{' and '.join(parts)} {'waits' if count == 1 else 'wait'} for your review: `commonplace review`"


def review_queue(session: Session) -> ReviewQueue:
    """Everything that waits. Raises Refused unless a person asks."""
    here = _person(session)
    facts, notes = _waiting_facts(here)
    proposed = proposals(here.stores)
    others = tuple(path for path in notes if path not in {each.path for each in proposed})
    return ReviewQueue(tuple(_compared(fact, here) for fact in facts), others, proposed)


def waiting_entry(name: str, session: Session) -> WaitingEntry:
    """The waiting entry of that name.

    Raises Refused unless a person asks, NotFound, and Conflict if the entry does not wait.
    """
    here = _person(session)
    return _compared(_waiting_fact(name, here), here)


def approve(
    names: Iterable[str], session: Session, *, every: bool = False, keep_old: bool = False, dry_run: bool = False
) -> tuple[ReviewResult, ...]:
    """Approve these entries, or every one that waits, in one commit each; what they speak against ends.

    With `keep_old` it does not end. Raises Refused unless a person asks, NotFound, and Conflict.
    """
    with session.stores.save_lock():
        here = _person(session)
        ids = _chosen(names, here, every=every)
        return tuple(_accept(id, here, keep_old=keep_old, dry_run=dry_run) for id in ids)


def edit(
    name: str, session: Session, *, text: str = "", object: str = "", keep_old: bool = False, dry_run: bool = False
) -> ReviewResult:
    """Give a waiting entry other words, and approve it as the person's own; with `keep_old` it ends nothing.

    A triple gets another object; its sentence is `text`, or made from the triple. Raises as `approve` does, Refused for
    secrets and junk, and UsageError if there are no new words.
    """
    with session.stores.save_lock():
        here = _person(session)
        fact = _waiting_fact(name, here)
        if fact.predicate and not object.strip():
            hint = f"Give its new value: --object {fact.object!r}."
            raise UsageError(f"{id_digits(fact.id)} is a triple: its text follows from its object", hint=hint)
        if object.strip() and not fact.predicate:
            raise UsageError(f"{id_digits(fact.id)} is not a triple", hint="Give its new text.")
        return _accept(fact.id, here, words=(text, object.strip()), keep_old=keep_old, dry_run=dry_run)


def reject(
    names: Iterable[str], session: Session, *, every: bool = False, reason: str = "", dry_run: bool = False
) -> tuple[ReviewResult, ...]:
    """Reject these entries, or every one that waits, in one commit each; programs cannot save their words again.

    Raises Refused unless a person asks, NotFound, and Conflict.
    """
    refuse_secrets(reason)
    with session.stores.save_lock():
        here = _person(session)
        facts = [_waiting_fact(id, here) for id in _chosen(names, here, every=every)]
        return tuple(_reject(fact, here, reason=reason, dry_run=dry_run) for fact in facts)


# ---------------------------------------------------------------- what waits, and what it speaks against


def _person(session: Session) -> Session:
    """The session with its clock stopped. Raises Refused unless a person asks."""
    if session.actor.kind != "person":
        raise Refused(
            "only the person may review what waits for their approval", hint="Ask them to run `commonplace review`."
        )
    return session.at(session.clock())


def _staged_paths(stores: Stores) -> tuple[str, ...]:
    try:
        stats = list_notes(STAGING, stores.vault, skip=stores.ignored)
    except NotFound:
        return ()
    return tuple(stat.path for stat in stats if is_entry_path(stat.path))


def _waiting_facts(session: Session) -> tuple[list[Fact], tuple[str, ...]]:
    """The entries that wait, oldest first, as their notes have them now; and the other staged notes."""
    stores = session.stores
    paths = _staged_paths(stores)
    for path in paths:
        refresh_note(path, stores)
    if not paths:
        return [], ()
    with stores.index.reader() as reader:
        facts = [record.fact for record in reader.facts(FactQuery(paths=paths, origins=("entry",), staged=True))]
    others = {*paths} - {fact.path for fact in facts}
    waiting = [fact for fact in facts if fact.status == "active" and fact.place == "staging"]
    return sorted(waiting, key=lambda fact: (fact.recorded, fact.id)), tuple(sorted(others))


def _chosen(names: Iterable[str], session: Session, *, every: bool) -> list[str]:
    """The ids of the entries that are meant, each once. Raises NotFound, and Conflict if one does not wait."""
    facts = _waiting_facts(session)[0] if every else [_waiting_fact(name, session) for name in names]
    return [*dict.fromkeys(fact.id for fact in facts)]


def _waiting_fact(name: str, session: Session) -> Fact:
    fact = active_entry(name, session).fact
    if fact.place != "staging":
        hint = "`commonplace review` lists what waits."
        raise Conflict(f"the entry {fact.id} does not wait for review", path=fact.path, hint=hint)
    return fact


def _compared(fact: Fact, session: Session) -> WaitingEntry:
    """The entry with what it speaks against today: as it was saved, else by comparing it with what is known."""
    with entry_reader(session.stores) as reader:
        known = _known(fact, reader, session)
        against, remarks = _stated_opponents(fact, reader, session)
    if not (known or against):
        found = _found_opponent(fact, session)
        known, against = found.known, found.against
    if known:
        return WaitingEntry(fact, known=known, remarks=(f"{id_digits(known.id)} already says this.",))
    lines = [each for each in against if each.origin == "line"]
    remarks += tuple(f"{each.path}:{each.line} says otherwise: only you can change that line." for each in lines)
    return WaitingEntry(fact, against, remarks=remarks)


def _known(fact: Fact, reader: IndexReader, session: Session) -> Fact | None:
    """A current fact with exactly these words, about the same subject."""
    rules, subject = session.stores.rules, session.stores.rules.entity(fact.subject)
    for record in reader.facts(FactQuery(fingerprint=fact.fingerprint)):
        other = rules.entity(record.fact.subject)
        if state_of(record, at=session.now) == "current" and (not subject or not other or subject == other):
            return record.fact
    return None


def _stated_opponents(fact: Fact, reader: IndexReader, session: Session) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """The facts that the entry says it replaces or contradicts, in their latest versions; and what became of others."""
    stated = [fact.supersedes, *(target for bond, target in fact.bonds if bond in _AGAINST)]
    against: dict[str, Fact] = {}
    remarks: list[str] = []
    for target in dict.fromkeys(filter(None, stated)):
        record = _latest_version(target, reader)
        state = state_of(record, at=session.now) if record else "gone"
        if record and record.fact.id != target:
            remarks.append(f"{id_digits(target)} was replaced by {id_digits(record.fact.id)} since it was saved.")
        if record and state in _LIVE:
            against[record.fact.id] = record.fact
        else:
            remarks.append(f"{id_digits(target)}, which it was saved against, is {state}.")
    return tuple(against.values()), tuple(remarks)


def _latest_version(id: str, reader: IndexReader) -> FactRecord | None:
    record: FactRecord | None = None
    seen: set[str] = set()
    while id and id not in seen:
        seen.add(id)
        records = reader.facts(FactQuery(ids=(id,)))
        record = records[0] if records else record
        id = records[0].fact.superseded_by if records else ""
    return record


def _found_opponent(fact: Fact, session: Session) -> WaitingEntry:
    """The entry compared with what is known, as if the person saved it now."""
    candidate = _candidate(fact)
    known = [each for each in known_facts(candidate, session) if each.fact.place != "staging"]
    verdict = integrate(candidate, known, rules=session.stores.rules, now=session.now)
    other = next((each for each in known if each.fact.id == verdict.target), None)
    if other is None or state_of(other, at=session.now) not in _LIVE:
        return WaitingEntry(fact)
    if verdict.action == "confirm":
        return WaitingEntry(fact, known=other.fact)
    is_against = verdict.action in ("supersede", "contradict", "insert")
    return WaitingEntry(fact, against=(other.fact,) if is_against else ())


def _candidate(fact: Fact) -> Candidate:
    return made_from(Candidate, fact, bonds=())


# ---------------------------------------------------------------- approve, edit, reject


def _accept(
    id: str, session: Session, *, words: tuple[str, str] | None = None, keep_old: bool = False, dry_run: bool
) -> ReviewResult:
    """Approve one entry, with other words if they are given, after another look at what it speaks against."""
    fact = _waiting_fact(id, session)
    waiting = _compared(_reworded(fact, words, session) if words else fact, session)
    if waiting.known:
        return _confirm_known(fact, waiting.known, session, dry_run=dry_run)
    if fact.valid_until and fact.valid_until <= session.now:
        said = f"It was over on {fact.valid_until[:10]}, before you approved it: it ends nothing."
        waiting, keep_old = replace(waiting, remarks=(*waiting.remarks, said)), True
    old = () if keep_old else tuple(each for each in waiting.against if each.origin == "entry")
    approved = _approved(waiting.fact, old, session)
    terms = _terms("approve", approved.path, session, dry_run=dry_run)
    is_over = approved.begins <= session.now
    endings = [Ending(each, approved, session, terms, is_over=is_over) for each in old]
    result = ReviewResult("edit" if words else "approve", approved, old, waiting.remarks)
    return _write(fact, result, session, terms=terms, endings=endings)


def _reworded(fact: Fact, words: tuple[str, str], session: Session) -> Fact:
    """The entry with the person's words. Raises UsageError without any, and Refused for secrets and junk."""
    text, object = words
    if not (text.strip() or object):
        raise UsageError("an edit needs new words", hint="Give the new text; `commonplace review approve` keeps it.")
    draft = replace(_candidate(fact), text=text, object=object, origins=_own_words(fact, session))
    candidate = complete_candidate(draft, session)
    screen_candidate(candidate, session)
    hash = session.stores.rules.fingerprint(
        subject=fact.subject, predicate=fact.predicate, object=candidate.object, text=candidate.text
    )
    return replace(fact, text=candidate.text, object=candidate.object, origins=candidate.origins, fingerprint=hash)


def _own_words(fact: Fact, session: Session) -> Origins:
    """The person as the source; what it was made from stays, so that it is not learned from that again."""
    said = fact.origins
    return replace(said, interface=session.actor.origin, trust="told", extractor="", author=session.author)


def _approved(fact: Fact, old: Sequence[Fact], session: Session) -> Fact:
    """The entry in its place, as the person's word from today on; it replaces the old ones if it holds already."""
    now = session.now
    path = entry_path(
        fact.kind, id=fact.id, slug=entry_slug(fact), recorded=fact.recorded, always_load=fact.always_load
    )
    is_older = any(each.begins > fact.begins for each in old)  # it holds from its approval on
    begins = now if is_older else fact.begins
    return replace(
        fact,
        path=path,
        place=place_of(path),
        valid_from=now if is_older else fact.valid_from,
        supersedes=old[0].id if old and begins <= now else "",
        reason="The person approved it." if old else "",
        bonds=tuple(each for each in fact.bonds if each[0] not in _AGAINST),
        origins=replace(fact.origins, trust="told"),
        confirmed=tuple(dict.fromkeys((*fact.confirmed, now[:10]))),
        updated=now,
    )


def _confirm_known(fact: Fact, known: Fact, session: Session, *, dry_run: bool) -> ReviewResult:
    """Put away an entry that says what is known, and confirm what is known, in one commit."""
    put_away = replace(_archived(fact, session), status="archived", reason=f"{id_digits(known.id)} already says this.")
    days = tuple(dict.fromkeys((*known.confirmed, session.now[:10])))
    own = replace(known, confirmed=days, origins=replace(known.origins, trust="told"))
    is_new = known.origin == "entry" and own != known
    confirmed = replace(own, updated=session.now) if is_new else known
    also = ((known, confirmed),) if is_new else ()
    terms = _terms("approve", put_away.path, session, dry_run=dry_run)
    remarks = (f"{id_digits(known.id)} already says this; it is confirmed.",)
    written = _write(fact, ReviewResult("confirm", put_away, remarks=remarks), session, terms=terms, also=also)
    return replace(written, fact=confirmed)


def _reject(fact: Fact, session: Session, *, reason: str, dry_run: bool) -> ReviewResult:
    said = reason.strip() or "The person rejected it."
    rejected = replace(_archived(fact, session), status="deleted", deleted_at=session.now, reason=said)
    terms = replace(_terms("reject", rejected.path, session, dry_run=dry_run), why=said)
    return _write(fact, ReviewResult("reject", rejected), session, terms=terms)


def _archived(fact: Fact, session: Session) -> Fact:
    """The entry where rejected ones are kept; it replaces nothing."""
    path = f"{REJECTED}/{file_name(fact.id, slug=entry_slug(fact))}"
    return replace(fact, path=path, place=place_of(path), supersedes="", updated=session.now)


def _terms(verb: str, path: str, session: Session, *, dry_run: bool) -> Terms:
    return Terms(message=commit_message(session.stores, verb=verb, path=path), dry_run=dry_run)


def _write(
    before: Fact,
    result: ReviewResult,
    session: Session,
    *,
    terms: Terms,
    endings: Sequence[Ending] = (),
    also: Sequence[tuple[Fact, Fact]] = (),
) -> ReviewResult:
    """Write the reviewed entry, end what it replaces and change what `also` names, in one commit."""
    after = result.fact
    pairs = [(before, after), *also]
    permits = [Permit(session, terms, "remember", old.path) for old, _ in pairs]

    def plan(read: Reader) -> tuple[Edit, ...]:
        edits = [_edit(old, new, permit, read) for (old, new), permit in zip(pairs, permits, strict=True)]
        return (*edits, *(ending.edit(read) for ending in endings))

    moves = [(before.path, after.path), *(move for ending in endings for move in ending.moves)]
    every = [*permits, *(ending.permit for ending in endings)]
    edits, written = change(plan, every, path=after.path, trailers=move_trailers(*moves))
    changed = change_result(edits[0], permits[0], written, more=edits[1:])
    return replace(result, commit=changed.commit, changed=changed.changed, difference=changed.difference)


def _edit(old: Fact, new: Fact, permit: Permit, read: Reader) -> Edit:
    """The edit of one entry; it moves if its path changes, and then its name follows from its words."""
    session = permit.session
    edit, note = entry_edit(old, changed_keys(old, new), session, read)
    permit.ask(there=note)
    if new.path == old.path:
        return edit
    permit.ask(new.path, there=note, moved_from=old.path)
    content = successor_note(edit.before or b"", old, new, tags=())
    return replace(edit, after=content, moved_to=locate(new.path, session.stores.vault))
