"""The model as an ONNX graph, made from its weights: BERT with six layers, the mean over its tokens, length 1.

A text runs alone and unpadded, so that the graph has one input, the token numbers, and needs no attention mask.

Variants:
- fp32  the weights as they are.
- int8  matrix products of whole numbers, scaled by each text's own range: about twice as quick. Weights are scaled by
        column, to 7 bits: processors without VNNI add two products of bytes in 16 bits, which 8 bits would overflow.

A graph that gives other numbers gets another variant name, because the name is part of every vector's version.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from commonplace.encoders import onnx_format

if TYPE_CHECKING:
    import numpy.typing as npt

    from commonplace.encoders.safetensors import Tensors

    Matrix = npt.NDArray[np.float32]

Variant = Literal["int8", "fp32"]
VARIANTS: Final[tuple[Variant, ...]] = get_args(Variant)

INPUT: Final = "ids"
OUTPUT: Final = "vector"
DIM: Final = 384
LONGEST: Final = 512
"""The model has no more positions than these."""

_LAYERS: Final = 6
_HEADS: Final = 12
_EPSILON: Final = 1e-12
_LARGEST_WEIGHT: Final = 63
_LOUD: Final = {0: (856,), 1: (607,), 2: (218, 1004), 3: (358,), 4: (1321,)}
"""Inner channels of a layer that reach 8 to 25 where the others stay below 6: they would eat the range of a byte.

Seen with ten sentences in several languages; the weights are pinned, so that these stay the ones."""
_DAMPED: Final = 6.0
"""What a loud channel is divided by before it is rounded; its weights are multiplied by the same."""


def build_graph(tensors: "Tensors", *, variant: Variant) -> bytes:
    """The ONNX file that turns the token numbers of one text into its vector."""
    plan = _Plan(tensors, variant)
    stream = _embed(plan)
    for layer in range(_LAYERS):
        stream = _feed(plan, layer, _attend(plan, layer, stream))
    plan.step("ReduceMean", [stream], "mean", axes=(1,), keepdims=0)
    plan.step("LpNormalization", ["mean"], OUTPUT, axis=1, p=2)
    return onnx_format.model(
        nodes=plan.nodes,
        tensors=plan.constants,
        inputs=[onnx_format.port(INPUT, "int32", ["texts", "tokens"])],
        outputs=[onnx_format.port(OUTPUT, "float32", ["texts", DIM])],
    )


@dataclass(slots=True)
class _Plan:
    """The graph so far. Each method adds something to it and gives the name to refer to it by."""

    tensors: "Tensors"
    variant: Variant
    nodes: list[bytes] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)

    def constant(self, name: str, values: "npt.NDArray[np.generic]") -> str:
        self.constants.append(onnx_format.tensor(name, np.ascontiguousarray(values)))
        return name

    def weights(self, name: str) -> str:
        """A tensor of the model as it is."""
        return self.constant(name, self.tensors[name])

    def step(self, operator: str, inputs: list[str], output: str, **attributes: int | float | tuple[int, ...]) -> str:
        self.nodes.append(onnx_format.node(operator, inputs, [output], attributes=attributes))
        return output

    def fused(self, operator: str, inputs: list[str], output: str, **attributes: int | float) -> str:
        self.nodes.append(onnx_format.node(operator, inputs, [output], fused=True, attributes=attributes))
        return output

    def product(self, stream: str, matrix: "Matrix", output: str) -> str:
        """The stream times a matrix."""
        if self.variant == "fp32":
            return self.step("MatMul", [stream, self.constant(f"{output}.matrix", matrix)], output)
        scale = (np.abs(matrix).max(axis=0) / _LARGEST_WEIGHT).astype(np.float32)
        whole = np.rint(matrix / scale).astype(np.int8)
        inputs = [stream, self.constant(f"{output}.matrix", whole), self.constant(f"{output}.scale", scale)]
        return self.fused("DynamicQuantizeMatMul", inputs, output)


def _embed(plan: _Plan) -> str:
    """Each token's own vector plus that of its place. Every token is of the first type: it is added to the places."""
    words = plan.tensors["embeddings.word_embeddings.weight"]
    places = plan.tensors["embeddings.position_embeddings.weight"]
    first_type = plan.tensors["embeddings.token_type_embeddings.weight"][0]
    plan.constant("words", words.astype(np.float16) if plan.variant == "int8" else words)  # half the file to load
    plan.step("Gather", ["words", INPUT], "stored")
    plan.step("Cast", ["stored"], "token", to=1)
    plan.step("Shape", [INPUT], "length", start=1)
    plan.constant("zero", np.zeros(1, np.int64))
    plan.step("Slice", [plan.constant("places", places + first_type), "zero", "length"], "place")
    plan.step("Add", ["token", "place"], "placed")
    norm = "embeddings.LayerNorm"
    inputs = ["placed", plan.weights(f"{norm}.weight"), plan.weights(f"{norm}.bias")]
    return plan.step("LayerNormalization", inputs, "embedded", axis=-1, epsilon=_EPSILON)


def _attend(plan: _Plan, layer: int, stream: str) -> str:
    """Each token looks at all the others."""
    name = f"encoder.layer.{layer}.attention"
    views = []
    for part in ("query", "key", "value"):
        seen = plan.product(stream, plan.tensors[f"{name}.self.{part}.weight"].T, f"{part}.{layer}")
        views.append(plan.step("Add", [seen, plan.weights(f"{name}.self.{part}.bias")], f"{part}.{layer}.sum"))
    mixed = plan.fused("MultiHeadAttention", views, f"mixed.{layer}", num_heads=_HEADS)
    out = plan.product(mixed, plan.tensors[f"{name}.output.dense.weight"].T, f"attended.{layer}")
    return _rejoin(plan, out, stream, f"{name}.output")


def _feed(plan: _Plan, layer: int, stream: str) -> str:
    """Each token by itself, through 1536 inner channels."""
    name = f"encoder.layer.{layer}"
    wide = plan.product(stream, plan.tensors[f"{name}.intermediate.dense.weight"].T, f"wide.{layer}")
    inner = plan.fused("BiasGelu", [wide, plan.weights(f"{name}.intermediate.dense.bias")], f"inner.{layer}")
    matrix = plan.tensors[f"{name}.output.dense.weight"].T
    if plan.variant == "int8" and layer in _LOUD:
        damping = np.ones(len(matrix), np.float32)
        damping[list(_LOUD[layer])] = _DAMPED
        inner = plan.step("Mul", [inner, plan.constant(f"damping.{layer}", 1 / damping)], f"damped.{layer}")
        matrix = matrix * damping[:, None]
    return _rejoin(plan, plan.product(inner, matrix, f"narrow.{layer}"), stream, f"{name}.output")


def _rejoin(plan: _Plan, branch: str, stream: str, name: str) -> str:
    """The branch added to the stream that it left, and both brought to one scale."""
    parts = [plan.weights(f"{name}.{part}") for part in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
    return plan.fused("SkipLayerNormalization", [branch, stream, *parts], f"{name}.joined", epsilon=_EPSILON)
