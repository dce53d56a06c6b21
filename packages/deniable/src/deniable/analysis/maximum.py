"""The maximum of a likelihood: Newton's method from a start that a part of the people gives."""

from dataclasses import dataclass

import numpy as np

from deniable.analysis.likelihood import SMALLEST, Mixture, Step
from deniable.analysis.patterns import spread
from deniable.arrays import Floats

MOST_ROUNDS = 200
CLOSE = 1e-9  # twice the gain in log-likelihood that is still to be had before the last step, which squares it
_AT_THE_EDGE = 1e-5  # the same, where a share on its way to 0 or 1 makes the search endless
_ROUGH = 1.0  # the same of a start: less than what differs between some of the people and all of them
_FLAT = 1e-8  # the same, where no step improves the value within rounding
FEW, _PARTS = 4096, (16, 4)  # so many people are fitted at once; of more, at first these parts
_SURE = 30.0  # a logit this far from 0 is a share of 0 or 1
_BENDS = 0.55  # of what its slope promises, a step on a parabola gains a half


@dataclass(frozen=True, eq=False)
class Maximum:
    """The parameters with the largest likelihood, the derivatives there, and whether the search has ended."""

    parameters: Floats
    step: Step
    converged: bool
    rounds: int


def maximum(model: Mixture, intercept: bool) -> Maximum:
    """The maximum of this likelihood; `intercept` says that the first coefficient is one."""
    first, people = _start(model, intercept), len(model.weights)
    for part in _PARTS:
        if people > 4 * FEW and people // part > FEW:
            some = model.of(spread(people, people // part))
            first = _moderate(model, _newton(some, first, _ROUGH).parameters)
    return _newton(model, first, CLOSE)


def _start(model: Mixture, intercept: bool) -> Floats:
    """A first guess: nobody differs, and the states have the shares of all people together."""
    part = model.of(spread(len(model.weights), FEW))
    columns, outcome, found = model.columns, part.outcome, np.zeros(model.size)
    level, extra = outcome.start(part.weights)
    if intercept:
        found[0] = level
    found[columns.coefficients : columns.coefficients + outcome.extra] = extra
    if columns.states > 1:
        shares = np.full(columns.states, 1 / columns.states)
        for _ in range(50):  # expectation maximisation
            joint = shares[:, None] * part.seen
            shares = joint / np.maximum(joint.sum(axis=0), SMALLEST) @ part.weights / part.weights.sum()
        levels = np.log(np.maximum(shares, 1e-3 / columns.states))
        constant = columns.shares[0]  # whose features are those of the states alone
        found[model.own :][: constant.size] = np.linalg.lstsq(constant.features, levels - levels[0])[0]
    return found


def _moderate(model: Mixture, parameters: Floats) -> Floats:
    """The same, with shares of states that are not yet 0 or 1: what a part of the people cannot show others may."""
    furthest = np.abs(model.logits(parameters)).max(initial=SMALLEST)
    return np.concatenate([parameters[: model.own], parameters[model.own :] * min(1, _SURE / furthest)])


def _newton(model: Mixture, found: Floats, close: float) -> Maximum:
    step = model.step(found)
    for turn in range(1, MOST_ROUNDS + 1):
        direction = _ascent(step)
        slope = float(step.gradient @ direction)
        if slope < _AT_THE_EDGE and model.furthest(found) > _SURE:
            return Maximum(found, step, True, turn)
        if slope < close:
            return Maximum(found + direction, step, True, turn)
        further = model.step(found + direction)
        length, value = _length(model, found, direction, step.value, slope, further.value)
        if not value > step.value:  # no better point within rounding
            return Maximum(found, step, slope < _FLAT, turn)
        found = found + length * direction
        step = further if length == 1 else model.step(found)
    return Maximum(found, step, False, MOST_ROUNDS)


def _length(
    model: Mixture, found: Floats, direction: Floats, value: float, slope: float, reached: float
) -> tuple[float, float]:
    """How far to go in this direction, and the value there; `reached` is that of Newton's step.

    Newton's step is made shorter until it gains some of what its slope promises, and longer where it gains more than a
    parabola would: then a parameter may be on its way to infinity.
    """
    length = 1.0
    if reached > value + _BENDS * slope:
        while length < 64 and (further := model.value(found + 2 * length * direction)) > reached:
            length, reached = 2 * length, further
    while reached < value + 1e-4 * length * slope and length > 1e-8:
        length /= 2
        reached = model.value(found + length * direction)
    return length, reached


def _ascent(step: Step) -> Floats:
    """Newton's step; where the likelihood is not concave, that of the nearest matrix for which it would be."""
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(step.information)), 1e-12))
    values, vectors = np.linalg.eigh(step.information * np.outer(scale, scale))
    values = np.maximum(np.abs(values), 1e-8)
    return np.asarray(scale * (vectors @ (vectors.T @ (scale * step.gradient) / values)))
