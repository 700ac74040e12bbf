"""Asking the model of a task: routing, the day's budget, the breaker and the log, over real HTTP."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.app.models import make_models
from commonplace.errors import ProviderFailed, Refused
from commonplace.events import listen, pass_to
from commonplace.flows.learn.model_calls import FAILURES, ask_model, model_of, prompt_for, retry_models
from commonplace.flows.stores import Session
from commonplace.history.base import ModelCall
from commonplace.history.sqlite.history import SqliteHistory
from commonplace.llm.base import Prompt
from commonplace.llm.options import LlmOptions, Task
from commonplace.memory.learning import Learning
from commonplace.model import Actor
from commonplace.settings.load import load_settings
from tests.llm_server import MODEL, TOKENS_IN, TOKENS_OUT, Answer, Failure, ModelScript, serving_models
from tests.memories import Calendar
from tests.stores import make_stores

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]}
PROMPTS = (Prompt("system", "Judge."), Prompt("user", "PRIVATE words"))
GOOD = Answer({"action": "extend"})
KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[ModelScript]:
    """A server that answers well unless a test queues something else."""
    with serving_models(default=GOOD) as script:
        yield script


@pytest.fixture
def clock() -> Calendar:
    """A clock that stands still."""
    return Calendar()


def session(folder: Path, server: ModelScript, clock: Calendar, **values: object) -> Session:
    """A session whose settings name that server; its history is on disk, as after a restart."""
    stores = make_stores(folder, folder, history=SqliteHistory(folder / "history.db"), clock=clock)
    given = {"provider": "openai", "base_url": server.openai, "model": MODEL, **values}
    options: LlmOptions = load_settings(flags={f"llm.{name}": value for name, value in given.items()}).settings.llm
    return Session(replace(stores, models=make_models(options)), Actor(), clock)


def ask(here: Session, *, task: Task = "consolidate", text: str = "PRIVATE words") -> object:
    """The answer of that task's model."""
    prompts = (PROMPTS[0], Prompt("user", text))
    return ask_model(task, prompts, SCHEMA, here, prompt_version="consolidate.v1").value


def failure(here: Session, **words: str) -> ProviderFailed:
    """The failure of a call."""
    with pytest.raises(ProviderFailed) as caught:
        ask(here, **words)  # type: ignore[arg-type]
    return caught.value


def test_a_call_is_logged_with_what_it_came_to_and_without_its_words(
    tmp_path: Path, server: ModelScript, clock: Calendar
) -> None:
    """Task, model, prompt version, tokens and cost by the prices of the settings; of the text only a hash."""
    here = session(tmp_path, server, clock, price_in=2.0, price_out=10.0)

    assert ask(here) == {"action": "extend"}
    (call,) = here.stores.history.calls(task_type="consolidate")
    assert (call.model_alias, call.version) == (f"{MODEL}@127.0.0.1", "consolidate.v1")
    assert call.tokens == TOKENS_IN + TOKENS_OUT
    assert call.cost == pytest.approx((TOKENS_IN * 2 + TOKENS_OUT * 10) / 1_000_000)
    assert call.duration_ms > 0
    here.stores.history.close()
    assert all(b"PRIVATE" not in file.read_bytes() for file in tmp_path.glob("history.db*"))


def test_events_hold_neither_the_words_nor_the_key(
    tmp_path: Path, server: ModelScript, clock: Calendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an operator reads: the task, the model, the tokens, the reason of a failure."""
    monkeypatch.setenv("MY_KEY", KEY)
    server.turns = [GOOD, Failure(401, {"type": KEY, "message": "PRIVATE"})]
    here, events = session(tmp_path, server, clock, key_env="MY_KEY"), list[tuple[str, object]]()
    listen("debug")
    pass_to(lambda level, event, fields: events.append((event, dict(fields))))
    try:
        ask(here)
        shown = failure(here)
    finally:
        pass_to(None)
        listen("warning")

    assert [event for event, _ in events] == ["model_called", "model_failed", "model_called", "model_paused"]
    text = json.dumps([events, shown.as_dict(), str(here.stores.models)], default=str)
    assert KEY not in text
    assert "PRIVATE" not in text


def test_without_a_model_nothing_is_asked(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """The settings ask for none, or not for this task."""
    off = session(tmp_path, server, clock, provider="none")
    half = session(tmp_path, server, clock, **{"consolidate.provider": "none"})

    assert model_of("consolidate", off) is None
    assert model_of("consolidate", half) is None
    assert "no model is set for consolidate" in failure(off).message
    assert ask(half, task="extract") == {"action": "extend"}
    assert len(server.requests) == 1


@pytest.mark.requirement("V-26")
def test_sensitive_words_go_to_no_other_machine(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """They may go to a model on this one."""
    remote = session(tmp_path, server, clock, base_url="http://192.0.2.1:9/v1")
    local = session(tmp_path, server, clock)

    with pytest.raises(Refused) as caught:
        ask_model("consolidate", PROMPTS, SCHEMA, remote, prompt_version="consolidate.v1", is_sensitive=True)
    assert caught.value.reason == "sensitive"
    assert remote.stores.history.count_calls() == 0
    assert ask_model("consolidate", PROMPTS, SCHEMA, local, prompt_version="consolidate.v1", is_sensitive=True).value


@pytest.mark.parametrize(
    "budget", [{"daily_tokens": 9000}, {"daily_dollars": 0.009, "price_in": 1.0, "price_out": 1.0}]
)
def test_the_budget_stops_before_it_is_exceeded(
    tmp_path: Path, server: ModelScript, clock: Calendar, budget: dict[str, object]
) -> None:
    """A call that could exceed it is not made; the next day there is a new one."""
    server.default = Answer({"action": "extend"}, tokens=(1000, 500))
    here = session(tmp_path, server, clock, **budget)
    while server.requests == [] or here.stores.history.spending(clock()).tokens <= 5000:
        ask(here)
    made = len(server.requests)
    stopped = failure(here)
    spent = here.stores.history.spending(clock())

    assert stopped.reason == "budget"
    assert stopped.retry_after == pytest.approx(15 * 3600)
    assert len(server.requests) == made
    assert spent.tokens <= 9000
    assert spent.cost <= 0.009
    clock.pass_(days=1)
    assert ask(here)


def test_calls_at_once_do_not_exceed_the_budget_together(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """What a call can cost is reserved before it is made, in the history that all processes share."""
    server.default = Answer({"action": "extend"}, tokens=(1000, 2000), delay=0.05)
    sessions = [session(tmp_path, server, clock, daily_tokens=10_000) for _ in range(8)]

    def attempt(here: Session) -> str:
        try:
            ask(here)
        except ProviderFailed as stopped:
            return stopped.reason
        return "answered"

    with ThreadPoolExecutor(8) as pool:
        outcomes = [*pool.map(attempt, sessions)]

    assert set(outcomes) == {"answered", "budget"}
    assert outcomes.count("answered") * 3000 == sessions[0].stores.history.spending(clock()).tokens <= 10_000


def test_a_call_that_may_have_been_billed_stays_reserved(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """The server had the request and never said what it cost; one that was refused costs nothing."""
    server.turns = [Answer({"action": "x"}, delay=2.5), Failure(400), Failure(400), Failure(400)]
    here = session(tmp_path, server, clock, **{"consolidate.timeout_seconds": 1})

    assert failure(here).reason == "unreachable"
    reserved = here.stores.history.spending(clock()).tokens
    assert reserved > 1000
    assert failure(here).reason == "malformed"
    assert here.stores.history.spending(clock()).tokens == reserved


def test_a_model_that_fails_is_left_alone_for_a_while(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """Three failures in a row; then nothing is sent until the pause is over, also after a restart."""
    server.default = Failure(404)
    here = session(tmp_path, server, clock)
    reasons = [failure(here).reason for _ in range(FAILURES)]
    here.stores.history.close()
    again = session(tmp_path, server, clock)
    paused = failure(again)

    assert reasons == ["unreachable"] * FAILURES
    assert (paused.reason, paused.retry_after) == ("paused", 300)
    assert "404" in paused.message
    assert len(server.requests) == FAILURES
    server.default = GOOD
    clock.pass_(minutes=5)
    assert ask(again)
    assert again.stores.history.model_state(_identity(again)).failures == 0


def test_a_model_that_still_fails_is_left_alone_for_longer(
    tmp_path: Path, server: ModelScript, clock: Calendar
) -> None:
    """One call tries; the pause doubles, up to an hour."""
    server.default = Failure(404)
    here = session(tmp_path, server, clock)
    for _ in range(FAILURES):
        failure(here)
    pauses = []
    for _ in range(6):
        paused = failure(here)
        pauses.append(paused.retry_after / 60)
        clock.pass_(seconds=paused.retry_after)
        assert failure(here).reason == "unreachable"

    assert pauses == [5, 10, 20, 40, 60, 60]
    assert len(server.requests) == FAILURES + 6


def test_while_one_call_tries_the_others_wait(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """After a pause a server that is starting is not flooded."""
    server.default = Failure(404)
    here, other = session(tmp_path, server, clock), session(tmp_path, server, clock)
    for _ in range(FAILURES):
        failure(here)
    clock.pass_(minutes=5)
    server.default = Answer({"action": "extend"}, delay=0.5)
    with ThreadPoolExecutor(1) as pool:
        trial = pool.submit(ask, here)
        while len(server.requests) == FAILURES:
            pass
        assert failure(other).reason == "paused"
        assert trial.result()

    assert ask(other)


@pytest.mark.parametrize("turn", [Failure(401), Failure(429, {"code": "insufficient_quota"})])
def test_a_refused_key_or_an_empty_account_disables_the_model(
    tmp_path: Path, server: ModelScript, clock: Calendar, turn: Failure
) -> None:
    """Time does not mend it: other settings do, or a person who says so."""
    server.turns = [turn]
    here = session(tmp_path, server, clock)
    failure(here)
    clock.pass_(days=3)

    assert failure(here).reason == "paused"
    assert ask(session(tmp_path, server, clock, model="another")) == {"action": "extend"}
    assert failure(here).reason == "paused"
    assert retry_models(here) >= 1
    assert ask(here)


def test_a_server_is_left_alone_for_as_long_as_it_asks(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """After the first failure already."""
    server.turns = [Failure(429, headers={"Retry-After": "90"})]
    here = session(tmp_path, server, clock)

    assert failure(here).retry_after == 90
    assert failure(here).reason == "paused"
    assert len(server.requests) == 1
    clock.pass_(seconds=91)
    assert ask(here)


def test_a_text_that_is_too_long_says_nothing_about_the_server(
    tmp_path: Path, server: ModelScript, clock: Calendar
) -> None:
    """However many there are, the next text is asked about."""
    server.turns = [Failure(413)] * (FAILURES + 2)
    here = session(tmp_path, server, clock)

    assert {failure(here).reason for _ in range(FAILURES + 2)} == {"too_long"}
    assert ask(here)


def test_the_prompt_of_a_task_may_be_a_file_of_the_person(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """Named in the settings."""
    (tmp_path / "mine.md").write_text("As I do.")

    here = session(tmp_path, server, clock, **{"consolidate.prompt_file": str(tmp_path / "mine.md")})

    assert prompt_for("consolidate", here).text == "As I do."
    assert prompt_for("extract", here).version.startswith("extract.v")


def test_a_lent_model_has_no_budget_and_is_logged(tmp_path: Path, server: ModelScript, clock: Calendar) -> None:
    """The host pays for its own; nothing else of the settings counts for it."""
    lent = model_of("consolidate", session(tmp_path, server, clock))
    here = session(tmp_path, server, clock, provider="none", daily_tokens=0)
    answer = ask_model("consolidate", PROMPTS, SCHEMA, here, prompt_version="consolidate.v1", model=lent)

    assert answer.value == {"action": "extend"}
    assert here.stores.history.calls()[0] == _logged(here)
    assert here.stores.history.spending(clock()).tokens == 0


def _identity(here: Session) -> str:
    route = here.stores.models.route("consolidate")
    assert route
    return route.identity


def _logged(here: Session) -> ModelCall:
    (call,) = here.stores.history.calls(since=here.clock() - timedelta(minutes=1))
    assert call.tokens == 0
    return call


def test_the_spending_report_has_each_task_and_what_is_left_today(
    tmp_path: Path, server: ModelScript, clock: Calendar
) -> None:
    """By day and task; the budget is that of one UTC day."""
    here = session(tmp_path, server, clock, daily_tokens=100_000)
    ask(here)
    clock.pass_(days=1)
    ask(here)
    ask(here, task="extract")
    report, one = Learning(here).spending(days=30), TOKENS_IN + TOKENS_OUT

    assert [(row.day, row.task, row.calls, row.tokens) for row in report.rows] == [
        ("2026-03-01", "consolidate", 1, one),
        ("2026-03-02", "consolidate", 1, one),
        ("2026-03-02", "extract", 1, one),
    ]
    assert (report.since, report.total.calls, report.left.tokens) == ("2026-02-01", 3, 100_000 - 2 * one)
    assert Learning(here).spending(days=1).total.calls == 2
