"""OpenTelemetry spans of what the daemon does, made from its events and sent to the collector of the settings.

A request and a job begin with an event and end with one: what happens between them, in their thread or in a thread with
their context, becomes a child. Everything else is told when it is over, with how long it took. No span holds a path, a
question or a word of a note. Loaded only if the setting `serve.otel` names a collector.
"""

import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, get_args

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, Status, StatusCode

from commonplace import __version__
from commonplace.model.change import Verb

_EXPORT_SECONDS: Final = 5
_END_MS: Final = 2_000  # for the last spans, when the daemon stops
_BEGINNINGS: Final = {"http_started": "request", "job_started": "job"}
_ENDS: Final = {"http_request": ("route", "method", "status"), "job_run": ("job", "outcome")}


@dataclass(frozen=True, slots=True)
class _SpanForm:
    """The span of an event: its name, the field with the milliseconds, and the fields that become attributes."""

    name: str
    duration: str
    attributes: tuple[str, ...]


_WRITE: Final = _SpanForm("write", "duration_ms", ("actor", "changed"))
_FORMS: Final[Mapping[str, _SpanForm]] = {
    "memory_retrieval": _SpanForm("search", "latency_ms", ("k", "hits", "mode", "sources")),
    "memory_context": _SpanForm("context", "took_ms", ("chars", "late")),
    "memory_ingest_batch": _SpanForm("ingest", "latency_ms", ("documents", "encoded", "reencoded")),
    **{f"vault_{verb}": _WRITE for verb in get_args(Verb)},
    "model_called": _SpanForm("model call", "ms", ("task", "model", "answered", "tokens_in", "tokens_out", "cost")),
}

_open_spans: ContextVar[tuple[Span, ...]] = ContextVar("open_spans", default=())


class Spans:
    """Sends spans to a collector by OTLP over HTTP, in batches, in a thread of its own."""

    def __init__(self, address: str) -> None:
        resource = Resource.create({"service.name": "commonplace", "service.version": __version__})
        exporter = OTLPSpanExporter(endpoint=f"{address.rstrip('/')}/v1/traces", timeout=_EXPORT_SECONDS)
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, export_timeout_millis=_EXPORT_SECONDS * 1000))
        self._tracer = self._provider.get_tracer("commonplace", __version__)

    def notice(self, event: str, fields: Mapping[str, Any]) -> None:
        """Make or end a span, if the event is one of those that have one."""
        if name := _BEGINNINGS.get(event):
            _open_spans.set((*_open_spans.get(), self._start(name)))
        elif event in _ENDS:
            self._end(fields, _ENDS[event])
        elif form := _FORMS.get(event):
            start = time.time_ns() - int(fields.get(form.duration, 0.0) * 1_000_000)
            span = self._start(form.name, start=start)
            _describe(span, fields, form.attributes)
            if form is _WRITE:
                span.set_attribute("commonplace.verb", event.removeprefix("vault_"))
            if fields.get("answered") is False:
                span.set_status(Status(StatusCode.ERROR))
            span.end()

    def end(self) -> None:
        """Send what is left, for a moment."""
        self._provider.force_flush(_END_MS)
        self._provider.shutdown()

    def _start(self, name: str, *, start: int | None = None) -> Span:
        spans = _open_spans.get()
        parent = trace.set_span_in_context(spans[-1]) if spans else None
        return self._tracer.start_span(name, context=parent, start_time=start)

    def _end(self, fields: Mapping[str, Any], attributes: tuple[str, ...]) -> None:
        *others, span = _open_spans.get() or (trace.INVALID_SPAN,)
        _open_spans.set(tuple(others))
        _describe(span, fields, attributes)
        if fields.get("outcome") == "failed" or fields.get("status", 0) >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end()


def _describe(span: Span, fields: Mapping[str, Any], attributes: tuple[str, ...]) -> None:
    for name in attributes:
        if (value := fields.get(name)) is not None:
            span.set_attribute(f"commonplace.{name}", value)
