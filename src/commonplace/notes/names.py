"""Which file a link means, found as Obsidian finds it: by path, by name, by alias."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Literal
from unicodedata import normalize

from commonplace.model import Link

_NOTHING: Mapping[str, Iterable[str]] = MappingProxyType({})
Index = Mapping[str, tuple[str, ...]]
By = Literal["path", "name", "alias"]
MOST_OTHERS = 5


@dataclass(frozen=True, slots=True)
class Meaning:
    """The file a link means and how it was found; `also` names a few others that the same words could mean."""

    path: str | None
    by: By = "path"
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """The files of a vault by whole path, by file name and by alias; each list has the nearest to the root first."""

    _paths: Index
    _files: Index
    _aliases: Index

    @classmethod
    def of(cls, paths: Iterable[str], aliases: Mapping[str, Iterable[str]] = _NOTHING) -> "Names":
        """The names of these files, attachments included; `aliases` lists the other names of a path."""
        whole: dict[str, list[str]] = {}
        files: dict[str, list[str]] = {}
        others: dict[str, list[str]] = {}
        for path in dict.fromkeys(paths):
            key = key_of(path)
            whole.setdefault(key, []).append(path)
            files.setdefault(key.rpartition("/")[2], []).append(path)
        for path, names in aliases.items():
            for key in dict.fromkeys(map(key_of, names)):
                others.setdefault(key, []).append(path)
        return cls(_nearest_first(whole), _nearest_first(files), _nearest_first(others))

    def resolve(self, link: Link, *, source: str) -> str | None:
        """The path of the file this link in the note `source` means, or nothing."""
        return self.meaning(link, source=source).path

    def meaning(self, link: Link, *, source: str) -> Meaning:
        """What this link in the note `source` means, and what else it could have meant.

        A path is exact and means one file. A bare name may be that of several; an alias is tried last, which goes
        beyond Obsidian: there only the note's own name leads to it.
        """
        target, folder, note_first = link.target, source.rpartition("/")[0], link.form == "wikilink"
        if not target:
            return Meaning(source)
        if target.startswith(("./", "../")):
            return Meaning(self._at(_joined(folder, target), note_first=note_first))
        if target.startswith("/"):
            return Meaning(self._at(_joined("", target), note_first=note_first))
        if link.form == "markdown" and (found := self._at(_joined(folder, target), note_first=note_first)):
            return Meaning(found)
        if found := self._at(_joined("", target), note_first=note_first):
            return Meaning(found)
        if named := self._ending_in(target, note_first=note_first):
            return _preferred(named, folder, by="name")
        return _preferred(self._called(target), folder, by="alias")

    def _at(self, path: str | None, *, note_first: bool) -> str | None:
        """The file at exactly this path from the root, `.md` added or not."""
        for spelled in _spellings(path or "", note_first=note_first):
            if found := self._paths.get(key_of(spelled)):
                return spelled if spelled in found else found[0]
        return None

    def _ending_in(self, target: str, *, note_first: bool) -> tuple[str, ...]:
        """The files whose path ends in the target's parts."""
        for spelled in _spellings(_joined("", target) or "", note_first=note_first):
            key = key_of(spelled)
            folder, _, name = key.rpartition("/")
            found = self._files.get(name, ())
            if folder:
                found = tuple(path for path in found if f"/{key_of(path)}".endswith(f"/{key}"))
            if found:
                return found
        return ()

    def _called(self, target: str) -> tuple[str, ...]:
        return self._aliases.get(key_of(target.strip()), ())


def key_of(text: str) -> str:
    """How names are compared: whatever their case and however their accents are composed."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text).lower())


def _spellings(path: str, *, note_first: bool) -> tuple[str, ...]:
    """The file names a path may stand for: a wikilink `foo.bar` is first `foo.bar.md`, others the file itself."""
    if not path:
        return ()
    if path.lower().endswith(".md") or not note_first:
        return path, f"{path}.md"
    return f"{path}.md", path


def _joined(folder: str, target: str) -> str | None:
    """The target's path from the root, as seen from the folder; nothing if it leads above the root."""
    parts = [part for part in folder.split("/") if part]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _nearest_first(index: dict[str, list[str]]) -> Index:
    return {
        key: tuple(paths) if len(paths) == 1 else tuple(sorted(paths, key=_distance)) for key, paths in index.items()
    }


def _distance(path: str) -> tuple[int, int, str]:
    return path.count("/"), len(path), path


def _preferred(paths: tuple[str, ...], folder: str, *, by: By) -> Meaning:
    """The one in the same folder, else the nearest to the root."""
    if not paths:
        return Meaning(None)
    beside = (path for path in paths if path.rpartition("/")[0] == folder)
    chosen = next(beside, paths[0])
    others = (path for path in paths if path != chosen)
    return Meaning(chosen, by=by, also=tuple(islice(others, MOST_OTHERS)))
