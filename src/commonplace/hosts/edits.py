"""What a host's file shall say of us, put into its text and taken out again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from commonplace.errors import Conflict
from commonplace.hosts import jsonc, jsonc_edits, marked, toml_edits
from commonplace.hosts.jsonc import Keys, Node
from commonplace.hosts.ours import OWNED, is_our_leaf, is_our_server
from commonplace.hosts.trace import Edited, Trace, is_blank

Form = Literal["json", "toml", "markdown"]


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server by its name at the end of `path`: a member in JSON, a table in TOML."""

    path: Keys
    value: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    """Something of ours in the array at `path`; with `nest`, in an array of that name inside an element of it."""

    path: Keys
    nest: str = ""
    leaf: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of ours in a Markdown file."""

    lines: str = ""


Edit = Server | Listed | Block
Place = tuple[int | str, ...]
_TAKEN: Final = "there is another MCP server called commonplace"


def put(text: str, edit: Edit, form: Form) -> Edited:
    """The text with the edit in it; the same text where it is there already. Raises NotParsed, Conflict."""
    if isinstance(edit, Block):
        return Edited(text) if marked.block_in(text) == edit.lines else marked.put_block(text, edit.lines)
    if isinstance(edit, Listed):
        return _put_listed(text, edit)
    return _put_server(text, edit, form)


def remove(text: str, edit: Edit, form: Form, *, trace: Trace) -> str:
    """The text without what the edit put in, in whatever version of ours. Raises NotParsed."""
    if isinstance(edit, Block):
        return marked.remove_block(text, trace)
    if isinstance(edit, Listed):
        return _remove_listed(text, edit, trace)
    if not is_our_server(said(text, edit, form)):
        return text
    if form == "toml":
        return toml_edits.remove_table(text, edit.path, trace)
    return jsonc_edits.remove_member(text, edit.path, trace)


def said(text: str, edit: Server, form: Form) -> Any:
    """The entry as the text has it now; None without one. Raises NotParsed."""
    return (toml_edits.table_at if form == "toml" else jsonc_edits.values_at)(text, edit.path)


def _put_server(text: str, edit: Server, form: Form) -> Edited:
    known = said(text, edit, form)
    if known is not None and not is_our_server(known):
        raise Conflict(_TAKEN, hint="Give that one another name, then install again.")
    if known is not None and {key: value for key, value in known.items() if key in OWNED} == edit.value:
        return Edited(text)
    if form == "toml":
        return toml_edits.put_table(text, edit.path, edit.value, owned=OWNED)
    kept = {key: value for key, value in (known or {}).items() if key not in OWNED}
    return jsonc_edits.put_member(text, edit.path, {**edit.value, **kept})


def _put_listed(text: str, edit: Listed) -> Edited:
    found = list(_leaves(text, edit))
    if len(found) == 1:
        _, node = found[0]
        return Edited(jsonc_edits.replace_value(text, node, dict(edit.leaf)))
    if found:
        text = _remove_listed(text, edit, Trace())
    element = {edit.nest: [dict(edit.leaf)]} if edit.nest else dict(edit.leaf)
    return jsonc_edits.add_element(text, edit.path, element)


def _remove_listed(text: str, edit: Listed, trace: Trace) -> str:
    while place := next((place for place, _ in _leaves(text, edit)), None):
        text = jsonc_edits.remove_element(text, edit.path, place, trace)
    return text


def _leaves(text: str, edit: Listed) -> Iterator[tuple[Place, Node]]:
    """Where ours stand; the place of one that is alone in its element is that of the element."""
    if is_blank(text):
        return
    array = jsonc.parse(text).at(edit.path)
    for number, item in enumerate(array.items if array and isinstance(array.said, list) else ()):
        if not edit.nest:
            if is_our_leaf(item.value.said):
                yield (number,), item.value
            continue
        nested = item.value.member(edit.nest) if isinstance(item.value.said, dict) else None
        leaves = nested.value.items if nested else ()
        for inner, leaf in enumerate(leaves):
            if is_our_leaf(leaf.value.said):
                yield (number,) if len(leaves) == 1 else (number, edit.nest, inner), leaf.value
