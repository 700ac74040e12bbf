"""Large and hostile notes are parsed and chunked in time that grows with their size, and git's own markers are read."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from commonplace.notes import parse
from commonplace.notes.chunks import chunk_note
from commonplace.notes.parse import conflict_problems

MANY = 200_000
SIGNS = ("[", "`", "#", "%%", "[[a", "$", "[a](", "](", "<!--", "<a ", "\\", " ", "\r", "> ")
TOKEN = re.compile(r"\w{1,8}|[^\w\s]")


def tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text)]


@pytest.mark.parametrize(
    "text",
    [
        *(sign * MANY for sign in SIGNS),
        "- [fact] " + " #a" * MANY,
        " ".join("`" * length for length in range(1, 700)),
        "x %%\n\n" * 20_000,
        "---\n" + "a: 1\n" * 20_000 + "---\n",
    ],
    ids=lambda text: text[:8].strip() + f" x {len(text)}",
)
def test_work_grows_with_the_text_and_no_faster(text: str) -> None:
    """So many of any sign take a tenth of a second or two; anything quadratic would take minutes."""
    start = time.thread_time()
    parse(text.encode(), path="a.md", mtime=0.0)

    assert time.thread_time() - start < 4


def test_a_note_of_megabytes_is_read_in_seconds() -> None:
    """Half a second per megabyte; a slow machine gets longer."""
    text = ("Some words about [[Links]] and #tags with `code`, a [link](Note.md) and more words.\n\n") * 24_000
    start = time.thread_time()
    note = parse(text.encode(), path="a.md", mtime=0.0)

    assert time.thread_time() - start < 12
    assert len(note.links) == 48_000


def test_many_conflict_markers_are_read_in_seconds() -> None:
    """Lines of markers that never complete a conflict do not make it slow."""
    text = "<<<<<<< a\n>>>>>>> b\n" * 100_000
    start = time.thread_time()

    assert conflict_problems(text, path="a.md") == ()
    assert time.thread_time() - start < 2


@pytest.mark.parametrize(
    "text",
    ["a" * 60_000, "東京" * 10_000, "w " * 20_000, "\x00" * 10_000, "- x\n" * 4_000, "```\n" + "x\n" * 4_000],
)
def test_no_chunk_is_too_long(text: str) -> None:
    """Chunks stay small, whatever the text is made of."""
    note = parse(text.encode(), path="Note.md", mtime=0.0)
    chunks = chunk_note(note, tokens=tokens, max_tokens=256, overlap=32)

    assert all(len(tokens(chunk.text)) <= 254 for chunk in chunks)
    assert max(len(chunk.text) for chunk in chunks) <= 254 * 16


def test_the_markers_that_git_writes_are_recognised(tmp_path: Path) -> None:
    """By the installed git."""
    for name, text in (("base", "a\nb\nc\n"), ("ours", "a\nour b\nc\n"), ("theirs", "a\ntheir b\nc\n")):
        (tmp_path / name).write_text(text)
    merged = subprocess.run(
        ["git", "merge-file", "--stdout", "ours", "base", "theirs"], cwd=tmp_path, capture_output=True, check=False
    )

    problems = parse(merged.stdout, path="a.md", mtime=0.0).problems
    assert [(problem.line, problem.code) for problem in problems] == [(2, "merge-conflict")]
