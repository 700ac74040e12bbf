"""A part of a conversation -> the model of the task `extract`, or the rules -> candidate facts with their evidence.

The rules weigh clauses by a classifier. Its labelled examples come with the program. They are encoded once, their
vectors are cached like all others, and the classifier is fitted when a process needs it first: in about four seconds,
and without anything leaving this machine.
"""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from commonplace.encoders.base import FIXED_POINT_ONE, EncoderProvider, to_fixed_point
from commonplace.encoders.models import MODELS
from commonplace.events import emit
from commonplace.extraction.answers import SCHEMA, read_answer
from commonplace.extraction.clause_classifier import ClauseClassifier, ClauseInContext, LabelledClause, fit_classifier
from commonplace.facts.validity import state_of
from commonplace.flows.encode import text_hash
from commonplace.flows.learn.model_calls import ask_model, model_of, prompt_for
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.search.candidates import CHUNK_BM25
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import FactQuery
from commonplace.llm.base import LanguageModel, Prompt
from commonplace.model import Fact, Filters
from commonplace.model.fact import RULES
from commonplace.model.layout import MEMORY
from commonplace.model.learning import Extraction, Rejection, Turn
from commonplace.model.untrusted_text import break_marks
from commonplace.questions.words import query_words

if TYPE_CHECKING:
    from commonplace.encoders.base import Fixed
    from commonplace.extraction.rules import ClauseWeigher

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


_EXAMPLES: Final = "clauses.jsonl"
_FITTED: dict[str, ClauseClassifier] = {}  # by the version of the encoder
_FITTING: Final = threading.Lock()


def clause_weigher(stores: Stores) -> "ClauseWeigher | None":
    """A function that weighs clauses; None without one of the models that run on this machine.

    The words of conversations are not cached. It raises ProviderFailed if the encoder fails.
    """
    encoder = stores.encoders.current
    if encoder is None or encoder.alias not in MODELS:
        return None

    def encode(texts: Sequence[str]) -> "Fixed":
        return to_fixed_point(encoder.encode(texts))

    def weigh(clauses: Sequence[ClauseInContext]) -> Sequence[float]:
        return _classifier(encoder, stores).probabilities(clauses, *_vectors(clauses, encode, encoder.dim))

    return weigh


def _classifier(encoder: EncoderProvider, stores: Stores) -> ClauseClassifier:
    with _FITTING:
        if encoder.version not in _FITTED:
            examples = labelled_clauses()
            encode = partial(_encode_examples, encoder=encoder, stores=stores)
            matrices = _vectors([each.clause for each in examples], encode, encoder.dim)
            _FITTED[encoder.version] = fit_classifier(examples, *matrices)
            emit("clause_classifier_fitted", level="debug", encoder=encoder.version, examples=len(examples))
        return _FITTED[encoder.version]


@cache
def labelled_clauses() -> tuple[LabelledClause, ...]:
    """The examples that come with the program."""
    from importlib.resources import files

    text = files("commonplace.extraction.examples").joinpath(_EXAMPLES).read_text(encoding="utf-8")
    return tuple(_labelled(json.loads(line)) for line in text.splitlines())


def _labelled(line: dict[str, Any]) -> LabelledClause:
    clause = ClauseInContext(
        line["text"], line.get("marks", ""), line.get("position", 0), line.get("turn", 0), line.get("before", "")
    )
    return LabelledClause(clause, bool(line["keep"]), line["author"])


def _vectors(clauses: Sequence[ClauseInContext], encode: Callable[[Sequence[str]], "Fixed"], dim: int) -> Any:
    """A matrix for the texts of the clauses, and one for the replies before them: zeros where there is none."""
    import numpy as np

    texts = [*dict.fromkeys(text for each in clauses for text in (each.text, each.before) if text)]
    rows = np.asarray(encode(texts), dtype=np.float64) / FIXED_POINT_ONE if texts else np.zeros((0, dim))
    vectors = dict(zip(texts, rows, strict=True))
    nothing = np.zeros(dim)
    return (
        np.array([vectors[each.text] for each in clauses]).reshape(-1, dim),
        np.array([vectors.get(each.before, nothing) for each in clauses]).reshape(-1, dim),
    )


def _encode_examples(texts: Sequence[str], encoder: EncoderProvider, stores: Stores) -> "Fixed":
    """The vectors of the examples, from the cache where they are known."""
    import numpy as np

    hashes = [text_hash(text) for text in texts]
    cached = dict(stores.cache.get(encoder.version, hashes))
    missing = {key: text for key, text in zip(hashes, texts, strict=True) if key not in cached}
    if missing:
        encoded = dict(zip(missing, to_fixed_point(encoder.encode([*missing.values()])), strict=True))
        stores.cache.put(encoder.version, encoded)
        cached |= encoded
    return np.array([cached[key] for key in hashes])
