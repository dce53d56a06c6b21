"""A hierarchy: every person answers at one level, drawn in public, from a few coarse cells to all points of the grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Self, cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import (
    AnyDomain,
    Candidate,
    Coins,
    Domain,
    Drawn,
    Layout,
    Mechanism,
    Number,
    PrivacyLoss,
    PureProtocol,
    Spec,
)
from deniable.core.spec import parts
from deniable.domains.ordered import Ordered
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole, total_error
from deniable.mechanisms.distributions.comb_wave import CombWave
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.level_mix import mixed_shares
from deniable.mechanisms.distributions.square_wave import SquareWave
from deniable.mechanisms.distributions.workload import Workload
from deniable.mechanisms.registry import mechanism_from_spec
from deniable.mechanisms.shares.block_design import BlockDesign
from deniable.mechanisms.shares.channel import Channel
from deniable.mechanisms.shares.direct_response import DirectResponse

WHOLE = 1 << 16  # what the weights of weighted levels sum to, about
RAREST = 0.005  # how often a weighted level is drawn, at least
CUTS = (3, 4, 5, 6, 7, 9, 11, 13, 17, 19, 23, 29, 31, 37, 47, 61, 79, 101, 127, 163, 199)  # cells of mixed levels
COMB, CELLS, POINTS = 0.4, 0.35, 0.25  # about how often a comb, levels and all answers are drawn where they are mixed
MOST_MIXED = 256  # answers for which levels are mixed, which takes a fraction of a second


@dataclass(frozen=True)
class Hierarchy(DistributionMechanism):
    """Draw a level with these weights, and report the cell of the answer at that level with the whole budget.

    A level of k cells cuts the d answers into k parts that are as equal as can be: answer x is in cell x k // d. Each level
    has the mechanism for shares that is best for so many cells among those whose report is one number, or a wave. Which
    level was drawn can be seen in the report, so the loss is that of the worst level. All levels are estimated together by
    generalised least squares, which uses what coarse levels say about fine ones. Hay et al. 2010; Qardaji et al. 2013;
    Cormode, Kulkarni, Srivastava 2019, there with equal levels.
    """

    domain: Domain
    epsilon: float
    levels: Sequence[Mechanism]
    weights: Sequence[int]
    wire = "hierarchy-1"

    def __post_init__(self) -> None:
        levels, weights = tuple(self.levels), tuple(self.weights)
        if not levels or len(levels) != len(weights) or not all(map(is_whole, weights)) or min(weights) < 1:
            raise InvalidParameter("A hierarchy has at least one level, and a positive whole weight for each.")
        if not all(isinstance(level, PureProtocol | Channel) and _is_number(level) for level in levels):
            raise InvalidParameter("The levels of a hierarchy are mechanisms for shares whose report is one number.")
        if max(level.domain.size for level in levels) > self.domain.size or len(levels) > 64:
            raise InvalidParameter("A hierarchy has at most 64 levels, none with more cells than there are answers.")
        self._fix(levels=levels, weights=tuple(map(int, weights)))
        super().__post_init__()

    @classmethod
    def of(cls, domain: Domain, epsilon: float, cells: Sequence[int], weights: Sequence[int] | None = None) -> "Hierarchy":
        """Levels of so many cells, each with its best mechanism for shares; equally often drawn unless weights are given."""
        levels = [level_oracle(each, float(epsilon)) for each in cells]
        return cls(domain, epsilon, levels, [1] * len(levels) if weights is None else weights)

    @classmethod
    def weighted(cls, domain: Domain, epsilon: float, workload: Workload | None = None) -> "Hierarchy":
        """Levels of 2, 4, 8, ... cells and of all answers, as often as the workload needs them; default: all prefixes.

        The weights minimise the mean variance of its questions if all answers are equally common; levels with less than
        half a percent are left out, except that of all answers, without which nothing could be estimated of some.
        """
        size = domain.size
        asked = Workload.prefixes(size) if workload is None else workload
        cells = [1 << level for level in range(1, 31) if 1 << level < size] + [size]
        levels = [level_oracle(each, float(epsilon)) for each in cells]
        shares = level_weights(asked, cells, [gain(level) for level in levels])
        shares[-1] = max(shares[-1], RAREST)
        kept = [place for place, share in enumerate(shares) if share >= RAREST]
        return cls(domain, epsilon, [levels[place] for place in kept], [round(WHOLE * shares[place]) for place in kept])

    @classmethod
    def mixed(cls, domain: Domain, epsilon: float, workload: Workload | None = None) -> "Hierarchy":
        """A comb, levels of many numbers of cells and all answers, as often as the workload needs; default: all prefixes.

        The cells of one level do not end where those of another do, so that no place of the line is worse than others. The
        weights minimise the mean variance of the questions if all answers are equally common (`mixed_shares`).
        """
        size = domain.size
        if size > MOST_MIXED:
            raise InvalidParameter(f"Levels are mixed for at most {MOST_MIXED} answers.")
        asked = Workload.prefixes(size) if workload is None else workload
        cells = [each for each in CUTS if 5 * each < 4 * size]
        oracles = [level_oracle(each, float(epsilon)) for each in (*cells, size)]
        levels: list[Mechanism] = [comb_for(size, float(epsilon)), *oracles]
        apart = np.log([2, *cells, size])  # how much finer levels get decides about how often they are drawn
        often = CELLS * (apart[2:] - apart[:-2]) / (apart[2:] - apart[:-2]).sum()
        known = [cls(domain, epsilon, [level], [1]).information for level in levels]
        shares = mixed_shares(asked, known, [COMB, *often.tolist(), POINTS])
        kept = [place for place, share in enumerate(shares) if share > 0]
        return cls(
            domain, epsilon, [levels[place] for place in kept], [max(1, round(WHOLE * shares[place])) for place in kept]
        )

    @classmethod
    def with_wave(cls, domain: Domain, epsilon: float, wave: DistributionMechanism, points: int) -> "Hierarchy":
        """A wave for the coarse structure, and for `points` % of people all points of the grid, which shows spikes."""
        if not is_whole(points) or not 1 <= points <= 99:
            raise InvalidParameter("From 1 to 99 percent of the people may be asked for all points of the grid.")
        return cls(domain, epsilon, [wave, level_oracle(domain.size, float(epsilon))], [100 - points, points])

    @classmethod
    def comb(cls, domain: Domain, epsilon: float, points: int = 15) -> "Hierarchy":
        """A comb, and for so many people of a hundred all points of the grid: good for smooth and spiky numbers."""
        return cls.with_wave(domain, epsilon, comb_for(domain.size, float(epsilon)), points)

    @classmethod
    def candidates(cls) -> Sequence[Candidate["Hierarchy"]]:
        return (
            *(Candidate(f"comb, {points} % points", partial(cls.comb, points=points)) for points in (10, 15, 20, 30, 40)),
            Candidate("square wave, 20 % points", cls.square),
            Candidate("hierarchy, weighted", cls.weighted, prior="workload"),
            Candidate("hierarchy of four", cls.fours),
            Candidate("points", lambda domain, epsilon: cls.of(domain, epsilon, [domain.size])),
        )

    @classmethod
    def square(cls, domain: Domain, epsilon: float, circular: bool = False, points: int = 20) -> "Hierarchy":
        """A square wave for four people of five, and all points of the grid for the fifth, or for so many percent."""
        wave = SquareWave(Ordered(range(domain.size)), epsilon, circular=circular)
        return cls.with_wave(domain, epsilon, wave, points)

    @classmethod
    def round(cls) -> Sequence[Candidate[DistributionMechanism]]:
        """What planners compare for answers that go round, such as hours and compass points."""
        return (
            *(
                Candidate[DistributionMechanism](f"comb, {points} % points", partial(cls.round_comb, points=points))
                for points in (10, 20, 30, 40)
            ),
            *(
                Candidate[DistributionMechanism](
                    f"square wave, {points} % points", partial(cls.square, circular=True, points=points)
                )
                for points in (10, 20, 30, 40, 60, 80)
            ),
            Candidate("square wave", partial(SquareWave, circular=True)),
        )

    @classmethod
    def round_comb(cls, domain: Domain, epsilon: float, points: int = 20) -> "Hierarchy":
        """A comb that goes round, and for so many people of a hundred all points of the circle."""
        return cls.with_wave(domain, epsilon, CombWave.round(Ordered(range(domain.size)), epsilon), points)

    @classmethod
    def fours(cls, domain: Domain, epsilon: float) -> "Hierarchy":
        """Levels of 4, 16, 64, ... cells and of all answers, equally often: the usual hierarchy."""
        cells = [4**level for level in range(1, 16) if 4**level < domain.size]
        return cls.of(domain, epsilon, [*cells, domain.size])

    @cached_property
    def circular(self) -> bool:  # type: ignore[override]
        return any(isinstance(level, DistributionMechanism) and level.circular for level in self.levels)

    @cached_property
    def starts(self) -> list[int]:
        """Where the reports of each level begin, and where the last end."""
        return np.cumsum([0, *(_reports(level) for level in self.levels)]).tolist()

    @property
    def cells(self) -> int:
        return self.starts[-1]

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.cells),))

    @cached_property
    def shares(self) -> Floats:
        """How often each level is drawn."""
        return level_shares(self.weights)

    @cached_property
    def matrix(self) -> Floats:
        answers = np.arange(self.domain.size)
        return mixed_levels(self.weights, [level_matrix(level)[self._cell(answers, level)] for level in self.levels])

    @cached_property
    def information(self) -> Floats:
        total, answers = np.zeros((self.domain.size,) * 2), np.arange(self.domain.size)
        for share, level in zip(self.shares, self.levels, strict=True):
            cell = self._cell(answers, level)
            total += share * level_information(level, tuple(np.bincount(cell).tolist()))[np.ix_(cell, cell)]
        return total

    def _cell(self, truth: Any, level: Mechanism) -> Any:
        """The cell of each answer at a level."""
        same = level.domain.size == self.domain.size
        return truth if same else truth * level.domain.size // self.domain.size

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        chosen = coins.pick(self.weights, len(truth))
        value: Any = None
        for place, (level, start) in enumerate(zip(self.levels, self.starts, strict=False)):
            (own,) = level.randomize(self._cell(truth, level), coins).values()
            value = own + start if value is None else np.where(chosen == place, own + start, value)
        return {"value": value}

    def loss(self) -> PrivacyLoss:
        odds = [level.loss().odds for level in self.levels]
        return PrivacyLoss(None if None in odds else max(each for each in odds if each is not None))

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        levels = [mechanism_from_spec(level) for level in parts(parameters, "levels")]
        return super().from_parameters(domain, epsilon, {**parameters, "levels": levels})

    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters(), "levels": [level.spec() for level in self.levels]}


def _is_number(level: Mechanism) -> bool:
    return len(level.layout.fields) == 1 and isinstance(level.layout.fields[0], Number)


def _reports(level: Mechanism) -> int:
    """How many different reports a level has."""
    return cast(Number, level.layout.fields[0]).below


@lru_cache(maxsize=256)
def level_oracle(cells: int, epsilon: float) -> PureProtocol:
    """The mechanism for the shares of so many cells with the smallest error, among those whose report is one number."""
    domain = Ordered(range(cells))
    made = [DirectResponse(domain, epsilon), BlockDesign(domain, epsilon)]
    return min(made, key=lambda each: total_error(cells, each.p, each.q))


def level_shares(weights: Sequence[int]) -> Floats:
    """How often each level is drawn, given their whole weights."""
    return np.array(weights, np.float64) / sum(weights)


def mixed_levels(weights: Sequence[int], matrices: Sequence[Floats]) -> Floats:
    """The probabilities of all reports, given those of the reports at each level."""
    return np.concatenate([share * each for share, each in zip(level_shares(weights), matrices, strict=True)], axis=1)


def level_matrix(level: Mechanism) -> Floats:
    """The probability of each report of a level, a row for each cell."""
    if isinstance(level, Channel):
        return level.matrix
    protocol = cast(PureProtocol, level)
    (field,) = protocol.layout.fields
    every = {field.name: np.arange(_reports(level)).astype(cast(Number, field).dtype)}
    odds = protocol.loss().odds
    assert odds is not None
    chances = np.where(protocol.supports(every, np.arange(level.domain.size)).T, float(odds), 1.0)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


@lru_cache(maxsize=32)
def comb_for(size: int, epsilon: float) -> CombWave:
    """The comb wave for so many answers; its matrices are computed once for all hierarchies with it."""
    return CombWave(Ordered(range(size)), epsilon)


@lru_cache(maxsize=64)
def level_information(level: Mechanism, answers: tuple[int, ...]) -> Floats:
    """What one report of a level says about the shares of its cells, if they have so many answers, all equally common."""
    matrix = level_matrix(level)
    return np.asarray((matrix / (np.array(answers) / sum(answers) @ matrix)) @ matrix.T)


def gain(level: Mechanism) -> float:
    """What one report says about the share of a cell: one over the variance of a contrast of cells, if they are even."""
    matrix = level_matrix(level)
    information = (matrix / matrix.mean(axis=0)) @ matrix.T
    return float((np.trace(information) - information.mean() * len(matrix)) / (len(matrix) - 1))


def level_weights(workload: Workload, cells: Sequence[int], gains: Sequence[float], rounds: int = 2000) -> Floats:
    """How often to draw each level, so that the mean variance of the questions is least, if answers are even.

    Cells are cut in two from level to level. So the differences between the halves of the cells of one level, for all
    levels, are a basis in which errors do not depend on each other: level k cells says share gain (d / k) about all
    differences within coarser levels, and nothing about others.
    """
    size, centred = workload.size, workload.centred
    shown = [0.0]
    for each in cells:
        cell = np.arange(size) * each // size
        sums = np.add.reduceat(np.add.reduceat(centred, _starts(cell), axis=0), _starts(cell), axis=1)
        shown.append(float((sums.diagonal() / np.bincount(cell)).sum()))
    costs = np.maximum(np.diff(shown), 0)  # of the differences that each level is the first to show
    strength = np.array([own * size / each for own, each in zip(gains, cells, strict=True)])
    shares = np.full(len(cells), 1 / len(cells))
    for _ in range(rounds):
        precision = np.cumsum((shares * strength)[::-1])[::-1]  # finer levels show these differences too
        slopes = np.cumsum(np.divide(costs, precision**2, out=np.zeros(len(costs)), where=costs > 0)) * strength
        shares = shares * np.sqrt(slopes)
        shares /= shares.sum()
    return np.asarray(shares)


def _starts(cell: Ints) -> Ints:
    return np.unique(cell, return_index=True)[1]
