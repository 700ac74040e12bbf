"""The project of a folder: read from `.git` as text, whatever the path is."""

import os
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.flows.project import Project, choose_project, project_at


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a repository of its own, as people keep one for their settings."""
    folder = tmp_path / "home"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def repository(folder: Path, config: str = "") -> Path:
    (folder / ".git").mkdir(parents=True)
    if config:
        (folder / ".git/config").write_text(config)
    return folder


def origin(url: str) -> str:
    return (
        f'[core]\n\tbare = false\n[remote "backup"]\n\turl = x/y\n[remote "origin"]\n\turl = {url}\n\tfetch = +refs\n'
    )


def test_a_folder_belongs_to_the_nearest_repository_above_it(home: Path) -> None:
    """The folder itself need not exist any more."""
    outer = repository(home / "code/atlas")
    inner = repository(outer / "vendor/boat")

    assert project_at(str(outer)) == Project("atlas", str(outer))
    assert project_at(str(outer / "src/gone")) == Project("atlas", str(outer))
    assert project_at(str(inner / "hull")) == Project("boat", str(inner))


def test_home_and_folders_outside_of_a_repository_have_no_project(home: Path) -> None:
    """A repository of settings in the home folder is not the project of everything below it."""
    (home / "letters").mkdir()

    assert project_at(str(home)) is None
    assert project_at(str(home / "letters")) is None
    assert project_at("/") is None


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@example.org:ada/engine.git", "engine"),
        ("https://ada:token123@example.org/ada/engine.git/", "engine"),
        ("ssh://example.org/ada/engine", "engine"),
        ("/srv/git/engine.git", "engine"),
        ("https://example.org/ada/weird<b>name\x07", "weird-b-name"),
        ("https://example.org/" + "x" * 500, "x" * 80),
        ("///", "folder"),
    ],
)
def test_the_remote_called_origin_names_the_project(home: Path, url: str, name: str) -> None:
    """Only the last part of its address: no user, no token, no odd characters, one short line."""
    root = repository(home / "folder", origin(url))

    assert project_at(str(root)) == Project(name, str(root))


def test_a_worktree_belongs_to_the_project_of_its_repository(home: Path) -> None:
    """So what was saved in the repository is there in each of its worktrees; a submodule is a project of its own."""
    root = repository(home / "atlas")
    (root / ".git/worktrees/fix").mkdir(parents=True)
    (root / ".git/modules/sail").mkdir(parents=True)
    (root / ".git/modules/sail/config").write_text(origin("x/sails.git"))
    tree, part = home / "trees/fix", root / "sail"
    tree.mkdir(parents=True)
    part.mkdir()
    (tree / ".git").write_text(f"gitdir: {root}/.git/worktrees/fix\n")
    (part / ".git").write_text("gitdir: ../.git/modules/sail\n")

    assert project_at(str(tree)) == Project("atlas", str(root))
    assert project_at(str(part)) == Project("sails", str(part))


def test_the_vault_is_no_project_but_a_repository_inside_it_is(home: Path) -> None:
    """Whether the vault is a repository or a folder in one."""
    vault = repository(home / "vault")
    inside = repository(vault / "Code/atlas")
    larger = repository(home / "larger")

    assert project_at(str(vault / "Notes"), vault=str(vault)) is None
    assert project_at(str(inside), vault=str(vault)) == Project("atlas", str(inside))
    assert project_at(str(larger / "notes/a"), vault=str(larger / "notes")) is None
    assert project_at(str(larger / "src"), vault=str(larger / "notes")) == Project("larger", str(larger))


@pytest.mark.parametrize("folder", ["", "code", "~", "/a\0b", "/\ud800", "/" + "a/" * 3000, "/dev/null/x"])
def test_a_path_that_cannot_be_used_is_no_error(folder: str) -> None:
    """It comes from other programs."""
    assert project_at(folder) is None


def test_odd_files_in_a_repository_are_no_error(home: Path) -> None:
    """A pipe would be read for ever, and a `.git` file may hold anything."""
    piped, odd, binary = repository(home / "piped"), home / "odd", repository(home / "binary")
    os.mkfifo(piped / ".git/config")
    (binary / ".git/config").write_bytes(b"\xff\x00[remote")
    odd.mkdir()
    (odd / ".git").write_text("nothing that git wrote")

    assert [project_at(str(each)) for each in (piped, odd, binary)] == [
        Project("piped", str(piped)),
        Project("odd", str(odd)),
        Project("binary", str(binary)),
    ]


def test_a_given_name_wins_over_the_folder(home: Path) -> None:
    """Its root is known only in its own repository; an empty name means no project."""
    root = repository(home / "Atlas")

    assert choose_project(None, str(root)) == Project("Atlas", str(root))
    assert choose_project("atlas", str(root)) == Project("Atlas", str(root))
    assert choose_project("boat", str(root)) == Project("boat")
    assert choose_project("", str(root)) is None
    assert choose_project(None, "") is None
    with pytest.raises(UsageError, match="not the name of a project"):
        choose_project("--", str(root))
