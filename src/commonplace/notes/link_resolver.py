"""Which file a link means, resolved as Obsidian does: by path, by file name, then by alias.

Also updates links after a note was moved: only a link's target is rewritten, and only if it reads back correctly.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from posixpath import basename
from types import MappingProxyType
from typing import Any, Literal, Protocol
from urllib.parse import quote

from commonplace.model import Link, Note
from commonplace.model.text import lower_name
from commonplace.notes.links import markdown_target_span, wikilink_target_span
from commonplace.notes.parse import parse

_NO_ALIASES: Mapping[str, Iterable[str]] = MappingProxyType({})
PathIndex = Mapping[str, tuple[str, ...]]
MatchedBy = Literal["path", "name", "alias"]
MAX_ALTERNATIVES = 5


@dataclass(frozen=True, slots=True)
class Resolution:
    """The file a link means and how it was found; `also` has a few other files that it could mean."""

    path: str | None
    by: MatchedBy = "path"
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkResolver:
    """The files of a vault by path, by file name and by alias; each list has the files nearest to the root first."""

    _paths: PathIndex
    _files: PathIndex
    _aliases: PathIndex

    @classmethod
    def of(cls, paths: Iterable[str], aliases: Mapping[str, Iterable[str]] = _NO_ALIASES) -> "LinkResolver":
        """A resolver for these files, including attachments; `aliases` has the other names of a path."""
        by_path: dict[str, list[str]] = {}
        by_name: dict[str, list[str]] = {}
        by_alias: dict[str, list[str]] = {}
        for path in dict.fromkeys(paths):
            key = lower_name(path)
            by_path.setdefault(key, []).append(path)
            by_name.setdefault(key.rpartition("/")[2], []).append(path)
        for path, names in aliases.items():
            for key in dict.fromkeys(map(lower_name, names)):
                by_alias.setdefault(key, []).append(path)
        return cls(_nearest_first(by_path), _nearest_first(by_name), _nearest_first(by_alias))

    def resolve(self, link: Link, *, source: str) -> str | None:
        """The path of the file that this link in the note `source` means, or None."""
        return self.resolution(link, source=source).path

    def resolution(self, link: Link, *, source: str) -> Resolution:
        """What this link in the note `source` means, and what else it could mean.

        A path is exact and means one file. Several files may have the same name. Aliases are tried last; Obsidian
        itself does not resolve them.
        """
        target, folder, note_first = link.target, source.rpartition("/")[0], link.form == "wikilink"
        if not target:
            return Resolution(source)
        if target.startswith(("./", "../")):
            return Resolution(self._at(_joined(folder, target), note_first=note_first))
        if target.startswith("/"):
            return Resolution(self._at(_joined("", target), note_first=note_first))
        if link.form == "markdown" and (path := self._at(_joined(folder, target), note_first=note_first)):
            return Resolution(path)
        if path := self._at(_joined("", target), note_first=note_first):
            return Resolution(path)
        if named := self._ending_in(target, note_first=note_first):
            return _preferred(named, folder, by="name")
        return _preferred(self._aliases.get(lower_name(target.strip()), ()), folder, by="alias")

    def _at(self, path: str | None, *, note_first: bool) -> str | None:
        """The file at exactly this path from the root, with or without `.md`."""
        for spelled in _spellings(path or "", note_first=note_first):
            if paths := self._paths.get(lower_name(spelled)):
                return spelled if spelled in paths else paths[0]
        return None

    def _ending_in(self, target: str, *, note_first: bool) -> tuple[str, ...]:
        """The files whose path ends in the parts of the target."""
        for spelled in _spellings(_joined("", target) or "", note_first=note_first):
            key = lower_name(spelled)
            folder, _, name = key.rpartition("/")
            paths = self._files.get(name, ())
            if folder:
                paths = tuple(path for path in paths if f"/{lower_name(path)}".endswith(f"/{key}"))
            if paths:
                return paths
        return ()


class NoteLinker:
    """Resolves links for the index with the same result as a LinkResolver of the whole vault, but from the few notes
    that share a name with the link."""

    def names_of(self, path: str, aliases: Sequence[str]) -> frozenset[str]:
        """The names under which a link may mean the note: its file name without `.md`, and its aliases."""
        return frozenset((_stem(path), *map(lower_name, aliases)))

    def names_in(self, link: Link) -> frozenset[str]:
        """The names that this link may mean; none for a link within its own note."""
        if not link.target:
            return frozenset()
        return frozenset((_stem(link.target), lower_name(link.target.strip())))

    def resolve(self, link: Link, *, source: str, among: Mapping[str, tuple[str, ...]]) -> str | None:
        """The path that the link in the note `source` means, given these paths with their aliases."""
        return LinkResolver.of(among, among).resolve(link, source=source)


def similar_paths(path: str, paths: Iterable[str]) -> tuple[str, ...]:
    """At most three paths that are similar as a whole or in their file name, ignoring case.

    If none is, those whose file name has all words of this one: `Marco.md` may mean `People/Marco Bianchi.md`.
    """
    from difflib import get_close_matches  # only for a path that does not exist

    whole = {each.casefold(): each for each in paths}
    by_name: dict[str, list[str]] = {}
    for each in whole.values():
        by_name.setdefault(basename(each).casefold(), []).append(each)
    folded = path.casefold()
    if folded in whole:
        return (whole[folded],)
    similar = [whole[match] for match in get_close_matches(folded, whole, n=3, cutoff=0.85)]
    names = get_close_matches(basename(folded), by_name, n=3, cutoff=0.85)
    near = dict.fromkeys([*similar, *(each for name in names for each in by_name[name])])
    return tuple(near or _with_words(basename(folded), by_name))[:3]


def _with_words(name: str, by_name: Mapping[str, list[str]]) -> list[str]:
    """The paths of the files whose names have all words of this name."""
    words = _name_words(name)
    return [each for other, paths in by_name.items() if words and words <= _name_words(other) for each in paths]


def _name_words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", name.removesuffix(".md")))


def _spellings(path: str, *, note_first: bool) -> tuple[str, ...]:
    """The file names a path may stand for: a wikilink `foo.bar` is first `foo.bar.md`, others the file itself."""
    if not path:
        return ()
    if path.lower().endswith(".md") or not note_first:
        return path, f"{path}.md"
    return f"{path}.md", path


def _joined(folder: str, target: str) -> str | None:
    """The target, relative to the folder, as a path from the root; None if it leads above the root."""
    parts = [part for part in folder.split("/") if part]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _stem(path: str) -> str:
    """The folded last part of a path without any `.md`, so that `a.md` and `a.md.md` share a name."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    name = lower_name(parts[-1]) if parts else ""
    while name.endswith(".md"):
        name = name.removesuffix(".md")
    return name


def _nearest_first(index: dict[str, list[str]]) -> PathIndex:
    return {
        key: tuple(paths) if len(paths) == 1 else tuple(sorted(paths, key=_distance)) for key, paths in index.items()
    }


def _distance(path: str) -> tuple[int, int, str]:
    return path.count("/"), len(path), path


def _preferred(paths: tuple[str, ...], folder: str, *, by: MatchedBy) -> Resolution:
    """The path in the same folder, else the nearest to the root."""
    if not paths:
        return Resolution(None)
    in_folder = (path for path in paths if path.rpartition("/")[0] == folder)
    chosen = next(in_folder, paths[0])
    others = (path for path in paths if path != chosen)
    return Resolution(chosen, by=by, also=tuple(islice(others, MAX_ALTERNATIVES)))


_NOT_IN_WIKILINKS = re.compile(r"[#|^\[\]\n]")
_NOT_IN_ANGLES = re.compile(r"[#?%<>\\\r\n]")
_NOT_BARE = re.compile(r"[\s#?%<>\\\[\]|`\"\x00-\x1f]")
_PARENTHESES = re.compile(r"[()]")
_BALANCED_PARENTHESES = re.compile(r"[^()]*(?:\([^()]*\)[^()]*)*")
_WIKILINK = re.compile(r"\[\[[^\[\]\n]*\]\]")


@dataclass(frozen=True, slots=True)
class NoteMove:
    """A note's move from one path to another, and the link resolvers of the vault before and after it."""

    source: str
    target: str
    before: LinkResolver
    after: LinkResolver

    def destination(self, link: Link, note: Note) -> str | None:
        """The file that the link must mean after the move: the one it meant before, at its new path."""
        path = self.before.resolve(link, source=note.path)
        return self.target if path == self.source else path

    def path_after(self, note: Note) -> str:
        """The note's own path after the move."""
        return self.target if note.path == self.source else note.path

    def must_change(self, link: Link, note: Note) -> bool:
        """True if the link would lead elsewhere after the move.

        Other readers take a Markdown link as a path, so it must change even if its file would be found by name.
        """
        destination = self.destination(link, note)
        if not link.target or destination is None:
            return False
        resolution = self.after.resolution(link, source=self.path_after(note))
        return resolution.path != destination or (link.form == "markdown" and resolution.by != "path")


class LinkChange(Protocol):
    """Which links of a note must change, and what each must mean then; `after` resolves the links as they are then."""

    @property
    def after(self) -> LinkResolver: ...
    def destination(self, link: Link, note: Note) -> str | None: ...
    def path_after(self, note: Note) -> str: ...
    def must_change(self, link: Link, note: Note) -> bool: ...


@dataclass(frozen=True, slots=True)
class LinkRepair:
    """Links that lead nowhere, or name their file in another case, since other programs renamed files.

    `before` also knows the files that are gone; `renamed` says where each of them is now, as far as that is known.
    With `fixes_case`, the names in wikilinks get the case of their files; Markdown links always do.
    """

    before: LinkResolver
    after: LinkResolver
    renamed: Mapping[str, str]
    fixes_case: bool = False

    def destination(self, link: Link, note: Note) -> str | None:
        """The file that the link means, or meant before it was renamed; None if that is unknown or ambiguous."""
        path = self.after.resolve(link, source=note.path)
        if path is not None:
            return path
        resolution = self.before.resolution(link, source=note.path)
        gone = (resolution.path, *resolution.also) if resolution.path else ()
        places = {self.renamed.get(each) for each in gone}
        return places.pop() if len(places) == 1 else None

    def path_after(self, note: Note) -> str:
        """The note's own path, which stays."""
        return note.path

    def must_change(self, link: Link, note: Note) -> bool:
        """True if the link leads nowhere and its file is known, or names its file in another case."""
        destination = self.destination(link, note)
        if not link.target or destination is None:
            return False
        if self.after.resolve(link, source=note.path) is None:
            return True
        return (self.fixes_case or link.form == "markdown") and _is_miscased(link.target, destination)


def _is_miscased(target: str, path: str) -> bool:
    """True if the target is the end of the path but for the case of its letters."""
    name = "/".join(part for part in target.split("/") if part not in ("", ".", ".."))
    spelled = path if name.lower().endswith(".md") or not path.lower().endswith(".md") else path[: -len(".md")]
    is_end = f"/{lower_name(spelled)}".endswith(f"/{lower_name(name)}")
    return bool(name) and is_end and not f"/{spelled}".endswith(f"/{name}")


@dataclass(frozen=True, slots=True)
class RewrittenNote:
    """The rewritten bytes; `content` is None if links cannot be rewritten without changing what the note says."""

    content: bytes | None


def rewrite_links(note: Note, move: LinkChange) -> RewrittenNote | None:
    """The note with every link leading where it led before the move; None if no link has to change."""
    changing = [link for link in note.links if move.must_change(link, note)]
    if not changing:
        return None
    text = None if note.problems else _rewritten_text(note, changing, move)
    if text is None:
        return RewrittenNote(None)
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return RewrittenNote(None)
    return RewrittenNote(content if _is_faithful(note, content, move) else None)


def _rewritten_text(note: Note, links: list[Link], move: LinkChange) -> str | None:
    """The note's text with other targets in these links; None if one of them cannot be written."""
    pieces: list[str] = []
    done = 0
    changes = [_change(link, note, move) for link in links]
    if None in changes:
        return None
    for start, end, target in sorted(filter(None, changes)):
        pieces += [note.text[done:start], target]
        done = end
    return "".join([*pieces, note.text[done:]])


def _change(link: Link, note: Note, move: LinkChange) -> tuple[int, int, str] | None:
    """The start and end of the link's target in the note, and its new text."""
    written, path = note.text[link.start : link.end], move.path_after(note)
    destination = move.destination(link, note) or ""
    if link.form == "markdown":
        span = markdown_target_span(written, link.alias)
        if span is None:
            return None
        start, end, angled = span
        return link.start + start, link.start + end, _relative(destination, posixpath.dirname(path), angled=angled)
    start, end = wikilink_target_span(written)
    target = _shortest(destination, link, path, move.after)
    return None if target is None else (link.start + start, link.start + end, target)


def _relative(destination: str, folder: str, *, angled: bool) -> str:
    """The path relative to the folder; characters that Markdown would misread are percent-encoded."""
    path = posixpath.relpath(destination, folder or ".")
    if ":" in path.partition("/")[0]:  # otherwise it would be read as a web address
        path = f"./{path}"
    if angled:
        return _NOT_IN_ANGLES.sub(_encoded, path)
    encoded = _NOT_BARE.sub(_encoded, path)
    return encoded if _BALANCED_PARENTHESES.fullmatch(encoded) else _PARENTHESES.sub(_encoded, encoded)


def _encoded(match: re.Match[str]) -> str:
    return quote(match.group(), safe="", errors="surrogatepass")


def _shortest(destination: str, link: Link, source: str, resolver: LinkResolver) -> str | None:
    """The file name if it is unambiguous, else the whole path; without `.md` if possible, as Obsidian writes it."""
    whole = destination.removesuffix(".md")
    for target in (posixpath.basename(whole), whole, destination):
        if resolver.resolve(replace(link, target=target), source=source) == destination:
            return None if _NOT_IN_WIKILINKS.search(target) else target
    return None


def _is_faithful(note: Note, content: bytes, move: LinkChange) -> bool:
    """True if the new content, parsed again, says what the note said, and its links lead where they should."""
    again = parse(content, path=move.path_after(note), mtime=note.mtime)
    return (
        not again.problems
        and len(again.links) == len(note.links)
        and all(_leads_right(*pair, note, move) for pair in zip(note.links, again.links, strict=True))
        and len(again.headings) == len(note.headings)
        and again.tags == note.tags
        and _without_targets(again.frontmatter) == _without_targets(note.frontmatter)
    )


def _leads_right(old: Link, new: Link, note: Note, move: LinkChange) -> bool:
    """True if the new link is the old one except for its target, and leads where it has to."""
    destination = move.destination(old, note)
    leads = new.target == old.target
    if old.target and destination is not None:
        leads = move.after.resolve(new, source=move.path_after(note)) == destination
    contains_another = any(old.start < each.start and each.end <= old.end for each in note.links)
    same_alias = old.alias == new.alias or contains_another  # the inner link is checked on its own
    return leads and same_alias and _other_fields(old) == _other_fields(new)


def _other_fields(link: Link) -> tuple[str | None, ...]:
    return link.heading, link.block, link.form, link.where


def _without_targets(value: Any) -> Any:
    """A frontmatter value with nothing between the brackets of its links."""
    if isinstance(value, dict):
        return {key: _without_targets(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_targets(each) for each in value]
    return _WIKILINK.sub("[[]]", value) if isinstance(value, str) else (type(value), value)
