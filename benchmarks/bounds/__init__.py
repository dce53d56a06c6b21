"""What the hardware allows: each phase of a frequency oracle as a simple loop with nothing around it."""

from benchmarks.bounds.bound import Bound, fastest_available

__all__ = ["Bound", "fastest_available"]
