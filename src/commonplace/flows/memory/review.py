"""Review: what waits for the person, and what it speaks against; approved, edited or rejected, each in one commit.

An approved entry moves from staging to its place and becomes the person's own word; the entries that it speaks against
end and go to the archive in the same commit. A rejected one goes to the archive, so that `save` knows its words. Of an
active entry only the ending of others waits (`endings`): approved it ends them, rejected both hold. A group of near
entries of which nobody has said how they relate (`groups`) is asked about once. Only a person may review;
`waiting_count` tells no more than a number, and is for everyone.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Final

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.facts.entry_format import changed_keys
from commonplace.facts.entry_paths import entry_path, entry_slug, file_name, id_digits, word_digits
from commonplace.facts.integrate import integrate
from commonplace.facts.validity import state_of
from commonplace.flows.ingest.index_notes import refresh_note
from commonplace.flows.memory.amend import active_entry, entry_edit
from commonplace.flows.memory.endings import (
    LIVE,
    agree_to_ending,
    bring_back,
    decide_ending,
    ending_of,
    latest_version,
    line_stays,
    old_endings,
    replaced_since,
    waiting_endings,
    waits_by_old_rule,
)
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.groups import undecided
from commonplace.flows.memory.new_entry import complete_candidate, screen_candidate, successor_note
from commonplace.flows.memory.save import Ending, known_facts
from commonplace.flows.memory.verdicts import settle_group, with_bonds
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
from commonplace.model import Actor, Candidate, Fact, Origins, Terms
from commonplace.model.entry_field import made_from
from commonplace.model.fact import (
    GroupVerdict,
    OldEnding,
    ReviewAction,
    ReviewQueue,
    ReviewResult,
    WaitingEntry,
    WaitingGroup,
)
from commonplace.model.layout import REJECTED, STAGING, is_entry_path, place_of

_AGAINST: Final = ("contradict", "end")  # relations of a waiting entry to what it would end
_GROUP: Final = "g-"
_BY_OLD_RULE: Final = (
    "An old rule made it wait. Today it would stand beside what it speaks against: keep both, or decide."
)
_ACTIONS: Final[dict[GroupVerdict, ReviewAction]] = {"both": "both", "replaces": "replace", "same": "same"}


def waiting_count(session: Session) -> int:
    """How many decisions wait for the person: entries, other staged notes, endings, and groups. Raises IndexDamaged."""
    paths = _staged_paths(session.stores)
    own = session.as_actor(Actor())  # a number tells nobody what it is about
    others = len(waiting_endings(own)) + len(undecided(own))
    if not paths:
        return others
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(paths=paths, staged=True))
    return others + len(paths) - sum(record.fact.status != "active" for record in records)


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
    entries = tuple(_compared(fact, here) for fact in facts)
    groups = tuple(_waiting_group(each.entries) for each in undecided(here))
    return ReviewQueue(entries, others, proposed, waiting_endings(here), groups)


def waiting_entry(name: str, session: Session) -> WaitingEntry:
    """The waiting entry of that name, or the entry of which the ending of others waits.

    Raises Refused unless a person asks, NotFound, and Conflict if nothing of the entry waits.
    """
    here = _person(session)
    return _waiting(name, here)


def approve(
    names: Iterable[str],
    session: Session,
    *,
    every: bool = False,
    keep_old: bool = False,
    confirm_known: bool = False,
    dry_run: bool = False,
) -> tuple[ReviewResult, ...]:
    """Approve these entries and endings, or all that wait, in one commit each; what they speak against ends.

    With `keep_old` it does not end, and both hold. Where the same words are known by now, the approved entry stays and
    the known one becomes its earlier version; with `confirm_known` the known one is confirmed in its place. Raises
    Refused unless a person asks, NotFound, and Conflict.
    """
    with session.stores.save_lock():
        here = _person(session)
        return tuple(
            decide_ending(waiting, here, ends=not keep_old, dry_run=dry_run)
            if waiting.fact.place != "staging"
            else _accept(waiting, here, keep_old=keep_old, confirm_known=confirm_known, dry_run=dry_run)
            for waiting in _chosen(names, here, every=every)
        )


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
        waiting = _compared(_reworded(fact, (text, object.strip()), here), here)
        return _accept(waiting, here, before=fact, keep_old=keep_old, dry_run=dry_run)


def reject(
    names: Iterable[str], session: Session, *, every: bool = False, reason: str = "", dry_run: bool = False
) -> tuple[ReviewResult, ...]:
    """Reject these entries and endings, or all that wait, in one commit each.

    Programs cannot save the words of a rejected entry again; of a rejected ending both entries hold. Raises Refused
    unless a person asks, NotFound, and Conflict.
    """
    refuse_secrets(reason)
    with session.stores.save_lock():
        here = _person(session)
        return tuple(
            decide_ending(waiting, here, ends=False, dry_run=dry_run)
            if waiting.fact.place != "staging"
            else _reject(waiting.fact, here, reason=reason, dry_run=dry_run)
            for waiting in _chosen(names, here, every=every)
        )


def decide_group(id: str, verdict: GroupVerdict, session: Session, *, dry_run: bool = False) -> ReviewResult:
    """Settle a group as it was shown: all of it holds, the newest replaces the others, or all say the same.

    Raises Refused unless a person asks, and Conflict if there is no such group any more.
    """
    with session.stores.save_lock():
        here = _person(session)
        groups = (_waiting_group(each.entries) for each in undecided(here))
        group = next((each for each in groups if each.id == id), WaitingGroup("", ()))
        entries = tuple(active_entry(each.id, here).fact for each in group.entries)
        if _waiting_group(entries).id != id:
            hint = "`commonplace review` lists the groups as they are now."
            raise Conflict(f"there is no group {id!r}: it has changed, or it is decided", hint=hint)
        result = settle_group(entries, verdict, here, dry_run=dry_run)
        return ReviewResult(
            _ACTIONS[verdict],
            result.fact,
            result.ended,
            commit=result.commit,
            changed=result.changed,
            difference=result.difference,
        )


def endings_by_old_rules(session: Session) -> tuple[OldEnding, ...]:
    """The endings that an old rule made and the person has not looked at, the newest first. Raises Refused."""
    return old_endings(_person(session))


def return_ended(names: Iterable[str], session: Session, *, dry_run: bool = False) -> tuple[ReviewResult, ...]:
    """Bring replaced entries back, each beside its newest version. Raises Refused, NotFound and Conflict."""
    with session.stores.save_lock():
        here = _person(session)
        return tuple(bring_back(name, here, dry_run=dry_run) for name in names)


def leave_ended(names: Iterable[str], session: Session, *, dry_run: bool = False) -> tuple[ReviewResult, ...]:
    """Note that entries which an old rule ended stay so. Raises Refused, NotFound and Conflict."""
    with session.stores.save_lock():
        here = _person(session)
        return tuple(agree_to_ending(name, here, dry_run=dry_run) for name in names)


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


def _chosen(names: Iterable[str], session: Session, *, every: bool) -> Iterator[WaitingEntry]:
    """The entries and endings that are meant, each once and as they are when it is their turn.

    Raises NotFound, and Conflict if one does not wait; of all that wait, some may be settled by one before them.
    """
    if not every:
        ids = [*dict.fromkeys(_waiting(name, session).fact.id for name in names)]
        yield from (_waiting(id, session) for id in ids)
        return
    facts = [*_waiting_facts(session)[0], *(each.fact for each in waiting_endings(session))]
    for fact in sorted(facts, key=lambda fact: (fact.recorded, fact.id)):
        with suppress(Conflict):
            yield _waiting(fact.id, session)


def _waiting(name: str, session: Session) -> WaitingEntry:
    """What waits of the entry: itself, or the ending of others. Raises NotFound, and Conflict if nothing does."""
    record = active_entry(name, session)
    fact = record.fact
    if fact.place == "staging":
        return _compared(fact, session)
    with entry_reader(session.stores) as reader:
        ending = ending_of(record, reader, session)
    if ending is None:
        hint = "`commonplace review` lists what waits."
        raise Conflict(f"the entry {fact.id} does not wait for review", path=fact.path, hint=hint)
    return ending


def _waiting_fact(name: str, session: Session) -> Fact:
    fact = active_entry(name, session).fact
    if fact.place != "staging":
        hint = "`commonplace review` lists what waits; `commonplace evolve` gives an entry other words."
        raise Conflict(f"the entry {fact.id} does not wait as a whole", path=fact.path, hint=hint)
    return fact


def _waiting_group(entries: Sequence[Fact]) -> WaitingGroup:
    shown = "\0".join(f"{fact.id} {word_digits(fact)}" for fact in entries)
    return WaitingGroup(f"{_GROUP}{sha256(shown.encode()).hexdigest()[:6]}", tuple(entries))


def _compared(fact: Fact, session: Session) -> WaitingEntry:
    """The entry with what it speaks against today: as it was saved, else by comparing it with what is known."""
    with entry_reader(session.stores) as reader:
        known = _known(fact, reader, session)
        against, remarks = _stated_opponents(fact, reader, session)
    if not (known or against):
        found = _found_opponent(fact, session)
        known, against = found.known, found.against
    if known:
        remarks += (f"{id_digits(known.id)} already says this.",)
        against = tuple(each for each in against if each.id != known.id)
    if waits_by_old_rule(fact):
        remarks += (_BY_OLD_RULE,)
    remarks += tuple(line_stays(each) for each in against if each.origin == "line")
    return WaitingEntry(fact, against, known, remarks)


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
        record = latest_version(target, reader)
        state = state_of(record, at=session.now) if record else "gone"
        if record and record.fact.id != target:
            remarks.append(replaced_since(target, record.fact))
        if record and state in LIVE:
            against[record.fact.id] = record.fact
        else:
            remarks.append(f"{id_digits(target)}, which it was saved against, is {state}.")
    return tuple(against.values()), tuple(remarks)


def _found_opponent(fact: Fact, session: Session) -> WaitingEntry:
    """The entry compared with what is known, as if the person saved it now."""
    candidate = _candidate(fact)
    known = [each for each in known_facts(candidate, session) if each.fact.place != "staging"]
    verdict = integrate(candidate, known, rules=session.stores.rules, now=session.now)
    other = next((each for each in known if each.fact.id == verdict.target), None)
    if other is None or state_of(other, at=session.now) not in LIVE:
        return WaitingEntry(fact)
    if verdict.action == "confirm":
        return WaitingEntry(fact, known=other.fact)
    is_against = verdict.action in ("supersede", "contradict", "insert")
    return WaitingEntry(fact, against=(other.fact,) if is_against else ())


def _candidate(fact: Fact) -> Candidate:
    return made_from(Candidate, fact, bonds=())


# ---------------------------------------------------------------- approve, edit, reject


def _accept(
    waiting: WaitingEntry,
    session: Session,
    *,
    before: Fact | None = None,
    keep_old: bool = False,
    confirm_known: bool = False,
    dry_run: bool,
) -> ReviewResult:
    """Approve one entry; `before` is how it waited, if the person gave it other words."""
    fact, known = waiting.fact, waiting.known
    if known and confirm_known:
        return _confirm_known(fact, known, session, dry_run=dry_run)
    others = (*((known,) if known else ()), *waiting.against)
    both: tuple[Fact, ...] = others if keep_old else ()
    if fact.valid_until and fact.valid_until <= session.now:
        said = f"It was over on {fact.valid_until[:10]}, before you approved it: it ends nothing."
        waiting, keep_old = replace(waiting, remarks=(*waiting.remarks, said)), True
    old = () if keep_old else tuple(each for each in others if each.origin == "entry")
    approved = _approved(fact, old, session, both=both)
    terms = _terms("approve", approved.path, session, dry_run=dry_run)
    is_over = approved.begins <= session.now
    endings = [Ending(each, approved, session, terms, is_over=is_over) for each in old]
    result = ReviewResult("edit" if before else "approve", approved, old, waiting.remarks)
    return _write(before or fact, result, session, terms=terms, endings=endings)


def _reworded(fact: Fact, words: tuple[str, str], session: Session) -> Fact:
    """The entry with the person's words. Raises UsageError without any, and Refused for secrets and junk."""
    text, object = words
    if not (text.strip() or object):
        raise UsageError("an edit needs new words", hint="Give the new text; `commonplace review approve` keeps it.")
    draft = replace(_candidate(fact), text=text, object=object, origins=_own_words(fact, session))
    candidate = complete_candidate(draft, session)
    screen_candidate(candidate, session)
    reworded = replace(fact, text=candidate.text, object=candidate.object, origins=candidate.origins)
    return replace(reworded, fingerprint=session.stores.rules.fingerprint(reworded))


def _own_words(fact: Fact, session: Session) -> Origins:
    """The person as the source; what it was made from stays, so that it is not learned from that again."""
    said = fact.origins
    return replace(said, interface=session.actor.origin, trust="told", extractor="", author=session.author)


def _approved(fact: Fact, old: Sequence[Fact], session: Session, *, both: Sequence[Fact] = ()) -> Fact:
    """The entry in its place, as the person's word from today on; it replaces the old ones if it holds already.

    What has the same words and is replaced by it leaves it how it is loaded, and its days.
    """
    now = session.now
    same = [each for each in old if each.fingerprint == fact.fingerprint]
    is_loaded = fact.always_load or any(each.always_load for each in same)
    path = entry_path(fact.kind, id=fact.id, slug=entry_slug(fact), recorded=fact.recorded, always_load=is_loaded)
    is_older = any(each.begins > fact.begins for each in old if each not in same)  # it holds from its approval on
    begins = now if is_older else fact.begins
    stated = replace(fact, bonds=tuple(each for each in fact.bonds if each[0] not in _AGAINST))
    days = dict.fromkeys((*(day for each in same for day in each.confirmed), *fact.confirmed, now[:10]))
    return replace(
        fact,
        path=path,
        place=place_of(path),
        always_load=is_loaded,
        pinned=fact.pinned or any(each.pinned for each in same),
        valid_from=now if is_older else fact.valid_from,
        supersedes=old[0].id if old and begins <= now else "",
        reason="The person approved it." if old else "",
        bonds=with_bonds(stated, "both", both),
        origins=replace(fact.origins, trust="told"),
        confirmed=tuple(days),
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
