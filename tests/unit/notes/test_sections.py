"""A note's headings and sections."""

import pytest

from commonplace.model import Note
from commonplace.notes import parse, section_named, sections

TEXT = """\
---
title: x
---
before

# One #
text

## Deep  `code`
deeper

Two
===

- # not one

```
# nor this
```

## Deep
last"""


def note_of(text: str) -> Note:
    return parse(text.encode(), path="a.md", mtime=0.0)


def test_headings_have_their_text_level_and_line() -> None:
    """ATX and setext, without closing signs; none in code or in a list."""
    found = [(heading.text, heading.level, heading.line) for heading in note_of(TEXT).headings]

    assert found == [("One", 1, 6), ("Deep `code`", 2, 9), ("Two", 1, 12), ("Deep", 2, 21)]


def test_a_section_goes_to_the_next_heading_of_its_level() -> None:
    """Each has its path, its lines and its text."""
    found = sections(note_of(TEXT))

    assert [(section.path, section.line, section.end_line) for section in found] == [
        (("One",), 6, 12),
        (("One", "Deep `code`"), 9, 12),
        (("Two",), 12, 23),
        (("Two", "Deep"), 21, 23),
    ]
    assert found[0].text == "# One #\ntext\n\n## Deep  `code`\ndeeper\n\n"
    assert found[3].text == "## Deep\nlast"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("one", 6),
        ("DEEP", 21),
        ("Two > Deep", 21),
        ("two#deep", 21),
        ("#Two#Deep", 21),
        ("## Deep", 21),
        ("One > Deep `code`", 9),
        ("One > Deep", None),
        ("missing", None),
        ("", None),
    ],
)
def test_a_section_is_found_by_its_heading_or_its_path(name: str, line: int | None) -> None:
    """Whatever the case."""
    section = section_named(note_of(TEXT), name)

    assert (section.line if section else None) == line


def test_a_heading_with_signs_of_a_path_is_found_by_its_text() -> None:
    """`C# > Java` is first a heading of its own."""
    section = section_named(note_of("# C# > Java\n"), "c# > java")

    assert section is not None


@pytest.mark.parametrize(
    "text", ["%%\n# hidden\n%%\n", "$$\na\n=\nb\n$$\n", "<!--\n# hidden\n-->\n", "#tag\n", "    # code\n"]
)
def test_what_only_looks_like_a_heading_is_not_one(text: str) -> None:
    """Comments, math, tags and code."""
    assert note_of(text).headings == ()


def test_a_note_that_ends_in_a_line_feed_ends_its_sections_there() -> None:
    """The line past the end is the number of lines plus one, with or without the last line feed."""
    assert [sections(note_of(text))[0].end_line for text in ("# A\nb\n", "# A\nb")] == [3, 3]
