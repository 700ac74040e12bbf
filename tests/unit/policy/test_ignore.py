"""Ignore globs."""

import pytest

from commonplace.policy.options import ignores


@pytest.mark.parametrize(
    ("glob", "path", "ignored"),
    [
        (".obsidian/**", ".obsidian/", True),
        (".obsidian/**", ".obsidian/app.json", True),
        (".obsidian/**", ".obsidian/plugins/x/main.js", True),
        (".obsidian/**", ".Obsidian/app.json", True),
        (".obsidian/**", "Projects/.obsidian/app.json", False),
        (".obsidian/**", ".obsidian-notes.md", False),
        ("**/private/**", "a/b/private/c.md", True),
        ("**/private/**", "private/c.md", True),
        ("*.tmp.md", "a.tmp.md", True),
        ("*.tmp.md", "b/a.tmp.md", False),
        ("**/*.tmp.md", "b/a.tmp.md", True),
        ("Daily/2026-??-01.md", "Daily/2026-10-01.md", True),
        ("Daily/[!0-9]*.md", "Daily/2026.md", False),
        ("Daily/[0-9]*.md", "Daily/2026.md", True),
        ("a[.md", "a[.md", True),
        ("a+b(c).md", "a+b(c).md", True),
        ("Archive/", "Archive/", True),
    ],
)
@pytest.mark.requirement("D-06")
def test_a_glob_covers_what_it_says(glob: str, path: str, ignored: bool) -> None:
    """`*` stays in one component, `**` crosses them, `Folder/**` covers the folder, case does not count."""
    assert ignores([glob])(path) is ignored


def test_no_globs_ignore_nothing() -> None:
    """An empty list is allowed."""
    assert not ignores([])("a.md")
