"""Texts become vectors: which texts of a document, and in which order their rows come."""

from pathlib import Path

import numpy as np

from commonplace.encoders.base import to_fixed_point
from commonplace.flows.encode import encode_parts
from tests.index_documents import document
from tests.stores import DEFAULT_ENCODER, make_stores


def test_a_chunk_has_a_row_for_each_part_then_for_each_sentence(tmp_path: Path) -> None:
    """A text that stands twice is encoded once."""
    talk = document("a", "soil", "rain", parts=[("soil", "title"), ("rain",)], sentences=[("rain", "sand"), ()])
    encoding = encode_parts([talk], make_stores(tmp_path, tmp_path / "data"))
    first, second = encoding.of(talk)

    assert np.array_equal(first, to_fixed_point(DEFAULT_ENCODER.encode(["soil", "title", "rain", "sand"])))
    assert np.array_equal(second, to_fixed_point(DEFAULT_ENCODER.encode(["rain"])))
    assert (encoding.encoded, encoding.reused) == (4, 0)


def test_nothing_of_a_chunk_without_parts_is_encoded(tmp_path: Path) -> None:
    """It is one that no encoder may see: its sentences are not shown to it either."""
    secret = document("a", "soil", "rain", parts=[(), ("rain",)], sentences=[("soil",), ()])
    encoding = encode_parts([secret], make_stores(tmp_path, tmp_path / "data"))

    assert [len(rows) for rows in encoding.of(secret)] == [0, 1]
    assert encoding.encoded == 1
