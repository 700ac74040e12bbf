"""Links that follow a moved note: only the target is rewritten, or the note is left alone."""

import pytest

from commonplace.notes import LinkResolver, parse
from commonplace.notes.link_resolver import NoteMove, rewrite_links

SOURCE = "Inbox/T (1).md"
OTHERS = ("Projects/n.md", "Projects/other.md", "Inbox/other.md")


def follow(text: str, *, to: str = "Archive/New.md", source: str = SOURCE, at: str = "Projects/n.md") -> str | None:
    """What the note says after the move; None where it is left, the same where nothing had to change."""
    before, after = (LinkResolver.of([path, *OTHERS]) for path in (source, to))
    done = rewrite_links(parse(text.encode(), path=at, mtime=0.0), NoteMove(source, to, before, after))
    if done is None:
        return text
    return None if done.content is None else done.content.decode()


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ('[t](../Inbox/T%20(1).md "my title")', '[t](../Archive/New.md "my title")'),
        ("[t](../Inbox/T%20%281%29.md 'x (y)')", "[t](../Archive/New.md 'x (y)')"),
        ("[x](../Inbox/T%20(1).md)", "[x](../Archive/New.md)"),
        ('[y](<../Inbox/T (1).md> "tt")', '[y](<../Archive/New.md> "tt")'),
        ("![y]( <../Inbox/T (1).md#A b> )", "![y]( <../Archive/New.md#A b> )"),
        ("[y](../Inbox/T%20(1).md#A%20b (title))", "[y](../Archive/New.md#A%20b (title))"),
        ("[y](../Inbox/T%20(1).md#^block)", "[y](../Archive/New.md#^block)"),
        ("[a](b.md) [](../Inbox/T%20(1).md)", "[a](b.md) [](../Archive/New.md)"),
        (
            "[![i](../Inbox/T%20(1).md)](../Inbox/T%20(1).md)",
            "[![i](../Archive/New.md)](../Archive/New.md)",
        ),
        ("[[T (1)]]", "[[New]]"),
        ("![[ Inbox/T (1).md # Head | alias ]]", "![[ New # Head | alias ]]"),
        ("| [[T (1)\\|a]] |\n|---|\n", "| [[New\\|a]] |\n|---|\n"),
        ("[[T (1)#^b]] `[[T (1)]]`", "[[New#^b]] `[[T (1)]]`"),
        ('---\na: "see [[T (1)|x]]" # c\n---\n', '---\na: "see [[New|x]]" # c\n---\n'),
        ("\ufeff[[T (1)]]\r\n", "\ufeff[[New]]\r\n"),
    ],
)
def test_only_the_target_is_written_anew(text: str, then: str) -> None:
    """Titles, aliases, headings, blocks, spaces and brackets stay as they are."""
    assert follow(text) == then


@pytest.mark.parametrize(
    ("name", "bare", "angled"),
    [
        ("a (b)", "a%20(b)", "a (b)"),
        ("a (b", "a%20%28b", "a (b"),
        ("a ((b))", "a%20%28%28b%29%29", "a ((b))"),
        ("50% #1?", "50%25%20%231%3F", "50%25 %231%3F"),
        ("a<b>", "a%3Cb%3E", "a%3Cb%3E"),
        ("a%20b", "a%2520b", "a%2520b"),
        ("Käse", "Käse", "Käse"),
        ("a[b]|c", "a%5Bb%5D%7Cc", "a[b]|c"),
    ],
)
def test_a_markdown_target_is_encoded_where_it_must_be(name: str, bare: str, angled: str) -> None:
    """Bare more than in angle brackets; both read back as the same path."""
    to = f"Archive/{name}.md"

    assert follow('[x](../Inbox/T%20(1).md#h "t")', to=to) == f'[x](../Archive/{bare}.md#h "t")'
    assert follow('[x](<../Inbox/T (1).md#h> "t")', to=to) == f'[x](<../Archive/{angled}.md#h> "t")'


def test_a_name_with_a_colon_is_no_web_address() -> None:
    """In the same folder it would be one without the dot."""
    assert follow("[x](../Inbox/T%20(1).md)", to="Projects/re: x.md") == "[x](./re:%20x.md)"


@pytest.mark.parametrize("name", ["C#", "a|b", "x^2", "a[1]", "a]b", " a"])
def test_a_name_that_a_wikilink_cannot_hold_is_left(name: str) -> None:
    """It would mean a heading, an alias, a block or nothing at all."""
    assert follow("[[T (1)|x]]", to=f"Archive/{name}.md") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('---\na: "[[T (1)]]"\n---\n', 'say "x"'),
        ('---\na: "[[T (1)]]"\n---\n', "a\\nb"),
        ("---\na: '[[T (1)]]'\n---\n", "Jonas's"),
        ("---\na: x [[T (1)]]\n---\n", "a: b"),
        ("---\na: x [[T (1)]]\n---\n", "a #b"),
    ],
)
def test_a_name_that_would_break_the_frontmatter_is_left(text: str, name: str) -> None:
    """The outcome is read again, and has to say the same."""
    assert follow(text, to=f"Archive/{name}.md") is None


def test_a_note_with_problems_is_left_only_if_a_link_had_to_change() -> None:
    """What cannot be read cannot be rewritten soundly."""
    assert follow("---\na: [\n---\n[[T (1)]]") is None
    assert follow("---\na: [\n---\n[[n]]") == "---\na: [\n---\n[[n]]"


def test_bytes_that_are_no_text_are_never_encoded_anew() -> None:
    """Not even elsewhere in the note."""
    names = LinkResolver.of([SOURCE, *OTHERS])
    move = NoteMove(SOURCE, "Archive/New.md", names, LinkResolver.of(["Archive/New.md", *OTHERS]))
    done = rewrite_links(parse(b"\xff [[T (1)]]", path="Projects/n.md", mtime=0.0), move)

    assert done is not None
    assert done.content is None


def test_a_link_to_another_note_is_kept_from_the_newcomer() -> None:
    """A note that comes nearer by the same name does not take over its links."""
    assert follow("[[other]]", source="Inbox/x.md", to="other.md", at="Journal/n.md") == "[[Inbox/other]]"
