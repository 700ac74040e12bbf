"""The job `archive`: what is over or went cold moves out of plain search. Nothing is deleted, and links keep working.

    T3, entries below `Agent/Memory`      on its own: ended, replaced, contained in a consolidated one, or long cold
    T2, other notes below `Agent`         on its own when another note below `Agent` supersedes it, else as a proposal;
                                          a program's note supersedes the person's as a proposal alone
    T1, the person's notes                as a proposal, when the note itself says that it is over

What the person said is archived only when it is over; pinned, always-loaded and sensitive notes never.
"""

from collections.abc import Iterator
from typing import Final

from commonplace.facts.entry_paths import id_digits
from commonplace.facts.growth import ArchiveLimits, ArchiveReason, UsedFact, archive_reason, days_before, is_over
from commonplace.flows.ingest.line_writers import is_by_program
from commonplace.flows.memory.amend import archive_entry
from commonplace.flows.memory.derive import derived_from, supersede_entry
from commonplace.flows.memory.facts import entry_reader
from commonplace.flows.memory.undo import undone_by_person
from commonplace.flows.notes.move import move_note
from commonplace.flows.notes.proposals import propose
from commonplace.flows.notes.write import require_history
from commonplace.flows.read import is_hidden, note_stats, read_all, vault_names
from commonplace.model import Note, Terms
from commonplace.model.layout import (
    INDEX_NOTE,
    MEMORY,
    is_below,
    is_profile,
    is_standing,
    place_of,
)
from commonplace.model.moment import timestamp_text
from commonplace.notes import LinkResolver
from commonplace.policy.sensitivity import truthy
from commonplace.upkeep.entry_steps import (
    GONE,
    archived_path,
    is_proposed,
    label,
    proposal_result,
    result_of,
    used_entries,
)
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult
from commonplace.vault.base import Capability

_AGENT: Final = "Agent"
_SAID: Final[dict[ArchiveReason, str]] = {
    "ended": "it ended on {until}",
    "superseded": "{by} replaced it on {until}",
    "covered": "a consolidated entry contains it",
    "cold": "nothing has used or confirmed it since {last}",
}


def plan(run: JobRun) -> Plan:
    """The entries and notes that are over or cold now. Raises IndexDamaged, VaultUnavailable."""
    undone = undone_by_person(run.session)
    entries = [step for step in _entry_steps(run) if id_digits(step.subject) not in undone]
    notes = [] if run.stops() else [step for step in _note_steps(run) if step.subject not in undone]
    return Plan(steps=(*entries, *notes))


def apply(step: Step, run: JobRun) -> StepResult:
    """Archive one entry or note, or propose it. Raises Refused."""
    reason = step.values["reason"]
    try:
        if step.action == "propose":
            to = archived_path(step.subject)
            return proposal_result(step, propose(step.subject, run.session, why=reason, move_to=to))
        if step.values.get("is_note"):
            moved = move_note(step.subject, archived_path(step.subject), run.session, Terms(why=reason))
            return StepResult(step=step, outcome="done", commit=moved.commit or "")
        if by := step.values.get("by"):
            return result_of(step, supersede_entry(step.subject, by, run.session))
        return result_of(step, archive_entry(step.subject, run.session, reason=reason))
    except GONE as gone:
        return StepResult(step=step, outcome="unchanged", reason=gone.message)


def _entry_steps(run: JobRun) -> Iterator[Step]:
    """T3: a step for each entry that goes to the archive, the longest over first."""
    options = run.options.archive
    limits = ArchiveLimits(
        ended_days=options.ended_days,
        covered_days=options.covered_days,
        cold_days=options.cold_days,
        relevance=options.relevance,
    )
    entries = used_entries(run, days=options.cold_days)
    holding = {each.fact.id for each in entries if each.snapshot.state == "current"}
    covered = _covered(entries, holding, run)
    found: list[tuple[str, UsedFact, ArchiveReason]] = []
    for each in entries:
        reason = archive_reason(
            each, now=run.session.now, limits=limits, successors=holding, is_covered=each.fact.id in covered
        )
        if reason:
            found.append((each.snapshot.until or _freshest(each), each, reason))
    for _, each, reason in sorted(found, key=lambda one: (one[0], one[1].fact.id)):
        yield _entry_step(each, reason)


def _entry_step(used: UsedFact, reason: ArchiveReason) -> Step:
    snapshot = used.snapshot
    by = snapshot.ended_by if reason == "superseded" else ""
    why = _SAID[reason].format(until=snapshot.until[:10], by=id_digits(by), last=_freshest(used))
    values = {"reason": why, "by": by}
    return Step(action="archive", subject=used.fact.id, said=f"Archive {label(used.fact)}: {why}", values=values)


def _freshest(used: UsedFact) -> str:
    return max(used.last, used.fact.updated[:10], *used.fact.confirmed, "")


def _covered(entries: list[UsedFact], holding: set[str], run: JobRun) -> frozenset[str]:
    """The entries that a consolidated one contains which holds now; the index has it, so nothing is lost."""
    by_id = {each.fact.id: each.fact for each in entries}
    with entry_reader(run.session.stores) as reader:
        heirs = derived_from(by_id, reader)
    kinds = ("insight", "procedural", "crystallized")
    live = [its for id, its in heirs.items() if id in holding and id in by_id and by_id[id].kind in kinds]
    return frozenset(id for its in live for id in its)


# ---------------------------------------------------------------- notes


def _note_steps(run: JobRun) -> Iterator[Step]:
    """T2 and T1: a step for each note that says itself that it is over, or that another supersedes."""
    stores = run.session.stores
    files = stores.vault.list(skip=stores.ignored)
    notes = [each for each in read_all(stores.vault, note_stats(files)) if isinstance(each, Note)]
    names = vault_names(files, notes)
    successors = _successors(notes, names)
    for note in sorted(notes, key=lambda each: each.path):
        if run.stops():
            return
        if _is_out_of_reach(note, run):
            continue
        successor = successors.get(note.path, "")
        if is_below(note.path, _AGENT):
            yield from _curated_step(note, successor, run) if successor else ()
        else:
            yield from _personal_step(note, successor, run)


def _is_out_of_reach(note: Note, run: JobRun) -> bool:
    path = note.path
    is_ours = is_below(path, MEMORY) or is_profile(path) or is_standing(path) or path.endswith(INDEX_NOTE)
    is_kept = truthy(note.frontmatter.get("pinned")) or bool(note.problems)
    return is_ours or is_kept or place_of(path) == "archive" or is_hidden(note, run.session.stores)


def _successors(notes: list[Note], names: LinkResolver) -> dict[str, str]:
    """The note that supersedes each, by path: named by `superseded_by`, or one that names it in `supersedes`."""
    found: dict[str, str] = {}
    live = {
        note.path for note in notes if place_of(note.path) != "archive" and not is_over(note.frontmatter.get("status"))
    }
    for note in notes:
        for target in _named(note, "superseded_by", names):
            if target in live:
                found[note.path] = target
        for target in _named(note, "supersedes", names) if note.path in live else ():
            found.setdefault(target, note.path)
    return {path: by for path, by in found.items() if path != by and found.get(by) != path}


def _named(note: Note, key: str, names: LinkResolver) -> list[str]:
    """The notes that this key links to."""
    value = str(note.frontmatter.get(key) or "")
    links = [link for link in note.links if link.where == "property" and link.target and link.target in value]
    return [path for link in links if (path := names.resolve(link, source=note.path))]


def _curated_step(note: Note, successor: str, run: JobRun) -> Iterator[Step]:
    """T2: archived on its own; proposed if a link of the person would break, or if what says so has less trust."""
    why, target = f"{successor} supersedes it", archived_path(note.path)
    try:
        left = move_note(note.path, target, run.session, Terms(dry_run=True)).left
    except GONE:
        return
    # anything may be saved in the Inbox, or by an agent, and say that it supersedes
    if left or not is_below(successor, _AGENT) or not _may_supersede(successor, note.path, run):
        yield from _proposal(note.path, why, run)
        return
    values = {"reason": why, "is_note": True}
    yield Step(action="archive", subject=note.path, said=f"Archive {note.path}: {why}", values=values)


def _may_supersede(successor: str, path: str, run: JobRun) -> bool:
    """True if programs alone wrote the old note, or the person alone wrote both."""
    writers = _writers(path, run)
    return writers == {"program"} or (writers | _writers(successor, run)) == {"person"}


def _writers(path: str, run: JobRun) -> set[str]:
    """Whose commits changed the note, a program's or a person's; what is not committed is the person's."""
    vault = run.session.stores.vault
    if Capability.HISTORY not in vault.capabilities:
        return {"person"}
    historic, at = require_history(vault), vault.resolve(path)
    revisions = historic.revisions(at)
    found = {"program" if is_by_program(each) else "person" for each in revisions}
    is_committed = bool(revisions) and historic.read_at(at, revisions[0].commit) == vault.read(at).content
    return found if is_committed else found | {"person"}


def _personal_step(note: Note, successor: str, run: JobRun) -> Iterator[Step]:
    """T1: proposed if the note says that it is over, and nobody has changed it for a while."""
    status = note.frontmatter.get("status")
    quiet = days_before(run.session.now, run.options.archive.quiet_days)
    if not (successor or is_over(status)) or timestamp_text(note.mtime)[:10] >= quiet:
        return
    why = f"{successor} supersedes it" if successor else f"its status is {str(status).strip()[:40]}"
    yield from _proposal(note.path, why, run)


def _proposal(path: str, why: str, run: JobRun) -> Iterator[Step]:
    if not is_proposed(path, run, move_to=archived_path(path)):
        values = {"reason": f"{why[:1].upper()}{why[1:]}."}
        yield Step(action="propose", subject=path, said=f"Propose to archive {path}: {why}", values=values)


JOB: Final = Job(
    name="archive",
    about="Archives what is over or went cold; your own notes only as a proposal",
    schedule="50 3 * * *",
    plan=plan,
    apply=apply,
    most_steps=50,
)
