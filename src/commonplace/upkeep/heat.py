"""The job `heat`: what is loaded before every prompt follows use.

An entry that prompts needed on many days is loaded always; one that none needed for long goes back to its kind's
folder. An entry that is not the person's own word is only proposed: a job gives no trust.
"""

from collections.abc import Collection
from typing import Final

from commonplace.facts.entry_paths import entry_path, entry_slug, id_digits
from commonplace.facts.growth import HeatChange, HeatLimits, heat_changes
from commonplace.flows.memory.amend import load_always
from commonplace.flows.memory.undo import undone_by_person
from commonplace.flows.notes.proposals import propose
from commonplace.model import Fact
from commonplace.upkeep.entry_steps import GONE, is_proposed, label, proposal_result, result_of, used_entries
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

_DEEDS: Final = {
    "promote": "Load {} before every prompt",
    "propose": "Propose to load {} before every prompt",
    "demote": "Load {} only when it is relevant",
}


def plan(run: JobRun) -> Plan:
    """The entries that are hot or cold now. Raises IndexDamaged."""
    options = run.options.heat
    limits = HeatLimits(
        window_days=options.window_days,
        promote_days=options.promote_days,
        cold_days=options.cold_days,
        most=options.most,
    )
    entries = used_entries(run, days=options.window_days)
    undone = undone_by_person(run.session)
    while True:
        changes = heat_changes(entries, now=run.session.now, limits=limits)
        settled = {each.fact.id for each in changes if _is_settled(each, run, undone=undone)}
        if not settled:
            return Plan(steps=tuple(map(_step, changes)))
        entries = [each._replace(is_pinned=True) if each.fact.id in settled else each for each in entries]


def _is_settled(change: HeatChange, run: JobRun, *, undone: Collection[str]) -> bool:
    """True if the person undid or rejected the change, or it waits: it takes no place from others."""
    fact = change.fact
    if id_digits(fact.id) in undone:
        return True
    return change.action == "propose" and is_proposed(fact.path, run, move_to=_loaded_path(fact))


def apply(step: Step, run: JobRun) -> StepResult:
    """Load the entry always, or on demand, or propose it. Raises Refused."""
    reason = step.values["reason"]
    if step.action == "propose":
        path, to = step.values["path"], step.values["to"]
        return proposal_result(step, propose(path, run.session, why=reason, move_to=to))
    try:
        is_hot = step.action == "promote"
        return result_of(step, load_always(step.subject, run.session, always=is_hot, reason=reason))
    except GONE as gone:
        return StepResult(step=step, outcome="unchanged", reason=gone.message)


def _step(change: HeatChange) -> Step:
    said = f"{_DEEDS[change.action].format(label(change.fact))}: {change.reason}"
    values = {"reason": change.reason, "path": change.fact.path, "to": _loaded_path(change.fact)}
    return Step(action=change.action, subject=change.fact.id, said=said, values=values)


def _loaded_path(fact: Fact) -> str:
    """Where the entry is loaded before every prompt: the folder alone says it."""
    return entry_path(fact.kind, id=fact.id, slug=entry_slug(fact), recorded=fact.recorded, always_load=True)


JOB: Final = Job(
    name="heat",
    about="Loads what is used often before every prompt, and what went cold only when it is relevant",
    schedule="40 3 * * *",
    plan=plan,
    apply=apply,
    most_steps=10,
)
