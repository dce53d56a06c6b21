"""Regression on randomized answers: logistic and linear, by the exact likelihood or by moments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from deniable.analysis.decoder import same_people
from deniable.analysis.design import Design, Variable, answer_of, silent, variable
from deniable.analysis.distributions import NORMAL, two_sided
from deniable.analysis.formula import Factor, Formula
from deniable.analysis.likelihood import FAR, Binary, Mixture, Normal, Outcome
from deniable.analysis.outcome import formatted_p
from deniable.arrays import Floats
from deniable.core import Mechanism, confidence_each
from deniable.domains.categories import NO_ANSWER
from deniable.errors import InvalidParameter
from deniable.planning.ranking import aligned

Family = Literal["logistic", "linear"]
Method = Literal["likelihood", "moments"]
FEWEST = 3  # people for each coefficient


@dataclass(frozen=True, eq=False)
class Regression:
    """The coefficients of a model of the population, with errors that include the privacy noise."""

    formula: Formula
    family: Family
    method: Method
    names: list[str]
    coefficients: Floats
    covariance: Floats
    n: int
    randomized: tuple[str, ...]
    log_likelihood: float | None
    deviation: float | None  # of the errors of a linear model
    converged: bool
    notes: tuple[str, ...]

    @property
    def standard_error(self) -> Floats:
        """The standard error of each coefficient."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of normal confidence intervals of the coefficients."""
        reach = NORMAL.inv_cdf((1 + confidence_each(confidence, 1)) / 2) * self.standard_error
        return self.coefficients - reach, self.coefficients + reach

    @property
    def p_values(self) -> Floats:
        """For each coefficient, how likely one so far from zero would be if the true one were zero."""
        errors = np.maximum(self.standard_error, 1e-300)
        return np.array([two_sided(float(z)) for z in self.coefficients / errors])

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise InvalidParameter(f"The coefficients are {', '.join(map(repr, self.names))}.")
        return float(self.coefficients[self.names.index(name)])

    def rows(self, confidence: float = 0.95) -> list[dict[str, object]]:
        """A row for each coefficient: its name, value, standard error, z, p-value and interval."""
        numbers = zip(
            self.coefficients, self.standard_error, self.coefficients / np.maximum(self.standard_error, 1e-300),
            self.p_values, *self.interval(confidence), strict=True,
        )  # fmt: skip
        columns = ("coefficient", "standard_error", "z", "p_value", "low", "high")
        return [
            {"name": name, **dict(zip(columns, map(float, own), strict=True))}
            for name, own in zip(self.names, numbers, strict=True)
        ]

    def summary(self, confidence: float = 0.95) -> str:
        """The coefficients as a table, with what they were estimated from and how."""
        hidden = ", ".join(self.randomized) or "nothing"
        fit = {"likelihood": "exact likelihood", "moments": "corrected moments"}[self.method]
        lines = [
            f"{self.family} regression: {self.formula}",
            f"{self.n:,} people, randomized: {hidden}, {fit}"
            + (f", log-likelihood {self.log_likelihood:.2f}" if self.log_likelihood is not None else "")
            + (f", error deviation {self.deviation:.4g}" if self.deviation is not None else ""),
        ]
        head = ["", "coef", "std err", "z", "P>|z|", f"[{(1 - confidence) / 2:.3g}", f"{(1 + confidence) / 2:.3g}]"]
        cells = [
            [str(row["name"]), *(f"{row[key]:.4f}" for key in ("coefficient", "standard_error")), f"{row['z']:.2f}",
             formatted_p(float(str(row["p_value"]))), f"{row['low']:.3f}", f"{row['high']:.3f}"]
            for row in self.rows(confidence)
        ]  # fmt: skip
        return "\n".join([*lines, aligned([head, *cells]), *self.notes])

    def __str__(self) -> str:
        return self.summary()


def regress(
    formula: str,
    data: Any,
    mechanisms: Mapping[str, Mechanism] | None = None,
    *,
    family: Family | None = None,
    method: Method | None = None,
    weights: ArrayLike | None = None,
) -> Regression:
    """The model of a population in which some answers were randomized; any of outcome and covariates may be.

    `data` maps names to columns, with a row for each person: numbers or words that are open, or the reports on a question,
    whose mechanism is in `mechanisms`. An outcome with two answers, or one answer of an outcome as in "smokes[yes] ~ age",
    gives a logistic model, numbers a linear one; `family` overrides that. The first answer is the reference.

    By default the exact likelihood is maximised. A linear model of a randomized outcome, and one answer of more than two,
    are fitted by moments, which assume nothing of the rest of the distribution. `method="moments"` fits any model that
    way: nothing is assumed about how randomized covariates depend on the open ones, and errors are larger. With `weights`,
    such as those of a sample, errors are those of the weighted estimate (sandwich).
    """
    read, own = Formula.parse(formula), dict(mechanisms or {})
    outcome = variable(read.outcome.name, data, own)
    design = Design.of(read, data, own)
    if read.variables:
        same_people([(outcome.name, outcome.people), *((each.name, each.people) for each in design.variables.values())])
    else:
        design = Design(read, {}, outcome.people)
    if outcome.people < FEWEST * len(design.names):
        raise InvalidParameter(f"{len(design.names)} coefficients need at least {FEWEST * len(design.names)} people.")
    kind = family or _family(outcome, read.outcome)
    if kind not in ("logistic", "linear") or method not in (None, "likelihood", "moments"):
        raise InvalidParameter('The family is "logistic" or "linear", and the method "likelihood" or "moments".')
    if kind == "linear" and method == "likelihood" and outcome.decoder is not None:
        raise InvalidParameter("A linear model of a randomized outcome has no exact likelihood. Use method='moments'.")
    inexact = outcome.decoder is not None and (kind == "linear" or outcome.decoder.size > 2)
    used: Method = method or ("moments" if inexact else "likelihood")
    design.check_rank()
    counted = _weights(weights, outcome.people)
    fit = _by_likelihood if used == "likelihood" else _by_moments
    return fit(design, outcome, kind, counted, weights is not None)


def _family(outcome: Variable, factor: Factor) -> Family:
    if factor.answer is not None or (outcome.labels is not None and len(outcome.labels) == 2):
        return "logistic"
    if outcome.labels is None:
        return "logistic" if np.isin(outcome.values, (0, 1)).all() else "linear"
    if NO_ANSWER in outcome.labels:
        raise silent(outcome)
    if outcome.numeric:
        return "linear"
    raise InvalidParameter(
        f"The outcome {outcome.name!r} has {len(outcome.labels)} answers that are not numbers. Choose the one to explain: "
        f"{outcome.name}[{outcome.labels[0]}]."
    )


def _weights(weights: ArrayLike | None, people: int) -> Floats:
    if weights is None:
        return np.ones(people)
    found = np.asarray(weights, np.float64)
    if found.shape != (people,) or not np.isfinite(found).all() or (found < 0).any() or found.sum() <= 0:
        raise InvalidParameter("Weights are one number for each person, not negative, and not all zero.")
    return found * people / found.sum()


def _success(outcome: Variable, factor: Factor) -> int:
    """The number of the answer that a logistic model explains: the one that is named, or the second of two."""
    if factor.answer is not None:
        return answer_of(outcome, factor)
    if outcome.labels is not None and len(outcome.labels) != 2:
        raise InvalidParameter(f"A logistic model explains one answer. Write {outcome.name}[{outcome.labels[0]}].")
    return 1


def _explained(outcome: Variable, factor: Factor, kind: Family) -> Outcome:
    """What is known of the outcome, for the likelihood."""
    if kind == "linear":
        if outcome.labels is not None:
            raise InvalidParameter(f"A linear model needs numbers, and {outcome.name!r} has answers in words.")
        return Normal(outcome.values)
    place = _success(outcome, factor)
    if outcome.decoder is None:
        yes = _open_success(outcome, factor, place)
        return Binary(1 - yes, yes)
    seen = outcome.likelihood
    others = np.delete(seen, place, axis=1)
    if others.shape[1] > 1 and np.ptp(others, axis=1).max() > 1e-12:
        raise _many_answers(outcome)
    return Binary(others[:, 0], seen[:, place])


def _many_answers(outcome: Variable) -> InvalidParameter:
    return InvalidParameter(
        f"The reports on {outcome.name!r} also distinguish its other answers, whose shares the model says nothing about. "
        "Use method='moments', which needs no model of them."
    )


def _open_success(outcome: Variable, factor: Factor, place: int) -> Floats:
    if outcome.labels is None:
        numbers = np.unique(outcome.values)
        if factor.answer is None and not np.isin(numbers, (0, 1)).all():
            raise InvalidParameter(
                f"A logistic model needs an outcome of 0 and 1, or of two answers, unlike {outcome.name!r}."
            )
        return np.asarray(outcome.values == (numbers[place] if factor.answer is not None else 1), np.float64)
    return np.asarray(outcome.values == place, np.float64)


def _by_likelihood(design: Design, outcome: Variable, kind: Family, weights: Floats, sandwich: bool) -> Regression:
    factor = design.formula.outcome
    matrices = [design.matrix(state) for state in design.states]
    model = Mixture(matrices, design.likelihood(), design.open_matrix, _explained(outcome, factor, kind), weights)
    found, step, converged = model.maximum(design.formula.intercept)
    inverse, regular = _inverse(step.information)
    covariance = inverse @ ((step.scores.T * weights**2) @ step.scores) @ inverse if sandwich else inverse
    wide = model.coefficients
    notes = [] if converged else [f"Not converged after {model.rounds} rounds: the coefficients are not at the maximum."]
    if not regular:
        notes.append("The likelihood is flat in some direction: the reports do not determine all coefficients.")
    if kind == "logistic":
        notes += _separated(design, matrices, found[:wide])
    deviation = float(np.exp(found[wide])) if kind == "linear" else None
    return Regression(
        design.formula, kind, "likelihood", design.names, found[:wide], covariance[:wide, :wide], len(weights),
        _randomized(design, outcome), step.value, deviation, converged and not notes, tuple(notes),
    )  # fmt: skip


def _separated(design: Design, matrices: list[Floats], found: Floats) -> list[str]:
    """A note on coefficients that grow without bound, because somewhere everybody or nobody seems to say yes."""
    furthest = max(float(np.abs(own @ found).max()) for own in matrices)
    if furthest < FAR:
        return []
    reach = np.max([np.abs(own * found).max(axis=0) for own in matrices], axis=0)
    name = design.names[int(np.argmax(reach))]
    return [
        f"Separation: the coefficient of {name!r} grows without bound, because for some people the estimated share is 0 or "
        "1. Leave the covariate out, or combine its answers; its standard error means nothing."
    ]


def _by_moments(design: Design, outcome: Variable, kind: Family, weights: Floats, sandwich: bool) -> Regression:
    """The equations that unbiased indicators of the states and of the outcome satisfy on average (corrected scores)."""
    factor = design.formula.outcome
    matrices, states = [design.matrix(state) for state in design.states], design.weights() * weights[:, None]
    values = unbiased_values(outcome, factor, kind)
    found, notes = np.zeros(len(design.names)), list[str]()
    target = sum(own.T @ (states[:, place] * values) for place, own in enumerate(matrices))
    converged = False
    for _ in range(100):
        means, slopes = zip(*(_mean(own @ found, kind) for own in matrices), strict=True)
        slope = sum((own.T * (states[:, p] * slopes[p])) @ own for p, own in enumerate(matrices))
        short = target - sum(own.T @ (states[:, p] * means[p]) for p, own in enumerate(matrices))
        move = np.linalg.lstsq(slope, short, rcond=1e-12)[0]
        if kind == "logistic":  # no predictor moves further than this in one round
            move *= min(1.0, 5.0 / max(1e-12, max(float(np.abs(own @ move).max()) for own in matrices)))
        found = found + move
        if kind == "linear" or float(np.abs(move).max()) < 1e-11 * max(1.0, float(np.abs(found).max())):
            converged = True
            break
    means, slopes = zip(*(_mean(own @ found, kind) for own in matrices), strict=True)
    slope = np.asarray(sum((own.T * (states[:, p] * slopes[p])) @ own for p, own in enumerate(matrices)))
    scores = sum(own * (states[:, p] * (values - means[p]))[:, None] for p, own in enumerate(matrices))
    inverse = np.linalg.pinv(slope)
    covariance = inverse @ (np.asarray(scores).T @ scores) @ inverse.T
    if np.linalg.eigvalsh(slope + slope.T).min() <= 0:
        notes.append("The noise is too large for this model: its equations have no stable solution. Collect more reports.")
    if not converged:
        notes.append("Not converged after 100 rounds: the equations have no solution near.")
    if kind == "logistic":
        notes += _separated(design, matrices, found)
    return Regression(
        design.formula, kind, "moments", design.names, found, np.asarray(covariance), len(weights),
        _randomized(design, outcome), None, None, converged and not notes, tuple(notes),
    )  # fmt: skip


def unbiased_values(outcome: Variable, factor: Factor, kind: Family) -> Floats:
    """The outcome of each person, right on average."""
    if kind == "logistic":
        place = _success(outcome, factor)
        return _open_success(outcome, factor, place) if outcome.decoder is None else outcome.indicators[:, place]
    if outcome.decoder is None:
        if outcome.labels is not None:
            raise InvalidParameter(f"A linear model needs numbers, and {outcome.name!r} has answers in words.")
        return np.asarray(outcome.values, np.float64)
    return outcome.decoder.decoded(outcome.values)


def _mean(predictor: Floats, kind: Family) -> tuple[Floats, Floats]:
    """What a model expects, and how fast that grows."""
    if kind == "linear":
        return predictor, np.ones_like(predictor)
    share = 1 / (1 + np.exp(-np.clip(predictor, -700, 700)))
    return share, share * (1 - share)


def _inverse(information: Floats) -> tuple[Floats, bool]:
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-300))
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    regular = bool(values.min() > 1e-10)
    values = np.where(values > 1e-10, values, np.inf)
    return np.asarray(np.outer(scale, scale) * ((vectors / values) @ vectors.T)), regular


def _randomized(design: Design, outcome: Variable) -> tuple[str, ...]:
    return tuple(each.name for each in [outcome, *design.variables.values()] if each.decoder is not None)
