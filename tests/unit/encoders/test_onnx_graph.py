"""The ONNX file format: a file that was damaged is recognised by its checksum."""

from collections.abc import Callable

import numpy as np
import pytest

from commonplace.encoders.onnx_graph import is_intact, onnx_model, onnx_node, onnx_port, onnx_tensor


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
