"""A whole history as git hands it over and takes it: `fast-export` is read, and a repository is made by `fast-import`.

Nothing in a repository that is read is run or followed: links, repositories inside it and names that no store can have
are left out. In a repository that is made, every file is stored byte for byte, and no filter is applied to it.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from commonplace.errors import Refused
from commonplace.vault.git.baseline import new_repository, temporary_folder, write_info
from commonplace.vault.git.commit import Author
from commonplace.vault.git.location import FILE_MODES, find
from commonplace.vault.git.run import Git, git_failed, stop, version
from commonplace.vault.paths import normal, printable
from commonplace.vault.syscalls import translate_os_errors

BRANCH: Final = "refs/heads/main"
_ATTRIBUTES: Final = "* -text -filter -ident -working-tree-encoding"
_TIMEOUT_S: Final = 3600.0  # a history can be long
_FIRST_TO_ASK_ABOUT_SIGNATURES: Final = (2, 50)
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED: Final = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_NO_COMMIT: Final = ("unknown revision", "bad revision", "ambiguous argument")


@dataclass(frozen=True, slots=True)
class ExportedCommit:
    """A commit of a history: its number, those of its parents, and what it changed compared with the first of them.

    `files` has git's id of the new content of each path, None for a path that is gone. `author` and `committer` are
    as git writes them, with time and zone.
    """

    number: int
    id: str
    parents: tuple[int, ...]
    author: str
    committer: str
    body: bytes
    files: Mapping[str, str | None]


@dataclass(slots=True)
class _Draft:
    """A commit while its lines are read."""

    number: int = 0
    id: str = ""
    parents: list[int] = field(default_factory=list)
    author: str = ""
    committer: str = ""
    body: bytes = b""
    files: dict[str, str | None] = field(default_factory=dict)

    def commit(self) -> ExportedCommit:
        return ExportedCommit(
            self.number, self.id, tuple(self.parents), self.author, self.committer, self.body, self.files
        )


def read_history(git: Git, left_out: dict[str, str]) -> list[ExportedCommit]:
    """Every commit of the branch, parents first; none if it has no commit. Adds what it leaves out, with the reason."""
    prefix = find(git).prefix
    signed = ("--signed-commits=strip",) if version() >= _FIRST_TO_ASK_ABOUT_SIGNATURES else ()
    paths = ("--", prefix) if prefix else ()
    result = git.try_run(
        *("fast-export", "--no-data", "--show-original-ids", "--reencode=no", *signed, "HEAD", *paths),
        timeout=_TIMEOUT_S,
    )
    if not result.ok:
        if any(sign in result.stderr for sign in _NO_COMMIT):
            return []
        raise git_failed("fast-export", result.stderr)
    return parse_history(result.stdout, prefix=prefix.encode(), left_out=left_out)


def parse_history(stream: bytes, *, prefix: bytes = b"", left_out: dict[str, str]) -> list[ExportedCommit]:
    """The commits in what `git fast-export --no-data` prints; paths are relative to the prefix."""
    commits: list[ExportedCommit] = []
    numbers: dict[bytes, int] = {}
    draft: _Draft | None = None
    at = 0
    while at < len(stream):
        end = stream.find(b"\n", at)
        end = len(stream) if end < 0 else end
        word, _, rest = stream[at:end].partition(b" ")
        at = end + 1
        if word in (b"commit", b"reset") and draft:
            commits.append(draft.commit())
            draft = None
        if word == b"commit":
            draft = _Draft(number=len(commits) + 1)
        elif draft is None:
            continue
        elif word == b"data":
            draft.body, at = stream[at : at + int(rest)], at + int(rest)
        elif word == b"mark":
            numbers[rest] = draft.number
        elif word in (b"from", b"merge"):
            draft.parents += [numbers[rest]] if rest in numbers else []
        else:
            _read_line(draft, word, rest, prefix=prefix, left_out=left_out)
    return commits + ([draft.commit()] if draft else [])


def _read_line(draft: _Draft, word: bytes, rest: bytes, *, prefix: bytes, left_out: dict[str, str]) -> None:
    if word == b"original-oid":
        draft.id = rest.decode()
    elif word == b"author":
        draft.author = rest.decode(errors="replace")
    elif word == b"committer":
        draft.committer = rest.decode(errors="replace")
        draft.author = draft.author or draft.committer
    elif word == b"D":
        _note_change(draft, rest, None, prefix=prefix, left_out=left_out)
    elif word == b"M":
        mode, blob, path = rest.split(b" ", 2)
        is_file = mode.decode() in FILE_MODES
        kind = "" if is_file else "a link" if mode == b"120000" else "a repository of its own"
        _note_change(draft, path, blob.decode() if is_file else None, prefix=prefix, left_out=left_out, kind=kind)


def _note_change(
    draft: _Draft, quoted: bytes, blob: str | None, *, prefix: bytes, left_out: dict[str, str], kind: str = ""
) -> None:
    raw = _unquoted(quoted)
    if not raw.startswith(prefix):
        return
    path = os.fsdecode(raw.removeprefix(prefix))
    try:
        is_usable = normal(path) == path
    except Refused:
        is_usable = False
    if kind or not is_usable:
        left_out[printable(path)] = kind or "not a name that a note can have"
    if is_usable:
        draft.files[path] = blob


def _unquoted(path: bytes) -> bytes:
    if not path.startswith(b'"'):
        return path
    return _ESCAPE.sub(lambda match: _character(match[1]), path[1:-1])


def _character(escape: bytes) -> bytes:
    return bytes([int(escape, 8)]) if escape.isdigit() else _ESCAPED.get(escape, escape)


# ---------------------------------------------------------------- making a repository


def commit_lines(commit: ExportedCommit, marks: Callable[[str], int], *, first_mark: int) -> Iterator[bytes]:
    """The commit for `fast-import`. `marks` has the mark of each content; that of a commit follows `first_mark`."""
    if not commit.parents:
        yield b"reset %s\n" % BRANCH.encode()
    yield b"commit %s\nmark :%d\n" % (BRANCH.encode(), first_mark + commit.number)
    yield f"author {commit.author}\ncommitter {commit.committer}\n".encode()
    yield b"data %d\n%s\n" % (len(commit.body), commit.body)
    for place, parent in enumerate(commit.parents):
        yield b"%s :%d\n" % (b"merge" if place else b"from", first_mark + parent)
    for path in sorted(path for path, blob in commit.files.items() if blob is None):
        yield b"D %s\n" % _quoted(path)
    for path, blob in sorted(commit.files.items()):
        if blob is not None:
            yield b"M 100644 :%d %s\n" % (marks(blob), _quoted(path))


def blob_lines(mark: int, content: bytes) -> bytes:
    """A content for `fast-import`."""
    return b"blob\nmark :%d\ndata %d\n%s\n" % (mark, len(content), content)


def _quoted(path: str) -> bytes:
    return b'"%s"' % path.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"')


@contextmanager
def repository_of_stream(folder: Path, stream: Iterable[bytes], *, author: Author) -> Iterator[Callable[[], None]]:
    """A repository with the history in the stream. It becomes the folder's own when the block calls what comes back.

    Call it with the vault's lock, and write the files first. Raises VaultUnavailable.
    """
    root = folder.resolve()
    with translate_os_errors(str(root), doing="create a repository in"), temporary_folder(root) as workshop:
        git = new_repository(root, workshop)
        for name, value in (("user.name", author.name), ("user.email", author.email), ("core.autocrlf", "false")):
            git.run("config", "--local", name, value)
        git.run("symbolic-ref", "HEAD", BRANCH)
        write_info(git, attributes=_ATTRIBUTES)
        _import(git, stream)

        def publish() -> None:
            if git.try_run("rev-parse", "--verify", "--quiet", "HEAD").ok:
                git.run("read-tree", "HEAD", timeout=_TIMEOUT_S)
                git.try_run("update-index", "-q", "--refresh", timeout=_TIMEOUT_S)
            os.rename(workshop / ".git", root / ".git")

        yield publish


def _import(git: Git, stream: Iterable[bytes]) -> None:
    process = git.start("fast-import", "--quiet", "--date-format=raw-permissive", "--force")
    assert process.stdin is not None  # noqa: S101 (it was started with pipes)
    try:
        try:
            for chunk in stream:
                process.stdin.write(chunk)
            process.stdin.close()
        except BrokenPipeError:
            pass  # git has said why
        process.stdin = None
        _, said = process.communicate(timeout=_TIMEOUT_S)
    finally:
        stop(process)
    if process.returncode:
        raise git_failed("fast-import", said.decode(errors="replace"))


def present_files(git: Git) -> list[str]:
    """The files of the working tree that git tracks or would track. Raises VaultUnavailable."""
    switches = ("-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    names = git.run("ls-files", *switches, timeout=_TIMEOUT_S).fields
    return [name for name in names if not name.endswith("/")]
