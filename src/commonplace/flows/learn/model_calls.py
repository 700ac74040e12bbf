"""A task and its prompts -> the model that the settings name for it -> its answer; every call is logged.

route    the settings say which model answers a task, and how long its answers may be
breaker  a model that failed three times in a row is left alone for a while; one that refuses its key or wants
         money is not asked again until the settings change, or a person says so
budget   the most that the call can cost is reserved in the history; beyond the day's budget nothing is sent
log      tokens, cost, prompt version and a hash of the text; never the text itself
"""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from commonplace.errors import ProviderFailed, Refused
from commonplace.events import emit
from commonplace.flows.encode import text_hash
from commonplace.flows.stores import ModelRoute, Session
from commonplace.history.base import ModelCall, ModelState, Spending, TaskSpending, day_bounds
from commonplace.llm.base import LanguageModel, ModelAnswer, Prompt, estimate_tokens
from commonplace.llm.options import MOST_TOKENS, Task
from commonplace.llm.prompts import PromptText, load_prompt

FAILURES: Final = 3
"""Failures in a row after which a model is left alone; one or two may be chance."""
FIRST_PAUSE: Final = timedelta(minutes=5)
"""How long then; twice as long after each further failure. A restart of a local server takes a minute or two."""
LONGEST_PAUSE: Final = timedelta(hours=1)
_DISABLING: Final = frozenset({"auth", "quota"})
_MILLION: Final = 1_000_000
_SALT: Final = secrets.token_hex(16)
"""Of this process alone: calls about the same text are alike in the log, and a text that was erased cannot be guessed
from it."""


def model_of(task: Task, session: Session) -> LanguageModel | None:
    """The model of a task; None if the settings ask for none. Raises ProviderFailed if it is not set up completely."""
    route = session.stores.models.route(task)
    return _usable(route, task) if route else None


def prompt_for(task: Task, session: Session) -> PromptText:
    """The instructions for a task: ours, or those in the file that the settings name. Raises UsageError."""
    route = session.stores.models.route(task)
    return load_prompt(task, file=route.prompt_file if route else None)


def ask_model(
    task: Task,
    prompts: Sequence[Prompt],
    schema: Mapping[str, Any],
    session: Session,
    *,
    prompt_version: str,
    is_sensitive: bool = False,
    model: LanguageModel | None = None,
) -> ModelAnswer:
    """What the model of this task answers; another `model` is one that somebody else pays for, without our limits.

    Raises ProviderFailed, also if there is no model, if it is left alone after failures (`paused`) or if the call could
    exceed the day's budget (`budget`): then nothing was sent. Refused if sensitive words would leave this machine.
    """
    route = _lent_route(model, task) if model else session.stores.models.route(task)
    if route is None:
        raise ProviderFailed(f"no model is set for {task}", hint="Set llm.provider and llm.model in your settings.")
    model = _usable(route, task)
    if is_sensitive and model.is_remote:
        hint = "Sensitive text goes to models on this machine alone."
        raise Refused(f"sensitive text is not sent to {model.name}", reason="sensitive", hint=hint)
    call = ModelCall(
        at=session.stores.clock(),
        task_type=task,
        model_alias=model.name,
        input_hash=text_hash("\n".join((_SALT, *(prompt.text for prompt in prompts)))),
        version=prompt_version,
        duration_ms=0.0,
    )
    if not route.identity:
        answer = model.ask(prompts, schema, most_tokens=route.most_tokens)
        session.stores.history.log_calls([call])
        return answer
    return _ask_within_limits(prompts, schema, session, call=call, route=route, model=model)


def retry_models(session: Session) -> int:
    """Ask every model again, also those that were left alone after failures; returns how many had failed."""
    return session.stores.history.forget_model_states()


def _lent_route(model: LanguageModel, task: Task) -> ModelRoute:
    return ModelRoute(model=model, missing="", identity="", most_tokens=MOST_TOKENS[task], price_in=0.0, price_out=0.0)


def _usable(route: ModelRoute, task: Task) -> LanguageModel:
    if route.model is None:
        hint = "Correct the settings `llm`; `commonplace doctor` checks them."
        raise ProviderFailed(f"the model for {task} cannot be asked: {route.missing}", reason="auth", hint=hint)
    return route.model


def _ask_within_limits(
    prompts: Sequence[Prompt],
    schema: Mapping[str, Any],
    session: Session,
    *,
    call: ModelCall,
    route: ModelRoute,
    model: LanguageModel,
) -> ModelAnswer:
    """The answer, with breaker, budget and log. Raises ProviderFailed."""
    stores = session.stores
    state = _admit(route, model, session)
    most_in, most_out = _most_tokens(prompts, schema, route)
    call = replace(call, tokens=most_in + most_out, cost=_cost(route, most_in, most_out))
    number = _reserve(call, session)
    start = time.perf_counter()
    try:
        answer = model.ask(prompts, schema, most_tokens=route.most_tokens)
    except ProviderFailed as failure:
        emit("model_failed", task=call.task_type, model=model.name, reason=failure.reason)
        tokens = (failure.tokens_in, failure.tokens_out)
        if failure.may_be_billed:  # what was reserved stays counted
            _emit_called(call, tokens=tokens, cost=call.cost, start=start, answered=False)
        else:
            _settle(number, call, session, tokens=tokens, route=route, start=start, answered=False)
        _note_failure(state, failure, session)
        raise
    _settle(number, call, session, tokens=(answer.tokens_in, answer.tokens_out), route=route, start=start)
    if state.failures:
        stores.history.save_model_state(ModelState(route.identity), now=stores.clock())
    if answer.problems:
        emit("model_answer_cut", level="warning", task=call.task_type, model=model.name, parts=len(answer.problems))
    return answer


def pause_text(state: ModelState, now: datetime) -> str:
    """Why and how long a model is not asked, in words for people; empty if it is asked."""
    if state.reason in _DISABLING:
        return f"not asked until the settings change: {state.said}"
    if state.until and now < state.until:
        return f"not asked until {state.until:%H:%M} UTC, after {state.failures} failures: {state.said}"
    return ""


def _admit(route: ModelRoute, model: LanguageModel, session: Session) -> ModelState:
    """The state of the model if it may be asked. Raises ProviderFailed (`paused`).

    After a pause one call tries; meanwhile the pause goes on for all others.
    """
    now, history = session.stores.clock(), session.stores.history
    state = history.model_state(route.identity)
    if said := pause_text(state, now):
        hint = "`commonplace learn --retry` asks it again at once."
        failure = ProviderFailed(f"the model {model.name} is {said}", reason="paused", hint=hint)
        failure.retry_after = (state.until - now).total_seconds() if state.until else 0.0
        raise failure
    if state.failures >= FAILURES:
        history.save_model_state(replace(state, until=now + FIRST_PAUSE), now=now)
    return state


def _note_failure(state: ModelState, failure: ProviderFailed, session: Session) -> None:
    """Count the failure, and pause or disable the model if it is time. A text that is too long says nothing of it."""
    if failure.reason == "too_long":
        return
    now, count = session.stores.clock(), state.failures + 1
    pause = min(FIRST_PAUSE * 2 ** min(count - FAILURES, 10), LONGEST_PAUSE) if count >= FAILURES else timedelta(0)
    until = None if failure.reason in _DISABLING else now + max(pause, timedelta(seconds=failure.retry_after))
    noted = replace(state, failures=count, reason=failure.reason, said=failure.message, until=until)
    session.stores.history.save_model_state(noted, now=now)
    if said := pause_text(noted, now):
        emit("model_paused", level="warning", said=said)


def _most_tokens(prompts: Sequence[Prompt], schema: Mapping[str, Any], route: ModelRoute) -> tuple[int, int]:
    """The most tokens that a call can read and write: it is asked twice if its first answer does not fit."""
    once = sum(estimate_tokens(prompt.text) for prompt in prompts) + estimate_tokens(json.dumps(schema))
    return 2 * once + route.most_tokens, 2 * route.most_tokens


def _cost(route: ModelRoute, tokens_in: int, tokens_out: int) -> float:
    return (tokens_in * route.price_in + tokens_out * route.price_out) / _MILLION


def _reserve(call: ModelCall, session: Session) -> int:
    """The number of the call in the log. Raises ProviderFailed (`budget`)."""
    number = session.stores.history.reserve_call(call, budget=_budget(session))
    if number is not None:
        _charge_person(number, call, session)
        return number
    failure = ProviderFailed(
        f"the next call may cost {call.tokens:,} tokens and ${call.cost:.4f}; {spending_text(session)}",
        reason="budget",
        hint="Wait until midnight UTC, or raise llm.daily_dollars or llm.daily_tokens.",
    )
    failure.retry_after = (day_bounds(call.at)[1] - call.at).total_seconds()
    raise failure


def _charge_person(number: int, call: ModelCall, session: Session) -> None:
    """Reserve the call in the budget of its person, else of the vault's owner. Raises ProviderFailed (`budget`)."""
    allowance = session.stores.models.allowance
    reason = ""
    if allowance is not None:
        reason = allowance.reserve(session.actor.person, tokens=call.tokens, cost=call.cost, at=call.at)
    if not reason:
        return
    session.stores.history.settle_call(number, tokens=0, cost=0.0, duration_ms=0.0)
    failure = ProviderFailed(
        f"the next call may cost {call.tokens:,} tokens and ${call.cost:.4f}; {reason}",
        reason="budget",
        hint="Wait until midnight UTC, or ask whoever runs the server: `commonplace person set ID --daily-dollars X`.",
    )
    failure.retry_after = (day_bounds(call.at)[1] - call.at).total_seconds()
    raise failure


def _budget(session: Session) -> Spending:
    return Spending(tokens=session.stores.models.daily_tokens, cost=session.stores.models.daily_dollars)


@dataclass(frozen=True, slots=True)
class SpendingReport:
    """What language models cost: a row for each UTC day and task, the total, and the budget of one day.

    `left` is what is left of the budget for today; its `calls` is 0, as calls are not limited.
    """

    since: str
    rows: tuple[TaskSpending, ...]
    total: Spending
    today: Spending
    budget: Spending
    left: Spending


def spending_report(session: Session, *, days: int) -> SpendingReport:
    """What the calls of the last `days` UTC days came to, today included. Raises VaultUnavailable."""
    now, history, budget = session.stores.clock(), session.stores.history, _budget(session)
    since = now - timedelta(days=days - 1)
    rows, today = history.spending_by_task(since=since), history.spending(now)
    return SpendingReport(
        since=f"{day_bounds(since)[0]:%Y-%m-%d}",
        rows=rows,
        total=Spending(sum(row.calls for row in rows), sum(row.tokens for row in rows), sum(row.cost for row in rows)),
        today=today,
        budget=budget,
        left=Spending(tokens=max(0, budget.tokens - today.tokens), cost=max(0.0, budget.cost - today.cost)),
    )


def spending_text(session: Session) -> str:
    """What was spent today (UTC) of the budget, in words for people."""
    spent, budget = session.stores.history.spending(session.stores.clock()), _budget(session)
    return f"spent today: {spent.tokens:,} of {budget.tokens:,} tokens, ${spent.cost:.4f} of ${budget.cost:.2f}"


def _settle(
    number: int,
    call: ModelCall,
    session: Session,
    *,
    tokens: tuple[int, int],
    route: ModelRoute,
    start: float,
    answered: bool = True,
) -> None:
    tokens_in, tokens_out = tokens
    cost, ms = _cost(route, tokens_in, tokens_out), (time.perf_counter() - start) * 1000
    session.stores.history.settle_call(number, tokens=tokens_in + tokens_out, cost=cost, duration_ms=ms)
    if allowance := session.stores.models.allowance:
        less = tokens_in + tokens_out - call.tokens
        allowance.settle(session.actor.person, tokens=less, cost=cost - call.cost, at=call.at)
    _emit_called(call, tokens=tokens, cost=cost, start=start, answered=answered)


def _emit_called(call: ModelCall, *, tokens: tuple[int, int], cost: float, start: float, answered: bool) -> None:
    """Report a call, once, however it ended."""
    tokens_in, tokens_out = tokens
    emit(
        "model_called",
        level="debug",
        task=call.task_type,
        model=call.model_alias,
        prompt=call.version,
        answered=answered,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=round(cost, 6),
        ms=round((time.perf_counter() - start) * 1000),
    )
