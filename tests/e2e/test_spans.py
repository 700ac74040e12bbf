"""OpenTelemetry spans of a real daemon, received by a collector that reads OTLP over HTTP."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from commonplace.daemon.serve import make_spans
from commonplace.errors import UsageError
from tests import components
from tests.daemons import running
from tests.http_servers import TestHTTPServer
from tests.polling import wait_for


@contextmanager
def collecting() -> Iterator[tuple[str, list[Any]]]:
    """The address of a collector, and the spans that it got."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    spans: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = ExportTraceServiceRequest()
            sent.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/v1/traces":
                spans.extend(s for r in sent.resource_spans for scope in r.scope_spans for s in scope.spans)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = TestHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", spans
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_collector_gets_the_spans_of_requests_and_jobs_without_words_of_notes(tmp_path: Path) -> None:
    """What a request does is its child, and what a job does is the job's; the last ones come when the daemon stops."""
    components.require("otel")
    with collecting() as (address, spans):
        with running(tmp_path / "home", COMMONPLACE_SERVE__OTEL=address) as daemon:
            daemon.wait_synced()
            daemon.call("GET", "/api/v1/search?q=greenhouse")
            daemon.call("POST", "/api/v1/context", body={"prompt": "Which greenhouse?", "notes": "always"})
            daemon.call("PUT", "/api/v1/notes/Inbox/Zebra.md", body={"text": "# Zebra\n"})
            daemon.call("POST", "/api/v1/jobs/probe/run", body={})
            wait_for(lambda: daemon.call("GET", "/api/v1/jobs").json["waiting"] == [])
        by_id = {span.span_id: span for span in spans}

    def parents_of(name: str) -> set[str]:
        return {by_id[each.parent_span_id].name for each in spans if each.name == name and each.parent_span_id in by_id}

    assert {"request", "job", "search", "context", "ingest", "write"} <= {span.name for span in spans}
    assert parents_of("context") == {"request"}
    assert parents_of("search") == parents_of("write") == {"request", "job"}
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in spans)
    assert not [span for span in spans if "Zebra" in str(span) or "greenhouse" in str(span).lower()]


@pytest.mark.parametrize("address", ["localhost:4318", "ftp://collector", "http://"])
def test_a_wrong_address_of_a_collector_is_refused(address: str) -> None:
    """Before the daemon listens."""
    with pytest.raises(UsageError, match="not an address"):
        make_spans(address)


def test_without_the_packages_the_error_says_what_to_install() -> None:
    """In a Python that cannot find them."""
    program = (
        "import sys; sys.modules['opentelemetry.sdk'] = None\n"
        "from commonplace.daemon.serve import make_spans\n"
        "make_spans('http://127.0.0.1:4318')"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert "the setting serve.otel needs packages that are not installed" in run.stderr
    assert "pip install 'commonplace-memory[otel]'" in run.stderr
