"""Operations on the sections of a note: what each changes, where it reaches, and why it is rejected."""

import pytest

from commonplace.notes.section_operations import (
    LARGEST_NOTE,
    MOST_OPERATIONS,
    apply_operations,
    lint_sections,
    parse_operations,
    statement_key,
    without_statements,
)

NOTE = b"""---
tags: [me]
---
# Me

Lives in York.

## Food

- Likes tea.
- Likes coffee
  with milk

### Sweets

* Likes cake.

## Work

- Writes software.
  - In Python.
"""


def outcome(note: bytes, **operation: object) -> str:
    """What becomes of one operation."""
    return apply_operations(note, [operation]).results[0].said


def after(note: bytes, **operation: object) -> bytes:
    """The note after one operation, which applies."""
    edit = apply_operations(note, [operation])
    assert edit.results[0].said == "applied"
    return edit.content


@pytest.mark.requirement("I-36")
def test_each_operation_changes_its_lines_alone() -> None:
    """Append, add a heading, remove, replace, remove a heading."""
    assert after(NOTE, op="append", heading="Food", line="- Likes leeks.") == NOTE.replace(
        b"  with milk\n", b"  with milk\n- Likes leeks.\n"
    )
    assert after(NOTE, op="append", line="Is 40.") == NOTE.replace(b"York.\n", b"York.\n\n- Is 40.\n")
    assert after(NOTE, op="add_heading", heading="Pets", lines=["Has a cat."]) == NOTE + b"\n## Pets\n\n- Has a cat.\n"
    assert after(NOTE, op="remove", match="Likes coffee with milk") == NOTE.replace(
        b"- Likes coffee\n  with milk\n", b""
    )
    assert after(NOTE, op="replace", match="likes TEA", line="Likes green tea.") == NOTE.replace(
        b"Likes tea.", b"Likes green tea."
    )
    assert after(NOTE, op="remove_heading", heading="Work") == NOTE.partition(b"## Work")[0]


@pytest.mark.requirement("I-38")
def test_operations_reach_subsections() -> None:
    """Remove and replace find a statement below a subheading; append and add_heading can name one."""
    assert after(NOTE, op="remove", heading="Food", match="Likes cake.") == NOTE.replace(b"* Likes cake.\n", b"")
    assert after(NOTE, op="replace", heading="Food", match="...cake", line="Likes pie.") == NOTE.replace(
        b"cake", b"pie"
    )
    assert b"* Likes cake.\n* Likes honey.\n" in after(
        NOTE, op="append", heading="Food", subheading="sweets", line="Likes honey."
    )
    assert b"### Sour\n\n- Likes lemons.\n\n## Work" in after(
        NOTE, op="add_heading", heading="Food", subheading="Sour", lines=["Likes lemons."]
    )
    assert b"### Sweets" not in after(NOTE, op="remove_heading", heading="Food", subheading="Sweets")
    assert outcome(NOTE, op="append", heading="Food", line="likes cake") == "noop_dup"


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ({"op": "append", "heading": "Drinks", "line": "x"}, "rejected:no_such_heading"),
        ({"op": "append"}, "rejected:missing_line"),
        ({"op": "append", "line": "x" * 501}, "rejected:too_long"),
        ({"op": "append", "line": "x\ny"}, "rejected:several_lines"),
        ({"op": "append", "line": "x ``` y"}, "rejected:code_fence"),
        ({"op": "append", "line": "## x"}, "rejected:heading_in_text"),
        ({"op": "append", "line": "***"}, "rejected:block_in_text"),
        ({"op": "append", "line": "x <b>y</b>"}, "rejected:html_or_comment"),
        ({"op": "append", "line": "x\u200by"}, "rejected:hidden_or_marked"),
        ({"op": "append", "line": 3}, "rejected:not_text"),
        ({"op": "append", "line": "x", "file": "y"}, "rejected:unknown_field"),
        ({"op": "rewrite", "line": "x"}, "rejected:unknown_op"),
        ({"op": "remove"}, "rejected:missing_match"),
        ({"op": "remove", "match": "..."}, "rejected:missing_match"),
        ({"op": "remove", "match": "Likes..."}, "rejected:ambiguous"),
        ({"op": "remove", "match": "Writes software"}, "rejected:has_nested_lines"),
        ({"op": "remove", "match": "tags: [me]"}, "noop_no_match"),
        ({"op": "remove", "heading": "Nowhere", "match": "x"}, "noop_no_match"),
        ({"op": "replace", "match": "Likes beer", "line": "Likes tea"}, "noop_dup"),
        ({"op": "replace", "match": "Likes beer", "line": "Likes wine"}, "noop_no_match"),
        ({"op": "replace", "match": "Likes tea.", "line": "Likes tea."}, "noop_dup"),
        ({"op": "add_heading"}, "rejected:missing_heading"),
        ({"op": "add_heading", "heading": "Food"}, "noop_dup"),
        ({"op": "add_heading", "heading": "Food", "lines": ["Likes leeks."]}, "rejected:heading_exists"),
        ({"op": "remove_heading", "heading": "Me"}, "rejected:is_title"),
        ({"op": "remove_heading", "heading": "Nowhere"}, "noop_no_match"),
    ],
)
@pytest.mark.requirement("I-37")
def test_a_bad_operation_has_a_named_reason(operation: dict[str, object], said: str) -> None:
    """And changes nothing."""
    edit = apply_operations(NOTE, [operation])

    assert (edit.results[0].said, edit.content) == (said, NOTE)


@pytest.mark.requirement("I-40")
@pytest.mark.parametrize(
    "text",
    [
        '{"ops": [{"op": "append", "line": "x"}]}',
        '```json\n{"ops": [{"op": "append", "line": "x"}]}\n```',
        '\n```\n[{"op": "append", "line": "x"}]\n```\n',
        '{"op": "append", "line": "x"}',
    ],
)
def test_a_code_fence_around_the_json_is_left_out(text: str) -> None:
    """Models put their answers into one."""
    assert parse_operations(text) == (({"op": "append", "line": "x"},), "")


@pytest.mark.parametrize("text", ["", "no", "{", '{"ops": 3}', "[" * 100_000])
def test_other_text_gives_no_operations_and_says_why(text: str) -> None:
    """Nothing is raised."""
    operations, problem = parse_operations(text)

    assert operations == ()
    assert problem


@pytest.mark.requirement("I-39")
@pytest.mark.parametrize("note", [NOTE.replace(b"\n", b"\r\n"), NOTE.rstrip(), NOTE.replace(b"## Food", b"## Food   ")])
def test_drift_alone_is_no_change_and_survives_one(note: bytes) -> None:
    """Line endings, blanks after headings and a missing newline stay as they are where nothing is added."""
    same = apply_operations(note, [{"op": "append", "heading": "food", "line": " likes  TEA "}])
    added = apply_operations(note, [{"op": "append", "heading": "Food", "line": "Likes leeks."}])

    assert (same.is_changed, same.content) == (False, note)
    assert added.content.startswith(note.partition(b"### Sweets")[0].rstrip())
    assert added.content.endswith(note.partition(b"### Sweets")[2])


def test_an_operation_that_would_be_read_as_something_else_is_rejected() -> None:
    """In an unclosed fence or comment the statement would be code: nothing is written."""
    for note in (b"# Me\n\n```\ncode\n", b"# Me\n\n<!-- hidden\n"):
        assert outcome(note, op="append", line="Likes tea.") == "rejected:unsafe_place"


def test_numbers_and_sizes_are_bounded() -> None:
    """Operations of one call, and the size of the note."""
    many = apply_operations(b"", [{"op": "append", "line": f"Number {each}."} for each in range(MOST_OPERATIONS + 1)])
    full = b"x" * LARGEST_NOTE

    assert many.results[-1].said == "rejected:too_many"
    assert outcome(full, op="append", line="one more") == "rejected:note_full"
    assert outcome(full, op="append", line="y" * 501) == "rejected:too_long"


def test_what_is_protected_is_not_removed_or_replaced() -> None:
    """Statements and headings by their keys, also within a section that goes as a whole."""
    protected = {"likes cake"}

    for operation in (
        {"op": "remove", "match": "Likes cake."},
        {"op": "replace", "match": "Likes cake.", "line": "x"},
        {"op": "remove_heading", "heading": "Food"},
    ):
        edit = apply_operations(NOTE, [operation], is_protected=protected.__contains__)

        assert (edit.results[0].said, edit.content) == ("rejected:protected", NOTE)


@pytest.mark.requirement("I-45")
def test_lint_finds_dated_doubled_and_long_statements() -> None:
    """Each with its line; a date within a statement is fine."""
    note = b"# Me\n\n- 2026-03-01: moved\n- (2026-03-02) back\n- Born 2000-01-01.\n- x y\n- X y.\n"

    assert [(each.line, each.code) for each in lint_sections(note, path="USER.md")] == [
        (3, "profile-dated"),
        (4, "profile-dated"),
        (7, "profile-double"),
    ]


def test_replacing_a_doubled_statement_by_its_own_words_leaves_one_less() -> None:
    """The last copy goes; other words for several copies stay ambiguous."""
    doubled = NOTE.replace(b"- Likes tea.\n", b"- Likes tea.\n- likes tea\n")
    edit = apply_operations(doubled, [{"op": "replace", "match": "Likes tea", "line": "Likes tea."}])

    assert edit.content == NOTE
    assert outcome(doubled, op="replace", match="Likes tea", line="Likes mint tea.") == "rejected:ambiguous"


def test_statements_are_taken_out_with_their_headings_and_told_with_their_lines() -> None:
    """All else stays as it is; a heading that is not named stays above nothing."""
    note = b"---\na: b\n---\n# Me\n\n- Likes tea.\n- Goes by Eve.\n\n## Work\n\nWorks at\nAcme.\n\n## Food\n\n- Fish.\n"
    keys = {statement_key("goes by eve"), statement_key("Works at Acme"), "# work"}
    text, taken = without_statements(note, keys)

    assert text == "# Me\n\n- Likes tea.\n\n\n\n## Food\n\n- Fish.\n"
    assert [(each.line, each.heading, each.text) for each in taken] == [
        (7, "Me", "Goes by Eve."),
        (11, "Work", "Works at Acme."),
    ]
