"""The overview of memory: `Agent/Memory/_index.md`, made anew from the index, for people who browse the vault.

It is derived, so it is not committed, not indexed, and may be deleted.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from commonplace.errors import CommonplaceError
from commonplace.events import emit
from commonplace.facts.routes import MEMORY
from commonplace.flows.shelf import Shelf
from commonplace.index.base import FactQuery
from commonplace.model import Fact

OVERVIEW: Final = f"{MEMORY}/_index.md"
_NEWEST: Final = 100
_WIDTH: Final = 100  # characters of a statement that are shown


def write_overview(shelf: Shelf) -> None:
    """Write the overview. It is a help and no more: a vault that does not take it is told of, and nothing fails."""
    try:
        at = shelf.vault.resolve(OVERVIEW)
        if content := _content(shelf, is_there=shelf.vault.exists(at)):
            shelf.vault.derive(at, content)
    except CommonplaceError as error:
        emit("overview_failed", level="warning", said=str(error))


def _content(shelf: Shelf, *, is_there: bool) -> bytes:
    """What the overview says; nothing for a memory that is empty and never had one."""
    with shelf.index.reading() as reading:
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
    """The first line, as it may stand in a link."""
    line = text.partition("\n")[0].translate(str.maketrans("[]|", "()/")).strip()
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1].rstrip()}…"
