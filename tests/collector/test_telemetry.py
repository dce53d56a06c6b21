"""OpenTelemetry traces and metrics: what a receiver gets, and what is never in it."""

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import deniable as dn
from deniable.survey.message import MEDIA_TYPE
from tests.servers import Served, free_port
from tests.surveys import ONE, survey
from tests.waits import PATIENCE

pytestmark = pytest.mark.needs("starlette", "uvicorn", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


@contextmanager
def receiver() -> Iterator[tuple[str, dict[str, list[bytes]]]]:
    """An address for OTLP over HTTP, and what arrives there by path."""
    got: dict[str, list[bytes]] = {"/v1/traces": [], "/v1/metrics": []}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                import gzip

                body = gzip.decompress(body)
            got[self.path].append(body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", got
    finally:
        server.shutdown()
        server.server_close()


def test_a_receiver_gets_numbers_and_spans_and_nothing_personal(tmp_path: Path) -> None:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    file = tmp_path / "survey.toml"
    file.write_text(ONE)
    with receiver() as (address, got):
        collector = Served(file, str(tmp_path / "x.db"), None, "--otlp", address)
        try:
            collector.ready()
            for _ in range(3):
                body = dn.Device(survey(ONE)).answer({"town": "Nice"})
                request = urllib.request.Request(collector.url + "/v1/reports", body, {"Content-Type": MEDIA_TYPE})
                urllib.request.urlopen(request, timeout=PATIENCE).close()
            collector.get("/v1/results")
            with suppress(urllib.error.HTTPError):
                collector.get("/secret-path-of-a-person?token=token-of-a-person")
        finally:
            assert collector.stop() == 0  # what is left is sent at the end
    spans = [
        span
        for body in got["/v1/traces"]
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    names = {span.name for span in spans}
    assert {"commit", "GET /v1/results", "GET {other}"} <= names
    messages = [each.value.int_value for span in spans for each in span.attributes if each.key == "deniable.messages"]
    assert sum(messages) == 3
    found = {
        metric.name: metric
        for body in got["/v1/metrics"]
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert found["deniable_reports"].sum.data_points[0].as_int == 3
    assert found["deniable_commit_seconds"].histogram.data_points[0].count == len(messages)
    assert found["deniable_store_up"].gauge.data_points[0].as_int == 1
    everything = b"".join(got["/v1/traces"] + got["/v1/metrics"])
    for personal in (b"Nice", b"secret-path", b"token-of-a-person", b"127.0.0.1"):
        assert personal not in everything


def test_a_receiver_that_is_away_disturbs_nobody(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(ONE)
    collector = Served(file, str(tmp_path / "x.db"), None, "--otlp", f"http://127.0.0.1:{free_port()}")
    try:
        collector.ready()
        body = dn.Device(survey(ONE)).answer({"town": "Nice"})
        request = urllib.request.Request(collector.url + "/v1/reports", body, {"Content-Type": MEDIA_TYPE})
        urllib.request.urlopen(request, timeout=PATIENCE).close()
        assert collector.get("/v1/results")["people"] == 1
    finally:
        assert collector.stop() == 0
