"""Doctor: check every part in turn; each finding says what is wrong and how to fix it."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from commonplace.errors import CommonplaceError, NotFound, ProviderFailed, Refused, VaultUnavailable
from commonplace.facts.entry_format import FUTURE
from commonplace.facts.lint import lint_facts
from commonplace.flows.calendars import calendar_statuses
from commonplace.flows.encode import is_catching_up
from commonplace.flows.ingest.documents import VAULT
from commonplace.flows.ingest.index_notes import future_entries
from commonplace.flows.ingest.sync import count_stale, stale_notes
from commonplace.flows.learn.model_calls import pause_text, spending_text
from commonplace.flows.learn.queue import learning_status
from commonplace.flows.memory.endings import old_endings
from commonplace.flows.memory.review import waiting_count, waiting_text
from commonplace.flows.notes.proposals import proposal_count
from commonplace.flows.notes.write import require_history
from commonplace.flows.stores import ModelRoute, Session, Stores
from commonplace.index.base import Counts
from commonplace.llm.options import TASKS, Task
from commonplace.model import Actor, Problem, Stat
from commonplace.model.diagnostics import Finding
from commonplace.model.layout import MEMORY, wordless_path
from commonplace.model.text import counted
from commonplace.sources.conversations import CHAT, THREAD_TYPES
from commonplace.vault.base import Capability

Check = Callable[[Stores], Iterator[Finding]]
_BY_HAND: Final = "Open the note at that line and correct it; Commonplace does not repair notes silently."
_BY_ITSELF: Final = "Run `commonplace lint --fix`, which writes a time that can be true."


def examine(stores: Stores) -> tuple[Finding, ...]:
    """Check every part; one that cannot be checked is a finding, not the end."""
    checks: tuple[Check, ...] = (_vault, _git, _history, _encoder, _vectors, _models, _index, _facts)
    checks += (_review, _learning, _jobs, _calendars)
    return tuple(finding for check in checks for finding in _run(check, stores))


def _run(check: Check, stores: Stores) -> Iterator[Finding]:
    try:
        yield from check(stores)
    except CommonplaceError as error:
        yield Finding(check.__name__.strip("_"), ok=False, said=error.message, remedy=error.hint or "", path=error.path)


def _vault(stores: Stores) -> Iterator[Finding]:
    listing = stores.vault.list(skip=stores.unindexed)
    yield Finding("vault", ok=True, said=f"{counted(len(listing.files), 'file')}, backend {stores.vault.name}")
    for problem in listing.problems:
        yield _of(problem, remedy="Rename, remove or ignore it (vault.ignore_globs).")


def _git(stores: Stores) -> Iterator[Finding]:
    if Capability.HISTORY not in stores.vault.capabilities:
        remedy = "If you want one: `commonplace settings set vault.backend obsidian-vault`, then `commonplace init`."
        yield Finding("git", ok=False, said="the vault has no history: nothing can be undone", remedy=remedy)
        return
    vault = require_history(stores.vault)
    part = "storage" if Capability.ERASABLE in vault.capabilities else "git"
    vault.rehearse(vault.resolve(f"{MEMORY}/rehearsal-{os.urandom(8).hex()}.md"), wait=stores.lock_wait)
    yield Finding(part, ok=True, said="ready to commit: a note was written and taken back on trial")
    for lost in vault.lost_versions():
        said = "a git command dropped a version of this note by accident, and it was changed since"
        remedy = f"Run `{lost.command}` in the vault to see it."
        yield Finding("git", ok=False, said=said, remedy=remedy, path=lost.path)


def _history(stores: Stores) -> Iterator[Finding]:
    """The last change and the number of conversations; then everything that was lost or restored lately."""
    stores.history.check()
    newest = stores.history.entries(limit=1)
    changed = f"last change {newest[0].when.isoformat()}" if newest else "no change yet"
    kept = sum(each.kind == CHAT for each in stores.history.thread_traits().values())
    yield Finding("history", ok=True, said=f"{changed}, {counted(kept, 'conversation')}")
    for loss in stores.history.losses(now=stores.clock()):
        said = f"on {loss.at.date().isoformat()}: {loss.said}"
        yield Finding("history", ok=loss.restored, said=said, remedy=loss.remedy)
    for erasure in stores.history.unfinished_erasures():
        said = f"an erasure of {erasure.begun.date().isoformat()} was cut short: its words may be left in places"
        remedy = "Mend what else is wrong here; the next command finishes the erasure."
        yield Finding("history", ok=False, said=said, remedy=remedy, path=wordless_path(erasure.path))


def _encoder(stores: Stores) -> Iterator[Finding]:
    encoder = stores.encoders.current
    if encoder is None:
        wanted = stores.encoders.is_wanted
        remedy = "Run `commonplace model install`." if wanted else ""
        said = f"search by meaning is off: {stores.encoders.missing}"
        yield Finding("encoder", ok=not wanted, said=said, remedy=remedy)
        return
    encoder.encode(["a word"])
    yield Finding("encoder", ok=True, said=encoder.version)


def _vectors(stores: Stores) -> Iterator[Finding]:
    stores.cache.check()
    yield Finding("vectors", ok=True, said="cached vectors can be reused")


def _models(stores: Stores) -> Iterator[Finding]:
    """Whether the language model of each task answers, which costs nothing; what was spent today; where text goes."""
    routes = {task: route for task in TASKS if (route := stores.models.route(task))}
    if not routes:
        yield Finding("models", ok=True, said="no language model is set: no text is sent to one")
        return
    session = Session(stores, Actor(), stores.clock)
    for tasks, route in _shared_routes(routes):
        yield from _model_findings(tasks, route, stores)
    yield Finding("models", ok=True, said=spending_text(session))


def _shared_routes(routes: Mapping[Task, ModelRoute]) -> Iterator[tuple[str, ModelRoute]]:
    """Each model once, with the tasks that it has."""
    for identity in dict.fromkeys(route.identity for route in routes.values()):
        tasks = [task for task, route in routes.items() if route.identity == identity]
        yield " and ".join(tasks), routes[tasks[0]]


def _model_findings(tasks: str, route: ModelRoute, stores: Stores) -> Iterator[Finding]:
    if route.model is None:
        yield Finding("models", ok=False, said=f"{tasks}: {route.missing}", remedy="Correct the settings `llm`.")
        return
    if paused := pause_text(stores.history.model_state(route.identity), stores.clock()):
        remedy = "Correct what it says; `commonplace learn --retry` asks it again at once."
        yield Finding("models", ok=False, said=f"{tasks}: {route.model.name} is {paused}", remedy=remedy)
    try:
        said = f"{tasks}: {route.model.check()}"
    except ProviderFailed as failure:
        yield Finding("models", ok=False, said=f"{tasks}: {failure.message}", remedy=failure.hint or "")
        return
    if route.model.is_remote and not (route.price_in and route.price_out):
        said += "; no prices are set, so that only llm.daily_tokens limits it"
    where = "conversations and entries are sent to it" if route.model.is_remote else "on this machine"
    yield Finding("models", ok=True, said=f"{said} ({where})")


def _index(stores: Stores) -> Iterator[Finding]:
    with stores.index.reader() as reading:
        counts, problems = reading.counts(), reading.problems()
    yield from _state(counts, stores)
    if damaged := stores.index.damaged_files():
        said = f"{counted(len(damaged), 'damaged file')}, searches take longer until mended: {', '.join(damaged)}"
        yield Finding("index", ok=False, said=said, remedy="Run `commonplace sync`, which writes them again.")
    for problem in problems:
        yield _of(problem, remedy=_BY_ITSELF if problem.code == FUTURE else _BY_HAND)
    if late := future_entries(stores):
        said = f"was indexed while the clock was ahead ({len(late)} in all)"
        yield Finding("index", ok=False, said=said, remedy="Run `commonplace sync`.", path=late[0])
    indexed = [item for each in THREAD_TYPES for item in stores.index.stamps(each).items()]
    lost = stores.conversations.lost(id_ for id_, stamp in indexed if not stamp.deleted)
    if lost:
        said = f"{counted(len(lost), 'conversation')} in the index, but not in the history: search has the last copy"
        remedy = "Put a copy of the data folder's `conversations` back; `commonplace rebuild` would drop what is left."
        yield Finding("history", ok=False, said=said, remedy=remedy)


def _facts(stores: Stores) -> Iterator[Finding]:
    with stores.index.reader() as reading:
        contests, twins = reading.claim_conflicts(), reading.duplicate_ids()
    if not (contests or twins):
        yield Finding("facts", ok=True, said="no conflicting claims")
        return
    for problem in lint_facts((), twins=twins, contests=contests):
        yield _of(problem, remedy="Evolve, end or forget one of the two; `commonplace lint` lists all.")


def _review(stores: Stores) -> Iterator[Finding]:
    """How many memories and proposals wait for the person, and how many endings an old rule made; that is no fault."""
    session = Session(stores, Actor(), stores.clock)
    said = waiting_text(waiting_count(session), proposals=proposal_count(stores)) or "nothing waits for your review"
    yield Finding("review", ok=True, said=said)
    if ended := len(old_endings(session)):
        what = "1 memory was" if ended == 1 else f"{ended:,} memories were"
        said = f"{what} ended by a rule that is gone: `commonplace review --ended` can bring each back"
        yield Finding("review", ok=True, said=said)


def _learning(stores: Stores) -> Iterator[Finding]:
    """How many conversations and marked notes are still to be read; each that is parked is a fault."""
    status = learning_status(Session(stores, Actor(), stores.clock))
    said = f"by {status.extractor}: {counted(status.due, 'source')} to read, {counted(status.read_today, 'part')} today"
    yield Finding("learning", ok=not status.said, said=f"{said}; {status.said}" if status.said else said)
    for each in status.parked:
        said = f"{each.source} could not be read {each.failures} times: {each.reason}"
        yield Finding("learning", ok=False, said=said, remedy="`commonplace learn --retry` tries it again.")


def _jobs(stores: Stores) -> Iterator[Finding]:
    """The last run of the scheduled jobs; each job that is parked is a fault."""
    states, last = stores.history.job_states(), next(iter(stores.history.job_runs(limit=1)), None)
    said = f"last run: {last.job}, {last.outcome}, {last.began}" if last else "no scheduled job has run yet"
    yield Finding("jobs", ok=True, said=said)
    for state in states.values():
        if state.is_parked:
            said = f"the job {state.job} failed {state.failures} times in a row and is parked: {state.reason}"
            yield Finding("jobs", ok=False, said=said, remedy=f"`commonplace jobs run {state.job}` tries it again.")


def _calendars(stores: Stores) -> Iterator[Finding]:
    """Each calendar: when it was last read; one that was not read for long is a fault."""
    for status in calendar_statuses(stores):
        remedy = f"`commonplace calendar sync {status.name}` tries it now." if status.is_late else ""
        yield Finding("calendars", ok=not status.is_late, said=f"{status.name}: {status.said}", remedy=remedy)


def _state(counts: Counts, stores: Stores) -> Iterator[Finding]:
    """Whether the index has everything; notes that cannot be read are told one by one, for no sync can index them."""
    said = f"{counted(counts.documents.get(VAULT, 0), 'note')}, {counted(counts.chunks, 'chunk')}"
    if counts.synced is None:
        yield Finding("index", ok=False, said=f"{said}; never synced", remedy="Run `commonplace sync`.")
        return
    stale = count_stale(stores)
    unreadable = [finding for stat in stale_notes(stores) for finding in _unreadable(stat, stores)] if stale else []
    stale -= len(unreadable)
    if stale and is_catching_up(stores):
        yield Finding("index", ok=True, said=f"{said}; {stale} are being indexed or encoded at the moment")
    elif stale:
        yield Finding("index", ok=False, said=f"{said}; {stale} changed since", remedy="Run `commonplace sync`.")
    else:
        yield Finding("index", ok=True, said=f"{said}, synced {counts.synced}")
    yield from unreadable


def _unreadable(stat: Stat, stores: Stores) -> Iterator[Finding]:
    """Why the note cannot be read, if it cannot."""
    try:
        stores.vault.read(stores.vault.resolve(stat.path))
    except NotFound:
        return
    except (Refused, VaultUnavailable) as error:
        yield Finding("unreadable-file", ok=False, said=error.message, remedy=error.hint or "", path=stat.path)


def _of(problem: Problem, *, remedy: str) -> Finding:
    return Finding(problem.code, ok=False, said=problem.message, remedy=remedy, path=problem.path, line=problem.line)
