"""TOML: read by statements, changed in one table alone."""

import tomllib

import pytest

from commonplace.hosts.host_edits import ServerEntry, put_edit, remove_edit
from commonplace.hosts.jsonc import InvalidSyntax
from commonplace.hosts.text_edits import UndoInfo
from commonplace.hosts.toml_edits import statements

TABLE = ServerEntry(("mcp_servers", "commonplace"), {"command": "/bin/commonplace", "args": ["mcp"]})


def test_statements_know_their_path_and_their_lines() -> None:
    """Quoted keys, dotted keys, brackets over lines, brackets in texts."""
    text = 'a.b = 1 # one\n[ "x.y" . z ]\nc = [ # [\n "]",\n]\n[[q]]\nd = """\n[no]\n"""'
    found = [(each.path, text[each.start : each.end]) for each in statements(text)]

    assert found == [
        (("a", "b"), "a.b = 1 # one"),
        (("x.y", "z"), '[ "x.y" . z ]'),
        (("x.y", "z", "c"), 'c = [ # [\n "]",\n]'),
        (("q",), "[[q]]"),
        (("q", "d"), 'd = """\n[no]\n"""'),
    ]


def test_a_table_of_ours_keeps_what_a_person_added() -> None:
    """Only our keys change; further keys, comments and tables below it stay."""
    text = (
        '[mcp_servers.commonplace] # memory\ncommand = "/old/commonplace"\nstartup_timeout_sec = 20 # slow disk\n'
        'args = [\n  "mcp",\n]\n\n[mcp_servers.commonplace.tools.x]\nmode = "ask"\n\n[other]\n'
    )
    edited = put_edit(text, TABLE, "toml").text

    assert edited == (
        '[mcp_servers.commonplace] # memory\ncommand = "/bin/commonplace"\nargs = ["mcp"]\n'
        "startup_timeout_sec = 20 # slow disk\n"
        '\n[mcp_servers.commonplace.tools.x]\nmode = "ask"\n\n[other]\n'
    )
    assert tomllib.loads(remove_edit(edited, TABLE, "toml", undo=UndoInfo())) == {"other": {}}


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\ncommonplace = { command = "/old/commonplace", args = ["mcp"], cwd = "/" }\n',
        '[mcp_servers]\ncommonplace.command = "/old/commonplace"\ncommonplace.args = ["mcp"]\ncommonplace.cwd = "/"\n',
        'mcp_servers.commonplace.command = "/old/commonplace"\nmcp_servers.commonplace.args = ["mcp"]\n'
        'mcp_servers.commonplace.cwd = "/"\n',
    ],
)
def test_an_entry_in_another_notation_is_replaced(text: str) -> None:
    """Braces and dotted keys become a table, with what a person had in it."""
    edited = put_edit(text, TABLE, "toml").text

    assert tomllib.loads(edited)["mcp_servers"]["commonplace"] == {**TABLE.value, "cwd": "/"}
    assert edited.count("command") == 1


def test_servers_in_braces_are_refused() -> None:
    """No table can be added to them without writing them anew; the line is theirs, not one of ours."""
    with pytest.raises(InvalidSyntax, match="inline table") as told:
        put_edit('a = 1\nmcp_servers = { x = { url = "u" } }\n', TABLE, "toml")

    assert told.value.line == 2


def test_what_is_no_toml_is_told_with_its_line() -> None:
    """A person finds the place."""
    with pytest.raises(InvalidSyntax) as told:
        put_edit("a = 1\nb = \n", TABLE, "toml")

    assert told.value.line == 2


def test_a_table_in_a_text_is_no_table() -> None:
    """What stands between quotes is not a statement."""
    text = 'notes = """\n[mcp_servers.commonplace]\ncommand = "commonplace"\n"""\n'
    edited = put_edit(text, TABLE, "toml")

    assert edited.text.startswith(text)
    assert remove_edit(edited.text, TABLE, "toml", undo=edited.undo) == text


def test_an_entry_that_changed_leaves_a_last_line_without_an_end_as_it_was() -> None:
    """A file that did not end in a line end does not after another install and an uninstall either."""
    text = "[theirs]\na = 1\n# the end"
    first = put_edit(text, TABLE, "toml")
    again = put_edit(first.text, ServerEntry(TABLE.path, {"url": "http://127.0.0.1:8377/mcp"}), "toml")

    assert not again.text.endswith("\n")
    assert remove_edit(again.text, TABLE, "toml", undo=first.undo.followed_by(again.undo)) == text
