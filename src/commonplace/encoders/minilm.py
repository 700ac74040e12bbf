"""all-MiniLM-L6-v2 by onnxruntime: the encoder that comes with Commonplace.

Each text runs alone, on one thread. The whole numbers of the `int8` variant are scaled by the range of all that runs
together, and even `fp32` sums in another order in company: only alone is a vector the same every time.
Batches would not be quicker either: one text of 256 tokens keeps a core busy.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from commonplace.encoders.base import Spans
from commonplace.encoders.graph import DIM, INPUT, LONGEST, OUTPUT, VARIANTS, Variant
from commonplace.encoders.weights import INSTALL_HINT, TOKENIZER, built_graph, missing_files, verify_pinned
from commonplace.errors import ProviderFailed, UsageError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

    from commonplace.encoders.base import Floats

__all__ = ["VARIANTS", "MiniLM"]

_BEGINNING: Final = 101
_END: Final = 102
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MOST_THREADS: Final = 4
_BLOCK: Final = 128
"""Texts given to the threads at once: an interrupt while they are handed over leaves no more behind than these."""


class MiniLM:
    """The model in this folder. Nothing is loaded before it is used."""

    alias: Final = "minilm-l6-v2"
    dim: Final = DIM
    is_remote: Final = False

    def __init__(
        self, folder: Path, *, variant: Variant, tag: str, max_tokens: int = 256, threads: int | None = None
    ) -> None:
        """Raises ProviderFailed when the weights are not there, UsageError for more tokens than the model reads."""
        if missing := missing_files(folder):
            message = f"the model is not installed: no {' and no '.join(missing)}"
            raise ProviderFailed(message, path=str(folder), hint=INSTALL_HINT)
        if max_tokens > LONGEST:
            message = f"the model reads at most {LONGEST} tokens, not {max_tokens}"
            raise UsageError(message, hint="Lower embedding.max_tokens.")
        self.version = f"{tag}+{variant}"
        self.max_tokens = max_tokens
        self._folder = folder
        self._variant = variant
        self._threads = threads or min(os.cpu_count() or 1, _MOST_THREADS)
        self._loading = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._session: InferenceSession | None = None
        self._pool: ThreadPoolExecutor | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the model is loaded."""
        return self._session is not None and self._tokenizer is not None

    def encode(self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda more: None) -> "Floats":
        """One row for each text; the longest run first, so that all threads finish together.

        Raises ProviderFailed when the model's files are damaged.
        """
        vectors = np.empty((len(texts), DIM), np.float32)
        ids = [self._ids(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda row: -len(ids[row]))
        for row, vector in zip(order, self._run([ids[row] for row in order]), strict=True):
            vectors[row] = vector
            progress(1)
        return vectors

    def tokens(self, text: str) -> Spans:
        """The tokens of the whole text, by the model's own tokenizer."""
        spans: list[tuple[int, int]] = self._encoding(text).offsets
        return spans

    def _ids(self, text: str) -> list[int]:
        """The numbers of the text's tokens between the marks of its ends, as many as the model reads."""
        return [_BEGINNING, *self._encoding(text).ids[: self.max_tokens - 2], _END]

    def _encoding(self, text: str) -> "Encoding":
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = _load_tokenizer(self._folder)
        whole = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)  # half a character is none; spans stay the same
        return self._tokenizer.encode(whole, add_special_tokens=False)

    def _run(self, work: Sequence[list[int]]) -> "Iterator[Floats]":
        """The vectors, in the order of the work. One text runs in the caller's thread: a query does not queue."""
        if not work:
            return iter(())
        with self._loading:
            if self._session is None:
                self._session = _load_session(self._folder, variant=self._variant)
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="encoder")
        vector_of = partial(_vector, self._session)
        if self._pool is None or len(work) == 1:
            return map(vector_of, work)
        blocks = (work[start : start + _BLOCK] for start in range(0, len(work), _BLOCK))
        return chain.from_iterable(self._pool.map(vector_of, block) for block in blocks)


def _vector(session: "InferenceSession", ids: list[int]) -> "Floats":
    try:
        (vectors,) = session.run([OUTPUT], {INPUT: np.array([ids], np.int32)})
    except _runtime_errors() as error:  # its words might show what the text was
        raise ProviderFailed(f"the model failed: {type(error).__name__}", hint=INSTALL_HINT) from None
    return np.asarray(vectors[0], np.float32)


def _load_tokenizer(folder: Path) -> "Tokenizer":
    """The model's tokenizer, which as shipped would cut and fill every text to 128 tokens."""
    from tokenizers import Tokenizer

    verify_pinned(folder / TOKENIZER)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _load_session(folder: Path, *, variant: Variant) -> "InferenceSession":
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else its first import makes an id of this machine and reports home
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # every length would leave a plan behind
    options.log_severity_level = 4  # its errors are raised, and need not be printed as well
    path = built_graph(folder, variant=variant)
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"], enable_fallback=0)
    except _runtime_errors() as error:
        raise ProviderFailed(f"the model cannot be loaded: {error}", path=str(path), hint=INSTALL_HINT) from error


@cache
def _runtime_errors() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: kinds of its own, which have no ancestor but Exception, and two of Python's."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (RuntimeError, ValueError, *own)
