"""The columns of a model: open variables as they are, randomized ones for every answer that they may have."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from deniable.analysis.columns import ShareTerm, StateColumns
from deniable.analysis.decoder import Decoder, OpenDecoder, decoder, same_people
from deniable.analysis.formula import Factor, Formula, Term
from deniable.analysis.together import Together
from deniable.arrays import Floats, Ints
from deniable.core import Layout, Mechanism, Number, Reports
from deniable.domains.categories import NO_ANSWER
from deniable.errors import InvalidParameter

MOST_STATES = 256  # combinations of randomized covariates
Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Variable:
    """One column of the data: numbers, or answers with their labels; where it is randomized, its reports and decoder."""

    name: str
    people: int
    labels: Sequence[Any] | None  # None for numbers
    values: Any  # numbers, numbers of answers, or the reports of a randomized variable
    decoder: Decoder | None = None

    @property
    def numeric(self) -> bool:
        """Whether the variable enters as a number."""
        return self.labels is None or all(
            isinstance(each, int | float) and not isinstance(each, bool) for each in self.labels
        )

    @cached_property
    def coded(self) -> tuple[Ints, Floats]:
        """For each person's report a number, and for each number the likelihood of every answer, up to a factor."""
        assert self.decoder is not None
        return self.decoder.likelihood(self.values)

    @property
    def likelihood(self) -> Floats:
        """The likelihood of each person's report under every answer, up to a factor."""
        which, rows = self.coded
        return rows[which]

    @cached_property
    def indicators(self) -> Floats:
        """The unbiased indicators of each person's answer."""
        assert self.decoder is not None
        which, rows = self.decoder.indicators(self.values)
        return rows[which]


def variable(name: str, data: Columns, mechanisms: Mapping[str, Mechanism], together: Sequence[Together] = ()) -> Variable:
    """The variable of this name; one that was reported together with others has its reports there."""
    for both in together:
        if name in both.names:
            labels = list(both.answers[both.names.index(name)])
            return Variable(name, len(both.reports), labels, None, OpenDecoder(labels))
    try:
        values = data[name]
    except Exception:  # every library of data frames has an error of its own for this
        known = ", ".join(repr(str(each)) for each in list(getattr(data, "columns", data))[:20])
        raise InvalidParameter(
            f"The data have no column {name!r}. There are {known}. Give a mapping from names to columns, or a data frame."
        ) from None
    if name in mechanisms:
        own = mechanisms[name]
        reports = values if isinstance(values, Reports) else reported(own, values, name)
        found = decoder(own)
        return Variable(name, len(reports), list(found.labels), reports, found)
    if isinstance(values, Reports):
        raise InvalidParameter(f"The reports on {name!r} need their mechanism: mechanisms={{{name!r}: mechanism}}.")
    return opened(name, values)


def own_mechanisms(mechanisms: Mapping[Any, Mechanism] | None) -> dict[Any, Mechanism]:
    """The mechanism of each randomized column."""
    if mechanisms is not None and not isinstance(mechanisms, Mapping):
        raise InvalidParameter("Name the column that each mechanism has randomized: mechanisms={'smokes': mechanism}.")
    return dict(mechanisms or {})


def opened(name: str, values: Any) -> Variable:
    """A variable that is not randomized: numbers, or words."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise InvalidParameter(f"The column {name!r} must have one value for each person.")
    if column.dtype.kind in "iufb":
        numbers = column.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise InvalidParameter(f"The column {name!r} has missing values. Leave those people out of all columns first.")
        return Variable(name, len(numbers), None, numbers)
    if any(value is None or value != value for value in column.tolist()):
        raise InvalidParameter(f"The column {name!r} has missing values. Leave those people out of all columns first.")
    labels, codes = np.unique(column.astype(str), return_inverse=True)
    return Variable(name, len(column), labels.tolist(), codes.astype(np.int64))


def reported(mechanism: Mechanism, values: Any, name: str) -> Reports:
    """Reports that are given as what people said: numbers of reports, or answers where a report looks like one."""
    fields = mechanism.layout.fields
    if len(fields) != 1 or not isinstance(fields[0], Number):
        raise InvalidParameter(f"Reports on {name!r} have several fields. Give a batch of Reports.")
    column = np.asarray(values)
    if column.dtype.kind not in "iu":
        if fields[0].below != mechanism.domain.size and mechanism.cells != mechanism.domain.size:
            raise InvalidParameter(
                f"Reports on {name!r} do not look like answers. Give their numbers, or a batch of Reports."
            )
        column = np.asarray(mechanism.domain.index(column.tolist()))
    elif len(column) and not (column.min() >= 0 and column.max() < mechanism.cells):
        raise InvalidParameter(f"Reports on {name!r} are numbers from 0 to {mechanism.cells - 1}.")
    layout: Layout = mechanism.layout
    empty = fields[0].empty(0)
    return Reports.of(mechanism.fingerprint, layout, {fields[0].name: column.astype(empty.dtype)})


@dataclass(frozen=True, eq=False)
class Design:
    """The columns of a formula for every state: a combination of the answers to the randomized covariates."""

    formula: Formula
    variables: dict[str, Variable]
    people: int
    together: tuple[Together, ...] = ()

    @classmethod
    def of(
        cls, formula: Formula, data: Columns, mechanisms: Mapping[str, Mechanism], together: tuple[Together, ...] = ()
    ) -> "Design":
        """The design of a formula on these data; `together` are reports on several questions at once."""
        found = {name: variable(name, data, mechanisms, together) for name in formula.variables}
        people = same_people([(name, each.people) for name, each in found.items()]) if found else 0
        made = cls(formula, found, people, together)
        if len(made.states) > MOST_STATES:
            raise InvalidParameter(
                f"The randomized covariates have {len(made.states):,} combinations of answers; at most {MOST_STATES} are "
                "supported. Combine answers, or leave a covariate out."
            )
        made.check_silence()
        return made

    def check_silence(self) -> None:
        """Refuse a covariate that some people skipped, unless the formula names the answers that count."""
        for each in self.variables.values():
            if each.labels is not None and NO_ANSWER in each.labels and not self._only_indicators(each.name):
                raise silent(each)

    def _only_indicators(self, name: str) -> bool:
        return all(f.answer is not None for term in self.formula.terms for f in term if f.name == name)

    @cached_property
    def hidden(self) -> list[Variable]:
        """The randomized covariates."""
        return [each for each in self.variables.values() if each.decoder is not None]

    @cached_property
    def states(self) -> list[tuple[int, ...]]:
        """All combinations of their answers; one that is empty if there are none."""
        sizes = [len(each.labels or ()) for each in self.hidden]
        if int(np.prod(sizes, dtype=np.float64)) > MOST_STATES:
            return [()] * (MOST_STATES + 1)
        return list(itertools.product(*(range(size) for size in sizes)))

    @cached_property
    def names(self) -> list[str]:
        """The names of the coefficients."""
        named = ["(intercept)"] if self.formula.intercept else []
        for term in self.formula.terms:
            named += [":".join(parts) for parts in itertools.product(*(self._levels(term, factor)[0] for factor in term))]
        return named

    def _levels(self, term: Term, factor: Factor) -> tuple[list[str], list[int] | None]:
        """The names of the columns of a factor, and which answers they are indicators of; None for a number."""
        own = self.variables[factor.name]
        if factor.answer is not None:
            return [str(factor)], [self.answer(factor)]
        if own.numeric and not factor.categories:
            return [str(factor)], None
        labels = list(own.labels) if own.labels is not None else np.unique(own.values).tolist()
        # Without an intercept the first factor of categories keeps all of them; otherwise the first is the reference.
        first = next((f for t in self.formula.terms for f in t if len(t) == 1 and self._categorical(f)), None)
        kept = range(0 if not self.formula.intercept and term == (factor,) and factor == first else 1, len(labels))
        return [f"{factor}[{labels[place]}]" for place in kept], list(kept)

    def _categorical(self, factor: Factor) -> bool:
        own = self.variables[factor.name]
        return factor.answer is None and (factor.categories or not own.numeric)

    def answer(self, factor: Factor) -> int:
        """The number of the answer that an indicator names."""
        return answer_of(self.variables[factor.name], factor)

    @cached_property
    def _open(self) -> dict[Factor, Floats]:
        """The columns of factors that are not randomized."""
        found = {}
        for term in self.formula.terms:
            for factor in term:
                own = self.variables[factor.name]
                if own.decoder is None and factor not in found:
                    places = self._levels(term, factor)[1]
                    codes = own.values
                    if places is not None and own.labels is None:
                        codes = np.unique(own.values, return_inverse=True)[1]
                    found[factor] = own.values[:, None] if places is None else codes[:, None] == np.array(places)[None, :]
        return {factor: np.asarray(columns, np.float64) for factor, columns in found.items()}

    @cached_property
    def columns(self) -> StateColumns:
        """The columns of all coefficients: products of open columns, each of them once, and factors of the states."""
        basis: dict[tuple[tuple[Factor, int], ...], Floats] = {(): np.ones(self.people)}
        places, scales = [0] if self.formula.intercept else [], [np.ones(len(self.states))] if self.formula.intercept else []
        for term in self.formula.terms:
            wide = [range(len(self._levels(term, factor)[0])) for factor in term]
            for chosen in itertools.product(*wide):
                levels = list(zip(term, chosen, strict=True))
                key = tuple(each for each in levels if self.variables[each[0].name].decoder is None)
                if key not in basis:
                    basis[key] = np.prod([self._open[factor][:, level] for factor, level in key], axis=0)
                places.append(list(basis).index(key))
                scales.append(np.prod([self._factors(term, *each) for each in levels if each not in key], axis=0))
        on = np.array([list(basis).index(key) for key in self._explaining if key in basis], np.int64)
        states = np.stack([np.broadcast_to(each, len(self.states)) for each in scales], axis=1)
        return StateColumns(np.stack(list(basis.values()), axis=1), np.array(places), states, self._shares(on))

    def _shares(self, on: Ints) -> tuple[ShareTerm, ...]:
        """The model of the shares of the states: answers depend on each other in pairs, and each on the open covariates.

        It is log-linear: the odds ratios of two randomized covariates are the same whatever the other covariates are.
        """
        answers = np.array(self.states)
        single = [
            [(answers[:, place] == answer).astype(np.float64) for answer in range(1, len(own.labels or ()))]
            for place, own in enumerate(self.hidden)
        ]
        if not single:
            return ()
        alone = [column for own in single for column in own]
        pairs = [x * y for first, second in itertools.combinations(single, 2) for x in first for y in second]
        every = ShareTerm(np.stack([*alone, *pairs], axis=1), np.zeros(1, np.int64))
        return (every, ShareTerm(np.stack(alone, axis=1), on)) if len(on) else (every,)

    @property
    def _explaining(self) -> Sequence[tuple[tuple[Factor, int], ...]]:
        """The open covariates that the shares of the states depend on, besides a constant."""
        found = []
        for term in self.formula.terms:
            if len(term) == 1 and self.variables[term[0].name].decoder is None:
                columns = self._open[term[0]]
                whole = columns.shape[1] > 1 and not self.formula.intercept and (columns.sum(axis=1) == 1).all()
                found += [((term[0], level),) for level in range(int(whole), columns.shape[1])]
        return found

    def _factors(self, term: Term, factor: Factor, level: int) -> Floats:
        """What a randomized factor multiplies a column by, in every state."""
        own = self.variables[factor.name]
        assert own.decoder is not None
        answers = np.array([state[self.hidden.index(own)] for state in self.states])
        places = self._levels(term, factor)[1]
        return own.decoder.numbers[answers] if places is None else np.asarray(answers == places[level], np.float64)

    def weights(self) -> Floats:
        """The unbiased indicator of each state, for every person."""
        return _products(self.people, [each.indicators for each in self.hidden])

    def likelihood(self, rows: Ints | slice = slice(None)) -> Floats:
        """The likelihood of everybody's reports on the covariates under every state, or that of some people."""
        coded = [each.coded for each in self.hidden]
        return _products(self.people if isinstance(rows, slice) else len(rows), [own[which[rows]] for which, own in coded])

    def codes(self, outcome: Variable) -> list[Any]:
        """Columns of numbers that coincide for people whose reports say the same."""
        alone = [each.coded[0] for each in self.hidden if not self._shared(each.name)]
        if not self._shared(outcome.name):
            alone.append(outcome.values if outcome.decoder is None else outcome.coded[0])
        return [*alone, *(both.codes for both in self.together)]

    def _shared(self, name: str) -> bool:
        return any(name in both.names for both in self.together)

    def joint(self, outcome: Variable, what: Literal["likelihood", "indicators"], rows: Ints | slice) -> Floats:
        """The likelihood or the unbiased indicators of everybody's reports, for each answer to the outcome and each state.

        Of shape (people, answers, states); an open outcome has one answer there.
        """
        asked = [outcome, *self.hidden] if outcome.decoder is not None else self.hidden
        names, found = [each.name for each in asked], np.ones((1,) * (len(asked) + 1))
        parts = [(each.names, getattr(each, what)) for each in self.together]
        parts += [((each.name,), _alone(each, what)) for each in asked if not self._shared(each.name)]
        for own, coded in parts:
            kept = [name for name in names if name in own]
            if kept:
                which, table = coded(kept)
                shape = [table.shape[1 + kept.index(name)] if name in kept else 1 for name in names]
                found = found * table[which[rows]].reshape(-1, *shape)
        people = self.people if isinstance(rows, slice) else len(rows)
        whole = np.broadcast_to(found, (people, *(len(each.labels or ()) for each in asked)))
        return whole.reshape(people, -1, len(self.states))

    def check_rank(self) -> None:
        """Refuse columns that are a combination of others."""
        columns = self.columns
        gram = columns.between(np.repeat(columns.grams(np.ones((1, self.people))), columns.states, axis=0))
        scale = np.sqrt(np.diag(gram))
        if (scale == 0).any():
            name = self.names[int(np.argmin(scale))]
            raise InvalidParameter(f"The covariate {name!r} is zero for everybody. Leave it out.")
        lower = gram / np.outer(scale, scale)
        for place in range(1, len(lower)):  # how much of each column the ones before it do not explain
            before, own = lower[:place, :place], lower[:place, place]
            factors = np.linalg.lstsq(before, own, rcond=1e-12)[0]
            if lower[place, place] - own @ factors < 1e-9:
                used = [self.names[each] for each in np.flatnonzero(np.abs(factors) > 1e-6)]
                raise InvalidParameter(
                    f"The covariate {self.names[place]!r} is collinear: it follows from {', '.join(map(repr, used))}. Leave "
                    "one of them out."
                )


def _alone(own: Variable, what: str) -> Callable[[Sequence[str]], tuple[Ints, Floats]]:
    assert own.decoder is not None
    found: tuple[Ints, Floats] = own.coded if what == "likelihood" else own.decoder.indicators(own.values)
    return lambda names: found


def _products(people: int, parts: list[Floats]) -> Floats:
    found = np.ones((people, 1))
    for part in parts:
        found = (found[:, :, None] * part[:, None, :]).reshape(people, -1)
    return found


def answer_of(own: Variable, factor: Factor) -> int:
    """The number of the answer that an indicator names."""
    labels = list(own.labels) if own.labels is not None else np.unique(own.values).tolist()
    found = [place for place, label in enumerate(labels) if str(label) == factor.answer]
    if not found:
        raise InvalidParameter(f"{factor.name!r} has no answer {factor.answer!r}.")
    return found[0]


def silent(own: Variable) -> InvalidParameter:
    """The refusal of a question that some people skipped."""
    example = next(label for label in own.labels or () if label != NO_ANSWER)
    return InvalidParameter(
        f"Some people skipped {own.name!r}, and their silence is one of its answers. Write the answer that counts, such as "
        f"{own.name}[{example}]; silence is then not that answer."
    )
