"""A graph of Logseq: pages and journals as outlines of blocks.

Outlines stay lists. What only Logseq understands is written as Obsidian does: page properties become frontmatter, task
words become checkboxes, references and embeds of blocks become links to blocks, days become links to the journal.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from commonplace.errors import UsageError
from commonplace.sources.imports.base import (
    ImportedNote,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
)
from commonplace.sources.imports.note_files import (
    distinct_paths,
    head_text,
    is_markdown,
    left_out,
    note_path,
    note_text,
    outside_code,
    roots_of,
    with_frontmatter,
)
from commonplace.sources.imports.statements import names_of, plain_line

_CONFIG: Final = "logseq/config.edn"
_JOURNAL: Final = re.compile(r"(?:.*/)?journals/(\d{4})[_-](\d{2})[_-](\d{2})\.(?:md|org)")
_PROPERTY: Final = re.compile(r"(?P<lead>[ \t]*(?:- )?[ \t]*)(?P<name>[\w./-]{1,60})::(?:[ \t]+(?P<value>.*?))?[ \t]*")
_BLOCK: Final = re.compile(r"(?P<indent>[ \t]*)- ?")
_TASK: Final = re.compile(r"^(?P<lead>[ \t]*- )(?P<word>TODO|DOING|NOW|LATER|WAITING|DONE|CANCELED|CANCELLED) ")
_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_REFERENCE: Final = re.compile(
    rf"\{{\{{embed \(\(({_UUID})\)\) ?\}}\}}|\[([^\[\]\n]*)\]\(\(\(({_UUID})\)\)\)|\(\(({_UUID})\)\)", re.IGNORECASE
)
_PAGE_EMBED: Final = re.compile(r"\{\{embed (\[\[[^\[\]\n]+\]\]) ?\}\}")
_LABELLED: Final = re.compile(r"\[([^\[\]\n]+)\]\(\[\[([^\[\]\n]+)\]\]\)")
_TAG_LINK: Final = re.compile(r"#(\[\[[^\[\]\n]+\]\])")
_DAY_LINK: Final = re.compile(r"\[\[([A-Z][a-z]{2,8} \d{1,2}(?:st|nd|rd|th), \d{4})\]\]")
_ORDINAL: Final = re.compile(r"(?<=\d)(?:st|nd|rd|th)")
_OWN_PROPERTIES: Final = frozenset(("collapsed", "background-color", "heading", "id"))
_DONE: Final = {"DONE": "x", "CANCELED": "-", "CANCELLED": "-"}


def _select(files: ImportFiles) -> Sequence[str]:
    paths = files.paths()
    roots = roots_of(paths, _CONFIG) or _journal_roots(files, paths)
    folders = tuple(f"{root}{folder}/" for root in roots for folder in ("pages", "journals"))
    return [path for path in paths if folders and path.startswith(folders)]


def _journal_roots(files: ImportFiles, paths: Sequence[str]) -> tuple[str, ...]:
    """The roots of graphs without their settings: by journals whose blocks are outlines."""
    journals = [path for path in paths if _JOURNAL.fullmatch(path) and "_" in posixpath.basename(path)]
    outlines = (path for path in journals[:20] if _BLOCK.match(head_text(files, path).lstrip()))
    return tuple(sorted({path.rpartition("journals/")[0] for path in outlines}))


@dataclass(slots=True)
class _Graph:
    """What the blocks of a graph are: the note of each block with an id, and the ids that something refers to."""

    notes: dict[str, str] = field(default_factory=dict)
    referenced: set[str] = field(default_factory=set)
    unknown: int = 0


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    notes = [path for path in paths if is_markdown(path)]
    texts = _Texts(files)
    titles = {path: _page_title(path, texts.beginning(path)) for path in notes}
    targets = distinct_paths({path: _target(path, titles[path]) for path in notes})
    graph = _Graph()
    for path in notes:
        _find_blocks(texts.whole(path), targets[path], graph)
    for path in notes:
        text = texts.whole(path)
        if texts.problem:
            yield ImportProblem(path, texts.problem)
        elif text.strip(" \t\n-"):
            yield ImportedNote(where=path, path=targets[path], text=outline_note(text, graph, path=targets[path]))
    if graph.unknown:
        yield ImportSkip(
            files.name, f"references to blocks that are not in the graph: {graph.unknown}; they stay as text"
        )
    yield from left_out([path for path in paths if path.endswith(".org")], "Org pages cannot be read, only Markdown")


class _Texts:
    """The texts of a graph's notes; `problem` is what was wrong with the last one."""

    def __init__(self, files: ImportFiles) -> None:
        self._files = files
        self.problem = ""

    def whole(self, path: str) -> str:
        """The text of a note; empty with a problem if it cannot be read."""
        self.problem = ""
        try:
            return note_text(self._files, path)
        except UsageError as error:
            self.problem = error.message
            return ""

    def beginning(self, path: str) -> str:
        """The first lines of a note."""
        return head_text(self._files, path, most=2048)


def _page_title(path: str, beginning: str) -> str:
    properties, _ = page_properties(beginning)
    name = posixpath.splitext(posixpath.basename(path))[0]
    return plain_line(properties.get("title", "")) or unquote(name).replace("___", "/")


def _target(path: str, title: str) -> str:
    if match := _JOURNAL.fullmatch(path):
        return note_path("Logseq", "journals", "-".join(match.groups()))
    return note_path("Logseq", "pages", title)


def page_properties(text: str) -> tuple[Mapping[str, str], str]:
    """The properties above the first block of a page, and the text below them."""
    lines, properties = text.split("\n"), dict[str, str]()
    at = 0
    while at < len(lines) and (match := _PROPERTY.fullmatch(lines[at])):
        if match["lead"].strip() and properties:
            break
        properties[match["name"].casefold()] = match["value"] or ""
        at += 1
    is_page = not properties or at >= len(lines) or not lines[at].strip() or _BLOCK.match(lines[at])
    return (properties, "\n".join(lines[at:])) if is_page else ({}, text)


def _find_blocks(text: str, note: str, graph: _Graph) -> None:
    for part, is_prose in outside_code(text):
        if not is_prose:
            continue
        for line in part.split("\n"):
            match = _PROPERTY.fullmatch(line)
            if match and match["name"] == "id" and re.fullmatch(_UUID, match["value"] or "", re.IGNORECASE):
                graph.notes.setdefault(match["value"].casefold(), note)
            graph.referenced.update(_uuid(each) for each in _REFERENCE.finditer(line))


def _uuid(match: re.Match[str]) -> str:
    return (match[1] or match[3] or match[4]).casefold()


def outline_note(text: str, graph: _Graph, *, path: str) -> str:
    """The note for a page: its properties as frontmatter, its blocks as a list."""
    properties, body = ({}, text) if text.startswith("---\n") else page_properties(text)
    keys: dict[str, object] = {}
    for name, value in properties.items():
        key = {"alias": "aliases", "tag": "tags"}.get(name, name)
        if key in ("aliases", "tags"):
            keys[key] = [each.strip("[]") for each in names_of(value)]
        elif name not in _OWN_PROPERTIES:
            keys[key.replace(".", "-")] = value
    parts = [_converted(part, graph) if is_prose else part for part, is_prose in outside_code(body)]
    return with_frontmatter(keys, _with_block_ids("".join(parts), graph))


def _converted(text: str, graph: _Graph) -> str:
    """Prose with Logseq's own notation replaced."""

    def reference(match: re.Match[str]) -> str:
        note = graph.notes.get(_uuid(match))
        if note is None:
            graph.unknown += 1
            return match[0]
        label = f"|{match[2]}" if match[2] else ""
        embed = "!" if match[1] else ""
        return f"{embed}[[{note.removesuffix('.md').rpartition('/')[2]}#^{_uuid(match)}{label}]]"

    text = _PAGE_EMBED.sub(r"!\1", _REFERENCE.sub(reference, text))
    text = _DAY_LINK.sub(_day_link, _TAG_LINK.sub(r"\1", _LABELLED.sub(r"[[\2|\1]]", text)))
    return "\n".join(_TASK.sub(_checkbox, line) for line in text.split("\n"))


def _day_link(match: re.Match[str]) -> str:
    for pattern in ("%b %d, %Y", "%B %d, %Y"):
        try:
            return f"[[{datetime.strptime(_ORDINAL.sub('', match[1]), pattern):%Y-%m-%d}]]"
        except ValueError:
            continue
    return match[0]


def _checkbox(match: re.Match[str]) -> str:
    return f"{match['lead']}[{_DONE.get(match['word'], ' ')}] "


def _with_block_ids(text: str, graph: _Graph) -> str:
    """The text without Logseq's own properties of blocks; a block that something refers to ends in its id."""
    lines, block, is_code = list[str](), -1, False
    for line in text.split("\n"):
        is_code ^= line.lstrip(" \t-").startswith("```")
        match = None if is_code else _PROPERTY.fullmatch(line)
        if match and (match["name"] in _OWN_PROPERTIES or match["name"].startswith("logseq.")):
            id_ = (match["value"] or "").casefold()
            if match["name"] == "id" and id_ in graph.referenced and block >= 0:
                lines[block] = f"{lines[block].rstrip()} ^{id_}"
            if match["lead"].strip():
                lines.append(match["lead"].rstrip())
                block = len(lines) - 1
            continue
        if _BLOCK.match(line):
            block = len(lines)
        lines.append(line)
    return "\n".join(lines)


READER: Final = ImportReader(
    kind="logseq",
    title="Logseq",
    files="the folder of a graph, in Markdown",
    select=_select,
    read=_read,
)
