"""What is still to be learned -> read one after another, within limits -> results; failures wait, and then are parked.

The queue is not a list of its own: due is every conversation with messages that were not read and every marked note
whose text was not, so that nothing can be lost from it. The history keeps what was read, and what failed and when.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from commonplace.errors import (
    CommonplaceError,
    Conflict,
    IndexDamaged,
    NotFound,
    ProviderFailed,
    Refused,
    VaultUnavailable,
)
from commonplace.events import emit
from commonplace.flows.learn.learn import learn_conversation
from commonplace.flows.learn.marked_notes import due_notes, learn_note
from commonplace.flows.learn.model_calls import model_of, retry_models
from commonplace.flows.learn.settle import settle_pending
from commonplace.flows.stores import Session
from commonplace.model.fact import RULES
from commonplace.model.learning import LearningRun, LearningState, LearningStatus, LearnResult
from commonplace.model.moment import moment_text
from commonplace.model.progress import Progress, ignore_progress
from commonplace.sources.conversations import ISOLATED

FAILURES: Final = 3
"""Failures in a row after which a conversation or a note is parked."""
FIRST_WAIT: Final = timedelta(minutes=5)
"""Until the second try; three times as long until each further one."""
_LONGEST_WAIT: Final = timedelta(hours=12)
_STOPPING: Final = frozenset({"budget", "paused", "auth", "quota"})  # no other source would fare better now
_TRANSIENT: Final = frozenset({"unreachable", "busy"})  # the source is not to blame, so that it is never parked
_FUTURE: Final = timedelta(days=365)  # how far ahead the clock of another program may be
_BUSY: Final = "another process is learning at the moment"


def run_learning(
    session: Session,
    *,
    limit: int | None = None,
    waits: bool = True,
    dry_run: bool = False,
    stops: Callable[[], bool] = lambda: False,
    progress: Progress = ignore_progress,
) -> LearningRun:
    """Learn from what is due, the oldest first, at most `limit` of them; without `waits`, from open ones as well.

    A model that does not answer ends the run; a source that cannot be read is put off, and the others are read. The run
    also ends before the next source once `stops` is True. Raises VaultUnavailable and IndexDamaged.
    """
    with session.stores.learn_lock() as is_ours:
        if not is_ours:
            return LearningRun(said=_BUSY)
        if not dry_run:
            settle_leftovers(session)
        due = due_sources(session, waits=waits)
        chosen, results, said = due[:limit], list[LearnResult](), ""
        for done, source in enumerate(chosen):
            if said or stops():
                break
            progress("sources", done, len(chosen))
            result, said = _try(source, session, dry_run=dry_run)
            results += [result] if result else []
        progress("sources", len(chosen), len(chosen))
        going_on = len(_due_conversations(session, waits=False)) if waits else 0
        left = len(due) - len(results)
        return LearningRun(results=tuple(results), left=left, said=said, open=max(0, going_on - left))


def run_daily(session: Session, *, stops: Callable[[], bool] = lambda: False) -> LearningRun:
    """Learn as the daemon does: within the limits of the settings for one run and for one day."""
    options = session.stores.learn
    left = options.max_per_day - _today(session)
    if not options.enabled or left <= 0:
        return LearningRun(
            said="learning is switched off" if not options.enabled else "the limit of the day is reached"
        )
    return run_learning(session, limit=min(options.max_per_run, left), stops=stops)


def due_sources(session: Session, *, waits: bool = True) -> tuple[str, ...]:
    """The conversations and marked notes that can be read now, conversations first, the oldest first."""
    return (*_due_conversations(session, waits=waits), *due_notes(session))


def _due_conversations(session: Session, *, waits: bool) -> tuple[str, ...]:
    history, now = session.stores.history, session.clock()
    silence = timedelta(minutes=session.stores.learn.silent_minutes)
    ids = history.due_conversations(now=now, silent_since=now - silence if waits else now + _FUTURE)
    traits, source = history.thread_traits(ids), session.stores.conversations
    return tuple(id_ for id_ in ids if id_ in traits and source.type_of(traits[id_]) != ISOLATED)


def settle_leftovers(session: Session) -> None:
    """Save what a killed process has extracted and not saved; what cannot be saved is put off like any failure."""
    history, now = session.stores.history, session.now
    sources = dict.fromkeys(item.source for item, _ in history.pending_items())
    states = history.learning_states(sources)
    for source in sources:
        state = states.get(source, LearningState(source=source))
        if state.is_parked or state.retry_at > now:
            continue
        try:
            settle_pending(session, source=source)
        except Conflict as error:
            _put_off(source, error, session)


def retry_learning(session: Session) -> int:
    """Try again at once what failed or was parked, and ask every model again; returns how many sources that are."""
    history = session.stores.history
    failed = [each for each in history.learning_states().values() if each.failures or each.is_parked]
    for state in failed:
        history.save_learning_state(replace(state, failures=0, reason="", retry_at="", is_parked=False))
    retry_models(session)
    return len(failed)


def learning_status(session: Session) -> LearningStatus:
    """What is due, what failed, what is parked, and what was learned today. Raises IndexDamaged."""
    history = session.stores.history
    failed = [each for each in history.learning_states().values() if each.failures]
    outcomes = Counter(each.outcome for each in history.learned_items(since=_midnight(session.clock())))
    extractor, said = _extractor(session)
    due = len(due_sources(session))
    with session.stores.index.reader() as reader:
        marked = len(reader.memory_sources())
    return LearningStatus(
        is_enabled=session.stores.learn.enabled,
        extractor=extractor,
        said=said,
        due=due,
        open=len(_due_conversations(session, waits=False)),
        marked_notes=marked,
        pending=len(history.pending_items()),
        read_today=_today(session),
        today=dict(sorted(outcomes.items())),
        waiting=tuple(each for each in failed if not each.is_parked),
        parked=tuple(each for each in failed if each.is_parked),
    )


def _extractor(session: Session) -> tuple[str, str]:
    """The name of the extractor, and why its model cannot be used; empty if it can."""
    try:
        model = model_of("extract", session)
    except ProviderFailed as error:
        return "a model", str(error)
    return (model.name, "") if model else (RULES, "")


def _try(source: str, session: Session, *, dry_run: bool) -> tuple[LearnResult | None, str]:
    """What was learned from the source, None if it failed; and why the run must end, empty if it need not."""
    try:
        if source.endswith(".md"):
            return learn_note(source, session, dry_run=dry_run), ""
        return learn_conversation(source, session, dry_run=dry_run), ""
    except ProviderFailed as error:
        if error.reason not in _STOPPING:
            _put_off(source, error, session)
        return None, str(error) if error.reason in _STOPPING | _TRANSIENT else ""
    except (Refused, NotFound) as error:  # switched off or erased since it was listed
        emit("learning_skipped", source=source, said=error.message)
        return None, ""
    except (VaultUnavailable, IndexDamaged):
        raise  # the source is not to blame
    except Exception as error:  # noqa: BLE001 (a job: whatever it is, the other sources are read)
        emit("learning_broke", level="warning", source=source, exc_info=error)
        _put_off(source, error, session)
        return None, ""


def _put_off(source: str, error: Exception, session: Session) -> None:
    """Note the failure: the source is tried again later, and parked after too many failures of its own."""
    reason = error.reason if isinstance(error, CommonplaceError) else "unexpected"
    said = error.message if isinstance(error, CommonplaceError) else f"unexpected {type(error).__name__}"
    history, now = session.stores.history, session.clock()
    state = history.learning_states([source]).get(source, LearningState(source=source))
    failures = state.failures + 1
    is_parked = failures >= FAILURES and reason not in _TRANSIENT
    wait = min(_LONGEST_WAIT, FIRST_WAIT * 3 ** min(failures - 1, 8))
    history.save_learning_state(
        replace(
            state,
            failures=failures,
            reason=said,
            retry_at="" if is_parked else moment_text(now + wait),
            is_parked=is_parked,
        )
    )
    emit("learning_failed", level="warning", source=source, reason=reason, failures=failures, parked=is_parked)


def _today(session: Session) -> int:
    return len(session.stores.history.learned_batches(since=_midnight(session.clock())))


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
