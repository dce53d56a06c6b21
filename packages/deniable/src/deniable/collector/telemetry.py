"""Traces and metrics for OpenTelemetry (OTLP over HTTP). Nothing in them is about one person, nor who they are."""

import time
from collections.abc import Callable, Iterable, MutableMapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from deniable.collector.service import Receive, Scope, Send
from deniable.collector.static import PAGES
from deniable.errors import MissingExtra

try:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import SpanKind, Status, StatusCode
except ImportError:
    raise MissingExtra("OpenTelemetry traces and metrics", "otel") from None

if TYPE_CHECKING:
    from deniable.collector.app import App
    from deniable.collector.site import Site

EVERY = 15_000  # milliseconds between two exports of metrics
PATIENCE = 5  # seconds for one export
SECOND = 1_000_000_000  # in nanoseconds, in which spans count
# What is counted up, and what goes up and down; the same series as for Prometheus.
COUNTERS = ("deniable_messages", "deniable_reports", "deniable_refused", "deniable_committed_messages")
GAUGES = ("deniable_suspicions", "deniable_waiting_bytes", "deniable_store_up")
INTERFACE = ("reports", "survey", "law", "status", "promise", "try", "results", "tallies", "intake", "issuer", "invitation")
ROUTES = {*PAGES, "/metrics", "/openapi.json", "/health/live", "/health/ready", *(f"/v1/{name}" for name in INTERFACE)}


class Telemetry:
    """Watches a site from now on and sends what it sees to `endpoint`; `close` sends the rest."""

    def __init__(self, site: "Site", endpoint: str, every: int = EVERY) -> None:
        about = Resource.create({"service.name": "deniable", "service.version": version("deniable")})
        place = endpoint.rstrip("/")
        self._traces = TracerProvider(resource=about)
        self._traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{place}/v1/traces", timeout=PATIENCE)))
        exporter = OTLPMetricExporter(f"{place}/v1/metrics", timeout=PATIENCE)
        self._metrics = MeterProvider([PeriodicExportingMetricReader(exporter, every)], resource=about)
        self._tracer, self._site = self._traces.get_tracer("deniable"), site
        meter = self._metrics.get_meter("deniable")
        for name in COUNTERS:
            meter.create_observable_counter(name, [self._observed(name)])
        for name in GAUGES:
            meter.create_observable_gauge(name, [self._observed(name)])
        self._took = meter.create_histogram("deniable_commit_seconds", "s", "How long counting and committing a group took.")
        prepare = site.prepare

        def prepared(app: "App") -> None:
            app.metrics.heard.append(self._committed)
            prepare(app)

        site.prepare = prepared
        for app in site.apps:
            app.metrics.heard.append(self._committed)
        site.around = self._traced

    def close(self) -> None:
        """Send what is left."""
        self._traces.shutdown()
        self._metrics.shutdown()

    def _observed(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_: CallbackOptions) -> Iterable[Observation]:
            shared = self._site.shared
            for app in self._site.apps:
                for family in app.metrics.families(shared.flight.bytes, shared.writer.healthy):
                    if family.name == name:
                        for sample in family.samples:
                            yield Observation(sample.value, dict(sample.labels))

        return observe

    def _committed(self, survey: str, messages: int, seconds: float) -> None:
        """A group of messages was committed: called by the writer, which must not wait."""
        end = time.time_ns()
        about: dict[str, str | int] = {"deniable.survey": survey, "deniable.messages": messages}
        span = self._tracer.start_span("commit", start_time=end - int(seconds * SECOND), attributes=about)
        span.end(end)
        self._took.record(seconds, {"survey": survey})

    async def _traced(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request within a span."""
        method, route = scope["method"], _route(scope["path"])
        about = {"http.request.method": method, "http.route": route}
        with self._tracer.start_as_current_span(f"{method} {route}", kind=SpanKind.SERVER, attributes=about) as span:

            async def sending(event: MutableMapping[str, Any]) -> None:
                if event["type"] == "http.response.start":
                    status: int = event["status"]
                    span.set_attribute("http.response.status_code", status)
                    if status >= 500:
                        span.set_status(Status(StatusCode.ERROR))
                await send(event)

            await self._site.answer(scope, receive, sending)


def _route(path: str) -> str:
    """The route of a path, without anything that a client made up.

    >>> _route("/s/commute/v1/results"), _route("/pages/style.css"), _route("/etc/passwd")
    ('/s/{survey}/v1/results', '/pages/{file}', '{other}')
    """
    before = ""
    if path.startswith("/s/"):
        before, path = "/s/{survey}", "/" + path[3:].partition("/")[2]
    if path.startswith("/pages/"):
        return before + "/pages/{file}"
    return before + path if path in ROUTES else before + "{other}"
