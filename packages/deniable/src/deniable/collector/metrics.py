"""Counters of what happens at a collector, for Prometheus. Nothing in them is about one person.

Requests only add to plain numbers; `prometheus_client` reads them when somebody asks. Every series has the survey's id as a
label and is of this process alone: those of several collectors of a survey add up, as in `sum by (survey) (...)`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock

from deniable.errors import MissingExtra

try:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
    from prometheus_client.registry import Collector
except ImportError:
    raise MissingExtra("A collector over HTTP", "collector") from None

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"  # of what `text` gives


class Metrics:
    """What was counted, refused and committed since the process began."""

    def __init__(self, survey: str) -> None:
        self._survey, self._lock = survey, Lock()
        self.messages: dict[str, int] = defaultdict(int)
        self.reports = 0
        self.refused: dict[str, int] = defaultdict(int)
        self.refused_elsewhere: dict[str, int] = defaultdict(int)  # of these, requests that brought no reports
        self.suspicions: Mapping[str, int] = {}  # patterns of false reports that were found, by question
        self._commits = [0] * (len(SECONDS) + 1)
        self._committed = 0
        self._seconds = 0.0
        self.heard: list[Callable[[str, int, float], None]] = []  # are called with each commit: survey, messages, seconds

    def commit(self, messages: int, seconds: float) -> None:
        """A transaction was committed."""
        with self._lock:
            self._commits[sum(seconds > bound for bound in SECONDS)] += 1
            self._committed += messages
            self._seconds += seconds
        for hear in self.heard:
            hear(self._survey, messages, seconds)

    def summary(self) -> dict[str, object]:
        """What became of reports since the process began, for those who read results."""
        refused = {reason: number - self.refused_elsewhere[reason] for reason, number in sorted(self.refused.items())}
        return {
            "messages": {outcome: self.messages[outcome] for outcome in ("counted", "duplicate")},
            "refused": {reason: number for reason, number in refused.items() if number},
        }

    def text(self, waiting: int, healthy: bool) -> str:
        """All of it, in the text format of Prometheus."""
        return text_of([self], waiting, healthy)

    def families(self, waiting: int, healthy: bool) -> Iterator[Metric]:
        """Every metric with its samples."""
        mine = [self._survey]
        messages = CounterMetricFamily(
            "deniable_messages", "Messages that were counted, or had been counted before.", labels=["survey", "outcome"]
        )
        for outcome in ("counted", "duplicate"):
            messages.add_metric([*mine, outcome], self.messages[outcome])
        yield messages
        yield self._counter("deniable_reports", "Reports in the messages that were counted.", self.reports)
        refused = CounterMetricFamily(
            "deniable_refused", "Requests and messages that were refused, by reason.", labels=["survey", "reason"]
        )
        for reason, number in sorted(self.refused.items()):
            refused.add_metric([*mine, reason], number)
        yield refused
        with self._lock:
            commits, committed, seconds = list(self._commits), self._committed, self._seconds
        took = HistogramMetricFamily(
            "deniable_commit_seconds", "How long counting and committing a group of messages took.", labels=["survey"]
        )
        sums = [sum(commits[: place + 1]) for place in range(len(commits))]
        took.add_metric(mine, list(zip((*map(str, SECONDS), "+Inf"), sums, strict=True)), seconds)
        yield took
        yield self._counter("deniable_committed_messages", "Messages in all groups.", committed)
        found = GaugeMetricFamily(
            "deniable_suspicions",
            "Patterns that honest people do not produce.",
            labels=["survey", "question"],
        )
        for question, number in sorted(self.suspicions.items()):
            found.add_metric([*mine, question], number)
        yield found
        for name, what, value in (
            ("deniable_waiting_bytes", "Messages that wait to be counted.", waiting),
            ("deniable_store_up", "Whether the last commit went through.", int(healthy)),
        ):
            gauge = GaugeMetricFamily(name, what, labels=["survey"])
            gauge.add_metric(mine, value)
            yield gauge

    def _counter(self, name: str, what: str, value: int) -> Metric:
        counter = CounterMetricFamily(name, what, labels=["survey"])
        counter.add_metric([self._survey], value)
        return counter


def text_of(several: Iterable[Metrics], waiting: int, healthy: bool) -> str:
    """The metrics of several surveys, in the text format of Prometheus: one family of each name."""
    registry, found = CollectorRegistry(auto_describe=False), dict[str, Metric]()
    for metrics in several:
        for family in metrics.families(waiting, healthy):
            found.setdefault(family.name, family)
            if found[family.name] is not family:
                found[family.name].samples += family.samples
    registry.register(_Now(list(found.values())))
    return generate_latest(registry).decode()


class _Now(Collector):
    """The metrics at this moment, as a registry wants them."""

    def __init__(self, families: list[Metric]) -> None:
        self._all = families

    def collect(self) -> Iterator[Metric]:
        return iter(self._all)
