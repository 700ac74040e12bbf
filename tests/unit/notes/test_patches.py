"""Unified diffs, applied exactly or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.notes.note_text import apply_patch, make_patch, patch_changes

BASE = "".join(f"line {number}\n" for number in range(20))
LINES = ["a\n", "b\n", "- x\n", "--- \n", "@@ -1 +1 @@\n", "\n", "\\ No newline\n"]
TEXTS = st.lists(st.sampled_from(LINES), max_size=12)


@given(TEXTS.map("".join), TEXTS.map("".join), st.booleans())
def test_a_patch_turns_the_text_it_was_made_from_into_the_other(before: str, after: str, is_cut: bool) -> None:
    """Whatever the lines look like, with or without a line feed at the end."""
    after = after.removesuffix("\n") if is_cut else after
    patch = make_patch(before.encode(), after.encode(), path="n.md")

    assert apply_patch(before, patch, is_base=True) == after


def test_a_patch_fits_a_text_that_changed_elsewhere() -> None:
    """Lines above and below may differ; what the patch changes stands there once."""
    patch = make_patch(BASE.encode(), BASE.replace("line 9\n", "nine\n").encode(), path="n.md")
    edited = "new first line\n" + BASE.replace("line 18", "eighteen")

    assert apply_patch(edited, patch, is_base=False) == edited.replace("line 9\n", "nine\n")


def test_a_patch_that_is_applied_already_changes_nothing() -> None:
    """Its result stands there, and is recognised."""
    after = BASE.replace("line 9\n", "nine\n")
    patch = make_patch(BASE.encode(), after.encode(), path="n.md")

    assert apply_patch(f"more\n{after}", patch, is_base=False) == f"more\n{after}"


@pytest.mark.parametrize("text", [BASE.replace("line 9", "changed"), BASE + BASE, "", "other\n"])
def test_a_patch_is_never_applied_by_guessing(text: str) -> None:
    """Not where the line differs, where it stands twice, or where it is gone."""
    patch = make_patch(BASE.encode(), BASE.replace("line 9\n", "nine\n").encode(), path="n.md")

    assert apply_patch(text, patch, is_base=False) is None


def test_the_changed_lines_are_the_same_wherever_they_stand() -> None:
    """So a rejected change is known again after the note grew."""
    one = make_patch(b"x\nold\n", b"x\nnew\n", path="n.md")
    other = make_patch(b"a\nb\nold\nc\n", b"a\nb\nnew\nc\n", path="n.md")

    assert patch_changes(one) == patch_changes(other) == ("-old\n", "+new\n")
    with pytest.raises(ValueError, match="not UTF-8"):
        make_patch(b"\xff", b"x", path="n.md")
