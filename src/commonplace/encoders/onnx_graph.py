"""The model as an ONNX file, built from its weights: BERT with six layers, mean pooling, vectors of length 1.

A text runs alone and unpadded, so the graph has one input, the token ids, and needs no attention mask.

Variants:
- fp32  the weights as they are.
- int8  integer matrix products, scaled by each text's own range: about twice as fast. Weights are quantized by column
        to 7 bits: processors without VNNI add two products of bytes in 16 bits, which 8-bit weights would overflow.

A graph that gives other numbers gets another variant name, because the name is part of every vector's version.

The second half of the module writes the ONNX file format, as much of it as the graph needs. An ONNX file is one
protobuf message. A field is its number and wire type in one varint, then its value: a varint, four bytes, or a length
and that many bytes. The field numbers are those of the format's `onnx.proto`.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Tensors = Mapping[str, Matrix]

Variant = Literal["int8", "fp32"]
VARIANTS: Final[tuple[Variant, ...]] = get_args(Variant)

INPUT: Final = "ids"
OUTPUT: Final = "vector"
DIM: Final = 384
MAX_POSITIONS: Final = 512
"""The most tokens that the model has positions for."""

_LAYERS: Final = 6
_HEADS: Final = 12
_EPSILON: Final = 1e-12
_MAX_QUANTIZED_WEIGHT: Final = 63
_OUTLIER_CHANNELS: Final = {0: (856,), 1: (607,), 2: (218, 1004), 3: (358,), 4: (1321,)}
"""Inner channels of a layer that reach 8 to 25 where the others stay below 6: they would use up the range of a byte.

Measured with ten sentences in several languages. The weights are pinned, so these stay the outliers."""
_OUTLIER_SCALE: Final = 6.0
"""Outlier channels are divided by this before rounding; their weights are multiplied by it."""

_ELEMENT_TYPES: Final = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "float16": 10}
_IR_VERSION: Final = 8
_MICROSOFT: Final = "com.microsoft"
"""The domain of onnxruntime's fused operators."""
_OPSETS: Final = {"": 17, _MICROSOFT: 1}


def build_graph(tensors: "Tensors", *, variant: Variant) -> bytes:
    """The ONNX file that turns the token ids of one text into its vector."""
    graph = _GraphBuilder(tensors, variant)
    stream = _embeddings(graph)
    for layer in range(_LAYERS):
        stream = _feed_forward(graph, layer, _attention(graph, layer, stream))
    graph.node("ReduceMean", [stream], "mean", axes=(1,), keepdims=0)
    graph.node("LpNormalization", ["mean"], OUTPUT, axis=1, p=2)
    return onnx_model(
        nodes=graph.nodes,
        tensors=graph.constants,
        inputs=[onnx_port(INPUT, "int32", ["texts", "tokens"])],
        outputs=[onnx_port(OUTPUT, "float32", ["texts", DIM])],
    )


@dataclass(slots=True)
class _GraphBuilder:
    """The graph so far. Each method adds a part and returns the name of its output."""

    tensors: "Tensors"
    variant: Variant
    nodes: list[bytes] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)

    def constant(self, name: str, values: "npt.NDArray[np.generic]") -> str:
        self.constants.append(onnx_tensor(name, np.ascontiguousarray(values)))
        return name

    def weights(self, name: str) -> str:
        """A tensor of the model, unchanged."""
        return self.constant(name, self.tensors[name])

    def node(self, operator: str, inputs: list[str], output: str, **attributes: int | float | tuple[int, ...]) -> str:
        self.nodes.append(onnx_node(operator, inputs, [output], attributes=attributes))
        return output

    def fused(self, operator: str, inputs: list[str], output: str, **attributes: int | float) -> str:
        self.nodes.append(onnx_node(operator, inputs, [output], fused=True, attributes=attributes))
        return output

    def product(self, stream: str, matrix: "Matrix", output: str) -> str:
        """The stream times a matrix, which is quantized in the `int8` variant."""
        if self.variant == "fp32":
            return self.node("MatMul", [stream, self.constant(f"{output}.matrix", matrix)], output)
        scale = (np.abs(matrix).max(axis=0) / _MAX_QUANTIZED_WEIGHT).astype(np.float32)
        quantized = np.rint(matrix / scale).astype(np.int8)
        inputs = [stream, self.constant(f"{output}.matrix", quantized), self.constant(f"{output}.scale", scale)]
        return self.fused("DynamicQuantizeMatMul", inputs, output)


def _embeddings(graph: _GraphBuilder) -> str:
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


def _attention(graph: _GraphBuilder, layer: int, stream: str) -> str:
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


def _feed_forward(graph: _GraphBuilder, layer: int, stream: str) -> str:
    """Each token by itself, through 1536 inner channels."""
    name = f"encoder.layer.{layer}"
    wide = graph.product(stream, graph.tensors[f"{name}.intermediate.dense.weight"].T, f"wide.{layer}")
    inner = graph.fused("BiasGelu", [wide, graph.weights(f"{name}.intermediate.dense.bias")], f"inner.{layer}")
    matrix = graph.tensors[f"{name}.output.dense.weight"].T
    if graph.variant == "int8" and layer in _OUTLIER_CHANNELS:
        damping = np.ones(len(matrix), np.float32)
        damping[list(_OUTLIER_CHANNELS[layer])] = _OUTLIER_SCALE
        inner = graph.node("Mul", [inner, graph.constant(f"damping.{layer}", 1 / damping)], f"damped.{layer}")
        matrix = matrix * damping[:, None]
    return _add_and_normalize(graph, graph.product(inner, matrix, f"narrow.{layer}"), stream, f"{name}.output")


def _add_and_normalize(graph: _GraphBuilder, branch: str, stream: str, name: str) -> str:
    """The residual connection: branch plus stream, then layer normalization."""
    parts = [graph.weights(f"{name}.{part}") for part in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
    return graph.fused("SkipLayerNormalization", [branch, stream, *parts], f"{name}.joined", epsilon=_EPSILON)


def onnx_node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    fused: bool = False,
    attributes: Mapping[str, int | float | Sequence[int]] | None = None,
) -> bytes:
    """One operation of a graph; an input named "" is left out. A `fused` operator is one of onnxruntime's own."""
    parts = [_text(1, name) for name in inputs] + [_text(2, name) for name in outputs]
    parts += [_text(3, outputs[0]), _text(4, operator)]
    parts += [_bytes(5, _attribute(name, value)) for name, value in (attributes or {}).items()]
    return b"".join(parts) + (_text(7, _MICROSOFT) if fused else b"")


def onnx_tensor(name: str, values: "npt.NDArray[np.generic]") -> bytes:
    """A constant of the graph."""
    dims = b"".join(_varint(1, length) for length in values.shape)
    kind = _varint(2, _ELEMENT_TYPES[values.dtype.name])
    return dims + kind + _text(8, name) + _bytes(9, values.tobytes())


def onnx_port(name: str, element: str, shape: Sequence[int | str]) -> bytes:
    """An input or output of the graph; a dimension that is a word may have any length."""
    dims = [_varint(1, length) if isinstance(length, int) else _text(2, length) for length in shape]
    tensor_type = _varint(1, _ELEMENT_TYPES[element]) + _bytes(2, b"".join(_bytes(1, dim) for dim in dims))
    return _text(1, name) + _bytes(2, _bytes(1, tensor_type))


def onnx_model(
    *, nodes: Sequence[bytes], tensors: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes]
) -> bytes:
    """The whole file. Its last field, a comment that readers ignore, is a checksum of everything before it."""
    parts = [_bytes(1, each) for each in nodes] + [_text(2, "commonplace")]
    parts += [_bytes(5, each) for each in tensors]
    parts += [_bytes(11, each) for each in inputs] + [_bytes(12, each) for each in outputs]
    opsets = [_bytes(8, _text(1, domain) + _varint(2, version)) for domain, version in _OPSETS.items()]
    content = _varint(1, _IR_VERSION) + _text(2, "commonplace") + _bytes(7, b"".join(parts)) + b"".join(opsets)
    return content + _checksum(content)


def is_intact(file: bytes) -> bool:
    """True if the file is as `onnx_model` wrote it. A damaged file may still load, and give other numbers."""
    size = len(_checksum(b""))
    return file[-size:] == _checksum(memoryview(file)[:-size])


def _checksum(content: bytes | memoryview) -> bytes:
    return _text(6, f"{zlib.crc32(content):08x}")


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _varint(3, value) + _varint(20, 2)
    if isinstance(value, float):
        return _text(1, name) + _tag(2, 5) + struct.pack("<f", value) + _varint(20, 1)
    return _text(1, name) + b"".join(_varint(8, each) for each in value) + _varint(20, 7)


def _varint(number: int, value: int) -> bytes:
    return _tag(number, 0) + _plain_varint(value)


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _bytes(number: int, value: bytes) -> bytes:
    return _tag(number, 2) + _plain_varint(len(value)) + value


def _tag(number: int, wire_type: int) -> bytes:
    return _plain_varint(number << 3 | wire_type)


def _plain_varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # the format encodes a negative number as its two's complement
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
