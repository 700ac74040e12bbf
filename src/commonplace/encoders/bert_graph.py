"""A BERT encoder as an ONNX file, built from its weights: its layers, mean pooling, vectors of length 1.

A text runs alone and unpadded, so the graph has one input, the token ids, and needs no attention mask.

Variants:
- fp32  the weights as they are.
- int8  integer matrix products, scaled by each text's own range: about twice as fast. Weights are quantized by column
        to 7 bits: processors without VNNI add two products of bytes in 16 bits, which 8-bit weights would overflow.

A graph that gives other numbers gets another variant name, because the name is part of every vector's version.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from commonplace.encoders.onnx_format import INPUT, OUTPUT, GraphBuilder

if TYPE_CHECKING:
    from commonplace.encoders.onnx_format import Matrix, Tensors

Variant = Literal["int8", "fp32"]
VARIANTS: Final[tuple[Variant, ...]] = get_args(Variant)

_HEADS: Final = 12
_EPSILON: Final = 1e-12
_MAX_QUANTIZED_WEIGHT: Final = 63
_OUTLIER_SCALE: Final = 6.0
"""Outlier channels are divided by this before rounding; their weights are multiplied by it."""


@dataclass(frozen=True, slots=True, eq=False)
class BertShape:
    """How one model differs from the others.

    `outliers` are inner channels, by layer, that would use up the range of a byte. `centre` is what all vectors of the
    model have in common: it is subtracted, so that texts on different things have a cosine near 0.
    """

    outliers: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    centre: "Matrix | None" = None


def build_bert_graph(tensors: "Tensors", shape: BertShape, *, variant: Variant) -> bytes:
    """The ONNX file that turns the token ids of one text into its vector."""
    graph = _BertBuilder(tensors, variant, shape)
    stream = _embeddings(graph)
    for layer in range(_layers(tensors)):
        stream = _feed_forward(graph, layer, _attention(graph, layer, stream))
    graph.node("ReduceMean", [stream], "mean", axes=(1,), keepdims=0)
    if shape.centre is None:
        graph.node("LpNormalization", ["mean"], OUTPUT, axis=1, p=2)
    else:
        graph.node("LpNormalization", ["mean"], "direction", axis=1, p=2)
        graph.node("Sub", ["direction", graph.constant("centre", shape.centre)], "centred")
        graph.node("LpNormalization", ["centred"], OUTPUT, axis=1, p=2)
    dim = tensors["embeddings.word_embeddings.weight"].shape[1]
    return graph.file(dim=dim)


def _layers(tensors: "Tensors") -> int:
    return next(layer for layer in count() if f"encoder.layer.{layer}.output.dense.bias" not in tensors)


class _BertBuilder(GraphBuilder):
    """The graph so far, with the weights it is built from."""

    def __init__(self, tensors: "Tensors", variant: Variant, shape: BertShape) -> None:
        super().__init__()
        self.tensors, self.variant, self.shape = tensors, variant, shape

    def weights(self, name: str) -> str:
        """A tensor of the model, unchanged."""
        return self.constant(name, self.tensors[name])

    def product(self, stream: str, matrix: "Matrix", output: str) -> str:
        """The stream times a matrix, which is quantized in the `int8` variant."""
        if self.variant == "fp32":
            return self.node("MatMul", [stream, self.constant(f"{output}.matrix", matrix)], output)
        scale = (np.abs(matrix).max(axis=0) / _MAX_QUANTIZED_WEIGHT).astype(np.float32)
        quantized = np.rint(matrix / scale).astype(np.int8)
        inputs = [stream, self.constant(f"{output}.matrix", quantized), self.constant(f"{output}.scale", scale)]
        return self.fused("DynamicQuantizeMatMul", inputs, output)


def _embeddings(graph: _BertBuilder) -> str:
    """Token plus position embeddings. All tokens have type 0, whose embedding is added to the positions."""
    words = graph.tensors["embeddings.word_embeddings.weight"]
    positions = graph.tensors["embeddings.position_embeddings.weight"]
    first_type = graph.tensors["embeddings.token_type_embeddings.weight"][0]
    graph.constant("words", words.astype(np.float16) if graph.variant == "int8" else words)  # half the file to load
    graph.node("Gather", ["words", INPUT], "stored")
    graph.node("Cast", ["stored"], "token", to=1)
    graph.node("Shape", [INPUT], "length", start=1)
    graph.constant("zero", np.zeros(1, np.int64))
    graph.node("Slice", [graph.constant("places", positions + first_type), "zero", "length"], "place")
    graph.node("Add", ["token", "place"], "placed")
    norm = "embeddings.LayerNorm"
    inputs = ["placed", graph.weights(f"{norm}.weight"), graph.weights(f"{norm}.bias")]
    return graph.node("LayerNormalization", inputs, "embedded", axis=-1, epsilon=_EPSILON)


def _attention(graph: _BertBuilder, layer: int, stream: str) -> str:
    """Multi-head self-attention of one layer."""
    name = f"encoder.layer.{layer}.attention"
    projections = []
    for part in ("query", "key", "value"):
        product = graph.product(stream, graph.tensors[f"{name}.self.{part}.weight"].T, f"{part}.{layer}")
        bias = graph.weights(f"{name}.self.{part}.bias")
        projections.append(graph.node("Add", [product, bias], f"{part}.{layer}.sum"))
    mixed = graph.fused("MultiHeadAttention", projections, f"mixed.{layer}", num_heads=_HEADS)
    out = graph.product(mixed, graph.tensors[f"{name}.output.dense.weight"].T, f"attended.{layer}")
    return _add_and_normalize(graph, out, stream, f"{name}.output")


def _feed_forward(graph: _BertBuilder, layer: int, stream: str) -> str:
    """Each token by itself, through 1536 inner channels."""
    name = f"encoder.layer.{layer}"
    wide = graph.product(stream, graph.tensors[f"{name}.intermediate.dense.weight"].T, f"wide.{layer}")
    inner = graph.fused("BiasGelu", [wide, graph.weights(f"{name}.intermediate.dense.bias")], f"inner.{layer}")
    matrix = graph.tensors[f"{name}.output.dense.weight"].T
    if graph.variant == "int8" and layer in graph.shape.outliers:
        damping = np.ones(len(matrix), np.float32)
        damping[list(graph.shape.outliers[layer])] = _OUTLIER_SCALE
        inner = graph.node("Mul", [inner, graph.constant(f"damping.{layer}", 1 / damping)], f"damped.{layer}")
        matrix = matrix * damping[:, None]
    return _add_and_normalize(graph, graph.product(inner, matrix, f"narrow.{layer}"), stream, f"{name}.output")


def _add_and_normalize(graph: _BertBuilder, branch: str, stream: str, name: str) -> str:
    """The residual connection: branch plus stream, then layer normalization."""
    parts = [graph.weights(f"{name}.{part}") for part in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
    return graph.fused("SkipLayerNormalization", [branch, stream, *parts], f"{name}.joined", epsilon=_EPSILON)
