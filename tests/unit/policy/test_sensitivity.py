"""Which notes are sensitive, and who sees how much of them."""

from typing import get_args

import pytest

from commonplace.model import Note
from commonplace.notes import parse, set_key
from commonplace.policy.options import SafetyOptions
from commonplace.policy.sensitivity import SENSITIVE_VISIBILITY, Audience, Visibility, is_sensitive, visibility


def note_with(frontmatter: dict[str, object]) -> Note:
    raw = b"text"
    for key, value in frontmatter.items():
        raw = set_key(raw, key, value, path="a.md")
    return parse(raw, path="a.md", mtime=0.0)


@pytest.mark.parametrize(
    ("frontmatter", "sensitive"),
    [
        ({"sensitive": True}, True),
        ({"sensitive": "yes"}, True),
        ({"Sensitive": True}, True),
        ({"sensitive": "no"}, False),
        ({"sensitive": False}, False),
        ({"sensitive": None}, False),
        ({"memory": "local-only"}, True),
        ({"memory": "Local-Only "}, True),
        ({"memory": "shared"}, False),
        ({"memory": ["local-only"]}, True),
        ({"memory": ["x", "Local-Only "]}, True),
        ({"memory": ["x"]}, False),
        ({"sensitive": ["yes"]}, True),
        ({"donna": "local-only"}, True),
        ({"donna_sensitive": True}, True),
        ({}, False),
    ],
)
@pytest.mark.requirement("D-87", "D-09")
def test_either_marker_makes_a_note_sensitive(frontmatter: dict[str, object], sensitive: bool) -> None:
    """`memory: local-only` or a truthy `sensitive`; the names that older vaults use count too."""
    assert is_sensitive(note_with(frontmatter), SafetyOptions()) is sensitive


def test_the_keys_are_settings() -> None:
    """A vault that already uses other words keeps them."""
    options = SafetyOptions(sensitive_frontmatter_key="secret", local_only_frontmatter_key="scope")

    assert is_sensitive(note_with({"secret": True}), options)
    assert is_sensitive(note_with({"scope": "local-only"}), options)
    assert not is_sensitive(note_with({"sensitive": True}), options)


@pytest.mark.parametrize(
    "text",
    [
        "---\nsensitive: true\ntags: [a\n---\nx",
        "---\nsensitive: true\nsensitive: false\n---\nx",
        "---\nMemory: local-only\n\nnever closed",
        "---\ntags: a\n" + "words of the note\n" * 400 + "sensitive: true\nnever closed",
        "---\rsensitive: true\r---\rtext\r",
        "\ufeff---\rtags: a\rmemory: local-only\r---\rtext",
        "---\nsensitive: true\r---\rtext",
        "---\nbase: &base\n  sensitive: true\n<<: *base\n---\ntext",
        "---\na: &a {memory: [local-only]}\nb: &b {x: 1}\n<<: [*b, *a]\n---\ntext",
    ],
)
def test_a_broken_note_that_looks_marked_is_sensitive(text: str) -> None:
    """A typo further down does not open what its owner closed."""
    assert is_sensitive(parse(text.encode(), path="a.md", mtime=0.0), SafetyOptions())


@pytest.mark.parametrize(
    "text", ["---\n\nA rule.\n\nMemory: 16 GB\n", "---\rtags: a\r---\rsensitiveness: x\r", "x\rmemory: 1\r"]
)
def test_a_note_that_only_looks_alike_is_not(text: str) -> None:
    """A rule at the top is no frontmatter, and the word in the text is no mark."""
    assert not is_sensitive(parse(text.encode(), path="a.md", mtime=0.0), SafetyOptions())


def test_a_broken_note_without_a_marker_is_not() -> None:
    """Only a line that looks like one counts, and only at the top."""
    note = parse(b"---\ntags: [a\n---\nsensitive: true\n", path="a.md", mtime=0.0)

    assert not is_sensitive(note, SafetyOptions())


@pytest.mark.parametrize(
    ("sink", "how"),
    [
        ("person", "whole"),
        ("prompt", "title_only"),
        ("mcp", "title_only"),
        ("model", "title_only"),
        ("remote_encoder", "title_only"),
        ("export", "ask"),
    ],
)
def test_sensitive_text_stays_with_its_owner(sink: Audience, how: Visibility) -> None:
    """Whole in a person's own search; title and path for prompts, MCP, models, remote encoders; asked for on export."""
    assert visibility(True, sink) == how


@pytest.mark.parametrize("sink", get_args(Audience))
def test_other_text_is_shown_everywhere(sink: Audience) -> None:
    """Nothing is withheld that was not marked."""
    assert visibility(False, sink) == "whole"


def test_every_sink_is_in_the_table() -> None:
    """A new sink cannot be forgotten."""
    assert set(SENSITIVE_VISIBILITY) == set(get_args(Audience))
