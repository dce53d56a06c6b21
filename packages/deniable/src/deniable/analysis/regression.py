"""Regression on randomized answers: logistic and linear, by the exact likelihood or by moments."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from deniable.analysis.crosstab import HasTables
from deniable.analysis.decoder import same_people
from deniable.analysis.design import Design, Variable, own_mechanisms, variable
from deniable.analysis.fitted import Family, Method, Regression
from deniable.analysis.formula import Factor, Formula
from deniable.analysis.likelihood import Binary, Mixture, Normal, Outcome
from deniable.analysis.maximum import maximum
from deniable.analysis.moments import by_moments, family_of, of_table, open_success, randomized_in, separated, success
from deniable.analysis.patterns import alike
from deniable.analysis.together import Together, apart
from deniable.arrays import Floats, Ints
from deniable.core import Mechanism
from deniable.errors import InvalidParameter

Name = TypeVar("Name", bound=str | tuple[str, ...])  # of a question, or of several with one report
FEWEST = 3  # people for each coefficient
NEARLY = 0.995  # the correlation of two estimates of which one says almost nothing without the other


def regress(
    formula: str,
    data: Any,
    mechanisms: Mapping[Name, Mechanism] | None = None,
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

    Reports on several questions at once, of a compound question or `OnePair`, are a column whose name is the tuple of the
    questions: `{("smokes", "age"): reports}`, with the mechanism under the same tuple.

    `data` may also be what a survey collected, `dn.collected("survey.toml")`, if the survey asks for the table of all
    questions in the formula. The tallies are then enough: the model is fitted by moments.
    """
    if isinstance(data, HasTables):
        if mechanisms is not None or weights is not None or method == "likelihood":
            raise InvalidParameter(
                "A survey counts tables, so its models are fitted by moments, without mechanisms and weights. The "
                "exact likelihood needs each person's reports: keep_reports = true."
            )
        return of_table(Formula.parse(formula), data, family)
    read = Formula.parse(formula)
    columns, own, together = apart(data, own_mechanisms(mechanisms))
    outcome = variable(read.outcome.name, columns, own, together)
    design = Design.of(read, columns, own, _asked(together, read))
    if read.variables:
        same_people([(outcome.name, outcome.people), *((each.name, each.people) for each in design.variables.values())])
    else:
        design = Design(read, {}, outcome.people, design.together)
    if outcome.people < FEWEST * len(design.names):
        raise InvalidParameter(f"{len(design.names)} coefficients need at least {FEWEST * len(design.names)} people.")
    kind = family or family_of(outcome, read.outcome)
    if kind not in ("logistic", "linear") or method not in (None, "likelihood", "moments"):
        raise InvalidParameter('The family is "logistic" or "linear", and the method "likelihood" or "moments".')
    if kind == "linear" and method == "likelihood" and outcome.decoder is not None:
        raise InvalidParameter("A linear model of a randomized outcome has no exact likelihood. Use method='moments'.")
    used_names = {outcome.name, *read.variables}
    partly = any(not (each.about_pairs or set(each.names) <= used_names) for each in design.together)
    inexact = partly or (outcome.decoder is not None and (kind == "linear" or outcome.decoder.size > 2))
    used: Method = method or ("moments" if inexact else "likelihood")
    design.check_rank()
    counted = _weights(weights, outcome.people)
    fit = _by_likelihood if used == "likelihood" else by_moments
    return fit(design, outcome, kind, counted, weights is not None)


def _asked(together: tuple[Together, ...], formula: Formula) -> tuple[Together, ...]:
    """The reports on several questions that the formula needs; refused where they cannot say what it asks."""
    names = {formula.outcome.name, *formula.variables}
    found = tuple(each for each in together if names & set(each.names))
    for each in found:
        if each.about_pairs and formula.outcome.name in each.names:
            for term in formula.terms:
                inside = [factor.name for factor in term if factor.name in each.names]
                if len(inside) > 1:
                    raise InvalidParameter(
                        f"Each person reported a pair, so nothing is known about {formula.outcome.name!r} by "
                        f"{inside[0]!r} and "
                        f"{inside[1]!r} at once. Leave the interaction out, or ask for a table of the three questions."
                    )
    return found


def _weights(weights: ArrayLike | None, people: int) -> Floats:
    if weights is None:
        return np.ones(people)
    found = np.asarray(weights, np.float64)
    if found.shape != (people,) or not np.isfinite(found).all() or (found < 0).any() or found.sum() <= 0:
        raise InvalidParameter("Weights are one number for each person, not negative, and not all zero.")
    return found * people / found.sum()


def _explained(outcome: Variable, factor: Factor, kind: Family) -> Outcome:
    """What is known of the outcome, for the likelihood."""
    if kind == "linear":
        if outcome.labels is not None:
            raise InvalidParameter(f"A linear model needs numbers, and {outcome.name!r} has answers in words.")
        return Normal(outcome.values)
    place = success(outcome, factor)
    if outcome.decoder is None:
        yes = open_success(outcome, factor, place)
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


def _by_likelihood(design: Design, outcome: Variable, kind: Family, weights: Floats, sandwich: bool) -> Regression:
    model, squares = _mixture(design, outcome, kind, weights)
    found = maximum(model, design.formula.intercept)
    step = model.step(found.parameters, squares) if sandwich else found.step
    inverse, determined = _inverse(step.information, model.columns.coefficients)
    covariance = inverse @ step.squares @ inverse if step.squares is not None else inverse
    wide = model.columns.coefficients
    notes = (
        [] if found.converged else [f"Not converged after {found.rounds} rounds: the coefficients are not at the maximum."]
    )
    if not determined:
        notes.append("The likelihood is flat in some direction: the reports do not determine all coefficients.")
    if kind == "logistic":
        notes += separated(design, found.parameters[:wide])
    ended = found.converged and not notes
    if ended:
        notes += _entangled(design, covariance[:wide, :wide])
    deviation = float(np.exp(found.parameters[wide])) if kind == "linear" else None
    return Regression(
        design.formula, kind, "likelihood", design.names, found.parameters[:wide], covariance[:wide, :wide], len(weights),
        randomized_in(design, outcome), step.value, deviation, ended, tuple(notes),
    )  # fmt: skip


def _mixture(design: Design, outcome: Variable, kind: Family, weights: Floats) -> tuple[Mixture, Floats]:
    """The likelihood, with people who look alike counted together, and the sums of their squared weights."""
    found = alike([*design.codes(outcome), *design.columns.basis.T])
    if found is None:
        return _of_rows(design, outcome, kind, slice(None), weights), weights**2
    rows, which = found
    counted = np.bincount(which, weights).astype(np.float64)
    return _of_rows(design, outcome, kind, rows, counted), np.bincount(which, weights**2).astype(np.float64)


def _of_rows(design: Design, outcome: Variable, kind: Family, rows: Ints | slice, weights: Floats) -> Mixture:
    """The likelihood of some people."""
    columns = design.columns.of(rows)
    if not design.together:
        explained = _explained(outcome, design.formula.outcome, kind).of(rows)
        return Mixture(columns, design.likelihood(rows).T, explained, weights)
    whole = design.joint(outcome, "likelihood", rows)
    if outcome.decoder is None:
        return Mixture(columns, whole[:, 0].T, _explained(outcome, design.formula.outcome, kind).of(rows), weights)
    if whole.shape[1] != 2:
        raise _many_answers(outcome)
    yes = success(outcome, design.formula.outcome)
    explained = Binary(whole[:, 1 - yes].T.copy(), whole[:, yes].T.copy())
    return Mixture(columns, np.ones((columns.states, len(columns.basis))), explained, weights)


def _entangled(design: Design, covariance: Floats) -> list[str]:
    """A note on a randomized covariate that follows from an open one, as far as its reports show."""
    errors, hidden = np.sqrt(np.diag(covariance)), np.ptp(design.columns.scales, axis=0) > 0
    related = np.abs(covariance / np.outer(errors, errors))
    related[np.ix_(hidden, hidden)] = related[np.ix_(~hidden, ~hidden)] = 0
    first, second = np.unravel_index(int(np.argmax(related)), related.shape)
    if related[first, second] < NEARLY:
        return []
    names = sorted((design.names[first], design.names[second]))
    return [
        f"{names[0]!r} and {names[1]!r} are nearly collinear: the reports hardly distinguish their coefficients. Leave one "
        "of them out."
    ]


def _inverse(information: Floats, coefficients: int) -> tuple[Floats, bool]:
    """The inverse, without directions in which the likelihood is flat; and whether no coefficient lies in one of them."""
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-300))
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    flat = values <= 1e-10
    determined = not (np.abs(vectors[:coefficients, flat]) > 1e-3).any()
    values = np.where(flat, np.inf, values)
    return np.asarray(np.outer(scale, scale) * ((vectors / values) @ vectors.T)), determined
