"""A merge that git could not finish is a problem of the note, and the note stays readable."""

import subprocess
import time
from pathlib import Path

import pytest

from commonplace.notes import parse
from commonplace.notes.conflict_markers import merge_conflict

CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"


def problems(text: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in parse(text.encode(), path="a.md", mtime=0.0).problems]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CONFLICT, 1),
        (f"---\ntitle: x\n---\n# H\n\n{CONFLICT}", 6),
        (f"text\n{CONFLICT}more\n{CONFLICT}", 2),
        (f"a\n```\n{CONFLICT}```\n", 3),
        (CONFLICT.replace("\n", "\r\n"), 1),
        (CONFLICT.rstrip("\n"), 1),
        ("<<<<<<< ours\na\n||||||| base\nb\n=======\nc\n>>>>>>> theirs\n", 1),
        ("<<<<<<<\na\n=======\n>>>>>>>", 1),
        (f"<<<<<<< like this\n\nTitle\n=======\n\n{CONFLICT}", 6),
    ],
    ids=["whole", "body", "two", "code", "crlf", "no line end", "with base", "no names", "a mark before it"],
)
def test_a_conflict_that_git_left_is_a_problem_at_its_first_mark(text: str, line: int) -> None:
    """Wherever in the note it is, with its line; the text is all there."""
    note = parse(text.encode(), path="a.md", mtime=0.0)

    assert [(problem.line, problem.code) for problem in note.problems] == [(line, "merge-conflict")]
    assert "merge conflict" in note.problems[0].message
    assert note.text == text


def test_a_conflict_in_the_frontmatter_is_told_before_what_it_breaks() -> None:
    """The keys cannot be read then; that has its cause in the conflict."""
    text = "---\nid: 1\n<<<<<<< HEAD\nstatus: active\n=======\nstatus: deleted\n>>>>>>> other\n---\nbody\n"
    note = parse(text.encode(), path="a.md", mtime=0.0)

    assert (note.problems[0].line, note.problems[0].code) == (3, "merge-conflict")
    assert (note.text, note.body) == (text, "body\n")


@pytest.mark.parametrize(
    "text",
    [
        "A title\n=======\n\ntext\n",
        "A title\n=======\n\n> a quote\n>>>>>>> of a quote\n",
        "<<<<<<< HEAD\nours\n>>>>>>> other\n",
        ">>>>>>> other\n=======\n<<<<<<< HEAD\n",
        "<<<<<<< HEAD\n========\n>>>>>>> other\n",
        "<<<<<<<< HEAD\n=======\n>>>>>>>> other\n",
        " <<<<<<< HEAD\n =======\n >>>>>>> other\n",
        "say <<<<<<< HEAD\nsay =======\nsay >>>>>>> other\n",
        "<<<<<<<HEAD\n=======\n>>>>>>>other\n",
    ],
    ids=["heading", "quote", "no middle", "backwards", "eight", "eights", "indented", "in a line", "no blank"],
)
def test_what_only_looks_like_marks_is_none(text: str) -> None:
    """All three, in order, each at the beginning of its line."""
    assert problems(text) == []


def test_what_git_writes_is_recognised(tmp_path: Path) -> None:
    """The real thing, by the git that is here."""
    for name, text in (("base", "a\nb\nc\n"), ("ours", "a\nour b\nc\n"), ("theirs", "a\ntheir b\nc\n")):
        (tmp_path / name).write_text(text)
    merged = subprocess.run(
        ["git", "merge-file", "--stdout", "ours", "base", "theirs"], cwd=tmp_path, capture_output=True, check=False
    )

    assert problems(merged.stdout.decode()) == [(2, "merge-conflict")]


def test_a_million_marks_are_read_in_passing() -> None:
    """No note makes this slow: lines of marks that never come to a conflict."""
    text = "<<<<<<< a\n>>>>>>> b\n" * 500_000
    start = time.perf_counter()

    assert merge_conflict(text, path="a.md") == ()
    assert time.perf_counter() - start < 10
