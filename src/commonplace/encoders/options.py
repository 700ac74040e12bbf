"""The settings block `embedding`. None of it may be set from inside a vault."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from commonplace.model import option

DEFAULT_TAG: Final = "minilm-l6-v2@2024-05"


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """The block `embedding`."""

    provider: Literal["minilm-l6-v2", "gte-small", "use-multilingual", "http", "hashing", "none"] = option(
        "minilm-l6-v2",
        "The encoder that turns text into vectors (`commonplace model list`); with `none`, search is by words only.",
        once_called=("model",),
    )
    version_tag: str = option(
        DEFAULT_TAG, "Stamped on every chunk; a new tag re-encodes everything. Another model has a tag of its own."
    )
    variant: Literal["int8", "fp32"] = option(
        "int8", "How the model computes: `int8` is twice as fast as `fp32`. `use-multilingual` has `fp32` alone."
    )
    model_folder: Path | None = option(
        None,
        "Folder of the model's files; by default in your data folder, shared by all vaults. "
        "If it is named after a model, the other models are next to it.",
    )
    cache_file: Path | None = option(None, "The cache of vectors; by default next to the vault's index.")
    endpoint: str = option("http://127.0.0.1:11434/v1", "The server of the provider `http`; `/embeddings` is added.")
    remote_model: str = option("all-minilm", "The model to request from that server.")
    key_env: str = option("EMBEDDING_API_KEY", "The environment variable that holds the server's key, if any.")
    dim: int = option(384, "Length of a vector; a model of ours has a length of its own.", at_least=1)
    max_tokens: int = option(256, "Largest chunk, in tokens.", at_least=16, once_called=("chunk_tokens",))
    chunk_overlap: int = option(32, "Tokens that a chunk shares with the one before.", at_least=0)

    def __post_init__(self) -> None:
        if self.chunk_overlap >= self.max_tokens:
            raise ValueError("chunk_overlap must be smaller than max_tokens")
