"""What a prompt brings to mind of all that is known: facts about the person, and about whatever it names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from commonplace.facts.entities import ME
from commonplace.facts.routes import digits_of, is_entry_path
from commonplace.facts.sentence import sentence_of
from commonplace.flows.doubted import doubts_of
from commonplace.flows.keeper import Keeper
from commonplace.flows.known import facts_for
from commonplace.model import ContextSection, Fact, Held, LeftOut, Piece
from commonplace.recalling.context_options import ContextOptions
from commonplace.recalling.phases import Phase

Found = Piece | LeftOut

_TOPIC_LIFT: Final = 0.2  # what being about the topic of the conversation adds, as a part of the score
_NAMED: Final = 1.0  # puts what the prompt names before what is known of the person anyway
_A_LINE: Final = 1e-6
_SPARE: Final = 10  # facts beyond those wanted, for those that are left out
_PERSON: Final = "Person"  # stands where a fact is about whose vault it is
_WORD: Final = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt and what is known of the moment: the phase of work, kinds asked for, the channel, the topics."""

    prompt: str
    phase: Phase | None
    kinds: tuple[str, ...]
    channel: str
    topics: tuple[str, ...]


def fact_pieces(asked: Prompted, keeper: Keeper, options: ContextOptions) -> tuple[Found, ...]:
    """Facts about the person, and about whatever the prompt names, the most telling first. Raises IndexDamaged."""
    most = keeper.options.max_knowledge_facts
    found = [each for each in facts_for(asked.prompt, keeper, most=2 * most + _SPARE) if not each.held.fact.always_load]
    doubts = doubts_of([each.held for each in found], keeper, below=options.doubt_below)
    pieces = [
        replace(
            _fact_piece(held, keeper),
            why="the prompt is about it" if is_named else "about the person",
            score=_score(held, asked, is_named=is_named),
            doubt=doubts[held.fact.id],
        )
        for held, is_named in found
    ]
    best = sorted(pieces, key=lambda piece: (-piece.score, piece.key))
    return (*best[:most], *(_beyond(piece, most) for piece in best[most:]))


def lifted(score: float, topics: Iterable[str], asked: Prompted) -> float:
    """The score, higher where the topics are those of the prompt or its conversation."""
    about = {topic.casefold() for topic in asked.topics}
    return score * (1 + _TOPIC_LIFT) if about & {topic.casefold() for topic in topics} else score


def withheld(path: str, section: ContextSection) -> LeftOut:
    """That something is kept back. The name of an entry is made of its words, and is not told either."""
    source = "an entry" if is_entry_path(path) else path
    return LeftOut(section, source, "sensitive", "its owner keeps it from programs")


def _score(held: Held, asked: Prompted, *, is_named: bool) -> float:
    """How telling a fact is; lines of one note that are worth the same keep their order."""
    score = lifted(held.importance, held.fact.topics, asked) + (_NAMED if is_named else 0.0)
    return round(score - held.fact.line * _A_LINE, 6)


def _fact_piece(held: Held, keeper: Keeper) -> Piece:
    fact = held.fact
    return Piece(
        section="facts",
        key=fact.id,
        document=fact.path,
        # The digits name an entry wherever one can be named; its path would be longer than what it says.
        source=f"{fact.path}:{fact.line}" if fact.origin == "line" else f"entry {digits_of(fact.id)}",
        text=_said(fact, keeper, until=held.until),
        why="",
        kind=fact.kind,
        day=fact.begins[:10],
        valid_until=held.until,
        fact=fact.id,
    )


def _said(fact: Fact, keeper: Keeper, *, until: str) -> str:
    """The fact in one line that tells whom it is about, and until when it holds, where that is known."""
    text = fact.text.partition("\n")[0].strip()
    subject = fact.subject.strip().strip("[]")
    if fact.origin == "line" and fact.predicate:
        text = sentence_of(subject, fact.predicate, fact.object)
    elif keeper.rules.entity(subject) == ME:
        text = f"{_PERSON}: {text}"
    elif subject and not _names(text, subject):
        kind = f" ({fact.kind})" if fact.origin == "line" and fact.kind not in ("", "fact") else ""
        text = f"{subject}{kind}: {text}"
    return f"{text} (until {until[:10]})" if until else text


def _names(text: str, subject: str) -> bool:
    """Whether the text names the subject itself, or a part of its name."""
    return bool({*_WORD.findall(subject.casefold())} & {*_WORD.findall(text.casefold())})


def _beyond(piece: Piece, most: int) -> LeftOut:
    return LeftOut("facts", piece.source, "section", f"the {most} most telling facts were taken")
