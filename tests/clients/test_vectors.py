"""The vectors in vectors/ are what the code does today."""

import itertools
import json
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.vectors.feature_vector import SCALARS
from tests import law_bounds, law_vectors
from tests.streams import CountingCoins
from tests.vector_surveys import renamed
from tests.vectors import FOLDER, all_vectors, estimated

GOOD: list[dict[str, Any]] = json.loads((FOLDER / "good.json").read_text())
BAD: list[dict[str, Any]] = json.loads((FOLDER / "bad.json").read_text())
SURVEYS: list[dict[str, Any]] = json.loads((FOLDER / "surveys.json").read_text())
BAD_SURVEYS: list[dict[str, Any]] = json.loads((FOLDER / "bad_surveys.json").read_text())


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
    assert str(mechanism.loss().odds) == str(vector["odds"])
    found = estimated(mechanism, tally)
    assert found.keys() == {"values", "standard_errors"} & vector.keys()
    for name, numbers in found.items():
        np.testing.assert_allclose(numbers, vector[name], rtol=1e-12)


@pytest.mark.parametrize("good", GOOD, ids=lambda vector: vector["name"])
def test_bad_vectors(good: dict[str, Any]) -> None:
    mechanism = dn.mechanism_from_json(json.dumps(good["spec"]))
    bad = [vector for vector in BAD if vector["name"] == good["name"]]
    assert len(bad) >= 8
    for vector in bad:
        with pytest.raises(getattr(dn, vector["error"])):
            mechanism.unpack(bytes.fromhex(vector["message"]))
            pytest.fail(f"{vector['why']} is taken")


def test_every_bad_vector_is_of_a_good_one() -> None:
    assert {vector["name"] for vector in BAD} == {vector["name"] for vector in GOOD}


@pytest.mark.parametrize("vector", SURVEYS, ids=lambda vector: vector["name"])
def test_good_surveys(vector: dict[str, Any]) -> None:
    survey = dn.Survey.from_json(vector["survey"])
    assert survey.to_json() == vector["survey"]
    assert survey.fingerprint == vector["fingerprint"]
    assert str(survey.loss().odds) == vector["odds"]
    coins = CountingCoins(vector["seed"].encode())
    part = survey.draw_parts(1, coins)[0]
    assert str(part) == vector["part"]
    message = survey.randomize(vector["answers"], coins, vector["now"], part)
    assert coins.drawn == vector["random_bytes"]
    assert renamed(message, bytes.fromhex(vector["id"])).hex() == vector["message"]
    assert len(survey.unpack(survey.read(message)[0])) == part.bit_count()


@pytest.mark.parametrize("vector", BAD_SURVEYS, ids=lambda vector: vector["name"])
def test_bad_surveys(vector: dict[str, Any]) -> None:
    with pytest.raises(getattr(dn, vector["error"])):
        if "answers" in vector or "message" in vector:
            survey = dn.Survey.from_json(next(each["survey"] for each in SURVEYS if each["name"] == vector["survey"]))
        else:
            dn.Survey.from_json(vector["survey"])
        if "answers" in vector:
            survey.randomize(vector["answers"])
        else:
            for one in survey.read(bytes.fromhex(vector["message"])):
                survey.unpack(one)


def test_every_mechanism_that_surveys_are_planned_with_is_in_one() -> None:
    planned = {spec["mechanism"] for vector in SURVEYS for spec in mechanisms_of(vector)}
    families = {candidate.make(dn.Categories(range(9)), 1.0).wire for candidate in candidates("shares", 1).values()}
    assert families | {"utility-1"} | set(SCALARS) | {"feature-vector-1", "duchi-vector-1"} <= planned
    assert {"pckv-unary-1", "pckv-direct-1", "key-sampling-1", "bipartite-1", "coarsened-1"} <= planned


def mechanisms_of(vector: dict[str, Any]) -> list[dict[str, Any]]:
    return [question["mechanism"] for question in json.loads(vector["survey"])["question"]]


def test_vectors_are_those_that_the_command_writes() -> None:
    made = all_vectors()
    assert json.loads(json.dumps(made["bad"])) == BAD
    assert json.loads(json.dumps(made["surveys"])) == SURVEYS
    assert json.loads(json.dumps(made["bad_surveys"])) == BAD_SURVEYS
    assert [vector["name"] for vector in GOOD] == [vector["name"] for vector in made["good"]]


def test_laws_are_those_that_the_command_writes() -> None:
    assert json.loads((FOLDER / "laws.json").read_text()) == json.loads(json.dumps(law_vectors.vectors()))


def test_bounds_are_those_that_are_proved() -> None:
    """Of every ninth law; all of them take a minute."""
    written = json.loads((FOLDER / "law_bounds.json").read_text())
    for case in itertools.islice(law_bounds.cases(), 0, None, 9):
        found = law_bounds.entry(*case)
        assert found in written or len(found["odds"] or "") > law_bounds.DIGITS, case[0]
