"""The few parts of the ONNX file format that a graph of ours needs, written without a library.

An ONNX file is one protobuf message. A field is its number and wire type in one varint, then its value: a varint, four
bytes, or a length and that many bytes. The numbers below are those of the format's `onnx.proto`.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_ELEMENT_TYPES: Final = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "float16": 10}
_IR_VERSION: Final = 8
_MICROSOFT: Final = "com.microsoft"
"""The domain of onnxruntime's fused operators."""
_OPSETS: Final = {"": 17, _MICROSOFT: 1}


def node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    fused: bool = False,
    attributes: Mapping[str, int | float | Sequence[int]] | None = None,
) -> bytes:
    """One step of a graph; an input named "" is left out. A `fused` operator is one of onnxruntime's own."""
    parts = [_text(1, name) for name in inputs] + [_text(2, name) for name in outputs]
    parts += [_text(3, outputs[0]), _text(4, operator)]
    parts += [_bytes(5, _attribute(name, value)) for name, value in (attributes or {}).items()]
    return b"".join(parts) + (_text(7, _MICROSOFT) if fused else b"")


def tensor(name: str, values: "npt.NDArray[np.generic]") -> bytes:
    """A constant of the graph."""
    dims = b"".join(_varint(1, length) for length in values.shape)
    kind = _varint(2, _ELEMENT_TYPES[values.dtype.name])
    return dims + kind + _text(8, name) + _bytes(9, values.tobytes())


def port(name: str, element: str, shape: Sequence[int | str]) -> bytes:
    """An input or output of the graph; a length that is a word may be any."""
    dims = [_varint(1, length) if isinstance(length, int) else _text(2, length) for length in shape]
    typed = _varint(1, _ELEMENT_TYPES[element]) + _bytes(2, b"".join(_bytes(1, dim) for dim in dims))
    return _text(1, name) + _bytes(2, _bytes(1, typed))


def model(
    *, nodes: Sequence[bytes], tensors: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes]
) -> bytes:
    """The whole file. Its last field, a remark that no program heeds, is a checksum of all that is before it."""
    parts = [_bytes(1, each) for each in nodes] + [_text(2, "commonplace")]
    parts += [_bytes(5, each) for each in tensors]
    parts += [_bytes(11, each) for each in inputs] + [_bytes(12, each) for each in outputs]
    opsets = [_bytes(8, _text(1, domain) + _varint(2, version)) for domain, version in _OPSETS.items()]
    whole = _varint(1, _IR_VERSION) + _text(2, "commonplace") + _bytes(7, b"".join(parts)) + b"".join(opsets)
    return whole + _seal(whole)


def is_sound(file: bytes) -> bool:
    """Whether the file is as `model` made it. One that was damaged may still load, and give other numbers."""
    size = len(_seal(b""))
    return file[-size:] == _seal(memoryview(file)[:-size])


def _seal(content: bytes | memoryview) -> bytes:
    return _text(6, f"{zlib.crc32(content):08x}")


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _varint(3, value) + _varint(20, 2)
    if isinstance(value, float):
        return _text(1, name) + _tag(2, 5) + struct.pack("<f", value) + _varint(20, 1)
    return _text(1, name) + b"".join(_varint(8, each) for each in value) + _varint(20, 7)


def _varint(field: int, value: int) -> bytes:
    return _tag(field, 0) + _plain_varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _tag(field, 2) + _plain_varint(len(value)) + value


def _tag(field: int, wire_type: int) -> bytes:
    return _plain_varint(field << 3 | wire_type)


def _plain_varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # a negative number is its two's complement, as the format has it
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
