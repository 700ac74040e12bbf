"""Facts as lines: those about whatever a prompt names, and the form of any fact in one line."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from commonplace.facts.entry_paths import id_digits
from commonplace.facts.triples import ME, triple_sentence
from commonplace.flows.memory.facts import doubts_of, facts_for_prompt
from commonplace.flows.stores import Session
from commonplace.model import FactSnapshot
from commonplace.model.context import ContextSection, OmittedPiece, Piece
from commonplace.model.layout import is_entry_path
from commonplace.model.moment import long_day

PieceOrOmission = Piece | OmittedPiece

_TOPIC_BOOST: Final = 0.2  # added to the score of what is about the conversation's topics, as a part of it
_PER_LINE: Final = 1e-6
_SPARE: Final = 10  # extra facts, for those that are left out
_PERSON: Final = "Person"  # the subject of facts about the vault's owner
_WORD: Final = re.compile(r"\w{3,}")


def fact_pieces(prompt: str, session: Session, *, topics: Sequence[str]) -> tuple[PieceOrOmission, ...]:
    """The facts about what the prompt names, the most relevant first; those about these topics are boosted.

    Raises IndexDamaged.
    """
    stores = session.stores
    most = stores.facts.max_knowledge_facts
    relevant = facts_for_prompt(prompt, session, limit=2 * most + _SPARE)
    facts = [each.snapshot for each in relevant if each.is_named and not each.snapshot.fact.always_load]
    doubts = doubts_of(facts, session, below=stores.context.doubt_below)
    pieces = [
        replace(
            fact_piece(snapshot, session),
            why="the prompt names it",
            score=_score(snapshot, topics),
            doubt=doubts[snapshot.fact.id],
        )
        for snapshot in facts
    ]
    best = sorted(pieces, key=lambda piece: (-piece.score, piece.key))
    said = f"the {most} most relevant facts were included"
    return (*best[:most], *(OmittedPiece("facts", piece.source, "section", said) for piece in best[most:]))


def with_topic_boost(score: float, topics: Iterable[str], *, boosted: Iterable[str]) -> float:
    """The score, raised if one of the topics is boosted."""
    folded = {topic.casefold() for topic in boosted}
    return score * (1 + _TOPIC_BOOST) if folded & {topic.casefold() for topic in topics} else score


def withheld_note(path: str, section: ContextSection) -> OmittedPiece:
    """A note that is left out because it is sensitive. An entry's name is made of its words, so it is not shown."""
    source = "an entry" if is_entry_path(path) else path
    return OmittedPiece(section, source, "sensitive", "its owner hides it from programs")


def _score(snapshot: FactSnapshot, topics: Sequence[str]) -> float:
    """How relevant a fact is; equally important lines of one note keep their order."""
    boosted = with_topic_boost(snapshot.importance, snapshot.fact.topics, boosted=topics)
    return round(boosted - snapshot.fact.line * _PER_LINE, 6)


def fact_piece(snapshot: FactSnapshot, session: Session) -> Piece:
    """The fact as a piece of one line; the caller says why it is considered."""
    fact = snapshot.fact
    return Piece(
        section="facts",
        key=fact.id,
        document=fact.path,
        # The digits name an entry in every command; its path would be longer than its statement.
        source=f"{fact.path}:{fact.line}" if fact.origin == "line" else id_digits(fact.id),
        text=fact_line(snapshot, session),
        why="",
        kind=fact.kind,
        day=fact.begins[:10],
        valid_until=snapshot.until,
        fact=fact.id,
    )


def fact_line(snapshot: FactSnapshot, session: Session, *, longest: int = 0) -> str:
    """The fact in one line that says whom it is about and when it begins or ends, if that is ahead.

    A text with more than `longest` characters is cut; 0 cuts nothing.
    """
    fact = snapshot.fact
    text = " ".join(fact.text.split())
    subject = fact.subject.strip().strip("[]")
    if fact.origin == "line" and fact.predicate:
        text = triple_sentence(subject, fact.predicate, fact.object)
    elif session.stores.rules.entity(subject) == ME:
        text = f"{_PERSON}: {text}"
    elif subject and not _mentions(text, subject):
        kind = f" ({fact.kind})" if fact.origin == "line" and fact.kind not in ("", "fact") else ""
        text = f"{subject}{kind}: {text}"
    if longest and len(text) > longest:
        text = f"{text[:longest].rpartition(' ')[0] or text[:longest]} ..."
    return f"{text}{_ahead(snapshot)}"


def _ahead(snapshot: FactSnapshot) -> str:
    """What the line adds about time: `(planned, from 3 December 2026)`, `(until 2026-12-03)`; empty for most."""
    if snapshot.state == "future":
        return f" (planned, from {long_day(snapshot.fact.begins)})"
    return f" (until {snapshot.until[:10]})" if snapshot.until else ""


def _mentions(text: str, subject: str) -> bool:
    """True if the text has the subject's name, or a part of it."""
    return bool({*_WORD.findall(subject.casefold())} & {*_WORD.findall(text.casefold())})
