"""Facts for a prompt: about the person, and about whatever the prompt names, each as a piece of one line."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from commonplace.facts.entry_paths import id_digits
from commonplace.facts.triples import ME, triple_sentence
from commonplace.flows.memory.facts import doubts_of, facts_for_prompt
from commonplace.flows.stores import Session
from commonplace.model import Fact, FactSnapshot
from commonplace.model.context import ContextSection, OmittedPiece, Piece
from commonplace.model.layout import is_entry_path

PieceOrOmission = Piece | OmittedPiece

_TOPIC_BOOST: Final = 0.2  # added to the score of what is about the conversation's topics, as a part of it
_NAMED: Final = 1.0  # puts facts about what the prompt names before facts about the person
_PER_LINE: Final = 1e-6
_SPARE: Final = 10  # extra facts, for those that are left out
_PERSON: Final = "Person"  # the subject of facts about the vault's owner
_WORD: Final = re.compile(r"\w{3,}")


def fact_pieces(prompt: str, session: Session, *, topics: Sequence[str]) -> tuple[PieceOrOmission, ...]:
    """The facts for the prompt, the most relevant first; those about these topics are boosted. Raises IndexDamaged."""
    stores = session.stores
    most = stores.facts.max_knowledge_facts
    relevant = facts_for_prompt(prompt, session, limit=2 * most + _SPARE)
    facts = [each for each in relevant if not each.snapshot.fact.always_load]
    doubts = doubts_of([each.snapshot for each in facts], session, below=stores.context.doubt_below)
    pieces = [
        replace(
            _piece(snapshot, session),
            why="the prompt is about it" if is_named else "about the person",
            score=_score(snapshot, topics, is_named=is_named),
            doubt=doubts[snapshot.fact.id],
        )
        for snapshot, is_named in facts
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


def _score(snapshot: FactSnapshot, topics: Sequence[str], *, is_named: bool) -> float:
    """How relevant a fact is; equally important lines of one note keep their order."""
    boosted = with_topic_boost(snapshot.importance, snapshot.fact.topics, boosted=topics)
    return round(boosted + (_NAMED if is_named else 0.0) - snapshot.fact.line * _PER_LINE, 6)


def _piece(snapshot: FactSnapshot, session: Session) -> Piece:
    fact = snapshot.fact
    return Piece(
        section="facts",
        key=fact.id,
        document=fact.path,
        # The digits name an entry in every command; its path would be longer than its statement.
        source=f"{fact.path}:{fact.line}" if fact.origin == "line" else f"entry {id_digits(fact.id)}",
        text=_line(fact, session, until=snapshot.until),
        why="",
        kind=fact.kind,
        day=fact.begins[:10],
        valid_until=snapshot.until,
        fact=fact.id,
    )


def _line(fact: Fact, session: Session, *, until: str) -> str:
    """The fact in one line that says whom it is about and, if known, until when it holds."""
    text = fact.text.partition("\n")[0].strip()
    subject = fact.subject.strip().strip("[]")
    if fact.origin == "line" and fact.predicate:
        text = triple_sentence(subject, fact.predicate, fact.object)
    elif session.stores.rules.entity(subject) == ME:
        text = f"{_PERSON}: {text}"
    elif subject and not _mentions(text, subject):
        kind = f" ({fact.kind})" if fact.origin == "line" and fact.kind not in ("", "fact") else ""
        text = f"{subject}{kind}: {text}"
    return f"{text} (until {until[:10]})" if until else text


def _mentions(text: str, subject: str) -> bool:
    """True if the text has the subject's name, or a part of it."""
    return bool({*_WORD.findall(subject.casefold())} & {*_WORD.findall(text.casefold())})
