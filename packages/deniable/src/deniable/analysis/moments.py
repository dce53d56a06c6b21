"""Regression by moments: equations that hold on average, from each person's reports or from a table alone."""

from typing import NamedTuple

import numpy as np

from deniable.analysis.columns import StateColumns
from deniable.analysis.crosstab import HasTables
from deniable.analysis.decoder import OpenDecoder
from deniable.analysis.design import Design, Variable, answer_of, silent
from deniable.analysis.fitted import Family, Regression
from deniable.analysis.formula import Factor, Formula
from deniable.analysis.likelihood import logistic
from deniable.arrays import Floats
from deniable.domains.categories import NO_ANSWER
from deniable.errors import InvalidParameter

FAR = 15.0  # a linear predictor this far from 0 is a probability of 0 or 1 for all that can be seen


def by_moments(design: Design, outcome: Variable, kind: Family, weights: Floats, sandwich: bool) -> Regression:
    """The equations that unbiased indicators of the states and of the outcome satisfy on average (corrected scores)."""
    columns, (states, values) = design.columns, (each * weights for each in _indicated(design, outcome, kind))
    solved = solve(columns, states, values, kind)
    scores = columns.weighted(values - states * solved.mean)
    return regression_of(design, kind, solved, scores.T @ scores, len(weights), randomized_in(design, outcome))


def _indicated(design: Design, outcome: Variable, kind: Family) -> tuple[Floats, Floats]:
    """Unbiased for the indicator of each state, and for that times the outcome: (states, people)."""
    if not design.together:
        states = design.weights().T
        return states, states * unbiased_values(outcome, design.formula.outcome, kind)
    whole = design.joint(outcome, "indicators", slice(None))
    states = whole.sum(axis=1).T
    if outcome.decoder is None:
        return states, states * unbiased_values(outcome, design.formula.outcome, kind)
    return states, np.einsum("y,nys->sn", _weights_of_answers(outcome, design.formula.outcome, kind), whole)


class Solved(NamedTuple):
    """The coefficients that solve the equations of moments, what is expected there, and the derivative of the equations."""

    found: Floats
    mean: Floats  # of the outcome in every state, (states, people)
    slope: Floats
    converged: bool


def solve(columns: StateColumns, states: Floats, values: Floats, kind: Family) -> Solved:
    """Newton's method; `values` are unbiased for the indicator of each state times the outcome, (states, people)."""
    found, converged = np.zeros(columns.coefficients), False
    for _ in range(100):
        mean, growth = _mean(columns.predictors(found), kind)
        slope = columns.between(columns.grams(states * growth))
        short = columns.weighted(values - states * mean).sum(axis=0)
        move = np.linalg.lstsq(slope, short, rcond=1e-12)[0]
        if kind == "logistic":  # no predictor moves further than this in one round
            move *= min(1.0, 5.0 / max(1e-12, float(np.abs(columns.predictors(move)).max())))
        found = found + move
        if kind == "linear" or float(np.abs(move).max()) < 1e-11 * max(1.0, float(np.abs(found).max())):
            converged = True
            break
    mean, growth = _mean(columns.predictors(found), kind)
    return Solved(found, mean, columns.between(columns.grams(states * growth)), converged)


def regression_of(
    design: Design, kind: Family, solved: Solved, squares: Floats, n: int, randomized: tuple[str, ...]
) -> Regression:
    """The result of moments, with the covariance of the equations' sums."""
    inverse, notes = np.linalg.pinv(solved.slope), list[str]()
    covariance = inverse @ squares @ inverse.T
    if np.linalg.eigvalsh(solved.slope + solved.slope.T).min() <= 0:
        notes.append("The noise is too large for this model: its equations have no stable solution. Collect more reports.")
    if not solved.converged:
        notes.append("Not converged after 100 rounds: the equations have no solution nearby.")
    if kind == "logistic":
        notes += separated(design, solved.found)
    return Regression(
        design.formula, kind, "moments", design.names, solved.found, np.asarray(covariance), n, randomized, None, None,
        solved.converged and not notes, tuple(notes),
    )  # fmt: skip


def unbiased_values(outcome: Variable, factor: Factor, kind: Family) -> Floats:
    """The outcome of each person, right on average."""
    if kind == "logistic":
        place = success(outcome, factor)
        return open_success(outcome, factor, place) if outcome.decoder is None else outcome.indicators[:, place]
    if outcome.decoder is None:
        if outcome.labels is not None:
            raise InvalidParameter(f"A linear model needs numbers, and {outcome.name!r} has answers in words.")
        return np.asarray(outcome.values, np.float64)
    return outcome.decoder.decoded(outcome.values)


def _mean(predictor: Floats, kind: Family) -> tuple[Floats, Floats]:
    """What a model expects, and how fast that grows."""
    if kind == "linear":
        return predictor, np.ones_like(predictor)
    share, other = logistic(predictor)
    return share, share * other


def of_table(formula: Formula, data: HasTables, family: Family | None) -> Regression:
    """The model of the questions of a table, whose cells are unbiased with a known covariance."""
    names = [formula.outcome.name, *formula.variables]
    if not 2 <= len(names) <= 3:
        raise InvalidParameter(
            f"A survey counts tables of two or three questions, and this model has {len(names)}. Take one or "
            "two covariates, or fit the reports themselves: keep_reports = true."
        )
    table = data.table(*names)
    outcome, *covariates = (
        Variable(name, 1, list(labels), None, OpenDecoder(labels)) for name, labels in zip(names, table.answers, strict=True)
    )
    design = Design(formula, {each.name: each for each in covariates}, 1)
    design.check_silence()
    design.check_rank()
    kind = family or family_of(outcome, formula.outcome)
    weights = _weights_of_answers(outcome, formula.outcome, kind)
    cells = table.shares.reshape(len(weights), -1)
    solved = solve(design.columns, cells.sum(axis=0)[:, None], (weights @ cells)[:, None], kind)
    apart = weights[:, None] - solved.mean.T  # (answers, states)
    onto = (apart[:, :, None] * design.columns.scales[None, :, :]).reshape(cells.size, -1)
    return regression_of(design, kind, solved, onto.T @ table.law(table.shares) @ onto, table.n, tuple(names))


def _weights_of_answers(outcome: Variable, factor: Factor, kind: Family) -> Floats:
    """What each answer to the outcome counts for."""
    assert outcome.decoder is not None
    if kind == "linear":
        return outcome.decoder.numbers
    return np.eye(outcome.decoder.size)[success(outcome, factor)]


def family_of(outcome: Variable, factor: Factor) -> Family:
    """The kind of model that an outcome has unless another is asked for."""
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


def success(outcome: Variable, factor: Factor) -> int:
    """The number of the answer that a logistic model explains: the one that is named, or the second of two."""
    if factor.answer is not None:
        return answer_of(outcome, factor)
    if outcome.labels is not None and len(outcome.labels) != 2:
        raise InvalidParameter(f"A logistic model explains one answer. Write {outcome.name}[{outcome.labels[0]}].")
    return 1


def open_success(outcome: Variable, factor: Factor, place: int) -> Floats:
    """Whether each person's open outcome is the answer that is explained."""
    if outcome.labels is None:
        numbers = np.unique(outcome.values)
        if factor.answer is None and not np.isin(numbers, (0, 1)).all():
            raise InvalidParameter(
                f"A logistic model needs an outcome of 0 and 1, or of two answers, unlike {outcome.name!r}."
            )
        return np.asarray(outcome.values == (numbers[place] if factor.answer is not None else 1), np.float64)
    return np.asarray(outcome.values == place, np.float64)


def separated(design: Design, found: Floats) -> list[str]:
    """A note on coefficients that grow without bound, because somewhere everybody or nobody seems to say yes."""
    columns = design.columns
    if float(np.abs(columns.predictors(found)).max()) < FAR:
        return []
    largest = np.abs(columns.basis).max(axis=0)[columns.places] * np.abs(columns.scales).max(axis=0)
    reach = largest * np.abs(found)
    name = design.names[int(np.argmax(reach))]
    return [
        f"Separation: the coefficient of {name!r} grows without bound, because for some people the estimated share is 0 or "
        "1. Leave the covariate out, or combine its answers; its standard error means nothing."
    ]


def randomized_in(design: Design, outcome: Variable) -> tuple[str, ...]:
    """The names of what was randomized."""
    return tuple(each.name for each in [outcome, *design.variables.values()] if each.decoder is not None)
