"""Letta's agent files (`.af`): memory blocks, messages, and archival passages where the file has them.

A block about the person becomes entries, line by line; any other block a note. The persona and the system prompt say
how that agent behaves: they are no memory, and stay out, as do tools and their code. Messages become one conversation.
Files of before and after October 2025 differ: one agent with `core_memory`, or lists of `agents` and `blocks`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from commonplace.errors import UsageError
from commonplace.model import Message, Role
from commonplace.sources.imports.base import (
    ImportedConversation,
    ImportedNote,
    ImportFiles,
    ImportItem,
    ImportProblem,
    ImportReader,
    ImportSkip,
    head,
)
from commonplace.sources.imports.export_values import mapping_of, mappings_in, text_of, time_of
from commonplace.sources.imports.note_files import distinct_paths, note_path, with_frontmatter
from commonplace.sources.imports.statements import (
    LONGEST_STATEMENT,
    moment_of,
    names_of,
    plain_line,
    plain_text,
    read_json,
    statement_entry,
    statements_in,
)

KIND: Final = "letta"
_ABOUT_PERSON: Final = frozenset(("human", "user", "about_user", "user_profile", "user_info"))
_ABOUT_AGENT: Final = frozenset(("persona", "instructions", "guidelines", "skills"))
_MOST_STATEMENTS: Final = 40  # of a block that becomes entries: one with more is a document
_STARTER: Final = re.compile(
    r"this is (?:what i know so far|my section)|this (?:block|section)\b|updated as i learn|facts and context about",
    re.IGNORECASE,
)
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_EVENTS: Final = frozenset(("heartbeat", "login", "system_alert", "package_message", "function_message"))


def _select(files: ImportFiles) -> Sequence[str]:
    paths = [path for path in files.paths() if path.casefold().endswith((".af", ".json"))]
    return [path for path in paths if _is_ours(head(files, path))]


def _is_ours(beginning: bytes) -> bool:
    beginning = beginning.replace(b'\\"', b'"')  # some files hold their JSON as one text of JSON
    is_old = b'"core_memory"' in beginning and b'"agent_type"' in beginning
    is_new = b'"agents"' in beginning and b'"block_ids"' in beginning
    return is_old or is_new


def _read(files: ImportFiles, paths: Sequence[str]) -> Iterator[ImportItem]:
    for path in paths:
        try:
            value = read_json(files, path)
            file = mapping_of(_json(value) if isinstance(value, str) else value)
        except UsageError as error:
            yield ImportProblem(path, error.message)
            continue
        agents = mappings_in(file.get("agents")) or [file]
        blocks = {text_of(each.get("id")): each for each in mappings_in(file.get("blocks"))}
        for number, agent in enumerate(agents, 1):
            name = plain_line(agent.get("name")) or f"agent {number}"
            own = _blocks_of(agent, blocks)
            yield from _agent_items(agent, own, where=f"{path}, {name[:80]}", name=name)
            blocks = {id_: each for id_, each in blocks.items() if each not in own}  # agents share blocks
        if files_ := len(mappings_in(file.get("files"))):
            yield ImportSkip(path, f"files that the agent was given: {files_}")


def _blocks_of(agent: Mapping[str, Any], blocks: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    ids = agent.get("block_ids")
    named = [blocks[each] for each in ids if isinstance(each, str) and each in blocks] if isinstance(ids, list) else []
    core = agent.get("core_memory")
    nested = mappings_in(mapping_of(core).get("blocks")) or mappings_in(core)
    return [*named, *mappings_in(agent.get("memory_blocks")), *nested]


def _agent_items(
    agent: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]], *, where: str, name: str
) -> Iterator[ImportItem]:
    wanted = {str(number): note_path("Letta", name, _label(block)) for number, block in enumerate(blocks)}
    paths = distinct_paths(wanted)
    for number, block in enumerate(blocks):
        yield from _block_items(block, where=f"{where}, block {_label(block)}", path=paths[str(number)])
    since = moment_of(agent.get("created_at"))
    for key in ("archival_memory", "passages", "archival_passages"):
        for number, passage in enumerate(mappings_in(agent.get(key)), 1):
            yield from _passage_items(passage, f"{where}, passage {number}", name=name, since=since)
    yield from _conversation(agent, where, name)
    if plain_text(agent.get("system")):
        yield ImportSkip(where, "the system prompt and the tools: they say how that agent behaves")


def _label(block: Mapping[str, Any]) -> str:
    return plain_line(block.get("label"))[:80] or "block"


def _block_items(block: Mapping[str, Any], *, where: str, path: str) -> Iterator[ImportItem]:
    text, label = plain_text(block.get("value")), _label(block)
    name = label.casefold().rpartition("/")[2]
    is_about_person = name in _ABOUT_PERSON and sum(1 for _ in statements_in(text)) <= _MOST_STATEMENTS
    if not _ABOUT_AGENT.isdisjoint(re.split(r"[_\W]+", name)):
        yield ImportSkip(where, "it says how that agent behaves")
    elif is_about_person:
        yield from _person_items(text, where, since=moment_of(block.get("updated_at") or block.get("created_at")))
    elif text:
        body = f"# {label}\n\n{text}\n"
        description = plain_line(block.get("description"))
        yield ImportedNote(where=where, path=path, text=with_frontmatter({"description": description}, body))


def _person_items(text: str, where: str, *, since: str) -> Iterator[ImportItem]:
    seen = set[str]()
    for _, said in statements_in(text):
        if _STARTER.match(said) or said.casefold() in seen:
            continue
        seen.add(said.casefold())
        if len(said) > LONGEST_STATEMENT:
            yield ImportProblem(where, f"a statement has more than {LONGEST_STATEMENT} characters")
        else:
            yield statement_entry(said, where=where, source_id=said, known_since=since)


def _passage_items(passage: Mapping[str, Any], where: str, *, name: str, since: str) -> Iterator[ImportItem]:
    text, id_ = plain_text(passage.get("text") or passage.get("content")), text_of(passage.get("id"))
    at = moment_of(passage.get("created_at")) or since
    if not text:
        yield ImportProblem(where, "a passage has no text")
    elif len(text) > LONGEST_STATEMENT:
        title = plain_line(text.partition("\n")[0])[:60]
        keys = {"created": at, "tags": [*names_of(passage.get("tags") or ())]}
        path = note_path("Letta", name, "archival", f"{title} {id_[-6:]}")
        yield ImportedNote(where=where, path=path, text=with_frontmatter(keys, f"{text}\n"))
    else:
        topics = names_of(passage.get("tags") or ())
        yield statement_entry(text, where=where, topics=topics, source_id=id_ or text[:120], known_since=at)


def _conversation(agent: Mapping[str, Any], where: str, name: str) -> Iterator[ImportItem]:
    messages = tuple(found for each in mappings_in(agent.get("messages")) if (found := _message(each)))
    if messages:
        id_ = f"{text_of(agent.get('id')) or name} {plain_line(agent.get('created_at'))}".strip()
        title = f"Letta: {name}"
        yield ImportedConversation(where=where, interface=KIND, messages=messages, source_id=id_, title=title)


def _message(value: Mapping[str, Any]) -> Message | None:
    """What the person or the agent said in a message; None for heartbeats, tool results and thoughts."""
    role = _ROLES.get(text_of(value.get("role")))
    if role is None:
        return None
    text = _content(value.get("content") if value.get("content") is not None else value.get("text"))
    if role == "user":
        text = _typed(text)
    elif mappings_in(value.get("tool_calls")):
        text = _sent(value)
    if not text:
        return None
    return Message(role, text, at=time_of(value.get("created_at")), source_id=text_of(value.get("id")))


def _content(value: object) -> str:
    if isinstance(value, str):
        return plain_text(value)
    parts = (plain_text(each.get("text")) for each in mappings_in(value) if each.get("type") in (None, "text"))
    return "\n".join(filter(None, parts))


def _typed(text: str) -> str:
    """What the person typed: Letta wraps it in JSON, together with events that nobody typed."""
    if not text.startswith("{"):
        return text
    value = mapping_of(_json(text))
    type_ = text_of(value.get("type"))
    if type_ in _EVENTS:
        return ""
    return plain_text(value.get("message")) if type_ == "user_message" else text


def _sent(value: Mapping[str, Any]) -> str:
    """What the agent said by the tool `send_message`; what it writes beside a call of a tool are thoughts."""
    for call in mappings_in(value.get("tool_calls")):
        function = mapping_of(call.get("function")) or call
        if function.get("name") == "send_message":
            arguments = function.get("arguments")
            return plain_text(mapping_of(_json(arguments) if isinstance(arguments, str) else arguments).get("message"))
    return ""


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


READER: Final = ImportReader(
    kind=KIND,
    title="Letta",
    files="agent files (.af)",
    select=_select,
    read=_read,
)
