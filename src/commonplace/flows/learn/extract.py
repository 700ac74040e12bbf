"""A part of a conversation -> the model of the task `extract`, or the rules -> candidate facts with their evidence."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from commonplace.extraction.answers import SCHEMA, read_answer
from commonplace.facts.validity import state_of
from commonplace.flows.learn.clause_weights import clause_weigher
from commonplace.flows.learn.model_calls import ask_model, model_of, prompt_for
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.search.candidates import CHUNK_BM25
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.llm.base import LanguageModel, Prompt
from commonplace.model import Fact, Filters
from commonplace.model.fact import RULES
from commonplace.model.layout import MEMORY
from commonplace.model.learning import Extraction, Rejection, Turn
from commonplace.model.untrusted_text import break_marks
from commonplace.questions.words import query_words

Extractor = Callable[[Sequence[Turn]], Extraction]
"""Another extractor in place of the rules and of the settings' model."""

_MOST_KNOWN: Final = 20  # known statements that a model is shown: the relation to others is found by the integrator
_MOST_MATCHES: Final = 60  # passages among which they are looked for
_LONGEST_REPLY: Final = 2000  # characters of an assistant's message: it is context, and may be a whole file
_SPEAKERS: Final = {"user": "person", "assistant": "assistant"}


def extract(
    turns: Sequence[Turn],
    session: Session,
    *,
    first: int = 1,
    model: LanguageModel | None = None,
    is_sensitive: bool = False,
) -> tuple[Extraction, str]:
    """What the turns from number `first` on say, and by whom it was extracted: `rules`, or a model and its prompt.

    Another `model` replaces the one of the settings. Raises ProviderFailed if the model does not answer, and Refused
    if sensitive words would leave this machine.
    """
    if model is None and model_of("extract", session) is None:
        return _by_rules(turns, session, first=first), RULES
    prompt = prompt_for("extract", session)
    asked = (Prompt("system", prompt.text), Prompt("user", _conversation(turns, session, first=first)))
    answer = ask_model(
        "extract", asked, SCHEMA, session, prompt_version=prompt.version, is_sensitive=is_sensitive, model=model
    )
    extraction = read_answer(answer.value, turns, options=session.stores.learn, first=first)
    odd = tuple(Rejection(each, "malformed") for each in answer.problems)
    return replace(extraction, rejections=(*extraction.rejections, *odd)), f"{answer.model} {prompt.version}"


def _by_rules(turns: Sequence[Turn], session: Session, *, first: int) -> Extraction:
    """What the rules find; facts of earlier turns were learned before, and those beyond the limit are rejected."""
    from commonplace.extraction.rules import extract_by_rules  # many expressions, which few commands need

    user = session.stores.rules.user
    person, weigh = "" if user == "me" else user, clause_weigher(session.stores)
    found = extract_by_rules(turns, day=session.now[:10], person=person, weigh=weigh)
    facts = [each for each in found.facts if each.turn >= first]
    most = session.stores.learn.max_facts
    beyond = tuple(Rejection(each.text, "too_many", each.turn) for each in facts[most:])
    rejections = tuple(each for each in found.rejections if each.turn >= first)
    return replace(found, facts=tuple(facts[:most]), rejections=(*rejections, *beyond))


def _conversation(turns: Sequence[Turn], session: Session, *, first: int) -> str:
    """The turns and what is known about their subject as one JSON object: its quotation marks fence the words."""
    known = known_statements([each.text for each in turns if each.role == "user"], session)
    messages = [_message(each, is_context=each.number < first) for each in turns]
    return json.dumps(
        {"day": turns[-1].day, "known": [break_marks(each.text) for each in known], "messages": messages},
        ensure_ascii=False,
    )


def _message(turn: Turn, *, is_context: bool) -> dict[str, Any]:
    text = turn.text if turn.role == "user" else turn.text[:_LONGEST_REPLY]
    shown = {"number": turn.number, "speaker": _SPEAKERS.get(turn.role, "tool"), "day": turn.day}
    return {**shown, "text": break_marks(text), **({"context": True} if is_context else {})}


def known_statements(texts: Sequence[str], session: Session, *, most: int = _MOST_KNOWN) -> tuple[Fact, ...]:
    """Entries that hold now and share words with these texts, best first. Raises IndexDamaged."""
    words = query_words("\n".join(texts)).words
    filters = Filters(path=MEMORY, sensitive="" if session.sees_sensitive else "out")
    with entry_reader(session.stores) as reader:
        matches = reader.match_words(words, filters, limit=_MOST_MATCHES, bm25=CHUNK_BM25).matches[:_MOST_MATCHES]
        paths = [*dict.fromkeys(each.document.source_id for each in reader.chunks([one.number for one in matches]))]
        records = reader.facts(FactQuery(paths=tuple(paths), origins=("entry",))) if paths else ()
    current = {each.fact.path: each.fact for each in records if state_of(each, at=session.now) == "current"}
    return tuple(current[path] for path in paths if path in current)[:most]
