"""JSON with comments: read with places, and changed in one place alone."""

import pytest

from commonplace.hosts.host_edits import ListEntry, ServerEntry, put_edit, remove_edit
from commonplace.hosts.jsonc import InvalidSyntax, parse_jsonc
from commonplace.hosts.text_edits import UndoInfo

ENTRY = ServerEntry(("mcpServers", "commonplace"), {"command": "/bin/commonplace", "args": ["mcp"]})
HOOK = ListEntry(
    ("hooks", "Stop"), nested_key="hooks", value={"type": "command", "command": "commonplace hook stop --host x"}
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3),
        ('{\n  "a": \n}', 3),
        ('{\n  "a": "x\n}', 2),
        ("{\n  a: 1\n}", 2),
        ('{\n  "a": 01\n}', 2),
        ('{"a": 1} {}', 1),
        ('{"a": "\\q"}', 1),
        ("// nothing\n", 2),
        ("[" * 500, 1),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int) -> None:
    """A person finds the place without counting."""
    with pytest.raises(InvalidSyntax) as told:
        parse_jsonc(text)

    assert told.value.line == line


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": 1}', '{"a": 1, "mcpServers": {"commonplace": {"command": "/bin/commonplace", "args": ["mcp"]}}}'),
        (
            '{\r\n\t"a": 1 // one\r\n}\r\n',
            '{\r\n\t"a": 1, // one\r\n\t"mcpServers": {\r\n\t\t"commonplace": {\r\n\t\t\t"command": "/bin/commonplace",'
            '\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n',
        ),
        (
            '{\n    "mcpServers": {\n        "x": {},\n    },\n}',
            '{\n    "mcpServers": {\n        "x": {},\n        "commonplace": {\n'
            '            "command": "/bin/commonplace",\n            "args": [\n                "mcp"\n'
            "            ]\n        },\n    },\n}",
        ),
    ],
)
def test_new_lines_look_like_those_around_them(before: str, after: str) -> None:
    """One line stays one line; tabs, line ends, comments and trailing commas are kept up."""
    assert put_edit(before, ENTRY, "json").text == after


def test_an_entry_that_says_the_same_stays_as_it_is_written() -> None:
    """Nothing to change, however it is laid out, and whatever a person added to it."""
    text = '{"mcpServers":{"commonplace":{"args":["mcp"],"command":"/bin/commonplace","env":{"A":"b"}}}}'

    assert put_edit(text, ENTRY, "json").text == text


def test_what_a_person_added_to_our_entry_survives_a_newer_one() -> None:
    """Only the keys that we write are replaced."""
    text = '{"mcpServers": {"commonplace": {"command": "/old/commonplace", "args": ["mcp"], "env": {"A": "b"}}}}'
    edited = put_edit(text, ENTRY, "json").text

    assert parse_jsonc(edited).root.value["mcpServers"]["commonplace"] == {**ENTRY.value, "env": {"A": "b"}}


def test_of_a_name_that_stands_twice_the_last_counts() -> None:
    """As for every program that reads JSON."""
    edited = put_edit('{"mcpServers": {"a": 1}, "mcpServers": {}}', ENTRY, "json").text

    assert edited.startswith('{"mcpServers": {"a": 1}, "mcpServers": {"commonplace"')


@pytest.mark.parametrize("text", ['{"mcpServers": []}', '{"mcpServers": null}', "[]", "3"])
def test_a_place_that_holds_something_else_is_refused(text: str) -> None:
    """Nothing of a person's is overwritten because it has the wrong form."""
    with pytest.raises(InvalidSyntax):
        put_edit(text, ENTRY, "json")


def test_a_hook_that_a_person_moved_into_a_group_of_theirs_is_found() -> None:
    """It is replaced where it stands, and taken out alone."""
    text = (
        '{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "ls"}, '
        '{"type": "command", "command": "\'/a b/commonplace\' hook stop --host x"}]}]}}'
    )
    edited = put_edit(text, HOOK, "json").text
    left = remove_edit(edited, HOOK, "json", undo=UndoInfo())

    assert edited == text.replace("'/a b/commonplace'", "commonplace")
    assert left == '{"hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "ls"}]}]}}'


def test_hooks_that_stand_twice_become_one() -> None:
    """However they came there."""
    group = '{"hooks": [{"type": "command", "command": "/old/commonplace hook stop --host x"}]}'
    edited = put_edit(f'{{"hooks": {{"Stop": [{group}, {{"hooks": []}}, {group}]}}}}', HOOK, "json").text

    assert parse_jsonc(edited).root.value["hooks"]["Stop"] == [{"hooks": []}, {"hooks": [HOOK.value]}]


def test_a_comment_above_our_entry_stays_when_it_goes() -> None:
    """Comments are a person's, wherever they stand."""
    entry = '"commonplace": {"command": "commonplace", "args": ["mcp"]}'
    text = '{\n  "mcpServers": {\n    // the memory\n    ' + entry + "\n  }\n}"
    left = remove_edit(text, ENTRY, "json", undo=UndoInfo())

    assert left == '{\n  "mcpServers": {\n    // the memory\n  }\n}'


def test_a_line_comment_never_swallows_what_follows() -> None:
    """The line end behind it stays where it is needed."""
    text = '{"mcpServers": { // memory\n "commonplace": {"command": "commonplace", "args": ["mcp"]} }, "b": 1}'
    left = remove_edit(text, ENTRY, "json", undo=UndoInfo())

    assert parse_jsonc(left).root.value == {"mcpServers": {}, "b": 1}
    assert "// memory" in left


def test_another_server_of_our_name_is_neither_replaced_nor_removed() -> None:
    """It is someone else's."""
    text = '{"mcpServers": {"commonplace": {"command": "npx", "args": ["other"]}}}'

    assert remove_edit(text, ENTRY, "json", undo=UndoInfo()) == text
