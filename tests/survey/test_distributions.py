"""Questions that ask for a distribution: from the file to the published histogram, quantiles and sentences."""

from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, open_store, results
from deniable.survey.kinds.summary import round_bins, round_group
from tests.surveys import survey

ABOUT = """
[survey]
id = "ages"
epsilon = 4.0
people = 5000
minimum_reports = 100
"""
AGE = """
[[question]]
id = "age"
ask = "How old are you?"
kind = "number"
low = 0
high = 60
target = "quantiles"
"""
GRADE = """
[[question]]
id = "grade"
kind = "ordered"
choices = ["bad", "fair", "good", "very good"]
target = "distribution"
"""


@pytest.fixture(scope="module")
def asked() -> dn.Survey:
    return survey(ABOUT + AGE + GRADE)


def test_the_target_plans_a_distribution_and_is_part_of_the_contract(asked: dn.Survey) -> None:
    age, grade = asked.questions
    assert {age.mechanism.question, grade.mechanism.question} == {"distributions"}
    assert age.mechanism.domain.size == 61  # each whole number
    assert dn.Survey.from_json(asked.to_json()).fingerprint == asked.fingerprint
    assert asked.contract()["question"][0]["target"] == "quantiles"  # type: ignore[index]
    assert dn.certify_survey(asked).holds
    plan = dn.plan_survey(asked)
    assert 0 < plan.questions[1].error < plan.questions[0].error < 0.05


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (AGE.replace('"quantiles"', '"median"'), "target must be one of 'mean', 'distribution', 'quantiles', 'ranges'"),
        (GRADE.replace('"distribution"', '"mean"'), "target must be one of 'distribution', 'quantiles', 'ranges'"),
        (
            AGE.replace('target = "quantiles"\n', "").replace("How old are you?", "distribution"),
            'ask holds the words of the question. What is to be estimated is its target = "distribution"',
        ),
        (AGE + "steps = 4000\n", "a grid of 2 to"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_line(written: str, says: str) -> None:
    with pytest.raises(dn.InvalidSurvey, match=f"line [0-9]+: .*{says}"):
        survey(ABOUT + written)


def test_a_mean_may_be_asked_for_by_name() -> None:
    named = survey(ABOUT + AGE.replace("quantiles", "mean"))
    plain = survey(ABOUT + AGE.replace('target = "quantiles"\n', ""))
    assert named.questions[0].mechanism == plain.questions[0].mechanism
    assert "target" not in plain.to_json()  # fingerprints of earlier surveys stay


def test_results_have_a_histogram_a_band_and_quartiles_in_words(
    asked: dn.Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(5)
    ages = np.round(60 * random.beta(4, 3, 4000))
    grades = random.choice(["bad", "fair", "good", "very good"], 4000, p=[0.1, 0.2, 0.3, 0.4])
    store = open_store(str(tmp_path / "survey.db"))
    collector = Collector(asked, store)
    body = asked.batch({"age": ages, "grade": grades.tolist()}, 4000, dn.SeededCoins(7))
    collector.take(asked.read(body))
    found = results(collector.survey, collector.number, store)
    age, grade = (each["estimates"] for each in found.data()["questions"])  # type: ignore[attr-defined]
    bins = [line for line in age if line["measure"] == "share"]
    assert [line["answer"] for line in bins][:2] == ["0 to 5", "5 to 10"] and len(bins) == 12
    assert sum(line["value"] for line in bins) == pytest.approx(1) == sum(line["cleaned"] for line in bins)
    # an answer is spread evenly over the numbers nearest to it; 6 standard errors: a false alarm in 12 bins below 1e-7
    above = np.array([np.clip(ages - cut + 0.5, 0, 1).mean() for cut in np.arange(0, 61, 5)])
    above[[0, -1]] = 1, 0
    for line, share in zip(bins, -np.diff(above), strict=True):
        assert abs(line["value"] - share) < 6 * line["standard_error"]
    function = [line for line in age if line["measure"] == "share at most"]
    lows, highs = ([line[end] for line in function] for end in ("low", "high"))
    assert lows == sorted(lows) and highs == sorted(highs) and 20 <= len(function) <= 24
    single = {line["measure"]: line for line in age if line["answer"] == ""}
    assert set(single) == {"lower quartile", "median", "upper quartile", "mean"}
    assert single["median"]["low"] - 1 <= np.median(ages) <= single["median"]["high"] + 1
    labels = [line["answer"] for line in grade if line["measure"] == "share"]
    assert labels == ["bad", "fair", "good", "very good"]
    (median,) = (line for line in grade if line["measure"] == "median")
    assert (median["answer"], median["value"]) == ("good", 2.0)
    said = [each["words"] for each in found.data()["questions"]]  # type: ignore[attr-defined]
    assert said[0][0].startswith("Half of the people answered 3") and said[1][0].startswith(
        "Half of the people answered “good” or lower"
    )
    assert len(said[0]) == 3 and len(said[1]) == 2

    def refuse(*_: object) -> None:
        raise AssertionError("the fit was computed again")

    monkeypatch.setattr(type(asked.questions[0].mechanism), "distribution", refuse)
    monkeypatch.setattr(type(asked.questions[1].mechanism), "distribution", refuse)
    again = results(collector.survey, collector.number, store, 0.9)
    assert len(again.records()) == len(found.records()) and "share at most" in again.csv()
    store.close()


def test_bins_are_round() -> None:
    assert [round_bins(0, high) for high in (120, 100, 1, 7.3, 1000)] == [12, 10, 10, 12, 10]
    assert [round_group(size) for size in (5, 24, 82, 256)] == [1, 1, 10, 20]
