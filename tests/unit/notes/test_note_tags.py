"""Which tags, aliases and title a note has."""

import pytest

from commonplace.notes import parse


def tags(text: str) -> tuple[str, ...]:
    return parse(text.encode(), path="a.md", mtime=0.0).tags


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#tag", ("tag",)),
        ("a #nested/tag-x_y b", ("nested/tag-x_y",)),
        ("#a #b\n#c", ("a", "b", "c")),
        ("#über #日本語 #हिन्दी #🚀", ("über", "日本語", "हिन्दी", "🚀")),
        ("#2026-03 #y2026", ("2026-03", "y2026")),
        ("#tag. #other, #third!", ("tag", "other", "third")),
        ("#One #one #ONE", ("One",)),
        ("- #tag\n> #quoted", ("tag", "quoted")),
        ("# Heading #tag", ("tag",)),
        ("#a/ x", ("a",)),
    ],
)
def test_a_tag_stands_after_a_space_or_begins_a_line(text: str, found: tuple[str, ...]) -> None:
    """Letters of every script, digits, `_`, `-` and `/`; each once, as first written."""
    assert tags(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "#123",
        "# heading",
        "##double",
        "a#b",
        "(#b)",
        r"\#tag",
        "`#tag`",
        "```\n#tag\n```",
        "%% #tag %%",
        "<!-- #tag -->",
        "https://example.org/#tag",
        "[a #tag](https://example.org)",
        "[[Note #tag]]",
        '<span style="color: #fff">x</span>',
        "#-",
    ],
)
def test_what_is_no_tag_is_none(text: str) -> None:
    """Numbers, headings, code, comments, links and HTML."""
    assert tags(text) == ()


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("tags: [a, '#b', c/d]", ("a", "b", "c/d")),
        ("tags: a, b c", ("a", "b", "c")),
        ("tag: '#one'", ("one",)),
        ("tags:\ntag: []", ()),
        ("tags: [2026, true, null, {a: b}]", ("2026",)),
    ],
)
def test_tags_stand_in_the_frontmatter_too(block: str, found: tuple[str, ...]) -> None:
    """A list, or one text cut at commas and spaces; the properties' tags come first."""
    assert tags(f"---\n{block}\n---\n#Body") == (*found, "Body")


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("aliases: [One, ' two ', One]", ("One", "two")),
        ("aliases: One name, another", ("One name", "another")),
        ("alias: Only", ("Only",)),
        ("aliases: [1, null, true]", ()),
        ("aliases:", ()),
    ],
)
def test_aliases_are_texts(block: str, found: tuple[str, ...]) -> None:
    """A list, or one text cut at commas."""
    assert parse(f"---\n{block}\n---\n".encode(), path="a.md", mtime=0.0).aliases == found


@pytest.mark.requirement("D-56")
@pytest.mark.parametrize(
    ("block", "path", "title"),
    [
        ("title: A title", "Folder/Note.md", "A title"),
        ("title: 2026", "Note.md", "2026"),
        ("title: '  '", "Folder/My note.md", "My note"),
        ("title: [x]", "a.b.md", "a.b"),
        ("title: true", "UP.MD", "UP"),
        ("other: x", ".md", ".md"),
    ],
)
def test_the_title_is_the_property_else_the_file_name(block: str, path: str, title: str) -> None:
    """Frontmatter `title`, else the stem."""
    assert parse(f"---\n{block}\n---\n# Heading\n".encode(), path=path, mtime=0.0).title == title
