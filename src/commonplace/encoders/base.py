"""The encoder seam: text -> vectors.

Terms:
- encoder  turns a text into a vector of `dim` numbers, of length 1. The vector of a text depends on the text alone:
           not on the batch it came in, nor on how many threads were at work.
- version  names the model and the variant that ran, such as `minilm-l6-v2@2024-05+int8`. Vectors of two versions
           are never compared.
- fixed    a vector as 16-bit whole numbers, 32767 standing for 1: what is stored and compared. Sums of products of
           whole numbers come out the same in any order and on any machine.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Fixed = npt.NDArray[np.int16]

ONE: Final = 32767
"""What stands for 1 in a fixed vector."""

Spans = Sequence[tuple[int, int]]
"""Where each token of a text begins and ends."""


class EncoderProvider(Protocol):
    """One encoder. Its methods may be called from several threads."""

    @property
    def version(self) -> str:
        """The model and variant that run; stamped on every vector."""

    @property
    def alias(self) -> str:
        """The model's short name for the log of model calls, such as `minilm-l6-v2`."""

    @property
    def dim(self) -> int:
        """The length of a vector."""

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text that the model reads; what is beyond them does not count."""

    @property
    def is_remote(self) -> bool:
        """Whether texts leave this machine."""

    @property
    def is_ready(self) -> bool:
        """Whether it would answer without loading anything first."""

    def encode(self, texts: Sequence[str], *, progress: Callable[[int], None] = ...) -> "Floats":
        """One row for each text; `progress` hears how many more are done. Raises ProviderFailed."""

    def tokens(self, text: str) -> Spans:
        """The tokens of the whole text, without the marks that a model adds at its ends."""


def fixed(vectors: "Floats") -> "Fixed":
    """The vectors as they are stored and compared."""
    import numpy as np

    return np.rint(np.clip(vectors, -1.0, 1.0).astype(np.float64) * ONE).astype(np.int16)
