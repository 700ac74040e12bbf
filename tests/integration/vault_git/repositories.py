"""Real repositories for the tests: created and inspected with plain git, as a person would."""

import os
import stat
import subprocess
from pathlib import Path

from commonplace.screening.secrets import is_secret_file
from commonplace.vault.git.baseline import put_under_git
from commonplace.vault.git.commit import Author, NewCommit
from commonplace.vault.git.repository import Repository

US = Author("Commonplace", "commonplace@localhost")
PERSON = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def git(folder: Path, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
    """What plain git prints."""
    run = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=os.environ | PERSON,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or run.returncode == 0, run.stderr
    return run.stdout


def write(folder: Path, path: str, content: bytes = b"text\n") -> Path:
    """The file, with its folders."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def adopted(folder: Path, *switches: str) -> Path:
    """A person's repository with one committed note, `a.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main", *switches)
    write(folder, "a.md", b"one\n")
    git(folder, "add", "a.md")
    git(folder, "commit", "--quiet", "--message=first")
    return folder


def opened(folder: Path, *, filters: bool = False) -> Repository:
    """Our view of it."""
    return Repository(folder, author=US, filters=filters)


def created(folder: Path) -> Repository:
    """The same, made when it is missing."""
    put_under_git(folder, author=US, is_secret=is_secret_file)
    return opened(folder)


def put(repository: Repository, folder: Path, path: str, content: bytes | None) -> str:
    """Write or remove a file as the backend does: check, publish, commit, stage. The id of the commit."""
    repository.refuse_if_busy()
    repository.refuse_unwritable([path])
    repository.tracked_blobs([path])
    if content is None:
        (folder / path).unlink()
    else:
        write(folder, path, content)
    kind = (("Commonplace-Kind", "write"),)
    (commit,) = repository.commit([NewCommit(f"commonplace: write {path}", kind, {path: content})])
    repository.stage({path: None if content is None else repository.blob_id(path, content)})
    return commit


def script(file: Path, body: str) -> Path:
    """A program that git could be configured to run."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def status(folder: Path) -> str:
    """What a person sees as changed."""
    return git(folder, "status", "--porcelain")


def everything(folder: Path, *, but: str) -> tuple[str, ...]:
    """All that git can tell of working tree and index, without one path."""
    shown = (
        git(folder, "status", "--porcelain=v2", "--untracked-files=all", "--ignored"),
        git(folder, "ls-files", "--stage", "--debug"),
        git(folder, "diff", "--cached", "--raw", "--no-renames"),
        git(folder, "diff", "--cached", "--", ".", f":(exclude){but}"),
        git(folder, "diff", "--raw", "--no-renames"),
    )
    return tuple("\n".join(_blocks_without(each, but)) for each in shown)


def _blocks_without(text: str, path: str) -> list[str]:
    lines, skipping = [], False
    for line in text.splitlines():
        if not line.startswith("  "):  # --debug puts what belongs to an entry on indented lines below it
            skipping = line.endswith(path)
        if not skipping:
            lines.append(line)
    return lines
