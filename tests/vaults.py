"""Vaults for tests, copied from templates: making a repository takes ten git processes, copying one takes none.

A template is made in an environment of its own, and a copy has a first commit of its own, made now: nothing of the
test that happened to come first is in the others, and no two vaults are taken for one.
"""

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from unittest.mock import patch

from commonplace.app import copy_sample, put_under_git

Notes = tuple[tuple[str, bytes], ...]  # path and content
_FEW = 20  # files; a larger vault is made
_PERSONAL = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")


def make_vault(root: Path, notes: Mapping[str, str] | None = None) -> Path:
    """Put the folder under git, with these notes (path and text) in its first commit beside what is in it."""
    root.mkdir(parents=True, exist_ok=True)
    _write(root, [(path, text.encode()) for path, text in (notes or {}).items()])
    content = _small_notes(root)
    if content is None:
        put_under_git(root)
    else:
        _copy(_of_notes(content) / ".git", root / ".git")
        _commit_anew(root)
    return root


def sample_vault(root: Path, *, git: bool = True) -> Path:
    """The packaged sample vault in a new folder, under git or not."""
    _copy(_of_sample(), root, skipped="" if git else ".git")
    if git:
        _commit_anew(root)
    return root


def _small_notes(root: Path) -> Notes | None:
    """The notes, if the folder holds a few plain notes and nothing that `put_under_git` would look at."""
    files = [path for path in sorted(root.rglob("*")) if path.is_symlink() or not path.is_dir()]
    is_inside = any((folder / ".git").exists() for folder in (root, *root.parents))
    if is_inside or len(files) > _FEW or not all(_is_plain(path, root) for path in files):
        return None
    return tuple((path.relative_to(root).as_posix(), path.read_bytes()) for path in files)


def _is_plain(path: Path, root: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    mode = path.lstat().st_mode
    return path.suffix == ".md" and not is_hidden and stat.S_ISREG(mode) and stat.S_IMODE(mode) in (0o600, 0o644)


@cache
def _of_notes(notes: Notes) -> Path:
    root = _template()
    _write(root, notes)
    return _under_git(root)


@cache
def _of_sample() -> Path:
    root = _template()
    copy_sample(root)
    return _under_git(root)


def _template() -> Path:
    root = Path(tempfile.mkdtemp(prefix="commonplace-template-"))
    root.chmod(0o755)
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def _write(root: Path, notes: Iterable[tuple[str, bytes]]) -> None:
    for path, content in notes:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


def _under_git(root: Path) -> Path:
    """The folder, put under git by a person without settings of git or of ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "COMMONPLACE_"))}
    with tempfile.TemporaryDirectory() as home, patch.dict(os.environ, kept, clear=True):
        os.environ.update(dict.fromkeys(_PERSONAL, home))
        put_under_git(root)
    return root


def _copy(source: Path, target: Path, *, skipped: str = "") -> None:
    """Copy the files, as new ones."""
    shutil.copytree(
        source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(skipped), copy_function=shutil.copy
    )


def _commit_anew(root: Path) -> None:
    """Replace the first commit of a copy by one of this moment with a name of its own, as `put_under_git` makes it."""
    folder = root / ".git"
    branch = (folder / "HEAD").read_text().removeprefix("ref:").strip()
    old = (folder / branch).read_text().strip()
    commit = _object(folder, old)
    header, _, body = zlib.decompress(commit.read_bytes()).partition(b"\0")
    stamp, name = body.split(b"\n")[1].rsplit(b"> ", 1)[1], body.strip().rsplit(b" ", 1)[1]
    new_name = os.urandom(len(name) // 2).hex().encode()
    now = f"{int(time.time())} {time.strftime('%z')}".encode()
    now_body = body.replace(b"> " + stamp, b"> " + now).replace(name, new_name)
    content = b"commit %d\0%s" % (len(now_body), now_body)
    assert header.startswith(b"commit ")
    new = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    commit.unlink()
    _object(folder, new).parent.mkdir(exist_ok=True)
    _object(folder, new).write_bytes(zlib.compress(content, 1))
    _object(folder, new).chmod(0o444)
    replaced = {old.encode(): new.encode(), stamp: now, name: new_name}
    for file in (branch, "logs/HEAD", f"logs/{branch}", "COMMIT_EDITMSG"):
        text = (folder / file).read_bytes()
        for before, after in replaced.items():
            text = text.replace(before, after)
        (folder / file).write_bytes(text)


def _object(folder: Path, name: str) -> Path:
    return folder / "objects" / name[:2] / name[2:]
