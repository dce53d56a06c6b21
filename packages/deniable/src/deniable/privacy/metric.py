"""Metric privacy: the loss of a law as a function of the distance between two answers, and its certificate."""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Domain, Mechanism
from deniable.core.odds import exp_below
from deniable.domains.metric import metric_of
from deniable.errors import NotCertifiable
from deniable.mechanisms.algebra.distances import distances_of, pair_odds, steepest
from deniable.mechanisms.releases.metric_release import MetricRelease, distance_to, promised
from deniable.privacy.certificate import Certificate, shown_answer
from deniable.privacy.certify import by_rules, enumerated
from deniable.privacy.law import LIMIT, law, outcomes
from deniable.privacy.proofs import proves
from deniable.privacy.prove import check_own_answers, law_that_runs

CLEAR = 1e-12  # floats decide which pairs keep the promise where they are further than this share from its limit
STEPS = 8  # distances at which a certificate lists the loss


@dataclass(frozen=True)
class MetricLoss:
    """The exact loss of a law per unit of distance, the pair where it is worst, and the loss up to some distances.

    No report is more than e^(per_unit d) times as likely under one answer as under another at distance d. `per_unit` is
    None if some report rules out an answer.
    """

    per_unit: float | None  # the largest loss of a pair divided by its distance, rounded up
    pair: tuple[object, object]  # the two answers where that is
    odds: Fraction | None  # of this pair
    distance: float  # between them
    within: tuple[tuple[float, float], ...]  # a distance, and the largest loss of all pairs up to it
    broken: int = 0  # unordered pairs beyond the promise, where one was given
    unit: str = ""

    @property
    def farthest(self) -> float:
        """The largest distance between two answers."""
        return self.within[-1][0]

    def __str__(self) -> str:
        if self.per_unit is None:
            return "no promise: some report rules out an answer"
        return f"epsilon {self.per_unit:.9g} per {self.unit or 'unit'}: {promised(self.per_unit, self.farthest, self.unit)}"


def metric_loss(mechanism: Mechanism, promise: float | None = None, limit: int = LIMIT) -> MetricLoss:
    """The loss of any mechanism whose answers have distances, for every pair, from the law that runs.

    With a promised epsilon per unit, the pairs that exceed it are counted: exactly, in fractions where floats are too close.
    """
    law_that_runs(mechanism)
    metric = metric_of(cast(Domain, mechanism.domain))
    apart, weights = distances_of(metric), exact_weights(mechanism, limit)
    found = steepest(weights, apart)
    first, second = found.pair
    pair = mechanism.domain.answer(first), mechanism.domain.answer(second)
    ends = np.linspace(apart[apart > 0].min(), apart.max(), STEPS)
    within = [(float(end), float(found.losses[apart <= end * (1 + CLEAR)].max())) for end in ends]
    broken = 0 if promise is None else _broken(weights, found.losses, apart, promise)
    return MetricLoss(found.rate, pair, found.odds, float(apart[first, second]), tuple(within), broken, metric.unit)


def exact_weights(mechanism: Mechanism, limit: int = LIMIT) -> Ints:
    """The law as whole numbers with one sum, a row for each answer and a column for each report."""
    program, size = mechanism.law, mechanism.domain.size
    if [node.op for node in program.nodes] == ["code", "pick_each"] and [place for _, place in program.report] == [1]:
        (codes,) = mechanism.domain.encode([mechanism.domain.answer(index) for index in range(size)])
        return np.array(program.nodes[1].params[0], np.int64)[codes]  # the table is the law
    if outcomes(mechanism, 0) * size > limit:
        raise NotCertifiable(f"The law has too many outcomes to compare every pair of answers; the limit is {limit}.")
    laws = [dict(law(mechanism, index, limit).items()) for index in range(size)]
    reports = sorted(set().union(*laws))
    whole = np.lcm.reduce(np.array([chance.denominator for own in laws for chance in own.values()], object))
    return np.array([[int(own.get(report, 0) * whole) for report in reports] for own in laws], object)


def _broken(weights: Ints, losses: Floats, apart: Floats, promise: float) -> int:
    """How many pairs exceed e^(promise distance). What floats cannot decide is decided in fractions."""
    allowed = promise * apart
    beyond = losses > allowed * (1 + CLEAR) + CLEAR / 10
    close = (losses > allowed * (1 - CLEAR) - CLEAR / 10) & ~beyond & (apart > 0)
    for first, second in np.argwhere(close).tolist():
        odds = pair_odds(weights[first], weights[second])
        beyond[first, second] = odds is None or odds > exp_below(Fraction(promise) * Fraction(float(apart[first, second])))
    return int((beyond | beyond.T).sum()) // 2


@dataclass(frozen=True)
class MetricCertificate(Certificate):
    """A certificate whose loss is a function of distance: it holds if every pair of answers keeps epsilon times distance."""

    metric: MetricLoss | None = None

    @property
    def holds(self) -> bool:
        return super().holds and self.metric is not None and self.metric.per_unit is not None and not self.metric.broken

    def further(self) -> list[tuple[str, str]]:
        assert self.metric is not None and isinstance(self.mechanism, MetricRelease)
        found, per = self.metric, f"per {self.metric.unit or 'unit'} of distance"
        first, second = map(shown_answer, found.pair)
        worst = "unbounded" if found.per_unit is None else f"epsilon {found.per_unit:.12g} {per}"
        unit, rate = found.unit and f" {found.unit}", self.mechanism.rate
        losses = "; ".join(f"{distance:.4g}{unit} apart: epsilon {loss:.6g}" for distance, loss in found.within)
        lines = [
            ("promise", f"epsilon {rate:.12g} {per}: {self.mechanism.promise()}; d{unit} apart: e^({rate:g} d)"),
            ("by distance", f"{worst}, at {first} against {second}, {found.distance:.6g}{unit} apart"),
            ("up to", losses),
        ]
        lines += [("broken", f"{found.broken:,} pairs of answers exceed the promise")] if found.broken else []
        return [*lines, ("accuracy", self._accuracy())]

    def _accuracy(self) -> str:
        """The expected loss, and how far it is at most from the best possible."""
        assert isinstance(self.mechanism, MetricRelease)
        found, unit = self.mechanism.accuracy, self.mechanism.metric.unit
        if found is None:
            loss = f"{self.mechanism.expected_loss():.4g}{unit and f' {unit}'}"
            unknown = "the distance from the best possible was not computed (MetricRelease.bounded does so)"
            return f"expected loss {loss} for equally common answers; {unknown}"
        answers = "equally common answers" if found.even else "answers as common as its prior says"
        return f"{distance_to(found.expected, found.bound, unit)}, for {answers}"

    def record(self) -> dict[str, object]:
        assert self.metric is not None and isinstance(self.mechanism, MetricRelease)
        found, accuracy = self.metric, self.mechanism.accuracy
        known = {} if accuracy is None else {"accuracy": accuracy.record()}
        return super().record() | {
            "per_unit": found.per_unit,
            "promised_per_unit": self.mechanism.rate,
            "distance_unit": found.unit,
            "worst_per_unit": {
                "pair": list(found.pair),
                "odds": None if found.odds is None else str(found.odds),
                "distance": found.distance,
            },
            "within": [list(each) for each in found.within],
            "broken_pairs": found.broken,
            **known,
        }


def _certified(mechanism: MetricRelease, limit: int, base: Certificate) -> MetricCertificate:
    check_own_answers(mechanism)
    given = {each.name: getattr(base, each.name) for each in fields(Certificate)}
    return MetricCertificate(**given, metric=metric_loss(mechanism, mechanism.rate, limit))


@proves(MetricRelease, None)
def metric_by_rules(mechanism: MetricRelease, limit: int) -> MetricCertificate:
    """The loss by the rules, and every pair compared at its distance."""
    return _certified(mechanism, limit, by_rules(mechanism, limit))


@proves(MetricRelease, "enumerated")
def metric_enumerated(mechanism: MetricRelease, limit: int) -> MetricCertificate:
    """The same, with all outcomes enumerated."""
    return _certified(mechanism, limit, enumerated(mechanism, limit))
