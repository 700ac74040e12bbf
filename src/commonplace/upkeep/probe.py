"""The job `probe`: does memory still work from end to end? It tries, and leaves nothing behind.

Each day a write is rehearsed, which git and the disk take part in and of which no commit is left, and both ways of
search are asked. Once in `upkeep.probe.note_days` days a real note with random words is written through the ordinary
flow, found by its words and by its sense, and deleted: two commits. The note has one fixed path, so that the next run
finds and deletes what a killed run left; no prompt is given it, and no digest tells of it.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from commonplace.errors import IndexDamaged
from commonplace.flows.notes.write import delete_note, require_history, write_note
from commonplace.flows.search.search import SearchQuery, search
from commonplace.model import Mode, Terms
from commonplace.model.layout import PROBE_NOTE
from commonplace.model.moment import parse_moment
from commonplace.upkeep.job import Job, JobRun, Plan, Step, StepResult
from commonplace.vault.base import Capability

_SENTENCE: Final = "The keeper of the lighthouse {} repairs its copper lantern in the winter of {}."
_SENSE: Final = "the keeper who repairs the lantern of a lighthouse in winter"
_TEXT: Final = "# Self-probe {}\n\n{}\n\nCommonplace wrote this note to test itself, and deletes it in a moment.\n"
_BEST: Final = 10  # hits among which the note must be
_NOTE_AT: Final = "note_at"  # the key of the state: when a real note was last written


def plan(run: JobRun) -> Plan:
    """Delete what an earlier run left; rehearse a write; ask both searches; and if it is time, write a real note."""
    vault, now = run.session.stores.vault, run.session.clock()
    steps = []
    if vault.exists(vault.resolve(PROBE_NOTE)):
        steps.append(Step(action="delete", subject=PROBE_NOTE, said="Delete what an earlier probe left."))
    if Capability.HISTORY in vault.capabilities:
        steps.append(Step(action="rehearse", subject=PROBE_NOTE, said="Rehearse a write; nothing is left of it."))
    steps.append(Step(action="search", subject=PROBE_NOTE, said="Search by words and by sense."))
    last, days = run.state.get(_NOTE_AT), timedelta(days=run.options.probe.note_days)
    if last is not None and now < parse_moment(last) + days:
        return Plan(steps=tuple(steps))
    steps.append(Step(action="probe", subject=PROBE_NOTE, said="Write a note, find it, and delete it."))
    return Plan(steps=tuple(steps), state={_NOTE_AT: run.session.now})


def apply(step: Step, run: JobRun) -> StepResult:
    """Do one step, and say how long it took. Raises what is wrong."""
    start = time.perf_counter()
    said = _ACTIONS[step.action](run)
    took = f"{said} ({(time.perf_counter() - start) * 1000:.0f} ms)"
    return StepResult(step=replace(step, said=took), outcome="done")


def _delete(run: JobRun) -> str:
    vault = run.session.stores.vault
    if not vault.exists(vault.resolve(PROBE_NOTE)):
        return "Nothing was left."
    delete_note(PROBE_NOTE, run.session, Terms(message="commonplace: self-probe ends"))
    return "Deleted what an earlier probe left."


def _rehearse(run: JobRun) -> str:
    vault = require_history(run.session.stores.vault)
    vault.rehearse(vault.resolve(PROBE_NOTE), wait=run.session.stores.lock_wait)
    return "A write was rehearsed, and nothing is left of it."


def _search(run: JobRun) -> str:
    for mode in _modes(run):
        _hits(_SENSE, mode, run)
    return f"Search answers by {' and by '.join(_modes(run))}."


def _probe(run: JobRun) -> str:
    """Write a note with words that nobody knows, find it by them and by its sense, and delete it in any case."""
    nonce, sentence = secrets.token_hex(8), _SENTENCE.format(secrets.token_hex(8), secrets.token_hex(8))
    terms = Terms(message="commonplace: self-probe begins")
    write_note(PROBE_NOTE, _TEXT.format(nonce, sentence).encode(), run.session, terms)
    try:
        for mode in _modes(run):
            if PROBE_NOTE not in _hits(nonce if mode == "words" else _SENSE, mode, run):
                hint = "Run `commonplace doctor`; `commonplace rebuild` makes the index anew."
                raise IndexDamaged(f"a new note was not found by {mode}", path=PROBE_NOTE, hint=hint)
    finally:
        delete_note(PROBE_NOTE, run.session, Terms(message="commonplace: self-probe ends"))
    if PROBE_NOTE in _hits(nonce, "words", run):
        raise IndexDamaged("a deleted note is still found", path=PROBE_NOTE, hint="Run `commonplace rebuild`.")
    return f"A note was written, found by {' and by '.join(_modes(run))}, and deleted."


def _modes(run: JobRun) -> tuple[Mode, ...]:
    """How search can be asked: by sense only with an encoder."""
    return ("words", "sense") if run.session.stores.encoders.current else ("words",)


def _hits(text: str, mode: Mode, run: JobRun) -> tuple[str, ...]:
    """The paths of the best hits."""
    query = SearchQuery(text, mode=mode, k=_BEST, min_score=0.0, explain_empty=False)
    stores = replace(run.session.stores, waits_for_encoder=True)
    return tuple(hit.path for hit in search(query, stores, audience="person").hits)


_ACTIONS: Final[Mapping[str, Callable[[JobRun], str]]] = {
    "delete": _delete,
    "rehearse": _rehearse,
    "search": _search,
    "probe": _probe,
}

JOB: Final = Job(
    name="probe",
    about="Tests that memory writes, finds and deletes",
    schedule="15 4 * * *",
    plan=plan,
    apply=apply,
    seconds=120,
)
