"""The job `playbooks`: procedures from conversations and tasks become playbooks; those that nobody uses are archived.

What the person explained in a conversation that we read ourselves is saved as every statement of theirs is. What an
agent did in several steps that ended well is proposed: it waits in `commonplace review`, and no prompt gets it before
the person has approved it. A model may word both better, within the same steps; its wording always waits for review.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from commonplace.errors import ProviderFailed
from commonplace.events import emit
from commonplace.facts.claims import is_own_word
from commonplace.facts.cues import counted_cue, joined_phrases
from commonplace.facts.entry_paths import PLAYBOOK_KINDS, id_digits
from commonplace.facts.playbooks import KIND, Playbook, find_playbooks, playbook_text, rewording
from commonplace.flows.conversations import may_learn_from
from commonplace.flows.learn.model_calls import ask_model, model_of, prompt_for
from commonplace.flows.learn.settle import evidence
from commonplace.flows.memory.amend import archive_entry
from commonplace.flows.memory.facts import entry_reader, fact_snapshots
from commonplace.flows.memory.save import save
from commonplace.flows.stores import Session
from commonplace.index.base import FactQuery
from commonplace.llm.base import Prompt
from commonplace.model import Candidate, Fact, FactSnapshot, Origins, Thread
from commonplace.model.fact import RULES
from commonplace.model.layout import ALWAYS_LOAD_FOLDER, ARCHIVE_FOLDER, MEMORY, STAGING
from commonplace.model.moment import moment_text, parse_moment
from commonplace.model.untrusted_text import break_marks, line_of
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult

_MOST_THREADS: Final = 200  # conversations and tasks that one run reads, the oldest first
_DISTILLED: Final = "It was distilled from work that ended well, and nobody has approved it yet."
_REWORDED: Final = "A model has worded it from what was said."
_CLAIMED: Final = "Only the program that recorded the conversation says who spoke in it."
_FOLDERS: Final = (
    f"{MEMORY}/{KIND}/",
    f"{MEMORY}/{ALWAYS_LOAD_FOLDER}/",
    f"{MEMORY}/{ARCHIVE_FOLDER}/",
    f"{STAGING}/",
)
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "maxLength": 100},
        "when": {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 4},
        "steps": {"type": "array", "items": {"type": "string", "maxLength": 300}, "maxItems": 15},
    },
    "required": ["task", "when", "steps"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class _Source:
    """A procedure and the conversation or task that has it."""

    playbook: Playbook
    thread: Thread


def plan(run: JobRun) -> Plan:
    """A step for each procedure that is new, and one for each playbook that nobody used for long."""
    session, cursor = run.session, str(run.state.get("until", ""))
    threads = _threads(session, cursor)
    chosen = threads[:_MOST_THREADS]
    known = _known_evidence(session) if chosen else set()
    steps: list[Step] = []
    for thread in chosen:
        if run.stops():
            return Plan(steps=tuple(steps), said="the time was over", left=len(threads))
        new = [each for each in _procedures(thread, session) if (thread.id, each.playbook.turn) not in known]
        steps += [_proposal(each, session) for each in new]
    until = moment_text(chosen[-1].updated) if chosen else cursor
    steps += [_archiving(each) for each in _unused(session, days=run.options.playbooks.days)]
    state = {"until": until} if until != cursor else None
    return Plan(steps=tuple(steps), state=state, left=len(threads) - len(chosen))


def apply(step: Step, run: JobRun) -> StepResult:
    """Save or propose a playbook, or archive one."""
    if step.action == "archive":
        archived = archive_entry(step.subject, run.session, reason=step.said)
        return StepResult(step=step, outcome="done" if archived.changed else "unchanged", commit=archived.commit or "")
    result = save(step.values["candidate"], run.session)
    if not result.changed:
        return StepResult(step=step, outcome="unchanged", reason=result.reason)
    if result.staged:
        digits = id_digits(result.fact.id)
        return StepResult(step=step, outcome="proposed", commit=result.commit or "", review=digits)
    return StepResult(step=step, outcome="done", commit=result.commit or "")


def _threads(session: Session, cursor: str) -> list[Thread]:
    """Conversations and tasks with a message since the cursor that may be learned from, the oldest first."""
    since = parse_moment(cursor) if cursor else None
    history = session.stores.history
    found = [*history.conversations(since=since), *history.conversations(since=since, kind="task")]
    ours = [each for each in found if each.trust != "imported" and may_learn_from(each, session.stores)]
    return sorted(ours, key=lambda each: (each.updated, each.id))


def _procedures(thread: Thread, session: Session) -> Iterator[_Source]:
    messages = session.stores.history.messages(thread.id)
    for playbook in find_playbooks(messages, is_task=thread.kind == "task"):
        yield _Source(playbook, thread)


def _known_evidence(session: Session) -> set[tuple[str, int]]:
    """The conversations and turns from which a playbook was made before, whatever became of it."""
    with entry_reader(session.stores) as reader:  # with what a killed process has committed and not indexed
        query = FactQuery(origins=("entry",), staged=True)
        records = [each for folder in _FOLDERS for each in reader.facts(replace(query, folder=folder))]
    kinds = {*PLAYBOOK_KINDS}
    return {(each.fact.origins.conversation, each.fact.origins.turn) for each in records if each.fact.kind in kinds}


def _proposal(source: _Source, session: Session) -> Step:
    """The step that saves a procedure, worded by a model if there is one."""
    candidate = _candidate(source, session)
    verb = "Save" if not candidate.doubt else "Propose"
    title = line_of(candidate.text.partition("\n")[0].rstrip(":"))
    said = f"{verb} a playbook of {len(source.playbook.steps)} steps: {title}."
    values = {"candidate": candidate}
    return Step(action="propose" if candidate.doubt else "write", subject=source.thread.id, said=said, values=values)


def _candidate(source: _Source, session: Session) -> Candidate:
    playbook, thread = source.playbook, source.thread
    messages = session.stores.history.messages(thread.id, first=playbook.turn, last=playbook.turn)
    quote = evidence(messages[0].text) if messages else ""
    origins = Origins(thread.interface, thread.id, "mined", extractor=RULES, turn=playbook.turn, quote=quote)
    doubt = "" if playbook.is_explained else _DISTILLED
    candidate = Candidate(
        text=playbook.text,
        kind=KIND,
        when=playbook.when,
        project=thread.project,
        origins=origins,
        doubt=doubt or (_CLAIMED if thread.is_claim else ""),
        is_spoken=playbook.is_explained and not thread.is_claim,
    )
    return _reworded(playbook, candidate, session)


def _reworded(playbook: Playbook, candidate: Candidate, session: Session) -> Candidate:
    """The candidate in a model's words, if there is a model, it answers, and every step is still the same step."""
    try:
        if model_of("playbook", session) is None:
            return candidate
        prompt = prompt_for("playbook", session)
        shown = {"task": break_marks(playbook.task), "steps": [break_marks(step) for step in playbook.steps]}
        asked = (Prompt("system", prompt.text), Prompt("user", json.dumps(shown, ensure_ascii=False)))
        answer = ask_model("playbook", asked, _SCHEMA, session, prompt_version=prompt.version)
    except ProviderFailed as error:
        emit("playbook_not_reworded", level="warning", reason=error.reason or "", said=error.message)
        return candidate
    better = rewording(playbook, answer.value)
    if better is None:
        return candidate
    task, steps, phrases = better
    origins = replace(candidate.origins, extractor=f"{answer.model} {prompt.version}")
    return replace(
        candidate,
        text=playbook_text(task, steps),
        when=counted_cue(joined_phrases((candidate.when, *phrases))),
        origins=origins,
        doubt=candidate.doubt or _REWORDED,
        is_spoken=False,
    )


# ---------------------------------------------------------------- playbooks that nobody uses


def _unused(session: Session, *, days: int) -> list[FactSnapshot]:
    """The playbooks of programs that were neither used nor changed for so many days; pinned ones never."""
    now = session.clock()
    with session.stores.index.reader() as reader:
        query = FactQuery(origins=("entry",), statuses=("active",), sensitive=False)
        records = [each for kind in PLAYBOOK_KINDS for each in reader.facts(replace(query, folder=f"{MEMORY}/{kind}/"))]
    cold = [each for each in fact_snapshots(records, session) if _is_cold(each, before=now - timedelta(days=days))]
    return sorted(cold, key=lambda each: each.fact.id)


def _is_cold(snapshot: FactSnapshot, *, before: datetime) -> bool:
    fact, border = snapshot.fact, moment_text(before)
    if _is_fixed(fact) or snapshot.state != "current":
        return False
    return max(snapshot.last_used, fact.updated, *fact.confirmed, "") < border


def _is_fixed(fact: Fact) -> bool:
    """True if no job may archive it: it is pinned, always loaded, or the person's own word."""
    return fact.pinned or fact.always_load or is_own_word(fact)


def _archiving(snapshot: FactSnapshot) -> Step:
    fact = snapshot.fact
    last = snapshot.last_used or fact.updated[:10]
    title = line_of(fact.text.partition("\n")[0].rstrip(":"))
    return Step(
        action="archive", subject=fact.id, said=f"Archive a playbook that nobody has used since {last}: {title}."
    )


JOB = Job(
    name="playbooks",
    about="Makes playbooks from procedures that were explained or worked; archives those that nobody uses",
    schedule="20 4 * * *",
    plan=plan,
    apply=apply,
    most_steps=20,
)
