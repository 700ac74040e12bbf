"""The transcript folders of coding agents: every old session of Claude Code, Codex and Gemini CLI at once.

A session is read as the hooks read it (`sources.transcripts`), and recorded under the id by which the hooks know it: a
session that was captured while it took place is not recorded a second time, and one that goes on is captured further.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO, Final

from commonplace.agent_hosts import Line, parse_transcript_line, working_folders
from commonplace.errors import UsageError
from commonplace.model import Message
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
)
from commonplace.sources.transcripts import read_agent_lines

_FIRST_LINES: Final = 20  # of a transcript, in which its shape shows
_LONGEST_LINE: Final = 16 * 1024 * 1024  # bytes: pictures are stored with what was typed
_PART: Final = 4 * 1024 * 1024  # bytes that are parsed at once
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a transcript; one that is too long is left out."""
    is_rest = False
    while line := stream.readline(_LONGEST_LINE):
        is_whole = line.endswith(b"\n") or len(line) < _LONGEST_LINE
        if is_whole and not is_rest:
            yield line
        is_rest = not is_whole


def _beginning(files: ImportFiles, path: str) -> list[Line]:
    """The first lines of a transcript that are JSON objects."""
    try:
        with files.open(path) as stream:
            parsed = (parse_transcript_line(line) for line in islice(_lines(stream), _FIRST_LINES))
            return [line for line in parsed if line]
    except (UsageError, OSError):
        return []


def _is_claude_code(line: Line) -> bool:
    return isinstance(line.get("sessionId"), str) and ("uuid" in line or "leafUuid" in line or "type" in line)


def _is_codex(line: Line) -> bool:
    return isinstance(line.get("payload"), dict) and line.get("type") in (
        *("session_meta", "response_item", "event_msg", "turn_context", "compacted"),
    )


def _is_gemini(line: Line) -> bool:
    return isinstance(line.get("sessionId"), str) and "projectHash" in line


def _claude_code_id(path: str, lines: Sequence[Line]) -> str:
    """The name of the file, by which hooks know the session; of a file that was renamed, the id in its lines."""
    name = path.rpartition("/")[2].removesuffix(".jsonl")
    return name if _UUID.fullmatch(name) else _session_id(path, lines)


def _codex_id(path: str, lines: Sequence[Line]) -> str:
    """The id in the first line of a rollout, or else in its name."""
    ids = (payload.get("id") for line in lines if isinstance(payload := line.get("payload"), dict) and _is_meta(line))
    named = _UUID.findall(path.rpartition("/")[2])
    return next((id_ for id_ in ids if isinstance(id_, str)), named[-1] if named else "")


def _is_meta(line: Line) -> bool:
    return line.get("type") == "session_meta"


def _session_id(path: str, lines: Sequence[Line]) -> str:
    """The first id in the lines."""
    return next((id_ for line in lines if isinstance(id_ := line.get("sessionId"), str)), "")


def _reader(
    host: str, title: str, folder: str, is_line: Callable[[Line], bool], id_of: Callable[[str, Sequence[Line]], str]
) -> ImportReader:
    def select(files: ImportFiles) -> Sequence[str]:
        paths = (path for path in files.paths() if path.endswith(".jsonl"))
        return [path for path in paths if any(map(is_line, _beginning(files, path)))]

    def read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
        for path in paths:
            try:
                yield from _session(files, path, host, id_of(path, _beginning(files, path)))
            except UsageError as error:
                yield ImportProblem(path, error.message)
            except OSError as error:
                yield ImportProblem(path, f"the file cannot be read: {error.strerror}")

    return ImportReader(host, title, f"{folder}, or one transcript in it", select, read)


def _session(files: ImportFiles, path: str, host: str, id: str) -> Iterator[ImportItem]:
    messages, folders, broken = list[Message](), dict[str, None](), 0
    for part in _parts(files, path):
        read = read_agent_lines(part, host=host, is_whole=True)
        messages += read.messages
        broken += read.broken
        folders |= dict.fromkeys(working_folders(part))
    if broken:
        yield ImportProblem(path, f"{broken} {'line is' if broken == 1 else 'lines are'} not JSON")
    if not id or not messages:
        yield ImportSkip(path, "nothing was said in it" if id else "the session has no id")
        return
    yield ImportedConversation(
        where=path,
        interface=host,
        messages=tuple(messages),
        source_id=id,
        captured=True,
        folders=tuple(folders),
    )


def _parts(files: ImportFiles, path: str) -> Iterator[bytes]:
    """The transcript in parts of whole lines."""
    lines, size = list[bytes](), 0
    with files.open(path) as stream:
        for line in _lines(stream):
            lines.append(line)
            size += len(line)
            if size >= _PART:
                yield b"".join(lines)
                lines, size = [], 0
    if lines:
        yield b"".join(lines)


CLAUDE_CODE: Final = _reader(
    "claude-code", "Claude Code sessions", "the folder ~/.claude/projects", _is_claude_code, _claude_code_id
)
CODEX: Final = _reader("codex", "Codex sessions", "the folder ~/.codex/sessions", _is_codex, _codex_id)
GEMINI: Final = _reader("gemini", "Gemini CLI sessions", "the folder ~/.gemini/tmp", _is_gemini, _session_id)
