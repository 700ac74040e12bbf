"""Metrics for Prometheus: what this daemon did since it started, counted from its events.

`Metrics.notice` is an observer of `events`: nothing else in the program counts. What is true at the moment (notes,
what waits, problems) is asked for when somebody reads the metrics. The text is Prometheus' exposition format 0.0.4,
which takes fewer lines to write than a library takes to configure. No metric holds a path or a word of a note.
"""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from commonplace.model.change import Verb

MetricKind = Literal["counter", "gauge", "histogram"]
Labels = tuple[str, ...]
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MOST_SERIES: Final = 200
"""Sets of labels of one metric; what comes after them is counted under `other`."""
OTHER: Final = "other"
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LONG_SECONDS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
_CHARS: Final = (0.0, 250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its name without `commonplace_`, what it means, and the names of its labels."""

    name: str
    kind: MetricKind
    about: str
    labels: Labels = ()
    buckets: tuple[float, ...] = ()


METRICS: Final = (
    Metric("retrievals_total", "counter", "Searches, by mode and by whether they found something", ("mode", "outcome")),
    Metric("retrieval_seconds", "histogram", "Time of a search, by the sources searched", ("source",), _SECONDS),
    Metric("contexts_total", "counter", "Contexts made for prompts and sessions, given or empty", ("outcome",)),
    Metric("context_seconds", "histogram", "Time to make a context", (), _SECONDS),
    Metric("context_chars", "histogram", "Length of a context in characters; 0 for an empty one", (), _CHARS),
    Metric("context_late_parts_total", "counter", "Parts of contexts that were not ready in time", ("part",)),
    Metric("ingest_batches_total", "counter", "Batches of notes and conversations that were indexed"),
    Metric("ingested_documents_total", "counter", "Notes and conversations that were indexed"),
    Metric("ingest_seconds", "histogram", "Time to index a batch", (), _SECONDS),
    Metric("encoded_texts_total", "counter", "Texts that the encoder read"),
    Metric("reencoded_documents_total", "counter", "Notes and conversations encoded anew, because they changed"),
    Metric("watch_events_total", "counter", "Changes of files that the watcher saw", ("kind",)),
    Metric("writes_total", "counter", "Changes of notes, by verb and actor", ("verb", "actor")),
    Metric("write_seconds", "histogram", "Time of a change, with its commit", (), _SECONDS),
    Metric("template_writes_total", "counter", "Notes of templates: written, skipped, failed", ("template", "outcome")),
    Metric("model_calls_total", "counter", "Calls of language models: answered or failed", ("task", "outcome")),
    Metric("model_failures_total", "counter", "Failed calls of language models, by reason", ("task", "reason")),
    Metric("model_cost_dollars_total", "counter", "What calls of language models cost", ("task",)),
    Metric("model_tokens_total", "counter", "Tokens that language models read and wrote", ("task", "direction")),
    Metric("model_seconds", "histogram", "Time of a call of a language model", ("task",), _LONG_SECONDS),
    Metric("job_runs_total", "counter", "Runs of scheduled jobs, by how they ended", ("job", "outcome")),
    Metric("job_seconds", "histogram", "Time of a run of a scheduled job", ("job",), _LONG_SECONDS),
    Metric("http_requests_total", "counter", "Requests, by kind of route and status", ("route", "status")),
    Metric("http_seconds", "histogram", "Time of a request, without live events", ("route",), _SECONDS),
    Metric("build_info", "gauge", "The version that runs", ("version",)),
    Metric("start_time_seconds", "gauge", "When the daemon started, in Unix time"),
    Metric("memory_bytes", "gauge", "Memory of the daemon and of its workers"),
    Metric("workers", "gauge", "Worker processes that answer reads"),
    Metric("worker_deaths_total", "counter", "Worker processes that died and were started again"),
    Metric("event_listeners", "gauge", "Programs that listen to live events"),
    Metric("vault_open", "gauge", "1 if the vault is open", ("vault",)),
    Metric("notes", "gauge", "Notes in the index", ("vault",)),
    Metric("chunks", "gauge", "Passages in the index", ("vault",)),
    Metric("index_bytes", "gauge", "Size of the index on disk", ("vault",)),
    Metric("search_by_meaning", "gauge", "1 if searches are by words and by meaning, 0 by words alone", ("vault",)),
    Metric("sync_left", "gauge", "What a running sync has still to do", ("vault",)),
    Metric("review_waiting", "gauge", "Entries and notes that wait for the person", ("vault",)),
    Metric("problems", "gauge", "Problems in notes", ("vault",)),
    Metric("jobs_parked", "gauge", "Jobs that failed too often and wait for the person", ("vault",)),
)
_BY_NAME: Final = {metric.name: metric for metric in METRICS}

Gauges = Iterable[tuple[str, Labels, float]]
"""Name, labels and value of what is true at the moment."""


@dataclass(slots=True)
class _Distribution:
    """How many values fell into each bucket, the last being without a limit, and their sum."""

    counts: list[int]
    sum: float = 0.0


class Metrics:
    """The counters and histograms. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, dict[Labels, float]] = {
            each.name: {} if each.labels else {(): 0.0} for each in METRICS if each.kind == "counter"
        }
        self._distributions: dict[str, dict[Labels, _Distribution]] = {
            each.name: {} for each in METRICS if each.kind == "histogram"
        }

    def notice(self, event: str, fields: Mapping[str, Any]) -> None:
        """Count an event, if it is one that counts."""
        if count := _COUNTED.get(event):
            count(self, fields)

    def add(self, name: str, *labels: object, by: float = 1.0) -> None:
        """Add to a counter."""
        with self._lock:
            series = self._counters[name]
            key = _key(labels, series)
            series[key] = series.get(key, 0.0) + by

    def measure(self, name: str, value: float, *labels: object) -> None:
        """Add a value to a histogram."""
        buckets = _BY_NAME[name].buckets
        with self._lock:
            series = self._distributions[name]
            key = _key(labels, series)
            distribution = series.get(key)
            if distribution is None:
                distribution = series[key] = _Distribution([0] * (len(buckets) + 1))
            distribution.counts[bisect_left(buckets, value)] += 1
            distribution.sum += value

    def text(self, gauges: Gauges) -> str:
        """Everything, as Prometheus reads it."""
        now: dict[str, list[tuple[Labels, float]]] = {}
        for name, labels, value in gauges:
            now.setdefault(name, []).append((labels, value))
        with self._lock:
            lines = [line for metric in METRICS for line in self._lines(metric, now.get(metric.name, []))]
        return "\n".join(lines) + "\n"

    def _lines(self, metric: Metric, values: list[tuple[Labels, float]]) -> Iterable[str]:
        yield f"# HELP commonplace_{metric.name} {metric.about}."
        yield f"# TYPE commonplace_{metric.name} {metric.kind}"
        if metric.kind == "histogram":
            for labels, distribution in self._distributions[metric.name].items():
                yield from _histogram_lines(metric, labels, distribution)
            return
        for labels, value in self._counters[metric.name].items() if metric.kind == "counter" else values:
            yield _line(metric.name, zip(metric.labels, labels, strict=True), value)


def _key(labels: tuple[object, ...], series: Mapping[Labels, object]) -> Labels:
    """The labels as text; as `other` if the metric has many series already."""
    key = tuple(map(str, labels))
    return key if key in series or len(series) < MOST_SERIES else (OTHER,) * len(key)


def _histogram_lines(metric: Metric, labels: Labels, distribution: _Distribution) -> Iterable[str]:
    named, total = [*zip(metric.labels, labels, strict=True)], 0
    for limit, count in zip((*map(_number, metric.buckets), "+Inf"), distribution.counts, strict=True):
        total += count
        yield _line(f"{metric.name}_bucket", [*named, ("le", limit)], total)
    yield _line(f"{metric.name}_sum", named, distribution.sum)
    yield _line(f"{metric.name}_count", named, total)


def _line(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    text = ",".join(f'{key}="{_escaped(each)}"' for key, each in labels)
    return f"commonplace_{name}{f'{{{text}}}' if text else ''} {_number(value)}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


# ---------------------------------------------------------------- which event counts as what

Fields = Mapping[str, Any]


def _count_retrieval(metrics: Metrics, fields: Fields) -> None:
    metrics.add("retrievals_total", fields.get("mode", ""), "found" if fields.get("hits") else "empty")
    source = "+".join(sorted(fields.get("sources", ()))) or "all"
    metrics.measure("retrieval_seconds", fields.get("latency_ms", 0.0) / 1000, source)


def _count_context(metrics: Metrics, fields: Fields) -> None:
    chars = fields.get("chars", 0)
    metrics.add("contexts_total", "given" if chars else "empty")
    metrics.measure("context_chars", chars)
    metrics.measure("context_seconds", fields.get("took_ms", 0.0) / 1000)
    for part in fields.get("late", ()):
        metrics.add("context_late_parts_total", part)


def _count_ingest(metrics: Metrics, fields: Fields) -> None:
    metrics.add("ingest_batches_total")
    metrics.add("ingested_documents_total", by=fields.get("documents", 0))
    metrics.add("encoded_texts_total", by=fields.get("encoded", 0))
    metrics.add("reencoded_documents_total", by=fields.get("reencoded", 0))
    metrics.measure("ingest_seconds", fields.get("latency_ms", 0.0) / 1000)


def _count_write(verb: str) -> Callable[[Metrics, Fields], None]:
    def count(metrics: Metrics, fields: Fields) -> None:
        if fields.get("changed"):
            metrics.add("writes_total", verb, fields.get("actor", ""))
            metrics.measure("write_seconds", fields.get("duration_ms", 0.0) / 1000)

    return count


def _count_template(outcome: str) -> Callable[[Metrics, Fields], None]:
    return lambda metrics, fields: metrics.add("template_writes_total", fields.get("template", ""), outcome)


def _count_model_call(metrics: Metrics, fields: Fields) -> None:
    task = fields.get("task", "")
    metrics.add("model_calls_total", task, "answered" if fields.get("answered") else "failed")
    metrics.add("model_cost_dollars_total", task, by=fields.get("cost", 0.0))
    metrics.add("model_tokens_total", task, "read", by=fields.get("tokens_in", 0))
    metrics.add("model_tokens_total", task, "written", by=fields.get("tokens_out", 0))
    metrics.measure("model_seconds", fields.get("ms", 0.0) / 1000, task)


def _count_job(metrics: Metrics, fields: Fields) -> None:
    metrics.add("job_runs_total", fields.get("job", ""), fields.get("outcome", ""))
    metrics.measure("job_seconds", fields.get("seconds", 0.0), fields.get("job", ""))


def _count_request(metrics: Metrics, fields: Fields) -> None:
    metrics.add("http_requests_total", fields.get("route", OTHER), fields.get("status", ""))
    if fields.get("route") != "api/events":
        metrics.measure("http_seconds", fields.get("ms", 0.0) / 1000, fields.get("route", OTHER))


_COUNTED: Final[Mapping[str, Callable[[Metrics, Fields], None]]] = {
    "memory_retrieval": _count_retrieval,
    "memory_context": _count_context,
    "memory_ingest_batch": _count_ingest,
    "vault_watch_event": lambda metrics, fields: metrics.add("watch_events_total", fields.get("what", "")),
    **{f"vault_{verb}": _count_write(verb) for verb in get_args(Verb)},
    "vault_autowrite_written": _count_template("written"),
    "vault_autowrite_skipped": _count_template("skipped"),
    "vault_autowrite_failed": _count_template("failed"),
    "model_called": _count_model_call,
    "model_failed": lambda metrics, fields: metrics.add(
        "model_failures_total", fields.get("task", ""), fields.get("reason") or OTHER
    ),
    "job_run": _count_job,
    "http_request": _count_request,
    "worker_died": lambda metrics, fields: metrics.add("worker_deaths_total"),
    "request_refused": lambda metrics, fields: metrics.add("http_requests_total", "refused", fields.get("status", "")),
}
