"""Structured lines: what states something and what relates two notes."""

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
def test_a_bullet_with_a_kind_states_something(line: str, kind: str, text: str, topics: tuple[str, ...]) -> None:
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
def test_what_only_looks_like_a_statement_is_none(line: str) -> None:
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
def test_what_only_looks_like_a_relation_is_none(line: str) -> None:
    """Nothing but topics may follow the link, and the predicate is one to four lower-case words."""
    assert note_of(line).relations == ()
