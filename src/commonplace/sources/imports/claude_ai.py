"""The data export of Claude.ai: conversations.json, or the whole zip.

Each conversation lists its messages. Newer exports name the message before each one, because an edited question is a
branch: then the branch of the newest message is imported. Of the blocks of a message its text counts, and not thoughts,
tool calls and their results. A long paste is an attachment without a name, and what the person said in its place.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from commonplace.model import Message, Role
from commonplace.sources.imports.base import ImportedConversation, ImportFiles, ImportItem, ImportReader
from commonplace.sources.imports.export_values import (
    mappings_in,
    read_conversations,
    select_json,
    text_of,
    time_of,
)
from commonplace.sources.transcripts import strip_memory

KIND: Final = "claude-ai"
_ROLES: Final[Mapping[str, Role]] = {"human": "user", "user": "user", "assistant": "assistant"}


def _select(files: ImportFiles) -> Sequence[str]:
    def is_ours(keys: frozenset[str]) -> bool:
        return "chat_messages" in keys and bool(keys & {"uuid", "name"})

    return select_json(files, is_ours)


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    return read_conversations(files, paths, _conversation)


def _conversation(value: Mapping[str, Any], where: str) -> ImportedConversation | None:
    """The conversation; None if nothing was said in it."""
    listed = mappings_in(value.get("chat_messages"))
    branch = _branch(listed, text_of(value.get("current_leaf_message_uuid")))
    at = time_of(value.get("created_at"))
    messages = list[Message]()
    for each in branch:
        at = time_of(each.get("created_at")) or at
        if said := _said(each, at):
            messages.append(said)
    if not messages:
        return None
    shown = {id(each) for each in branch}
    return ImportedConversation(
        where=where,
        interface=KIND,
        messages=tuple(messages),
        source_id=text_of(value.get("uuid")),
        title=text_of(value.get("name")),
        unshown=sum(_said(each, None) is not None for each in listed if id(each) not in shown),
    )


def _branch(messages: Sequence[Mapping[str, Any]], leaf: str) -> list[Mapping[str, Any]]:
    """The messages from the first to the leaf, or to the newest message; all of them if they do not form a tree."""
    by_id = {id_: each for each in messages if (id_ := text_of(each.get("uuid")))}
    parents = {text_of(each.get("parent_message_uuid")) for each in messages}
    if not parents & by_id.keys() or len(by_id) < len(messages):
        return [*messages]
    leaves = [id_ for id_ in by_id if id_ not in parents] or [*by_id]
    current = leaf if leaf in by_id else max(leaves, key=lambda id_: _sort_time(by_id[id_]))
    branch = dict[str, Mapping[str, Any]]()
    while current in by_id and current not in branch:
        branch[current] = by_id[current]
        current = text_of(by_id[current].get("parent_message_uuid"))
    return [*reversed(branch.values())]


def _sort_time(message: Mapping[str, Any]) -> float:
    at = time_of(message.get("created_at"))
    return at.timestamp() if at else 0.0


def _said(message: Mapping[str, Any], at: datetime | None) -> Message | None:
    """What the person or the assistant said; None for any other message and for an empty one."""
    role = _ROLES.get(text_of(message.get("sender")))
    if role is None:
        return None
    blocks = mappings_in(message.get("content"))
    texts = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = "\n".join(filter(None, texts)) or ("" if blocks else text_of(message.get("text")))
    if role == "user":
        pastes = (each for each in mappings_in(message.get("attachments")) if not text_of(each.get("file_name")))
        text = "\n\n".join(filter(None, (text, *(text_of(each.get("extracted_content")) for each in pastes))))
    text = strip_memory(text)
    return Message(role, text, at=at, source_id=text_of(message.get("uuid"))) if text else None


READER: Final = ImportReader(
    KIND, "Claude.ai export", "conversations.json, or the zip that Claude.ai sends", _select, _read
)
