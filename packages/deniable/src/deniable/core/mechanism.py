"""A mechanism is one randomized vote: it owns perturb, count, estimate and loss, so that they cannot disagree."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import MISSING, Field, fields
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar, Generic, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import kernels
from deniable.arrays import Floats, Ints
from deniable.core import packing
from deniable.core.batches import fused_run
from deniable.core.candidate import Candidate
from deniable.core.coins import Coins, SecureCoins, checked_coins
from deniable.core.domain import Answer, Answers, AnyDomain, Domain, Truth, checked_answers, formatted_size
from deniable.core.estimate import Estimate
from deniable.core.frozen import Frozen
from deniable.core.law import Law, traced
from deniable.core.layout import Column, Columns, Drawn, Layout, Number
from deniable.core.loss import PrivacyLoss
from deniable.core.odds import checked_epsilon, odds_below
from deniable.core.program import Program
from deniable.core.reports import Reports
from deniable.core.running import run
from deniable.core.spec import Spec, plain, read
from deniable.core.tally import Tally
from deniable.core.threads import in_parts
from deniable.core.tracing import Encoded
from deniable.errors import EmptyBatch, InvalidLaw, InvalidParameter, InvalidReport, SurveyMismatch


class Mechanism(Frozen, ABC, Generic[Answer, Truth]):
    """A frozen object made from a domain and a budget. A subclass defines how to randomize, how to count and what it costs.

    It is generic as its domain is: in the type of an answer, and in what `randomize` starts from.

    The wire name fixes the law for ever: a mechanism whose reports are distributed differently gets another name.
    """

    wire: ClassVar[str]
    question: ClassVar[str] = "shares"  # what it answers: the folder of mechanisms/ that it would be in
    candidate: ClassVar[str]  # the name under which planners offer it, where they can make it from domain and epsilon
    derived: ClassVar[Sequence[str]] = ()  # what follows from the fields, and is in the JSON for those who read only that
    domain: Domain[Answer, Truth]
    epsilon: float
    why: str | None = None  # a planner's reason for choosing it, which is no part of the law

    def because(self, why: str) -> Self:
        """The same mechanism, with the reason why it was chosen."""
        chosen = copy(self)
        chosen._fix(why=why)
        return chosen

    def __post_init__(self) -> None:
        self._fix(epsilon=checked_epsilon(self.epsilon))

    @property
    def odds(self) -> Fraction:
        """The exact odds that the budget allows."""
        return odds_below(self.epsilon)

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The fields of a report."""

    @abstractmethod
    def randomize(self, truth: Truth, coins: Coins) -> Drawn:  # type: ignore[misc]
        """One report for each true index, as columns. Tosses the same coins whatever the truth is."""

    @abstractmethod
    def votes(self, columns: Columns) -> Ints:
        """How many of these reports vote for each cell."""

    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """The exact privacy loss of one answer, in closed form; `certify` checks it against the code."""

    @abstractmethod
    def estimate(self, tally: Tally) -> Estimate:
        """The unbiased estimate of the shares, with the variance of its privacy noise."""

    @abstractmethod
    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The estimate to expect from n people with these true shares: the truth with its exact variance."""

    def listed(self, tally: Tally) -> Estimate:
        """The estimate as one list: a label and a number for each answer, item or column."""
        return self.estimate(tally)

    def mean_of(self, tally: Tally) -> Estimate | None:
        """The mean of the numbers, or the mean scores of items; None where answers are neither."""
        return None

    def parameters(self) -> Mapping[str, object]:
        """What besides the domain and the budget fixes the law, as plain data: the other fields, and what is `derived`."""
        names = [each.name for each in _law_fields(type(self)) if each.name not in ("domain", "epsilon")]
        return {name: plain(getattr(self, name)) for name in (*names, *self.derived)}

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        """The mechanism with these parameters, as `parameters` wrote them."""
        given = {**parameters, "domain": domain, "epsilon": epsilon}
        wanted = [each for each in _law_fields(cls) if each.name in given or each.default is MISSING]
        return cls(**{each.name: read(each.type, given[each.name]) for each in wanted})

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        """What this family offers to the planner of its question: itself, if its class has a `candidate` name of its own."""
        return (Candidate(cls.candidate, cls),) if "candidate" in vars(cls) else ()

    @property
    def protected(self) -> Sequence[object] | None:
        """The answers that the loss is about, where all others may be disclosed; None: all are protected."""
        return None

    @property
    def cells(self) -> int:
        """How many cells reports vote for."""
        return self.domain.size

    @cached_property
    def batch(self) -> int:
        """How many answers are randomized at a time: so many that their working arrays stay in the processor's cache."""
        return max(1 << 11, min(1 << 15, (1 << 21) // self.layout.bits))

    @property
    def secure_batch(self) -> int:
        """The same with secure coins. What a seed gives depends on `batch`, which can never change; this one may."""
        return self.batch

    def perturb(self, values: Sequence[Answer] | NDArray[np.generic], coins: Coins | None = None) -> Reports:
        """Randomize answers, one report each. This is what runs on a person's device; secure coins by default."""
        coins, layout, fingerprint = checked_coins(coins), self.report_layout, self.fingerprint
        answers = self.prepared(values)
        columns: dict[str, Column] = {field.name: field.empty(len(answers)) for field in layout.fields}
        batch = self.secure_batch if type(coins) is SecureCoins else self.batch
        size = min(len(answers), batch)
        first = fused_run(self.law, layout, coins, size) if self.traced else None
        step = batch if first is None else first.size

        def part(begin: int, end: int, own: Coins) -> None:
            many = first if own is coins or first is None else first.another()
            for start in range(begin, end, step):
                some = answers[start : min(start + step, end)]
                drawn = self._drawn(some, own) if many is None else many.run(self.encoded(some), own, len(some))
                for name, column in drawn.items():
                    columns[name][start : start + len(some)] = column

        if self.threaded:
            in_parts(part, len(answers), step, coins)
        else:
            part(0, len(answers), coins)
        return Reports(fingerprint, layout, columns)

    def _drawn(self, answers: Answers, coins: Coins) -> Drawn:
        """The law itself on a part of a batch; `randomize` runs on answers only where a family is said to be a theorem."""
        if not self.traced:
            return self.randomize(self.domain.place(answers, coins), coins)
        return run(self.law, self.encoded(answers), coins, len(answers))

    def prepared(self, values: Answers) -> Answers:
        """The answers as the encoder takes them."""
        return checked_answers(values)

    def encoded(self, answers: Answers) -> Sequence[Encoded]:
        """What the law starts from: for each of its codes an array, or a function of the draws that the code takes."""
        if not self.encodes:
            return self.domain.encode(answers)
        truth = self.looked_at(answers)
        return [partial(encode, truth) for encode in self._law.encoders if encode is not None]

    def looked_at(self, answers: Answers) -> object:
        """What encoders look at: the index of each answer, or all that they need of it."""
        return self.domain.index(answers)

    def placed(self, codes: Sequence[Ints], coins: Coins) -> Truth:
        """What `randomize` starts from, made of the codes of the answers: as the domain says, unless the family differs."""
        return self.domain.placed(codes, coins)

    @property
    def encodes(self) -> bool:
        """Whether the law takes what encoders make of an answer, and never the answer itself: see `encoded`."""
        return self.domain.inputs is None

    @property
    def traced(self) -> bool:
        """Whether the law is a program; not where a published theorem stands for it."""
        return True

    @property
    def threaded(self) -> bool:
        """Whether parts of a large batch may be randomized at the same time: of a program, always."""
        return self.traced

    @property
    def law(self) -> Program:
        """The law as a program: what runs, what certificates prove, and what other devices are given."""
        if not self.traced:
            raise InvalidLaw(
                "This mechanism is not a program: its loss rests on a published theorem. See certify(mechanism)."
            )
        return self._law.program

    @property
    def report_layout(self) -> Layout:
        """The layout that reports are made with: where the law is a program, that of the time when it was written down."""
        return self._law.layout if self.traced else self.layout

    @cached_property
    def _law(self) -> Law:
        _ = self.fingerprint  # all that goes with a report is fixed before there is an answer
        law, before = traced(self), self.__dict__.get("_law_before")
        if before not in (None, law.program.fingerprint):
            raise InvalidLaw(
                "This mechanism has a different law here than where it was made: its law depends on the process, on what "
                "happened before, or on the clock. Use nothing but the answer and the coins."
            )
        return law

    def device_law(self) -> dict[str, object]:
        """What a device needs to prove the law and to run it, as plain data."""
        opens = self.layout.opens
        return {
            "law": self.law.plain(),
            "fields": self.layout.spec(),
            "reads": self.reading(),
            **({} if opens is None else {"opens": [*opens, *(["beside"] if self.layout.beside else [])]}),
        }

    def reading(self) -> dict[str, object]:
        """How devices explain a report to whoever sends it, as plain data (see docs/wire.md); empty: by its fields."""
        return {}

    def __getstate__(self) -> dict[str, object]:
        # Another process traces the law again, since its encoders may be closures, and compares it with this one.
        state = {name: value for name, value in self.__dict__.items() if name != "_law"}
        return {**state, "_law_before": self.law.fingerprint} if "_law" in self.__dict__ else state

    def __copy__(self) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def count(self, reports: Reports) -> Ints:
        """How many reports vote for each cell."""
        return self.votes(self.checked_reports(reports).columns)

    def checked_reports(self, reports: Reports) -> Reports:
        """These reports; refused if another mechanism made them."""
        if not isinstance(reports, Reports):
            raise InvalidParameter("These are not reports. Randomize answers first: mechanism.perturb(answers).")
        if reports.fingerprint != self.fingerprint:
            raise SurveyMismatch(
                f"These reports were made by mechanism {reports.fingerprint[:8]}, not by {self.fingerprint[:8]}. "
                "Read them with the question and privacy parameters they were made with."
            )
        return reports

    def tally(self, reports: Reports) -> Tally:
        """The counts of a batch, ready to be added to others."""
        if len(reports) == 0:
            raise EmptyBatch("There are no reports in this batch to count.")
        return Tally(self.fingerprint, len(reports), self.count(reports))

    def check_tally(self, tally: Tally) -> None:
        """Refuse a tally of another mechanism, of nobody, or with counts that cannot be."""
        self.check_owner(tally)
        if tally.counts.shape != (self.cells,) or tally.counts.min() < 0 or tally.counts.max() > tally.n:
            raise InvalidReport(f"A tally of this mechanism has {self.cells} counts from 0 to the number of reports.")

    def check_owner(self, tally: Tally) -> None:
        """Refuse what is no tally, a tally of another mechanism, or of nobody."""
        if not isinstance(tally, Tally):
            raise InvalidParameter("An estimate needs a tally: mechanism.estimate(mechanism.tally(reports)).")
        if tally.fingerprint != self.fingerprint:
            raise SurveyMismatch(
                f"This tally belongs to mechanism {tally.fingerprint[:8]}, not to {self.fingerprint[:8]}. "
                "Estimate it with the mechanism that counted it."
            )
        if tally.n <= 0:
            raise EmptyBatch("This tally holds no reports, so there is nothing to estimate. Collect some first.")

    def checked_truth(self, truth: ArrayLike, n: int) -> Floats:
        """The shares to predict for; refuses what cannot be the shares of n people."""
        shares = np.asarray(truth, np.float64)
        if shares.shape != (self.domain.size,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
            raise InvalidParameter(f"The true shares must be {self.domain.size} non-negative numbers that sum to 1.")
        check_people(n)
        return shares

    def pack(self, reports: Reports) -> bytes:
        """The reports as bytes, with a header and a checksum."""
        return packing.encode(self.checked_reports(reports))

    def unpack(self, data: bytes) -> Reports:
        """The reports in packed bytes; refuses damaged ones and those of another mechanism."""
        return packing.decode(data, self.fingerprint, self.layout)

    def explain(self) -> str:
        """Why this mechanism: the planner's comparison if it was planned, else what it is."""
        return self.why or f"{self.wire} for {formatted_size(self.domain.size)} values, chosen by hand: {self.loss()}"

    def spec(self) -> dict[str, object]:
        """The mechanism as plain data: all that a client in another language needs."""
        return {
            "mechanism": self.wire,
            "domain": dict(self.domain.spec()),
            "epsilon": self.epsilon,
            **self.parameters(),
        }

    def to_json(self) -> str:
        """The specification as JSON text with sorted keys; its hash is the fingerprint."""
        return json.dumps(self.spec(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    @cached_property
    def fingerprint(self) -> str:
        """128 bits that name the exact law and question: the SHA-256 of `to_json`, cut, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:32]


def check_people(n: int) -> None:
    """Refuse a prediction for nobody."""
    if n < 1:
        raise InvalidParameter("A prediction needs at least one person.")


def _law_fields(family: type[Mechanism]) -> list[Field[object]]:
    """The fields of a dataclass that are given to make one, and on which the law depends."""
    return [
        each
        for each in fields(family)  # type: ignore[arg-type]
        if each.init and each.compare
    ]


class Counted(Mechanism[Answer, Ints]):
    """A mechanism whose report is one number, so that counting begins with how often each number occurs."""

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        (field,) = self.layout.fields
        assert isinstance(field, Number)
        return self.votes_of(kernels.histogram(columns[field.name], field.below))

    @abstractmethod
    def votes_of(self, histogram: Ints) -> Ints:
        """The votes of reports of which so many are 0, 1, 2, ..."""


class Additive(Mechanism[Answer, Ints]):
    """A mechanism whose estimate adds up what each report says of each value: a(y), which is right on average."""

    @abstractmethod
    def debias(self, counts: Ints, reports: int) -> Floats:
        """The estimated number of people behind each value, among those who sent this many reports."""

    @abstractmethod
    def noise(self, shares: Floats, people: float = 1.0) -> Floats:
        """n times the variance of the estimate, if `people` is the share of all people who have these shares.

        It is linear in the shares, so unbiased shares give an unbiased variance.
        """

    @property
    @abstractmethod
    def joint(self) -> bool:
        """Whether `joint_noise` is known."""

    @abstractmethod
    def joint_noise(self, shares: Floats, people: float = 1.0) -> Floats:
        """n times the matrix of covariances."""

    @abstractmethod
    def worst_noise(self) -> float:
        """n times the variance of a share, for the value and the people for which it is largest."""

    @abstractmethod
    def guess(self) -> float:
        """How often somebody who sees one report, and thinks all values equally likely, guesses the true one."""

    def estimate(self, tally: Tally) -> Estimate:
        self.check_tally(tally)
        return self._with_error(self.debias(tally.counts, tally.n) / tally.n, tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        return self._with_error(self.checked_truth(truth, n), n)

    def _with_error(self, shares: Floats, n: int) -> Estimate:
        covary = (lambda: self.joint_noise(shares) / n) if self.joint else None
        return Estimate(self.domain.labels, shares, self.noise(shares) / n, n, covary, ordered=self.domain.ordered)
