"""The same tally on many processes or machines: files are mapped to tallies, and tallies add."""

from deniable.aggregate.counting import aggregate
from deniable.aggregate.manifest import Aggregate, Manifest
from deniable.aggregate.perturbing import perturb_files
from deniable.verbs import callable_package

__all__ = ["Aggregate", "Manifest", "aggregate", "perturb_files"]

callable_package(__name__, aggregate)
