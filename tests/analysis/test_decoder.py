"""Decoders: what a report says of answers is what the exact law says, for every family that has a list of answers."""

import numpy as np
import pytest

import deniable as dn
from deniable.analysis.decoder import OpenDecoder, decoder
from deniable.testing.exact import Exact
from tests.examples import CHANNELS, EXAMPLES, MEANS, REPEATED
from tests.open_examples import LEAN

SMALL = {
    name: each for name, each in {**EXAMPLES, **REPEATED, **LEAN, "wide": CHANNELS["wide"]}.items() if each.domain.size < 7
}


def reports_of(exact: Exact) -> dn.Reports:
    return dn.Reports(exact.mechanism.fingerprint, exact.mechanism.layout, exact.columns)


@pytest.mark.parametrize("name", SMALL)
def test_likelihoods_indicators_and_squares_are_those_of_the_law(name: str) -> None:
    exact = Exact(SMALL[name])
    found, matrix = decoder(exact.mechanism), exact.matrix
    which, rows = found.likelihood(reports_of(exact))
    likelihood = rows[which].T
    ratio = matrix / np.where(likelihood > 0, likelihood, 1)
    assert np.allclose(matrix, ratio.max(axis=0) * likelihood, atol=1e-12)
    which, rows = found.indicators(reports_of(exact))
    made = rows[which]
    assert np.allclose(matrix @ made, np.eye(len(matrix)), atol=1e-9)
    square = np.stack([(made.T * row) @ made for row in matrix])
    assert np.allclose(found.squares, square, rtol=1e-9, atol=1e-9 * np.abs(square).max())


@pytest.mark.parametrize("name", MEANS)
def test_numbers_are_right_on_average(name: str) -> None:
    exact = Exact(MEANS[name])
    decoded = decoder(exact.mechanism).decoded(reports_of(exact))
    assert np.allclose(exact.matrix @ decoded, MEANS[name].domain.points, atol=1e-7)


def test_squares_are_decoded_where_reports_determine_them() -> None:
    exact = Exact(MEANS["piecewise"])
    squares = decoder(exact.mechanism).decoded(reports_of(exact), 2)
    assert np.allclose(exact.matrix @ squares, MEANS["piecewise"].domain.points ** 2, atol=1e-6)
    with pytest.raises(dn.InvalidParameter, match="the mean but not the spread"):
        decoder(MEANS["duchi"]).decoded(MEANS["duchi"].perturb([5.0]), 2)


def test_a_channel_that_merges_answers_is_refused() -> None:
    found = decoder(CHANNELS["singular"])
    with pytest.raises(dn.InvalidParameter, match="cannot distinguish the 3 answers"):
        found.indicators(CHANNELS["singular"].perturb(["a"]))


def test_questions_without_a_list_of_answers_are_refused() -> None:
    with pytest.raises(dn.InvalidParameter, match="a list of at most 4,096 answers"):
        decoder(dn.PCKVUnary(dn.KeyValue(range(3), -1, 1, 1), 1.0))
    with pytest.raises(dn.InvalidParameter, match="need the mechanism"):
        decoder("direct-1")


def test_sensitive_wrappers_with_too_many_reports_are_refused() -> None:
    wide = dn.UtilityOptimized(dn.Unary, dn.Categories(range(40)), list(range(30)), 1.0)
    with pytest.raises(dn.InvalidParameter, match=r"cannot be listed.*such as DirectResponse"):
        decoder(wide)
    assert decoder(dn.UtilityOptimized(dn.DirectResponse, dn.Categories(range(40)), list(range(30)), 1.0)).size == 40


def test_hashing_of_many_answers_has_no_covariance() -> None:
    many = dn.LocalHashing(dn.Categories(range(2000)), 1.0)
    with pytest.raises(dn.InvalidParameter, match="is not known for 2000 answers"):
        _ = decoder(many).squares


def test_impossible_reports_are_refused() -> None:
    lean = LEAN[next(iter(LEAN))]
    other = dn.Reports(lean.fingerprint, lean.layout, {f.name: np.full_like(f.empty(1), 255) for f in lean.layout.fields})
    with pytest.raises(dn.InvalidReport):
        decoder(lean).likelihood(other)
    with pytest.raises(dn.SurveyMismatch):
        decoder(EXAMPLES["warner"]).likelihood(EXAMPLES["direct"].perturb([1]))


def test_open_answers_decode_themselves() -> None:
    found = OpenDecoder.of(["b", "a", "b"])
    assert found.labels == ["a", "b"] and found.codes(["b", "a"]).tolist() == [1, 0]
    assert OpenDecoder.of(["a", 3]).labels == [3, "a"]
    with pytest.raises(dn.InvalidParameter, match="not one of its answers"):
        found.codes(["c"])
