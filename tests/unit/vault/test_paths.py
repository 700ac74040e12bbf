"""Which paths are valid, and which ones a skip function leaves out."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import Refused
from commonplace.testing.reads import ESCAPES, GIT_PATHS
from commonplace.vault.paths import (
    Spelling,
    is_temporary,
    is_unfinished,
    normal,
    printable,
    same_name,
    skip_filter,
    spelling,
    temporary_name,
    unfinished_name,
)


@pytest.mark.parametrize(
    ("path", "clean"),
    [
        ("note.md", "note.md"),
        ("./a//b/./c.md", "a/b/c.md"),
        ("a/b/", "a/b"),
        ("...md", "...md"),
        ("a/..b.md", "a/..b.md"),
        ("Über uns/日本.md", "Über uns/日本.md"),
        (".gitignore", ".gitignore"),
        ("git/config.md", "git/config.md"),
        ("Q&A: why?.md", "Q&A: why?.md"),
    ],
)
def test_a_path_is_cleaned_and_otherwise_kept(path: str, clean: str) -> None:
    """Only `.` components and doubled slashes are taken out."""
    assert normal(path) == clean


@pytest.mark.requirement("D-29", "D-33")
@pytest.mark.parametrize("path", ESCAPES)
def test_a_path_that_leads_out_is_an_escape(path: str) -> None:
    """Empty, absolute, stepping up, or with control characters: path_escape, with a hint."""
    with pytest.raises(Refused) as refusal:
        normal(path)

    assert (refusal.value.reason, bool(refusal.value.hint)) == ("path_escape", True)


@pytest.mark.parametrize("path", [*GIT_PATHS, ".g\u200cit/config", ".git::$INDEX_ALLOCATION/config"])
def test_git_keeps_its_folder(path: str) -> None:
    """Every name that some system takes for .git is refused, invisible characters and streams included."""
    with pytest.raises(Refused, match="belongs to git"):
        normal(path)


@pytest.mark.parametrize("name_of", [temporary_name, unfinished_name])
def test_names_of_temporary_files_are_refused(name_of: Callable[[str], str]) -> None:
    """A file that a crash left can never be mistaken for a note."""
    name = name_of("0123456789abcdef")

    assert is_temporary(name)
    assert is_unfinished(name) == (name_of is unfinished_name)
    with pytest.raises(Refused, match="reserved for temporary files"):
        normal(f"folder/{name}")


@pytest.mark.parametrize(("path", "said"), [("é" * 127 + ".md", "257 bytes"), ("a/\udcff.md", "not valid text")])
def test_what_cannot_be_stored_is_refused_with_a_hint(path: str, said: str) -> None:
    """Names over 255 bytes and names that are not text are refused before they reach the disk."""
    with pytest.raises(Refused, match=said) as refusal:
        normal(path)

    assert refusal.value.hint


@given(st.text(alphabet=st.sampled_from("a.~/\\: g i t é\u0301\n"), max_size=20))
def test_a_clean_path_is_clean_and_stays_inside(path: str) -> None:
    """Cleaning twice is cleaning once, and no clean path has an empty, '.' or '..' component."""
    try:
        clean = normal(path)
    except Refused:
        return

    assert normal(clean) == clean
    assert not {"", ".", ".."} & set(clean.split("/"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Note.md", "note.MD", True),
        ("Caf\u00e9.md", "CAFE\u0301.md", True),
        ("STRASSE", "stra\u00dfe", True),
        ("note.md", "notes.md", False),
    ],
)
def test_names_are_the_same_in_any_case_and_form(one: str, other: str, same: bool) -> None:
    """The key is what the least careful system would compare."""
    assert same_name(one, other) is same


@pytest.mark.parametrize(
    ("name", "siblings", "found"),
    [
        ("a.md", ["A.md", "a.md"], Spelling("a.md", exists=True)),
        ("caf\u00e9", ["cafe\u0301", "CAF\u00c9"], Spelling("cafe\u0301", exists=True)),
        ("a.md", ["b.md", "A.md"], Spelling("a.md", exists=False, twin="A.md")),
        ("a.md", ["b.md"], Spelling("a.md", exists=False)),
    ],
)
def test_a_name_is_spelled_as_the_folder_spells_it(name: str, siblings: list[str], found: Spelling) -> None:
    """Exactly first, then in another normalisation form; another case is only a twin."""
    assert spelling(name, siblings) == found


def test_what_is_shown_moves_no_cursor() -> None:
    """Undecodable bytes and control characters become a replacement mark."""
    assert printable("a\x1b[2J\udcff.md") == "a\ufffd[2J\ufffd.md"


def test_a_file_is_left_out_by_its_name_or_by_any_folder_above_it() -> None:
    """A folder is passed with a trailing slash, the upper ones first."""
    is_skipped = skip_filter(lambda path: path in ("draft.md", "A/b/"))

    assert [is_skipped(path) for path in ("draft.md", "A/b/c/d.md", "A/b.md", "A/draft.md", "note.md")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_each_folder_is_passed_to_skip_once() -> None:
    """Skipping may mean matching many globs, and a folder has many files."""
    calls: list[str] = []

    def skip(path: str) -> bool:
        calls.append(path)
        return False

    is_skipped = skip_filter(skip)
    for number in range(3):
        is_skipped(f"A/b/{number}.md")

    assert calls == ["A/", "A/b/", "A/b/0.md", "A/b/1.md", "A/b/2.md"]


def test_the_listed_folder_itself_is_not_skipped() -> None:
    """A folder that is listed by name is shown even if skip names it."""
    is_skipped = skip_filter(lambda path: path in ("A/", "A/b/", "A/b/c/"), below="A/b/")

    assert [is_skipped(path) for path in ("A/b/note.md", "A/b/c/note.md")] == [False, True]


def test_without_skip_nothing_is_left_out() -> None:
    """None skips nothing."""
    assert not skip_filter(None)("anything.md")
