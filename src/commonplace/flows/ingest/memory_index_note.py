"""The generated note `Agent/Memory/_index.md`: an overview of the entries, for people who browse the vault.

It is derived from the index, so it is not committed, not indexed, and may be deleted.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.flows.stores import Stores
from commonplace.index.base import FactQuery
from commonplace.model import Fact
from commonplace.model.layout import INDEX_NOTE, MEMORY, is_entry_path

MEMORY_INDEX_NOTE: Final = f"{MEMORY}/{INDEX_NOTE}"
_NEWEST: Final = 100
_WIDTH: Final = 100  # characters of a statement that are shown


def update_memory_index_note(paths: Sequence[str], stores: Stores) -> None:
    """Rewrite the note if an entry is among these paths. A vault that does not accept it is reported as an event."""
    if any(map(is_entry_path, paths)):
        write_memory_index_note(stores)


def write_memory_index_note(stores: Stores) -> None:
    """Rewrite the note from the index. A vault that does not accept it is reported as an event; nothing fails."""
    try:
        at = stores.vault.resolve(MEMORY_INDEX_NOTE)
        if content := _content(stores, is_there=stores.vault.exists(at)):
            stores.vault.derive(at, content)
    except CommonplaceError as error:
        emit("overview_failed", level="warning", said=str(error))


def _content(stores: Stores, *, is_there: bool) -> bytes:
    """The note's text; empty if there are no entries and there never was such a note."""
    with stores.index.reader() as reading:
        always = reading.facts(FactQuery(origins=("entry",), statuses=("active",), always_load=True, sensitive=False))
        newest = reading.facts(FactQuery(origins=("entry",), statuses=("active",), sensitive=False, limit=_NEWEST))
        topics = reading.topics()
    if not (newest or is_there):
        return b""
    sections = [
        "# Memory\n\nMade by Commonplace from the entries below this folder; changes here are lost.\n",
        *_section("Always loaded", (known.fact for known in always)),
        *_by_kind(known.fact for known in newest),
    ]
    if topics:
        names = ", ".join(f"{each.name} ({each.documents})" for each in sorted(topics, key=lambda each: each.name))
        sections.append(f"## Topics\n\n{names}\n")
    return "\n".join(sections).encode()


def _by_kind(facts: Iterable[Fact]) -> Iterator[str]:
    ordered = sorted(facts, key=lambda fact: fact.kind)  # stable: the newest stay first in each
    for kind, some in groupby(ordered, key=lambda fact: fact.kind):
        yield from _section(kind or "No kind yet", some)


def _section(title: str, facts: Iterable[Fact]) -> Iterator[str]:
    lines = [f"- [[{fact.path.removesuffix('.md')}|{_shown(fact.text)}]]" for fact in facts]
    if lines:
        yield f"## {title}\n\n" + "\n".join(lines) + "\n"


def _shown(text: str) -> str:
    """The first line, with the characters replaced that a link cannot hold."""
    line = text.partition("\n")[0].translate(str.maketrans("[]|", "()/")).strip()
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1].rstrip()}…"
