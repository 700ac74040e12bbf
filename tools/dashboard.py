"""The Grafana dashboard of the daemon's metrics: a table of panels, written as JSON by `make docs`."""

import json
from typing import Any, Final, NamedTuple

_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
_WIDTH: Final = 24
_HEIGHT: Final = 7


class Panel(NamedTuple):
    """A panel: its title, its unit, each query with its legend, and its width in 24ths; `kind` is Grafana's."""

    title: str
    unit: str
    queries: tuple[tuple[str, str], ...]
    width: int = 8
    kind: str = "timeseries"


def _rate(metric: str, by: str = "") -> str:
    inner = f"rate(commonplace_{metric}[$__rate_interval])"
    return f"sum by ({by}) ({inner})" if by else f"sum({inner})"


def _quantiles(metric: str, by: str = "") -> tuple[tuple[str, str], ...]:
    labels = ", ".join(filter(None, ("le", by)))
    return tuple(
        (
            f"histogram_quantile({each / 100}, {_rate(f'{metric}_bucket', labels)})",
            f"p{each}{f' {{{{{by}}}}}' if by else ''}",
        )
        for each in (50, 95)
    )


def _share(part: str, whole: str) -> str:
    return f"{_rate(part)} / {_rate(whole)}"


ROWS: Final[tuple[tuple[str, tuple[Panel, ...]], ...]] = (
    (
        "Retrieval",
        (
            Panel("Time of a search, p50 and p95", "s", _quantiles("retrieval_seconds", "source")),
            Panel("Searches", "ops", ((_rate("retrievals_total", "mode, outcome"), "{{mode}} {{outcome}}"),)),
            Panel("Time of a context, p50 and p95", "s", _quantiles("context_seconds")),
            Panel("Length of a context, p50 and p95", "none", _quantiles("context_chars")),
            Panel(
                "Prompts that got nothing",
                "percentunit",
                ((_share('contexts_total{outcome="empty"}', "contexts_total"), "empty"),),
            ),
            Panel(
                "Parts of contexts that were late", "ops", ((_rate("context_late_parts_total", "part"), "{{part}}"),)
            ),
        ),
    ),
    (
        "Index",
        (
            Panel("Batches indexed", "ops", ((_rate("ingest_batches_total"), "batches"),)),
            Panel("Notes and conversations indexed", "ops", ((_rate("ingested_documents_total"), "indexed"),)),
            Panel("Time of a batch, p50 and p95", "s", _quantiles("ingest_seconds")),
            Panel(
                "Encoded",
                "ops",
                (
                    (_rate("encoded_texts_total"), "texts"),
                    (_rate("reencoded_documents_total"), "documents encoded again"),
                ),
            ),
            Panel("Changes that the watcher saw", "ops", ((_rate("watch_events_total", "kind"), "{{kind}}"),)),
            Panel(
                "Index",
                "none",
                (
                    ("commonplace_notes", "notes {{vault}}"),
                    ("commonplace_chunks", "passages {{vault}}"),
                    ("commonplace_sync_left", "left to sync {{vault}}"),
                ),
            ),
            Panel("Size of the index", "bytes", (("commonplace_index_bytes", "{{vault}}"),)),
            Panel(
                "Search by meaning",
                "bool",
                (
                    ("commonplace_search_by_meaning", "by meaning {{vault}}"),
                    ("commonplace_vault_open", "open {{vault}}"),
                ),
            ),
            Panel("Problems in notes", "none", (("commonplace_problems", "{{vault}}"),)),
        ),
    ),
    (
        "Writes",
        (
            Panel("Changes of notes", "ops", ((_rate("writes_total", "verb, actor"), "{{verb}} {{actor}}"),)),
            Panel("Time of a change, p50 and p95", "s", _quantiles("write_seconds")),
            Panel("Waiting for review", "none", (("commonplace_review_waiting", "{{vault}}"),)),
        ),
    ),
    (
        "Template writes",
        (
            Panel(
                "Notes by template",
                "none",
                (
                    (
                        "sum by (template, outcome) (increase(commonplace_template_writes_total[$__range]))",
                        "{{template}} {{outcome}}",
                    ),
                ),
            ),
            Panel(
                "Share that was skipped",
                "percentunit",
                ((_share('template_writes_total{outcome="skipped"}', "template_writes_total"), "skipped"),),
            ),
            Panel(
                "Failures",
                "none",
                (('sum(increase(commonplace_template_writes_total{outcome="failed"}[$__range]))', "failed"),),
                kind="stat",
            ),
        ),
    ),
    (
        "Language models",
        (
            Panel("Calls", "ops", ((_rate("model_calls_total", "task, outcome"), "{{task}} {{outcome}}"),)),
            Panel(
                "Cost",
                "currencyUSD",
                (("sum by (task) (increase(commonplace_model_cost_dollars_total[$__range]))", "{{task}}"),),
            ),
            Panel("Failures", "ops", ((_rate("model_failures_total", "task, reason"), "{{task}} {{reason}}"),)),
            Panel("Tokens", "ops", ((_rate("model_tokens_total", "task, direction"), "{{task}} {{direction}}"),)),
            Panel("Time of a call, p50 and p95", "s", _quantiles("model_seconds", "task")),
        ),
    ),
    (
        "Jobs and requests",
        (
            Panel(
                "Runs of jobs",
                "none",
                (
                    (
                        "sum by (job, outcome) (increase(commonplace_job_runs_total[$__range]))",
                        "{{job}} {{outcome}}",
                    ),
                ),
            ),
            Panel("Time of a run, p50 and p95", "s", _quantiles("job_seconds", "job")),
            Panel("Jobs that are parked", "none", (("commonplace_jobs_parked", "{{vault}}"),), kind="stat"),
            Panel("Requests", "reqps", ((_rate("http_requests_total", "route, status"), "{{route}} {{status}}"),)),
            Panel("Time of a request, p50 and p95", "s", _quantiles("http_seconds", "route")),
            Panel("Listeners to live events", "none", (("commonplace_event_listeners", "listeners"),), kind="stat"),
            Panel("Memory", "bytes", (("commonplace_memory_bytes", "memory"),)),
            Panel(
                "Workers",
                "none",
                (
                    ("commonplace_workers", "ready"),
                    ("increase(commonplace_worker_deaths_total[$__range])", "died"),
                ),
            ),
            Panel("Running for", "s", (("time() - commonplace_start_time_seconds", "since the start"),), kind="stat"),
            Panel("Version", "none", (("commonplace_build_info", "{{version}}"),), kind="stat"),
        ),
    ),
)


def page() -> str:
    """The dashboard, to be imported in Grafana; it asks for the data source."""
    panels: list[dict[str, Any]] = []
    top = 0
    for title, row in ROWS:
        panels.append(_titled_row(title, number=len(panels) + 1, top=top))
        top += 1
        left = 0
        for panel in row:
            if left + panel.width > _WIDTH:
                left, top = 0, top + _HEIGHT
            panels.append(_panel(panel, number=len(panels) + 1, left=left, top=top))
            left += panel.width
        top += _HEIGHT
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Data source"}
    dashboard = {
        "title": "Commonplace",
        "uid": "commonplace",
        "schemaVersion": 39,
        "editable": True,
        "time": {"from": "now-24h", "to": "now"},
        "refresh": "1m",
        "templating": {"list": [source]},
        "panels": panels,
    }
    return json.dumps(dashboard, indent=1) + "\n"


def _titled_row(title: str, *, number: int, top: int) -> dict[str, Any]:
    place = {"x": 0, "y": top, "w": _WIDTH, "h": 1}
    return {"id": number, "type": "row", "title": title, "gridPos": place, "collapsed": False, "panels": []}


def _panel(panel: Panel, *, number: int, left: int, top: int) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + place), "datasource": _SOURCE, "expr": query, "legendFormat": legend}
        for place, (query, legend) in enumerate(panel.queries)
    ]
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "datasource": _SOURCE,
        "gridPos": {"x": left, "y": top, "w": panel.width, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": targets,
    }
