"""What is wrong with entries, one by one, and what of it can be mended without asking."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from commonplace.facts.entry import ORDER
from commonplace.facts.keys import line_of
from commonplace.facts.lint_chains import links_to_mend, lint_facts
from commonplace.facts.routes import ARCHIVE, KINDS, MEMORY, digits_of, file_name
from commonplace.facts.slug import slug_of
from commonplace.model import Fact, Note, Problem

__all__ = ["Fix", "fixes", "lint_entry", "lint_facts"]

_REQUIRED: Final = ("kind", "status", "recorded", "slug")
_PUT_AWAY: Final = frozenset({"superseded", "archived"})


@dataclass(frozen=True, slots=True)
class Fix:
    """A Problem that can be mended safely: the keys to set in the note at its path."""

    problem: Problem
    keys: Mapping[str, object]


def lint_entry(note: Note, fact: Fact | None, *, kinds: Collection[str] = KINDS) -> tuple[Problem, ...]:
    """What is wrong with a note among the entries, beside what reading it found; `fact` is what was read.

    `kinds` are those that are known, the usual ones and a person's own.
    """
    if fact is None:
        message = "`id` is missing or is none, so this note is no entry: move it elsewhere, or save its text anew"
        return (Problem(note.path, line_of(note, "id"), message, "entry-key"),)
    checks = (_missing(note), _order(note), _name(note, fact), _dates(note, fact), _kind(note, fact, kinds))
    return tuple(problem for check in (*checks, _place(note, fact)) for problem in check)


def fixes(entries: Iterable[tuple[Note, Fact]]) -> tuple[Fix, ...]:
    """What can be mended in these entries: a missing slug, and a link to another version that only one side has.

    All entries must be given: a chain is left alone where it forks or runs in a circle.
    """
    known = list(entries)
    slugs = (Fix(_no("slug", note), {"slug": _slug(note, fact)}) for note, fact in known if _lacks(note, "slug"))
    links = (Fix(problem, keys) for problem, keys in links_to_mend([fact for _, fact in known]))
    return (*slugs, *links)


def _missing(note: Note) -> Iterator[Problem]:
    for key in _REQUIRED:
        if _lacks(note, key) and not (key == "kind" and _needs_no_kind(note)):
            yield _no(key, note)


def _needs_no_kind(note: Note) -> bool:
    """Whether the entry stands in a folder of ours, such as the inbox, where none is asked for."""
    within = note.path.split("/")[MEMORY.count("/") + 1 :]
    folders = within[1:] if within[0] == ARCHIVE else within
    return folders[0].startswith("_")


def _lacks(note: Note, key: str) -> bool:
    return note.frontmatter.get(key) in (None, "")


def _no(key: str, note: Note) -> Problem:
    return Problem(note.path, line_of(note, key), f"`{key}` is missing: every entry has one", "entry-key")


def _slug(note: Note, fact: Fact) -> str:
    """The slug that the file's name has already, else one made from the text."""
    name = note.path.rpartition("/")[2]
    ending = file_name(fact.id, slug="")
    stem = name.removesuffix(ending)
    return stem if stem != name and stem == slug_of(stem) else slug_of(fact.text)


def _order(note: Note) -> Iterator[Problem]:
    """Where our keys leave their order; what else a person wrote may stand anywhere."""
    ours = [key for key in note.frontmatter if key in ORDER]
    for before, key in pairwise(ours):
        if ORDER.index(key) < ORDER.index(before):
            message = f"`{key}` stands behind `{before}`: it belongs before it"
            yield Problem(note.path, line_of(note, key), message, "entry-order")


def _name(note: Note, fact: Fact) -> Iterator[Problem]:
    """Whether the file is called after the entry. One that waits for a person has a name of another making."""
    if fact.place == "staging":
        return
    name, digits = note.path.rpartition("/")[2], digits_of(fact.id)
    slug = note.frontmatter.get("slug")
    if not name.endswith(f"-{digits}.md"):
        message = f"the file's name must end in -{digits}.md, the last digits of its id: rename it"
        yield Problem(note.path, 1, message, "entry-name")
    elif not _lacks(note, "slug") and name != file_name(fact.id, slug=str(slug)):
        message = "`slug` and the file's name say different things: change one of them"
        yield Problem(note.path, line_of(note, "slug"), message, "entry-name")


def _dates(note: Note, fact: Fact) -> Iterator[Problem]:
    """Whether the times follow each other as they must. That each is a time is seen when the entry is read."""
    pairs = (
        ("valid_until", fact.valid_until, "valid_from", fact.valid_from, "it would never be valid"),
        ("updated", fact.updated, "recorded", fact.recorded, "it cannot change before it is there"),
        ("superseded_at", fact.superseded_at, "recorded", fact.recorded, "it cannot be replaced before it is there"),
        ("deleted_at", fact.deleted_at, "recorded", fact.recorded, "it cannot be forgotten before it is there"),
    )
    for key, later, other, earlier, why in pairs:
        if later and earlier and later < earlier:
            message = f"`{key}` lies before `{other}`: {why}, so correct one of them"
            yield Problem(note.path, line_of(note, key), message, "entry-date")


def _kind(note: Note, fact: Fact, kinds: Collection[str]) -> Iterator[Problem]:
    if fact.kind and fact.kind not in kinds:
        message = f"`kind` is {fact.kind[:40]}, which is not known: correct it, or add it to the setting facts.kinds"
        yield Problem(note.path, line_of(note, "kind"), message, "entry-kind")


def _place(note: Note, fact: Fact) -> Iterator[Problem]:
    """Whether status and folder agree on whether the entry is put away."""
    line = line_of(note, "status")
    if fact.place == "archive" and fact.status == "active":
        message = "it is active, but stands in the archive: move it out of there, or set `status` to archived"
        yield Problem(note.path, line, message, "entry-place")
    if fact.status in _PUT_AWAY and fact.place not in ("archive", "staging"):
        message = f"it is {fact.status}, but does not stand in the archive: move it there, or set `status` to active"
        yield Problem(note.path, line, message, "entry-place")
