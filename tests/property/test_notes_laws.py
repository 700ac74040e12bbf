"""Laws of reading and editing notes: any bytes are read, nothing is lost, and an edit touches one key's lines."""

import json
import re
import textwrap
from datetime import UTC, date, datetime
from typing import Any

import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from commonplace.errors import Refused
from commonplace.notes import parse, remove_key, sections, set_key
from commonplace.notes.note_text import render_note, split_note

OPENINGS: dict[str, tuple[str, ...]] = {"wikilink": ("[[",), "embed": ("![[",), "markdown": ("[", "![")}
KEYS = ("title", "tags", "a", "b", "odd key", "k")
TOPLEVEL = st.sampled_from(["title", "tags", "a", "b", '"odd key"', "'a'", "k ", "  b", "? a", "&n a", "tags", "é"])
ON_ONE_LINE = """x; 01234; 12:30; yes; ~; ''; "q\\"#"; 'it''s # no'; plain # c; [a, 'b', "c"]; {x: y}; &m z; *m;
!!str 5; !t v; "[[L|x]]"; é x; 2026-03-01; {{date}}; [; |; >-; a: b; x\u2028y; \x85; {x: 1, x: 2}; 1.50; # only"""
ONE_LINERS = re.split(r";\s*", ON_ONE_LINE)
BROKEN = ("*m", "[", "a: b", "{{date}}", "x\u2028y", "\x85")
SEVERAL_LINES = [
    "\n  - x\n  - 'y' # why\n",
    "\n- x\n- y\n",
    " # why\n  - x\n",
    "\n  # why\n  - x\n",
    " |\n  one\n\n  two\n",
    " |+\n  keep\n\n\n",
    " >-\n   folded\n   text\n",
    " plain\n  goes on\n",
    ' "quoted\n  goes on"\n',
    " [x,\n  y]\n",
    "\n    x: 1\n    x: 2\n",
    "\n  x:\n    - y\n",
    "\n\tx: 1\n",
]
BETWEEN = st.sampled_from(["", "", "", "\n", "# a comment\n", "  # indented\n", "   \n", "...\n", "--- x\n"])
IN_BODIES = r"""text, # H, [[L]], ![[E|x]], [t](N.md), `, ```, ~~~, %%, $$, <!--, -->, #tag, - [kind] x #t,
- knows [[O]], > q, | a | b |, |-|-|, ---, ===, \[[x]], <b>, [[a\|b]], *, 1. x, [, ], (, ), !"""
BODY = st.lists(
    st.sampled_from([*re.split(r",\s*", IN_BODIES), "    code", "\t", "é\u2028", "\x0c", "\x00", "\r"]), max_size=12
)


@st.composite
def entries(draw: st.DrawFn) -> str:
    """One key with its value, and what stands before it."""
    value = draw(st.sampled_from(ONE_LINERS).map(lambda text: f" {text}\n") | st.sampled_from(SEVERAL_LINES))
    return f"{draw(BETWEEN)}{draw(TOPLEVEL)}:{value}"


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    """Bytes like those of a note: odd frontmatter, odd body, either kind of line end."""
    body = "".join(part + draw(st.sampled_from(["\n", " ", "\n\n"])) for part in draw(BODY))
    fences = draw(st.sampled_from([("---\n", "---\n"), ("---\n", "---\n"), ("--- \n", "---"), ("---\n", ""), ("", "")]))
    block = "".join(draw(st.lists(entries(), max_size=5))) + draw(BETWEEN)
    text = draw(st.sampled_from(["", "", "\ufeff"])) + fences[0] + block + fences[1] + body
    raw = text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"]))).encode()
    return raw + draw(st.sampled_from([b"", b"", b"", b"\xff", b"\n\xc3\x28"]))


@st.composite
def sound_notes(draw: st.DrawFn) -> bytes:
    """A note that a person could have: valid frontmatter, each key once, in any order and style."""
    spellings = draw(st.permutations(["title", '"tags"', "a", "'b' ", "odd key"]))
    indent = draw(st.sampled_from(["", "", " "]))
    block = ""
    for spelling in spellings[: draw(st.integers(1, 5))]:
        one_line = st.sampled_from([each for each in ONE_LINERS if each not in BROKEN]).map(lambda text: f" {text}\n")
        value = draw(one_line | st.sampled_from(SEVERAL_LINES[:-1]))
        between = draw(st.sampled_from(["", "", "\n", "# a comment\n", "   \n"]))
        block += between + textwrap.indent(f"{spelling}:{value}", indent)
    text = f"---\n{block}---\n{draw(st.sampled_from(['', 'a: 1', '# H']))}"
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()


ODD_WORDS = ["yes", "01", "12:30", "null", "a: b", "# x", "- x", "[[L]]", "x\ny", " x\n", "x\n\n", "'", '"', "\\", "%"]
WORDS = st.text(max_size=12) | st.sampled_from(ODD_WORDS)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS | st.dates()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=5
)


def as_read(value: Any) -> Any:
    """The value as a reader gives it back: dates as text."""
    if isinstance(value, list):
        return [as_read(item) for item in value]
    if isinstance(value, dict):
        return {key: as_read(item) for key, item in value.items()}
    return value.isoformat() if isinstance(value, date) else value


def own_lines(raw: bytes, key: str) -> tuple[int, int]:
    """By PyYAML's own marks: the lines of the file from this key up to the next key or the closing fence."""
    document = split_note(raw)
    without_names = re.sub(r"&[mn] |\*(?=m)", "", document.block.replace("\r\n", "\n"))
    root = yaml.compose(without_names, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)
    starts = [name.start_mark.line + 1 for name, _ in root.value]
    at = next(index for index, (name, _) in enumerate(root.value) if name.value == key)
    return starts[at], [*starts, document.head.count("\n") - (document.closing.endswith("\n"))][at + 1]


def others(raw: bytes, key: str) -> list[tuple[str, str]]:
    found = parse(raw, path="a.md", mtime=0.0).frontmatter
    return [(name, json.dumps(value)) for name, value in found.items() if name != key]


def assert_only_this_key_changed(old: bytes, new: bytes, key: str) -> None:
    before, after = old.split(b"\n"), new.split(b"\n")
    if key in parse(old, path="a.md", mtime=0.0).frontmatter:
        start, end = own_lines(old, key)
        while end > start and (not before[end - 1].strip() or before[end - 1].startswith(b"#")):
            end -= 1
    else:
        start = end = split_note(old).head.count("\n") - split_note(old).closing.count("\n")
    kept_behind = len(before) - end

    assert after[:start] == before[:start]
    assert after[len(after) - kept_behind :] == before[end:]
    assert others(new, key) == others(old, key)
    assert split_note(new).body == split_note(old).body


@given(st.binary(max_size=200) | notes())
def test_any_bytes_are_read_and_come_back_unchanged(raw: bytes) -> None:
    """Parsing never raises, rendering is exact, and every value is plain data."""
    note = parse(raw, path="a.md", mtime=0.0)

    assert render_note(split_note(raw)) == raw
    assert len(note.text) == len(split_note(raw).text)
    assert note.text.endswith(note.body)
    assert json.loads(json.dumps(note.frontmatter, allow_nan=False)) == note.frontmatter
    assert all(1 <= problem.line <= note.text.count("\n") + 1 for problem in note.problems)


@given(notes())
def test_everything_found_stands_where_it_says(raw: bytes) -> None:
    """Offsets and lines point at what is written there."""
    note = parse(raw, path="a.md", mtime=0.0)
    lines = note.text.split("\n")

    for link in note.links:
        written = note.text[link.start : link.end]
        assert written.startswith(OPENINGS[link.form])
        assert written.endswith(")" if link.form == "markdown" else "]]")
        assert note.text.count("\n", 0, link.start) + 1 == link.line
    for line in [each.line for each in note.observations] + [each.line for each in note.relations]:
        assert lines[line - 1].removeprefix("\ufeff").lstrip()[0] in "-*+"
    for section in sections(note):
        assert "\n".join(lines[section.line - 1 : section.end_line - 1]) == section.text.removesuffix("\n")


@given(sound_notes() | notes(), st.sampled_from(KEYS), VALUES)
def test_setting_a_key_changes_only_its_lines_or_is_refused(raw: bytes, key: str, value: Any) -> None:
    """And reading it again gives the value that was set."""
    try:
        new = set_key(raw, key, value, path="a.md")
    except Refused:
        return
    found = parse(new, path="a.md", mtime=0.0).frontmatter[key]

    assert json.dumps(found) == json.dumps(as_read(value))
    if split_note(raw).opening:
        assert_only_this_key_changed(raw, new, key)
    assert set_key(new, key, value, path="a.md") == new


@example(b"---\ntitle: |+\n  keep\n\n\ntags: |+\n  keep\n\n\n---\n", "tags")  # its blank lines would join the title
@given(sound_notes() | notes(), st.sampled_from(KEYS))
def test_removing_a_key_takes_only_its_lines_or_is_refused(raw: bytes, key: str) -> None:
    """What is left says the same as before."""
    try:
        new = remove_key(raw, key, path="a.md")
    except Refused:
        return

    assert key not in parse(new, path="a.md", mtime=0.0).frontmatter
    if split_note(raw).opening:
        assert_only_this_key_changed(raw, new, key)


@given(sound_notes() | notes(), VALUES)
def test_setting_and_removing_a_new_key_gives_the_same_bytes(raw: bytes, value: Any) -> None:
    """A note that has a frontmatter is as it was."""
    assume(split_note(raw).opening and "unused" not in parse(raw, path="a.md", mtime=0.0).frontmatter)
    try:
        new = set_key(raw, "unused", value, path="a.md")
    except Refused:
        return

    assert remove_key(new, "unused", path="a.md") == raw


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_is_written_in_one_format(moment: datetime) -> None:
    """ISO 8601 with `T` and `Z`, whole seconds, read back as text."""
    raw = set_key(b"---\na: 1\n---\n", "at", moment, path="a.md")
    found = parse(raw, path="a.md", mtime=0.0).frontmatter["at"]

    assert found.endswith("Z")
    assert datetime.fromisoformat(found) == moment.replace(microsecond=0)
