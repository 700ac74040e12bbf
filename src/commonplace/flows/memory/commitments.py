"""Commitments: list who has to do what by when, close one, and what of it belongs before a prompt.

A commitment is a fact: a line of a note, or an entry that was learned from a conversation. Closing a line ticks its box
in the note; closing an entry ends it.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from commonplace.errors import Conflict, NotFound, Refused, UsageError
from commonplace.facts.commitments import (
    COMMITTED,
    COMPLETED,
    Commitment,
    closed_line,
    commitments_of,
    is_commitment,
    standing_commitments,
)
from commonplace.facts.relevance import possible_names
from commonplace.facts.triples import ME, strip_links
from commonplace.flows.ingest.index_notes import refresh_note
from commonplace.flows.memory.amend import end_fact
from commonplace.flows.memory.facts import (
    entry_reader,
    fact_snapshots,
    find_fact,
    match_entity,
    names_of_person,
    people_by_first_name,
)
from commonplace.flows.memory.save import save
from commonplace.flows.notes.write import write_note
from commonplace.flows.read import locate
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery, IndexReader, Rules
from commonplace.model import Candidate, EntryResult, Fact, Origins, Terms
from commonplace.notes import parse
from commonplace.questions.prompt_needs import asks_for_own_commitments

_AHEAD: Final = 2  # days before a deadline from which a session is told of it
_LATE: Final = 14  # days after which a session is no longer told of one that was missed
_NAMED: Final = 3  # commitments that one line names
_BY_PROGRAM: Final = "a program says so, not the person"
_LONGEST: Final = 90  # characters of each that a line shows


@dataclass(frozen=True, slots=True)
class ClosedCommitment:
    """What closing did: the commitment as it was, the path of its note, and the commit; `changed` is False if none."""

    commitment: Commitment
    commit: str | None
    changed: bool
    difference: str | None = None


def list_commitments(session: Session, *, who: str = "", states: Collection[str] = ()) -> tuple[Commitment, ...]:
    """The commitments of someone, or of all, in these states or in any; the nearest deadline first.

    `who` is a name, an alias or a first name that one person has; `me` is the person. Raises IndexDamaged.
    """
    rules = session.stores.rules
    meant = (match_entity(who, session).taken_for or who) if who else ""
    with entry_reader(session.stores) as reader:
        names = {*names_of_person(meant, reader, session), rules.entity(who)} if who else set()
        commitments = _standing(FactQuery(), reader, session)
    fitting = (each for each in commitments if not states or each.state in states)
    return tuple(each for each in fitting if not names or rules.entity(each.who) in names)


def _standing(query: FactQuery, reader: IndexReader, session: Session) -> tuple[Commitment, ...]:
    """The commitments that the query finds, as they stand."""
    query = replace(query, sensitive=session.sees_sensitive)
    records = (
        *reader.facts(replace(query, predicate=COMMITTED)),
        *reader.facts(replace(query, predicate=COMPLETED, origins=("entry",))),
    )
    snapshots = [each for each in fact_snapshots(records, session) if each.state != "superseded"]
    return standing_commitments(snapshots, today=session.today)


def close_commitment(
    name: str, session: Session, *, is_cancelled: bool = False, dry_run: bool = False
) -> ClosedCommitment:
    """Close the commitment with that id: tick its line, or end its entry. One that is closed stays as it is.

    Raises NotFound, Conflict, Refused (also for a task that repeats), and UsageError for a fact that is not a
    commitment.
    """
    with entry_reader(session.stores) as reader:
        record = find_fact(name, reader, session)
    fact = record.fact
    if not is_commitment(fact):
        raise UsageError(f"{fact.id} is not a commitment", hint="`commonplace commitment list` lists them.")
    (commitment,) = standing_commitments(fact_snapshots([record], session), today=session.today) or (None,)
    if commitment is None:
        raise NotFound(f"the commitment {fact.id} was replaced by a newer line", hint="Close that one.")
    if not commitment.is_open:
        return ClosedCommitment(commitment, None, changed=False)
    if commitment.repeats:
        raise Refused(
            "this task repeats, and only the plugin Tasks adds the next one",
            path=fact.path,
            hint="Tick it in Obsidian.",
        )
    if fact.origin == "entry":
        return _end_entry(fact, commitment, session, dry_run=dry_run)
    return _tick(fact, commitment, session, is_cancelled=is_cancelled, dry_run=dry_run)


def complete_commitment(name: str, session: Session, *, is_cancelled: bool = False) -> EntryResult:
    """Save an entry that says that the commitment with that id is over; its line stays as it is. Raises as `save`."""
    with entry_reader(session.stores) as reader:
        fact = find_fact(name, reader, session).fact
    return save(_completion(fact, session, is_cancelled=is_cancelled), session)


def _completion(fact: Fact, session: Session, *, is_cancelled: bool) -> Candidate:
    who, what = strip_links(fact.subject), strip_links(fact.object)
    verb = "cancelled" if is_cancelled else "completed"
    text = f"{verb.capitalize()}: {what}." if fact.subject == ME else f"{who} {verb}: {what}."
    return Candidate(
        text=text,
        kind="event",
        fact="event",
        subject=fact.subject,
        predicate=COMPLETED,
        object=what,
        valid_from=session.now,
        origins=Origins(trust="said"),
    )


def _end_entry(fact: Fact, commitment: Commitment, session: Session, *, dry_run: bool) -> ClosedCommitment:
    if dry_run:
        return ClosedCommitment(commitment, None, changed=False)
    result = end_fact(fact.id, session)
    return ClosedCommitment(commitment, result.commit, changed=result.changed)


def _tick(
    fact: Fact, commitment: Commitment, session: Session, *, is_cancelled: bool, dry_run: bool
) -> ClosedCommitment:
    """Tick the line in the note as it is now, wherever it moved within the note."""
    vault = session.stores.vault
    blob = vault.read(locate(fact.path, vault))
    note = parse(blob.content, path=fact.path, mtime=blob.stat.mtime)
    same = [each for each in commitments_of(note) if (each.who, each.what) == (fact.subject, fact.object)]
    open_lines = [each.line for each in same if not each.is_closed]
    if not open_lines:
        refresh_note(fact.path, session.stores)
        raise Conflict(
            "the note no longer has this line, or it is closed", path=fact.path, hint="List the commitments again."
        )
    number = fact.line if fact.line in open_lines else open_lines[0]
    lines = blob.content.decode(errors="surrogateescape").split("\n")
    lines[number - 1] = closed_line(lines[number - 1], day=session.today, is_cancelled=is_cancelled)
    content = "\n".join(lines).encode(errors="surrogateescape")
    terms = Terms(message=f"Close a commitment in {fact.path}", expected=note.version, dry_run=dry_run, personal=True)
    changed = write_note(fact.path, content, session, terms)
    return ClosedCommitment(commitment, changed.commit, changed=changed.changed, difference=changed.difference)


# ---------------------------------------------------------------- before a prompt


def deadline_line(session: Session) -> str:
    """Open commitments whose deadline is near or was just missed, in one line; empty if there are none."""
    today = date.fromisoformat(session.today)
    first, last = (today - timedelta(days=_LATE)).isoformat(), (today + timedelta(days=_AHEAD)).isoformat()
    with session.stores.index.reader() as reader:
        standing = _standing(FactQuery(), reader, session)
    near = [each for each in told(standing) if each.is_open and first <= each.due <= last]
    return _line("Open commitments", near, today=today.isoformat()) if near else ""


def commitments_named(prompt: str, session: Session, *, or_all: bool = False) -> tuple[str, tuple[Commitment, ...]]:
    """One line about the open commitments of the people whom a prompt names, and all of these; empty if none.

    Those of the person count that name one of them, and come first in "what did I promise Ada?". With `or_all`, those
    of everyone if the prompt names nobody. Else the person's own come with a deadline, not with a name.
    """
    stores = session.stores
    with stores.index.reader() as reader:
        if not reader.facts(FactQuery(predicate=COMMITTED, sensitive=session.sees_sensitive, limit=1)):
            return "", ()
        named = reader.existing_names(possible_names(prompt, stores.rules))
        people = people_by_first_name(session) if named else {}
        names = {name for each in named for name in names_of_person(each, reader, session, people=people)} - {ME}
        query = FactQuery(names=tuple(sorted({*names, ME} if names else ())))
        standing = _standing(query, reader, session) if names or or_all else ()
    is_meant = [each for each in told(standing) if not names or concerns(each, names, stores.rules)]
    theirs = [each for each in is_meant if each.is_open]
    if asks_for_own_commitments(prompt):
        theirs.sort(key=lambda each: stores.rules.entity(each.who) != ME)
    return (_line("Open commitments", theirs, today=session.today) if theirs else ""), tuple(theirs)


def concerns(commitment: Commitment, names: Collection[str], rules: Rules) -> bool:
    """True if it is that of someone with one of these normalized names, or the person's own and names one of them."""
    who = rules.entity(commitment.who)
    words = f" {rules.entity(strip_links(commitment.what))} " if who == rules.entity(ME) else ""
    return who in names or any(f" {name} " in words for name in names)


def told(commitments: Iterable[Commitment]) -> list[Commitment]:
    """Those that may be told unasked: anyone may have written what was imported."""
    return [each for each in commitments if each.trust != "imported"]


def _line(heading: str, commitments: Sequence[Commitment], *, today: str) -> str:
    """`Open commitments: Ada: send the offer (due 2026-05-03, overdue); 2 more`."""
    told = "; ".join(_said(each, today) for each in commitments[:_NAMED])
    more = len(commitments) - _NAMED
    return f"{heading}: {told}{f'; {more} more (`commonplace commitment list`)' if more > 0 else ''}"


def _said(commitment: Commitment, today: str) -> str:
    what = " ".join(strip_links(commitment.what).split())
    what = what if len(what) <= _LONGEST else f"{what[:_LONGEST].rpartition(' ')[0]} ..."
    who = "the person" if commitment.who == ME else strip_links(commitment.who)
    late = ", overdue" if commitment.state == "overdue" else ", today" if commitment.due == today else ""
    remarks = (f"due {commitment.due}{late}" if commitment.due else "", "" if commitment.is_own else _BY_PROGRAM)
    said = ", ".join(filter(None, remarks))
    return f"{who}: {what}{f' ({said})' if said else ''}"
