"""What the metrics make of events, and how they are written."""

import pytest

from commonplace.daemon.metrics import METRICS, MOST_SERIES, Metrics


def lines(metrics: Metrics, name: str) -> list[str]:
    """The samples of a metric."""
    return [line for line in metrics.text([]).splitlines() if line.startswith(f"commonplace_{name}")]


def test_a_histogram_is_cumulative_and_ends_with_everything() -> None:
    """A value on a limit belongs below it."""
    metrics = Metrics()
    for seconds in (0.001, 0.3, 99.0):
        metrics.measure("write_seconds", seconds)
    written = lines(metrics, "write_seconds")

    assert written[0] == 'commonplace_write_seconds_bucket{le="0.001"} 1'
    assert 'commonplace_write_seconds_bucket{le="0.5"} 2' in written
    assert written[-3:] == [
        'commonplace_write_seconds_bucket{le="+Inf"} 3',
        "commonplace_write_seconds_sum 99.301",
        "commonplace_write_seconds_count 3",
    ]


def test_labels_are_escaped() -> None:
    """Quotes, backslashes and ends of lines."""
    metrics = Metrics()

    assert 'commonplace_notes{vault="a\\"b\\\\c\\nd"} 3' in metrics.text([("notes", ('a"b\\c\nd',), 3.0)])


def test_many_series_become_other() -> None:
    """Whatever callers name, the memory and the text stay bounded."""
    metrics = Metrics()
    for number in range(2 * MOST_SERIES):
        metrics.notice("job_run", {"job": f"j{number}", "outcome": "done", "seconds": 1.0})
    written = lines(metrics, "job_runs_total")

    assert len(written) == MOST_SERIES + 1
    assert written[-1] == f'commonplace_job_runs_total{{job="other",outcome="other"}} {MOST_SERIES}'


@pytest.mark.parametrize(
    "event",
    ["memory_retrieval", "memory_context", "memory_ingest_batch", "vault_write", "model_called", "job_run", "unknown"],
)
def test_an_event_without_its_fields_raises_nothing(event: str) -> None:
    """An observer runs in the middle of what it observes."""
    Metrics().notice(event, {})


def test_every_metric_is_named_once_and_explained() -> None:
    """Counters end in _total, and every metric has its lines of help and type."""
    text = Metrics().text([])

    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert all(metric.name.endswith("_total") == (metric.kind == "counter") for metric in METRICS)
    assert all(f"# TYPE commonplace_{metric.name} {metric.kind}\n" in text for metric in METRICS)
