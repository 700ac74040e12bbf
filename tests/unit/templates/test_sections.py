"""Sections of a note that a template wrote: which are still ours, and how a new rendering is merged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.templates.sections import marks_of, merge_sections, read_marks, split_sections

NOTE = "# Day\n\n## Done\n- one\n\n## Open\n- two\n\n## Notes\n\n"
NEW = "# Day\n\n## Done\n- one\n- more\n\n## Decided\n- yes\n\n## Open\n- three\n\n## Notes\n\n"
MARKS = read_marks(list(marks_of(NOTE, {"type": "day"})))


def names(text: str) -> list[str]:
    """The headings of the sections."""
    return [each.name for each in split_sections(text)]


@given(st.text(alphabet="a#\n `~ ", max_size=80))
def test_the_sections_joined_are_the_text(text: str) -> None:
    """Splitting loses nothing, and no two sections have one name."""
    sections = split_sections(text)

    assert "".join(each.text for each in sections) == text
    assert len({each.name for each in sections}) == len(sections)


def test_a_heading_in_a_fence_begins_no_section() -> None:
    """Code is not structure."""
    assert names("## A\n```\n## not this\n```\n## B\n") == ["(start)", "A", "B"]


def test_blanks_at_line_ends_are_no_change() -> None:
    """Editors trim them: such a section is still ours, and is replaced."""
    trimmed = NOTE.replace("- one", "- one  ").replace("\n\n## Open", "\n\n\n## Open")
    merged = merge_sections(trimmed, NEW, MARKS)

    assert merged.text == NEW
    assert merged.changed == ()


def test_sections_that_nobody_touched_are_replaced() -> None:
    """All of them, and a new one comes to its place."""
    merged = merge_sections(NOTE, NEW, MARKS)

    assert merged.text == NEW
    assert merged.changed == ()
    assert read_marks(list(merged.marks)) == {
        name: mark for name, mark in read_marks(list(marks_of(NEW, {}))).items() if name != "(frontmatter)"
    }


@pytest.mark.requirement("D-123")
def test_an_edited_section_stays_and_is_named() -> None:
    """The rest is replaced; the proposal has the new text of the edited one, too."""
    edited = NOTE.replace("- two", "- two, says Ada")
    merged = merge_sections(edited, NEW, MARKS)

    assert merged.changed == ("Open",)
    assert "- two, says Ada" in merged.text
    assert "- more" in merged.text
    assert "- three" not in merged.text
    assert "- three" in merged.proposed


def test_a_section_of_the_persons_own_stays_where_it_is() -> None:
    """It is in no rendering."""
    edited = NOTE.replace("## Open", "## Mine\nmy words\n\n## Open")

    assert names(merge_sections(edited, NEW, MARKS).text) == ["(start)", "Done", "Decided", "Mine", "Open", "Notes"]


def test_a_section_that_the_person_removed_stays_away_for_good() -> None:
    """Also in the rendering after the next one."""
    edited = NOTE.replace("## Open\n- two\n\n", "")
    once = merge_sections(edited, NEW, MARKS)
    twice = merge_sections(once.text, NEW.replace("three", "four"), read_marks(list(once.marks)))

    assert "Open" not in names(once.text)
    assert "Open" not in names(twice.text)


def test_a_section_that_the_template_no_longer_has_goes_if_it_is_ours() -> None:
    """An edited one stays."""
    short = "# Day\n\n## Done\n- one\n"

    assert names(merge_sections(NOTE, short, MARKS).text) == ["(start)", "Done"]
    assert names(merge_sections(NOTE.replace("two", "mine"), short, MARKS).text) == ["(start)", "Done", "Open"]


def test_an_edit_that_says_what_the_source_says_now_is_no_conflict() -> None:
    """Both changed it to the same text."""
    assert merge_sections(NOTE.replace("- two", "- three"), NEW, MARKS).changed == ()
