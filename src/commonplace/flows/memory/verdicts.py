"""Settle how an entry relates to older ones: somebody who has read both says so, and it is one commit.

The verdict lasts: it is in the notes, so it survives a lost history and reaches every clone. What replaces or covers
older entries names them as its versions; "both" is a relation of the newer entry, which becomes the person's own word
if they say so, and then no program ends one of the two; of two that say the same, the newer one is put away in favour
of the older one, whose wording stays. What only the person may end keeps its place, and the newer entry says that it is
meant to end it: that waits for the person (`review`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from commonplace.errors import Conflict, Refused, UsageError
from commonplace.facts.claims import is_own_word
from commonplace.facts.entry_format import changed_keys
from commonplace.facts.entry_paths import (
    archive_path,
    default_importance,
    entry_path,
    entry_slug,
    id_digits,
    word_digits,
)
from commonplace.flows.memory.amend import active_entry, confirm_fact, entry_edit, refuse_redirect
from commonplace.flows.memory.new_entry import (
    JudgedCandidate,
    complete_candidate,
    flipped_among,
    may_end,
    new_entry_note,
    screen_candidate,
)
from commonplace.flows.memory.save import SAYS_SAME, Ending, known_facts, save, with_the_words
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
from commonplace.flows.stores import Session
from commonplace.model import Bond, Candidate, Changed, EntryResult, Fact, Terms, Verdict
from commonplace.model.entry_field import inherited
from commonplace.model.fact import GroupVerdict, Settlement
from commonplace.model.layout import place_of
from commonplace.model.moment import read_moment
from commonplace.notes import parse

_REPLACES: Final = "It is said to replace this entry."
_COVERS: Final = "It is said to say all that this entry says, and more."
_BOTH: Final = "Both hold."
_KNOWN: Final = "This is already known."
_UNTIL: Final = "It is said to hold for a while."
_VERDICTS: Final[tuple[Bond, ...]] = ("both", "end")
_ENDING_OR_BOTH: Final = ("replaces", "covers", "both")  # fields of a settlement, and options of `commonplace settle`


def settle(
    name: str,
    settlement: Settlement,
    session: Session,
    *,
    reason: str = "",
    quote: str = "",
    is_spoken: bool = False,
    dry_run: bool = False,
) -> EntryResult:
    """Settle the entry with the older ones that the settlement names; `is_spoken` if it is the person's own word.

    `quote` are the words of the person that an agent passes on. A name may end in a dot and the digits of the words
    that were shown: `91f607.3ac`. Raises NotFound, Conflict for an entry that is not active or that has
    other words now, UsageError for an empty or contradictory settlement, and Refused.
    """
    refuse_secrets(reason, quote)
    if not (settlement.names or settlement.until):
        raise UsageError("nothing is settled", hint="Say what it replaces, covers, says the same as, or holds with.")
    if settlement.until:  # what holds for a while ends nothing: the older ones hold alone again afterwards
        both = (*settlement.both, *settlement.replaces, *settlement.covers)
        settlement = replace(settlement, replaces=(), covers=(), both=both)
    with session.stores.save_lock():
        here = session.at(session.clock())
        new = shown_entry(name, here)
        olds = {each: shown_entry(each, here) for each in settlement.names}
        _check(new, olds.values(), settlement)
        if settlement.same:
            old = olds[settlement.same[0]]
            _refuse_to_overrule(new, olds.values(), here)
            _check_putting_away(new, old, here)
            return _put_away([new], old, here, reason=reason, dry_run=dry_run)
        ending = {olds[each].id: (olds[each], _REPLACES) for each in settlement.replaces}
        ending |= {olds[each].id: (olds[each], _COVERS) for each in settlement.covers}
        is_quoted = is_spoken_change(quote, new, [each for each, _ in ending.values()], here)
        if not is_quoted:
            _refuse_to_overrule(new, [each for each, _ in ending.values()], here)
        is_spoken = is_spoken or is_quoted
        ended, asked = _divided([each for each, _ in ending.values()], here, is_spoken=is_spoken)
        why = reason.strip() or (next(iter(ending.values()))[1] if ending else _BOTH if settlement.both else _UNTIL)
        beside = [olds[each] for each in settlement.both]
        if here.actor.kind != "person":  # an ending that waits for the person is theirs to refuse
            asked += [each for each in beside if ("end", each.id) in new.bonds]
            beside = [each for each in beside if each not in asked]
        settled = settled_fact(new, ended, here, asked=asked, both=beside, until=settlement.until, reason=why)
        if is_quoted:  # what the person said is their own word from now on
            origins = replace(new.origins, trust="told", quote=" ".join(quote.split()))
            settled = replace(settled, origins=origins, updated=here.now)
        if settled != new and _is_only_for_the_person(new, here, is_spoken=is_spoken):
            given = [(each, olds[name]) for each in _ENDING_OR_BOTH for name in getattr(settlement, each)]
            raise _left_to_the_person(new, given, until=settlement.until)
        return write_settled(new, settled, ended, here, asked=asked, reason=why, spoken=is_spoken, dry_run=dry_run)


def settle_group(
    facts: Sequence[Fact], verdict: GroupVerdict, session: Session, *, dry_run: bool = False
) -> EntryResult:
    """Settle a group, the newest entry first, in one commit, as the person; the caller has the save lock.

    `both`: all of them hold. `replaces`: the newest alone holds. `same`: all say the same, and one of them stays: what
    is loaded before every prompt or pinned, else the person's own word, else the oldest.
    """
    newest, others = facts[0], facts[1:]
    if verdict == "same":
        kept = min(facts, key=lambda fact: (not (fact.always_load or fact.pinned), not is_own_word(fact), fact.begins))
        return _put_away([each for each in facts if each != kept], kept, session, reason="", dry_run=dry_run)
    if verdict == "replaces":
        settled = settled_fact(newest, others, session, reason=_REPLACES)
        return write_settled(newest, settled, others, session, reason=_REPLACES, dry_run=dry_run)
    beside = [with_bonds(fact, "both", facts[place:]) for place, fact in enumerate(facts[:-1], start=1)]
    pairs = [
        (fact, replace(_as_own_word(fact), bonds=bonds, updated=session.now))
        for fact, bonds in zip(facts, beside, strict=False)
    ]
    message = commit_message(session.stores, verb="settle", path=newest.path)
    changed = change_entries(pairs, session, Terms(message=message, why=_BOTH, dry_run=dry_run))
    difference, commit = changed.difference, changed.commit
    return EntryResult("settle", pairs[0][1], _BOTH, commit=commit, changed=changed.changed, difference=difference)


def with_bonds(fact: Fact, bond: Bond, others: Iterable[Fact]) -> tuple[tuple[Bond, str], ...]:
    """The bonds of the entry with this verdict on others, in the place of an earlier one."""
    named = {each.id for each in others}
    bonds = {each for each in fact.bonds if each[1] not in named or each[0] not in _VERDICTS}
    return tuple(sorted(bonds | {(bond, id) for id in named}))


def _refuse_to_overrule(new: Fact, olds: Iterable[Fact], session: Session) -> None:
    """Raise Conflict if a program would end one of two entries of which the person has said that both hold.

    What the person has settled so is their own word, and bears the bond. A program's own verdict may be changed.
    """
    for old in olds if session.actor.kind != "person" else ():
        if any(is_own_word(one) and ("both", other.id) in one.bonds for one, other in ((new, old), (old, new))):
            raise Conflict(
                f"the person has said that {id_digits(new.id)} and {id_digits(old.id)} both hold",
                path=new.path,
                hint="Only they change that: tell them, or pass on in `quote` what they wrote within the last day.",
            )


def _as_own_word(fact: Fact) -> Fact:
    return replace(fact, origins=replace(fact.origins, trust="told"))


def _divided(olds: Sequence[Fact], session: Session, *, is_spoken: bool) -> tuple[list[Fact], list[Fact]]:
    """The entries that this actor may end, and those of which the person must be asked."""
    kind = session.actor.kind
    flipped = flipped_among(olds, session) if kind != "person" else frozenset[str]()
    ended = [each for each in olds if may_end(each, actor=kind, is_spoken=is_spoken, is_flipped=each.id in flipped)]
    return ended, [each for each in olds if each not in ended]


def save_same(candidate: Candidate, name: str, session: Session, *, dry_run: bool = False) -> EntryResult:
    """Save a statement that says the same as the entry of that name: its words go to the archive, in one commit.

    What must wait for the person waits instead. Raises as `save` and `settle` do.
    """
    candidate = complete_candidate(candidate, session)
    gate, insert = screen_candidate(candidate, session), Verdict("insert")
    entry = JudgedCandidate(candidate, insert, None, gate, session.actor.kind, session.clock())
    if entry.staged_because:
        return save(candidate, session, dry_run=dry_run)
    with session.stores.save_lock():
        here = session.at(session.clock())
        old = shown_entry(name, here)
        known = _entry_with_words(candidate, here)
        if known and known.id != old.id:
            _refuse_to_overrule(known, [old], here)
            _check_putting_away(known, old, here)
            return _put_away([known], old, here, reason="", dry_run=dry_run)
        if not known:
            return _put_away([entry.fact()], old, here, reason="", new_tags=candidate.tags, dry_run=dry_run)
        if dry_run:
            return EntryResult("confirm", old, _KNOWN, old=old.id, changed=False)
        return confirm_fact(old, here, reason=_KNOWN)


def _entry_with_words(candidate: Candidate, session: Session) -> Fact | None:
    """The entry in use that has the words of the candidate; None if there is none."""
    same = with_the_words(candidate, known_facts(candidate, session), session)
    return next((each for each in same if (each.origin, each.status) == ("entry", "active")), None)


def shown_entry(name: str, session: Session) -> Fact:
    """The active entry of that name. Raises NotFound, and Conflict if its words are not those that were shown."""
    name, _, digits = name.strip().removesuffix(".md").partition(".") if not name.endswith(".md") else (name, "", "")
    fact = active_entry(name, session).fact
    if digits and not word_digits(fact).startswith(digits.lower()):
        raise Conflict(f"{id_digits(fact.id)} says now: {fact.text}", path=fact.path, hint="Decide with these words.")
    return fact


def _check(new: Fact, olds: Iterable[Fact], settlement: Settlement) -> None:
    """Raise UsageError for a settlement that contradicts itself, and Conflict for an entry that waits."""
    ids = [each.id for each in olds]
    if new.id in ids:
        raise UsageError(f"{id_digits(new.id)} cannot be settled with itself", hint="Name the older entry.")
    is_alone = not settlement.same or (len(settlement.names) == 1 and not settlement.until)
    if len({*ids}) < len(settlement.names) or not is_alone:
        raise UsageError("an entry is named twice, or `same` with others", hint="Say one thing of each older entry.")
    if new.place == "staging":
        hint = "The person approves or rejects it first (`commonplace review`)."
        raise Conflict(f"{id_digits(new.id)} waits for the person", path=new.path, hint=hint)


def _check_putting_away(new: Fact, old: Fact, session: Session) -> None:
    """Raise Conflict if it is the older entry that gives way, and Refused if only the person may put either away."""
    if not _divided([new], session, is_spoken=False)[1]:
        return
    if _divided([old], session, is_spoken=False)[1]:
        raise _left_to_the_person(new, [("same", old)])
    raise Conflict(
        f"only the person may put {id_digits(new.id)} away",
        path=new.path,
        hint=f"Settle it the other way round: {id_digits(old.id)} says the same as {id_digits(new.id)}.",
    )


def _is_only_for_the_person(new: Fact, session: Session, *, is_spoken: bool) -> bool:
    """True if an agent may write nothing into the newer entry, not even that it is meant to end an older one."""
    is_agent, is_own = session.actor.kind == "agent", new.origins.trust == "told"
    return is_agent and (new.always_load or (is_own and not is_spoken))


def _left_to_the_person(new: Fact, verdicts: Iterable[tuple[str, Fact]], *, until: str = "") -> Refused:
    """The error that says by which command the person settles the entry with others, each with its verdict."""
    digits = id_digits(new.id)
    options = [f"--{verdict} {id_digits(old.id)}" for verdict, old in verdicts] + [f"--until {until}"] * bool(until)
    command = f"commonplace settle {digits} {' '.join(options)}"
    hint = f"Ask the person to run `{command}`, or save what is true now as a new statement."
    return Refused(f"only the person settles {digits}: it is their own word or always loaded", path=new.path, hint=hint)


def settled_fact(
    new: Fact,
    ended: Sequence[Fact],
    session: Session,
    *,
    asked: Sequence[Fact] = (),
    both: Sequence[Fact] = (),
    until: str = "",
    reason: str,
) -> Fact:
    """The newer entry with what was settled: what it ends, what it is meant to end, and what it holds with."""
    now, over = session.now, {each.id for each in ended}
    fact = replace(new, bonds=tuple(each for each in new.bonds if each[1] not in over or each[0] not in _VERDICTS))
    fact = replace(fact, bonds=with_bonds(fact, "both", both))
    fact = _as_own_word(fact) if both and session.actor.kind == "person" else fact
    fact = replace(fact, bonds=with_bonds(fact, "end", asked))
    if ended and new.begins <= now and not new.supersedes:
        fact = replace(fact, supersedes=ended[0].id, reason=reason)
    fact = _heir(fact, ended)
    if until and (until, "") != (new.valid_until, new.invalidated_at):
        if until <= new.begins:
            raise UsageError("the entry would end before it begins", hint="Give a later day.")
        fact = replace(fact, valid_until=until, invalidated_at="", was_valid_until="")  # its own end, and stated
    return fact if fact == new else replace(fact, updated=now)


def _heir(fact: Fact, others: Iterable[Fact]) -> Fact:
    """The entry that stays where others end: what it leaves empty is taken from them, and how they are loaded."""
    heir = fact
    for other in others:
        values = inherited(Fact, heir, other, as_version=False)
        if heir.importance == default_importance(heir.fact):
            values["importance"] = other.importance
        if other.kind and not heir.kind:
            values |= {"kind": other.kind, "fact": heir.fact or other.fact}
        heir = Fact(**values)
    if (heir.kind, heir.always_load) == (fact.kind, fact.always_load):
        return heir
    slug, recorded = entry_slug(heir), heir.recorded
    path = entry_path(heir.kind, id=heir.id, slug=slug, recorded=recorded, always_load=heir.always_load)
    return replace(heir, path=path, place=place_of(path))


def write_settled(
    new: Fact,
    settled: Fact,
    ended: Sequence[Fact],
    session: Session,
    *,
    asked: Sequence[Fact] = (),
    reason: str,
    spoken: bool = False,
    dry_run: bool,
) -> EntryResult:
    """Write the newer entry as it was settled, and end the older ones, in one commit."""
    if settled == new and not ended:
        return EntryResult("settle", new, "It is settled so already.", changed=False, waiting=tuple(asked))
    message = commit_message(session.stores, verb="settle", path=new.path)
    terms = Terms(message=message, why=reason, spoken=spoken, dry_run=dry_run)
    is_over = settled.begins <= session.now
    endings = [Ending(each, settled, session, terms, is_over=is_over, since=_since(settled, each)) for each in ended]
    changed = change_entries([(new, settled)], session, terms, endings=endings)
    return EntryResult(
        "settle",
        settled,
        reason,
        old=ended[0].id if ended else "",
        commit=changed.commit,
        changed=changed.changed,
        difference=changed.difference,
        ended=tuple(ended),
        waiting=tuple(asked),
    )


def _since(new: Fact, old: Fact) -> str:
    """When the newer entry took over: as it began, or as it was said again after the older one had begun."""
    again = [moment for day in new.confirmed if (moment := read_moment(day)) > old.begins]
    return min(again, default=new.begins) if new.begins <= old.begins else new.begins


def change_entries(
    pairs: Sequence[tuple[Fact, Fact]],
    session: Session,
    terms: Terms,
    *,
    endings: Sequence[Ending] = (),
    created: Sequence[tuple[Fact, Sequence[str]]] = (),
) -> Changed:
    """Write these entries as they are to be, in their places, and end others, in one commit.

    `created` are new entries with their tags. Raises Conflict if one of them is no longer as it was looked up, and
    Refused.
    """
    permits = [Permit(session, terms, "remember", old.path) for old, _ in pairs]
    new_permits = [Permit(session, terms, "remember", new.path) for new, _ in created]

    def plan(read: Reader) -> tuple[Edit, ...]:
        edits = [_edit(old, new, permit, read) for (old, new), permit in zip(pairs, permits, strict=True)]
        made = [_creation(new, tags, permit) for (new, tags), permit in zip(created, new_permits, strict=True)]
        return (*made, *edits, *(ending.edit(read) for ending in endings))

    moves = [(old.path, new.path) for old, new in pairs if old.path != new.path]
    moves += [move for ending in endings for move in ending.moves]
    every = [*new_permits, *permits, *(ending.permit for ending in endings)]
    path = created[0][0].path if created else pairs[0][1].path
    edits, result = change(plan, every, path=path, trailers=move_trailers(*moves))
    first = next((each for each in edits if each.makes_a_difference), edits[0])
    return change_result(first, every[0], result, more=[each for each in edits if each is not first])


def _creation(new: Fact, tags: Sequence[str], permit: Permit) -> Edit:
    content = new_entry_note(new, tags=tags)
    note = parse(content, path=new.path, mtime=0.0)
    refuse_redirect(permit.ask(incoming=note), new.path)
    return Edit(locate(new.path, permit.session.stores.vault), None, content, parsed=note)


def _edit(old: Fact, new: Fact, permit: Permit, read: Reader) -> Edit:
    edit, note = entry_edit(old, changed_keys(old, new), permit.session, read)
    refuse_redirect(permit.ask(there=note), old.path)
    if new.path == old.path:
        return edit
    refuse_redirect(permit.ask(new.path, there=note, moved_from=old.path), new.path)
    return replace(edit, moved_to=locate(new.path, permit.session.stores.vault))


def _put_away(
    news: Sequence[Fact],
    old: Fact,
    session: Session,
    *,
    reason: str,
    new_tags: Sequence[str] | None = None,
    dry_run: bool,
) -> EntryResult:
    """Put newer entries away in favour of an older one, which is confirmed; their words stay in the archive.

    With `new_tags` the newer one has no note yet, and gets one there.
    """
    kind, now = session.actor.kind, session.now
    why = f"{SAYS_SAME}{id_digits(old.id)}. {reason.strip()}".strip()
    away = [_away(each, old, now, reason=why) for each in news]
    is_witness = kind == "person" or not is_own_word(old)  # a program's words confirm nothing that the person said
    today = (now[:10],) if kind == "person" else ()  # who only compares two statements says neither of them again
    days = dict.fromkeys((*old.confirmed, *sorted(each.recorded[:10] for each in news), *today))
    origins = replace(old.origins, trust="told") if kind == "person" else old.origins
    stays = replace(_heir(old, news), confirmed=tuple(days), origins=origins, updated=now) if is_witness else old
    terms = Terms(message=commit_message(session.stores, verb="settle", path=old.path), why=why, dry_run=dry_run)
    pairs = [] if new_tags is not None else [*zip(news, away, strict=True)]
    pairs += [(old, stays)] if stays != old else []
    created = [] if new_tags is None else [(each, new_tags) for each in away]
    changed = change_entries(pairs, session, terms, created=created)
    return EntryResult(
        "settle",
        stays,
        why,
        old=old.id,
        commit=changed.commit,
        changed=changed.changed,
        difference=changed.difference,
        ended=tuple(away),
    )


def _away(new: Fact, old: Fact, now: str, *, reason: str) -> Fact:
    """The entry in the archive, for the older one that says the same."""
    path = archive_path(new.path)
    away = replace(new, path=path, place=place_of(path), status="superseded", superseded_by=old.id, superseded_at=now)
    away = replace(away, valid_until=new.begins, invalidated_at=now, was_valid_until=new.valid_until)
    return replace(away, always_load=False, reason=reason, updated=now)
