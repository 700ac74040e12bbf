"""The items of an array come one at a time and whole, wherever the bytes are cut, and damage costs only itself."""

import io
import json
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.sources.imports.json_stream import ArrayItem, Outline, array_items, outline

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(alphabet='ab"\\{}[]\n:,é漢\U0001f600'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
ITEMS = st.lists(st.lists(VALUES, max_size=3) | st.dictionaries(st.text(max_size=4), VALUES, max_size=3), max_size=5)


class SlowStream(io.BytesIO):
    """A stream that gives a few bytes at a time, whatever is asked for."""

    def __init__(self, content: bytes, step: int) -> None:
        super().__init__(content)
        self._step = step

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._step)


class RepeatingStream:
    """An array with one item again and again, which is not in memory."""

    def __init__(self, item: bytes, count: int) -> None:
        self._parts = iter([b"[", *[b"".join((item, b","))] * (count - 1), item, b"]"])
        self.size = 0

    def read(self, size: int) -> bytes:
        """The next part, whatever its size."""
        part = next(self._parts, b"")
        self.size += len(part)
        return part


@given(ITEMS, st.integers(1, 7), st.booleans(), st.booleans())
def test_the_items_are_those_of_the_array(items: list[Any], step: int, is_ascii: bool, is_wrapped: bool) -> None:
    content = json.dumps(items, ensure_ascii=is_ascii, indent=1 if step % 2 else None).encode()
    if is_wrapped:
        content = b'{"version": 1, "conversations" : ' + content + b', "more": []}'
    read = [*array_items(SlowStream(content, step), key="conversations")]

    assert [item.value for item in read] == items
    assert [item.number for item in read] == [*range(1, len(items) + 1)]
    assert not any(item.problem for item in read)


@given(ITEMS.filter(bool), st.data())
def test_of_a_file_that_is_cut_off_everything_before_the_cut_is_read(items: list[Any], data: st.DataObject) -> None:
    content = json.dumps(items).encode()
    cut = data.draw(st.integers(1, len(content) - 1))
    read = [*array_items(io.BytesIO(content[:cut]))]
    whole = [item.value for item in read if not item.problem]

    assert whole == items[: len(whole)]
    assert read[-1].problem.startswith("the file ends in the middle")


def test_an_item_that_is_not_valid_or_too_large_is_a_problem_and_the_next_one_is_read() -> None:
    content = b'[{"a": 1}, {"a": tru}, {"a": "' + b"x" * 5000 + b'"}, {"a": "\xff"}, {"a": 2}]'
    items = [*array_items(io.BytesIO(content), most=1000)]

    assert [item.value for item in items if not item.problem] == [{"a": 1}, {"a": 2}]
    assert [item.problem for item in items if item.problem] == [
        "not valid JSON: expecting value",
        "it is larger than 0 MB",
        "not UTF-8 text",
    ]


def test_endless_nesting_is_a_problem_and_no_crash() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    items = [*array_items(io.BytesIO(b"[" + deep + b', {"a": 1}]'))]

    assert items == [ArrayItem(1, problem="nested too deeply, or a number is too long"), ArrayItem(2, {"a": 1})]


@pytest.mark.parametrize("content", [b"", b"   ", b"{}", b'{"conversations": 3}', b'"text"', b"User: hello"])
def test_where_there_is_no_array_there_are_no_items(content: bytes) -> None:
    assert [*array_items(io.BytesIO(content), key="conversations")] == []


def test_memory_does_not_grow_with_the_file() -> None:
    """An array of 40 MB is read with the memory of its items."""
    item = json.dumps({"mapping": {str(number): "word " * 400 for number in range(100)}}).encode()
    stream = RepeatingStream(item, 200)
    tracemalloc.start()
    try:
        count = sum(1 for _ in array_items(stream))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert (count, stream.size > 40_000_000) == (200, True)
    assert peak < 4_000_000


def test_time_grows_with_the_size_and_not_faster() -> None:
    """Four times the bytes take about four times as long; a scan from the start of every item would take sixteen."""

    def seconds(count: int) -> float:
        item = json.dumps({"mapping": {str(number): {"text": "word " * 40, "n": [1, {}]} for number in range(40)}})
        content = ("[" + ",".join([item] * count) + "]").encode()
        start = time.process_time()
        assert sum(1 for _ in array_items(io.BytesIO(content))) == count
        return time.process_time() - start

    assert min(seconds(400) for _ in range(3)) < 10 * min(seconds(100) for _ in range(3))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'\xef\xbb\xbf [ {"a": {"b": 1}, "c": [{"d": 2}]}, {"e": 1}]', Outline(True, True, "", frozenset("ac"))),
        (b'{"a": "b", "threads": [{"x": 1, "y": 2}]}', Outline(True, False, "threads", frozenset("xy"))),
        (b'{"a": {"threads": 1}, "b": 2}', Outline(True, False, "", frozenset("ab"))),
        (b'{"a": "cut off in the midd', Outline(True, False, "", frozenset("a"))),
        (b"[1, 2]", Outline(True, True, "", frozenset())),
        (b"# A note", Outline()),
    ],
)
def test_the_outline_has_the_keys_of_the_first_object(content: bytes, expected: Outline) -> None:
    assert outline(io.BytesIO(content), lists=("threads",)) == expected
