"""Labelled clauses and the encoder of this machine -> a classifier -> how likely each clause is worth keeping.

The examples come with the program. They are encoded once, their vectors are cached like all others, and the classifier
is fitted when a process needs it first: in about four seconds, and without anything leaving this machine.
"""

import json
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from commonplace.encoders.base import FIXED_POINT_ONE, EncoderProvider, to_fixed_point
from commonplace.encoders.models import MODELS
from commonplace.events import emit
from commonplace.extraction.clause_classifier import ClauseClassifier, LabelledClause, fit_classifier
from commonplace.extraction.clause_features import ClauseInContext
from commonplace.flows.encode import text_hash
from commonplace.flows.stores import Stores

if TYPE_CHECKING:
    from commonplace.encoders.base import Fixed
    from commonplace.extraction.rules import ClauseWeigher

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
