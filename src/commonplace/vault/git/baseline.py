"""The first commit of a new vault: which files it takes, which it leaves out and why, and the repository for it.

The repository is made in a temporary folder of the vault and gets its name `.git` when it is complete, so that a vault
has either a whole repository or none, whatever happens in between.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from commonplace.vault.base import KIND
from commonplace.vault.git.commit import Author
from commonplace.vault.git.location import covers, find
from commonplace.vault.git.own_files import open_below, replace_below
from commonplace.vault.git.path_state import TEMPORARY_FILES, PathStates, exclude_line, stdin_paths
from commonplace.vault.git.run import Git, version
from commonplace.vault.paths import is_temporary
from commonplace.vault.syscalls import read_regular, translate_os_errors
from commonplace.vault.temporary_files import new_temporary_name

LARGE_FILE_BYTES: Final = 10_000_000
"""A larger file that is not a note is left out: git keeps every version of it forever, and hosts refuse 100 MB."""

ATTRIBUTES: Final = "*.md -text\n"
"""Notes are stored byte for byte, whatever line endings they have and whatever is configured for other repositories."""

LeftOutReason = Literal["secret", "hidden", "dependencies", "large", "repository", "filtered", "unreadable"]
IsSecret = Callable[[str, bytes], bool]
"""True if a file of that path in the vault, with these bytes, holds a secret."""

_VAULT: Final = "Commonplace-Vault"
_EXCLUDE_TITLE: Final = "# Left out by `commonplace init`. Remove a line to let git see the file again.\n"
_EXCLUDED_REASONS: Final = frozenset({"secret", "hidden", "dependencies", "large"})
_DEPENDENCIES: Final = frozenset({"node_modules", "bower_components", "__pycache__", "site-packages", "venv"})
"""Folders that a program filled and can fill again. Others, such as `.venv`, are hidden anyway."""
_NOTE_ENDINGS: Final = (".md", ".markdown", ".canvas")
_HIDDEN_FILES_TAKEN: Final = frozenset(
    {".gitignore", ".gitattributes", ".commonplace.toml", ".commonplace.yaml", ".commonplace.yml"}
)
_SAMPLE_BYTES: Final = 64_000  # a file with a zero byte in these is no text, and holds no key that could be found
_INTO_ONE_PACK: Final = ("core.bigFileThreshold=1",)  # seven times as fast as one object file a note, at 10,000 notes
_FIRST_WITH_PACKING: Final = (2, 37)
_TIMEOUT_S: Final = 3600.0  # a vault can hold many pictures


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that the first commit leaves out, or a folder (its path ends with a slash) with that many files."""

    path: str
    reason: LeftOutReason
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """The files of a first commit, how many of them are notes, their size in bytes, and what is left out.

    Notes are taken whatever is in them; `notes_with_keys` are those with what looks like a private key or a token.
    """

    files: tuple[str, ...]
    notes: int
    size: int
    left_out: tuple[LeftOut, ...]
    notes_with_keys: tuple[str, ...]


def plan_baseline(folder: Path, *, is_secret: IsSecret) -> Baseline:
    """What the first commit of a folder would hold; changes nothing in it. Raises VaultUnavailable.

    Files that the person's own `.gitignore` names are neither taken nor listed.
    """
    root = folder.resolve()
    with tempfile.TemporaryDirectory(prefix="commonplace-") as temporary:
        git = new_repository(root, Path(temporary))
        paths = [
            path
            for path in git.run("ls-files", "-z", "--others", "--exclude-standard", timeout=_TIMEOUT_S).fields
            if not is_temporary(path.partition("/")[0]) and not is_temporary(path.rpartition("/")[2])
        ]
        attributes = PathStates(git, find(git)).attributes([path for path in paths if not path.endswith("/")])
        filtered = {path for path, each in attributes.items() if each.driver is not None}
    taken, left_out = [], []
    for path in paths:
        reason = "filtered" if path in filtered else _reason(root, path, is_secret=is_secret)
        taken += [path] if reason is None else []
        left_out += [(path, reason)] if reason else []
    return Baseline(
        files=tuple(taken),
        notes=sum(is_note(path) for path in taken),
        size=sum(_size(root, path) for path in taken),
        left_out=_grouped(root, left_out),
        notes_with_keys=tuple(path for path in taken if is_note(path) and is_secret("", _text(root / path))),
    )


def is_note(path: str) -> bool:
    """True for a file of a kind that people write notes in."""
    return path.lower().endswith(_NOTE_ENDINGS)


def put_under_git(folder: Path, *, author: Author, is_secret: IsSecret) -> bool:
    """Create a repository for the folder unless one covers it; True if it was created. Raises VaultUnavailable."""
    if covers(Git(folder.resolve())):
        return False
    create_repository(folder, plan_baseline(folder, is_secret=is_secret), author=author)
    return True


def create_repository(folder: Path, baseline: Baseline, *, author: Author) -> None:
    """Create a repository in the folder, with the baseline as its first commit. Raises VaultUnavailable."""
    with prepared_repository(folder, baseline, author=author) as publish:
        publish()


@contextmanager
def prepared_repository(folder: Path, baseline: Baseline, *, author: Author) -> Iterator[Callable[[], None]]:
    """A repository with the baseline as its first commit. It becomes the folder's own when the block calls `publish`.

    Call it with the vault's lock. What a killed process left of an earlier attempt is removed. Raises VaultUnavailable.
    """
    root = folder.resolve()
    with translate_os_errors(str(root), doing="create a repository in"), temporary_folder(root) as workshop:
        git = new_repository(root, workshop)
        for name, value in (("user.name", author.name), ("user.email", author.email), ("core.autocrlf", "false")):
            git.run("config", "--local", name, value)
        write_info(git, left_out=baseline.left_out)
        _stage(git, baseline.files)
        _commit(git, author=author)
        yield lambda: os.rename(workshop / ".git", root / ".git")


@contextmanager
def temporary_folder(root: Path) -> Iterator[Path]:
    """A temporary folder in the vault, on the same file system as its `.git` will be."""
    for name in os.listdir(root):
        if is_temporary(name) and (root / name).is_dir() and not (root / name).is_symlink():
            shutil.rmtree(root / name)
    workshop = root / new_temporary_name()
    workshop.mkdir(mode=0o700)
    try:
        yield workshop
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def new_repository(root: Path, workshop: Path) -> Git:
    """A new repository in the workshop whose files are those of the root."""
    new = Git(workshop)
    has_default = new.try_run("config", "--get", "init.defaultBranch").ok
    new.run("init", "--quiet", *([] if has_default else ["--initial-branch=main"]))
    git = Git(root, git_dir=workshop / ".git")
    find(git)
    return git


def _reason(root: Path, path: str, *, is_secret: IsSecret) -> LeftOutReason | None:
    """Why the file is left out; None for one that is taken."""
    *folders, name = path.split("/")
    if not name:  # git lists a repository inside the folder as one folder
        return "repository"
    if any(folder.startswith(".") for folder in folders) or (name.startswith(".") and name not in _HIDDEN_FILES_TAKEN):
        return "hidden"
    if not _DEPENDENCIES.isdisjoint(folders):
        return "dependencies"
    if (root / path).is_symlink():
        return None  # git stores the link, not what it points to
    if not os.access(root / path, os.R_OK):
        return "unreadable"
    if is_note(path):
        return None
    if is_secret(path, _text(root / path)):
        return "secret"
    return "large" if _size(root, path) > LARGE_FILE_BYTES else None


def _size(root: Path, path: str) -> int:
    try:
        return os.lstat(root / path).st_size
    except OSError:
        return 0


def _text(file: Path) -> bytes:
    """The bytes of a text file, as far as a first commit would take them; of another file, or a link, none."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            sample = opened.read(_SAMPLE_BYTES)
            return b"" if b"\0" in sample else sample + opened.read(LARGE_FILE_BYTES)
    except OSError:
        return b""


def _grouped(root: Path, left_out: Sequence[tuple[str, LeftOutReason]]) -> tuple[LeftOut, ...]:
    """Each file on its own, the files of a hidden folder or of one with dependencies together."""
    groups: dict[tuple[str, LeftOutReason], list[int]] = {}
    for path, reason in left_out:
        shown = _folder_part(path) if reason in ("hidden", "dependencies") else path
        groups.setdefault((shown, reason), []).append(_size(root, path))
    return tuple(LeftOut(path, reason, len(sizes), sum(sizes)) for (path, reason), sizes in sorted(groups.items()))


def _folder_part(path: str) -> str:
    """The path up to the first name that is hidden or a folder's with dependencies, with a slash if it is a folder."""
    names = path.split("/")
    depth = next(n for n, name in enumerate(names, start=1) if name.startswith(".") or name in _DEPENDENCIES)
    return "/".join(names[:depth]) + ("/" if depth < len(names) else "")


def write_info(git: Git, *, left_out: Sequence[LeftOut] = (), attributes: str = ATTRIBUTES) -> None:
    """Write git's own files in the repository that say how notes are stored and what is never added."""
    location = find(git)
    kept_out = [each.path for each in left_out if each.reason in _EXCLUDED_REASONS]
    # a person's template can have brought files, and links to files outside
    lines = (read_regular(location.common_dir / "info" / "exclude") or b"").splitlines()
    lines += [*TEMPORARY_FILES.encode().splitlines(), *(_EXCLUDE_TITLE.encode().splitlines() if kept_out else [])]
    lines += [exclude_line(location, path) for path in kept_out]
    with open_below(location.common_dir, "info", makes=True) as folder:
        for name, content in (("attributes", [attributes.encode().strip()]), ("exclude", lines)):
            replace_below(folder, name, b"\n".join([*content, b""]), unfinished=new_temporary_name())


def _stage(git: Git, files: Sequence[str]) -> None:
    """Stage these files; one that has gone meanwhile is left out."""
    if files:
        packing = _INTO_ONE_PACK if version() >= _FIRST_WITH_PACKING else ()
        switches = ("-z", "--add", "--remove", "--stdin")
        git.run("update-index", *switches, stdin=stdin_paths(files), settings=packing, timeout=_TIMEOUT_S)


def _commit(git: Git, *, author: Author) -> None:
    switches = ("--quiet", "--allow-empty", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "--file=-")
    identity = [
        f"{role}.{field}"
        for role in ("user", "author", "committer")
        for field in (f"name={author.name}", f"email={author.email}")
    ]
    vault = os.urandom(8).hex()  # tells this repository from another with the same files, made in the same second
    message = f"commonplace: baseline of existing files\n\n{KIND}: baseline\n{_VAULT}: {vault}\n"
    git.run("commit", *switches, stdin=message.encode(), settings=identity, timeout=_TIMEOUT_S)
