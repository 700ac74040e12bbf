"""ChatGPT's data export: conversations.json, its numbered parts, or the whole zip.

A conversation is a tree: an edited question and an answer that was generated again are branches. What is imported is
the branch that ChatGPT shows, from `current_node` up to the root. Of its messages, those that a person can see in
ChatGPT: what was typed and what was answered, and not what tools, searches and the model's own thoughts left between
them. The custom instructions, which ChatGPT hides in every conversation, are what the person wrote: they become a
conversation of their own, with one message for each version.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from commonplace.model import Message, Role
from commonplace.sources.imports.base import ImportedConversation, ImportFiles, ImportItem, ImportReader
from commonplace.sources.imports.export_values import (
    mapping_of,
    read_conversations,
    select_json,
    text_of,
    time_of,
)
from commonplace.sources.transcripts import strip_memory

KIND: Final = "chatgpt"
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_SPOKEN: Final = frozenset(("text", "multimodal_text", "code"))
_INSTRUCTIONS: Final = "user_editable_context"
_CITATION: Final = re.compile(r"[ \t]?\ue200[^\ue200\ue201]*\ue201|[ \t]?【\d+(?::\d+)?†[^】\n]{0,80}】")
_WRAPPED: Final = re.compile(r"```(.*)```", re.DOTALL)  # ChatGPT explains the instructions to its model around them
_DIGITS: Final = 16


def _select(files: ImportFiles) -> Sequence[str]:
    def is_ours(keys: frozenset[str]) -> bool:
        return "mapping" in keys and bool(keys & {"current_node", "conversation_id", "create_time", "title"})

    return select_json(files, is_ours)


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    instructions = dict[str, datetime | None]()

    def read(value: Mapping[str, Any], where: str) -> ImportItem | None:
        return _conversation(value, where, instructions)

    yield from read_conversations(files, paths, read)
    if instructions:
        yield _instructions(instructions, files.name)


def _conversation(
    value: Mapping[str, Any], where: str, instructions: dict[str, datetime | None]
) -> ImportedConversation | None:
    """The branch that is shown; notes the custom instructions. None if nothing was said in it."""
    nodes = {id_: node for id_, node in mapping_of(value.get("mapping")).items() if isinstance(node, dict)}
    branch = _branch(nodes, text_of(value.get("current_node")))
    at = started = time_of(value.get("create_time")) or time_of(value.get("update_time"))
    messages = list[Message]()
    for id_ in branch:
        message = mapping_of(nodes[id_].get("message"))
        at = time_of(message.get("create_time")) or at
        if words := _instruction_words(message):
            instructions[words] = min(filter(None, (instructions.get(words), started)), default=None)
        elif said := _said(message, id_, at):
            messages.append(said)
    if not messages:
        return None
    off_branch = (mapping_of(node.get("message")) for id_, node in nodes.items() if id_ not in {*branch})
    return ImportedConversation(
        where=where,
        interface=KIND,
        messages=tuple(messages),
        source_id=text_of(value.get("conversation_id")) or text_of(value.get("id")),
        title=text_of(value.get("title")),
        unshown=sum(_said(message, "", None) is not None for message in off_branch),
        memory="off" if value.get("is_do_not_remember") is True else "on",
    )


def _branch(nodes: Mapping[str, Mapping[str, Any]], current: str) -> list[str]:
    """The ids from the root to the current node; to the newest leaf if there is no such node."""
    if current not in nodes:
        parents = {node.get("parent") for node in nodes.values()}
        leaves = [id_ for id_ in nodes if id_ not in parents] or [*nodes]
        current = max(leaves, key=lambda id_: _sort_time(nodes[id_]), default="")
    branch = dict[str, None]()
    while current in nodes and current not in branch:  # a damaged export may go round in a circle
        branch[current] = None
        current = text_of(nodes[current].get("parent"))
    return [*reversed(branch)]


def _sort_time(node: Mapping[str, Any]) -> float:
    at = time_of(mapping_of(node.get("message")).get("create_time"))
    return at.timestamp() if at else 0.0


def _said(message: Mapping[str, Any], id: str, at: datetime | None) -> Message | None:
    """What the person or the assistant said; None for what ChatGPT does not show as such."""
    role = _ROLES.get(text_of(mapping_of(message.get("author")).get("role")))
    content, metadata = mapping_of(message.get("content")), mapping_of(message.get("metadata"))
    is_hidden = metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    if role is None or is_hidden or content.get("content_type") not in _SPOKEN:
        return None
    if role == "assistant" and message.get("recipient") not in ("all", None):  # it calls a tool
        return None
    text = strip_memory(_CITATION.sub("", _text(content)))
    return Message(role, text, at=at, source_id=text_of(message.get("id")) or id) if text else None


def _text(content: Mapping[str, Any]) -> str:
    """The words of a message: its parts that are text or were spoken, without pictures."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        return text_of(content.get("text"))
    texts = (part if isinstance(part, str) else mapping_of(part).get("text") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def _instruction_words(message: Mapping[str, Any]) -> str:
    """The custom instructions that a message carries; empty if it carries none."""
    content = mapping_of(message.get("content"))
    if content.get("content_type") == _INSTRUCTIONS:
        values = (content.get("user_profile"), content.get("user_instructions"))
    else:
        context = mapping_of(mapping_of(message.get("metadata")).get("user_context_message_data"))
        values = (context.get("about_user_message"), context.get("about_model_message"))
    return "\n\n".join(filter(None, map(_unwrapped, values)))


def _unwrapped(value: object) -> str:
    text = text_of(value)
    wrapped = _WRAPPED.search(text)
    return wrapped[1].strip() if wrapped else text


def _instructions(versions: Mapping[str, datetime | None], name: str) -> ImportedConversation:
    """The custom instructions as one conversation, oldest first; each version is known by a hash of its words."""
    by_time = sorted(versions.items(), key=lambda each: each[1].timestamp() if each[1] else 0.0)
    messages = (
        Message("user", text, at=at, source_id=hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_DIGITS])
        for text, at in by_time
    )
    return ImportedConversation(
        where=name,
        interface=KIND,
        messages=tuple(messages),
        source_id="custom-instructions",
        title="Custom instructions for ChatGPT",
    )


READER: Final = ImportReader(
    KIND, "ChatGPT export", "conversations.json, its numbered parts, or the zip that ChatGPT sends", _select, _read
)
