"""What a person is told once: a job that was parked, a model that is away; and once more when it is over.

A notice stands in the history from the first run that finds the trouble until the first that finds it gone: `status`,
`doctor` and `jobs list` show it, the daemon's log has it once. That it is over stands for a day.
"""

from datetime import timedelta
from typing import Final

from commonplace.events import emit
from commonplace.flows.learn.model_calls import pause_text
from commonplace.flows.stores import ModelRoute, Session, Stores
from commonplace.llm.options import TASKS
from commonplace.model.moment import moment_text
from commonplace.model.upkeep import JobNotice

OVER: Final = "over:"
"""How the key of a notice begins that says that something is over."""
_TELL_OVER: Final = timedelta(days=1)


def tell(key: str, said: str, stores: Stores) -> None:
    """Tell the person, unless they were told already."""
    now = moment_text(stores.clock())
    stores.history.clear_notice(f"{OVER}{key}")
    if stores.history.raise_notice(JobNotice(key=key, said=said, at=now)):
        emit("upkeep_notice", level="warning", key=key, said=said)


def tell_over(key: str, said: str, stores: Stores) -> None:
    """Tell the person that it is over, if they were told of it."""
    now = moment_text(stores.clock())
    if stores.history.clear_notice(key):
        stores.history.raise_notice(JobNotice(key=f"{OVER}{key}", said=said, at=now))
        emit("upkeep_notice_over", key=key, said=said)


def tell_about_models(session: Session, *, is_needed: bool) -> None:
    """Tell the person once that a model is away, and once that it answers again; `is_needed` if a job waits for it.

    A model counts as away when it is not asked any more, after three failures, or after one if a job waits for it.
    """
    stores = session.stores
    _drop_old(stores)
    routes = [route for task in TASKS if (route := stores.models.route(task))]
    for route in {each.identity: each for each in routes}.values():
        _tell_about_model(route, stores, is_needed=is_needed)


def _tell_about_model(route: ModelRoute, stores: Stores, *, is_needed: bool) -> None:
    state = stores.history.model_state(route.identity)
    name = f" {route.model.name}" if route.model else ""
    key = f"model:{name.strip() or route.identity}"
    if pause_text(state, stores.clock()) or (is_needed and state.failures):
        tell(key, f"The model{name} is away, and jobs do without it or wait: {state.said}", stores)
    elif not state.failures:
        tell_over(key, f"The model{name} answers again.", stores)


def _drop_old(stores: Stores) -> None:
    """Remove what was over a day ago."""
    oldest = moment_text(stores.clock() - _TELL_OVER)
    for notice in stores.history.job_notices():
        if notice.key.startswith(OVER) and notice.at <= oldest:
            stores.history.clear_notice(notice.key)
