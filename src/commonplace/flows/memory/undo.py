"""Undo a change that a job made, with what came from it.

The revert log is git: each commit of a job holds what was there before, and the key `derived_from` says what came from
what. So undoing a consolidation undoes, newest first, what programs derived from it since. What the person approved or
confirmed is their own word by then, and stays. What the person undid, the job does not do again.
"""

from collections.abc import Iterator, Sequence

from commonplace.errors import CommonplaceError, Conflict, NotFound
from commonplace.facts.claims import is_own_word
from commonplace.facts.entry_format import parse_id, read_entry
from commonplace.facts.entry_paths import id_digits
from commonplace.flows.ingest.line_writers import ACTOR
from commonplace.flows.memory.amend import forget
from commonplace.flows.memory.derive import derived_from
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.notes.history import undo_commit, undone_commits
from commonplace.flows.notes.write import KIND, ORIGIN, require_history
from commonplace.flows.stores import Session, Stores
from commonplace.index.base import FactQuery
from commonplace.model import Changed, Fact, Terms
from commonplace.model.layout import MEMORY, entry_digits, is_always_loaded, place_of
from commonplace.notes import parse
from commonplace.vault.base import Capability, HistoricBackend, Revision

_FARTHEST_BACK = 2000  # our commits that are searched for what a job did


def undo_with_heirs(commit: str, session: Session, terms: Terms) -> tuple[Changed, ...]:
    """Undo one of our changes and, if a job made it, what programs derived from its entries; newest first.

    Each is a commit of its own. Raises as `undo_commit` does; what was undone by then stays undone, and a Conflict
    says so.
    """
    vault = require_history(session.stores.vault)
    ours = vault.revisions(ours=True)
    chosen = [each for each in ours if each.commit.startswith(commit)] if len(commit) >= 4 else []
    done: list[Changed] = []
    if len(chosen) == 1 and chosen[0].trailers.get(ACTOR) == "job":
        for heir in _heirs(chosen[0], vault, session):
            done += _undo_heir(heir, ours, session, terms)
    try:
        return (*done, undo_commit(commit, session, terms))
    except Conflict as error:
        if done and not terms.dry_run:
            error.message = error.message.replace("nothing was undone", "only what was derived from it was undone")
        raise


def _heirs(revision: Revision, vault: HistoricBackend, session: Session) -> list[Fact]:
    """The entries that programs derived from those which the commit made, at any remove; the newest first."""
    known, frontier = set[str](), {id for id, _ in _made(revision, vault)}
    heirs: dict[str, Fact] = {}
    with entry_reader(session.stores) as reader:
        while frontier:
            known |= frontier
            found = [*derived_from(frontier, reader)]
            records = reader.facts(FactQuery(ids=tuple(found), staged=True)) if found else ()
            heirs |= {each.fact.id: each.fact for each in records if not is_own_word(each.fact)}
            frontier = {each.fact.id for each in records} - known
    return sorted(heirs.values(), key=lambda fact: (fact.recorded, fact.id), reverse=True)


def _made(revision: Revision, vault: HistoricBackend) -> Iterator[tuple[str, frozenset[str]]]:
    """The ids of the entries that the commit made, each with the ids of its sources; not those that it moved."""
    for path, how in revision.paths.items():
        digits = entry_digits(path)
        if how != "added" or not digits or not _adds(revision, digits):
            continue
        content = vault.read_at(vault.resolve(path), revision.commit)
        note = parse(content, path=path, mtime=0.0) if content else None
        if note and (id := parse_id(note.frontmatter.get("id"))):
            sources = note.frontmatter.get("derived_from")
            ids = sources if isinstance(sources, list) else []
            yield id, frozenset(filter(None, map(parse_id, ids)))


def _undo_heir(heir: Fact, ours: Sequence[Revision], session: Session, terms: Terms) -> list[Changed]:
    """Undo the change that made the entry; one that was changed since is forgotten instead."""
    digits = id_digits(heir.id)
    made_by = [each for each in ours if _adds(each, digits)]
    try:
        return [undo_commit(made_by[-1].commit, session, terms)] if made_by else []
    except (Conflict, NotFound):
        if terms.dry_run or heir.status != "active":
            return []
        result = forget(heir.id, session, reason="What it was derived from was undone.")
        path = result.fact.path
        return [Changed("forget", path, path, result.commit, None, changed=result.changed, existed=True)]


def _adds(revision: Revision, digits: str) -> bool:
    removed = {entry_digits(path) for path, how in revision.paths.items() if how == "removed"}
    added = {entry_digits(path) for path, how in revision.paths.items() if how == "added"}
    return digits in added - removed - {""}


def _is_of(revision: Revision, job: str) -> bool:
    """True if the job made the commit, or a person who approved a move that only jobs propose."""
    is_proposed = revision.trailers.get(KIND) == "move" and any(_is_proposed_place(path) for path in revision.paths)
    return revision.trailers.get(ORIGIN) == job or is_proposed


def _is_proposed_place(path: str) -> bool:
    return place_of(path) == "archive" or is_always_loaded(path)


def removed_statements(session: Session) -> frozenset[str]:
    """The fingerprints of the entries that this job made and that exist no longer: the person undid the job's change,
    or deleted the note. Those of the newest commits alone; empty for a vault without history.
    """
    vault = session.stores.vault
    mine = [each for each in _our_commits(session.stores) if each.trailers.get(ORIGIN) == session.actor.origin]
    made = [(path, each) for each in mine for path in each.paths if _adds(each, entry_digits(path))]
    if not made:
        return frozenset()
    there = _entries_there(session.stores)
    gone = [(path, each.commit) for path, each in made if entry_digits(path) not in there]
    contents = require_history(vault).read_all_at([(vault.resolve(path), commit) for path, commit in gone])
    notes = (parse(content, path=path, mtime=0.0) for (path, _), content in zip(gone, contents, strict=True) if content)
    facts = (read_entry(note, place="", sensitive=False, rules=session.stores.rules)[0] for note in notes)
    return frozenset(fact.fingerprint for fact in facts if fact)


def undone_by_person(session: Session) -> frozenset[str]:
    """The digits of entries, and the paths of notes, that this job changed or derived something from, and the person
    undid: it leaves them alone. Empty for a vault without history.
    """
    ours = _our_commits(session.stores)
    if not ours:
        return frozenset()
    gone, historic = undone_commits(session.stores), require_history(session.stores.vault)
    mine = [each for each in ours if each.commit in gone and _is_of(each, session.actor.origin)]
    touched = {entry_digits(path) or path for each in mine for path in each.paths}
    sources = {id_digits(id) for each in mine for _, ids in _made(each, historic) for id in ids}
    return frozenset(touched | sources)


def _entries_there(stores: Stores) -> frozenset[str]:
    """The digits of all entries in the vault."""
    try:
        return frozenset(entry_digits(each.path) for each in stores.vault.list(MEMORY).files)
    except NotFound:
        return frozenset()


def _our_commits(stores: Stores) -> Sequence[Revision]:
    """Our newest commits; none for a vault without history, or whose history cannot be read."""
    if Capability.HISTORY not in stores.vault.capabilities:
        return ()
    try:
        return require_history(stores.vault).revisions(ours=True, limit=_FARTHEST_BACK)
    except CommonplaceError:
        return ()
