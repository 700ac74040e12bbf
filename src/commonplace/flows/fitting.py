"""What fits a prompt: passages of notes and conversations, entries, and playbooks that tell how a thing is done."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from commonplace.facts.routes import folder_of, kind_in
from commonplace.flows.doubted import doubts_of
from commonplace.flows.keeper import Keeper
from commonplace.flows.known import held_now
from commonplace.flows.look_up import Ask
from commonplace.flows.prompted import Found, Prompted, lifted, withheld
from commonplace.flows.recall import recall
from commonplace.index.base import FactQuery
from commonplace.model import Answer, ContextSection, Fact, Filters, Held, Hit, LeftOut, Piece
from commonplace.policy.courtesies import courtesy_reason
from commonplace.recalling.context_options import ContextOptions
from commonplace.recalling.gist import gist_of
from commonplace.recalling.phases import NOTE
from commonplace.recalling.standing import PLAYBOOK_KINDS, belongs
from commonplace.recalling.worth import (
    has_only_little_words,
    holds_only_links,
    is_far,
    is_near_playbook,
    least_score,
    title_beside,
)

_SPARE: Final = 10  # hits beyond those wanted, for those that are left out
_DAY: Final = re.compile(r"\d{4}-(?:\d{2}-\d{2}|W\d{2})")


def recalled_pieces(asked: Prompted, keeper: Keeper, options: ContextOptions) -> tuple[tuple[Found, ...], Answer]:
    """Passages that fit the prompt, and how the search for them went. Raises IndexDamaged."""
    if reason := _asks_nothing(asked.prompt):
        nothing = Answer(asked.prompt, "hybrid", searched=False, hits=(), took_ms=0.0, empty=reason)
        return (LeftOut("recalled", "", "unsure", reason),), nothing
    kinds = asked.kinds or (asked.phase.kinds if asked.phase else ())
    entry_kinds = tuple(kind for kind in kinds if kind != NOTE)
    answers = [_found(asked, keeper, kinds=entry_kinds, most=options.recalled, options=options)] if entry_kinds else []
    if not kinds or NOTE in kinds:
        answers.append(_found(asked, keeper, kinds=(), most=options.recalled, options=options))
    hits = {hit.chunk_id: hit for answer in reversed(answers) for hit in answer.hits}
    apart = PLAYBOOK_KINDS if options.playbooks else ()
    others = [hit for hit in hits.values() if _kind_of(hit) not in apart]
    scoped = [hit for hit in others if not kinds or _kind_of(hit) in kinds]
    found = [*_hit_pieces(scoped, asked, keeper, options, section="recalled")]
    if entry_kinds:
        found = _with_room_for_entries(found, most=options.recalled)
    return (*found, *(_out_of_scope(hit) for hit in others if hit not in scoped)), answers[-1]


def playbook_pieces(asked: Prompted, keeper: Keeper, options: ContextOptions) -> tuple[Found, ...]:
    """What the vault knows of how the thing is done that the prompt is about. Raises IndexDamaged."""
    kinds = tuple(kind for kind in PLAYBOOK_KINDS if not asked.kinds or kind in asked.kinds)
    if not kinds or _asks_nothing(asked.prompt):
        return ()
    answer = _found(asked, keeper, kinds=kinds, most=options.playbooks, options=options)
    return tuple(_hit_pieces(answer.hits, asked, keeper, options, section="playbooks"))


def _asks_nothing(prompt: str) -> str:
    """Why nothing is looked for; empty where something is."""
    if reason := courtesy_reason(prompt):
        return f"the prompt asks for nothing: {reason}"
    return "the prompt asks for nothing: it has only little words" if has_only_little_words(prompt) else ""


def _found(asked: Prompted, keeper: Keeper, *, kinds: tuple[str, ...], most: int, options: ContextOptions) -> Answer:
    shelf = keeper.shelf()
    ask = Ask(
        gist_of(asked.prompt),
        k=min(most + _SPARE, shelf.retrieval.max_k),
        min_score=options.min_score,
        filters=Filters(kinds=kinds),
        tells_why=False,
    )
    return recall(ask, shelf, sink="prompt")


def _hit_pieces(
    hits: Sequence[Hit], asked: Prompted, keeper: Keeper, options: ContextOptions, *, section: ContextSection
) -> Iterable[Found]:
    ours = [hit for hit in hits if not hit.sensitive and belongs(hit.path, channel=asked.channel)]
    scores = {hit.chunk_id: round(lifted(hit.score, _topics_of(hit), asked), 4) for hit in ours}
    least = least_score(scores.values(), least=options.min_score)
    told = {held.fact.path: held for held in _entries_at([hit.path for hit in ours], keeper)}
    doubts = doubts_of([*told.values()], keeper, below=options.doubt_below)
    for hit in hits:
        source = _source_of(hit)
        if hit.sensitive:
            yield from (withheld(hit.path, section),) if section == "recalled" else ()  # told of once
        elif hit not in ours:
            yield LeftOut(section, "another place", "scope", "another channel's, or a way to speak")
        elif is_far(hit) or not (is_near_playbook(hit) if section == "playbooks" else scores[hit.chunk_id] >= least):
            yield LeftOut(section, source, "unsure", f"too far from the prompt ({_how_near(hit)})")
        elif holds_only_links(hit.text):
            yield LeftOut(section, source, "unsure", "it holds nothing but links")
        else:
            fact = told[hit.path].fact if hit.path in told else None
            piece = _hit_piece(hit, fact, section=section)
            yield replace(piece, score=scores[hit.chunk_id], doubt=doubts[fact.id] if fact else "")


def _hit_piece(hit: Hit, fact: Fact | None, *, section: ContextSection) -> Piece:
    return Piece(
        section=section,
        key=fact.id if fact else f"{hit.path}#{hit.line}",
        document=hit.path,
        source=hit.path if fact else _source_of(hit),
        text=hit.text,
        why=f"fits the prompt ({_how_near(hit)})",
        title="" if fact else title_beside(hit.path, hit.heading_path),
        kind=fact.kind if fact else "",
        day=_day_of(hit),
        valid_until=fact.valid_until if fact else "",
        fact=fact.id if fact else "",
    )


def _with_room_for_entries(found: Sequence[Found], *, most: int) -> list[Found]:
    """The same, with so few passages of notes that half of what is recalled may be entries of the kinds asked for."""
    pieces = sorted((each for each in found if isinstance(each, Piece)), key=lambda piece: -piece.score)
    entries = min(sum(bool(piece.fact) for piece in pieces), most // 2)
    beyond = [piece for piece in pieces if not piece.fact][max(most - entries, 0) :]
    said = "passages of notes leave room for entries of the kinds asked for"
    return [LeftOut("recalled", each.source, "section", said) if each in beyond else each for each in found]


def _entries_at(paths: Sequence[str], keeper: Keeper) -> list[Held]:
    """The entries at these paths, as they stand now."""
    if not paths:
        return []
    with keeper.shelf().index.reading() as reading:
        asked = FactQuery(paths=tuple(dict.fromkeys(paths)), origins=("entry",), sensitive=False)
        return held_now(reading.facts(asked), keeper)


def _out_of_scope(hit: Hit) -> LeftOut:
    return LeftOut("recalled", _source_of(hit), "scope", f"its kind, {_kind_of(hit)}, is not asked for")


def _kind_of(hit: Hit) -> str:
    """The kind of what stands among the entries, also of a note made there by hand; `note` for all that does not."""
    if not folder_of(hit.path):
        return NOTE
    return kind_in(str(hit.metadata.get("frontmatter", {}).get("kind") or ""), path=hit.path, tags=())


def _topics_of(hit: Hit) -> tuple[str, ...]:
    topics = hit.metadata.get("frontmatter", {}).get("topics") or ()
    return tuple(map(str, topics)) if isinstance(topics, list | tuple) else (str(topics),)


def _day_of(hit: Hit) -> str:
    """The day it tells of, else that of its last change; none where the name of the note says a day or a week."""
    at = str(hit.metadata.get("at") or "")
    return at[:10] if at or _DAY.search(hit.path.rpartition("/")[2]) else hit.updated[:10]


def _how_near(hit: Hit) -> str:
    return f"score {hit.score:.2f}" + ("" if hit.cosine is None else f", cosine {hit.cosine:.2f}")


def _source_of(hit: Hit) -> str:
    if hit.source_type == "chat":
        return f"conversation {hit.path}, turn {hit.line}"
    return f"{hit.path}:{hit.line}"
