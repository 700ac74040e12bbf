"""Reading a frontmatter block: values, problems, title and aliases."""

import json
from itertools import pairwise
from typing import Any

import pytest
import yaml

from commonplace.notes import parse, yaml_tree
from commonplace.notes.frontmatter import read_frontmatter


def value_of(written: str) -> Any:
    mapping, problems = read_frontmatter(f"key: {written}\n", path="a.md")
    assert problems == ()
    return mapping["key"]


def codes(block: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in read_frontmatter(block, path="a.md")[1]]


AS_WRITTEN = """
    01234 12:30:00 2026-03-01 2026-03-01T09:12:44Z yes no on off y n +49 0x1F 0o17 1_000 12e45
    .5 5. .inf .nan -.inf 1.0e999 tRue nUll <<
"""


@pytest.mark.parametrize("text", AS_WRITTEN.split())
def test_a_word_that_is_no_plain_number_stays_as_written(text: str) -> None:
    """Codes, times, dates, phone numbers and old YAML booleans are text."""
    assert value_of(text) == text


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("", None),
        ("~", None),
        ("Null", None),
        ("0", 0),
        ("-7", -7),
        ("2026", 2026),
        ("0.5", 0.5),
        ("-1.5e3", -1500.0),
        ("'true'", "true"),
        ('"7"', "7"),
        ("!!str 7", "7"),
        ("! 7", "7"),
        ("[a, 1, null]", ["a", 1, None]),
        ("{a: {b: c}}", {"a": {"b": "c"}}),
        ("|\n  a\n  b\n", "a\nb\n"),
    ],
)
def test_a_value_is_what_yaml_12_says(written: str, value: object) -> None:
    """Booleans, None, decimal numbers, lists and keys; quotes make text."""
    found = value_of(written)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("!!python/object/apply:os.system ['true']", ["true"]),
        ("!!python/name:os.system ''", ""),
        ("!custom {a: 1}", {"a": 1}),
        ("!!binary aGk=", "aGk="),
        ("!!timestamp 2026-03-01", "2026-03-01"),
        ("!thing 5", 5),
    ],
)
def test_a_tag_constructs_nothing(written: str, value: object) -> None:
    """The value is taken without its tag."""
    assert value_of(written) == value


def test_a_key_is_the_text_as_written() -> None:
    """Numbers, dates and booleans as keys do not change."""
    mapping, problems = read_frontmatter("1: a\ntrue: b\n2026-01-01: c\n'q': d\n~: e\n01: f\n", path="a.md")

    assert list(mapping) == ["1", "true", "2026-01-01", "q", "~", "01"]
    assert problems == ()


@pytest.mark.parametrize("block", ["", "\n", "# only a comment\n", "~\n"])
def test_an_empty_block_has_no_keys_and_nothing_wrong(block: str) -> None:
    """A block without keys is not a defect."""
    assert read_frontmatter(block, path="a.md") == ({}, ())


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("a: 1\nb: c: d\n", (3, "invalid-yaml")),
        ("a: 1\nb: 'open\nc: 2\n", (3, "invalid-yaml")),
        ("a: 1\n\tb: 2\n", (3, "invalid-yaml")),
        ("a: 1\n\nb: x\x07y\n", (4, "invalid-yaml")),
        ("a: é\u2028b\u2029\nc: [\n", (3, "invalid-yaml")),
        ("a: *nothing\n", (2, "invalid-yaml")),
        ("a: 1\n--- b\n", (3, "invalid-yaml")),
        ("a: 1\nb: 2\na: 3\n", (4, "duplicate-key")),
        ("a:\n  b: 1\n  'b': 2\n", (4, "duplicate-key")),
        ("a: [{b: 1, b: 2}]\n", (2, "duplicate-key")),
        ("just words\n", (2, "not-a-mapping")),
        ("\n- a\n- b\n", (3, "not-a-mapping")),
        ("a: &x [1, *x]\n", (2, "recursive-alias")),
        ("date: {{date}}\n", (2, "unusable-key")),
        ("? [a]\n: b\n", (2, "unusable-key")),
    ],
)
def test_a_defect_is_a_problem_with_its_line(block: str, found: tuple[int, str]) -> None:
    """Lines count in the whole file, whose second line is the block's first."""
    assert codes(block) == [found]


def test_a_key_given_twice_names_both_lines() -> None:
    """The person can find the two, and the last one is what counts."""
    mapping, problems = read_frontmatter("a: 1\nb: 2\na: 3\n", path="a.md")

    assert "'a'" in problems[0].message
    assert "lines 2 and 4" in problems[0].message
    assert mapping == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    "block",
    [
        "a: " + "[" * 100_000,
        "a: " + "{a: " * 100_000,
        "a: " + "{" * 100_000 + "}" * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "".join(f"{' ' * depth}a:\n" for depth in range(1000)),
        "a0: &a0 [x]\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}]\n" for i in range(1000)),
    ],
)
def test_nesting_without_end_is_a_problem_not_a_crash(block: str) -> None:
    """Neither the C stack nor Python's is ever deep in a note."""
    assert [code for _, code in codes(block)] == ["too-deep"]


def test_aliases_that_would_fill_the_memory_are_a_problem() -> None:
    """The size of the aliases written out is known before anything is built."""
    names = "abcdefghijklmnop"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise(names)]

    assert [code for _, code in codes("\n".join(lines))] == ["alias-bomb"]


def test_a_few_aliases_are_fine() -> None:
    """An alias has the value of its anchor."""
    mapping, problems = read_frontmatter("a: &a [1, 2]\nb: *a\nc: {d: *a}\n", path="a.md")

    assert mapping == {"a": [1, 2], "b": [1, 2], "c": {"d": [1, 2]}}
    assert problems == ()


def test_the_reader_works_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML's own parser gives the same values and the same problems."""
    blocks = ["a: [1, 'x']\nb: |\n  t\n", "a: 'open\n", "a: 1\na: 2\n", "[" * 5000, 'a: "\\ud800"\n', "a: \x07\n"]
    expected = [(read_frontmatter(block, path="a.md")[0], codes(block)) for block in blocks]
    monkeypatch.setattr(yaml_tree, "yaml_parser", lambda: yaml.SafeLoader)

    assert [(read_frontmatter(block, path="a.md")[0], codes(block)) for block in blocks] == expected


def test_every_value_can_be_written_as_json() -> None:
    """Plain data only: no dates, no sets, no numbers that JSON lacks."""
    mapping, _ = read_frontmatter("a: .nan\nb: 2026-03-01\nc: !!set {x, y}\nd: 1.0e400\n? e\n: - -.inf\n", path="a.md")

    assert json.loads(json.dumps(mapping, allow_nan=False)) == mapping


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
