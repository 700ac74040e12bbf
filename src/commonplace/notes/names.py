"""Which file a link means, found as Obsidian finds it: by path, by name, by alias."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from unicodedata import normalize

from commonplace.model import Link

_NOTHING: Mapping[str, Iterable[str]] = MappingProxyType({})
Index = Mapping[str, tuple[str, ...]]


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
            key = _key(path)
            whole.setdefault(key, []).append(path)
            files.setdefault(key.rpartition("/")[2], []).append(path)
        for path, names in aliases.items():
            for key in dict.fromkeys(map(_key, names)):
                others.setdefault(key, []).append(path)
        return cls(_nearest_first(whole), _nearest_first(files), _nearest_first(others))

    def resolve(self, link: Link, *, source: str) -> str | None:
        """The path of the file this link in the note `source` means, or nothing."""
        target = link.target
        if not target:
            return source
        note_first = link.form == "wikilink"
        folder = source.rpartition("/")[0]
        if target.startswith(("./", "../")):
            return self._at(_joined(folder, target), note_first=note_first)
        if target.startswith("/"):
            return self._at(_joined("", target), note_first=note_first)
        if link.form == "markdown" and (found := self._at(_joined(folder, target), note_first=note_first)):
            return found
        if found := self._at(_joined("", target), note_first=note_first):
            return found
        return _prefer(self._ending_in(target, note_first=note_first) or self._called(target), folder)

    def candidates(self, target: str) -> tuple[str, ...]:
        """Every file this target could mean, the one it means from the root first; more than one is ambiguous."""
        at_root = self._at(_joined("", target), note_first=True)
        found = ((at_root,) if at_root else ()) + self._ending_in(target, note_first=True)
        return tuple(dict.fromkeys(found)) or self._called(target)

    def _at(self, path: str | None, *, note_first: bool) -> str | None:
        """The file at exactly this path from the root, `.md` added or not."""
        for spelled in _spellings(path or "", note_first=note_first):
            if found := self._paths.get(_key(spelled)):
                return spelled if spelled in found else found[0]
        return None

    def _ending_in(self, target: str, *, note_first: bool) -> tuple[str, ...]:
        """The files whose path ends in the target's parts."""
        for spelled in _spellings(_joined("", target) or "", note_first=note_first):
            key = _key(spelled)
            folder, _, name = key.rpartition("/")
            found = self._files.get(name, ())
            if folder:
                found = tuple(path for path in found if f"/{_key(path)}".endswith(f"/{key}"))
            if found:
                return found
        return ()

    def _called(self, target: str) -> tuple[str, ...]:
        return self._aliases.get(_key(target.strip()), ())


def _key(text: str) -> str:
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


def _prefer(paths: tuple[str, ...], folder: str) -> str | None:
    """The one in the same folder, else the nearest to the root."""
    beside = (path for path in paths if path.rpartition("/")[0] == folder)
    return next(beside, paths[0] if paths else None)
