"""Perplexity's threads: its data export, threads saved as JSON by other tools, and threads saved as Markdown.

A thread is a list of entries with a question and an answer each, or a list of messages. The names of these fields
differ between the export and the program's own answers, which tools save as they are; all that are known are read. In
Markdown, the address of the thread is in the frontmatter, and `# Me` and `# Perplexity` begin the turns.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.model import Message, Role
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    head,
    read_whole,
)
from commonplace.sources.imports.export_values import (
    mapping_of,
    mappings_in,
    read_conversations,
    select_json,
    text_of,
    time_of,
)
from commonplace.sources.transcripts import strip_memory

KIND: Final = "perplexity"
_THREAD_MARKS: Final = frozenset(
    (
        *("context_uuid", "context_title", "thread_title", "thread_url_slug", "thread_id", "collection_uuid"),
        *("query_count", "has_next_page", "thread_metadata", "search_focus"),
    )
)
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_ID_KEYS: Final = ("context_uuid", "thread_id", "thread_url_slug", "slug", "uuid", "id")
_TITLE_KEYS: Final = ("context_title", "thread_title", "title")
_TIME_KEYS: Final = ("created_at", "entry_created_datetime", "updated_datetime", "updated_at", "timestamp")
_QUESTION_KEYS: Final = ("query", "query_str", "question")
_CITATION: Final = re.compile(r"[ \t]?\[\d{1,3}\](?!\()|\[([^\[\]\n]{1,200})\]\(pplx://[^)\s]{0,500}\)")
_ADDRESS: Final = re.compile(
    rb"\A\xef?\xbb?\xbf?---\r?\n(?:[^\n]*\n){0,20}?URL: *https://www\.perplexity\.ai/search/([^\s\"']+)", re.IGNORECASE
)
_FRONTMATTER: Final = re.compile(r"\A\ufeff?---\r?\n(.*?)\n---[ \t]*\r?\n", re.DOTALL)
_UPDATED: Final = re.compile(r"^Last updated: *(\S+)", re.MULTILINE)
_TURN: Final = re.compile(r"^# (Me|Perplexity)[ \t]*$", re.MULTILINE)


def _select(files: ImportFiles) -> Sequence[str]:
    threads = [path for path in files.paths() if path.endswith(".md") and _ADDRESS.match(head(files, path, most=4096))]
    return [*select_json(files, _is_thread), *threads]


def _is_thread(keys: frozenset[str]) -> bool:
    return bool(keys & {"entries", "messages"}) and bool(keys & _THREAD_MARKS)


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    json_paths = [path for path in paths if not path.endswith(".md")]
    yield from read_conversations(files, json_paths, _conversation)
    for path in paths:
        if path.endswith(".md"):
            yield _markdown_thread(files, path)


def _conversation(value: Mapping[str, Any], where: str) -> ImportedConversation | None:
    """The thread; None if nothing was asked in it."""
    entries = mappings_in(value.get("entries")) or mappings_in(value.get("messages"))
    about = {**(entries[0] if entries else {}), **value}
    at, messages = _time(value), list[Message]()
    for number, entry in enumerate(entries, start=1):
        at = _time(entry) or at
        messages.extend(_messages(entry, at, number))
    if not messages:
        return None
    return ImportedConversation(
        where=where,
        interface=KIND,
        messages=tuple(messages),
        source_id=_first(about, _ID_KEYS),
        title=_first(about, _TITLE_KEYS),
    )


def _messages(entry: Mapping[str, Any], at: datetime | None, number: int) -> Iterator[Message]:
    """The question and the answer of an entry, or the one message that it is; without an id, known by its number."""
    id_ = _first(entry, ("entry_uuid", "uuid", "backend_uuid", "id")) or f"#{number}"
    if role := _ROLES.get(text_of(entry.get("role"))):
        said = [(role, text_of(entry.get("content")), id_)]
    else:
        question = _first(entry, _QUESTION_KEYS)
        said = [("user", question, f"{id_} question"), ("assistant", _answer(entry), f"{id_} answer")]
    for speaker, text, source_id in said:
        if words := strip_memory(_without_citations(text) if speaker == "assistant" else text):
            yield Message(speaker, words, at=at, source_id=source_id)


def _without_citations(text: str) -> str:
    return _CITATION.sub(lambda match: match[1] or "", text)


def _answer(entry: Mapping[str, Any]) -> str:
    """The answer: a field, a block of Markdown, or JSON within `text`."""
    if answer := entry.get("answer"):
        return text_of(answer) or text_of(mapping_of(answer).get("text"))
    for block in mappings_in(entry.get("blocks")):
        answer = text_of(mapping_of(block.get("markdown_block")).get("answer"))
        if answer and str(block.get("intended_usage")).startswith("ask_text"):
            return answer
    return _answer_in_steps(text_of(entry.get("text")))


def _answer_in_steps(text: str) -> str:
    """The answer in the last step of an older entry, whose `text` is JSON; the text itself if it is not."""
    if text[:1] not in ("[", "{"):
        return text
    try:
        steps = json.loads(text)
        last = steps[-1] if isinstance(steps, list) and steps else steps
        answer = mapping_of(mapping_of(last).get("content")).get("answer") or mapping_of(last).get("answer")
        inner = json.loads(answer) if isinstance(answer, str) and answer[:1] == "{" else answer
    except (ValueError, RecursionError):
        return ""
    return text_of(mapping_of(inner).get("answer")) if isinstance(inner, dict) else text_of(inner)


def _markdown_thread(files: ImportFiles, path: str) -> ImportItem:
    """A thread that was saved as Markdown, with `# Me` and `# Perplexity` before the turns."""
    try:
        content = read_whole(files, path)
        text = content.decode()
    except UsageError as error:
        return ImportProblem(path, error.message)
    except UnicodeDecodeError:
        return ImportProblem(path, "not UTF-8 text")
    frontmatter = _FRONTMATTER.match(text)
    updated = _UPDATED.search(frontmatter[1]) if frontmatter else None
    at = time_of(updated[1]) if updated else None
    parts = _TURN.split(text[frontmatter.end() :] if frontmatter else text)
    turns = enumerate(zip(parts[1::2], parts[2::2], strict=True), start=1)
    address = _ADDRESS.match(content[:4096])
    messages = tuple(said for number, (speaker, words) in turns if (said := _turn(speaker, words, at, number)))
    if not messages:
        return ImportProblem(path, "no line `# Me` or `# Perplexity` begins a turn")
    return ImportedConversation(
        where=path,
        interface=KIND,
        messages=messages,
        source_id=address[1].decode(errors="replace") if address else "",
        title=path.rpartition("/")[2].removesuffix(".md"),
    )


def _turn(speaker: str, words: str, at: datetime | None, number: int) -> Message | None:
    """One turn, known by its number: the only time is that of the whole thread, which changes as it grows."""
    text = strip_memory(words.strip().removesuffix("---"))
    return Message("user" if speaker == "Me" else "assistant", text, at=at, source_id=f"#{number}") if text else None


def _time(value: Mapping[str, Any]) -> datetime | None:
    return next((at for key in _TIME_KEYS if (at := time_of(value.get(key)))), None)


def _first(value: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((text for key in keys if (text := text_of(value.get(key)))), "")


READER: Final = ImportReader(
    KIND, "Perplexity threads", "the export's JSON, or threads saved as JSON or Markdown", _select, _read
)
