"""An encoder that runs one of our models with onnxruntime; all-MiniLM-L6-v2 is the default.

Each text runs alone, on one thread. In a batch, the `int8` variant would scale by the range of the whole batch, and
even `fp32` would sum in another order: only a text that runs alone has the same vector every time.
Batches would not be faster either: one text of 256 tokens keeps a core busy.
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
from commonplace.encoders.model_files import ensure_graph, install_hint, missing_files, verify_file
from commonplace.encoders.model_graphs import Variant
from commonplace.encoders.models import LocalModel
from commonplace.encoders.onnx_format import INPUT, OUTPUT
from commonplace.errors import ProviderFailed, UsageError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

    from commonplace.encoders.base import Floats

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MAX_THREADS: Final = 4
_BLOCK_SIZE: Final = 128
"""Texts submitted to the threads at once: an interrupt leaves at most these behind in the queue."""


class OnnxEncoder:
    """A model in a folder. It is loaded at first use."""

    is_remote: Final = False

    def __init__(
        self,
        folder: Path,
        model: LocalModel,
        *,
        variant: Variant,
        tag: str,
        max_tokens: int = 256,
        threads: int | None = None,
    ) -> None:
        """Raises ProviderFailed if files are missing, UsageError if `max_tokens` is more than the model can read."""
        if missing := missing_files(folder, model):
            message = f"the model {model.name} is not installed: missing {' and '.join(missing)}"
            raise ProviderFailed(message, path=str(folder), hint=install_hint(model))
        if max_tokens > model.max_tokens:
            message = f"the model reads at most {model.max_tokens} tokens, not {max_tokens}"
            raise UsageError(message, hint="Lower embedding.max_tokens.")
        self.alias = model.name
        self.dim = model.dim
        self.version = model.version(variant, tag=tag)
        self._model = model
        self.max_tokens = max_tokens
        self._folder = folder
        self._variant = variant
        self._threads = threads or min(os.cpu_count() or 1, _MAX_THREADS)
        self._loading = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._session: InferenceSession | None = None
        self._pool: ThreadPoolExecutor | None = None

    @property
    def is_ready(self) -> bool:
        """True if the model is loaded."""
        return self._session is not None and self._tokenizer is not None

    def encode(self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda count: None) -> "Floats":
        """One row for each text. The longest texts run first, so that all threads finish together.

        Raises ProviderFailed if the model's files are damaged.
        """
        vectors = np.empty((len(texts), self.dim), np.float32)
        ids = [self._ids(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda row: -len(ids[row]))
        for row, vector in zip(order, self._run([ids[row] for row in order]), strict=True):
            vectors[row] = vector
            progress(1)
        return vectors

    def tokens(self, text: str) -> Spans:
        """The tokens of the whole text, from the model's own tokenizer."""
        spans: list[tuple[int, int]] = self._encoding(text).offsets
        return spans

    def _ids(self, text: str) -> list[int]:
        """The ids of the text's tokens, truncated to `max_tokens`, between the special tokens."""
        first, last = self._model.ends
        return [first, *self._encoding(text).ids[: self.max_tokens - 2], last]

    def _encoding(self, text: str) -> "Encoding":
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = self._load_tokenizer()
        valid = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)  # the offsets stay the same
        return self._tokenizer.encode(valid, add_special_tokens=False)

    def _load_tokenizer(self) -> "Tokenizer":
        verify_file(self._folder, self._model.tokenizer_file, self._model)
        return self._model.tokenizer(self._folder)

    def _run(self, work: Sequence[list[int]]) -> "Iterator[Floats]":
        """The vectors, in the given order. A single text runs in the caller's thread, so that a query does not wait."""
        if not work:
            return iter(())
        with self._loading:
            if self._session is None:
                self._session = _load_session(self._folder, self._model, variant=self._variant)
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="encoder")
        vector_of = partial(_vector, self._session, self._model)
        if self._pool is None or len(work) == 1:
            return map(vector_of, work)
        blocks = (work[start : start + _BLOCK_SIZE] for start in range(0, len(work), _BLOCK_SIZE))
        return chain.from_iterable(self._pool.map(vector_of, block) for block in blocks)


def _vector(session: "InferenceSession", model: LocalModel, ids: list[int]) -> "Floats":
    try:
        (vectors,) = session.run([OUTPUT], {INPUT: np.array([ids], np.int32)})
    except _runtime_errors() as error:  # its message may contain the text
        raise ProviderFailed(f"the model failed: {type(error).__name__}", hint=install_hint(model)) from None
    return np.asarray(vectors[0], np.float32)


def _load_session(folder: Path, model: LocalModel, *, variant: Variant) -> "InferenceSession":
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # otherwise its first import creates a machine id and reports home
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # it would keep a memory plan for every text length
    options.log_severity_level = 4  # errors are raised; do not print them as well
    path = ensure_graph(folder, model, variant=variant)
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"], enable_fallback=0)
    except _runtime_errors() as error:
        raise ProviderFailed(
            f"the model cannot be loaded: {error}", path=str(path), hint=install_hint(model)
        ) from error


@cache
def _runtime_errors() -> tuple[type[Exception], ...]:
    """Everything onnxruntime raises: its own types, which derive from Exception alone, and two of Python's."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own_types = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (RuntimeError, ValueError, *own_types)
