"""What receives reports: an intake that counts each once, a store, and published results."""

from deniable.collector.collector import Collector
from deniable.collector.publish import Results, results
from deniable.collector.store import Store, open_store, opened
from deniable.collector.verdicts import Counted, Refusal, Verdict

__all__ = ["Collector", "Counted", "Refusal", "Results", "Store", "Verdict", "open_store", "opened", "results"]
