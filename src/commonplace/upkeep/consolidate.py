"""The jobs `dream` and `consolidate`: many entries become one that names its sources.

    dream        entries of programs that say the same become one; the others go to the archive
    consolidate  an event that recurs becomes an insight, a way of working that three sources or projects agree on a
                 procedure, what is known from a closed project or a phase that ended a digest

Each step is one commit. What the person said is never put away; where it says the same, it stays in their place.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from commonplace.errors import ProviderFailed
from commonplace.events import emit
from commonplace.facts.claims import is_own_word
from commonplace.facts.consolidation import (
    SOURCES,
    crystallized,
    distinct_sources,
    generalized,
    group_by,
    is_done,
    is_event,
    may_be_digested,
    may_be_procedure,
    may_be_replaced,
    may_be_source,
    merged,
    procedure,
    shown_statements,
    times_stated,
    wording,
)
from commonplace.facts.entry_paths import id_digits
from commonplace.facts.growth import best_first, is_over
from commonplace.flows.learn.model_calls import ask_model, model_of, prompt_for
from commonplace.flows.memory.derive import derive_entry, derived_from, known_entry, same_statements, supersede_entry
from commonplace.flows.memory.facts import entry_reader, fact_snapshots
from commonplace.flows.memory.new_entry import complete_candidate
from commonplace.flows.memory.undo import undone_by_person
from commonplace.flows.project_state import SESSION, read_project_state
from commonplace.flows.read import is_hidden, read_note
from commonplace.index.base import FactQuery
from commonplace.llm.base import Prompt
from commonplace.model import Candidate, Fact, FactSnapshot
from commonplace.model.untrusted_text import break_marks
from commonplace.upkeep.entry_steps import GONE, label, result_of
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

_BATCH: Final = 200  # entries whose words are compared with all others in one run; each is a search
_AGAIN: Final = 20  # entries that `dream` compares once more, in turn: their words may have been edited by hand
_LEAST_OF_PROJECT: Final = 3  # entries of a closed project, or of a phase, that make a digest
_MOST_CONSOLIDATED: Final = 10  # steps of one run; a model is asked for no more
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 400}},
    "required": ["text"],
    "additionalProperties": False,
}
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


def _new_batch(facts: Sequence[Fact], run: JobRun) -> tuple[list[Fact], dict[str, Any]]:
    """The entries that are new or changed since the last run and a few others in turn, and the cursors after them."""
    compared = tuple(str(each) for each in run.state.get("compared") or ())
    marks = sorted((max(fact.recorded, fact.updated), fact.id) for fact in facts)
    new = [mark for mark in marks if mark > compared][:_BATCH]
    ids, after = {id for _, id in new}, str(run.state.get("again") or "")
    others = sorted(fact.id for fact in facts if fact.id not in ids)
    again = [id for id in others if id > after][:_AGAIN]
    ids |= {*again}
    state = {"compared": [*(new[-1] if new else compared)], "again": again[-1] if len(again) == _AGAIN else ""}
    return [fact for fact in facts if fact.id in ids], state


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
    batch, state = _new_batch([fact for fact in facts if may_be_replaced(fact)], run)
    steps: list[Step] = []
    for same in _groups(facts, run, batch=batch):
        ids = {fact.id for fact in same}
        group = [fact for fact in same if _holds_or_ended_by(snapshots[fact.id], ids)]
        for project in sorted({fact.project.casefold() for fact in group}):
            steps += _merging([fact for fact in group if fact.project.casefold() == project], run)
    return Plan(steps=tuple(steps), state=state)


def _holds_or_ended_by(snapshot: FactSnapshot, ids: Collection[str]) -> bool:
    """True if the entry holds, or ended only because another one of these says the same: nothing came in between."""
    return snapshot.state == "current" or snapshot.ended_by in ids


def _merging(group: Sequence[Fact], run: JobRun) -> Iterator[Step]:
    """Archive what the person or a merged entry says already; else make one entry of all."""
    others = [fact for fact in group if may_be_replaced(fact)]
    own = [fact for fact in best_first(group) if is_own_word(fact)]
    if own:
        for fact in others:
            said = f"Archive {label(fact)}: you said the same in {id_digits(own[0].id)}"
            yield Step(action="archive", subject=fact.id, said=said, values={"by": own[0].id})
    elif len(others) > 1 and all(fact.origins.trust in ("said", "mined") for fact in others):
        known = known_entry(complete_candidate(merged(others), run.session), others, run.session)
        yield from _archiving(others, known) if known else _merge_step(others)


def _merge_step(group: Sequence[Fact]) -> Iterator[Step]:
    first = best_first(group)[0]
    said = f"Merge {len(group)} entries that say the same as {label(first)}"
    yield Step(action="merge", subject=first.id, said=said, values={"sources": [fact.id for fact in group]})


def _archiving(group: Sequence[Fact], known: Fact) -> Iterator[Step]:
    """Archive what an entry says that was merged before; nothing if that is forgotten, archived or waits."""
    for fact in group if known.status == "active" and not known.place else ():
        said = f"Archive {label(fact)}: {id_digits(known.id)} says the same"
        yield Step(action="archive", subject=fact.id, said=said, values={"by": known.id})


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


def _facts(ids: Sequence[str], run: JobRun, *, is_usable: Callable[[Fact], bool] = may_be_source) -> list[Fact]:
    with entry_reader(run.session.stores) as reader:
        records = reader.facts(FactQuery(ids=tuple(ids), sensitive=False))
    return [each.fact for each in records if is_usable(each.fact)]


# ---------------------------------------------------------------- consolidate


def plan_consolidate(run: JobRun) -> Plan:
    """What recurs, what is always done so, and which projects and phases are over. Raises IndexDamaged.

    A model words what recurs, if there is one: the plan has its words, so that a run saves what a dry run showed.
    """
    facts = [each.fact for each in _sources(run)]
    batch, state = _batch(facts, run)
    recurring = [*_recurring(_groups(facts, run, batch=batch), run)]
    taken = {id for step in recurring for id in step.values["sources"]}
    holding = _holding(run)
    # a procedure takes the place of its source, so it comes after the digest that has it
    steps = [*recurring, *_closed_projects(holding, run), *_procedures(holding, run, without=taken)]
    chosen, rest = steps[:_MOST_CONSOLIDATED], steps[_MOST_CONSOLIDATED:]
    return Plan(steps=(*(_worded(step, facts, run) for step in chosen), *rest), state=state)


def _holding(run: JobRun) -> list[Fact]:
    """The entries that hold now and that the person did not take back from this job."""
    with entry_reader(run.session.stores) as reader:
        records = reader.facts(FactQuery(statuses=("active",), origins=("entry",), sensitive=False))
    undone = undone_by_person(run.session)
    snapshots = [each for each in fact_snapshots(records, run.session) if each.state == "current"]
    return [each.fact for each in snapshots if id_digits(each.fact.id) not in undone]


def _recurring(groups: Sequence[tuple[Fact, ...]], run: JobRun) -> Iterator[Step]:
    by = run.session.actor.origin
    for group in groups:
        events = [fact for fact in group if is_event(fact)]
        others = [fact for fact in group if not is_event(fact) and fact.project]
        is_general = len({fact.project.casefold() for fact in others}) >= SOURCES
        is_known = any(not fact.project and not is_event(fact) for fact in group)
        if len(events) >= SOURCES and distinct_sources(events) >= SOURCES:
            said = f"Make one insight of {len(events)} events"
            yield from _consolidation(generalized(events, by=by), events, run, said=said)
        elif is_general and not is_known and distinct_sources(others) >= SOURCES:
            said = f"Make one entry of {len(others)} that agree in all projects"
            yield from _consolidation(generalized(others, by=by), others, run, said=said)


def _procedures(facts: Sequence[Fact], run: JobRun, *, without: Collection[str]) -> Iterator[Step]:
    """A step for each way of working that a program saved and three days agree on; merged entries have all days."""
    for fact in facts:
        if fact.id in without or not may_be_procedure(fact) or times_stated(fact) < SOURCES:
            continue
        said = f"Make a procedure of what was stated on {times_stated(fact)} days"
        candidate = procedure(fact, by=run.session.actor.origin)
        yield from _consolidation(candidate, [fact], run, said=said, replaces=True)


def _consolidation(
    candidate: Candidate, group: Sequence[Fact], run: JobRun, *, said: str, replaces: bool = False
) -> Iterator[Step]:
    ids = sorted(fact.id for fact in group)
    with entry_reader(run.session.stores) as reader:
        heirs = derived_from(ids, reader, kind=candidate.kind)
    if is_done(ids, heirs) or known_entry(complete_candidate(candidate, run.session), group, run.session):
        return
    values = {"sources": ids, "candidate": candidate, "replaces": replaces}
    yield Step(action="consolidate", subject=ids[0], said=f"{said}, {label(best_first(group)[0])} first", values=values)


def _worded(step: Step, facts: Sequence[Fact], run: JobRun) -> Step:
    """The step with a model's wording of what its sources say, if a model is set and its words are no others."""
    values, session = step.values, run.session
    if values["replaces"] or values["candidate"].kind == "crystallized":
        return step
    sources = [fact for fact in facts if fact.id in values["sources"]]
    try:
        if model_of("consolidate", session) is None:
            return step
        prompt = prompt_for("consolidate", session)
        shown = {"statements": [break_marks(each) for each in shown_statements(sources)]}
        asked = (Prompt("system", prompt.text), Prompt("user", json.dumps(shown, ensure_ascii=False)))
        answer = ask_model("consolidate", asked, _SCHEMA, session, prompt_version=prompt.version)
    except ProviderFailed as error:
        emit("consolidation_not_worded", level="warning", reason=error.reason or "", said=error.message)
        return step
    worded = wording(sources, answer.value)
    if not worded or worded in {fact.text.strip() for fact in sources}:
        return step
    candidate = generalized(sources, by=session.actor.origin, worded=worded)
    origins = replace(candidate.origins, extractor=f"{answer.model} {prompt.version}")
    more = {"candidate": replace(candidate, origins=origins)}
    return replace(step, said=f"{step.said}, in a model's words", values={**values, **more})


def apply_consolidate(step: Step, run: JobRun) -> StepResult:
    """Write the entry that follows from others; a procedure replaces its source, all others stay. Raises Refused."""
    ids, candidate = step.values["sources"], step.values["candidate"]
    is_digest = candidate.kind == "crystallized"
    is_usable = may_be_digested if is_digest else may_be_procedure if step.values["replaces"] else may_be_source
    if len(_facts(ids, run, is_usable=is_usable)) < len(ids):
        return StepResult(step=step, outcome="unchanged", reason="one of the entries changed meanwhile")
    try:
        derived = derive_entry(candidate, ids, run.session, reason=step.said, replaces=step.values["replaces"])
        return result_of(step, derived)
    except GONE as gone:
        return StepResult(step=step, outcome="unchanged", reason=gone.message)


def _closed_projects(facts: Sequence[Fact], run: JobRun) -> Iterator[Step]:
    """A digest for each project whose note, or a fact about it, says that it is over; else for its phases."""
    known = [fact for fact in facts if may_be_digested(fact)]
    for project in sorted({fact.project for fact in known}):
        group = [fact for fact in known if fact.project == project]
        if len(group) < _LEAST_OF_PROJECT:
            continue
        if _is_noted_closed(project, run) or _is_known_closed(project, run):
            said = f"Make one digest of {len(group)} entries of the closed project {project}"
            candidate = crystallized(project, group, by=run.session.actor.origin)
            yield from _consolidation(candidate, group, run, said=said)
        else:
            yield from _closed_phases(project, group, run)


def _closed_phases(project: str, facts: Sequence[Fact], run: JobRun) -> Iterator[Step]:
    """A digest for each phase that a line of progress ended, of what was saved since the end of the one before."""
    since = ""
    for line in read_project_state(project, run.session).progress:
        if not line.ends_phase or line.phase in ("", SESSION):
            continue
        until = f"{line.day}T{line.time}:59Z"
        group = [fact for fact in facts if since < fact.recorded <= until]
        since = until
        if len(group) >= _LEAST_OF_PROJECT:
            said = f"Make one digest of {len(group)} entries of the phase {line.phase} of {project}"
            candidate = crystallized(project, group, by=run.session.actor.origin, phase=line.phase)
            yield from _consolidation(candidate, group, run, said=said)


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
    about="Makes insights of what recurs, procedures of what is always done so, and digests of closed projects",
    schedule="0 5 * * 0",
    plan=plan_consolidate,
    apply=apply_consolidate,
    most_steps=_MOST_CONSOLIDATED,
)
