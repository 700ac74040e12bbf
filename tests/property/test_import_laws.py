"""Readers of other memories and notes, given damaged files: they tell of problems and go on, and never fail."""

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportedEntry,
    ImportedNote,
    ImportProblem,
    ImportSkip,
)
from commonplace.sources.imports.files import InMemoryFiles
from commonplace.sources.imports.registry import find_reader
from tests.import_examples.other_memories import example_contents
from tests.run_length import rounds

KINDS = (
    "mcp-memory",
    "mem0",
    "letta",
    "basic-memory",
    "logseq",
    "notion",
    "agentm",
    "donna",
    "istota",
    "vault-operator",
)
PIECES = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\n---\n",
    b'"',
    b"{",
    b"[[[[[[",
    b"]]",
    b"((",
    b"null",
    b"-1e999",
    b"\\ud800",
    "\u202e".encode(),
    b"id:: x",
    b"&a *a",
    b"../../x",
    b"\r",
    b"|" * 50,
)


@cache
def contents(kind: str) -> dict[str, bytes]:
    """The example, read once."""
    return example_contents(kind)


@st.composite
def damaged_files(draw: st.DrawFn, kind: str) -> InMemoryFiles:
    """An example with some of its files damaged or renamed."""
    files = dict(contents(kind))
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(sorted(files)))
        content = files[path]
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 200)))
        files[path] = content[:start] + draw(st.sampled_from(PIECES)) + content[end:]
        if draw(st.booleans()):
            files[path] = files[path][: draw(st.integers(0, len(files[path])))]
        if draw(st.integers(0, 5)) == 0:
            name = draw(st.text(max_size=12)).replace("/", "") or "x"
            files[f"{path.rpartition('/')[0]}/{name}.md".lstrip("/")] = files.pop(path)
    return InMemoryFiles(files, name=kind)


@pytest.mark.requirement("X-03")
@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=rounds(25, long=1500),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_damaged_files_give_problems_and_never_fail(kind: str, data: st.DataObject) -> None:
    """Whatever the files hold, every item is of a known kind, and no note would leave its folder."""
    files = data.draw(damaged_files(kind))
    reader = find_reader(kind)
    items = [*reader.read(files, reader.select(files))]

    known = (ImportedConversation, ImportedEntry, ImportedNote, ImportProblem, ImportSkip)
    assert all(isinstance(each, known) for each in items)
    paths = [each.path for each in items if isinstance(each, ImportedNote)]
    assert len({path.casefold() for path in paths}) == len(paths)
    for path in paths:
        parts = path.split("/")
        assert path.endswith(".md")
        assert not {"", ".", ".."} & {*parts}
        assert "\\" not in path
        assert all(each == each.strip() and len(each.encode()) < 200 for each in parts)
    texts = [each.candidate.text for each in items if isinstance(each, ImportedEntry)]
    assert all(text.encode() is not None for text in texts)
