"""The channel for a given workload: any law with finitely many reports, improved until it hardly gets better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.core import Candidate, Coins, Domain, PrivacyLoss, WeightTable, checked_epsilon, odds_below
from deniable.domains import Ordered
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.hierarchy import Hierarchy
from deniable.mechanisms.distributions.workload import Workload
from deniable.mechanisms.shares.finite_channel import worst_odds

TOTAL = 1 << 40  # what the weights of a row sum to
LARGEST = 256  # answers of an improved channel
OFFERED = 32  # answers up to which planners improve one, which takes about a second
POINTS = 5  # percent of the people who are asked for all points of the grid, where answers are merged
RARE = 1e-7  # reports that are rarer than this under all answers are left out


@dataclass(frozen=True)
class WorkloadChannel(DistributionMechanism):
    """Report j on answer i with probability weights[i][j] / total.

    `optimal` improves the best known channel for a workload by projected gradient steps over all channels with as many
    reports (McKenna, Maity, Mazumdar, Miklau 2020), and rounds it to whole weights that keep the budget exactly.
    """

    domain: Domain
    epsilon: float
    weights: Sequence[Sequence[int]]
    table: WeightTable = field(init=False, repr=False, compare=False)  # the weights as an array, for sampling
    wire = "workload-1"
    derived = ()

    def __post_init__(self) -> None:
        table = WeightTable(self.weights if isinstance(self.weights, np.ndarray) else [list(row) for row in self.weights])
        if len(table.weights) != self.domain.size or table.weights.shape[1] < 2:
            raise InvalidParameter(f"A channel for this question has {self.domain.size} rows of two or more weights.")
        self._fix(weights=tuple(tuple(row) for row in table.weights.tolist()), table=table)
        super().__post_init__()

    @classmethod
    def optimal(
        cls, domain: Domain, epsilon: float, workload: Workload | None = None, rounds: int = 100
    ) -> "WorkloadChannel":
        """The channel that so many gradient steps lead to, for a workload or all prefixes, if answers are equally common."""
        if domain.size > LARGEST:
            raise InvalidParameter(f"Channels are improved for at most {LARGEST} answers. Use a hierarchy for more.")
        asked = Workload.prefixes(domain.size) if workload is None else workload
        makers = [candidate for candidate in Hierarchy.candidates() if candidate.name != "points"]
        known = [candidate.made(domain, checked_epsilon(epsilon), asked) for candidate in makers]
        even = np.full(domain.size, 1 / domain.size)
        start = min(known, key=lambda each: asked.mean_square(each.joint_noise(even)))
        odds = odds_below(float(epsilon))
        return cls(domain, epsilon, whole_weights(improved(start.matrix.T, asked, float(odds), rounds), odds).tolist())

    @classmethod
    def merged(cls, domain: Domain, epsilon: float, workload: Workload) -> Hierarchy:
        """The improved channel for what the questions tell apart, and for 5 % of people all points of the grid.

        Three questions about ranges cut the line into at most seven parts: with so few, a channel says far more about
        each. Those who are asked for points make it possible to estimate everything else, if less exactly.
        """
        first, group = np.unique(workload.alike, return_inverse=True)
        if not 2 <= len(first) <= OFFERED:
            raise InvalidParameter(
                f"It is for questions that distinguish 2 to {OFFERED} parts of the answers; these "
                f"distinguish {len(first):,}."
            )
        parts = cls.optimal(Ordered(range(len(first))), epsilon, workload.about(first))
        wave = cls(Ordered(range(domain.size)), epsilon, parts.table.weights[group].tolist())
        return Hierarchy.with_wave(domain, epsilon, wave, POINTS)

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("workload channel", cls.optimal, OFFERED, prior="workload"),)

    @property
    def cells(self) -> int:
        return self.table.weights.shape[1]

    @cached_property
    def matrix(self) -> Floats:
        return self.table.weights / self.table.total

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return {"value": coins.pick_each(self.table, truth)}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(worst_odds(self.table.weights))


def improved(channel: Floats, workload: Workload, odds: float, rounds: int, known: Floats | float = 0.0) -> Floats:
    """A channel, a column for each answer, with a smaller mean variance of the questions; every step lowers it.

    `known` is what is known about the shares without the reports, as a precision for each report and answer.
    """
    gram, least = workload.centred, channel.min(axis=1)
    channel, free = projected(channel, least, odds)
    value, slope = _objective(channel, gram, known)
    if not slope.any():
        return channel  # at the smallest budgets rounding leaves no direction
    step = 0.1 * float(np.abs(channel).mean() / np.abs(slope).mean())
    for _ in range(rounds):
        # How the best value changes with the least probabilities, whose multiples bound what is not free.
        many = free.sum(axis=0)
        mean = np.where(many > 0, np.where(free, slope, 0).sum(axis=0) / np.maximum(many, 1), slope.mean(axis=0))
        low = channel <= least[:, None] * (1 + 1e-12)
        bound = (np.where(free, 0, np.where(low, 1.0, odds)) * (slope - mean)).sum(axis=1) / channel.shape[1]
        for halved in range(24):
            trial = np.maximum(least - step * bound, least / 2) if halved % 2 == 0 else least
            trial = trial * np.clip(1.0, 1.001 / (odds * trial.sum()), 0.999 / trial.sum())
            moved, loose = projected(channel - step * slope, trial, odds)
            found, steepest = _objective(moved, gram, known)
            if found < value * (1 - 1e-9):
                break
            step /= 2
        else:
            break
        channel, free, least, value, slope, step = moved, loose, trial, found, steepest, 2 * step
    return channel


def _objective(channel: Floats, gram: Floats, known: Floats | float) -> tuple[float, Floats]:
    """The sum of all variances, times the number of answers, and its gradient; infinity where it has no inverse."""
    common = channel.sum(axis=1)
    scaled = channel / np.where(common > 0, common, 1)[:, None]
    information = scaled.T @ channel + known
    variances, basis = np.linalg.eigh(information)
    if variances[0] <= 1e-9 * variances[-1]:
        return np.inf, np.zeros_like(channel)
    inverse = (basis / variances) @ basis.T
    pulled = scaled @ (inverse @ gram @ inverse)
    return float(np.sum(inverse * gram)), -2 * pulled + (pulled * scaled).sum(axis=1)[:, None]


def projected(channel: Floats, least: Floats, odds: float) -> tuple[Floats, Bools]:
    """The nearest channel with probabilities from `least` to odds times that, and where they lie between."""
    low, high = least[:, None], odds * least[:, None]
    below, above = (low - channel).min(axis=0), (high - channel).max(axis=0)
    for _ in range(60):
        middle = (below + above) / 2
        much = np.clip(channel + middle, low, high).sum(axis=0) > 1
        above, below = np.where(much, middle, above), np.where(much, below, middle)
    moved = np.clip(channel + (below + above) / 2, low, high)
    return moved / moved.sum(axis=0), (moved > low) & (moved < high)


def whole_weights(channel: Floats, odds: Fraction) -> Ints:
    """Whole weights near a channel, a row for each answer, all with one sum and within the odds exactly."""
    kept = channel[channel.max(axis=1) > RARE]
    low = np.maximum(np.rint(kept.min(axis=1) * TOTAL), 1).astype(np.int64)
    high = np.array([int(least) * odds.numerator // odds.denominator for least in low], np.int64)
    weights = np.clip(np.rint(kept * TOTAL).astype(np.int64), low[:, None], high[:, None])
    for answer in range(weights.shape[1]):
        missing = TOTAL - int(weights[:, answer].sum())
        room = (high if missing > 0 else low) - weights[:, answer]
        given = np.sign(missing) * np.minimum(np.cumsum(np.abs(room)), abs(missing))
        weights[:, answer] += np.diff(given, prepend=0)
    if (weights.sum(axis=0) != TOTAL).any():
        raise InvalidParameter("This channel leaves no room to round it within its budget.")
    return np.ascontiguousarray(weights.T)
