"""The ONNX file format: weights are read as they were written, and a damaged file is recognised."""

from collections.abc import Callable

import numpy as np
import pytest

from commonplace.encoders.onnx_format import (
    is_intact,
    message_fields,
    onnx_model,
    onnx_node,
    onnx_port,
    onnx_tensor,
    read_weights,
)


def graph() -> bytes:
    """A small graph: the input times two thousand numbers."""
    return onnx_model(
        nodes=[onnx_node("Mul", ["ids", "factor"], ["vector"], attributes={"alpha": 0.5, "axes": (1, -1), "p": 2})],
        tensors=[onnx_tensor("factor", np.arange(2000, dtype=np.float32))],
        inputs=[onnx_port("ids", "float32", ["tokens"])],
        outputs=[onnx_port("vector", "float32", ["tokens"])],
    )


def test_a_file_as_written_is_intact() -> None:
    """And written twice it is the same, byte for byte."""
    assert is_intact(graph())
    assert graph() == graph()


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: b"not a graph" * 99,
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:20] + bytes(5) + whole[25:],
        lambda whole: whole[:4000] + bytes(64) + whole[4064:],
        lambda whole: whole + b"x",
    ],
)
def test_a_damaged_file_is_not(damage: Callable[[bytes], bytes]) -> None:
    """Empty, garbled, truncated, changed in its nodes or its weights, or longer."""
    assert not is_intact(damage(graph()))


def exported() -> bytes:
    """What another program exported: a bias by its own name, and a matrix that was renamed and transposed."""
    return onnx_model(
        nodes=[onnx_node("MatMul", ["ids", "onnx::MatMul_7"], ["/encoder/layer.0/dense/MatMul"])],
        tensors=[
            onnx_tensor("encoder.layer.0.dense.bias", np.array([1, 2], np.float32)),
            onnx_tensor("onnx::MatMul_7", np.array([[1, 2, 3], [4, 5, 6]], np.float32)),
            onnx_tensor("shape", np.array([1, 2], np.int64)),
        ],
        inputs=[onnx_port("ids", "float32", ["tokens"])],
        outputs=[onnx_port("vector", "float32", ["tokens"])],
    )


def test_weights_have_the_names_of_the_training_program() -> None:
    """A product says which matrix it uses; what is not a matrix of floats is left out."""
    weights = read_weights(memoryview(exported()))

    assert {name: matrix.tolist() for name, matrix in weights.items()} == {
        "encoder.layer.0.dense.bias": [1, 2],
        "encoder.layer.0.dense.weight": [[1, 4], [2, 5], [3, 6]],
    }


@pytest.mark.parametrize("damaged", [b"\x0b", b"\x0a\x05ab", b"\x08\xff", b"\x15ab"])
def test_a_damaged_message_is_an_error(damaged: bytes) -> None:
    """An unknown wire type, and texts and numbers that end too early: never a half message."""
    with pytest.raises(ValueError, match=r"wire type|ends in the middle"):
        list(message_fields(damaged))


def test_the_fields_of_a_message_come_in_order() -> None:
    """Numbers of any length, texts, and fixed numbers of four and eight bytes."""
    message = b"\x08\xac\x02\x12\x02ab\x1d1234\x2112345678"

    assert list(message_fields(message)) == [(1, 300), (2, b"ab"), (3, b"1234"), (4, b"12345678")]
