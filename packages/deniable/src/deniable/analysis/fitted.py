"""The result of a regression: coefficients with their errors, as numbers and as a table."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deniable.analysis.distributions import NORMAL, two_sided
from deniable.analysis.formula import Formula
from deniable.analysis.outcome import formatted_p
from deniable.arrays import Floats
from deniable.core import confidence_each
from deniable.core.showing import Tabular, html_table
from deniable.errors import InvalidParameter
from deniable.planning.ranking import aligned

Family = Literal["logistic", "linear"]
Method = Literal["likelihood", "moments"]


@dataclass(frozen=True, eq=False)
class Regression(Tabular):
    """The coefficients of a model of the population, with errors that include the privacy noise."""

    formula: Formula
    family: Family
    method: Method
    names: list[str]
    coefficients: Floats
    covariance: Floats
    n: int
    randomized: tuple[str, ...]
    log_likelihood: float | None  # without factors that no coefficient changes
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
        return "\n".join([*lines, aligned(self._lines(confidence)), *self.notes])

    def _lines(self, confidence: float) -> list[list[str]]:
        head = ["", "coef", "std err", "z", "P>|z|", f"[{(1 - confidence) / 2:.3g}", f"{(1 + confidence) / 2:.3g}]"]
        cells = [
            [str(row["name"]), *(f"{row[key]:.4f}" for key in ("coefficient", "standard_error")), f"{row['z']:.2f}",
             formatted_p(float(str(row["p_value"]))), f"{row['low']:.3f}", f"{row['high']:.3f}"]
            for row in self.rows(confidence)
        ]  # fmt: skip
        return [head, *cells]

    def columns(self, confidence: float = 0.95) -> dict[str, list[object]]:
        """The same rows, column by column."""
        rows = self.rows(confidence)
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _repr_html_(self) -> str:
        head, *cells = self._lines(0.95)
        first, second = self.summary().splitlines()[:2]
        return html_table(f"{first}; {second}", head, cells, note=" ".join(self.notes))

    def __str__(self) -> str:
        return self.summary()
