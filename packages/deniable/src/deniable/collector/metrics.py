"""Counters of what happens at a collector, in the text format of Prometheus. Nothing in them is about one person."""

from collections import defaultdict
from collections.abc import Iterator
from threading import Lock

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Metrics:
    """What was counted, refused and committed since the process began."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.messages: dict[str, int] = defaultdict(int)
        self.reports = 0
        self.refused: dict[str, int] = defaultdict(int)
        self.refused_elsewhere: dict[str, int] = defaultdict(int)  # of these, requests that brought no reports
        self._commits = [0] * (len(SECONDS) + 1)
        self._committed = 0
        self._seconds = 0.0

    def commit(self, messages: int, seconds: float) -> None:
        """A transaction was committed."""
        with self._lock:
            self._commits[sum(seconds > bound for bound in SECONDS)] += 1
            self._committed += messages
            self._seconds += seconds

    def summary(self) -> dict[str, object]:
        """What became of reports since the process began, for those who read results."""
        refused = {reason: number - self.refused_elsewhere[reason] for reason, number in sorted(self.refused.items())}
        return {
            "messages": {outcome: self.messages[outcome] for outcome in ("counted", "duplicate")},
            "refused": {reason: number for reason, number in refused.items() if number},
        }

    def text(self, waiting: int, healthy: bool) -> str:
        """All of it, as Prometheus reads it."""
        return "\n".join(self._lines(waiting, healthy)) + "\n"

    def _lines(self, waiting: int, healthy: bool) -> Iterator[str]:
        yield "# HELP deniable_messages_total Messages that were counted, or had been counted before."
        yield "# TYPE deniable_messages_total counter"
        for outcome in ("counted", "duplicate"):
            yield f'deniable_messages_total{{outcome="{outcome}"}} {self.messages[outcome]}'
        yield "# HELP deniable_reports_total Reports in the messages that were counted."
        yield "# TYPE deniable_reports_total counter"
        yield f"deniable_reports_total {self.reports}"
        yield "# HELP deniable_refused_total Requests and messages that were refused, by reason."
        yield "# TYPE deniable_refused_total counter"
        for reason in sorted(self.refused):
            yield f'deniable_refused_total{{reason="{reason}"}} {self.refused[reason]}'
        with self._lock:
            commits, committed, seconds = list(self._commits), self._committed, self._seconds
        yield "# HELP deniable_commit_seconds How long counting and committing a group of messages took."
        yield "# TYPE deniable_commit_seconds histogram"
        total = 0
        for bound, number in zip((*map(str, SECONDS), "+Inf"), commits, strict=True):
            total += number
            yield f'deniable_commit_seconds_bucket{{le="{bound}"}} {total}'
        yield f"deniable_commit_seconds_sum {seconds:.6f}"
        yield f"deniable_commit_seconds_count {total}"
        yield "# HELP deniable_committed_messages_total Messages in all groups."
        yield "# TYPE deniable_committed_messages_total counter"
        yield f"deniable_committed_messages_total {committed}"
        yield "# HELP deniable_waiting_bytes Messages that wait to be counted."
        yield "# TYPE deniable_waiting_bytes gauge"
        yield f"deniable_waiting_bytes {waiting}"
        yield "# HELP deniable_store_up Whether the last commit went through."
        yield "# TYPE deniable_store_up gauge"
        yield f"deniable_store_up {int(healthy)}"
