"""What a person may set about encoding text."""

from dataclasses import dataclass

from commonplace.model import option


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """The block `embedding`."""

    provider: str = option("minilm-l6-v2", "The encoder that turns text into vectors.", once_called=("model",))
    version_tag: str = option("minilm-l6-v2@2024-05", "Stamped on every chunk; a new tag means encoding anew.")
    dim: int = option(384, "Length of a vector.", at_least=1)
    max_tokens: int = option(256, "Largest chunk, in tokens.", at_least=16, once_called=("chunk_tokens",))
    chunk_overlap: int = option(32, "Tokens that a chunk shares with the one before.", at_least=0)

    def __post_init__(self) -> None:
        if self.chunk_overlap >= self.max_tokens:
            raise ValueError("chunk_overlap must be smaller than max_tokens")
