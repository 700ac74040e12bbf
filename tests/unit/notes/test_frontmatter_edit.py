"""One key set or removed, and nothing else changed."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from commonplace.errors import Refused, UsageError
from commonplace.notes import parse, remove_key, set_key

NOTE = """\
---
# at the top
title:   "Hi"   # keep me
"odd key" : 01234
tags:
- a
- 'b c'

# about x
x: [1, "two", yes]
old: |
  one
  two

empty:
m:
    a: 1
    b: [p]
last: end # the end
---
# Body
---
not: this
"""


def changed(key: str, value: object, note: str = NOTE) -> tuple[str, str]:
    """The lines that went and the lines that came."""
    raw = note.encode()
    new = set_key(raw, key, value, path="a.md").decode()
    assert new.replace("\n", "\r\n").encode() == set_key(note.replace("\n", "\r\n").encode(), key, value, path="a.md")
    return difference(note, new)


def difference(old: str, new: str) -> tuple[str, str]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return "".join(before[start : len(before) - end]), "".join(after[start : len(after) - end])


@pytest.mark.parametrize(
    ("key", "value", "gone", "came"),
    [
        ("title", "yes", 'title:   "Hi"   # keep me\n', 'title:   "yes"   # keep me\n'),
        ("title", None, 'title:   "Hi"   # keep me\n', "title:   # keep me\n"),
        ("title", "a\nb", 'title:   "Hi"   # keep me\n', 'title:   "a\\nb"   # keep me\n'),
        ("title", ["x"], 'title:   "Hi"   # keep me\n', "title:   # keep me\n  - x\n"),
        ("title", 7, 'title:   "Hi"   # keep me\n', "title:   7   # keep me\n"),
        ("odd key", "01235", '"odd key" : 01234\n', "\"odd key\" : '01235'\n"),
        ("tags", ["a", "b c", "c", "01"], "", "- c\n- '01'\n"),
        ("tags", ["b c"], "- a\n", ""),
        ("tags", "one", "tags:\n- a\n- 'b c'\n", "tags: one\n"),
        ("tags", "one\ntwo", "tags:\n- a\n- 'b c'\n", "tags: |-\n  one\n  two\n"),
        ("tags", [], "tags:\n- a\n- 'b c'\n", "tags: []\n"),
        ("x", [1, "two", "yes", "no", None], 'x: [1, "two", yes]\n', "x: [1, \"two\", yes, 'no', null]\n"),
        ("old", "q", "old: |\n  one\n  two\n", "old: q\n"),
        ("old", "one\nthree\n", "  two\n", "  three\n"),
        ("empty", 3, "empty:\n", "empty: 3\n"),
        ("empty", ["a"], "", "  - a\n"),
        ("m", {"a": 1, "b": ["p", "q"], "c": {"d": 1}}, "    b: [p]\n", "    b: [p, q]\n    c: {d: 1}\n"),
        ("last", 2.5, "last: end # the end\n", "last: 2.5 # the end\n"),
        ("new", "text", "", "new: text\n"),
        ("new", {"a": [1, None]}, "", "new: {a: [1, null]}\n"),
        ("new", [{"a": 1}, ["b"]], "", "new:\n  - {a: 1}\n  - [b]\n"),
        ("new: key", True, "", "'new: key': true\n"),
    ],
)
def test_setting_a_key_changes_its_own_lines_alone(key: str, value: object, gone: str, came: str) -> None:
    """Comments, quotes, spacing, list style and indentation stay; the line ends are the note's own."""
    assert changed(key, value) == (gone, came)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("yes", "'yes'"),
        ("01234", "'01234'"),
        ("12:30:00", "'12:30:00'"),
        ("12e45", "'12e45'"),
        ("", "''"),
        ("null", "'null'"),
        ("2026-03-01", "2026-03-01"),
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1, 9, 12, 44, tzinfo=UTC), "2026-03-01T09:12:44Z"),
        (datetime(2026, 3, 1, 9, 12, tzinfo=timezone(timedelta(hours=2))), "2026-03-01T07:12:00Z"),
        ("[[Link]]", "'[[Link]]'"),
        ("a: b", "'a: b'"),
        ("x # y", "'x # y'"),
        ("grüße 🚀", "grüße 🚀"),
        ("word " * 50 + "end", "word " * 50 + "end"),
        ("tab\there", '"tab\\there"'),
        ("line\u2028break", '"line\\Lbreak"'),
        (1e20, "1.0e+20"),
        (-0.5, "-0.5"),
    ],
)
def test_a_value_is_written_so_that_every_reader_reads_it(value: object, written: str) -> None:
    """Text that some YAML takes for something else is quoted; dates stay bare."""
    assert set_key(b"---\n---\n", "k", value, path="a.md").decode() == f"---\nk: {written}\n---\n"


def test_setting_the_same_value_returns_the_same_bytes() -> None:
    """However it is quoted; but 1 is not 1.0, and text is not a number."""
    raw = NOTE.encode()

    assert set_key(raw, "title", "Hi", path="a.md") == raw
    assert set_key(raw, "x", [1, "two", "yes"], path="a.md") == raw
    assert set_key(raw, "x", [1.0, "two", "yes"], path="a.md") != raw
    assert set_key(raw, "odd key", 1234, path="a.md") != raw


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("title", 'title:   "Hi"   # keep me\n'),
        ("tags", "tags:\n- a\n- 'b c'\n"),
        ("old", "old: |\n  one\n  two\n"),
        ("m", "m:\n    a: 1\n    b: [p]\n"),
        ("last", "last: end # the end\n"),
        ("absent", ""),
    ],
)
def test_removing_a_key_takes_its_lines_and_no_others(key: str, gone: str) -> None:
    """The comments and blank lines before the next key stay."""
    new = remove_key(NOTE.encode(), key, path="a.md").decode()

    assert difference(NOTE, new) == (gone, "")


def test_removing_the_last_key_leaves_an_empty_block() -> None:
    """The fences stay."""
    assert remove_key(b"---\na: 1\n---\nx", "a", path="a.md") == b"---\n---\nx"


@pytest.mark.parametrize(
    ("raw", "new"),
    [
        (b"", b"---\nk: 1\n---\n"),
        (b"text", b"---\nk: 1\n---\ntext"),
        (b"a\r\nb\n", b"---\r\nk: 1\r\n---\r\na\r\nb\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbf---\nk: 1\n---\na\n"),
        (b"---\nA rule.\n", b"---\nk: 1\n---\n---\nA rule.\n"),
        (b"---\n# c\n---", b"---\n# c\nk: 1\n---"),
        (b"---\n  a: 1\n---\n", b"---\n  a: 1\n  k: 1\n---\n"),
    ],
)
def test_a_note_without_the_key_gets_it_last(raw: bytes, new: bytes) -> None:
    """A note without frontmatter gets a block in its own line ends; removing from it does nothing."""
    assert set_key(raw, "k", 1, path="a.md") == new
    assert remove_key(raw, "k", path="a.md") == raw


@pytest.mark.parametrize(
    ("block", "key"),
    [
        ("a: [\n", "k"),
        ("a: 1\na: 2\n", "a"),
        ("a: 1\na: 2\n", "k"),
        ("{a: 1}\n", "a"),
        ("{a: 1}\n", "k"),
        ("? a\n: 1\n", "a"),
        ("a: &x 1\nb: *x\n", "a"),
        ("a: &x 1\nb: *x\n", "b"),
        ("a: [1, &x 2]\n", "a"),
        ("&x a: 1\n", "a"),
        ("&x\na: 1\n", "k"),
        ("a: 1\n...\n", "a"),
        ("%YAML 1.2\n--- {a: 1}\n", "a"),
        ("just words\n", "k"),
        ("- a\n", "k"),
        ("a:\n  - x # why\n  - y\n", "a"),
        ("a:\n  # why\n  - x\n", "a"),
        ("a: [x, # why\n  y]\n", "a"),
        ("a: | # why\n  x\n", "a"),
        ("a: 1\x85b: 2\n", "b"),
        ("a: 1\u2028b: 2\n", "a"),
    ],
)
def test_an_edit_that_could_touch_more_is_refused(block: str, key: str) -> None:
    """Broken YAML, keys given twice, braces, anchors, documents and comments in the way."""
    raw = f"---\n{block}---\nbody\n".encode()

    with pytest.raises(Refused) as refusal:
        set_key(raw, key, "new", path="Folder/a.md")

    assert (refusal.value.path, refusal.value.reason) == ("Folder/a.md", "refused")
    assert refusal.value.hint


def test_a_removal_that_would_change_another_value_is_refused() -> None:
    """Without the key between them, the blank line behind it would become part of the text block before it."""
    raw = b"---\ntext: |+\n  keep\n\na: x\n\nb: y\n---\n"

    with pytest.raises(Refused) as refusal:
        remove_key(raw, "a", path="Folder/a.md")

    assert (refusal.value.path, refusal.value.reason) == ("Folder/a.md", "refused")
    assert refusal.value.hint


@pytest.mark.parametrize("raw", [b"---\na: \xff\n---\n", b"---\na: 1\n", b"---\na: 1\n---\n\xff"])
def test_a_note_that_cannot_be_read_whole_is_refused(raw: bytes) -> None:
    """Bytes that are not UTF-8, and a frontmatter that never ends."""
    with pytest.raises(Refused):
        set_key(raw, "k", 1, path="a.md")
    with pytest.raises(Refused):
        remove_key(raw, "a", path="a.md")


def test_a_value_with_a_comment_may_be_removed_with_it() -> None:
    """The comments on a key's own lines are part of them."""
    assert remove_key(b"---\na:\n  - x # why\nb: 1\n---\n", "a", path="a.md") == b"---\nb: 1\n---\n"


@pytest.mark.parametrize("key", ["", "a\nb", "k" * 200])
def test_a_key_that_does_not_fit_on_its_line_is_refused(key: str) -> None:
    """Only simple keys are written."""
    with pytest.raises(Refused):
        set_key(NOTE.encode(), key, 1, path="a.md")


def a_loop() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        ("a",),
        b"bytes",
        float("nan"),
        float("inf"),
        {1: "a"},
        "half \ud800",
        [["deep", {"x": object()}]],
        datetime(2026, 3, 1),
        10**5000,
        a_loop(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_no_frontmatter_can_hold_is_a_usage_error(value: object) -> None:
    """Only plain values, finite numbers, and times with a zone."""
    with pytest.raises(UsageError):
        set_key(NOTE.encode(), "k", value, path="a.md")


def test_an_old_quote_is_kept_for_new_items_of_a_list() -> None:
    """A list that quotes everything goes on quoting."""
    raw = b'---\ntags: ["a", "b"]\nlist:\n    - "x"\n---\n'
    raw = set_key(raw, "tags", ["a", "b", "c"], path="a.md")
    raw = set_key(raw, "list", ["x", "y"], path="a.md")

    assert raw == b'---\ntags: ["a", "b", "c"]\nlist:\n    - "x"\n    - "y"\n---\n'
    assert parse(raw, path="a.md", mtime=0.0).tags == ("a", "b", "c")


def test_a_new_key_stands_behind_the_nearest_before_it_in_the_order() -> None:
    """The other keys and comments stay where they are; a key of no order is last."""
    order = ("title", "status", "x", "done")
    note = b"---\ntitle: A # mine\nown: 1\nx: [1]\n---\nBody\n"
    first = set_key(note, "status", "active", path="a.md", order=order)
    second = set_key(first, "done", ["b"], path="a.md", order=order)
    third = set_key(second, "other", 1, path="a.md", order=order)

    expected = "---\ntitle: A # mine\nstatus: active\nown: 1\nx: [1]\ndone: [b]\nother: 1\n---\nBody\n"
    assert third.decode() == expected
