"""The reading flow on the in-memory twin."""

from pathlib import PurePath

import pytest

from commonplace.errors import NotFound, Refused, UsageError
from commonplace.flows.read import check_vault, links_of, list_notes, read_note, stat_note
from commonplace.model.progress import ignore_progress
from commonplace.vault.base import StorageBackend
from commonplace.vault.inmemory import InMemory


def store(**files: str) -> StorageBackend:
    vault = InMemory()
    with vault.transaction() as changes:
        for name, text in files.items():
            changes.write(vault.resolve(name.replace("__", "/") + ".md"), text.encode())
        changes.write(vault.resolve("picture.png"), b"\x89PNG")
    return vault


def nothing(path: str) -> bool:
    return False


@pytest.mark.parametrize("verb", [read_note, stat_note])
def test_a_file_that_is_no_note_is_refused_before_it_is_looked_for(verb: object) -> None:
    """`not_markdown`, whether the file is there or not."""
    for path in ("picture.png", "gone.txt", "folder"):
        with pytest.raises(Refused) as refused:
            verb(path, store(), skip=nothing)  # type: ignore[operator]

        assert refused.value.reason == "not_markdown"


def test_an_escape_is_refused_before_the_ending_is_looked_at() -> None:
    """The earlier check of the guard wins: `..` is an escape whatever it ends in."""
    with pytest.raises(Refused) as refused:
        read_note("../a.txt", store(), skip=nothing)

    assert refused.value.reason == "path_escape"


def test_only_notes_are_listed() -> None:
    """Attachments are in the vault, not in the list."""
    assert [stat.path for stat in list_notes("", store(b="", a="", c__d=""), skip=nothing)] == [
        "a.md",
        "b.md",
        "c/d.md",
    ]


def test_an_ignored_folder_is_left_out_of_list_and_check() -> None:
    """The globs of the settings hold for every look over the vault."""
    vault = store(a="[[x]]", Private__x="---\n- broken\n---\n")

    def private(path: str) -> bool:
        return path.startswith("Private/")

    assert [stat.path for stat in list_notes("", vault, skip=private)] == ["a.md"]
    assert check_vault(vault, skip=private, progress=ignore_progress, shows=lambda note: True).problems == ()


def test_a_missing_folder_is_not_found() -> None:
    """An empty list would be a lie."""
    with pytest.raises(NotFound):
        list_notes("Nowhere", store(), skip=nothing)


def test_links_to_attachments_and_aliases_resolve() -> None:
    """By name, by alias in another note's frontmatter, to a picture; what is nowhere stays None."""
    vault = store(a="[[b]] [[Bee]] ![[picture.png]] [[nowhere]]", b="---\naliases: [Bee]\n---\n")

    assert [link.path for link in links_of("a.md", vault, skip=nothing)] == ["b.md", "b.md", "picture.png", None]


def test_a_name_that_several_notes_have_tells_the_others() -> None:
    """The nearest wins, and the answer says which others it could have been."""
    (link,) = links_of("x/a.md", store(x__a="[[b]]", x__b="", y__b=""), skip=nothing)

    assert (link.path, link.also) == ("x/b.md", ("y/b.md",))


def test_a_suggestion_never_names_an_ignored_note() -> None:
    """What no command lists, no error lists."""
    with pytest.raises(NotFound) as missing:
        read_note("Gone.md", store(Trash__Gone="x"), skip=lambda path: path.startswith("Trash/"))

    assert "Trash" not in (missing.value.hint or "")


def test_a_path_object_names_a_note_and_anything_else_is_a_usage_error() -> None:
    """Programs hand in what they have."""
    assert read_note(PurePath("a.md"), store(a="x"), skip=nothing).body == "x"
    with pytest.raises(UsageError):
        read_note(None, store(), skip=nothing)  # type: ignore[arg-type]


def test_the_check_counts_each_note_and_reports_as_it_goes() -> None:
    """Progress ends at the number of notes."""
    seen: list[tuple[str, int, int]] = []
    check = check_vault(
        store(a="", b="---\nx: [\n---\n"),
        skip=nothing,
        progress=lambda what, done, total: seen.append((what, done, total)),
        shows=lambda note: True,
    )

    assert (check.notes, seen) == (2, [("notes", 1, 2), ("notes", 2, 2)])
    assert [(problem.path, problem.code) for problem in check.problems] == [("b.md", "invalid-yaml")]
