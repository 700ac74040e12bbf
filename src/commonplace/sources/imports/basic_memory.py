"""A project of Basic Memory: Markdown notes with observations, `- [kind] text #tag`, and relations, `- verb [[Note]]`.

Notes here have such lines too, so each note is taken over with its text as it is; only links of the form
`memory://permalink` become links to the note that they name.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from commonplace.errors import UsageError
from commonplace.sources.imports.base import ImportedNote, ImportFiles, ImportItem, ImportProblem, ImportReader
from commonplace.sources.imports.note_files import (
    distinct_paths,
    head_text,
    is_markdown,
    note_path,
    note_text,
    outside_code,
    split_frontmatter,
)

_LOOKED_AT: Final = 60  # notes: in a project of Basic Memory nearly every note has a permalink
_PERMALINK: Final = re.compile(r"\A---\n(?:.*\n)*?permalink:[ \t]*\S", re.MULTILINE)
_STRUCTURED: Final = re.compile(
    r"^- \[[\w -]{1,40}\] \S|^- [\w -]{1,60} \[\[|^## (?:Observations|Relations)\s*$", re.MULTILINE
)
_MEMORY_LINK: Final = re.compile(r"\[([^\[\]\n]*)\]\(memory://([^()\s]+)\)|memory://([\w/.-]+[\w/])")


def _select(files: ImportFiles) -> Sequence[str]:
    notes = [path for path in files.paths() if is_markdown(path)]
    heads = [head_text(files, path) for path in notes[:_LOOKED_AT]]
    with_permalink = [each for each in heads if _PERMALINK.match(each)]
    is_ours = 2 * len(with_permalink) >= len(heads) and any(_STRUCTURED.search(each) for each in with_permalink)
    return notes if is_ours else ()


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    wanted = {path: note_path("Basic Memory", posixpath.splitext(path)[0]) for path in paths}
    targets = distinct_paths(wanted)
    permalinks = {each: targets[path] for path in paths if (each := _permalink(files, path))}
    for path in paths:
        try:
            text = note_text(files, path)
        except UsageError as error:
            yield ImportProblem(path, error.message)
            continue
        if problem := split_frontmatter(text)[2]:
            yield ImportProblem(path, f"{problem}; the note is taken over as it is")
        yield ImportedNote(where=path, path=targets[path], text=_with_links(text, permalinks))


def _permalink(files: ImportFiles, path: str) -> str:
    value = split_frontmatter(head_text(files, path))[0].get("permalink")
    return value.strip("/") if isinstance(value, str) else ""


def _with_links(text: str, permalinks: Mapping[str, str]) -> str:
    """The text with links to the notes that `memory://` links name; unknown ones stay."""

    def link(match: re.Match[str]) -> str:
        target = permalinks.get((match[2] or match[3]).strip("/"))
        if target is None:
            return match[0]
        name = target.removesuffix(".md").rpartition("/")[2]
        return f"[[{name}|{match[1]}]]" if match[1] else f"[[{name}]]"

    return "".join(_MEMORY_LINK.sub(link, part) if is_prose else part for part, is_prose in outside_code(text))


READER: Final = ImportReader(
    kind="basic-memory",
    title="Basic Memory",
    files="the folder of a project",
    select=_select,
    read=_read,
)
