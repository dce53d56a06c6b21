"""A figure to be measured, and the line it becomes."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from benchmarks.effort import Effort


@dataclass(frozen=True)
class Figure:
    """How to measure ours, and the bound with its name; peers are asked for the same figure by name."""

    name: str
    unit: str
    ours: Callable[[Effort], float]
    bound: Callable[[Effort], tuple[float, str]]
    has_peers: bool

    def is_under(self, prefix: str) -> bool:
        return f"{self.name}/".startswith(f"{prefix.rstrip('/')}/")


@dataclass(frozen=True)
class Line:
    """One measured figure; the peer is None where there is none."""

    name: str
    ours: float
    peer: float | None
    peer_name: str | None
    bound: float
    bound_name: str
    unit: str

    @property
    def ratio(self) -> float | None:
        return None if self.peer is None else self.ours / self.peer

    def record(self) -> dict[str, object]:
        return {**asdict(self), "ratio": self.ratio}
