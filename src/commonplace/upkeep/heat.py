"""The job `heat`: what is loaded before every prompt follows use.

An entry that prompts needed on many days is loaded always; one that none needed for long goes back to its kind's
folder. An entry that is not the person's own word is only proposed: a job gives no trust.
"""

from typing import Final

from commonplace.facts.entry_paths import id_digits
from commonplace.facts.growth import HeatChange, HeatLimits, heat_changes
from commonplace.flows.memory.amend import load_always
from commonplace.flows.memory.proposals import LOAD, Proposal, propose, proposed_before
from commonplace.flows.memory.undo import undone_by_person
from commonplace.model import Fact
from commonplace.upkeep.entry_steps import GONE, label, result_of, used_entries
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
    settled = {each.fact.id for each in entries if id_digits(each.fact.id) in undone}
    settled |= {each.fact.id for each in entries if _is_proposed(each.fact, run, days=each.days, least=limits)}
    wanted = [each for each in entries if each.fact.always_load or each.fact.id not in settled]
    changes = [each for each in heat_changes(wanted, now=run.session.now, limits=limits) if each.fact.id not in settled]
    return Plan(steps=tuple(map(_step, changes)))


def apply(step: Step, run: JobRun) -> StepResult:
    """Load the entry always, or on demand, or propose it. Raises Refused."""
    reason = step.values["reason"]
    if step.action == "propose":
        text = step.values["text"]
        return result_of(step, propose(Proposal(LOAD, step.subject), run.session, text=text, reason=reason))
    try:
        is_hot = step.action == "promote"
        return result_of(step, load_always(step.subject, run.session, always=is_hot, reason=reason))
    except GONE as gone:
        return StepResult(step=step, outcome="unchanged", reason=gone.message)


def _step(change: HeatChange) -> Step:
    said = f"{_DEEDS[change.action].format(label(change.fact))}: {change.reason}"
    values = {"reason": change.reason, "text": _proposal_text(change.fact)}
    return Step(action=change.action, subject=change.fact.id, said=said, values=values)


def _proposal_text(fact: Fact) -> str:
    """What is proposed, in words that are the same in every run."""
    return f"Load {id_digits(fact.id)} before every prompt: {' '.join(fact.text.split())}"


def _is_proposed(fact: Fact, run: JobRun, *, days: int, least: HeatLimits) -> bool:
    """True if it was proposed to load the entry: it takes no place from others while it waits, or was rejected."""
    is_hot = max(days, len(fact.confirmed)) >= least.promote_days
    return is_hot and not fact.always_load and proposed_before(_proposal_text(fact), run.session) is not None


JOB: Final = Job(
    name="heat",
    about="Loads what is used often before every prompt, and what went cold only when it is relevant",
    schedule="40 3 * * *",
    plan=plan,
    apply=apply,
    most_steps=10,
)
