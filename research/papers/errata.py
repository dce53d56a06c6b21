"""What is wrong in a paper: the claim, the truth, and a counterexample that runs; and the numbers that its text states."""

from collections.abc import Callable
from dataclasses import dataclass

from research.papers.figure import rounds_to


@dataclass(frozen=True)
class Erratum:
    """A claim that does not hold. `example` is Python with prompts, to be typed after `import deniable as dn`."""

    code: str  # such as "BRR A6"
    claim: str
    truth: str
    example: str


@dataclass(frozen=True)
class Stated:
    """A number in the text of a paper, as printed, and how it is worked out here; with the erratum if it is not matched."""

    place: str
    what: str
    printed: str
    ours: Callable[[], float]
    erratum: str = ""

    @property
    def matched(self) -> bool:
        """Whether ours rounds to the printed number."""
        return rounds_to(self.ours(), self.printed)


@dataclass(frozen=True)
class Paper:
    """A paper: how its figures are called, what it is, what is wrong in it, and what is better here."""

    folder: str
    name: str
    title: str
    errata: tuple[Erratum, ...]
    stated: tuple[Stated, ...]
    improved: tuple[str, ...]
