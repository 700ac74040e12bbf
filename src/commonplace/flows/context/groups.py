"""What nobody has settled, as a context shows it: a group newest first, each with its day, and what waits.

Who says otherwise than another one is named where the speakers differ. An entry that waits for the person is not shown;
the person's word that it speaks against says in the prompt's own part that it waits.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from commonplace.facts.claims import is_own_word, kind_of_speaker
from commonplace.facts.groups import DISPUTES, Group, about_others, giving_way, said_last
from commonplace.facts.validity import holds
from commonplace.flows.context.facts import fact_piece
from commonplace.flows.memory.facts import fact_snapshots
from commonplace.flows.memory.groups import groups_among, names_in, nearest_among, nearness
from commonplace.flows.memory.neighbours import FLOOR
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import Fact
from commonplace.model.context import Piece
from commonplace.model.moment import spoken_day

OLDER_LINE: Final = 80
"""Characters that the profile shows of an older entry of a group; a prompt about it brings the whole."""

_AGAIN: Final = "#again"  # ends the key of what was given before and comes again with its day
_NEAR_GIVEN: Final = 0.45  # the cosine to what a prompt brings from which it does
_NEAR_ANOTHER: Final = 0.4  # the cosine to an entry that a prompt brings, but not first
_PER_PLACE: Final = 1e-6  # of a score, by which an older entry comes after a newer one
_MOST_WAITING: Final = 200  # entries, the last updated first


def show_undecided(
    pieces: Sequence[Piece],
    session: Session,
    *,
    prompt: str = "",
    given: Collection[str] = (),
    kinds: Collection[str] = (),
) -> list[Piece]:
    """The pieces in the same order; those of one group with their days, those that something waits against with that.

    Groups are those before this prompt. `given` are the marks of what the conversation has been given, `kinds` the only
    ones that the prompt may bring; empty for all. Raises IndexDamaged.
    """
    pieces = _with_given(pieces, given, session) if given else pieces
    ids = tuple(sorted({piece.fact for piece in pieces if piece.fact}))
    if not ids:
        return [*pieces]
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(ids=ids, sensitive=False))
        facts = {each.fact.id: each.fact for each in records if holds(each, session.now)}
        waiting = _waiting(facts, reader, session)
    beside = _brought_beside(pieces, facts, session, kinds=kinds)
    shown = [_with_waiting(piece, waiting, session) for piece in beside]
    for group in groups_among(facts.values(), session, prompt=prompt):
        shown = _with_days(shown, group, session, yielding=giving_way([group], prompt=prompt))
    return _signed(shown, facts, session, names=names_in(prompt, session) if prompt else frozenset())


def _with_given(pieces: Sequence[Piece], given: Collection[str], session: Session) -> list[Piece]:
    """The pieces; what was given without a day comes again, once, beside an entry that is near to it and new.

    Of several the nearest. It is shown with its day then: one of the two may be what the other has become.
    """
    ids = {mark.rpartition("@")[0] for mark in given}
    new = {piece.fact for piece in pieces if piece.section == "facts" and piece.fact and piece.mark not in given}
    known = {id for id in ids - new if f"{id}{_AGAIN}" not in ids}
    if not new or not known:
        return [*pieces]
    with session.stores.index.reader() as reader:
        records = reader.facts(FactQuery(ids=tuple(sorted(new | known)), origins=("entry",), sensitive=False))
    held = {each.fact.id: each for each in records if holds(each, session.now)}
    brought = [held[id].fact for id in sorted(new) if id in held]
    days = {said_last(fact)[:10] for fact in brought}
    others = [held[id].fact for id in sorted(known) if id in held and said_last(held[id].fact)[:10] not in days]
    near = nearness(brought, others, session) if brought and others else {}
    nearest = max(near, key=lambda id: (near[id], id), default="")
    if near.get(nearest, 0.0) < _NEAR_GIVEN:
        return [*pieces]
    (snapshot,) = fact_snapshots([held[nearest]], session)
    why = "given before without its day: one of the two may be what the other has become"
    again = replace(fact_piece(snapshot, session), key=f"{nearest}{_AGAIN}", why=why)
    return [*(piece for piece in pieces if piece.fact != nearest), again]


def _brought_beside(
    pieces: Sequence[Piece], facts: Mapping[str, Fact], session: Session, *, kinds: Collection[str]
) -> list[Piece]:
    """The pieces; what is near to an entry that the prompt brings stands in the prompt's part, not in the profile.

    One of the two may be what the other has become, and the profile says no days.
    """
    entries = {id: fact for id, fact in facts.items() if fact.origin == "entry"}
    brought = [piece for piece in pieces if piece.section == "facts" and piece.fact in entries]
    names = {piece.fact for piece in brought}
    standing = [
        entries[piece.fact]
        for piece in pieces
        if piece.section == "profile" and piece.fact in entries and piece.fact not in names
        if not kinds or piece.kind in kinds
    ]
    if not brought or not standing:
        return [*pieces]
    best = max(brought, key=lambda piece: (piece.score, piece.key)).fact
    near = nearness([entries[best]], standing, session)
    others = nearness([entries[name] for name in sorted(names)], standing, session)
    beside = {id for id in near if near[id] >= FLOOR or others[id] >= _NEAR_ANOTHER}
    return [
        replace(
            piece,
            section="facts",
            protected_as="profile",
            group="",
            why=f"near to what the prompt is about; {piece.why}",
        )
        if piece.section == "profile" and piece.fact in beside
        else piece
        for piece in pieces
    ]


def _signed(
    pieces: Sequence[Piece], facts: Mapping[str, Fact], session: Session, *, names: frozenset[str]
) -> list[Piece]:
    """The pieces; each entry that a prompt brings beside another one says its day, and who said it if they differ.

    They come newest first, of one moment the best: one may speak against another that no comparison finds near. What
    begins with another name than those in the prompt comes after them. A line of a note names its note.
    """
    entries = {id for id, fact in facts.items() if fact.origin == "entry"}
    beside = {piece.fact for piece in pieces if piece.section == "facts" and piece.fact in entries}
    if len(beside) < 2:
        return [*pieces]
    differ = len({kind_of_speaker(facts[id]) for id in beside}) > 1
    scores = {piece.fact: piece.score for piece in pieces if piece.fact in beside}
    ordered = [facts[id] for id in sorted(beside, key=lambda id: (-scores[id], id))]
    ordered.sort(key=said_last, reverse=True)
    apart = about_others(ordered, names)
    ordered.sort(key=lambda fact: fact.id in apart)
    places = {fact.id: place for place, fact in enumerate(ordered, start=1)}
    return [
        replace(
            piece,
            said=_said(facts[piece.fact], session, with_speaker=differ),
            place=places[piece.fact],
            newest="",
        )
        if piece.section == "facts" and piece.fact in beside
        else piece
        for piece in pieces
    ]


def _with_days(pieces: Sequence[Piece], group: Group, session: Session, *, yielding: Collection[str]) -> list[Piece]:
    """The pieces, where those of the group have their days and stand together; these entries of it yield."""
    places = {fact.id: place for place, fact in enumerate(group.entries)}
    own = [piece for piece in pieces if piece.fact in places]
    scores = defaultdict[str, float](float)
    headings = {piece.section: piece.group for piece in own if piece.fact == group.newest.id}
    for piece in own:
        scores[piece.section] = max(piece.score, scores[piece.section])
    differ = len({kind_of_speaker(fact) for fact in group.entries}) > 1
    days = {fact.id: _said(fact, session, with_speaker=differ) for fact in group.entries}
    return [
        _placed(
            _with_day(piece, days[piece.fact], is_older=places[piece.fact] > 0),
            score=scores[piece.section] - places[piece.fact] * _PER_PLACE,
            newest=group.newest.id if places[piece.fact] else "",
            heading=headings.get(piece.section, piece.group),
            yields=piece.fact in yielding,
        )
        if piece.fact in places
        else piece
        for piece in pieces
    ]


def _with_day(piece: Piece, said: str, *, is_older: bool) -> Piece:
    text = piece.text
    if is_older and piece.section == "profile" and len(text) > OLDER_LINE:
        text = f"{text[:OLDER_LINE].rpartition(' ')[0] or text[:OLDER_LINE]} ..."
    return replace(piece, text=text, said=said)


def _placed(piece: Piece, *, score: float, newest: str, heading: str, yields: bool) -> Piece:
    """The piece behind the newest one of its group; where room is short it yields, if it gives way."""
    if piece.section == "user":
        return piece
    if not newest:
        return replace(piece, score=score)
    yields = piece.yields or (yields and piece.section in ("facts", "profile", "playbooks"))
    return replace(piece, score=score, newest=newest, group=heading, yields=yields)


def _said(fact: Fact, session: Session, *, with_speaker: bool) -> str:
    """`3 November`, or `an agent, 3 November`; only the speaker if the day is unknown, as that of a line of a note."""
    last = said_last(fact)
    is_named = with_speaker and not fact.origins.author  # the line names the author
    parts = (kind_of_speaker(fact) if is_named else "", spoken_day(last, now=session.now) if last else "")
    return ", ".join(filter(None, parts))


def _with_waiting(piece: Piece, waiting: dict[str, Fact], session: Session) -> Piece:
    """The piece of the prompt's own part, which says that something waits against it."""
    other = waiting.get(piece.fact) if piece.section == "facts" else None
    if other is None:
        return piece
    day = spoken_day(other.recorded, now=session.now)
    return replace(piece, text=f"{piece.text} ({kind_of_speaker(other)} reported another value on {day}; it waits)")


def _waiting(facts: dict[str, Fact], reader: IndexReader, session: Session) -> dict[str, Fact]:
    """For the person's word among these facts, by id, the newest waiting entry that says otherwise.

    One that says who the person is may name nothing that it speaks against: then it is the nearest that does so, too.
    """
    active = FactQuery(origins=("entry",), statuses=("active",), sensitive=False, limit=_MOST_WAITING)
    query = replace(active, staged=True, only_staged=True)
    own = {id: fact for id, fact in facts.items() if is_own_word(fact)}
    found: dict[str, Fact] = {}
    for record in sorted(reader.facts(query), key=lambda each: each.fact.recorded) if own else ():
        fact = record.fact
        targets = [fact.supersedes, *(target for bond, target in fact.bonds if bond in DISPUTES)]
        if not any(targets) and _is_identity(fact):
            near = nearest_among(fact, _identities(reader, session), session)
            targets = [near.id] if near else []
        found |= {target: fact for target in targets if target in own}
    return found


def _identities(reader: IndexReader, session: Session) -> Iterable[Fact]:
    """What the person said of who they are, as it holds."""
    records = reader.facts(FactQuery(origins=("entry",), statuses=("active",), sensitive=False))
    held = (each.fact for each in records if holds(each, session.now))
    return (fact for fact in held if is_own_word(fact) and _is_identity(fact))


def _is_identity(fact: Fact) -> bool:
    return "identity" in (fact.kind, fact.fact)
