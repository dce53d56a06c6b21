"""The laws, one function each: it returns if the law holds, and raises `CheckFailed` or `NotApplicable` if not."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import cast

import numpy as np

from deniable.arrays import Bytes
from deniable.core import Additive, Number, PureProtocol, SeededCoins, Tally
from deniable.errors import NotCertifiable
from deniable.mechanisms import registry
from deniable.mechanisms.releases.release import Release
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify
from deniable.privacy.prove import has_own_answers
from deniable.testing.exact import Exact
from deniable.testing.failures import CheckFailed, NotApplicable, refused, require
from deniable.testing.population import published, truth

CLOSE = 1e-12  # how far from the truth rounding may take an estimate, relative to what one report can say


def sums_to_one(exact: Exact) -> None:
    """The probabilities of all reports on an answer sum to one, exactly."""
    for index, own in enumerate(exact.chances):
        require(sum(own.values()) == 1, f"the law of answer {index} does not sum to one. Look at `randomize`.")


def worst_ratio(exact: Exact) -> None:
    """The worst ratio of the code is the declared loss; by every proof that the mechanism names."""
    mechanism, declared = exact.mechanism, exact.mechanism.loss()
    try:
        enumerable = bool(exact.laws)
    except NotApplicable:
        enumerable = False
    try:
        found = certify(mechanism, "enumerated" if enumerable and has_own_answers(mechanism) else None, exact.limit)
    except NotCertifiable as why:
        if enumerable:
            raise CheckFailed(f"the code cannot be certified: {why}") from why
        raise NotApplicable(f"The loss rests on a theorem: {why}") from None
    at_most = declared.proof == "theorem" and None not in (found.loss.odds, declared.odds)
    holds = cast(Fraction, found.loss.odds) <= cast(Fraction, declared.odds) if at_most else found.loss.odds == declared.odds
    require(
        holds,
        f"`loss()` declares odds of {declared.odds}, but the worst odds of the code are {found.loss.odds}: report "
        f"{found.worst_report}, answers {found.worst_pair}. Look at `loss` and at the probabilities in `randomize`.",
    )
    if enumerable:
        _has_its_ratio(exact, found)
        other = certify(mechanism, None, exact.limit)
        require(
            other.loss.odds == found.loss.odds,
            f"The rules of proof find odds of {other.loss.odds}, but enumeration finds {found.loss.odds}: the rules cannot "
            "follow the way in which the law is written.",
        )
        _has_its_ratio(exact, other)


def _has_its_ratio(exact: Exact, found: Certificate) -> None:
    """The worst pair and report of a certificate have the ratio that it states, where it names a whole report."""
    if found.worst_pair is None:
        return
    first, second = (exact.chances[exact.index(answer)] for answer in found.worst_pair)
    try:
        report = bytes.fromhex(found.worst_report)
    except ValueError:  # in words: what happens at some cells
        return
    if report in first or report in second:  # nothing is worst where no report says anything
        ratio = first.get(report, Fraction(0)) / second[report] if report in second else None
        require(ratio == found.loss.odds, "the worst pair and report of the certificate have another ratio.")


def unbiased(exact: Exact) -> None:
    """On average over the law the estimate is the truth, up to the rounding of floats."""
    expected = exact.predicted.values
    given = np.asarray(truth(exact.mechanism.domain, exact.people), np.float64)
    if given.shape == expected.shape:
        require(np.allclose(expected, given, rtol=0, atol=CLOSE), "`predict` does not give back the true shares.")
    try:
        found, scale = exact.shares @ exact.matrix @ exact.singles, float(np.abs(exact.singles).max())
    except NotApplicable:
        found, scale = published(exact.mechanism.estimate(exact.tally)).values, 1.0
    worst = float(np.abs(found - expected).max())
    require(
        worst <= CLOSE * max(scale, 1.0),
        f"the mean estimate is off by {worst:.3g}. Look at `votes` and `estimate`, or at p and q.",
    )


def variance(exact: Exact) -> None:
    """The predicted variance, and covariance where it is known, are those of the law."""
    values, covariance = exact.singles, np.zeros((exact.singles.shape[1],) * 2)
    for share, chances in zip(exact.shares, exact.matrix, strict=True):
        centred = values - chances @ values
        covariance += share * (centred.T * chances) @ centred
    wanted, room = np.diag(covariance), 1e-11 * float(np.abs(covariance).max())
    look = "Look at `predict`, and at `pairs` or `noise`."
    close = np.allclose(exact.predicted.variance, wanted, rtol=1e-9, atol=room)
    require(close, f"the predicted variance {exact.predicted.variance} is not that of the law, {wanted}. {look}")
    if exact.predicted.covariance is not None:
        close = np.allclose(exact.predicted.covariance, covariance, rtol=1e-9, atol=room)
        require(close, f"the predicted covariance is not that of the law. {look}")


def support(exact: Exact) -> None:
    """Reports support the true answer with probability p, others with q, and pairs as `pairs` says."""
    mechanism = exact.mechanism
    if not isinstance(mechanism, PureProtocol):
        raise NotApplicable("Only a PureProtocol says which answers a report supports.")
    cells = np.arange(mechanism.domain.size)
    for x, own in enumerate(exact.laws):
        rows = mechanism.supports(mechanism.layout.columns(own.reports), cells).astype(np.int64)
        both = sum(
            chance * (rows[own.chance == code].T @ rows[own.chance == code]).astype(object)
            for code, chance in enumerate(own.chances)
        )
        for y, z in combinations_with_replacement(range(len(cells)), 2):
            if y == z:
                require(both[y, y] == (mechanism.p if x == y else mechanism.q), "p or q is not that of the code.")
            elif mechanism.pairs:
                known = mechanism.pairs[0 if x in (y, z) else 1]
                require(both[y, z] == known, "`pairs` is not the probability that a report supports two answers.")


def likelihood(exact: Exact) -> None:
    """A report is `loss().odds` times as likely under the answers that it supports: expectation maximization needs that."""
    mechanism, odds = exact.mechanism, exact.mechanism.loss().odds
    if not isinstance(mechanism, PureProtocol):
        raise NotApplicable("Only a PureProtocol says which answers a report supports.")
    supported = mechanism.supports(exact.columns, np.arange(mechanism.domain.size)).tolist()
    for report, row in zip(exact.reports, supported, strict=True):
        chances = {bit: own.get(report, Fraction(0)) for own, bit in zip(exact.chances, row, strict=True)}
        same = all(own.get(report, Fraction(0)) == chances[bit] for own, bit in zip(exact.chances, row, strict=True))
        require(same, f"report {report.hex()} is not equally likely under all answers that it supports, or does not.")
        if len(chances) == 2 and odds is not None:
            holds = chances[True] == chances[False] * odds
            require(holds, f"report {report.hex()} is not `loss().odds` times as likely under the answers that it supports.")


def guess(exact: Exact) -> None:
    """`guess` is how often the best observer of one report is right."""
    if not isinstance(exact.mechanism, Additive):
        raise NotApplicable("Only an Additive mechanism says how often its reports are guessed.")
    best = float(sum(max(own.get(report, Fraction(0)) for own in exact.chances) for report in exact.reports))
    found, wanted = exact.mechanism.guess(), best / len(exact.chances)
    require(
        math.isclose(found, wanted, rel_tol=1e-9), f"`guess` is {found}; the best observer is right {wanted} of the time."
    )


def losses(exact: Exact) -> None:
    """The expected loss of a release is that of the law."""
    mechanism = exact.mechanism
    if not isinstance(mechanism, Release):
        raise NotApplicable("Only releases state an expected loss.")
    values = exact.columns["value"]
    require(int(values.max()) < len(mechanism.outputs), "the law reports a number that is not one of the `outputs`.")
    each = mechanism.metric.losses(np.arange(mechanism.domain.size))[:, mechanism.outputs[values]]
    wanted = (exact.matrix * each).sum(axis=1)
    close = np.allclose(mechanism.row_losses(), wanted, rtol=1e-9, atol=CLOSE)
    require(close, "`row_losses` is not the expected loss under the law.")
    prior = np.arange(1, len(wanted) + 1) / (len(wanted) * (len(wanted) + 1) / 2)
    found = mechanism.expected_loss(prior), mechanism.worst_loss()
    require(np.allclose(found, (prior @ wanted, wanted.max())), "`expected_loss` or `worst_loss` is not that of the rows.")


def packing(exact: Exact) -> None:
    """Packed reports come back whole; damaged, longer, shorter and impossible ones are refused."""
    mechanism, reports = exact.mechanism, exact.sample(61)
    message, layout = mechanism.pack(reports), mechanism.layout
    back = mechanism.unpack(message)
    same = all(np.array_equal(back.columns[field.name], reports.columns[field.name]) for field in layout.fields)
    require(same, "`unpack` does not give back what `pack` wrote. Look at `layout` and at the columns of `randomize`.")
    if not layout.prefix:
        require(len(message) == 36 + (61 * layout.bits + 7) // 8, "a batch does not take the bits that `layout` says.")
    flipped = message[:-9] + bytes([message[-9] ^ 1]) + message[-8:]
    other = message[:8] + bytes([message[8] ^ 1]) + message[9:]
    for damaged in (message + b"\0", message[:-1], message[:40], b"", other, flipped):
        refused(lambda damaged=damaged: mechanism.unpack(damaged), "a damaged batch is not refused.")  # type: ignore[misc]
    bare = layout.pack(reports[:1].columns)
    refused(lambda: layout.unpack(bare + b"\0", 1), "a byte that is left over is not refused.")
    if not layout.prefix and layout.bits % 8:
        refused(lambda: layout.unpack(bare[:-1] + bytes([bare[-1] | 128]), 1), "a bit that is left over is not refused.")
    for field in layout.fields:
        if isinstance(field, Number) and field.below <= np.iinfo(field.dtype).max:
            beyond = {**reports.columns, field.name: np.full(61, field.below, field.dtype)}
            refused(lambda beyond=beyond: layout.check(beyond), f"{field.name!r} may be {field.below}.")  # type: ignore[misc]


def counting(exact: Exact) -> None:
    """The votes of a batch are those of its reports added up, and what they support."""
    mechanism, reports = exact.mechanism, exact.sample(47, seed=5)
    whole = mechanism.count(reports)
    single = np.sum([mechanism.count(reports[place : place + 1]) for place in range(47)], axis=0)
    require(np.array_equal(whole, single), "`votes` of a batch are not the sum of the votes of its reports.")
    require(whole.shape == (mechanism.cells,), "`votes` does not give one number for each of `cells`.")
    if isinstance(mechanism, PureProtocol):
        supported = mechanism.supports(reports.columns, np.arange(mechanism.domain.size)).sum(axis=0)
        require(np.array_equal(whole, supported), "`votes` does not count what `supports` says.")


def tallies(exact: Exact) -> None:
    """Tallies add in any order and grouping, come back from JSON, and are refused if they belong elsewhere."""
    mechanism, reports = exact.mechanism, exact.sample(90, seed=2)
    a, b, c = (mechanism.tally(reports[start:stop]) for start, stop in pairwise((0, 10, 50, 90)))
    whole = mechanism.tally(reports)
    same = (a + b) + c == c + (b + a) == sum([b, c, a]) == whole == Tally.from_json(whole.to_json())
    require(same, "tallies of parts do not add up to the tally of the whole. Look at `votes`.")
    mechanism.check_tally(whole)
    other = replace(whole, fingerprint="0" * 32)
    refused(lambda: whole + other, "the tally of another mechanism can be added.")
    for wrong in (
        other,
        replace(whole, n=0),
        replace(whole, counts=whole.counts[1:]),
        replace(whole, counts=-1 - whole.counts),
    ):
        refused(lambda wrong=wrong: mechanism.check_tally(wrong), "an impossible tally is accepted.")  # type: ignore[misc]
    refused(lambda: mechanism.count(replace(reports, fingerprint="0" * 32)), "reports of another mechanism are counted.")


def json_keeps(exact: Exact) -> None:
    """A mechanism comes back from JSON equal, with the same fingerprint."""
    mechanism, wire = exact.mechanism, exact.mechanism.wire
    known = wire in registry.families()
    if known:
        require(type(mechanism) is registry.family(wire), f"{wire!r} is the wire name of another class.")
        back = registry.mechanism_from_json(mechanism.to_json())
    else:
        back = type(mechanism).from_parameters(mechanism.domain, mechanism.epsilon, mechanism.spec())
    same = back == mechanism and back.fingerprint == mechanism.fingerprint
    require(same, "the mechanism does not come back from JSON. Look at `parameters` and `from_parameters`.")
    if not known:
        raise NotApplicable(
            f"{wire!r} is not registered, so JSON and survey files cannot name it. Add an entry point to the group "
            f"{registry.GROUP!r} of your package."
        )


class _Watched(SeededCoins):
    """Coins that remember how many bytes each draw took."""

    def __init__(self) -> None:
        super().__init__(1)
        self.drawn: list[int] = []

    def draw(self, size: int) -> Bytes:
        self.drawn.append(size)
        return super().draw(size)


def coins(exact: Exact) -> None:
    """The same coins are tossed for all answers: neither what is drawn nor the time it takes depends on the answer."""
    mechanism, seen = exact.mechanism, set()
    if mechanism.layout.prefix:
        raise NotApplicable("Reports of variable length take as many coins as they need; their loss covers the length.")
    size = mechanism.domain.size
    answers = [mechanism.domain.answer(index) for index in range(size)] if size <= 200 else exact.answers(200)
    for answer in cast(Sequence[object], answers):
        watched = _Watched()
        mechanism.perturb([answer], watched)
        seen.add(tuple(watched.drawn))
    require(len(seen) == 1, "the coins tossed depend on the answer. In `randomize`, draw all branches first, then select.")


CHECKS: dict[str, Callable[[Exact], None]] = {
    "counting": counting,
    "packing": packing,
    "tallies": tallies,
    "json": json_keeps,
    "coins": coins,
    "sums_to_one": sums_to_one,
    "worst_ratio": worst_ratio,
    "unbiased": unbiased,
    "variance": variance,
    "support": support,
    "likelihood": likelihood,
    "guess": guess,
    "losses": losses,
}
