"""Answers nobody listed: find the most frequent strings among reports, and say how sure each is."""

from deniable.discovery.discover import decode, discover
from deniable.discovery.found import Found, Name
from deniable.discovery.planning import plan_discovery, published_discovery
from deniable.discovery.verifying import known

__all__ = ["Found", "Name", "decode", "discover", "known", "plan_discovery", "published_discovery"]
