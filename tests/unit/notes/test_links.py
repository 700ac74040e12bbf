"""Which links a note holds, and where."""

import pytest

from commonplace.model import Link
from commonplace.notes import parse

PROPERTIES = """\
# [[comment]]
up: "[[Up|the \\"top\\"]]"
list:
  - '[[It''s]]'
  - plain ![[b]]
deep: {a: ['[[c#d]]']}
long: | # [[no]]
  [[e]]
bare: [[f]]
ref: &x '[[g]]'
again: *x
"""


def links(text: str) -> tuple[Link, ...]:
    note = parse(text.encode(), path="a.md", mtime=0.0)
    for link in note.links:
        assert note.text.count("\n", 0, link.start) + 1 == link.line
    return note.links


def written(text: str) -> list[str]:
    return [text[link.start : link.end] for link in links(text)]


@pytest.mark.requirement("D-20")
@pytest.mark.parametrize(
    ("text", "target", "heading", "block", "alias"),
    [
        ("[[Note]]", "Note", None, None, None),
        ("[[ Folder/My Note ]]", "Folder/My Note", None, None, None),
        ("[[Note|shown as]]", "Note", None, None, "shown as"),
        ("[[Note#Heading]]", "Note", "Heading", None, None),
        ("[[Note#H1#H2|x]]", "Note", "H1#H2", None, "x"),
        ("[[Note#^block-1]]", "Note", None, "block-1", None),
        ("[[#Heading]]", "", "Heading", None, None),
        ("[[#^block]]", "", None, "block", None),
        (r"| a | [[Note\|shown]] |", "Note", None, None, "shown"),
        ("[[日本語#見出し]]", "日本語", "見出し", None, None),
        ("[[a.b.c]]", "a.b.c", None, None, None),
        (r"\\[[Note]]", "Note", None, None, None),
        ("*[[Note]]*", "Note", None, None, None),
    ],
)
def test_a_wikilink_gives_its_bare_target(
    text: str, target: str, heading: str | None, block: str | None, alias: str | None
) -> None:
    """Alias, heading and block are taken off the name."""
    (link,) = links(text)

    assert (link.target, link.heading, link.block, link.alias) == (target, heading, block, alias)
    assert (link.form, link.where) == ("wikilink", "body")


@pytest.mark.parametrize(
    ("text", "target", "alias"), [("![[image.png|200]]", "image.png", "200"), ("x ![[Note#H]]", "Note", None)]
)
def test_an_embed_is_told_from_a_link(text: str, target: str, alias: str | None) -> None:
    """Its place begins at the exclamation mark."""
    (link,) = links(text)

    assert (link.target, link.alias, link.form) == (target, alias, "embed")
    assert text[link.start : link.end].startswith("![[")


@pytest.mark.parametrize(
    ("text", "target", "heading", "alias"),
    [
        ("[text](Note.md)", "Note.md", None, "text"),
        ("[text](<My Note.md#A Heading>)", "My Note.md", "A Heading", "text"),
        ("[t](folder/My%20Note.md#A%20b)", "folder/My Note.md", "A b", "t"),
        ("![i](img.png)", "img.png", None, "i"),
        ('[t](Note.md "a title")', "Note.md", None, "t"),
        ("[t](a(b).md)", "a(b).md", None, "t"),
        (r"[t](a\(b.md)", "a(b.md", None, "t"),
        ("[two\nlines](Note.md)", "Note.md", None, "two\nlines"),
        ("[t](#Heading)", "", "Heading", "t"),
        ("[a [b] c](Note.md)", "Note.md", None, "a [b] c"),
        ("[`code]`](Note.md)", "Note.md", None, "`code]`"),
    ],
)
def test_a_markdown_link_to_a_file_is_a_link(text: str, target: str, heading: str | None, alias: str) -> None:
    """Its target is decoded."""
    (link,) = links(text)

    assert (link.target, link.heading, link.alias, link.form) == (target, heading, alias, "markdown")
    assert text[link.start : link.end] == text


def test_an_image_in_a_link_is_two_links() -> None:
    """The one inside and the one around it, in the order they begin."""
    assert written("[![i](img.png)](Note.md)") == ["[![i](img.png)](Note.md)", "![i](img.png)"]


@pytest.mark.parametrize(
    "text",
    [
        "[[]]",
        "[[ ]]",
        "[[|alias]]",
        "[[#]]",
        "[[two\nlines]]",
        r"\[[Note]]",
        "`[[Note]]`",
        "``a ` [[Note]] ``",
        "a `code\nspan [[Note]] goes on` b",
        "```\n[[Note]]\n```",
        "~~~ python\n[[Note]]",
        "- item\n\n  ```\n  [[Note]]\n  ```",
        "text\n\n    [[Note]]\n",
        "%% [[Note]] %%",
        "%%\n[[Note]]\n\n[[Other]]\n%%",
        "<!-- [[Note]] -->",
        "<!--\n[[Note]]\n\n[[Other]]\n-->",
        "a <!-- [[Note]] --> b",
        "$$\n[[Note]]\n$$",
        "<div>\n[[Note]]\n</div>",
        "[t](https://example.org/Note.md)",
        "[t](mailto:me@example.org)",
        "[t](//example.org)",
        "[t]()",
        r"\[t](Note.md)",
        "[t\n\nu](Note.md)",
        "`[t](Note.md)`",
    ],
)
def test_what_only_looks_like_a_link_is_not_one(text: str) -> None:
    """Code, comments, math, HTML, escapes, the web and empty brackets."""
    assert written(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "`open [[Note]]",
        "a `b` [[Note]] `c`",
        "`open\n\n[[Note]] `",
        "100 %% of [[Note]]",
        "100 %% of\n\n[[Note]] %%",
        "costs $$ \n\n [[Note]] $$",
        r"\`[[Note]]\`",
        "- item\n    - [[Note]]",
        "para\n    [[Note]]",
        "> quoted [[Note]]",
        "# Heading [[Note]]",
        "%% a %% [[Note]] %% b %%",
        "```\ncode\n```\n[[Note]]",
    ],
)
def test_a_link_beside_code_or_comments_counts(text: str) -> None:
    """An open sign hides nothing beyond its paragraph."""
    assert written(text) == ["[[Note]]"]


def test_links_in_properties_have_their_place() -> None:
    """Any text in the frontmatter may hold links, lists and nested keys too; comments and keys may not."""
    text = "\ufeff---\n" + PROPERTIES + "---\n[[h]]"
    text = text.replace("\n", "\r\n")
    found = links(text)

    assert [(link.target, link.line, link.where) for link in found] == [
        ("Up", 3, "property"),
        ("It's", 5, "property"),
        ("b", 6, "property"),
        ("c", 7, "property"),
        ("e", 9, "property"),
        ("g", 11, "property"),
        ("h", 14, "body"),
    ]
    assert found[0].alias == 'the "top"'
    assert written(text)[:3] == ['[[Up|the \\"top\\"]]', "[[It''s]]", "![[b]]"]


@pytest.mark.parametrize("odd", ["\r", "\x00", "\u2028", "\u2029", "\x0c", "\x85", "\x0b", "\x1c", "\r\r\n"])
def test_only_a_line_feed_ends_a_line(odd: str) -> None:
    """Signs that other programs take for a line's end shift no line and no offset."""
    text = f"one{odd}two\n\n# Head{odd}ing\n{odd}x [[Note]]\n"
    note = parse(text.encode(), path="a.md", mtime=0.0)
    extra = odd.count("\n")

    assert [heading.line for heading in note.headings] == [3 + extra]
    assert [(link.line, text[link.start : link.end]) for link in note.links] == [(4 + 3 * extra, "[[Note]]")]
