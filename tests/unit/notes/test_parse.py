"""A note as a whole: text, version, and problems, including unresolved merge conflicts."""

import hashlib

import pytest

from commonplace.notes import parse

CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"


@pytest.mark.requirement("D-17")
def test_the_body_is_the_text_without_the_frontmatter() -> None:
    """Text keeps the mark, the fences and the line ends; body begins behind them."""
    raw = "\ufeff---\r\ntitle: x\r\n---\r\n# H\r\n\r\ntext\r\n".encode()
    note = parse(raw, path="A/b.md", mtime=12.5)

    assert note.text == raw.decode()
    assert note.body == "# H\r\n\r\ntext\r\n"
    assert (note.body_line, note.headings[0].line) == (4, 4)
    assert (note.frontmatter, note.path, note.mtime, note.size) == ({"title": "x"}, "A/b.md", 12.5, len(raw))
    assert note.version == hashlib.sha256(raw).hexdigest()
    assert note.problems == ()


def test_a_note_that_is_not_utf8_is_readable_and_says_so() -> None:
    """Bad bytes are replaced one for one, and the first bad line is a problem."""
    note = parse(b"---\na: \xff\n---\nb\xc3\n[[x]] \xe2\x82", path="a.md", mtime=0.0)

    assert note.frontmatter == {"a": "\ufffd"}
    assert note.body == "b\ufffd\n[[x]] \ufffd\ufffd"
    assert [(problem.line, problem.code) for problem in note.problems] == [(2, "not-utf8")]
    assert note.text[note.links[0].start : note.links[0].end] == "[[x]]"


@pytest.mark.parametrize(
    ("raw", "codes"),
    [
        (b"---\ntitle: x\n", ["unclosed-frontmatter"]),
        (b"---\nA rule.\n", []),
        (b"---\na: [\n---\ntext", ["invalid-yaml"]),
        (b"---\ntwo rules around words\n---\n", ["not-a-mapping"]),
        (b"", []),
    ],
)
def test_what_is_wrong_is_a_problem_and_the_rest_is_read(raw: bytes, codes: list[str]) -> None:
    """Nothing is raised, and the text is all there."""
    note = parse(raw, path="a.md", mtime=0.0)

    assert [problem.code for problem in note.problems] == codes
    assert note.text == raw.decode()


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
def test_a_conflict_that_git_left_is_a_problem_at_its_first_marker(text: str, line: int) -> None:
    """Wherever in the note it is, with its line; the text is all there."""
    note = parse(text.encode(), path="a.md", mtime=0.0)

    assert [(problem.line, problem.code) for problem in note.problems] == [(line, "merge-conflict")]
    assert "merge conflict" in note.problems[0].message
    assert note.text == text


def test_a_conflict_in_the_frontmatter_is_reported_before_what_it_breaks() -> None:
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
def test_text_that_only_looks_like_markers_is_not_a_conflict(text: str) -> None:
    """All three, in order, each at the beginning of its line."""
    assert parse(text.encode(), path="a.md", mtime=0.0).problems == ()
