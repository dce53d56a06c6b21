"""The vectors in vectors/ are what the code does today."""

import json
from typing import Any

import numpy as np
import pytest

import deniable as dn
from tests.streams import CountingCoins
from tests.vectors import FOLDER, all_vectors

GOOD: list[dict[str, Any]] = json.loads((FOLDER / "good.json").read_text())
BAD: list[dict[str, Any]] = json.loads((FOLDER / "bad.json").read_text())


@pytest.mark.parametrize("vector", GOOD, ids=lambda vector: vector["name"])
def test_good_vectors(vector: dict[str, Any]) -> None:
    mechanism = dn.mechanism_from_json(json.dumps(vector["spec"]))
    assert mechanism.fingerprint == vector["fingerprint"]
    assert mechanism.layout.bits == vector["report_bits"]
    coins = CountingCoins(vector["seed"].encode())
    for answer, drawn, report in zip(vector["answers"], vector["random_bytes"], vector["reports"], strict=True):
        before = coins.drawn
        assert mechanism.perturb([answer], coins).pack().hex() == report
        assert coins.drawn - before == drawn
    tally = mechanism.tally(mechanism.unpack(bytes.fromhex(vector["message"])))
    assert tally.n == len(vector["answers"])
    assert tally.counts.tolist() == vector["counts"]
    estimate = mechanism.estimate(tally)
    np.testing.assert_allclose(estimate.values, vector["values"], rtol=1e-12)
    np.testing.assert_allclose(estimate.standard_error, vector["standard_errors"], rtol=1e-12)


@pytest.mark.parametrize("vector", BAD, ids=lambda vector: f"{vector['name']} {vector['why']}")
def test_bad_vectors(vector: dict[str, Any]) -> None:
    spec = next(each["spec"] for each in GOOD if each["name"] == vector["name"])
    with pytest.raises(getattr(dn, vector["error"])):
        dn.mechanism_from_json(json.dumps(spec)).unpack(bytes.fromhex(vector["message"]))


def test_vectors_are_those_that_the_command_writes() -> None:
    assert json.loads(json.dumps(all_vectors()["bad"])) == BAD
    assert [vector["name"] for vector in GOOD] == [vector["name"] for vector in all_vectors()["good"]]
