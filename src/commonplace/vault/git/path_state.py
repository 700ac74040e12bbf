"""What git knows about paths: attributes, blobs in HEAD and in the index, ignored, excluded; and which paths we refuse.

A process costs milliseconds, so trees and the index are read without one, questions run in parallel, and an answer is
cached while the files that it was read from are unchanged: the index file and the branch, or the attribute files above
the path. Attributes can also come from files outside the repository, so their cache entries expire after a few seconds.
"""

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from commonplace.errors import CommonplaceError, Refused
from commonplace.vault.git.conversion import ATTRIBUTE_NAMES, Attributes, parse_attributes, plain_id
from commonplace.vault.git.index_file import IndexFile
from commonplace.vault.git.location import RepositoryLocation
from commonplace.vault.git.objects import ObjectReader
from commonplace.vault.git.own_files import not_followed, open_below, replace_below
from commonplace.vault.git.run import Git, GitCommand, GitResult, git_failed, literal_pathspec
from commonplace.vault.git.state import RepositoryStamp, head_commit, repository_stamp
from commonplace.vault.syscalls import ChangeStamp, change_stamp, read_regular, translate_os_errors

TEMPORARY_FILES: Final = ".commonplace-*.tmp\n.commonplace-*.part\n"
"""The lines of `info/exclude` by which a program that adds everything does not commit what a killed writer left."""

_EXPIRY_S: Final = 5.0
_FATAL: Final = 128
_MOST_ARGUMENTS: Final = 200  # beyond that the whole index is listed: a command line has a maximum length
_HERE: Final = "./"  # put before a path: one that begins with a colon would be read as pathspec magic
_PATTERN_CHARACTERS: Final = re.compile(r"([\\*?\[])")
_CONTROL_CHARACTERS: Final = re.compile(r"[\x00-\x1f\x7f]")
_BLANKS_AT_THE_END: Final = re.compile(r" +\Z")


@dataclass(frozen=True, slots=True)
class TrackedBlobs:
    """The ids of a path's blobs in HEAD and in the index; None where the path is not there."""

    head: str | None
    staged: str | None


@dataclass(frozen=True, slots=True)
class _CachedAttributes:
    """Attributes, the stamps of the files they were read from, and when they expire."""

    attributes: Attributes
    stamps: tuple[ChangeStamp, ...]
    until: float


@dataclass(frozen=True, slots=True)
class _CachedBlobs:
    """The blobs of some paths, and the stamp of index and branch they were read from."""

    stamp: RepositoryStamp
    blobs: Mapping[str, TrackedBlobs]


class PathStates:
    """What git knows about the paths of one vault, cached."""

    def __init__(self, git: Git, location: RepositoryLocation) -> None:
        self._git = git
        self._location = location
        self.objects = ObjectReader(git, location)
        self.index = IndexFile(location.git_dir, location.object_format)
        self._blobs = _CachedBlobs((), {})
        self._attributes: Mapping[str, _CachedAttributes] = {}
        self._excluded: dict[str, tuple[ChangeStamp, ...]] = {}

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """The paths that are ignored and not tracked. Fills the caches of attributes and blobs on the way.

        Raises Refused for a path in a submodule.
        """
        stamps, stamp = self._attribute_stamps(paths), repository_stamp(self._location)
        attribute_query = [] if self._are_cached(paths, stamps) else [_check_attr(paths)]
        ignore_query = self._ignore_query(paths)
        git = self._git if self._hides_rules(paths) else self._git.without_index()
        with ThreadPoolExecutor(1) as pool:  # git answers while we look at trees and the index
            answers = pool.submit(git.run_all, *attribute_query, *ignore_query)
            blobs = self._read_blobs(paths)
            *attributes, ignored = [*answers.result(), *([] if ignore_query else [GitResult(1, b"", "")])]
        if ignored.code == _FATAL:
            raise _in_submodule(ignored.stderr)
        if attributes:
            self._attributes = _read_attributes(attributes[0], stamps)
        self._blobs = _CachedBlobs(stamp, blobs)
        return [_without_prefix(path) for path in ignored.fields]

    def _ignore_query(self, paths: Sequence[str]) -> list[GitCommand]:
        """The question which of the paths git ignores; none when all are tracked. Raises Refused."""
        parsed = self.index.read().parsed
        if parsed:
            for path in paths:
                if above := parsed.submodule_above(self._name(path)):
                    raise _other_repository(path, repository=os.fsdecode(above).removeprefix(self._location.prefix))
            paths = [path for path in paths if parsed.mode(self._name(path)) is None]
        # what is not in the index need not be looked up there: at 100,000 notes, reading it takes git 20 ms
        command = ("check-ignore", "-z", "--stdin", *([] if self._hides_rules(paths) else ["--no-index"]))
        return [GitCommand(command, stdin_paths(paths), ok_codes=(0, 1, _FATAL))] if paths else []

    def _hides_rules(self, paths: Sequence[str]) -> bool:
        """True if attributes or ignore rules of these paths are in the index only, or we cannot read the index.

        A sparse checkout leaves such files out of the working tree, and git then reads them from the index, which takes
        long.
        """
        parsed = self.index.read().parsed
        if parsed is None:
            return True
        folders = {os.path.dirname(self._location.inside(path)) for path in paths}
        attributes = {file for folder in folders for file in self._attribute_files(folder)}
        files = attributes | {f"{file.removesuffix('.gitattributes')}.gitignore" for file in attributes}
        top = os.path.join(self._location.top, "")
        missing = (file.removeprefix(top) for file in files if not os.path.lexists(file))
        return any(parsed.mode(os.fsencode(name)) is not None for name in missing)

    def _are_cached(self, paths: Sequence[str], stamps: Mapping[str, tuple[ChangeStamp, ...]]) -> bool:
        cached = self._attributes
        return all(path in cached and _is_valid(cached[path], stamps[path]) for path in paths)

    def attributes(self, paths: Sequence[str]) -> Mapping[str, Attributes]:
        """The attributes of each path."""
        stamps = self._attribute_stamps(paths)
        cached = self._attributes
        if not self._are_cached(paths, stamps):
            # entries of one call expire together: refresh them all at once
            stale = list(cached) if all(path in cached for path in paths) else paths
            stamps = self._attribute_stamps(stale)
            git = self._git if self._hides_rules(stale) else self._git.without_index()
            (result,) = git.run_all(_check_attr(stale))
            self._attributes = cached = _read_attributes(result, stamps)
        return {path: cached[path].attributes for path in paths}

    def blobs(self, paths: Sequence[str]) -> Mapping[str, TrackedBlobs]:
        """The blobs of each path in HEAD and in the index.

        An empty file that is only staged counts as not staged: that is how git marks an intent to add.
        """
        stamp = repository_stamp(self._location)  # taken before the query: a change during it makes the next call ask
        cached = self._blobs
        if stamp != cached.stamp or not all(path in cached.blobs for path in paths):
            self._blobs = cached = _CachedBlobs(stamp, self._read_blobs(paths))
        return {path: cached.blobs[path] for path in paths}

    def modes(self, paths: Sequence[str]) -> Mapping[str, str]:
        """The mode of each path that is in the index."""
        if not paths:
            return {}
        if parsed := self.index.read().parsed:
            modes = {path: parsed.mode(self._name(path)) for path in paths}
            return {path: mode for path, mode in modes.items() if mode}
        pathspecs = [literal_pathspec(path) for path in paths] if len(paths) <= _MOST_ARGUMENTS else []
        fields = self._git.run("ls-files", "-z", "--stage", "--", *pathspecs).fields
        return {path: entry.split(" ")[0] for entry, _, path in (field.partition("\t") for field in fields)}

    def is_excluded(self, path: str) -> bool:
        """True if we have excluded exactly this path from git: `info/exclude` has a line for it."""
        return exclude_line(self._location, path) in _read_if_exists(_exclude_file(self._location)).splitlines()

    def exclude(self, path: str) -> None:
        """Keep git from ever adding this path, in any working tree of this clone.

        Raises Refused when git tracks it or would add it anyway, and for a path in another repository.
        """
        refuse_nested(self._git.folder, path)
        _append_exclude_lines(self._location, [exclude_line(self._location, path)])
        self.refuse_tracked(path)
        stamps = self._ignore_stamps(path)
        if self._excluded.get(path) == stamps:
            return
        if self.ignored([path]):
            self._excluded[path] = stamps
            return
        raise Refused(
            f"a .gitignore makes git include this path, and generated files must not be committed: {path}",
            path=path,
            hint=f"Find that line with 'git check-ignore -v --no-index \"{path}\"', and add the path after it.",
        )

    def _ignore_stamps(self, path: str) -> tuple[ChangeStamp, ...]:
        """The stamps of the files that decide whether git ignores a path that `info/exclude` names."""
        folders = PurePosixPath(self._location.inside(path)).parents
        files = [_exclude_file(self._location), *(self._location.top / each / ".gitignore" for each in folders)]
        return tuple(change_stamp(file) for file in files)

    def exclude_temporary_files(self) -> None:
        """Keep git from adding our temporary files, wherever they are; does nothing if it is told so already."""
        _append_exclude_lines(self._location, TEMPORARY_FILES.encode().splitlines())

    def refuse_tracked(self, path: str) -> None:
        """Raise Refused when git tracks the file, in whatever state: it would commit every change of it."""
        if self.modes([path]):
            raise Refused(
                f"git tracks this file, and generated files must not be committed: {path}",
                path=path,
                hint=f"Run 'git rm \"{path}\"' and commit that; the file is then generated again and left out of git.",
            )

    def _read_blobs(self, paths: Sequence[str]) -> Mapping[str, TrackedBlobs]:
        empty = plain_id(b"", self._location.object_format)
        heads, staged = self._head_blobs(paths), self._staged_blobs(paths)
        return {
            path: TrackedBlobs(heads[path], None if heads[path] is None and staged[path] == empty else staged[path])
            for path in paths
        }

    def _head_blobs(self, paths: Sequence[str]) -> Mapping[str, str | None]:
        commit = head_commit(self._git, self._location)
        if commit is None:
            return dict.fromkeys(paths)
        with self.objects.batch() as batch:
            tree = self.objects.tree_of(commit, batch)
            entries = {path: self.objects.find(tree, self._location.inside(path), batch) for path in paths}
        return {path: entry.id if entry and entry.is_blob else None for path, entry in entries.items()}

    def _staged_blobs(self, paths: Sequence[str]) -> Mapping[str, str | None]:
        if parsed := self.index.read().parsed:
            entries = {path: parsed.staged(self._name(path)) for path in paths}
            return {path: entry.id if entry and entry.is_blob else None for path, entry in entries.items()}
        (result,) = self._git.run_all(id_query([f":0:{self._location.inside(path)}" for path in paths]))
        return dict(zip(paths, read_ids(result), strict=True))

    def _name(self, path: str) -> bytes:
        """The path as the index has it."""
        return os.fsencode(self._location.inside(path))

    def _attribute_stamps(self, paths: Iterable[str]) -> dict[str, tuple[ChangeStamp, ...]]:
        """For each path, the stamps of the attribute files inside the repository that apply to it."""
        shared = change_stamp(os.path.join(self._location.common_dir, "info", "attributes"))
        by_folder: dict[str, tuple[ChangeStamp, ...]] = {}
        stamps = {}
        for path in paths:
            folder = os.path.dirname(self._location.inside(path))
            if folder not in by_folder:
                by_folder[folder] = (shared, *(change_stamp(name) for name in self._attribute_files(folder)))
            stamps[path] = by_folder[folder]
        return stamps

    def _attribute_files(self, folder: str) -> list[str]:
        files = [f"{self._location.top}/.gitattributes"]
        at = len(folder)
        while at > 0:
            files.append(f"{self._location.top}/{folder[:at]}/.gitattributes")
            at = folder.rfind("/", 0, at)
        return files


def refuse_unwritable(folder: Path, path_states: PathStates, paths: Sequence[str], *, filters: bool) -> None:
    """Raise Refused for the first path that is ignored, needs an external filter or is in another repository."""
    if not paths:
        return
    for path in paths:
        refuse_nested(folder, path)
    for path in path_states.ignored(paths):
        raise Refused(
            f"git ignores this path: {path}",
            path=path,
            reason="ignored",
            hint="Choose another path, or remove it from .gitignore: an ignored file would have no history.",
        )
    for path, attributes in path_states.attributes(paths).items():
        if attributes.driver and not filters:
            raise Refused(
                f"git passes this path through the external filter '{attributes.driver}': {path}",
                path=path,
                hint="Set vault.git_filters to true to let the filter run, or choose a path outside its pattern.",
            )


def refuse_nested(folder: Path, path: str) -> None:
    """Raise Refused for a path below a folder that is a repository of its own."""
    for parent in PurePosixPath(path).parents[:-1]:
        if os.path.lexists(folder / parent / ".git"):
            raise _other_repository(path, repository=str(parent))


def _append_exclude_lines(location: RepositoryLocation, wanted: Sequence[bytes]) -> None:
    """Append those lines that `info/exclude` does not have; it belongs to this clone and is not committed."""
    file = _exclude_file(location)
    present = set(_read_if_exists(file).splitlines())
    missing = [line + b"\n" for line in wanted if line not in present]
    if not missing:
        return
    unfinished = f"{file.name}.commonplace-{os.urandom(6).hex()}"
    with (
        translate_os_errors(str(file), doing="write"),
        open_below(location.common_dir, "info", makes=True) as folder,
    ):
        before = read_regular(file.name, folder=folder)
        if before is None and os.path.lexists(file):
            raise not_followed(file)
        mode = None if before is None else os.stat(file.name, dir_fd=folder, follow_symlinks=False).st_mode
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        content = (before or b"") + gap + b"".join(missing)
        replace_below(folder, file.name, content, unfinished=unfinished, mode=mode)


def stdin_paths(paths: Iterable[str]) -> bytes:
    """The paths as standard input of a call with `-z --stdin`."""
    return b"".join(os.fsencode(_HERE + path) + b"\0" for path in paths)


def id_query(names: Iterable[str]) -> GitCommand:
    """The command that looks up the ids of blobs by their names, such as `HEAD:path`."""
    stdin = b"".join(os.fsencode(name) + b"\n" for name in names)
    return GitCommand(("cat-file", "--batch-check=%(objectname) %(objecttype)"), stdin)


def read_ids(result: GitResult) -> list[str | None]:
    """The ids in the result of `id_query`; None for a name that does not exist or is not a blob."""
    lines = os.fsdecode(result.stdout).split("\n")[:-1]
    return [line.split(" ")[0] if line.endswith(" blob") else None for line in lines]


def _check_attr(paths: Sequence[str]) -> GitCommand:
    return GitCommand(("check-attr", "-z", "--stdin", *ATTRIBUTE_NAMES), stdin_paths(paths))


def _read_attributes(
    result: GitResult, stamps: Mapping[str, tuple[ChangeStamp, ...]]
) -> Mapping[str, _CachedAttributes]:
    until = time.monotonic() + _EXPIRY_S
    by_path = {_without_prefix(path): attributes for path, attributes in parse_attributes(result.fields).items()}
    return {path: _CachedAttributes(attributes, stamps[path], until) for path, attributes in by_path.items()}


def _is_valid(cached: _CachedAttributes, stamps: tuple[ChangeStamp, ...]) -> bool:
    return cached.stamps == stamps and time.monotonic() < cached.until


def _in_submodule(stderr: str) -> CommonplaceError:
    match = re.search(r"Pathspec '(?:\./)?(.*)' is in submodule '(.*)'", stderr)
    return _other_repository(match[1], repository=match[2]) if match else git_failed("check-ignore", stderr)


def _other_repository(path: str, *, repository: str) -> Refused:
    return Refused(
        f"'{repository}' is a repository of its own: {path}",
        path=path,
        hint="Make it a vault of its own, or choose a path outside it.",
    )


def _without_prefix(path: str) -> str:
    return path.removeprefix(_HERE)


def _exclude_file(location: RepositoryLocation) -> Path:
    return location.common_dir / "info" / "exclude"


def exclude_line(location: RepositoryLocation, path: str) -> bytes:
    """The pattern that matches this one file, whatever characters its path contains.

    A pattern is one line, so that a control character in it is matched by a question mark.
    """
    pattern = _CONTROL_CHARACTERS.sub("?", _PATTERN_CHARACTERS.sub(r"\\\1", location.inside(path)))
    return os.fsencode("/" + _BLANKS_AT_THE_END.sub(lambda blanks: r"\ " * len(blanks[0]), pattern))


def _read_if_exists(file: Path) -> bytes:
    with translate_os_errors(str(file), doing="read"):
        return read_regular(file) or b""
