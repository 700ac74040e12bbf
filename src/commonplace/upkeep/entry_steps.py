"""What the jobs of growth and decay share: entries with their use, names without words, results of a step."""

from datetime import timedelta
from typing import Final

from commonplace.errors import Conflict, NotFound
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.growth import UsedFact, note_archive
from commonplace.flows.memory.facts import entry_reader, fact_snapshots
from commonplace.flows.notes.proposals import is_rejected, proposals
from commonplace.flows.notes.write import read_existing
from commonplace.index.base import FactQuery
from commonplace.model import EntryResult, Fact
from commonplace.model.layout import ARCHIVE_FOLDER
from commonplace.model.proposal import ProposalResult
from commonplace.upkeep.job import JobRun, Step, StepResult

GONE: Final = (Conflict, NotFound)
"""What a verb raises for an entry that changed since it was planned: the next run plans anew."""


def used_entries(run: JobRun, *, days: int) -> list[UsedFact]:
    """Every active entry that programs may see, with its days of use within so many days, and the last day of all."""
    session, history = run.session, run.session.stores.history
    query = FactQuery(statuses=("active",), origins=("entry",), sensitive=False)
    with entry_reader(session.stores) as reader:
        records = reader.facts(query)
    snapshots = fact_snapshots(records, session)
    recent = history.uses([each.fact.id for each in snapshots], since=session.clock() - timedelta(days=days))
    found = ((each, recent.get(each.fact.id)) for each in snapshots)
    return [UsedFact(each, use.days if use else 0, each.last_used, each.fact.pinned) for each, use in found]


def label(fact: Fact) -> str:
    """What a step calls an entry, such as `preference 3f9a1c`: the log of runs holds no words of entries."""
    return f"{fact.kind or 'entry'} {id_digits(fact.id)}"


def result_of(step: Step, result: EntryResult) -> StepResult:
    """The result of a step that changed an entry, or left it for review."""
    if not result.changed:
        return StepResult(step=step, outcome="unchanged", reason=result.reason)
    if result.staged:
        return StepResult(step=step, outcome="proposed", commit=result.commit or "", review=id_digits(result.fact.id))
    return StepResult(step=step, outcome="done", commit=result.commit or "")


def is_proposed(path: str, run: JobRun, *, move_to: str) -> bool:
    """True if this job's proposal to move the note there waits, or was rejected by the person.

    One that waits for another version of the note does not count: it cannot be approved, and is made anew.
    """
    session, vault = run.session, run.session.stores.vault
    there = read_existing(vault.resolve(path), vault.read)
    waiting = {(each.target, each.move_to, each.base) for each in proposals(session.stores, by=session.actor.origin)}
    if there and (path, move_to, there.version) in waiting:
        return True
    return is_rejected(path, session, before=None, text=None, move_to=move_to)


def proposal_result(step: Step, result: ProposalResult) -> StepResult:
    """The result of a step that proposed something to the person."""
    if not result.changed:
        return StepResult(step=step, outcome="unchanged", reason=" ".join(result.remarks))
    return StepResult(step=step, outcome="proposed", commit=result.commit or "", review=result.proposal.id)


def archived_path(path: str) -> str:
    """Where a note goes when it is archived: `_archive` in its top folder, or in its group below `Agent`."""
    return note_archive(path, ARCHIVE_FOLDER, below=2 if path.startswith("Agent/") else 1)
