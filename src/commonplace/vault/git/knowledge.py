"""What git says of paths: their attributes, their blobs in HEAD and in the index, whether they are ignored.

A process costs milliseconds, so questions are asked side by side, and an answer is used again while what it was read
from is the same: the index file and the branch, or the attribute files on the way to the path. Attributes can also come
from files outside the repository, so they are asked again after a few seconds.
"""

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from commonplace.errors import CommonplaceError, Refused
from commonplace.vault.git.attributes import ASKED, Attributes, parsed
from commonplace.vault.git.converting import plain_id
from commonplace.vault.git.marks import Mark, State, mark_of, state_of
from commonplace.vault.git.place import Place
from commonplace.vault.git.program import Answer, Call, Git, failed, literal

_FRESH_S: Final = 5.0
_FATAL: Final = 128
_MOST_ARGUMENTS: Final = 200  # beyond, the whole index is listed: a command line has an end
_HERE: Final = "./"  # put before a path: one that begins with a colon would be read as pathspec magic


@dataclass(frozen=True, slots=True)
class Kept:
    """What git knows of one path: its blob in HEAD and in the index."""

    head: str | None
    staged: str | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """Attributes, and what they were read from."""

    attributes: Attributes
    marks: tuple[Mark, ...]
    until: float


@dataclass(frozen=True, slots=True)
class _Known:
    """What git keeps of some paths, and the state of index and branch that it was read from."""

    state: State
    kept: Mapping[str, Kept]


class Knowledge:
    """Answers about paths of one vault."""

    def __init__(self, git: Git, place: Place) -> None:
        self._git = git
        self._place = place
        self._known = _Known((), {})
        self._seen: Mapping[str, _Seen] = {}

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """The paths that are ignored and not tracked. Learns by the way what else there is to know of them.

        Raises Refused for a path in a submodule.
        """
        marks, state = self._attribute_marks(paths), state_of(self._place)
        ask_ignored = Call(("check-ignore", "-z", "--stdin"), listed(paths), content_with=(0, 1, _FATAL))
        about, ignored, kept = self._git.tell_all(_ask_attributes(paths), ask_ignored, self._ask_kept(paths))
        if ignored.code == _FATAL:
            raise _in_submodule(ignored.err)
        self._seen = _read_attributes(about, marks)
        self._known = _Known(state, self._read_kept(kept, paths))
        return [_named(path) for path in ignored.fields]

    def attributes(self, paths: Sequence[str]) -> Mapping[str, Attributes]:
        """The attributes of each path."""
        marks = self._attribute_marks(paths)
        seen = self._seen
        if not all(path in seen and _holds(seen[path], marks[path]) for path in paths):
            asked = list(seen) if all(path in seen for path in paths) else paths  # of many paths, all grow old at once
            marks = self._attribute_marks(asked)
            (answer,) = self._git.tell_all(_ask_attributes(asked))
            self._seen = seen = _read_attributes(answer, marks)
        return {path: seen[path].attributes for path in paths}

    def kept(self, paths: Sequence[str]) -> Mapping[str, Kept]:
        """What git keeps of each path.

        An empty file that is only staged counts as not staged: that is how git marks an intent to add.
        """
        state = state_of(self._place)  # of before the question: what changes meanwhile is asked again
        known = self._known
        if state != known.state or not all(path in known.kept for path in paths):
            (answer,) = self._git.tell_all(self._ask_kept(paths))
            self._known = known = _Known(state, self._read_kept(answer, paths))
        return {path: known.kept[path] for path in paths}

    def modes(self, paths: Sequence[str]) -> Mapping[str, str]:
        """The mode of each path that is in the index."""
        if not paths:
            return {}
        chosen = [literal(path) for path in paths] if len(paths) <= _MOST_ARGUMENTS else []
        fields = self._git.tell("ls-files", "-z", "--stage", "--", *chosen).fields
        return {path: about.split(" ")[0] for about, _, path in (field.partition("\t") for field in fields)}

    def _ask_kept(self, paths: Sequence[str]) -> Call:
        return ask_ids([at + self._place.inside(path) for path in paths for at in ("HEAD:", ":0:")])

    def _read_kept(self, answer: Answer, paths: Sequence[str]) -> Mapping[str, Kept]:
        ids = read_ids(answer)
        empty = plain_id(b"", self._place.object_format)
        return {
            path: Kept(head, None if head is None and staged == empty else staged)
            for path, head, staged in zip(paths, ids[::2], ids[1::2], strict=True)
        }

    def _attribute_marks(self, paths: Iterable[str]) -> dict[str, tuple[Mark, ...]]:
        """For each path, the marks of the attribute files that are inside the repository and apply to it."""
        ours = mark_of(os.path.join(self._place.common_dir, "info", "attributes"))
        folders: dict[str, tuple[Mark, ...]] = {}
        marks = {}
        for path in paths:
            folder = os.path.dirname(self._place.inside(path))
            if folder not in folders:
                folders[folder] = (ours, *(mark_of(name) for name in self._attribute_files(folder)))
            marks[path] = folders[folder]
        return marks

    def _attribute_files(self, folder: str) -> list[str]:
        top = self._place.top
        inner = [] if not folder else [folder, *(str(parent) for parent in PurePosixPath(folder).parents[:-1])]
        return [os.path.join(top, each, ".gitattributes") for each in ("", *inner)]


def listed(paths: Iterable[str]) -> bytes:
    """Paths as a call with `-z --stdin` reads them."""
    return b"".join(os.fsencode(_HERE + path) + b"\0" for path in paths)


def _ask_attributes(paths: Sequence[str]) -> Call:
    return Call(("check-attr", "-z", "--stdin", *ASKED), listed(paths))


def ask_ids(names: Iterable[str]) -> Call:
    """The question for the ids of blobs by their names, such as `HEAD:path`."""
    given = b"".join(os.fsencode(name) + b"\n" for name in names)
    return Call(("cat-file", "--batch-check=%(objectname) %(objecttype)"), given)


def read_ids(answer: Answer) -> list[str | None]:
    """The ids, None for what is not there or no blob."""
    lines = os.fsdecode(answer.out).split("\n")[:-1]
    return [line.split(" ")[0] if line.endswith(" blob") else None for line in lines]


def _read_attributes(answer: Answer, marks: Mapping[str, tuple[Mark, ...]]) -> Mapping[str, _Seen]:
    until = time.monotonic() + _FRESH_S
    found = {_named(path): attributes for path, attributes in parsed(answer.fields).items()}
    return {path: _Seen(attributes, marks[path], until) for path, attributes in found.items()}


def _holds(seen: _Seen, marks: tuple[Mark, ...]) -> bool:
    return seen.marks == marks and time.monotonic() < seen.until


def _in_submodule(said: str) -> CommonplaceError:
    found = re.search(r"Pathspec '(?:\./)?(.*)' is in submodule '(.*)'", said)
    return elsewhere(found[1], repository=found[2]) if found else failed("check-ignore", said)


def elsewhere(path: str, *, repository: str) -> Refused:
    """The error for a path that another repository keeps."""
    return Refused(
        f"'{repository}' is a repository of its own: {path}",
        path=path,
        hint="Make it a vault of its own, or choose a path outside it.",
    )


def _named(path: str) -> str:
    return path.removeprefix(_HERE)
