"""Lint: check every entry and every chain of facts, read-only; on request, fix what can be fixed safely."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from commonplace.errors import NotFound, ProviderFailed, Refused
from commonplace.facts.entry_format import FUTURE, key_line, read_entry
from commonplace.facts.lint import Fix, lint_entry, lint_facts, safe_fixes
from commonplace.flows.cues import counting_cue, counting_when
from commonplace.flows.encode import broad_whens
from commonplace.flows.ingest.sync import sync
from commonplace.flows.memory.new_entry import with_keys
from commonplace.flows.notes.write import (
    Edit,
    Permit,
    Reader,
    change,
    commit_message,
    move_trailers,
    parse_existing,
    require_history,
)
from commonplace.flows.read import is_hidden, list_notes, locate, read_all
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import FactQuery, IndexReader
from commonplace.model import KINDS, Fact, Note, Problem, Stat, Terms
from commonplace.model.layout import MEMORY, is_always_loaded, is_entry_path, place_of
from commonplace.model.moment import moment_text, read_moment
from commonplace.model.progress import Progress
from commonplace.model.request import LONGEST_CUE
from commonplace.notes.frontmatter_edit import without_repeats
from commonplace.policy.write_policy import PROPOSAL, is_trusted
from commonplace.vault.base import Capability


@dataclass(frozen=True, slots=True)
class LintReport:
    """The number of entries checked, the problems found, and those of them that were fixed."""

    entries: int
    problems: tuple[Problem, ...]
    mended: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _EntryNote:
    """A note among the entries, its fact if it is an entry, and the problems in reading it."""

    note: Note
    fact: Fact | None
    problems: tuple[Problem, ...]


def lint(session: Session, *, fix: bool, progress: Progress, dry_run: bool = False) -> LintReport:
    """The problems of the entries, after a sync. With `fix`, the safe ones are fixed, in one commit for each kind.

    A dry run only says which. Raises as `sync` and `change`.
    """
    stores = session.stores
    sync(stores, progress=progress)
    entries, unreadable = _entries(session)
    fixed = _fix(session, dry_run=dry_run) if fix else ()
    if fixed and not dry_run:
        entries, unreadable = _entries(session)
    kinds = (*KINDS, *stores.facts.kinds)
    problems = {*unreadable, *(problem for each in entries for problem in each.problems)}
    linted = [each for each in entries if each.fact or PROPOSAL not in each.note.frontmatter]  # it waits here
    problems |= {problem for each in linted for problem in lint_entry(each.note, each.fact, kinds=kinds)}
    problems |= {*_idle_cues(linted, stores)}
    with stores.index.reader() as reader:
        problems |= {*_conflicts(reader, session), *_broken_links(reader, entries)}
    return LintReport(len(entries), tuple(sorted(problems)), fixed)


def _entries(session: Session) -> tuple[list[_EntryNote], list[Problem]]:
    """The notes among the entries that this actor may see, and a Problem for each that cannot be read."""
    stores, entries, unreadable = session.stores, [], []
    for note in read_all(stores.vault, _stats(session)):
        if isinstance(note, Problem):
            unreadable.append(note)
        elif note:
            sensitive = is_hidden(note, stores)
            if session.sees_sensitive or not sensitive:
                fact, odd = read_entry(
                    note, place=place_of(note.path), sensitive=sensitive, rules=stores.rules, latest=stores.latest
                )
                entries.append(_EntryNote(note, fact, (*note.problems, *odd)))
    return entries, unreadable


def _stats(session: Session) -> tuple[Stat, ...]:
    try:
        stats = list_notes(MEMORY, session.stores.vault, skip=session.stores.ignored)
    except NotFound:
        return ()
    return tuple(stat for stat in stats if is_entry_path(stat.path))


def _conflicts(reader: IndexReader, session: Session) -> tuple[Problem, ...]:
    """Problems between facts; those that name a sensitive note are not shown to agents."""
    records = reader.facts(FactQuery(staged=True))
    problems = lint_facts(records, twins=reader.duplicate_ids(), contests=reader.claim_conflicts())
    hidden = () if session.sees_sensitive else [each.fact.path for each in records if each.fact.sensitive]
    return tuple(each for each in problems if not any(path in f"{each.path} {each.message}" for path in hidden))


def _idle_cues(entries: Iterable[_EntryNote], stores: Stores) -> Iterator[Problem]:
    """A Problem for each cue that does not count, and for what of one does not."""
    cued = [(each.note, each.fact) for each in entries if each.fact and (each.fact.about or each.fact.when)]
    whens = {when for _, fact in cued if (when := counting_when(fact.when))}
    try:
        broad = broad_whens(whens, stores)
    except ProviderFailed:  # the words alone were looked at
        broad = frozenset()
    for note, fact in cued:
        for name, cue in (("about", fact.about), ("when", fact.when)):
            if not cue:
                continue
            if len(cue) > LONGEST_CUE:
                message = f"`{name}` has {len(cue)} characters: only the first {LONGEST_CUE} count"
            elif not counting_cue(cue):
                message = f"`{name}` reads like an instruction and counts for nothing: name situations in plain words"
            elif name == "when" and (not counting_when(cue) or cue in broad):
                message = "`when` would fit any prompt and counts for nothing: name a few situations"
            else:
                continue
            yield Problem(note.path, key_line(note, name), message, "entry-cue")


def _broken_links(reader: IndexReader, entries: Iterable[_EntryNote]) -> Iterator[Problem]:
    paths = {each.note.path for each in entries}
    for edge in reader.edges(sorted(paths)) if paths else ():
        if edge.path is None and edge.source in paths:
            message = f"the link to {edge.target[:80]!r} leads nowhere: correct it, or write that note"
            yield Problem(edge.source, edge.line, message, "entry-link")


_ROUNDS: Final = 3


def _fix(session: Session, *, dry_run: bool) -> tuple[Problem, ...]:
    """Fix what is safe, in one commit for each kind; returns what was fixed. Raises Refused unless a person asks."""
    if session.actor.kind != "person":
        raise Refused("only a person may fix entries", hint="Lint without fixing: it reports what is wrong.")
    if dry_run:
        return tuple(sorted(each.problem for each in find_fixes(session)))
    fixed: list[Problem] = []
    for _ in range(_ROUNDS):  # an entry with another time belongs to the folder of another month
        codes = [*dict.fromkeys(fix.problem.code for fix in find_fixes(session))]
        for code in codes:
            fixed += write_fixes(code, session)[0]
        if not codes:
            break
    return tuple(sorted(fixed))


def find_fixes(session: Session) -> tuple[Fix, ...]:
    """What can be fixed safely; for a job only in entries that are neither the person's own word nor always loaded.

    A note that would move to a path where another note is stays where it is.
    """
    entries, _ = _entries(session)
    fixes = safe_fixes((each.note, each.fact) for each in entries if each.fact)
    fixes += tuple(fix for each in entries for fix in _from_the_future(each, session))
    own = {each.note.path for each in entries if session.actor.kind == "person" or not _is_persons(each)}
    free = (each for each in fixes if not each.moved_to or not _is_taken(each.moved_to, session))
    return tuple(each for each in free if each.problem.path in own)


def _is_persons(entry: _EntryNote) -> bool:
    is_pinned = entry.fact is not None and entry.fact.pinned
    return is_pinned or is_trusted(entry.note.frontmatter) or is_always_loaded(entry.note.path)


def _is_taken(path: str, session: Session) -> bool:
    return session.stores.vault.exists(locate(path, session.stores.vault))


def write_fixes(code: str, session: Session) -> tuple[tuple[Problem, ...], str]:
    """Fix every problem of this kind that can be fixed, in one commit; returns what was fixed, and the commit."""
    with session.stores.save_lock():
        fixes = [fix for fix in find_fixes(session) if fix.problem.code == code]
        return _write_fixes(fixes, session) if fixes else ((), "")


def _from_the_future(entry: _EntryNote, session: Session) -> Iterator[Fix]:
    """A time of recording that can be true, for an entry that was saved while the clock was ahead.

    It was saved before the next commit was made whose time can be true.
    """
    for problem in entry.problems if entry.fact else ():
        if problem.code == FUTURE:
            at, latest = _bound(entry.note.path, session), session.stores.latest
            stated = {key: read_moment(entry.note.frontmatter.get(key)) for key in ("recorded", "updated", "created")}
            yield Fix(problem, {key: at for key, value in stated.items() if value > latest})


def _bound(path: str, session: Session) -> str:
    """The earliest time of the commits after that of the entry; now if there are none."""
    vault, times = session.stores.vault, [session.now]
    for revision in require_history(vault).revisions() if Capability.HISTORY in vault.capabilities else ():
        if revision.paths.get(path) == "added":
            break
        times.append(moment_text(revision.when))
    return min(times)


def _write_fixes(fixes: Sequence[Fix], session: Session) -> tuple[tuple[Problem, ...], str]:
    by_path: dict[str, dict[str, Any]] = {}
    for each in fixes:
        by_path.setdefault(each.problem.path, {}).update(each.keys)
    moves = {each.problem.path: each.moved_to for each in fixes if each.moved_to}
    what = f"{len(by_path)} {'entry' if len(by_path) == 1 else 'entries'}"
    terms = Terms(message=commit_message(session.stores, verb="lint", path=what))
    permits = {path: Permit(session, terms, "remember", path) for path in by_path}

    def plan(read: Reader) -> tuple[Edit, ...]:
        return tuple(_edit(path, keys, permits[path], read, to=moves.get(path)) for path, keys in by_path.items())

    _, written = change(plan, [*permits.values()], path=what, trailers=move_trailers(*moves.items()))
    return tuple(sorted(each.problem for each in fixes)), written.commit or ""


def _edit(path: str, keys: Mapping[str, object], permit: Permit, read: Reader, *, to: str | None) -> Edit:
    vault = permit.session.stores.vault
    at = locate(path, vault)
    there = read(at)
    note = parse_existing(there)
    permit.ask(there=note)
    if to:
        permit.ask(to, there=note, moved_from=path)
    content = with_keys(without_repeats(there.content, keys), keys, path=path)
    return Edit(at, there.content, content, moved_to=locate(to, vault) if to else None)
