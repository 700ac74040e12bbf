"""Every reader, and which of them recognises given files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from commonplace.errors import UsageError
from commonplace.sources.imports import (
    agent_folders,
    agentm,
    basic_memory,
    chatgpt,
    claude_ai,
    donna,
    istota,
    letta,
    logseq,
    mcp_memory,
    mem0,
    notion,
    perplexity,
    plain,
    vault_operator,
)
from commonplace.sources.imports.base import ImportFiles, ImportReader

_CONVERSATIONS: Final[Sequence[ImportReader]] = (
    chatgpt.READER,
    claude_ai.READER,
    perplexity.READER,
    agent_folders.CLAUDE_CODE,
    agent_folders.CODEX,
    agent_folders.GEMINI,
)
_MEMORIES: Final[Sequence[ImportReader]] = (
    mcp_memory.READER,
    letta.READER,
    mem0.READER,
    vault_operator.READER,
    istota.READER,
    logseq.READER,
    notion.READER,
    agentm.READER,
    donna.READER,
    basic_memory.READER,
)
READERS: Final[Sequence[ImportReader]] = (*_CONVERSATIONS, *_MEMORIES, plain.READER)
"""In the order in which they are tried: the more special a shape is, the earlier it comes."""


@dataclass(frozen=True, slots=True)
class ImportPart:
    """Some of the files that were named: the reader that recognised them, and their paths."""

    reader: ImportReader
    paths: Sequence[str]


def find_reader(kind: str) -> ImportReader:
    """The reader of that kind. Raises UsageError if there is none."""
    for reader in READERS:
        if reader.kind == kind:
            return reader
    raise UsageError(
        f"nothing is imported from {kind!r}", hint=f"Choose from: {', '.join(each.kind for each in READERS)}."
    )


def recognise(files: ImportFiles, *, kind: str = "") -> tuple[ImportPart, ...]:
    """The parts of the files that readers recognise; only that of `kind` if one is named. Empty if nobody does.

    A folder may hold the conversations of several programs, and one other memory. Raises UsageError for an unknown
    kind.
    """
    if kind:
        reader = find_reader(kind)
        paths = reader.select(files)
        return (ImportPart(reader, paths),) if paths else ()
    parts = [ImportPart(reader, paths) for reader in _CONVERSATIONS if (paths := reader.select(files))]
    taken = {path for part in parts for path in part.paths}
    for reader in _MEMORIES:
        if paths := [path for path in reader.select(files) if path not in taken]:
            return (*parts, ImportPart(reader, paths))
    return tuple(parts) or recognise(files, kind=plain.KIND)


def readable_shapes() -> str:
    """What can be imported, for a hint."""
    return "; ".join(f"{each.title} ({each.files})" for each in READERS)
