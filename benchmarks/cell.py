"""What is measured of a frequency oracle: which mechanism, which phase, how many categories."""

from typing import NamedTuple, Self

EPSILON = 1.0
SIZES = (16, 128, 1024)
PHASES = {
    "direct": ("perturb", "count", "estimate"),
    "unary": ("perturb", "count"),
    "subset": ("perturb", "count"),
    "hashing": ("perturb", "count"),
    "wheel": ("perturb", "count"),
    "hadamard": ("perturb", "count"),
    "design": ("perturb", "count"),
}
VARIANTS = {"unary": ("optimized", "symmetric")}  # of the others there is one


class Cell(NamedTuple):
    """`estimate` is the whole way from reports to estimate, counting included."""

    mechanism: str
    phase: str
    variant: str
    size: int

    @property
    def name(self) -> str:
        return "/".join(str(part) for part in self if part)

    @classmethod
    def parse(cls, name: str) -> Self:
        mechanism, phase, *variant, size = name.split("/")
        return cls(mechanism, phase, "".join(variant), int(size))


CELLS = [
    Cell(mechanism, phase, variant, size)
    for mechanism, phases in PHASES.items()
    for phase in phases
    for variant in VARIANTS.get(mechanism, ("",))
    for size in SIZES
]
