"""The ONNX file format: writing a graph with its constants, and reading the weights out of another program's file.

An ONNX file is one protobuf message. A field is its number and wire type in one varint, then its value: a varint, four
or eight bytes, or a length and that many bytes. The field numbers are those of the format's `onnx.proto`.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Bytes = bytes | memoryview
    Matrix = npt.NDArray[np.float32]
    Tensors = Mapping[str, Matrix]

_ELEMENT_TYPES: Final = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "float16": 10}
_IR_VERSION: Final = 8
_MICROSOFT: Final = "com.microsoft"
"""The domain of onnxruntime's fused operators."""
_OPSETS: Final = {"": 17, _MICROSOFT: 1}

_VARINT: Final = 0
_LENGTH: Final = 2
_FIXED: Final = {1: 8, 5: 4}
"""Wire types: how the value of a field is stored."""
_GRAPH: Final = 7
_NODE: Final = 1
_INITIALIZER: Final = 5


INPUT: Final = "ids"
OUTPUT: Final = "vector"


@dataclass(slots=True)
class GraphBuilder:
    """A graph that turns the token ids of one text into its vector. Each method adds a part and returns its name."""

    nodes: list[bytes] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)

    def constant(self, name: str, values: "npt.NDArray[np.generic]") -> str:
        """A constant of the graph."""
        self.constants.append(onnx_tensor(name, np.ascontiguousarray(values)))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: int | float | tuple[int, ...]) -> str:
        """An operation of the ONNX standard."""
        self.nodes.append(onnx_node(operator, inputs, [output], attributes=attributes))
        return output

    def fused(self, operator: str, inputs: list[str], output: str, **attributes: int | float) -> str:
        """An operation of onnxruntime's own."""
        self.nodes.append(onnx_node(operator, inputs, [output], fused=True, attributes=attributes))
        return output

    def file(self, *, dim: int) -> bytes:
        """The whole ONNX file; its output is called `vector` and has `dim` numbers."""
        return onnx_model(
            nodes=self.nodes,
            tensors=self.constants,
            inputs=[onnx_port(INPUT, "int32", ["texts", "tokens"])],
            outputs=[onnx_port(OUTPUT, "float32", ["texts", dim])],
        )


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


def message_fields(message: "Bytes") -> Iterator[tuple[int, "int | Bytes"]]:
    """The fields of a protobuf message, each with its number. Raises ValueError if the message is damaged."""
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            value, at = _read_varint(message, at)
            yield number, value
            continue
        if wire_type == _LENGTH:
            size, at = _read_varint(message, at)
        elif wire_type in _FIXED:
            size = _FIXED[wire_type]
        else:
            raise ValueError(f"no such wire type: {wire_type}")
        if at + size > len(message):
            raise ValueError("the message ends in the middle of a field")
        yield number, message[at : at + size]
        at += size


def read_weights(file: "Bytes") -> "Tensors":
    """The weights in the ONNX file of a BERT model, by the names that its training program gave them.

    A matrix that the exporter transposed and renamed gets its name from the product that uses it. Raises ValueError.
    """
    (graph,) = (value for number, value in message_fields(file) if number == _GRAPH and not isinstance(value, int))
    matrices: dict[str, Matrix] = {}
    names: dict[str, str] = {}
    for number, value in message_fields(graph):
        if isinstance(value, int):
            continue
        if number == _INITIALIZER:
            name, matrix = _read_tensor(value)
            if matrix is not None:
                matrices[name] = matrix
        elif number == _NODE:
            names.update(_renamed_matrix(value))
    return {names.get(name, name): each.T if name in names else each for name, each in matrices.items()}


def _read_tensor(message: "Bytes") -> "tuple[str, Matrix | None]":
    """A tensor's name and its numbers; None if they are not 32-bit floats stored as bytes."""
    shape, kind, name, raw = [], 0, "", None
    for number, value in message_fields(message):
        if number == 1 and isinstance(value, int):
            shape.append(value)
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 8 and not isinstance(value, int):
            name = bytes(value).decode()
        elif number == 9 and not isinstance(value, int):
            raw = value
    if kind != _ELEMENT_TYPES["float32"] or raw is None:
        return name, None
    return name, np.frombuffer(raw, "<f4").reshape(shape)


def _renamed_matrix(message: "Bytes") -> dict[str, str]:
    """For a matrix product in which the exporter renamed the matrix: the name there, and the name in training."""
    texts: dict[int, list[str]] = {}
    for number, value in message_fields(message):
        if number in (1, 3, 4) and not isinstance(value, int):
            texts.setdefault(number, []).append(bytes(value).decode())
    inputs, (name, *_), (operator, *_) = texts.get(1, []), texts.get(3, [""]), texts.get(4, [""])
    if operator != "MatMul" or not inputs[1].startswith("onnx::"):
        return {}
    return {inputs[1]: name.strip("/").replace("/", ".").removesuffix(".MatMul") + ".weight"}


def _read_varint(message: "Bytes", at: int) -> tuple[int, int]:
    """The number at that place, and the place after it."""
    value = shift = 0
    while at < len(message):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("the message ends in the middle of a number")
