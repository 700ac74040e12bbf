"""The jobs `dream` and `consolidate`: many entries become one that names its sources.

    dream        entries of programs that say the same become one; the others go to the archive
    consolidate  an event that recurs becomes an insight, a way of working in three projects a procedure, what is known
                 from a closed project a digest; the sources stay as they are

Each step is one commit. What the person said is never put away; where it says the same, it stays in their place.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from commonplace.facts.claims import is_own_word
from commonplace.facts.consolidation import (
    SOURCES,
    crystallized,
    distinct_sources,
    generalized,
    group_by,
    is_done,
    is_event,
    may_be_replaced,
    may_be_source,
    merged,
)
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.growth import best_first, is_over
from commonplace.flows.memory.derive import derive_entry, derived_from, same_statements, supersede_entry
from commonplace.flows.memory.facts import entry_reader, fact_snapshots
from commonplace.flows.memory.undo import undone_by_person
from commonplace.flows.read import is_hidden, read_note
from commonplace.index.base import FactQuery
from commonplace.model import Candidate, Fact, FactSnapshot
from commonplace.upkeep.entry_steps import GONE, label, result_of
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

_BATCH: Final = 200  # entries whose words are compared with all others in one run; each is a search
_LEAST_OF_PROJECT: Final = 3  # entries of a closed project that make a digest
_STATUS: Final = "has_status"


def _sources(run: JobRun) -> list[FactSnapshot]:
    """The entries that may be sources, whether they hold or ended because one with the same words began later."""
    with entry_reader(run.session.stores) as reader:
        records = reader.facts(FactQuery(statuses=("active",), origins=("entry",), sensitive=False))
    undone = undone_by_person(run.session)
    kept = [each for each in records if may_be_source(each.fact) and id_digits(each.fact.id) not in undone]
    return fact_snapshots(kept, run.session, states=("current", "ended"))


def _batch(facts: Sequence[Fact], run: JobRun) -> tuple[list[Fact], dict[str, Any]]:
    """The entries after the cursor that are compared in this run, and the cursor after them; empty at the end."""
    after = str(run.state.get("after") or "")
    ordered = sorted(facts, key=lambda each: each.id)
    batch = [fact for fact in ordered if fact.id > after][:_BATCH]
    is_last = not batch or batch[-1].id == ordered[-1].id
    return batch, {"after": "" if is_last else batch[-1].id}


def _groups(facts: Sequence[Fact], run: JobRun, *, batch: Sequence[Fact]) -> list[tuple[Fact, ...]]:
    """The entries that say the same: with equal words among all of them, in other words for those of the batch."""
    by_id = {fact.id: fact for fact in facts}
    parents = {id: id for id in by_id}

    def root(id: str) -> str:
        while parents[id] != id:
            id = parents[id]
        return id

    for group in group_by(facts, {fact.id: (fact.fingerprint, fact.subject.casefold()) for fact in facts}):
        for other in group[1:]:
            parents[root(other.id)] = root(group[0].id)
    for fact in batch:
        if run.stops():
            break
        for other in same_statements(fact, run.session):
            if other.id in by_id:
                first, second = sorted((root(fact.id), root(other.id)))
                parents[second] = first
    return group_by(facts, {id: root(id) for id in by_id})


# ---------------------------------------------------------------- dream


def plan_dream(run: JobRun) -> Plan:
    """The entries of one project that say the same. Raises IndexDamaged."""
    snapshots = {each.fact.id: each for each in _sources(run) if not is_event(each.fact)}
    facts = [each.fact for each in snapshots.values()]
    batch, state = _batch([fact for fact in facts if may_be_replaced(fact)], run)
    steps: list[Step] = []
    for same in _groups(facts, run, batch=batch):
        ids = {fact.id for fact in same}
        group = [fact for fact in same if _holds_or_ended_by(snapshots[fact.id], ids)]
        for project in sorted({fact.project.casefold() for fact in group}):
            steps += _merging([fact for fact in group if fact.project.casefold() == project])
    return Plan(steps=tuple(steps), state=state)


def _holds_or_ended_by(snapshot: FactSnapshot, ids: Collection[str]) -> bool:
    """True if the entry holds, or ended only because another one of these says the same: nothing came in between."""
    return snapshot.state == "current" or snapshot.ended_by in ids


def _merging(group: Sequence[Fact]) -> Iterator[Step]:
    """Archive what the person says already; else make one entry of all."""
    others = [fact for fact in group if may_be_replaced(fact)]
    own = [fact for fact in best_first(group) if is_own_word(fact)]
    if own:
        for fact in others:
            said = f"Archive {label(fact)}: you said the same in {id_digits(own[0].id)}"
            yield Step(action="archive", subject=fact.id, said=said, values={"by": own[0].id})
    elif len(others) > 1 and all(fact.origins.trust in ("said", "mined") for fact in others):
        first = best_first(others)[0]
        said = f"Merge {len(others)} entries that say the same as {label(first)}"
        yield Step(action="merge", subject=first.id, said=said, values={"sources": [fact.id for fact in others]})


def apply_dream(step: Step, run: JobRun) -> StepResult:
    """Make one entry of several, or archive one that the person says already. Raises Refused."""
    try:
        if step.action == "archive":
            return result_of(step, supersede_entry(step.subject, step.values["by"], run.session))
        ids = step.values["sources"]
        facts = _facts(ids, run)
        if len(facts) < len(ids):
            return StepResult(step=step, outcome="unchanged", reason="one of the entries changed meanwhile")
        return result_of(step, derive_entry(merged(facts), ids, run.session, reason=step.said, replaces=True))
    except GONE as gone:
        return StepResult(step=step, outcome="unchanged", reason=gone.message)


def _facts(ids: Sequence[str], run: JobRun) -> list[Fact]:
    with entry_reader(run.session.stores) as reader:
        records = reader.facts(FactQuery(ids=tuple(ids), sensitive=False))
    return [each.fact for each in records if may_be_source(each.fact)]


# ---------------------------------------------------------------- consolidate


def plan_consolidate(run: JobRun) -> Plan:
    """What recurs, what is done in many projects, and which projects are closed. Raises IndexDamaged."""
    snapshots = _sources(run)
    facts = [each.fact for each in snapshots]
    batch, state = _batch(facts, run)
    steps = [
        *_recurring(_groups(facts, run, batch=batch), run),
        *_closed_projects([each.fact for each in snapshots if each.state == "current"], run),
    ]
    return Plan(steps=tuple(steps), state=state)


def _recurring(groups: Sequence[tuple[Fact, ...]], run: JobRun) -> Iterator[Step]:
    for group in groups:
        events = [fact for fact in group if is_event(fact)]
        others = [fact for fact in group if not is_event(fact) and fact.project]
        is_general = len({fact.project.casefold() for fact in others}) >= SOURCES
        is_known = any(not fact.project and not is_event(fact) for fact in group)
        if len(events) >= SOURCES and distinct_sources(events) >= SOURCES:
            yield from _consolidation(events, run, said=f"Make one insight of {len(events)} events")
        elif is_general and not is_known and distinct_sources(others) >= SOURCES:
            yield from _consolidation(others, run, said=f"Make one entry of {len(others)} that agree in all projects")


def _consolidation(group: Sequence[Fact], run: JobRun, *, said: str, project: str = "") -> Iterator[Step]:
    ids = sorted(fact.id for fact in group)
    with entry_reader(run.session.stores) as reader:
        heirs = derived_from(ids, reader)
    if is_done(ids, heirs):
        return
    values = {"sources": ids, "project": project}
    yield Step(action="consolidate", subject=ids[0], said=f"{said}, {label(best_first(group)[0])} first", values=values)


def apply_consolidate(step: Step, run: JobRun) -> StepResult:
    """Write the entry that follows from the others; they stay. Raises Refused."""
    ids, project = step.values["sources"], step.values["project"]
    facts = _facts(ids, run)
    if len(facts) < len(ids):
        return StepResult(step=step, outcome="unchanged", reason="one of the entries changed meanwhile")
    by = run.session.actor.origin
    candidate: Candidate = crystallized(project, facts, by=by) if project else generalized(facts, by=by)
    try:
        return result_of(step, derive_entry(candidate, ids, run.session, reason=step.said))
    except GONE as gone:
        return StepResult(step=step, outcome="unchanged", reason=gone.message)


def _closed_projects(facts: Sequence[Fact], run: JobRun) -> Iterator[Step]:
    """A digest for each project whose note, or a fact about it, says that it is over."""
    for project in sorted({fact.project for fact in facts if fact.project}):
        group = [fact for fact in facts if fact.project == project]
        if len(group) >= _LEAST_OF_PROJECT and (_is_noted_closed(project, run) or _is_known_closed(project, run)):
            said = f"Make one digest of {len(group)} entries of the closed project {project}"
            yield from _consolidation(group, run, said=said, project=project)


def _is_noted_closed(project: str, run: JobRun) -> bool:
    """True if the note with the project's name has a status that says so."""
    stores = run.session.stores
    with stores.index.reader() as reader:
        paths = reader.notes_named(stores.rules.entity(project))
    for path in paths:
        try:
            note = read_note(path, stores.vault, skip=stores.ignored)
        except GONE:
            continue
        if not is_hidden(note, stores) and is_over(note.frontmatter.get("status")):
            return True
    return False


def _is_known_closed(project: str, run: JobRun) -> bool:
    """True if a fact that holds says that the project is closed."""
    name = (run.session.stores.rules.entity(project),)
    with entry_reader(run.session.stores) as reader:
        records = reader.facts(FactQuery(names=name, predicate=_STATUS, statuses=("active",), sensitive=False))
    facts = fact_snapshots(records, run.session)
    return any(each.state == "current" and is_over(each.fact.object) for each in facts)


DREAM: Final = Job(
    name="dream",
    about="Makes one entry of several that say the same; what you said stays as it is",
    schedule="10 4 * * *",
    plan=plan_dream,
    apply=apply_dream,
    most_steps=25,
)
CONSOLIDATE: Final = Job(
    name="consolidate",
    about="Makes insights of what recurs, and digests of closed projects",
    schedule="0 5 * * 0",
    plan=plan_consolidate,
    apply=apply_consolidate,
    most_steps=10,
)
