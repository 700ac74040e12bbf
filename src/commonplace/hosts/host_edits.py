"""Our entries in a host's file, and files that are ours as a whole: put into a text and taken out again.

An entry of ours is recognized among those of others, whichever version of us wrote it. So is a whole file, by its last
line, which holds the digest of the lines above it: a file that a person wrote or changed has none that fits.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from commonplace.errors import Conflict
from commonplace.hosts import jsonc_edits, toml_edits
from commonplace.hosts.jsonc import JsoncNode, Keys, parse_jsonc
from commonplace.hosts.text_edits import EditedText, UndoInfo, block_in, is_blank, put_block, remove_block

FileFormat = Literal["json", "toml", "markdown"]
SERVER_NAME: Final = "commonplace"
TOKEN_INPUT: Final = "commonplace-token"  # noqa: S105 (the id of an input that VS Code asks a person for)
OWNED_KEYS: Final = frozenset(
    (
        "type",
        "command",
        "args",
        "env_vars",
        "url",
        "httpUrl",
        "serverUrl",
        "headers",
        "http_headers",
        "bearer_token_env_var",
    )
)
"""The keys of a server entry that we write; a person's other keys stay."""

TOKEN_PATTERN: Final = re.compile(r"cpl_[A-Za-z0-9_-]+")
"""One of our tokens, anywhere in a text."""

_PROGRAM: Final = re.compile(r"(?:^|[\\/])commonplace(?:\.exe)?$")
_HOOK: Final = re.compile(r"(?<![\w.-])commonplace(?:\.exe)?[\"']?\s+hook\s+[a-z-]+\s+--host\s")
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_ADDRESS_KEYS: Final = ("url", "httpUrl", "serverUrl")  # as most hosts, Gemini CLI and Windsurf call it
_SEAL: Final = re.compile(r"(?P<body>.*\n)<!-- commonplace:(?P<digest>[0-9a-f]{16}) -->\n?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """An MCP server by name at the end of `path`: a member in JSON, a table in TOML."""

    path: Keys
    value: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListEntry:
    """An element of the array at `path`; with `nested_key`, in the array of that name inside an element of it."""

    path: Keys
    nested_key: str = ""
    value: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListValue:
    """A text in the array at `path`, such as the name of a tool that is allowed; the same text of a person stays."""

    path: Keys
    value: str


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """Our lines in a Markdown file."""

    lines: str = ""


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that is ours as a whole, without its last line; a person's file in its place stays as it is."""

    text: str = ""

    @property
    def sealed(self) -> str:
        """The text as it is written: with a last line by which it is known again."""
        return f"{self.text}<!-- commonplace:{_digest(self.text)} -->\n"


Edit = ServerEntry | ListEntry | ListValue | MarkdownBlock | WholeFile
_Steps = tuple[int | str, ...]


def is_our_file(text: str) -> bool:
    """True if we wrote this whole file, in whichever version, and nobody has changed it since."""
    match = _SEAL.fullmatch(text.replace("\r\n", "\n"))
    return match is not None and match["digest"] == _digest(match["body"])


def put_edit(text: str, edit: Edit, format: FileFormat) -> EditedText:
    """The text with the edit; unchanged if it is there already. Raises InvalidSyntax.

    Raises Conflict if another MCP server has our name.
    """
    if isinstance(edit, MarkdownBlock):
        return EditedText(text) if block_in(text) == edit.lines else put_block(text, edit.lines)
    if isinstance(edit, WholeFile):
        return EditedText(_put_whole_file(text, edit))
    if isinstance(edit, ListEntry):
        return _put_list_entry(text, edit)
    if isinstance(edit, ListValue):
        return EditedText(text) if has_value(text, edit) else jsonc_edits.add_element(text, edit.path, edit.value)
    return _put_server(text, edit, format)


def remove_edit(text: str, edit: Edit, format: FileFormat, *, undo: UndoInfo) -> str:
    """The text without the edit, whichever version of us put it there. Raises InvalidSyntax."""
    if isinstance(edit, MarkdownBlock):
        return remove_block(text, undo)
    if isinstance(edit, WholeFile):
        return "" if is_our_file(text) else text
    if isinstance(edit, ListEntry):
        return _remove_list_entry(text, edit, undo)
    if isinstance(edit, ListValue):
        return _remove_value(text, edit, undo)
    if not is_our_server(current_entry(text, edit, format)):
        return text
    if format == "toml":
        return toml_edits.remove_table(text, edit.path, undo)
    return jsonc_edits.remove_member(text, edit.path, undo)


def current_entry(text: str, edit: ServerEntry, format: FileFormat) -> Any:
    """The server entry that the text has now; None if there is none. Raises InvalidSyntax."""
    return (toml_edits.table_at if format == "toml" else jsonc_edits.value_at)(text, edit.path)


def has_value(text: str, edit: ListValue) -> bool:
    """True if the array has this text. Raises InvalidSyntax."""
    values = jsonc_edits.value_at(text, edit.path)
    return isinstance(values, list) and edit.value in values


def is_our_server(entry: Any) -> bool:
    """True if this MCP server is Commonplace, judged by its program or its address."""
    if not isinstance(entry, Mapping):
        return False
    if url := server_address(entry):
        parts = urlsplit(url)
        return parts.hostname in _LOOPBACK and parts.path == "/mcp"
    command, args = entry.get("command"), entry.get("args")
    words = [*(command if isinstance(command, list) else [command]), *(args if isinstance(args, list) else [])]
    names_us = any(isinstance(word, str) and _PROGRAM.search(word) for word in words)
    return names_us and "mcp" in words


def server_address(entry: Mapping[str, Any]) -> str:
    """The address of this MCP server; empty if it is a program."""
    return next((entry[key] for key in _ADDRESS_KEYS if isinstance(entry.get(key), str)), "")


def is_our_list_entry(value: Any) -> bool:
    """True if this is a hook that calls us, or the input for our token."""
    if not isinstance(value, Mapping):
        return False
    command = value.get("command")
    return value.get("id") == TOKEN_INPUT or (isinstance(command, str) and _HOOK.search(command) is not None)


def _put_whole_file(text: str, edit: WholeFile) -> str:
    """The file as we write it, in place of none or of an older one of ours; a person's file as it is."""
    if text and not is_our_file(text):
        return text
    return text if text.replace("\r\n", "\n") == edit.sealed else edit.sealed


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _put_server(text: str, edit: ServerEntry, format: FileFormat) -> EditedText:
    current = current_entry(text, edit, format)
    if current is not None and not is_our_server(current):
        message = "the file has another MCP server called commonplace"
        raise Conflict(message, hint="Rename that server, then install again.")
    if current is not None and {key: value for key, value in current.items() if key in OWNED_KEYS} == edit.value:
        return EditedText(text)
    if format == "toml":
        return toml_edits.put_table(text, edit.path, edit.value, owned=OWNED_KEYS)
    others = {key: value for key, value in (current or {}).items() if key not in OWNED_KEYS}
    return jsonc_edits.put_member(text, edit.path, {**edit.value, **others})


def _put_list_entry(text: str, edit: ListEntry) -> EditedText:
    entries = list(_our_entries(text, edit))
    if len(entries) == 1:
        _, node = entries[0]
        return EditedText(jsonc_edits.replace_value(text, node, dict(edit.value)))
    if entries:
        text = _remove_list_entry(text, edit, UndoInfo())
    element = {edit.nested_key: [dict(edit.value)]} if edit.nested_key else dict(edit.value)
    return jsonc_edits.add_element(text, edit.path, element)


def _remove_list_entry(text: str, edit: ListEntry, undo: UndoInfo) -> str:
    while steps := next((steps for steps, _ in _our_entries(text, edit)), None):
        text = jsonc_edits.remove_element(text, edit.path, steps, undo)
    return text


def _remove_value(text: str, edit: ListValue, undo: UndoInfo) -> str:
    if not has_value(text, edit):
        return text
    number = jsonc_edits.value_at(text, edit.path).index(edit.value)
    return jsonc_edits.remove_element(text, edit.path, (number,), undo)


def _our_entries(text: str, edit: ListEntry) -> Iterator[tuple[_Steps, JsoncNode]]:
    """Our entries and the steps to them; if one is alone in its element, the steps lead to the element."""
    if is_blank(text):
        return
    array = parse_jsonc(text).at(edit.path)
    for number, item in enumerate(array.items if array and isinstance(array.value, list) else ()):
        if not edit.nested_key:
            if is_our_list_entry(item.node.value):
                yield (number,), item.node
            continue
        nested = item.node.member(edit.nested_key) if isinstance(item.node.value, dict) else None
        entries = nested.node.items if nested else ()
        for inner, entry in enumerate(entries):
            if is_our_list_entry(entry.node.value):
                yield (number,) if len(entries) == 1 else (number, edit.nested_key, inner), entry.node
