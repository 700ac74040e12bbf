"""The project at hand: the git repository that contains a folder; its name and its root.

A folder comes from a hook, a transcript or the client of a socket, so it is not trusted: nothing here runs git, raises,
or reads more than two small files.
"""

import os
import re
import stat
from dataclasses import dataclass
from typing import Final

from commonplace.errors import UsageError

_MOST_PARENTS: Final = 40  # folders that are looked at on the way up
_LONGEST_PATH: Final = 4096  # bytes; PATH_MAX of Linux
_LONGEST_FILE: Final = 64 << 10  # bytes of `.git/config` or of a `.git` file that are read
_LONGEST_NAME: Final = 80  # characters; GitHub allows a repository 100
_ORIGIN: Final = re.compile(r"""^\s*\[\s*remote\s+"origin"\s*\](?P<keys>[^\[]*)""", re.MULTILINE | re.IGNORECASE)
_URL: Final = re.compile(r"^\s*url\s*=\s*(?P<url>\S+)\s*$", re.MULTILINE | re.IGNORECASE)
_GIT_FOLDER: Final = re.compile(r"gitdir:\s*(?P<path>[^\n]+)")
_ODD: Final = re.compile(r"[^\w.+@ -]+")


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its name, and the absolute path of its repository's root; empty if only the name is known."""

    name: str
    root: str = ""


def project_at(folder: str, *, vault: str = "") -> Project | None:
    """The project of the repository that contains the folder, by its nearest ancestor with a `.git`.

    None outside of a repository, in one whose root is the home folder or `/`, and in the vault at `vault`. A worktree
    belongs to the project of its repository. The folder itself need not exist any more.
    """
    try:
        if not os.path.isabs(folder) or len(os.fsencode(folder)) > _LONGEST_PATH:
            return None
        start = os.path.realpath(folder)
        root = _repository_root(start)
        if not root or (vault and _is_of_vault(start, root, vault=os.path.realpath(vault))):
            return None
        return _project(root)
    except (OSError, ValueError):  # ValueError: a path with a zero byte, or one that is no text
        return None


def choose_project(name: str | None, folder: str, *, vault: str = "") -> Project | None:
    """The project of that name, or without a name that of the folder; None for an empty name.

    A project that is named has a root only if the folder is in its repository. Raises UsageError for a name without
    letters or digits.
    """
    here = project_at(folder, vault=vault) if folder and name != "" else None
    if name is None or not name.strip():
        return here if name is None else None
    clean = clean_project_name(name)
    if not any(each.isalnum() for each in clean):
        raise UsageError(f"{name!r} is not the name of a project", hint="Give a name such as commonplace.")
    return here if here and here.name.casefold() == clean.casefold() else Project(clean)


def clean_project_name(text: str) -> str:
    """The name of a project as one short line without odd characters; may be empty."""
    return " ".join(_ODD.sub("-", text).split())[:_LONGEST_NAME].strip(" -")


def _repository_root(start: str) -> str:
    """The nearest folder from `start` upwards with a `.git`, below the home folder and the root; empty if none."""
    home, folder = os.path.realpath(os.path.expanduser("~")), start
    for _ in range(_MOST_PARENTS):
        if folder == home or folder == os.path.dirname(folder):
            break
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        folder = os.path.dirname(folder)
    return ""


def _project(root: str) -> Project:
    git = os.path.join(root, ".git")
    if not os.path.isdir(git):
        git = _linked_git_folder(root, _text_of(git))
    main, last = os.path.split(git)
    owner, worktrees = os.path.split(main)
    if worktrees == "worktrees" and last:  # `.git/worktrees/NAME` of the repository that has the worktree
        git = owner
        root = os.path.dirname(owner) if os.path.basename(owner) == ".git" else root
    return Project(
        _origin_name(_text_of(os.path.join(git, "config"))) or clean_project_name(os.path.basename(root)), root
    )


def _linked_git_folder(root: str, text: str) -> str:
    """The folder that a `.git` file names; the file's own place if it names none."""
    named = _GIT_FOLDER.match(text)
    return os.path.realpath(os.path.join(root, named["path"].strip())) if named else os.path.join(root, ".git")


def _origin_name(config: str) -> str:
    """The last part of the address of the remote `origin`; empty if the text names none."""
    for section in _ORIGIN.finditer(config):
        if url := _URL.search(section["keys"]):
            parts = re.split(r"[/:\\]", url["url"].rstrip("/\\").removesuffix(".git").rstrip("/\\"))
            return clean_project_name(parts[-1])
    return ""


def _text_of(path: str) -> str:
    """The beginning of a file's text; empty if it cannot be read, or is no plain file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return ""
        return opened.read(_LONGEST_FILE).decode(errors="replace")


def _is_of_vault(start: str, root: str, *, vault: str) -> bool:
    """True if the folder is in the vault and its repository is the vault's own, not another one inside the vault."""
    return _is_within(start, vault) and _is_within(vault, root)


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
