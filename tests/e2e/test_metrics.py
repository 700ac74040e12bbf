"""Metrics of a real daemon after real use: everything on the dashboard is there, and everything there is on it."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.daemons import Daemon, running
from tests.llm_server import Answer, serving_models
from tests.polling import wait_for, wait_for_one_day

DASHBOARD: Final = Path(__file__).parents[2] / "docs/grafana/commonplace.json"
SAMPLE: Final = re.compile(
    r'(?P<name>commonplace_[a-z_]+)(?:\{(?P<labels>[a-z]+="(?:[^"\\\n]|\\["\\n])*"'
    r'(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*)\})? (?P<value>-?[0-9.e+-]+|\+Inf)'
)


class Scrape:
    """One reading of /metrics, parsed strictly."""

    def __init__(self, text: str) -> None:
        self.kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        self.samples: dict[tuple[str, str], float] = {}
        for line in lines:
            match = SAMPLE.fullmatch(line)
            assert match, line
            self.samples[match["name"], match["labels"] or ""] = float(match["value"])

    def value(self, name: str, labels: str = "") -> float:
        """The value of a sample; 0 if there is none."""
        return self.samples.get((f"commonplace_{name}", labels), 0.0)

    @property
    def with_samples(self) -> set[str]:
        """The metrics that have a sample."""
        names = {name for name, _ in self.samples}
        parts = {name: {name, f"{name}_bucket", f"{name}_sum", f"{name}_count"} for name in self.kinds}
        return {name for name, written in parts.items() if written & names}


def scraped(daemon: Daemon, token: str) -> Scrape:
    """The metrics, read with a token that may only read."""
    reply = daemon.call("GET", "/metrics", token=token)
    assert (reply.status, reply.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    return Scrape(reply.body.decode())


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Scrape, str]]:
    """A daemon after a bit of everything, and its metrics."""
    home = tmp_path_factory.mktemp("metrics")
    draft = Answer({"summary": "A quiet day.", "open_questions": []})
    with serving_models(Answer(text="no JSON"), Answer(text="nor this"), default=draft) as server:
        models: dict[str, Any] = {
            "COMMONPLACE_LLM__DRAFT__PROVIDER": "openai",
            "COMMONPLACE_LLM__DRAFT__BASE_URL": server.openai,
            "COMMONPLACE_LLM__DRAFT__MODEL": "scripted-1",
            "COMMONPLACE_LLM__DRAFT__PRICE_IN": "2.0",
            "COMMONPLACE_LLM__DRAFT__PRICE_OUT": "8.0",
        }
        with running(home, **models) as daemon:
            daemon.wait_synced()
            reader = daemon.token("prometheus", scopes=("read",))
            wait_for_one_day()
            use(daemon)
            wait_for(lambda: scraped(daemon, reader).value("job_runs_total", 'job="probe",outcome="done"'))
            wait_for(lambda: scraped(daemon, reader).value("watch_events_total", 'kind="saved"'))
            yield daemon, scraped(daemon, reader), reader


def use(daemon: Daemon) -> None:
    """Search, build contexts, write, run a job, run templates with a model that fails once."""
    broken = daemon.home / "Notes/Templates/commonplace/weekly_review.md"
    broken.parent.mkdir(parents=True)
    broken.write_text("{% for %}")

    def post(path: str, **body: Any) -> Any:
        return daemon.call("POST", f"/api/v1/{path}", body=body)

    assert post("entries", text="Prefers rye bread.", kind="preference").status == 200
    assert post("entries", text="Prefers tea without sugar.", kind="preference").status == 200
    assert daemon.call("GET", "/api/v1/search?q=greenhouse").json["results"]
    assert daemon.call("GET", "/api/v1/search?q=greenhouse&sources=vault").status == 200
    assert post("context", prompt="Which bread do I prefer?").status == 200
    assert post("context", prompt="ok", profile=False).status == 200
    hook = {"session_id": "s", "prompt": "Which bread do I prefer?", "within": 0.0}
    assert daemon.call("POST", "/hooks/v1/prompt", body=hook).json["late"]
    note = daemon.home / "Notes/People/Jonas.md"
    note.write_text(f"{note.read_text()}\nJonas moved to Dresden.\n")
    assert post("jobs/probe/run").status == 200
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    reflect = partial(post, "templates/daily_reflection/run", date=today)
    assert reflect().status == 502  # the model answers twice without fitting the schema
    wait_for(lambda: reflect().json["result"]["skipped"])  # as soon as nothing is new any more
    assert post("templates/weekly_review/run", date=today).status == 400
    assert daemon.call("GET", "/api/v1/nothing").status == 404
    assert daemon.call("GET", "/api/v1/stats", token="").status == 401


@pytest.mark.requirement("D-79", "D-116")
def test_the_dashboard_names_every_metric_and_no_other(used: tuple[Daemon, Scrape, str]) -> None:
    """Retrieval p50 and p95, ingest, re-embeds, watcher; writes by template, skip rate, cost, failures; all exist."""
    _, scrape, _ = used
    panels = json.loads(DASHBOARD.read_text())["panels"]
    queries = " ".join(target["expr"] for panel in panels for target in panel.get("targets", ()))
    named = {re.sub("_bucket$", "", name) for name in re.findall(r"commonplace_[a-z_]+", queries)}

    assert named == scrape.kinds.keys()
    assert named == scrape.with_samples
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_what_was_done_is_counted(used: tuple[Daemon, Scrape, str]) -> None:
    """By outcome, template, task, job and route."""
    _, scrape, _ = used
    value = scrape.value

    assert value("retrieval_seconds_count", 'source="vault"') == 1
    assert value("retrieval_seconds_count", 'source="all"') >= 1
    assert value("contexts_total", 'outcome="empty"') >= 1
    assert value("contexts_total", 'outcome="given"') >= 1
    assert value("context_chars_bucket", 'le="0"') == value("contexts_total", 'outcome="empty"')
    assert value("writes_total", 'verb="remember",actor="agent"') == 2
    assert value("reencoded_documents_total") >= 1
    assert value("template_writes_total", 'template="daily_reflection",outcome="written"') >= 1
    assert value("template_writes_total", 'template="daily_reflection",outcome="skipped"') >= 1
    assert value("template_writes_total", 'template="weekly_review",outcome="failed"') == 1
    assert value("model_calls_total", 'task="draft",outcome="failed"') == 1
    assert value("model_calls_total", 'task="draft",outcome="answered"') >= 1
    assert value("model_cost_dollars_total", 'task="draft"') > 0
    assert value("http_requests_total", 'route="api/search",status="200"') == 2
    assert value("http_requests_total", 'route="other",status="404"') == 1
    assert value("http_requests_total", 'route="refused",status="401"') == 1
    assert value("notes", 'vault="Notes"') >= 3
    assert value("search_by_meaning", 'vault="Notes"') == 1


def test_metrics_need_a_token_that_may_read_and_hold_no_names_of_notes(used: tuple[Daemon, Scrape, str]) -> None:
    """Whether the daemon is ready, everybody may ask."""
    daemon, _, reader = used
    text = daemon.call("GET", "/metrics", token=reader).body.decode()

    assert daemon.call("GET", "/metrics", token="").status == 401
    assert daemon.call("GET", "/ready", token="").json == {"ok": True, "ready": True, "reasons": []}
    assert not [word for word in ("Greenhouse", "Jonas", "rye") if word in text]


def test_a_daemon_without_a_vault_is_not_ready_and_its_metrics_may_be_open(tmp_path: Path) -> None:
    """`serve.metrics_open` opens /metrics to every program on this machine, and nothing else."""
    with running(tmp_path, vaults=[], COMMONPLACE_SERVE__METRICS_OPEN="true") as daemon:
        ready = daemon.call("GET", "/ready", token="")

        assert (ready.status, ready.json["reasons"]) == (503, ["no vault is registered"])
        assert b"commonplace_build_info" in daemon.call("GET", "/metrics", token="").body
        assert daemon.call("GET", "/api/v1/stats", token="").status == 401
