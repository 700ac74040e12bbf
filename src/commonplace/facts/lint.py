"""Check entries: what is wrong with one of them, what is wrong between them, and what can be fixed without asking.

Between entries: broken chains of versions, links to facts that do not exist, and facts with the same claim at once.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final, Protocol

from commonplace.facts.commitments import is_commitment
from commonplace.facts.entry_format import KEY_ORDER, key_line, settled_keys
from commonplace.facts.entry_paths import archive_path, file_name, id_digits, slug_of
from commonplace.model import KINDS, Fact, FactRecord, Note, Problem
from commonplace.model.entry_field import entry_fields
from commonplace.model.layout import ARCHIVE_FOLDER, MEMORY, folder_of, opaque_path
from commonplace.model.moment import read_moment

_Links = Mapping[str, frozenset[str]]
_NONE: Final[frozenset[str]] = frozenset()
_REQUIRED: Final = (*(row.name for row in entry_fields(Fact) if row.is_required), "slug")
_MONTH: Final = re.compile(r"\d{4}-\d{2}", re.ASCII)
_PUT_AWAY: Final = frozenset({"superseded", "archived"})


@dataclass(frozen=True, slots=True)
class Fix:
    """A Problem that can be fixed safely: the keys to set in the note at its path, and its new path if it has one."""

    problem: Problem
    keys: Mapping[str, object]
    moved_to: str = ""


class ConflictingClaims(Protocol):
    """Two facts with the same claim at once: the one that lost, the one that counts, and since when."""

    @property
    def loser(self) -> Fact: ...
    @property
    def winner(self) -> Fact: ...
    @property
    def at(self) -> str: ...


def lint_entry(note: Note, fact: Fact | None, *, kinds: Collection[str] = KINDS) -> tuple[Problem, ...]:
    """The Problems of a note among the entries, besides those from reading it; `fact` is what was read.

    `kinds` are the valid kinds: the built-in ones and a person's own.
    """
    if fact is None:
        message = "`id` is missing or invalid, so this note is not an entry: move it elsewhere, or save its text again"
        return (Problem(note.path, key_line(note, "id"), message, "entry-key"),)
    checks = (_missing(note), _order(note), _name(note, fact), _dates(note, fact), _kind(note, fact, kinds))
    places = (_place(note, fact), _status(note, fact), _month(note, fact), _telling_name(fact))
    return tuple(problem for check in (*checks, *places) for problem in check)


def safe_fixes(entries: Iterable[tuple[Note, Fact]]) -> tuple[Fix, ...]:
    """What can be fixed in these entries without asking what they mean.

    Missing keys that the note itself tells, a slug that differs from the file name, a link between versions that only
    one side has, a status or place that disagrees with the chain, the folder of another month, keys that a merge has
    left twice, a file name that tells the words of a sensitive entry, and what two devices learned from the same words
    and one of them has ended.
    Pass all entries: a chain that forks or runs in a circle is left alone.
    """
    pairs = list(entries)
    links = (Fix(problem, keys) for problem, keys in _missing_links([fact for _, fact in pairs]))
    replaced = _plainly_replaced([fact for _, fact in pairs])
    own = (
        fix
        for note, fact in pairs
        for fix in (*_completing(note, fact), *_settling(note), *_renaming(fact), *_placing(note, fact, replaced))
    )
    return (*links, *_learned_twice([fact for _, fact in pairs]), *own)


def _learned_twice(facts: Sequence[Fact]) -> Iterator[Fix]:
    """Entries that say what another one said, from the same words of a conversation, and that was ended since.

    Each device learned it for itself, and the person corrected it on one of them.
    """
    groups: defaultdict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        said = fact.origins
        if said.conversation and said.turn:
            groups[fact.fingerprint, said.conversation, said.turn].append(fact)
    by_id = {each.id: each for each in facts}
    for group in groups.values():
        over = next((each for each in group if each.status in ("superseded", "deleted")), None)
        heirs = {*_heirs(over, by_id)} if over else set()
        for each in group if over else ():
            if over and each.status == "active" and each.origins.trust == "mined" and each.id not in heirs:
                yield _ending_with(over, each)


def _ending_with(over: Fact, fact: Fact) -> Fix:
    """The keys that end the fact as the other one was ended."""
    message = f"{over.path} said the same from the same words, and was ended: this one ends with it"
    keys: dict[str, object] = {"status": over.status}
    if over.status == "deleted":
        return Fix(_problem(fact, message, "learned-twice"), {**keys, "deleted_at": over.deleted_at})
    keys |= {"superseded_by": over.superseded_by, "superseded_at": over.superseded_at}
    given = {key: value for key, value in keys.items() if value}
    return Fix(_problem(fact, message, "learned-twice"), given, moved_to=archive_path(fact.path))


def _heirs(fact: Fact, facts: Mapping[str, Fact]) -> Iterator[str]:
    """The ids of the versions that followed the fact."""
    seen = set[str]()
    while fact.superseded_by in facts and fact.superseded_by not in seen:
        seen.add(fact.superseded_by)
        yield fact.superseded_by
        fact = facts[fact.superseded_by]


def _completing(note: Note, fact: Fact) -> Iterator[Fix]:
    """Keys that are missing, where the note tells them elsewhere; and a slug that differs from the file name."""
    if _lacks(note, "slug"):
        yield Fix(_missing_key("slug", note), {"slug": _slug(note, fact)})
    for problem in _name(note, fact):
        name = note.path.rpartition("/")[2]
        stem = name.removesuffix(file_name(fact.id, slug=""))
        if stem != name and stem and not fact.sensitive:
            yield Fix(problem, {"slug": stem})
    if _lacks(note, "status") and not (fact.superseded_by or fact.deleted_at) and fact.place != "archive":
        yield Fix(_missing_key("status", note), {"status": "active"})
    if _lacks(note, "recorded") and (created := read_moment(note.frontmatter.get("created"))):
        to = _in_month(replace(fact, recorded=created))
        yield Fix(_missing_key("recorded", note), {"recorded": created}, moved_to=to if to != fact.path else "")
    if _lacks(note, "kind") and (kind := folder_of(note.path)) in KINDS:
        yield Fix(_missing_key("kind", note), {"kind": kind})


def _placing(note: Note, fact: Fact, replaced: Collection[str]) -> Iterator[Fix]:
    """Status and place of an entry that another replaced plainly; and the month of its folder."""
    if fact.id in replaced and fact.place != "staging":
        keys = {} if fact.status == "superseded" else {"status": "superseded"}
        to = fact.path if fact.place == "archive" else archive_path(fact.path)
        for problem in (*_status(note, fact), *_place(note, fact)):
            yield Fix(problem, keys, moved_to=to if to != fact.path else "")
    else:
        for problem in _month(note, fact):
            yield Fix(problem, {}, moved_to=_in_month(fact))


def _plainly_replaced(facts: Sequence[Fact]) -> frozenset[str]:
    """The facts that say which one replaced them, where that one exists, says so too, and no other does."""
    times = Counter(each.id for each in facts)
    once = {each.id: each for each in facts if times[each.id] == 1}
    claims = Counter(each.supersedes for each in facts if each.place != "staging")
    return frozenset(
        old.id
        for old in once.values()
        if (new := once.get(old.superseded_by))
        and new.supersedes == old.id
        and claims[old.id] == 1
        and old.status in ("active", "superseded")
        and new.status != "deleted"
    )


def _status(note: Note, fact: Fact) -> Iterator[Problem]:
    """An entry that names what replaced it, and calls itself active."""
    if fact.superseded_by and fact.status == "active" and fact.place not in ("archive", "staging"):
        message = "it is active but `superseded_by` names what replaced it: `status` must be superseded"
        yield Problem(note.path, key_line(note, "status"), message, "entry-status")


def _month(note: Note, fact: Fact) -> Iterator[Problem]:
    """A folder named for another month than that in which the entry was recorded."""
    if not _lacks(note, "recorded") and (path := _in_month(fact)) != fact.path:
        message = f"it was recorded in {fact.recorded[:7]}, and is in the folder of another month: move it to {path}"
        yield Problem(fact.path, 1, message, "entry-month")


def _in_month(fact: Fact) -> str:
    """The path with the month in which the entry was recorded; the same path if its folder is not a month."""
    folder, _, name = fact.path.rpartition("/")
    above, _, month = folder.rpartition("/")
    is_month = _MONTH.fullmatch(month) is not None and fact.recorded and fact.place != "staging"
    return f"{above}/{fact.recorded[:7]}/{name}" if is_month else fact.path


def _settling(note: Note) -> Iterator[Fix]:
    """The keys that the frontmatter has twice, each with the one value that counts."""
    settled = settled_keys(note)
    for problem in note.problems if settled else ():
        if problem.code == "duplicate-key":
            yield Fix(problem, settled)


def _renaming(fact: Fact) -> Iterator[Fix]:
    """A name without words for a sensitive entry."""
    for problem in _telling_name(fact):
        path = opaque_path(fact.path)
        yield Fix(problem, {"slug": path.rpartition("/")[2].removesuffix(file_name(fact.id, slug=""))}, moved_to=path)


def _telling_name(fact: Fact) -> Iterator[Problem]:
    """A file name that tells the words of a sensitive entry to whoever lists the notes."""
    if fact.sensitive and opaque_path(fact.path) != fact.path:
        message = "the entry is sensitive and its file name tells its words: `commonplace lint --fix` renames it"
        yield Problem(fact.path, 1, message, "sensitive-name")


def lint_facts(
    records: Iterable[FactRecord],
    *,
    twins: Iterable[tuple[str, Sequence[str]]],
    contests: Iterable[ConflictingClaims],
) -> tuple[Problem, ...]:
    """The Problems between all facts, in order. Pass every fact, whatever its status and place.

    `twins` are the ids found at several paths, with the path that keeps the id first.
    """
    facts = {each.fact.id: each.fact for each in records}
    chains = _Chains(facts.values())
    one_sided = (problem for problem, _ in chains.one_sided())
    problems = (*chains.cycles(), *chains.forks(), *one_sided, *_dangling(facts), *_competing(contests), *_twins(twins))
    return tuple(sorted(problems))


class _Chains:
    """Which facts replace which, as either of the two says. Staged facts replace nothing yet."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = {each.id: each for each in facts if each.place != "staging"}
        all_facts = self._facts
        pairs = {(each.id, each.supersedes) for each in all_facts.values() if each.supersedes in all_facts}
        pairs |= {(each.superseded_by, each.id) for each in all_facts.values() if each.superseded_by in all_facts}
        self._pairs = sorted(pairs)
        self._replaced = _grouped(self._pairs)
        self._successors = _grouped((old, new) for new, old in self._pairs)
        self._circles = tuple(_circles(self._replaced))
        self._circular = frozenset(id for circle in self._circles for id in circle)

    def cycles(self) -> Iterator[Problem]:
        """Facts that replace each other in a circle."""
        for circle in self._circles:
            fact, *others = sorted((self._facts[id] for id in circle), key=lambda each: each.path)
            what = f"{_paths(others)} in a circle" if others else "itself"
            message = f"it replaces {what}: remove `supersedes` and `superseded_by` where they are wrong"
            yield _problem(fact, message, "chain-cycle")

    def forks(self) -> Iterator[Problem]:
        """Facts that more than one other fact replaces."""
        for old, successors in sorted(self._successors.items()):
            if len(successors) > 1:
                paths = _paths(self._facts[id] for id in successors)
                message = f"several facts replace it ({paths}): keep one of them, and forget or correct the others"
                yield _problem(self._facts[old], message, "chain-fork")

    def one_sided(self) -> Iterator[tuple[Problem, Mapping[str, object]]]:
        """Links that only one of two versions has, and the keys that the other lacks.

        The keys are empty if a person must choose.
        """
        for successor, replaced in self._pairs:
            new, old = self._facts[successor], self._facts[replaced]
            is_plain = (
                len(self._successors[old.id]) == len(self._replaced[new.id]) == 1 and new.id not in self._circular
            )
            if old.superseded_by != new.id:
                keys = {"superseded_by": new.id, "superseded_at": old.superseded_at or new.recorded}
                message = f"`superseded_by` does not name {new.path}, which replaces it: add {new.id}"
                yield _problem(old, message, "chain-one-sided"), _keys_if(keys, when=is_plain)
            if new.supersedes != old.id and self._is_next_version(new, old):
                message = f"`supersedes` does not name {old.path}, which it replaces: add {old.id}"
                yield _problem(new, message, "chain-one-sided"), _keys_if({"supersedes": old.id}, when=is_plain)

    def _is_next_version(self, new: Fact, old: Fact) -> bool:
        """False if the new one cannot be expected to name the old one in `supersedes`.

        It replaces several, was made of it (`derived_from` says so), or was known before and outlived it.
        """
        is_only = len(self._replaced[new.id]) == 1
        return is_only and ("derive", old.id) not in new.bonds and new.recorded >= old.recorded


def _missing_links(facts: Iterable[Fact]) -> Iterator[tuple[Problem, Mapping[str, object]]]:
    """Links between two versions that only one of them has: the Problem of the other, and the keys that it lacks.

    Skips chains that fork or run in a circle and ids that occur twice: there a person must choose.
    """
    all_facts = list(facts)
    times = Counter(each.id for each in all_facts)
    for problem, keys in _Chains(each for each in all_facts if times[each.id] == 1).one_sided():
        if keys:
            yield problem, keys


def _dangling(facts: Mapping[str, Fact]) -> Iterator[Problem]:
    for fact in facts.values():
        named = {"supersedes": fact.supersedes, "superseded_by": fact.superseded_by}
        links = [*named.items(), *(("relations", id) for _, id in fact.bonds)]
        for key, id in links:
            if id and id not in facts:
                message = f"`{key}` names {id}, but there is no such fact: remove it, or restore that entry"
                yield _problem(fact, message, "chain-dangling")


def _competing(contests: Iterable[ConflictingClaims]) -> Iterator[Problem]:
    """Facts that another one outdoes; not tasks, which people copy from note to note."""
    found = ((each.loser, each.winner, each.at) for each in contests if not is_commitment(each.loser))
    for loser, winner, at in found:
        since = f" since {at}" if at else ""
        message = f"{winner.path} makes the same claim{since} and wins: forget one of the two, or end this one"
        yield _problem(loser, message, "competing-claims")


def _twins(twins: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Problem]:
    for id, (keeper, *others) in twins:
        for path in others:
            message = f"its id {id} belongs to {keeper}: remove this copy, or save its text again"
            yield Problem(path, 1, message, "same-id")


def _grouped(pairs: Iterable[tuple[str, str]]) -> _Links:
    groups: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for one, other in pairs:
        groups[one] |= {other}
    return groups


def _circles(links: _Links) -> Iterator[tuple[str, ...]]:
    """The cycles among the links, each once."""
    left = dict(links)
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = tuple(dict.fromkeys(error.args[1]))
            left = {id: _NONE if id in circle else others for id, others in left.items()}
            yield circle
        else:
            return


def _keys_if(keys: Mapping[str, object], *, when: bool) -> Mapping[str, object]:
    return {key: value for key, value in keys.items() if value} if when else {}


def _paths(facts: Iterable[Fact]) -> str:
    return " and ".join(sorted(each.path for each in facts))


def _problem(fact: Fact, message: str, code: str) -> Problem:
    return Problem(fact.path, fact.line, message, code)


def _missing(note: Note) -> Iterator[Problem]:
    for key in _REQUIRED:
        if _lacks(note, key) and not (key == "kind" and _needs_no_kind(note)):
            yield _missing_key(key, note)


def _needs_no_kind(note: Note) -> bool:
    """True if the entry is in a folder that needs no kind, such as the inbox."""
    within = note.path.split("/")[MEMORY.count("/") + 1 :]
    folders = within[1:] if within[0] == ARCHIVE_FOLDER else within
    return folders[0].startswith("_")


def _lacks(note: Note, key: str) -> bool:
    return note.frontmatter.get(key) in (None, "")


def _missing_key(key: str, note: Note) -> Problem:
    return Problem(note.path, key_line(note, key), f"`{key}` is missing: every entry needs one", "entry-key")


def _slug(note: Note, fact: Fact) -> str:
    """The slug in the file name, else one made from the text."""
    name = note.path.rpartition("/")[2]
    ending = file_name(fact.id, slug="")
    stem = name.removesuffix(ending)
    return stem if stem != name and stem == slug_of(stem) else slug_of(fact.text)


def _order(note: Note) -> Iterator[Problem]:
    """Our keys that are out of order; a person's own keys may be anywhere."""
    ours = [key for key in note.frontmatter if key in KEY_ORDER]
    for before, key in pairwise(ours):
        if KEY_ORDER.index(key) < KEY_ORDER.index(before):
            message = f"`{key}` must come before `{before}`"
            yield Problem(note.path, key_line(note, key), message, "entry-order")


def _name(note: Note, fact: Fact) -> Iterator[Problem]:
    """A file name that does not match the entry. Staged entries are named differently, so they are skipped."""
    if fact.place == "staging":
        return
    name, digits = note.path.rpartition("/")[2], id_digits(fact.id)
    slug = note.frontmatter.get("slug")
    if not name.endswith(f"-{digits}.md"):
        message = f"the file name must end in -{digits}.md, the last digits of its id: rename it"
        yield Problem(note.path, 1, message, "entry-name")
    elif not _lacks(note, "slug") and name != file_name(fact.id, slug=str(slug)):
        message = "`slug` does not match the file name: change one of them"
        yield Problem(note.path, key_line(note, "slug"), message, "entry-name")


def _dates(note: Note, fact: Fact) -> Iterator[Problem]:
    """Dates in the wrong order. Values that are not dates are found when the entry is read."""
    pairs = (
        ("valid_until", fact.valid_until, "valid_from", fact.valid_from, "it would never be valid"),
        ("updated", fact.updated, "recorded", fact.recorded, "it cannot change before it exists"),
        ("superseded_at", fact.superseded_at, "recorded", fact.recorded, "it cannot be replaced before it exists"),
        ("deleted_at", fact.deleted_at, "recorded", fact.recorded, "it cannot be forgotten before it exists"),
    )
    for key, later, other, earlier, why in pairs:
        if later and earlier and later < earlier:
            message = f"`{key}` is before `{other}`: {why}; correct one of them"
            yield Problem(note.path, key_line(note, key), message, "entry-date")


def _kind(note: Note, fact: Fact, kinds: Collection[str]) -> Iterator[Problem]:
    if fact.kind and fact.kind not in kinds:
        message = f"`kind` is {fact.kind[:40]}, which is unknown: correct it, or add it to the setting facts.kinds"
        yield Problem(note.path, key_line(note, "kind"), message, "entry-kind")


def _place(note: Note, fact: Fact) -> Iterator[Problem]:
    """Status and folder that disagree on whether the entry is archived."""
    line = key_line(note, "status")
    if fact.place == "archive" and fact.status == "active":
        message = "it is active but in the archive: move it out, or set `status` to archived"
        yield Problem(note.path, line, message, "entry-place")
    if fact.status in _PUT_AWAY and fact.place not in ("archive", "staging"):
        message = f"it is {fact.status} but not in the archive: move it there, or set `status` to active"
        yield Problem(note.path, line, message, "entry-place")
