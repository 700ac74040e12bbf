"""What ingest and search work with: the vault and its index, the encoder and what it has encoded before."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from commonplace.encoders.base import EncoderProvider, Spans
from commonplace.facts.claims import FactRules
from commonplace.flows.document import Cut
from commonplace.history.base import History
from commonplace.index.base import Index, VectorCache
from commonplace.policy.options import SafetyOptions
from commonplace.recalling.options import RetrievalOptions
from commonplace.sources.base import Source
from commonplace.vault.base import Skip, StorageBackend

if TYPE_CHECKING:
    from commonplace.index.base import Fixed


@dataclass(frozen=True, slots=True)
class Encoders:
    """The encoder to work with, None where there is none and `missing` says why; `is_wanted` is whether one is set.

    `for_version` finds the one whose vectors an index still holds. `warm` loads the current one in the
    background, once, and says whether that is still going on.
    """

    current: EncoderProvider | None
    missing: str
    for_version: Callable[[str], EncoderProvider | None]
    is_wanted: bool = True
    warm: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Questions:
    """The vectors of questions by encoder and text; whoever asks the same at the same moment waits for the first."""

    known: "dict[tuple[str, str], Fixed]" = field(default_factory=dict)
    turn: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Shelf:
    """One vault with its index, and the rules and the clock to work by. `past` opens the index of a commit, `scratch`
    an empty one that is gone when its block ends.

    `sources` are those beyond the vault that the settings switch on. Where it is not `is_patient`, a question does not
    wait for an encoder that is still being loaded: it goes by words, and its answer says so. `questions` are those
    encoded a moment ago, where one thing is asked in several ways.
    """

    vault: StorageBackend
    index: Index
    cache: VectorCache
    encoders: Encoders
    history: History
    user: str
    rules: FactRules
    safety: SafetyOptions
    retrieval: RetrievalOptions
    max_tokens: int
    overlap: int
    rename_window: float
    heuristic: Callable[[str], Spans]
    ignored: Skip
    clock: Callable[[], datetime]
    past: Callable[[str], Index]
    forget_past: Callable[[], None]
    scratch: Callable[[], AbstractContextManager[Index]]
    sources: tuple[Source, ...] = ()
    is_patient: bool = True
    questions: "Questions | None" = None

    @property
    def cut(self) -> Cut:
        """How texts are cut for the encoder there is."""
        encoder = self.encoders.current
        if encoder is None:
            return Cut(self.heuristic, self.max_tokens, self.overlap, "")
        return Cut(encoder.tokens, self.max_tokens, self.overlap, encoder.version, encoder.is_remote)
