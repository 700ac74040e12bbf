"""Extracted items -> candidates -> `save`, the one way into memory -> their outcomes, stored in the history.

A process may be killed between the save and the record of it: an item is recognised by its words and its evidence, so
that saving it again changes nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from commonplace.errors import NotFound, Refused, UsageError
from commonplace.facts.statement_words import stem_of, words_of
from commonplace.flows.conversations import may_learn_from
from commonplace.flows.learn.extract import known_statements
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.new_entry import complete_candidate
from commonplace.flows.memory.save import newer_fact, save
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.model import Actor, Bond, Candidate, EntryResult, Fact, Origins, Thread
from commonplace.model.entry_field import made_from
from commonplace.model.fact import RULES
from commonplace.model.learning import ExtractedFact, LearnedBatch, LearnedItem, LearnOutcome
from commonplace.model.moment import read_moment

JOB: Final = Actor("job", "learn")
"""Who saves what was learned."""

_LONGEST_QUOTE: Final = 300  # characters of the evidence that an entry carries
_SHARED: Final = 0.8  # of the words of what is over that the known fact must have
_OUTCOMES: Final[dict[str, LearnOutcome]] = {"confirm": "confirmed", "supersede": "replaced"}
_CLAIMED: Final = "Only the program that recorded the conversation says who spoke in it."
_BY_PROGRAM: Final = "A program has written to the note that says it."
_FORGOTTEN: Final = "It was learned before, and forgotten or rejected."
_NEWER: Final = "It says that something is over, and a later statement says otherwise."
_OFF: Final = "memory is off for this conversation"


def settle_pending(session: Session, *, source: str | None = None) -> tuple[LearnedItem, ...]:
    """Save every item that was extracted and not saved, of one source or of all; each is settled at once.

    Raises Conflict, VaultUnavailable and IndexDamaged: what is left stays pending.
    """
    job = session.as_actor(JOB)
    return tuple(
        _settle(item, fact, job)
        for item, fact in session.stores.history.pending_items()
        if source in (None, item.source)
    )


def preview(batch: LearnedBatch, session: Session) -> Iterator[LearnedItem]:
    """What would become of the items of a batch if they were saved now."""
    job = session.as_actor(JOB)
    for fact in batch.extraction.facts:
        item = LearnedItem(source=batch.source, text=fact.text, outcome="pending", quote=fact.quote, turn=fact.turn)
        yield item_outcome(replace(item, extractor=batch.extractor), fact, job, dry_run=True)
    for each in batch.extraction.rejections:
        item = LearnedItem(source=batch.source, text=each.text, outcome="rejected", reason=each.reason, turn=each.turn)
        yield replace(item, extractor=batch.extractor)


def _settle(item: LearnedItem, fact: ExtractedFact, session: Session) -> LearnedItem:
    settled = item_outcome(item, fact, session, dry_run=False)
    session.stores.history.settle_item(settled, now=session.clock())
    return settled


def item_outcome(
    item: LearnedItem, fact: ExtractedFact, session: Session, *, dry_run: bool, confirms: bool = True
) -> LearnedItem:
    """The item, saved, with its outcome. Without `confirms` it leaves a known fact that says the same as it is.

    Raises Conflict, VaultUnavailable and IndexDamaged.
    """
    try:
        candidate = complete_candidate(_candidate(item, fact, session), session)
        if saved := _saved_before(candidate, session):
            return _of_saved(item, saved)
        is_recent = _is_recent(candidate, session)
        candidate = candidate if is_recent else _until_newer(candidate, session)
        result = save(candidate, session, dry_run=dry_run, confirms=confirms and is_recent)
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


def _saved_before(candidate: Candidate, session: Session) -> Fact | None:
    """The entry with the same words and the same evidence, whatever became of it; one that was ended may come back."""
    hash = session.stores.rules.fingerprint(
        subject=candidate.subject, predicate=candidate.predicate, object=candidate.object, text=candidate.text
    )
    with entry_reader(session.stores) as reader:  # with what a killed process has committed and not indexed
        records = reader.facts(FactQuery(fingerprint=hash, origins=("entry",), staged=True))
    facts = (each.fact for each in records if _has_evidence(each.fact.origins, candidate.origins))
    return next((each for each in facts if not (each.invalidated_at and each.status == "active")), None)


def _has_evidence(origins: Origins, other: Origins) -> bool:
    return (origins.conversation, origins.note, origins.turn) == (other.conversation, other.note, other.turn)


# ---------------------------------------------------------------- candidates


def _candidate(item: LearnedItem, fact: ExtractedFact, session: Session) -> Candidate:
    """The item as a candidate for `save`, with its evidence. Raises Refused if memory is off for its conversation."""
    begins = fact.valid_from or _day_of(item, session)
    candidate = made_from(
        Candidate,
        fact,
        valid_from=read_moment(begins) if begins else "",
        valid_until=read_moment(fact.valid_until) if fact.valid_until > begins else "",
        bonds=tuple(_bonds(fact, begins, session)),
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


def _day_of(item: LearnedItem, session: Session) -> str:
    """The day on which it was said, if that is not today: what was said then held then."""
    if item.source.endswith(".md") or not item.turn:
        return ""
    messages = session.stores.history.messages(item.source, first=item.turn, last=item.turn)
    day = messages[0].at.date().isoformat() if messages and messages[0].at else ""
    return day if day < session.now[:10] else ""


def _is_recent(candidate: Candidate, session: Session) -> bool:
    """True for what is said today: an old statement does not confirm that a fact holds today."""
    return not candidate.valid_from or candidate.valid_from[:10] >= session.now[:10]


def _until_newer(candidate: Candidate, session: Session) -> Candidate:
    """What was said in the past, with its end if something newer is known that says otherwise."""
    if candidate.valid_until or candidate.bonds:
        return candidate
    today = save(replace(candidate, valid_from=""), session, dry_run=True)
    newer = newer_fact(today, candidate.valid_from, session)
    return replace(candidate, valid_until=newer.begins) if newer else candidate


def _is_written_by_program(path: str, session: Session) -> bool:
    return any(each.actor != "person" for each in session.stores.history.entries(path=path))


def _bonds(fact: ExtractedFact, begins: str, session: Session) -> Iterator[tuple[Bond, str]]:
    """The known fact that the extractor says is over, if one is meant without doubt.

    Raises Refused if that fact is newer than the words that say it is over.
    """
    if fact.relation not in ("update", "end") or not (old := ended_fact(fact, session)):
        return
    if begins and old.begins[:10] > begins[:10]:
        if fact.relation == "end":
            raise Refused(_NEWER, hint="Nothing to do: the newer statement stays.")
        return
    yield "update", old.id


def ended_fact(fact: ExtractedFact, session: Session) -> Fact | None:
    """The known fact that has the words of what is over; None if none has, or if two have them equally."""
    words = _stems(fact.ends)
    if not words:
        return None
    shares = [(_share(words, each.text), each) for each in known_statements([fact.ends], session)]
    best = max((share for share, _ in shares), default=(0.0, 0.0))
    meant = [each for share, each in shares if share == best]
    return meant[0] if best[0] >= _SHARED and len(meant) == 1 else None


def _share(words: frozenset[str], text: str) -> tuple[float, float]:
    """The part of the words that the text has, and the part of the text that they are."""
    other = _stems(text)
    common = len(words & other)
    return common / len(words), common / len(words | other)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem_of(word) for word in words_of(text))
