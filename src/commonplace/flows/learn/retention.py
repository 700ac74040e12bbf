"""Retention: which conversations are old enough to be forgotten, and forgetting one everywhere.

A conversation is as old as its last message, in UTC; one whose last message is at the cutoff stays. It is forgotten
in an order in which a crash leaves it listed: first what entries quote of it, then its chunks, vectors and logged
calls, and the messages last, with a mark that keeps transcripts and imports from bringing it back. So the next run
finishes what was cut off. What was learned stays, without its quotes: that is memory; the person may choose otherwise.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from commonplace.errors import Refused
from commonplace.events import emit
from commonplace.flows.conversations import erase_thread
from commonplace.flows.ingest.index_notes import refresh_note
from commonplace.flows.memory.amend import drop_evidence, erase_entry
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.stores import Session
from commonplace.history.normalize import names_of
from commonplace.index.base import FactQuery
from commonplace.model import Actor, Fact, Thread
from commonplace.model.conversation import FactsKept

_OWNER: Final = Actor("person", "retention")
"""In whose name notes change: the setting, or the command, is the person's consent, and no program can give it."""


def expired_threads(
    session: Session, *, cutoff: datetime | None, by_source: Mapping[str, datetime | None] | None = None
) -> tuple[Thread, ...]:
    """The conversations, tasks and corrections whose last message was before the cutoff, oldest first.

    `by_source` has other cutoffs for single programs; None keeps everything. A correction goes with its conversation,
    and not before it.
    """
    threads = session.stores.history.conversations(kind=None)
    ids, own = {each.id for each in threads}, by_source or {}
    expired = []
    for each in threads:
        limit = own.get(each.interface, cutoff)
        if limit is not None and each.updated < limit and each.parent not in ids:
            expired.append(each)
    return tuple(sorted(expired, key=lambda each: (each.updated, each.id)))


def forget_thread(thread: Thread, session: Session, *, facts: FactsKept) -> int:
    """Forget the conversation everywhere; returns how many entries were changed or forgotten with it.

    Raises Refused if an agent asks.
    """
    if session.actor.kind == "agent":
        raise Refused("an agent may not forget conversations", hint="Ask the person: `commonplace conversation prune`.")
    owner = session.as_actor(_OWNER)
    corrections = session.stores.history.conversations(kind="correction", parent=thread.id)
    entries = _entries_of((thread, *corrections), owner)
    for fact in entries:
        if facts == "forget" and fact.origins.extractor and fact.origins.trust == "mined":
            erase_entry(fact.id, owner)
        elif fact.origins.quote or fact.origins.turn:
            drop_evidence(fact, owner)
    erase_thread(thread.id, owner, kind=thread.kind)
    emit("conversation_forgotten", id=thread.id, messages=thread.count, entries=len(entries))
    return len(entries)


def _entries_of(threads: Sequence[Thread], session: Session) -> list[Fact]:
    """The entries that name one of these conversations as their source, in whatever place and status."""
    names = {name for each in threads for name in names_of(each.id, each)}
    found = _entries_from(names, session)
    for fact in found:  # a change that was cut off may not be indexed yet
        refresh_note(fact.path, session.stores)
    return _entries_from(names, session)


def _entries_from(names: Collection[str], session: Session) -> list[Fact]:
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(origins=("entry",), staged=True))
    return [each.fact for each in records if each.fact.origins.conversation in names]
