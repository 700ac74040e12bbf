"""Endings that the person decides: those that programs want, and those that an old rule made.

An active entry that is said to end another one stands beside it with the bond `end`. The person allows the ending, or
says that both hold. Earlier versions of this program ended entries that were only alike; which rule ended an entry is
in the reason that its successor has, or in the history if the successor is forgotten, archived or erased. Nothing
returns by itself: the person brings an entry back, or agrees.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from commonplace.errors import Conflict
from commonplace.facts.entry_paths import entry_path, entry_slug, id_digits
from commonplace.facts.validity import state_of
from commonplace.flows.memory.facts import entry_reader, find_fact
from commonplace.flows.memory.verdicts import change_entries, settled_fact, with_bonds, write_settled
from commonplace.flows.notes.write import commit_message
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Bond, Fact, FactRecord, Terms
from commonplace.model.fact import OldEnding, ReviewResult, WaitingEntry
from commonplace.model.layout import place_of

LIVE: Final = ("current", "future")
"""States of a fact that something can speak against."""

_END: Final[Bond] = "end"
_APPROVED: Final = "The person approved it."
_BOTH: Final = "The person says that both hold."
_AGREED: Final = "The person agrees that it ended."
_AGREED_ALONE: Final = "The person agrees that it is over."  # in the entry itself, where no successor is left to say it

_OLD_RULES: Final = frozenset(
    {
        "It says the same more precisely.",
        "It says that this has changed.",
        "It says otherwise of the same thing.",
    }
)
"""What the rules that compared sentences gave as the reason for an ending."""

_ANNOUNCED: Final = "The known value is valid until this begins."
"""What they gave for an ending that was to come, whatever made it; today such an entry has the reason itself."""

_STATED: Final = frozenset(
    {
        "It is said to replace this fact.",
        "The caller says that it replaces this fact.",
        "It was said to replace that one.",
    }
)
"""What they gave where a caller named the entry; learning named one with 80 % of the words of what was over."""

_UNKNOWN: Final = "Nothing says why."

_MERGED: Final = "Merge "
"""How the reason of an entry begins that `dream` made of several; of other words, once."""

_OLD_WAITS: Final = frozenset(
    {
        "It would replace the person's own word.",
        "It would end what a note of the person says.",
        "It contradicts what is known.",
        *(f"It contradicts what is known. {reason}" for reason in _OLD_RULES),
        "It is said to contradict a known fact.",
    }
)
"""Why entries waited as a whole that would stand beside the others today."""


# ---------------------------------------------------------------- endings that wait


def waiting_endings(session: Session) -> tuple[WaitingEntry, ...]:
    """The entries that hold and are said to end others that hold, oldest first. Raises IndexDamaged."""
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(bond=_END, statuses=("active",), origins=("entry",)))
        found = [ending_of(each, reader, session) for each in records]
    waiting = [each for each in found if each]
    return tuple(sorted(waiting, key=lambda each: (each.fact.recorded, each.fact.id)))


def ending_of(record: FactRecord, reader: IndexReader, session: Session) -> WaitingEntry | None:
    """What the entry is said to end, in the latest versions; None if nothing of it holds any more.

    A version that began after the entry is newer than what was said: nothing is asked about it.
    """
    fact = record.fact
    if fact.place == "staging" or state_of(record, at=session.now) not in LIVE:
        return None
    against: dict[str, Fact] = {}
    remarks: list[str] = []
    for target in (target for bond, target in fact.bonds if bond == _END):
        latest = latest_version(target, reader)
        if latest is None or state_of(latest, at=session.now) not in LIVE or latest.fact.id == fact.id:
            continue
        old = latest.fact
        if old.id != target and old.begins > fact.begins:
            continue
        against[old.id] = old
        if old.id != target:
            remarks.append(replaced_since(target, old))
        if old.origin == "line":
            remarks.append(line_stays(old))
    return WaitingEntry(fact, tuple(against.values()), remarks=tuple(remarks)) if against else None


def latest_version(id: str, reader: IndexReader) -> FactRecord | None:
    """The newest version of the entry of that id; None if there is none."""
    record: FactRecord | None = None
    seen: set[str] = set()
    while id and id not in seen:
        seen.add(id)
        records = reader.facts(FactQuery(ids=(id,)))
        record = records[0] if records else record
        id = records[0].fact.superseded_by if records else ""
    return record


def replaced_since(target: str, newest: Fact) -> str:
    """The remark that another version is meant than the one that was named."""
    return f"{id_digits(target)} was replaced by {id_digits(newest.id)} since it was saved."


def line_stays(line: Fact) -> str:
    """The remark that a line of a note stays as it is."""
    return f"{line.path}:{line.line} says otherwise: only you can change that line."


def decide_ending(waiting: WaitingEntry, session: Session, *, ends: bool, dry_run: bool) -> ReviewResult:
    """End what the entry is said to end, and make the entry the person's own word; or let both hold.

    One commit; the caller has the save lock. Nobody asks again in either case.
    """
    fact = waiting.fact
    ended = tuple(each for each in waiting.against if each.origin == "entry") if ends else ()
    both = () if ends else waiting.against
    why = _APPROVED if ends else _BOTH
    asked = replace(fact, bonds=tuple(each for each in fact.bonds if each[0] != _END))
    settled = settled_fact(asked, ended, session, both=both, reason=why)
    if ends:
        days = dict.fromkeys((*settled.confirmed, session.now[:10]))
        settled = replace(settled, confirmed=tuple(days), origins=replace(settled.origins, trust="told"))
    settled = replace(settled, updated=session.now)
    result = write_settled(fact, settled, ended, session, reason=why, dry_run=dry_run)
    return ReviewResult(
        "approve" if ends else "both",
        settled,
        ended,
        waiting.remarks,
        commit=result.commit,
        changed=result.changed,
        difference=result.difference,
    )


# ---------------------------------------------------------------- what old rules did


def waits_by_old_rule(fact: Fact) -> bool:
    """True for a staged entry that would stand beside the others today; who somebody is waits still."""
    return fact.reason in _OLD_WAITS and "identity" not in (fact.kind, fact.fact)


def old_endings(session: Session) -> tuple[OldEnding, ...]:
    """The endings that an old rule made and the person has not looked at, the newest first. Raises IndexDamaged."""
    with entry_reader(session.stores) as reader:
        entries = {each.fact.id: each.fact for each in reader.facts(FactQuery(origins=("entry",)))}
    replaced = [each for each in entries.values() if each.status == "superseded"]
    found = [_by_old_rule(each, entries.get(each.superseded_by), session) for each in replaced]
    guessed = [*filter(None, found), *_announced(entries.values())]
    return tuple(sorted(guessed, key=lambda each: (each.at, each.fact.id), reverse=True))


def _announced(entries: Collection[Fact]) -> Iterator[OldEnding]:
    """The endings of entries that an old rule let end where another one begins: neither of the two names the other.

    Both were written at one moment. Two values of one predicate are no guess.
    """
    heirs = {(each.recorded, each.begins): each for each in entries if _was_announced(each)}
    for fact in entries:
        heir = heirs.get((fact.invalidated_at, fact.valid_until)) if fact.status in ("active", "expired") else None
        if heir and ("derive", fact.id) not in heir.bonds and not (fact.predicate and fact.predicate == heir.predicate):
            yield OldEnding(fact, heir, heir.reason if heir.reason == _ANNOUNCED else _UNKNOWN)


def _was_announced(heir: Fact) -> bool:
    """True for an entry that was to begin later and ended another then; False once the person agreed."""
    is_silent = not _tells_reason(heir) and not heir.reason.endswith(_AGREED)
    return heir.begins > heir.recorded and (heir.reason == _ANNOUNCED or is_silent)


def _by_old_rule(fact: Fact, heir: Fact | None, session: Session) -> OldEnding | None:
    """The ending of the replaced entry, if an old rule made it and the person has not agreed; None for others.

    It is offered, too, if its successor no longer says why it was made, and the history does not either.
    """
    if heir.reason.endswith(_AGREED) if heir else fact.reason.endswith(_AGREED_ALONE):
        return None
    reason = heir.reason if heir and _tells_reason(heir) else _recorded_reason(fact, session) or _UNKNOWN
    return OldEnding(fact, heir, reason) if _is_old_rule(reason, fact, heir) else None


def _tells_reason(heir: Fact) -> bool:
    """False for a successor that was forgotten or put away since: why that was done is its reason now."""
    return heir.status == "active" or (heir.status == "superseded" and heir.valid_until > heir.begins)


def _is_old_rule(reason: str, fact: Fact, heir: Fact | None) -> bool:
    """True if an old rule ended the entry for this reason, or nothing says the reason any more."""
    if heir is None:
        return reason in {_UNKNOWN, *_OLD_RULES, *_STATED} or reason.startswith(_MERGED)
    if reason.startswith(_MERGED):
        return ("derive", fact.id) in heir.bonds and fact.fingerprint != heir.fingerprint
    if heir.supersedes != fact.id:
        return False
    return reason in {_UNKNOWN, *_OLD_RULES} or (reason in _STATED and heir.origins.trust == "mined")


def _recorded_reason(fact: Fact, session: Session) -> str:
    """Why the entry went to the archive, from the history; empty if it does not say that, or no longer."""
    rows = session.stores.history.entries(path=fact.path)
    reason = next((row.reason for row in rows if row.destination == fact.path), "")
    is_message = reason.startswith(session.stores.commit_message.partition("{")[0])  # restored from git: it has no more
    return "" if is_message else reason


def bring_back(id: str, session: Session, *, dry_run: bool) -> ReviewResult:
    """Let a replaced entry hold again beside the newest version, with the bond `both`, in one commit.

    Raises NotFound, Conflict if the entry was not replaced, and VaultUnavailable; the caller has the save lock.
    """
    fact, heirs = _replaced(id, session)
    back = _before_ending(fact, session)
    pairs = [(fact, back), *_without(fact, heirs, session)]
    message = commit_message(session.stores, verb="bring back", path=back.path)
    changed = change_entries(pairs, session, Terms(message=message, why="The person brought it back.", dry_run=dry_run))
    return ReviewResult("back", back, commit=changed.commit, changed=changed.changed, difference=changed.difference)


def agree_to_ending(id: str, session: Session, *, dry_run: bool) -> ReviewResult:
    """Note that the person agrees with the ending of a replaced entry, so that nobody asks again."""
    fact, _ = _replaced(id, session)
    ending = next((each for each in old_endings(session) if each.fact.id == fact.id), None)
    if ending is None:
        raise Conflict(f"no old rule ended {fact.id}", path=fact.path, hint="`commonplace review --ended` lists them.")
    said, agreed = (ending.by, _AGREED) if ending.by else (fact, _AGREED_ALONE)
    why = agreed if said.status == "active" else f"{said.reason} {agreed}".strip()
    pairs = [(said, replace(said, reason=why, updated=session.now))]
    message = commit_message(session.stores, verb="settle", path=said.path)
    changed = change_entries(pairs, session, Terms(message=message, why=agreed, dry_run=dry_run))
    return ReviewResult("agree", fact, commit=changed.commit, changed=changed.changed, difference=changed.difference)


def _replaced(id: str, session: Session) -> tuple[Fact, list[Fact]]:
    """The replaced entry, and the versions that came after it, its own successor first."""
    with entry_reader(session.stores) as reader:
        fact = find_fact(id, reader, session).fact
        next_ = fact.superseded_by if fact.status == "superseded" else _announced_successor(fact, reader)
        heirs = [*_heirs(fact, next_, reader)]
    if fact.origin != "entry" or not (fact.status == "superseded" or next_):
        hint = "`commonplace show` has its versions; `commonplace undo` takes back other changes."
        raise Conflict(f"the entry {fact.id} was not replaced", path=fact.path, hint=hint)
    return fact, heirs


def _announced_successor(fact: Fact, reader: IndexReader) -> str:
    """The id of the entry at whose beginning an old rule let this one end; empty for none."""
    if not fact.invalidated_at:
        return ""
    later = reader.facts(FactQuery(origins=("entry",), recorded_from=fact.invalidated_at))
    found = _announced([fact, *(each.fact for each in later if each.fact.id != fact.id)])
    return next((each.by.id for each in found if each.by and each.fact.id == fact.id), "")


def _heirs(fact: Fact, next_: str, reader: IndexReader) -> Iterator[Fact]:
    seen = {fact.id}
    while next_ and next_ not in seen:
        seen.add(next_)
        records = reader.facts(FactQuery(ids=(next_,)))
        if not records:
            return
        yield records[0].fact
        next_ = records[0].fact.superseded_by


def _before_ending(fact: Fact, session: Session) -> Fact:
    """The entry as it was before another one replaced it, in its old place."""
    path = entry_path(
        fact.kind, id=fact.id, slug=entry_slug(fact), recorded=fact.recorded, always_load=fact.always_load
    )
    return replace(
        fact,
        path=path,
        place=place_of(path),
        status="active",
        reason=fact.reason if fact.supersedes else "",  # else it says why the entry was put away
        superseded_by="",
        superseded_at="",
        valid_until=fact.was_valid_until if fact.invalidated_at else fact.valid_until,
        invalidated_at="",
        was_valid_until="",
        updated=session.now,
    )


def _without(fact: Fact, heirs: Iterable[Fact], session: Session) -> Iterator[tuple[Fact, Fact]]:
    """The versions that change if the entry holds again: its successor no longer replaces it, the newest holds with it.

    A successor that replaced several names the next of them instead. Why it was put away itself stays.
    """
    for heir in heirs:
        changed = heir
        if heir.supersedes == fact.id:
            other = _also_replaced(heir, fact, session)
            is_one_deed = other is not None and other.superseded_at == fact.superseded_at
            reason = heir.reason if is_one_deed or not _tells_reason(heir) else ""
            changed = replace(changed, supersedes=other.id if other else "", reason=reason)
        if heir.reason == _ANNOUNCED:
            changed = replace(changed, reason="")
        if heir.status == "active":
            changed = replace(changed, bonds=with_bonds(heir, "both", [fact]))
        if changed != heir:
            yield heir, replace(changed, updated=session.now)


def _also_replaced(heir: Fact, fact: Fact, session: Session) -> Fact | None:
    """Another entry that this one replaced, of the same ending if there is one; None if it replaced one entry."""
    with entry_reader(session.stores) as reader:
        records = reader.facts(FactQuery(statuses=("superseded",), origins=("entry",)))
    known = [each.fact for each in records if each.fact.superseded_by == heir.id and each.fact.id != fact.id]
    others = [each for each in known if each.recorded <= heir.recorded and ("derive", each.id) not in heir.bonds]
    return min(others, key=lambda each: (each.superseded_at != fact.superseded_at, each.id), default=None)
