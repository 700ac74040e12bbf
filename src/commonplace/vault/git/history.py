"""The history of a branch: which commits touched a path, the tree at a point in time, and three-way merges.

A point in time is looked up on the first-parent line of the branch: a merged-in commit counts from its merge on.
"""

import json
import os
import re
import secrets
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Final

from commonplace.errors import Refused, UsageError, VaultUnavailable
from commonplace.model import Problem, Stat
from commonplace.model.layout import wordless_path
from commonplace.vault.base import KIND, CommitChange, Listing, Merge, Rename, Revision, Skip
from commonplace.vault.git.location import FILE_MODES
from commonplace.vault.git.run import Git, GitCommand, GitResult, git_failed, literal_pathspec
from commonplace.vault.paths import is_git, is_temporary, normal, printable, skip_filter

MUTATION: Final = "Commonplace-Mutation"
PATH: Final = "Commonplace-Path"
"""The trailer that names a file of the commit; one for each."""

_MOST_PATH_TRAILERS: Final = 50
_NEWEST: Final = 500
_FIELDS: Final = "%H%x00%ct%x00%ci%x00%an%x00 %B%x00"  # the blank: a message can begin with any character
_ZONE: Final = re.compile(r" ([+-])([0-9]{2})([0-5][0-9])$")
_FIRST_NEGATIVE: Final = 1 << 63
_LAST_SECOND: Final = 253_402_214_400  # 9999-12-31: a datetime ends with that year, in whatever time zone
_TRAILER: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*):(?: (.*))?")
_CHERRY_PICK_LINE: Final = "(cherry picked from commit "  # git puts it among the trailers
_CHANGES: Final = {"A": "added", "M": "changed", "T": "changed", "D": "removed"}
_LOG: Final = ("log", "--no-color", "--no-decorate", "--no-show-signature", "--no-notes", "--encoding=UTF-8")
_PLAIN_DIFF: Final = ("--no-renames", "--no-ext-diff", "--no-textconv", "--relative", "-O/dev/null", "--name-status")
# A note that was renamed and edited at once still counts as renamed if a third of it is left; 1000 is git's own limit.
_RENAMING_DIFF: Final = ("--raw", "--no-abbrev", "-M30%", "-l1000", *_PLAIN_DIFF[1:-1])
_LONGEST_LOG_S: Final = 600.0  # a whole history is read once; 100,000 files in one commit take 2 s
_BYTES_AT_ONCE: Final = 16_000_000  # of blobs, in one answer of git
_REMOTE_KEYS: Final = r"^remote\..*\."
_LINK_MODE: Final = "120000"
_NO_COMMIT_YET: Final = ("unknown revision", "bad revision", "ambiguous argument")
_MOST_CONFLICTS: Final = 127  # merge-file's exit status is the number of conflicts, at most this
_CONFLICT_OPENS, _CONFLICT_CLOSES = b"<<<<<<< ", b">>>>>>> "


# Revisions


def find_mutation(git: Git, mutation: str) -> str | None:
    """The commit whose trailer has this mutation's id, if it is among the newest of the branch."""
    log = git.try_run(*_LOG, "-z", f"--max-count={_NEWEST}", "--format=%H%n%B")
    for each in os.fsdecode(log.stdout).split("\0"):
        commit, _, body = each.partition("\n")
        if split_message(body)[1].get(MUTATION) == mutation:
            return commit
    return None


def revisions(git: Git, path: str | None, *, ours: bool, limit: int | None) -> tuple[Revision, ...]:
    """The commits of the branch that touched the path, or the vault; newest first."""
    count = limit
    while True:
        candidates = _log(git, path, ours=ours, limit=count)
        chosen = [each for each in candidates if not ours or KIND in each.trailers]
        if count is None or limit is None or len(candidates) < count or len(chosen) >= limit:
            return tuple(chosen[:limit])
        count *= 2  # a person's text looked like our trailer


def held_by(git: Git, paths: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """How many commits of any branch or tag changed one of the paths, and the names of the remotes."""
    count = git.run("rev-list", "--count", "--full-history", "--all", "--", *map(literal_pathspec, paths)).stdout
    names = git.try_run("config", "-z", "--name-only", "--get-regexp", _REMOTE_KEYS).fields
    return int(count), tuple(sorted({name.split(".", 1)[1].rpartition(".")[0] for name in names}))


def split_message(body: str) -> tuple[str, Mapping[str, str]]:
    """The text of a message and its trailers: its last paragraph, if that consists of `Name: value` lines only.

    Git's own parser stops at a scissors line, wherever it is. The values of a repeated name are joined by line breaks.
    """
    body = body.strip()
    text, _, last = body.rpartition("\n\n")
    lines = [line for line in last.split("\n") if not line.startswith(_CHERRY_PICK_LINE)]
    matches = [match for line in lines if (match := _TRAILER.fullmatch(line.rstrip()))]
    if not text or not matches or len(matches) < len(lines):
        return body, {}
    trailers: dict[str, str] = {}
    for name, value in (match.groups(default="") for match in matches):
        trailers[name] = f"{trailers[name]}\n{_decode(value)}" if name in trailers else _decode(value)
    return text.strip(), trailers


def path_trailers(paths: Collection[str]) -> list[tuple[str, str]]:
    """The trailers that name these paths, those of entries without their words; none if there are very many."""
    return [(PATH, wordless_path(path)) for path in paths] if len(paths) <= _MOST_PATH_TRAILERS else []


def trailer_lines(trailers: Iterable[tuple[str, str]]) -> str:
    """The trailers, each on one line; `split_message` reads the same values back, except for line breaks."""
    return "\n".join(f"{name}: {_encode(value)}" for name, value in trailers)


def _encode(value: str) -> str:
    """The value on one line; as a JSON string when leading, trailing or repeated blanks or quotes could be lost."""
    value = re.sub(r"[\r\n]+", " ", value)
    is_plain = value == " ".join(value.split()) and value.isprintable() and '"' not in value
    return value if is_plain else json.dumps(value, ensure_ascii=not value.isprintable())


def _decode(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value


def _log(git: Git, path: str | None, *, ours: bool, limit: int | None) -> list[Revision]:
    if limit == 0:
        return []
    selection = ["--basic-regexp", f"--grep=^{KIND}: "] if ours else []  # else the configuration sets the pattern type
    if limit is not None:
        selection.append(f"--max-count={limit}")
    log = _CommitLog()
    result = git.try_run(
        *_LOG,
        *_PLAIN_DIFF,
        *selection,
        "-z",
        "--full-history",
        "--no-merges",
        log.format,
        "--",
        literal_pathspec(path) if path else ".",
    )
    if not result.ok and "does not have any commits yet" not in result.stderr:
        raise git_failed("log", result.stderr)
    return [_revision(record) for record in log.records(result)]


@dataclass(frozen=True, slots=True)
class _LogRecord:
    """One commit as `git log -z` prints it: what it is, and the fields of its changes."""

    commit: str
    when: datetime
    author: str
    body: str
    changes: Sequence[str]

    def revision(self, paths: Mapping[str, str]) -> Revision:
        """The commit with these paths, each with what became of it."""
        message, trailers = split_message(self.body)
        return Revision(self.commit, self.when, self.author, message, trailers, paths)


@dataclass(frozen=True, slots=True)
class _CommitLog:
    """A log whose commits begin with a mark that nobody can foresee: a file's name can be any other text."""

    mark: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def format(self) -> str:
        """The argument of `git log -z` by which it prints what `records` reads."""
        return f"--format={self.mark}{_FIELDS}"

    def records(self, result: GitResult) -> Iterator[_LogRecord]:
        """The commits in that order."""
        text = "\0" + result.stdout.decode(errors="surrogateescape").removesuffix("\0")
        for record in text.split(f"\0{self.mark}")[1:]:
            commit, seconds, date, author, body, _, *changes = record.split("\0")
            if changes:  # git puts an empty line between a commit and its changes
                changes[0] = changes[0].removeprefix("\n")
            yield _LogRecord(commit, moment_of(seconds, date), author, body, changes)


def moment_of(seconds: str, date: str = "") -> datetime:
    """The time of a commit, in the time zone at the end of its date.

    A commit can have any text there. A time that is no number, or a negative one, of which git prints the two's
    complement, counts as 1970, and one after the year 9999 as its end.
    """
    zone = _ZONE.search(date)
    offset = timedelta(hours=int(zone[2]), minutes=int(zone[3])) if zone else timedelta()
    if offset >= timedelta(days=1):
        offset = timedelta()
    number = int(seconds) if seconds.isdecimal() and seconds.isascii() else 0
    clamped = min(number, _LAST_SECOND) if number < _FIRST_NEGATIVE else 0
    return datetime.fromtimestamp(clamped, timezone(-offset if zone and zone[1] == "-" else offset))


def _revision(record: _LogRecord) -> Revision:
    pairs = zip(record.changes[::2], record.changes[1::2], strict=True)
    return record.revision({path: _CHANGES.get(letter[:1], "changed") for letter, path in pairs})


# The tree at a point in time


def commit_at(git: Git, when: datetime) -> str | None:
    """The newest commit whose committer time is not later. Raises UsageError for a time without a time zone."""
    if when.tzinfo is None:
        raise UsageError(
            f"the time {when.isoformat()} has no time zone", hint="Give it one, such as datetime.now(UTC)."
        )
    seconds = int(when.timestamp() // 1)
    if seconds < 0:
        return None  # git counts from 1970
    return _on_first_parents(git, "--max-count=1", f"--min-age={seconds}") or None


def begins(git: Git) -> datetime | None:
    """The time of the oldest first-parent commit; in a shallow clone, of the oldest one it has."""
    line = _on_first_parents(git, "--max-parents=0", "--timestamp")
    return moment_of(line.split(" ")[0]) if line else None


def list_at(git: Git, commit: str, *, skip: Skip | None) -> Listing:
    """The files below the vault's folder in that commit, with the commit's time, sorted by path.

    Sizes are those of the stored blobs: line endings may differ in the working tree.
    Raises VaultUnavailable when there is no such commit.
    """
    when, tree = git.run_all(
        GitCommand(("rev-list", "--max-count=1", "--timestamp", "--end-of-options", f"{commit}^0", "--")),
        GitCommand(("ls-tree", "-r", "-z", "--long", "--end-of-options", f"{commit}^0")),
    )
    commit_time = moment_of(os.fsdecode(when.stdout).split(" ", 1)[0]).timestamp()
    is_skipped = skip_filter(skip)
    files, passed_over = list[Stat](), list[Problem]()
    for mode, size, path in _tree_entries(tree):
        if any(is_git(name) or is_temporary(name) for name in path.split("/")) or is_skipped(printable(path)):
            continue
        problem = _problem(path, mode)
        if problem:
            passed_over.append(problem)
        else:
            files.append(Stat(path, commit_time, int(size)))
    return Listing(tuple(sorted(files, key=lambda file: file.path)), tuple(sorted(passed_over)))


def _on_first_parents(git: Git, *selection: str) -> str:
    """The last line that `rev-list --first-parent` prints for the branch; "" when no commit is selected."""
    result = git.try_run("rev-list", "--first-parent", *selection, "HEAD", "--")
    if not result.ok:
        if any(sign in result.stderr for sign in _NO_COMMIT_YET):
            return ""
        raise git_failed("rev-list", result.stderr)
    return os.fsdecode(result.stdout).strip().rpartition("\n")[2]


def _tree_entries(tree: GitResult) -> Iterator[tuple[str, str, str]]:
    """Mode, size and path of each entry; the size of an entry that is not a file is a dash."""
    for each in tree.fields:
        entry, _, path = each.partition("\t")
        mode, _, _, size = entry.split()
        yield mode, size, path


def _problem(path: str, mode: str) -> Problem | None:
    """Why a path is left out, in the words of a folder listing."""
    try:
        normal(path)
    except Refused as refusal:
        return Problem(printable(path), 0, refusal.message, "unusable-name")
    if mode == _LINK_MODE:
        return Problem(path, 0, "a symbolic link: links are not followed", "symlink")
    if mode not in FILE_MODES:
        return Problem(path, 0, "a repository of its own: its files are not stored here", "submodule")
    return None


# Three-way merge


def merge(git: Git, *, base: bytes, ours: bytes, theirs: bytes) -> Merge:
    """The three-way merge of one note by `git merge-file`, in the line ending of `ours`."""
    ending = b"\r\n" if b"\r\n" in ours else b"\n"
    try:
        with tempfile.TemporaryDirectory(prefix="commonplace-merge-") as folder:
            names = []
            for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
                file = Path(folder, name)
                file.write_bytes(_with_ending(content, ending))
                names.append(str(file))
            labels = ("-L", "now", "-L", "before", "-L", "other")
            result = git.try_run("merge-file", "-p", *labels, *names, settings=("merge.conflictStyle=merge",))
    except OSError as error:
        raise VaultUnavailable(
            f"could not write the sides of a merge: {error.strerror}", hint="Check the folder for temporary files."
        ) from error
    if result.ok:
        return Merge(result.stdout, None)
    if result.code <= _MOST_CONFLICTS:
        return Merge(result.stdout, _first_conflict(result.stdout))
    if "binary" in result.stderr:
        return Merge(ours, "the note contains bytes that are not text")
    raise git_failed("merge-file", result.stderr)


def _with_ending(content: bytes, ending: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\n", ending)


def _first_conflict(content: bytes) -> str:
    lines: list[bytes] = []
    for line in content.splitlines(keepends=True):
        if lines or line.startswith(_CONFLICT_OPENS):
            lines.append(line)
        if lines and line.startswith(_CONFLICT_CLOSES):
            break
    return b"".join(lines).decode(errors="replace")


# What each commit changed


def first_parent_changes(git: Git, *, after: str | None, until: str) -> tuple[CommitChange, ...]:
    """What the commits of the first-parent line changed below the vault's folder, oldest first.

    From the one after `after`, or from the first, to `until`. Raises VaultUnavailable if `after` does not exist.
    """
    span = f"{after}..{until}" if after else until
    log = _CommitLog()
    result = git.run(
        *_LOG,
        *_RENAMING_DIFF,
        "-z",
        "--first-parent",
        "-m",
        "--reverse",
        log.format,
        "--end-of-options",
        span,
        "--",
        timeout=_LONGEST_LOG_S,
    )
    return tuple([_commit_change(record) for record in log.records(result)])


def first_parents(git: Git, commit: str, *, limit: int | None) -> tuple[str, ...]:
    """The commits of the first-parent line that ends in this one, newest first; at most `limit`."""
    most = () if limit is None else (f"--max-count={limit}",)
    result = git.run("rev-list", "--first-parent", *most, "--end-of-options", commit, "--", timeout=_LONGEST_LOG_S)
    return tuple(os.fsdecode(result.stdout).split())


def raw_blobs(git: Git, ids: Sequence[str], *, largest: int) -> Iterator[bytes | None]:
    """The blobs as git stores them, in this order; None for one that is missing or larger than so many bytes."""
    checked = _batch(git, "--batch-check=%(objectname) %(objecttype) %(objectsize)", ids).stdout.splitlines()
    group, size = list[str](), 0
    for each, line in zip(ids, checked, strict=True):
        _, *found = line.split()
        if found[:1] != [b"blob"] or int(found[1]) > largest:
            yield from _contents(git, group)
            group, size = [], 0
            yield None
            continue
        group.append(each)
        size += int(found[1])
        if size > _BYTES_AT_ONCE:
            yield from _contents(git, group)
            group, size = [], 0
    yield from _contents(git, group)


def _contents(git: Git, ids: Sequence[str]) -> Iterator[bytes]:
    """The contents of existing blobs, read by one process."""
    output, at = _batch(git, "--batch", ids).stdout if ids else b"", 0
    for _ in ids:
        start = output.index(b"\n", at) + 1
        end = start + int(output[at : start - 1].rsplit(b" ", 1)[1])
        yield output[start:end]
        at = end + 1


def _batch(git: Git, form: str, ids: Sequence[str]) -> GitResult:
    return git.run("cat-file", form, stdin="".join(f"{each}\n" for each in ids).encode())


def _commit_change(record: _LogRecord) -> CommitChange:
    blobs, before = dict[str, str](), dict[str, str]()
    paths, renames = dict[str, str](), list[Rename]()
    rest = iter(record.changes)
    for entry in rest:
        old_mode, mode, old_blob, blob, status = entry.removeprefix(":").split(" ")
        path = next(rest)
        if old_mode in FILE_MODES:
            before[path] = old_blob
        if status.startswith(("R", "C")):
            source, path = path, next(rest)
            renames.append(Rename(source, path, int(status[1:] or 0)))
            if status.startswith("R"):
                paths[source] = "removed"
        paths[path] = "added" if status[0] in "RC" else _CHANGES.get(status[:1], "changed")
        if paths[path] != "removed" and mode in FILE_MODES:
            blobs[path] = blob
    return CommitChange(record.revision(paths), blobs, tuple(renames), before)


def changes_since(git: Git, commit: str | None) -> tuple[CommitChange, ...] | None:
    """What each commit of the branch changed, oldest first, merged-in ones included; those after `commit`, if given.

    None if the branch does not contain that commit.
    """
    if commit and not git.try_run("merge-base", "--is-ancestor", commit, "HEAD").ok:
        return None
    span = f"{commit}..HEAD" if commit else "HEAD"
    log = _CommitLog()
    result = git.try_run(
        *_LOG,
        *_RENAMING_DIFF,
        *("-z", "--no-merges", "--topo-order", "--reverse", log.format, "--end-of-options", span, "--"),
        timeout=_LONGEST_LOG_S,
    )
    if not result.ok:
        if any(sign in result.stderr for sign in _NO_COMMIT_YET):
            return ()
        raise git_failed("log", result.stderr)
    return tuple([_commit_change(record) for record in log.records(result)])
