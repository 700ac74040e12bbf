"""Lint: every entry and every chain of facts looked at, read-only; what can be mended safely is mended on request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.errors import NotFound, Refused
from commonplace.facts.entry import fact_of
from commonplace.facts.lint import Fix, fixes, lint_entry, lint_facts
from commonplace.facts.routes import KINDS, MEMORY, is_entry_path
from commonplace.flows.entry_notes import with_changes
from commonplace.flows.ingest import sync
from commonplace.flows.keeper import Keeper
from commonplace.flows.read import Progress, list_notes, locate, read_all
from commonplace.flows.write import Edit, Permit, Reader, change
from commonplace.index.base import FactQuery, Reading
from commonplace.model import Fact, Note, Problem, Stat, Terms
from commonplace.policy.sensitivity import is_sensitive
from commonplace.policy.spaces import place_of


@dataclass(frozen=True, slots=True)
class Linted:
    """How many entries were looked at, what is wrong, and what of it was mended."""

    entries: int
    problems: tuple[Problem, ...]
    mended: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    """A note among the entries: the fact that it is, if it is one, and what was odd in reading it."""

    note: Note
    fact: Fact | None
    problems: tuple[Problem, ...]


def lint(keeper: Keeper, *, fix: bool, progress: Progress) -> Linted:
    """What is wrong with the entries; the index is brought up to date for it. Raises as `change` does, to mend."""
    shelf = keeper.shelf()
    sync(shelf, progress=progress)
    entries, problems = _entries(keeper)
    mended = _mend(keeper) if fix else ()
    if mended:
        entries, problems = _entries(keeper)
    kinds = (*KINDS, *keeper.options.kinds)
    found = {problem for each in entries for problem in each.problems}
    found |= {problem for each in entries for problem in lint_entry(each.note, each.fact, kinds=kinds)}
    with shelf.index.reading() as reading:
        found |= {*problems, *_between(reading, keeper), *_unresolved(reading, entries)}
    return Linted(len(entries), tuple(sorted(found)), mended)


def _entries(keeper: Keeper) -> tuple[list[_Read], list[Problem]]:
    """The notes among the entries that this actor may see, and those that cannot be read."""
    entries, problems = [], []
    for found in read_all(keeper.desk.vault, _stats(keeper)):
        if isinstance(found, Problem):
            problems.append(found)
        elif found:
            sensitive = is_sensitive(found, keeper.desk.safety)
            if keeper.tells_all or not sensitive:
                fact, odd = fact_of(found, place=place_of(found.path), sensitive=sensitive, rules=keeper.rules)
                entries.append(_Read(found, fact, (*found.problems, *odd)))
    return entries, problems


def _stats(keeper: Keeper) -> tuple[Stat, ...]:
    try:
        stats = list_notes(MEMORY, keeper.desk.vault, skip=keeper.desk.ignored)
    except NotFound:
        return ()
    return tuple(stat for stat in stats if is_entry_path(stat.path))


def _between(reading: Reading, keeper: Keeper) -> tuple[Problem, ...]:
    known = reading.facts(FactQuery(staged=True))
    found = lint_facts(known, twins=reading.twins(), contests=reading.contests())
    veiled = () if keeper.tells_all else [each.fact.path for each in known if each.fact.sensitive]
    return tuple(each for each in found if not any(path in f"{each.path} {each.message}" for path in veiled))


def _unresolved(reading: Reading, entries: Iterable[_Read]) -> Iterator[Problem]:
    paths = {each.note.path for each in entries}
    for edge in reading.edges(sorted(paths)) if paths else ():
        if edge.path is None and edge.source in paths:
            message = f"the link to {edge.target[:80]!r} leads nowhere: correct it, or write that note"
            yield Problem(edge.source, edge.line, message, "entry-link")


def _mend(keeper: Keeper) -> tuple[Problem, ...]:
    """Mend what is safe, in one commit; what was mended. Raises Refused for who is no person."""
    if keeper.desk.actor.kind != "person":
        raise Refused("only a person may mend entries", hint="Lint without mending: what is wrong is told, too.")
    with keeper.turn():
        entries, _ = _entries(keeper)
        wanted = fixes((each.note, each.fact) for each in entries if each.fact)
        return _mended(wanted, keeper) if wanted else ()


def _mended(wanted: Sequence[Fix], keeper: Keeper) -> tuple[Problem, ...]:
    by_path: dict[str, dict[str, Any]] = {}
    for each in wanted:
        by_path.setdefault(each.problem.path, {}).update(each.keys)
    desk = keeper.desk
    message = desk.message.replace("{verb}", "lint").replace("{path}", f"{len(by_path)} entries")
    permits = {path: Permit(desk, Terms(message=message), "remember", path) for path in by_path}

    def plan(read: Reader) -> tuple[Edit, ...]:
        return tuple(_edit(path, keys, permits[path], read) for path, keys in by_path.items())

    change(plan, [*permits.values()], path=f"{len(by_path)} entries")
    return tuple(sorted(each.problem for each in wanted))


def _edit(path: str, keys: Mapping[str, object], permit: Permit, read: Reader) -> Edit:
    at = locate(path, permit.desk.vault)
    there = read(at)
    permit.ask(there=there)
    return Edit(at, there.content, with_changes(there.content, keys, path=path))
