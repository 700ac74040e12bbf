"""Laws of editing other programs' files: what is not ours stays byte for byte, and what we did can be undone."""

import json
import string
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.agent_hosts import HOOK_EVENTS
from commonplace.hosts import jsonc
from commonplace.hosts.host_edits import (
    Edit,
    FileFormat,
    ListEntry,
    ListValue,
    MarkdownBlock,
    ServerEntry,
    WholeFile,
    is_our_file,
    put_edit,
    remove_edit,
)
from commonplace.hosts.text_edits import UndoInfo, is_blank

SERVER = ServerEntry(("mcpServers", "commonplace"), {"command": "/bin/commonplace", "args": ["mcp", "--client", "ü"]})
TABLE = ServerEntry(("mcp_servers", "commonplace"), {"command": "/b in/commonplace", "args": ["mcp"]})
HOOKS = tuple(
    ListEntry(
        ("hooks", event), nested_key="hooks", value={"type": "command", "command": f"commonplace hook {word} --host x"}
    )
    for event, word in HOOK_EVENTS.items()
)
ALLOWED = tuple(ListValue(("permissions", "allow"), f"mcp__commonplace__{tool}") for tool in ("find", "read"))
QUESTION = ListEntry(("inputs",), value={"id": "commonplace-token"})
LINES = MarkdownBlock("Ask the memory.\nThen answer.")
SKILL = WholeFile("---\nname: recall\n---\n\nAsk the memory, naïvely.\n")

KEYS = st.sampled_from(["a", "b", "mcpServers", "hooks", "inputs", "Stop", "permissions", "naïve", 'q"uote', "x/y"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\n\t", " \n\n    "])
COMMENTS = st.sampled_from(["", "", "", "// a note\n", "/* a // note */", "/* two\n lines */", ' // {"x": 1},\n'])
LISTS = st.sampled_from(["[]", "[ // none\n ]", '[{"id": "theirs"}]', '[{"hooks": [{"command": "ls"}],}]'])
FIRST = st.sampled_from(["", 'model = "gpt"\n', "a.b.c = 1\n", "# only a comment\n", "mcp_servers.x.url = 'u'\n"])


@st.composite
def fillings(draw: st.DrawFn) -> str:
    """Blanks and comments, as they stand between two things."""
    return draw(BLANKS) + draw(COMMENTS) + draw(BLANKS)


@st.composite
def json_texts(draw: st.DrawFn, depth: int = 0) -> str:
    """A JSON value written in any way, with comments and trailing commas."""
    kind = draw(st.sampled_from(["scalar", "object", "array"])) if depth else "object"
    if kind == "scalar" or depth > 3:
        return json.dumps(draw(SCALARS), ensure_ascii=draw(st.booleans()))
    opening, closing = ("{", "}") if kind == "object" else ("[", "]")
    names = draw(st.lists(KEYS, max_size=4, unique=True))
    keys = [name if kind == "object" else None for name in names]
    parts = []
    for key in keys:
        label = "" if key is None else f"{json.dumps(key)}{draw(fillings())}:{draw(fillings())}"
        ours = ("mcpServers", "hooks", "permissions")
        value = draw(json_texts(depth + 1)) if key not in ours else draw(objects_of_theirs(key))
        if key in ("inputs", "Stop"):
            value = draw(
                st.sampled_from(["[]", "[ // none\n ]", '[{"id": "theirs"}]', '[{"hooks": [{"command": "ls"}],}]'])
            )
        parts.append(f"{draw(fillings())}{label}{value}{draw(fillings())}")
    comma = draw(st.sampled_from(["", ","])) if parts else ""
    return f"{opening}{','.join(parts)}{comma}{draw(fillings())}{closing}"


@st.composite
def objects_of_theirs(draw: st.DrawFn, key: str | None) -> str:
    """What a person has under a name that we use, too."""
    if key == "mcpServers":
        return draw(st.sampled_from(["{}", "{\n\n}", "{ /* none */ }", '{"theirs": {"command": "x"}}', '{"y": {}, }']))
    if key == "permissions":
        return draw(st.sampled_from(["{}", '{"allow": [], "deny": ["x"]}', '{"allow": [\n"Bash(ls)", // mine\n]}']))
    return draw(st.sampled_from(["{}", '{"Stop": []}', '{\n\t"Stop": [\n\t\t{"hooks": [{"command": "ls"}]},\n\t]\n}']))


@st.composite
def json_files(draw: st.DrawFn) -> str:
    """A whole file: with a byte order mark or not, with either line end, or with nothing in it."""
    text = draw(st.one_of(st.sampled_from(["", " \n"]), json_texts().map(str)))
    if text.strip():
        text = draw(fillings()) + text + draw(fillings())
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", jsonc.BOM])) + text


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    """A TOML file: keys, tables, arrays of tables, comments, strings of several lines, either line end."""
    pieces = [
        "# a comment",
        "",
        "[[list]]\nname = 'x'",
        '[mcp_servers.theirs]\ncommand = "x" # why\nargs = [\n  "a", # [b\n  "]",\n]',
        "[projects.\"/home/me/[a]\"]\ntrust_level = 'trusted'",
        '[notes]\ntext = """\n[mcp_servers.commonplace]\ncommand = \\"""" \n',
        "[notes2]\ntext = '''\n[x]'''\nwhen = 2026-03-01T09:00:00Z\nt = { a = 1, b = [1, 2] }",
    ]
    first = draw(
        st.sampled_from(["", 'model = "gpt"\n', "a.b.c = 1\n", "# only a comment", "mcp_servers.x.url = 'u'\n"])
    )
    text = first + "\n".join(draw(st.lists(st.sampled_from(pieces), unique=True)))
    text += draw(st.sampled_from(["", "\n", "\n\n", "\n# the end"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", jsonc.BOM])) + text


def put_all(text: str, edits: tuple[Edit, ...], form: FileFormat) -> tuple[str, UndoInfo]:
    trace = UndoInfo()
    for edit in edits:
        edited = put_edit(text, edit, form)
        text, trace = edited.text, trace.followed_by(edited.undo)
    return text, trace


def remove_all(text: str, edits: tuple[Edit, ...], form: FileFormat, trace: UndoInfo) -> str:
    for edit in reversed(edits):
        text = remove_edit(text, edit, form, undo=trace)
    return text


def said(text: str) -> Any:
    return {} if is_blank(text) else jsonc.parse_jsonc(text).root.value


@given(
    text=json_files(),
    edits=st.sampled_from([(SERVER,), HOOKS, (SERVER, *HOOKS), (SERVER, QUESTION), (*HOOKS, *ALLOWED)]),
)
def test_json_comes_back_byte_for_byte(text: str, edits: tuple[Edit, ...]) -> None:
    """Put in and taken out again, the file says what it said, to the last blank; in between it says ours as well."""
    edited, trace = put_all(text, edits, "json")

    assert remove_all(edited, edits, "json", trace) == text
    assert put_all(edited, edits, "json")[0] == edited
    before, after = said(text), said(edited)
    for edit in reversed(edits):
        if isinstance(edit, ServerEntry):
            assert after["mcpServers"].pop("commonplace") == edit.value
        else:
            assert isinstance(edit, ListEntry | ListValue)
            array = after
            for key in edit.path:
                array = array[key]
            nested_key = edit.nested_key if isinstance(edit, ListEntry) else ""
            assert array.pop() == ({nested_key: [edit.value]} if nested_key else edit.value)
    assert without_empty(after) == without_empty(before)


def without_empty(value: Any) -> Any:
    """The value without the empty objects and arrays that were made on the way to ours."""
    if isinstance(value, dict):
        kept = {key: without_empty(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in ({}, [])}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


@given(text=json_files().filter(lambda text: not is_blank(text)))
def test_every_character_of_a_json_file_survives_in_order(text: str) -> None:
    """Installing only ever adds: the old text is there, in order, around what is new."""
    edited, _ = put_all(text, (SERVER,), "json")
    letters = iter(edited)

    assert all(letter in letters for letter in text)


@given(text=json_files(), new=st.sampled_from([{"command": "/else/commonplace", "args": ["mcp"]}]))
def test_an_older_entry_is_replaced_and_still_comes_out_clean(text: str, new: dict[str, Any]) -> None:
    """Whatever version of the entry is there when it is taken out."""
    older, trace = put_all(text, (SERVER,), "json")
    newer, more = put_all(older, (ServerEntry(SERVER.path, new),), "json")

    assert said(newer)["mcpServers"]["commonplace"] == new
    assert remove_all(newer, (SERVER,), "json", trace.followed_by(more)) == text


@given(text=json_files(), theirs=st.text(string.ascii_letters, min_size=1).filter(lambda name: name != "commonplace"))
def test_what_comes_after_us_stays_when_we_go(text: str, theirs: str) -> None:
    """A server that a person added behind ours is there when ours is gone, and nothing else changed."""
    other = ServerEntry(("mcpServers", theirs), {"command": "commonplace", "args": ["mcp"]})
    edited, trace = put_all(text, (SERVER, other), "json")
    left = remove_all(edited, (SERVER,), "json", trace)
    wanted, _ = put_all(text, (other,), "json")

    assert said(left) == said(wanted)


@given(text=toml_files())
def test_toml_comes_back_byte_for_byte(text: str) -> None:
    """Put in and taken out again, the file says what it said; in between only our table is new."""
    edited, trace = put_all(text, (TABLE,), "toml")
    before, after = (tomllib.loads(each.removeprefix(jsonc.BOM)) for each in (text, edited))

    assert edited.startswith(text)
    assert remove_all(edited, (TABLE,), "toml", trace) == text
    assert put_all(edited, (TABLE,), "toml")[0] == edited
    assert after["mcp_servers"].pop("commonplace") == TABLE.value
    assert without_empty(after) == without_empty(before)


@given(text=toml_files())
def test_what_stands_behind_our_table_stays(text: str) -> None:
    """A host that writes further tables behind ours finds them again when ours is gone."""
    later = '\n[later]\nx = """\n[mcp_servers.commonplace]"""\n# the end\n'
    edited, trace = put_all(text, (TABLE,), "toml")
    left = remove_all(edited + "\n" + later, (TABLE,), "toml", trace)

    assert left.startswith(text.rstrip("\r\n"))
    assert left.endswith(later)


@given(
    text=st.one_of(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30),
        st.sampled_from(["", "\n", "# Rules\n", "# Rules", "# Rules\r\n\r\nBe kind.\r\n", "\ufeff# R\n\n\n"]),
    )
)
def test_a_marked_block_comes_out_without_a_trace(text: str) -> None:
    """The lines of a person's Markdown are theirs, whatever their line ends are."""
    edited, trace = put_all(text, (LINES,), "markdown")
    newer, more = put_all(edited, (MarkdownBlock("Other lines."),), "markdown")

    assert edited.startswith(text)
    assert remove_all(edited, (LINES,), "markdown", trace) == text
    assert remove_all(newer, (LINES,), "markdown", trace.followed_by(more)) == text
    assert put_all(edited, (LINES,), "markdown")[0] == edited


@given(older=st.text().map(lambda text: f"{text}\n"), line_end=st.sampled_from(["\n", "\r\n"]))
def test_a_file_of_ours_is_renewed_and_removed_whichever_version_of_us_wrote_it(older: str, line_end: str) -> None:
    """Without any record of it, and whatever git made of its line ends."""
    older = older.replace("\r", "")
    written = put_edit("", WholeFile(older), "markdown").text.replace("\n", line_end)

    assert is_our_file(written)
    assert put_edit(written, WholeFile(older), "markdown").text == written
    assert put_edit(written, SKILL, "markdown").text in (SKILL.sealed, written)
    assert remove_edit(written, SKILL, "markdown", undo=UndoInfo()) == ""


@given(
    theirs=st.one_of(
        st.text(min_size=1),
        st.tuples(st.integers(0, len(SKILL.sealed) - 2), st.sampled_from(["x", " ", "\n", "\t", "é"])).map(
            lambda change: SKILL.sealed[: change[0]] + change[1] + SKILL.sealed[change[0] :]
        ),
        st.integers(0, len(SKILL.sealed) - 2).map(lambda cut: SKILL.sealed[:cut] + SKILL.sealed[cut + 1 :]),
    ).filter(bool)
)
def test_a_file_that_a_person_wrote_or_changed_stays_as_it_is(theirs: str) -> None:
    """A character more or less, and it is theirs: it is neither overwritten nor removed."""
    assert not is_our_file(theirs)
    assert put_edit(theirs, SKILL, "markdown").text == theirs
    assert remove_edit(theirs, SKILL, "markdown", undo=UndoInfo()) == theirs


@settings(max_examples=25)
@pytest.mark.parametrize("broken", [lambda text: text[:-1], lambda text: text + "}", lambda text: text + "{"])
@given(text=json_texts())
def test_what_is_no_json_is_refused(broken: Callable[[str], str], text: str) -> None:
    """A file that its own host could not read is not touched."""
    with pytest.raises(jsonc.InvalidSyntax):
        put_edit(broken(text), SERVER, "json")
