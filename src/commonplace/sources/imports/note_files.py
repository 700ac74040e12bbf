"""Markdown files of other programs: their text and frontmatter, and the paths that their notes get here.

A name may come from anywhere: a path out of the folder, a Windows path, a reserved name, a name of control characters.
`note_path` makes a path of it that every file system takes and that leads nowhere else.
"""

import hashlib
import json
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.model.untrusted_text import clean_text
from commonplace.sources.imports.base import ImportFiles, ImportSkip, head, read_whole

NOTE_ENDING: Final = ".md"
MAX_NOTE_BYTES: Final = 4 * 1024 * 1024
"""The largest note that is read. Notes of more than the setting `safety.max_note_bytes` are refused by the vault."""
_LONGEST_NAME: Final = 100  # bytes of one name: with a folder, a number and an ending it stays below 255
_DEEPEST: Final = 8  # folders in a path; what is deeper goes into the last of them
_UNSAFE: Final = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f\x7f]+')  # no disk or no link takes them
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_FENCE: Final = re.compile(r"---[ \t]*\n(?P<block>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_ANCHOR: Final = re.compile(r"(?:^|[\s:\[{,])[&*][\w-]+", re.MULTILINE)  # few lines of them can mean gigabytes
_LONGEST_BLOCK: Final = 64 * 1024
_CODE: Final = re.compile(
    r"^(?P<fence>[ \t]*(?:[-*+][ \t]+)?(?P<marks>`{3,}|~{3,})).*?(?:^[ \t]*(?P=marks)[`~]*[ \t]*$|\Z)|`[^`\n]+`",
    re.DOTALL | re.MULTILINE,
)


def note_text(files: ImportFiles, path: str) -> str:
    """The text of a note with line feeds alone. Raises UsageError if it is too large or not text."""
    content = read_whole(files, path, most=MAX_NOTE_BYTES)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = content.decode("utf-16", "replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", "replace")  # what older Windows programs write
    if "\x00" in text:
        raise UsageError("not a text file", path=path, hint="Leave it out.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_frontmatter(text: str) -> tuple[Mapping[str, Any], str, str]:
    """The keys of a note's frontmatter, the text below it, and what is wrong with it; empty if nothing is.

    Values are text, or lists and mappings of text. A frontmatter that cannot be read has no keys, and stays above the
    text.
    """
    match = _FENCE.match(text)
    if match is None:
        return {}, text, ""
    block = match["block"]
    if len(block) > _LONGEST_BLOCK or _ANCHOR.search(block):
        return {}, text, "its frontmatter is too long, or uses anchors"
    import yaml  # thirty milliseconds that only imports need

    try:
        keys = yaml.load(block, Loader=yaml.BaseLoader)  # noqa: S506 - makes text of everything
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}, text, "its frontmatter is not valid YAML"
    if not isinstance(keys, dict):
        return {}, text, "its frontmatter has no keys" if block.strip() else ""
    return {str(key): value for key, value in keys.items()}, text[match.end() :], ""


def with_frontmatter(keys: Mapping[str, object], body: str) -> str:
    """A note with these keys, in JSON notation where plain text would not do; keys without a value are left out."""
    lines = [f"{name}: {_yaml(value)}\n" for name, value in keys.items() if value not in ("", None, [], ())]
    return f"---\n{''.join(lines)}---\n{body.lstrip(chr(10))}" if lines else body


def _yaml(value: object) -> str:
    if isinstance(value, str) and re.fullmatch(r"[^\W\d_][\w ./-]*", value) and value.casefold() not in _WORDS:
        return value.strip()
    return json.dumps([*value] if isinstance(value, tuple) else value, ensure_ascii=False)


_WORDS: Final = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))


def note_path(*parts: str) -> str:
    """A safe path of these parts, each of which may have folders: no way out, no name that a disk refuses.

    The last part is the note's name, without its ending.
    """
    names = [name for part in parts for each in re.split(r"[\\/]+", part) if (name := safe_name(each))]
    *folders, last = names or ["Untitled"]
    return "/".join((*folders[:_DEEPEST], f"{last}{NOTE_ENDING}"))


def safe_name(name: str) -> str:
    """A name that every file system takes and every link can name; empty if nothing of it is left."""
    name = unicodedata.normalize("NFC", clean_text(name).replace("\ufffd", " "))
    name = " ".join(_UNSAFE.sub(" ", name).split()).strip(" .")
    name = name.encode()[:_LONGEST_NAME].decode(errors="ignore").rstrip(" .")
    return f"{name}_" if _RESERVED.fullmatch(name) else name


def distinct_paths(wanted: Mapping[str, str], *, digits: Mapping[str, str] | None = None) -> dict[str, str]:
    """A path for each source, all different also where case does not count; the sources are in order.

    The first of several keeps its path, the others get digits of their id, or of their source's name: the same digits
    in each import.
    """
    taken, paths = set[str](), dict[str, str]()
    for source, path in wanted.items():
        stem = path.removesuffix(NOTE_ENDING)
        if path.casefold() in taken:
            id_ = (digits or {}).get(source) or hashlib.sha256(source.encode(errors="replace")).hexdigest()
            path = f"{stem} {id_[:6]}{NOTE_ENDING}"
        if path.casefold() in taken:
            path = f"{stem} {hashlib.sha256(source.encode(errors='replace')).hexdigest()[:16]}{NOTE_ENDING}"
        taken.add(path.casefold())
        paths[source] = path
    return paths


def outside_code(text: str) -> list[tuple[str, bool]]:
    """The text in parts, each with True if it is prose and False if it is code."""
    parts, at = list[tuple[str, bool]](), 0
    for match in _CODE.finditer(text):
        parts += [(text[at : match.start()], True), (match[0], False)]
        at = match.end()
    return [*parts, (text[at:], True)]


def is_markdown(path: str) -> bool:
    """True for a Markdown file, by its name."""
    return path.casefold().endswith((NOTE_ENDING, ".markdown"))


def top_folders(paths: Iterable[str], *, inside: str = "") -> frozenset[str]:
    """The names of the folders directly below a folder, given as a prefix such as `export/`."""
    rest = (path[len(inside) :] for path in paths if path.startswith(inside))
    return frozenset(path.partition("/")[0] for path in rest if "/" in path)


def roots_of(paths: Iterable[str], marker: str) -> tuple[str, ...]:
    """The prefixes below which a file has the path `marker`, shortest first: `export/` for export/logseq/config.edn."""
    found = {path[: -len(marker)] for path in paths if path == marker or path.endswith(f"/{marker}")}
    return tuple(sorted(found, key=lambda root: (len(root), root)))


def head_text(files: ImportFiles, path: str, *, most: int = 4096) -> str:
    """The beginning of a file as text, to recognise its shape."""
    return head(files, path, most=most).decode(errors="replace").replace("\r\n", "\n")


def left_out(paths: Sequence[str], reason: str) -> list[ImportSkip]:
    """One skip for all of these files by folder, with their number; none if there are no files."""
    by_folder: dict[str, int] = {}
    for path in paths:
        folder = posixpath.dirname(path) or "."
        by_folder[folder] = by_folder.get(folder, 0) + 1
    return [
        ImportSkip(folder, f"{count} {'file' if count == 1 else 'files'}: {reason}")
        for folder, count in by_folder.items()
    ]
