"""Extracted items -> candidates -> `save`, the one way into memory -> their outcomes, stored in the history.

A process may be killed between the save and the record of it: an item is recognised by its words and its evidence, so
that saving it again changes nothing.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from commonplace.errors import NotFound, Refused, UsageError
from commonplace.facts.cues import counted_cue
from commonplace.facts.words import fingerprint
from commonplace.flows.conversations import may_learn_from
from commonplace.flows.learn.extract import known_statements
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.neighbours import nearest
from commonplace.flows.memory.new_entry import complete_candidate
from commonplace.flows.memory.save import save
from commonplace.flows.memory.undo import removed_statements
from commonplace.flows.read import stat_or_none
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Actor, Bond, Candidate, EntryResult, Fact, Origins, Thread
from commonplace.model.entry_field import made_from
from commonplace.model.fact import RULES
from commonplace.model.learning import ExtractedFact, LearnedBatch, LearnedItem, LearnOutcome
from commonplace.model.moment import moment_text, read_moment
from commonplace.screening.narration import statement_of

JOB: Final = Actor("job", "learn")
"""Who saves what was learned."""

_LONGEST_QUOTE: Final = 300  # characters of the evidence that an entry carries
_OUTCOMES: Final[dict[str, LearnOutcome]] = {"confirm": "confirmed", "supersede": "replaced"}
_CLAIMED: Final = "Only the program that recorded the conversation says who spoke in it."
_BY_PROGRAM: Final = "A program has written to the note that says it."
_FORGOTTEN: Final = "It was learned before, and forgotten or rejected."
_REPLACED: Final = "It was replaced before, and a note does not say when it was written: does it hold again?"
_REMOVED: Final = "It was learned before, and removed from memory since."
_OFF: Final = "memory is off for this conversation"


def settle_pending(session: Session, *, source: str | None = None) -> tuple[LearnedItem, ...]:
    """Save every item that was extracted and not saved, of one source or of all; each is settled at once.

    Raises Conflict, VaultUnavailable and IndexDamaged: what is left stays pending.
    """
    job, pending = session.as_actor(JOB), session.stores.history.pending_items()
    wanted = [(item, fact) for item, fact in pending if source in (None, item.source)]
    removed = removed_statements(job) if wanted else frozenset[str]()
    return tuple(_settle(item, fact, job, removed) for item, fact in wanted)


def preview(batch: LearnedBatch, session: Session) -> Iterator[LearnedItem]:
    """What would become of the items of a batch if they were saved now."""
    job = session.as_actor(JOB)
    removed = removed_statements(job) if batch.extraction.facts else frozenset[str]()
    for fact in batch.extraction.facts:
        item = LearnedItem(source=batch.source, text=fact.text, outcome="pending", quote=fact.quote, turn=fact.turn)
        yield item_outcome(replace(item, extractor=batch.extractor), fact, job, removed=removed, dry_run=True)
    for each in batch.extraction.rejections:
        item = LearnedItem(source=batch.source, text=each.text, outcome="rejected", reason=each.reason, turn=each.turn)
        yield replace(item, extractor=batch.extractor)


def _settle(item: LearnedItem, fact: ExtractedFact, session: Session, removed: Collection[str]) -> LearnedItem:
    settled = item_outcome(item, fact, session, removed=removed, dry_run=False)
    session.stores.history.settle_item(settled, now=session.clock())
    return settled


def item_outcome(
    item: LearnedItem, fact: ExtractedFact, session: Session, *, removed: Collection[str], dry_run: bool
) -> LearnedItem:
    """The item, saved, with its outcome; what has one of the `removed` fingerprints waits for the person.

    Raises Conflict, VaultUnavailable and IndexDamaged.
    """
    try:
        candidate = complete_candidate(_candidate(item, fact, session), session)
        known = _with_the_words(candidate, session)
        if saved := _saved_before(candidate, known, session) or _reworded_since(candidate, item, session):
            return _of_saved(item, saved)
        candidate = replace(candidate, doubt=candidate.doubt or _doubt(candidate, known, removed, session))
        result = save(candidate, session, dry_run=dry_run)
    except (Refused, UsageError, NotFound) as error:
        return replace(item, outcome="refused", reason=error.message)
    return _of_result(item, result)


def _of_result(item: LearnedItem, result: EntryResult) -> LearnedItem:
    outcome: LearnOutcome = "staged" if result.staged else _OUTCOMES.get(result.action, "stored")
    return replace(item, outcome=outcome, reason=result.reason, fact=result.fact.id, old=result.old)


def _of_saved(item: LearnedItem, saved: Fact) -> LearnedItem:
    """The item that an earlier run has saved; a person may have forgotten, rejected or approved it since."""
    if saved.status == "deleted":
        return replace(item, outcome="refused", reason=_FORGOTTEN, fact=saved.id)
    outcome: LearnOutcome = "staged" if saved.place == "staging" else "replaced" if saved.supersedes else "stored"
    return replace(item, outcome=outcome, reason=saved.reason, fact=saved.id, old=saved.supersedes)


def _with_the_words(candidate: Candidate, session: Session) -> tuple[Fact, ...]:
    """The entries with the same words, whatever became of them."""
    query = FactQuery(fingerprint=session.stores.rules.fingerprint(candidate), origins=("entry",), staged=True)
    with entry_reader(session.stores) as reader:  # with what a killed process has committed and not indexed
        records = reader.facts(query)
    return tuple(each.fact for each in records)


def _saved_before(candidate: Candidate, known: Sequence[Fact], session: Session) -> Fact | None:
    """The one of these entries that has the same evidence; one that was ended may come back."""
    origins = candidate.origins
    same = [e for e in known if _has_evidence(e.origins, origins) or _was_renamed(e.origins, origins, session)]
    return next((each for each in same if not (each.invalidated_at and each.status == "active")), None)


def _was_renamed(old: Origins, new: Origins, session: Session) -> bool:
    """True if both quote the same words of a note, and the note that had them first is gone."""
    is_quoted = bool(old.note and new.note and old.quote) and old.quote == new.quote
    return is_quoted and stat_or_none(old.note, session.stores.vault) is None


def _doubt(candidate: Candidate, known: Sequence[Fact], removed: Collection[str], session: Session) -> str:
    """Why words that no entry has now wait for the person, who decided about them before; empty if they need not."""
    if any(each.status == "active" and each.place != "staging" for each in known):
        return ""
    if candidate.origins.note and any(each.status == "superseded" for each in known):
        return _REPLACED
    return _REMOVED if session.stores.rules.fingerprint(candidate) in removed else ""


def _reworded_since(candidate: Candidate, item: LearnedItem, session: Session) -> Fact | None:
    """The entry that was learned from the same words, and that somebody has reworded in its note since.

    Of several facts in the same words, the others say what was extracted from them.
    """
    if not (candidate.origins.conversation and candidate.origins.quote):
        return None
    near = [record.fact for record, _, _ in nearest(candidate, session, archived=True, sensitive=True).entries]
    siblings = [each for each in near if _has_evidence(each.origins, candidate.origins)]
    siblings = [each for each in siblings if each.origins.quote == candidate.origins.quote]
    items = session.stores.history.learned_items(source=item.source) if siblings else ()
    texts = (statement_of(each.text.strip()) for each in items if each.turn == item.turn)
    extracted = {fingerprint(text) for text in texts}
    return next((each for each in siblings if not each.predicate and each.fingerprint not in extracted), None)


def _has_evidence(origins: Origins, other: Origins) -> bool:
    return (origins.conversation, origins.note, origins.turn) == (other.conversation, other.note, other.turn)


# ---------------------------------------------------------------- candidates


def _candidate(item: LearnedItem, fact: ExtractedFact, session: Session) -> Candidate:
    """The item as a candidate for `save`, with its evidence. Raises Refused if memory is off for its conversation."""
    said = _moment_of(item, session)
    candidate = made_from(
        Candidate,
        fact,
        said=said,
        about=counted_cue(" ".join(fact.about.split())),
        when=counted_cue(" ".join(fact.when.split())),
        valid_from=read_moment(fact.valid_from) if fact.valid_from else "",
        valid_until=read_moment(fact.valid_until) if fact.valid_until > (fact.valid_from or said)[:10] else "",
        bonds=tuple(_bonds(item, fact, session)),
    )
    origins = Origins(trust="mined", extractor=item.extractor, turn=item.turn, quote=evidence(item.quote))
    if item.source.endswith(".md"):
        doubt = _BY_PROGRAM if _is_written_by_program(item.source, session) else ""
        return replace(candidate, origins=replace(origins, interface="note", note=item.source, turn=0), doubt=doubt)
    thread = _thread(item.source, session)
    return replace(
        candidate,
        project=thread.project,
        origins=replace(
            origins, interface=thread.interface, conversation=thread.id, author=_author(item, thread, session)
        ),
        doubt=_CLAIMED if thread.is_claim else "",
        # a model's reading of the person's words is not the person's word: there, a replacement waits for review
        is_spoken=not thread.is_claim and item.extractor == RULES,
    )


def evidence(quote: str) -> str:
    """The quote as an entry carries it: on one line, and not too long."""
    return " ".join(quote.split())[:_LONGEST_QUOTE].rstrip()


def _thread(id: str, session: Session) -> Thread:
    thread = session.stores.history.conversation(id)
    if thread is None or not may_learn_from(thread, session.stores):
        raise Refused(_OFF, hint="`commonplace conversation memory` switches it on.")
    return thread


def _author(item: LearnedItem, thread: Thread, session: Session) -> str:
    """Who said it, if several people share the vault and the message is one of theirs; empty otherwise."""
    members = session.stores.members()
    messages = session.stores.history.messages(thread.id, first=item.turn, last=item.turn) if members else ()
    return next((each.author for each in messages if each.author in members), "")


def _moment_of(item: LearnedItem, session: Session) -> str:
    """The moment at which it was said; empty for a note, which says it now."""
    if item.source.endswith(".md") or not item.turn:
        return ""
    messages = session.stores.history.messages(item.source, first=item.turn, last=item.turn)
    at = messages[0].at if messages else None
    return moment_text(at) if at and at < session.clock() else ""


def _is_written_by_program(path: str, session: Session) -> bool:
    return any(each.actor != "person" for each in session.stores.history.entries(path=path))


def _bonds(item: LearnedItem, fact: ExtractedFact, session: Session) -> Iterator[tuple[Bond, str]]:
    """The known fact that a model says is over; the rules have read none, so nothing that they find ends one."""
    if item.extractor != RULES and fact.relation in ("update", "end") and (old := ended_fact(fact, session)):
        yield "update", old.id


def ended_fact(fact: ExtractedFact, session: Session) -> Fact | None:
    """The known fact that is said to be over: the one with just these words; None if none has."""
    if not fact.ends.strip():
        return None
    print_ = fingerprint(fact.ends)
    meant = [each for each in known_statements([fact.ends], session) if each.fingerprint == print_]
    return meant[0] if len(meant) == 1 else None
