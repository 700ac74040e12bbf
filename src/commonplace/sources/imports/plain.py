"""One conversation in a file: JSON, JSON Lines, or text whose turns begin with `User:` and the like.

This is the loosest shape, so it is tried last, and never on a folder: a note with `Ada: ...` in it is no conversation.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from commonplace.errors import UsageError
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    head,
    read_whole,
)
from commonplace.sources.transcripts import read_transcript

KIND: Final = "conversation"
INTERFACE: Final = "file"
"""The program of a conversation in a file that names none."""


def _select(files: ImportFiles) -> Sequence[str]:
    """The only file, if it holds messages in JSON, or text in which every turn has a speaker."""
    paths = files.paths()
    if len(paths) != 1:
        return ()
    beginning = head(files, paths[0])
    if beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        return paths if b'"role"' in beginning else ()
    try:
        read_transcript(read_whole(files, paths[0]), name=paths[0])
    except UsageError:
        return ()
    return paths


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    for path in paths:
        try:
            transcript = read_transcript(read_whole(files, path), name=path)
        except UsageError as error:
            yield ImportProblem(path, error.message)
            continue
        yield ImportedConversation(
            where=path,
            interface=transcript.interface or INTERFACE,
            messages=transcript.messages,
            source_id=transcript.source_id,
            title=transcript.title,
        )


READER: Final = ImportReader(KIND, "one conversation", "JSON, JSON Lines, or text with `User:` turns", _select, _read)
