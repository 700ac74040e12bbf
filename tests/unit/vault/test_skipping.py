"""What `skip` leaves out."""

from commonplace.vault.skipping import skipping


def test_a_file_is_left_out_by_its_name_or_by_any_folder_above_it() -> None:
    """A folder is asked for with a slash at its end, the upper ones first."""
    is_skipped = skipping(lambda path: path in ("draft.md", "A/b/"))

    assert [is_skipped(path) for path in ("draft.md", "A/b/c/d.md", "A/b.md", "A/draft.md", "note.md")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_each_folder_is_asked_for_once() -> None:
    """Skipping may mean matching many globs; a folder has many files."""
    asked: list[str] = []

    def skip(path: str) -> bool:
        asked.append(path)
        return False

    is_skipped = skipping(skip)
    for number in range(3):
        is_skipped(f"A/b/{number}.md")

    assert asked == ["A/", "A/b/", "A/b/0.md", "A/b/1.md", "A/b/2.md"]


def test_the_folder_that_is_listed_is_not_asked_for() -> None:
    """Whoever lists a folder that is skipped elsewhere wants to see it."""
    is_skipped = skipping(lambda path: path in ("A/", "A/b/", "A/b/c/"), below="A/b/")

    assert [is_skipped(path) for path in ("A/b/note.md", "A/b/c/note.md")] == [False, True]


def test_without_skip_nothing_is_left_out() -> None:
    """That is what None means."""
    assert not skipping(None)("anything.md")
