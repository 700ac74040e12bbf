"""Tags and structured lines: observations and relations."""

import pytest

from commonplace.model import Note
from commonplace.notes import parse


def note_of(text: str) -> Note:
    return parse(text.encode(), path="a.md", mtime=0.0)


@pytest.mark.parametrize(
    ("line", "kind", "text", "topics"),
    [
        ("- [fact] water boils", "fact", "water boils", ()),
        ("* [Key decision] use #sqlite here #db #speed", "Key decision", "use #sqlite here", ("db", "speed")),
        ("   + [idea-2] see [[Note]] #x", "idea-2", "see [[Note]]", ("x",)),
        ("- [fact] runs `a #b` #c ^id-1", "fact", "runs `a #b`", ("c",)),
        ("- [fact] shown %% hidden %% text #x", "fact", "shown  text", ("x",)),
        ("- [fact] costs #1\r", "fact", "costs #1", ()),
        ("- [überblick] größer", "überblick", "größer", ()),
    ],
)
def test_a_bullet_with_a_kind_is_an_observation(line: str, kind: str, text: str, topics: tuple[str, ...]) -> None:
    """Its last tags are its topics."""
    (found,) = note_of(f"# H\n\n{line}\n").observations

    assert (found.kind, found.text, found.topics, found.line) == (kind, text, topics, 3)


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] task",
        "- [x] done",
        "- [/] half",
        "- [text](https://example.org) more",
        "- [[Note]] more",
        "- [^1] footnote",
        "- [fact]",
        "- [fact] #only #topics",
        "- [fact](Note.md)",
        "- [1st] x",
        "[fact] no bullet",
        "`- [fact] x`",
        "```\n- [fact] x\n```",
        "%%\n- [fact] x\n%%",
        r"- \[fact] x",
    ],
)
def test_what_only_looks_like_an_observation_is_not_one(line: str) -> None:
    """Tasks, links, footnotes, code and comments."""
    assert note_of(line).observations == ()


@pytest.mark.parametrize(
    ("line", "predicate", "target", "topics"),
    [
        ("- knows [[Ada]]", "knows", "Ada", ()),
        ("  * works at [[Firm|the firm]] #job", "works at", "Firm", ("job",)),
        ("+ is part of [[A/B#Heading]]  ", "is part of", "A/B", ()),
        ("- part_of-2 [[X]] ^block", "part_of-2", "X", ()),
    ],
)
def test_a_bullet_with_a_predicate_and_a_link_relates(
    line: str, predicate: str, target: str, topics: tuple[str, ...]
) -> None:
    """The object is the link's bare target."""
    (found,) = note_of(f"{line}\n").relations

    assert (found.predicate, found.object, found.topics, found.line) == (predicate, target, topics, 1)


@pytest.mark.parametrize(
    "line",
    [
        "- Knows [[Ada]]",
        "- one two three four five [[Ada]]",
        "- knows [[Ada]] well",
        "- knows [[Ada]] and [[Bob]]",
        "- knows: [[Ada]]",
        "- [[Ada]]",
        "- knows ![[Ada]]",
        "- see [[#Heading]]",
        "knows [[Ada]]",
        "- `knows` [[Ada]]",
        "- 2 [[Ada]]",
    ],
)
def test_what_only_looks_like_a_relation_is_not_one(line: str) -> None:
    """Nothing but topics may follow the link, and the predicate is one to four lower-case words."""
    assert note_of(line).relations == ()


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
def test_what_only_looks_like_a_tag_is_not_one(text: str) -> None:
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
