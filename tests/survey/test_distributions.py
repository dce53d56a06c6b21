"""Questions that ask for a distribution: from the file to the published histogram, quantiles and sentences."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, open_store, results
from deniable.survey.kinds.summary import round_bins, round_group
from deniable.survey.rounds import next_survey
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
            'ask is the text of the question. To say what to estimate, write target = "distribution"',
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


HOME = """
[[question]]
id = "home"
kind = "place"
area = [[48.80, 2.25], [48.92, 2.42]]
grid = [3, 12]
target = "ranges"
"""


class TestMaps:
    def test_the_cells_of_an_area_are_asked_counted_and_published(self, tmp_path: Path) -> None:
        asked = survey(ABOUT + HOME)
        (home,) = asked.questions
        assert home.mechanism.wire == "tiles-1" and home.domain.size == 36 and dn.certify_survey(asked).holds
        assert home.domain.labels[0] == "48.8 to 48.84, 2.25 to 2.264167"
        assert dn.Survey.from_json(asked.to_json()).fingerprint == asked.fingerprint
        assert 0 < dn.plan_survey(asked).questions[0].error < 0.05
        collector = Collector(asked, open_store(str(tmp_path / "s.db")))
        homes = [home.domain.labels[5]] * 4000 + [home.domain.labels[30]] * 1000
        collector.take(asked.read(asked.batch({"home": homes}, 5000, dn.SeededCoins(7))))
        published = results(asked, collector.number, collector.store)
        answered: dict[str, Any] = published.data()["questions"][0]  # type: ignore[index]
        cells = answered["estimates"]
        assert len(cells) == 3 * 8  # neighbours together, where there are more than 8
        assert all(each["measure"] == "share" and each["low"] <= each["value"] <= each["high"] for each in cells)
        assert sum(each["value"] for each in cells) == pytest.approx(1) and min(each["cleaned"] for each in cells) >= 0
        largest = max(cells, key=lambda each: each["value"])
        assert largest["value"] == pytest.approx(0.8, abs=0.1)  # a standard error is 0.013
        assert largest["answer"].startswith("48.8 to 48.84, 2.32")
        assert answered["words"][0].startswith(f"Most people are in: {largest['answer']} (")
        assert " %; interval " in answered["words"][0]

    def test_named_places_keep_their_names(self) -> None:
        towns = 'places = ["Paris", "Lyon", "Nice"]\npoints = [[48.86, 2.35], [45.76, 4.84], [43.70, 7.27]]'
        asked = survey(ABOUT + HOME.replace("area = [[48.80, 2.25], [48.92, 2.42]]\ngrid = [3, 12]", towns))
        (home,) = asked.questions
        tally = home.mechanism.tally(home.mechanism.perturb(["Paris"] * 900 + ["Nice"] * 100, dn.SeededCoins(1)))
        (part,) = home.how.parts(home.how.estimate(home.mechanism, tally))
        assert list(part.labels) == ["Paris", "Lyon", "Nice"]
        assert part.values[0] == pytest.approx(0.9, abs=0.15)  # a standard error is 0.02

    @pytest.mark.parametrize(
        ("before", "after", "says"),
        [
            ("grid = [3, 12]", "", "grid the number of its cells"),
            ("grid = [3, 12]", "grid = [1, 12]", "from 2 to 64"),
            ("[48.92, 2.42]", "[48.70, 2.42]", "area is two corners"),
            ("[48.92, 2.42]", "[98.92, 2.42]", "latitude"),
            ('"ranges"', '"quantiles"', "target must be one of 'ranges'"),
            ("grid", 'places = ["a", "b"]\ngrid', "either places and points, or an area"),
        ],
    )
    def test_what_cannot_be(self, before: str, after: str, says: str) -> None:
        with pytest.raises(dn.InvalidSurvey, match=says):
            survey(ABOUT + HOME.replace(before, after))


def test_a_certificate_says_what_a_person_discloses_over_all_rounds() -> None:
    certificate = dn.certify_survey(survey(ABOUT.replace("people", "rounds = 3\npeople") + AGE))
    assert "all rounds    the same: each person answers one of 3" in str(certificate)
    assert "There are 3 rounds, and you answer one" in certificate.statement()
    assert "rounds" not in str(dn.certify_survey(survey(ABOUT + AGE)))


class TestQuantiles:
    ASKED = AGE + "quantiles = [0.5, 0.9]\n"

    def test_results_have_the_quantiles_that_the_file_asks_for(self) -> None:
        asked = survey(ABOUT + self.ASKED + GRADE + "quantiles = [0.1]\n")
        assert asked.contract()["question"][0]["quantiles"] == [0.5, 0.9]  # type: ignore[index]
        assert dn.Survey.from_json(asked.to_json()).fingerprint == asked.fingerprint
        age, grade = asked.questions
        ages = np.repeat(np.arange(61), 50)
        tally = age.mechanism.tally(age.mechanism.perturb(ages, dn.SeededCoins(1)))
        found = age.how.results(age.details, [(age.mechanism, tally)])
        (figure,) = (part for part in age.how.parts(found) if part.measure == "quantile 0.9")
        low, high = (float(end[0]) for end in figure.interval(0.9999999))
        assert low <= 54.5 <= high  # a false alarm below 1e-6
        said = age.how.words(found, 0.95)
        assert len(said) == 4 and said[2].startswith("90 % answered 5") and " or less (" in said[2]
        marks = grade.mechanism.tally(grade.mechanism.perturb(["bad"] * 500 + ["good"] * 500, dn.SeededCoins(1)))
        assert grade.how.words(grade.how.results(grade.details, [(grade.mechanism, marks)]), 0.95)[2].startswith(
            "10 % answered “bad” or lower ("
        )

    def test_the_first_of_several_rounds_is_planned_for_what_comes_after_it(self) -> None:
        """As `next_round` plans it, for the people of one round; another target, or one round, has its own plan."""
        (age,) = survey(ABOUT.replace("people", "rounds = 3\npeople") + self.ASKED).questions
        people, line = -(-5000 // 3), dn.Interval(0, 60, steps=60, clip=True)
        first = dn.next_round(line, 4.0, people, [0.5, 0.9], edition=1)
        assert age.mechanism.fingerprint == first.fingerprint
        best = {target: dn.plan(line, 4.0, people, target=target, edition=1) for target in ("ranges", "distribution")}
        assert best["distribution"] == dn.plan(line, 4.0, people, target="distribution")
        for target, planned in best.items():
            (whole,) = survey(ABOUT.replace("people", "rounds = 3\npeople") + AGE.replace("quantiles", target)).questions
            assert whole.mechanism.fingerprint == planned.fingerprint
        assert survey(ABOUT + AGE).questions[0].mechanism.fingerprint != first.fingerprint

    def test_rounds_look_for_them(self) -> None:
        """The cuts of the second round are near the quantiles that the file asks for; without any, near the median."""
        for written, wanted in ((self.ASKED, [0.5, 0.9]), (AGE, [0.5])):
            asked = survey(ABOUT.replace("people", "rounds = 3\npeople") + written)
            (age,) = asked.questions
            tally = age.mechanism.tally(age.mechanism.perturb(np.repeat(np.arange(61), 50), dn.SeededCoins(1)))
            later = next_survey([(asked, {"age": tally})]).questions[0].mechanism
            assert isinstance(later, dn.Cuts)
            # 6 standard errors of the distribution function, 0.02 each, and one answer
            assert np.abs(np.array(later.cuts) / 61 - wanted).max() < 6 * 0.02 + 1 / 61
            assert len(later.cuts[0]) == len(wanted)

    @pytest.mark.parametrize(
        ("written", "says"),
        [
            ("quantiles = 0.5", "1 to 12 numbers between 0 and 1 in order"),
            ("quantiles = [0.9, 0.5]", "in order"),
            ("quantiles = [0.5, 1.0]", "between 0 and 1"),
            ("quantiles = []", "1 to 12 numbers"),
        ],
    )
    def test_what_cannot_be(self, written: str, says: str) -> None:
        with pytest.raises(dn.InvalidSurvey, match=f"line [0-9]+: .*{says}"):
            survey(ABOUT + AGE + written + "\n")

    def test_a_mean_has_none(self) -> None:
        with pytest.raises(dn.InvalidSurvey, match="quantiles require a target"):
            survey(ABOUT + self.ASKED.replace('"quantiles"', '"mean"'))
