"""What was collected, in the place of reports: tables, comparisons and estimates."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.collector import Collector, open_store
from deniable.errors import EmptyBatch, InvalidParameter
from tests.collector.test_tables import SPLIT, collected, people
from tests.survey.test_tables import PAIR, QUESTIONS, written


@pytest.fixture(params=[QUESTIONS, SPLIT], ids=["together", "by themselves"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "health.toml"
    path.write_text(written(PAIR, questions=request.param))
    store = open_store(str(tmp_path / "health.db"))
    collected(dn.Survey.load(path), store, 3000)
    store.close()
    return path


def test_a_survey_in_the_place_of_reports(file: Path) -> None:
    survey = dn.collected(file)
    table = dn.crosstab(survey, "smokes", "age")
    assert table.questions == ("smokes", "age") and survey.people == table.n == 3500
    turned = dn.crosstab(survey, "age", "smokes")
    assert np.allclose(turned.shares, table.shares.T) and np.allclose(turned.standard_error, table.standard_error.T)
    assert turned.test().statistic == pytest.approx(table.test().statistic)
    assert np.allclose(survey.estimate("smokes").values, table.margins()["smokes"].values, atol=1e-9)
    assert len(survey.estimate("town").values) == 3
    compared = dn.compare_groups(survey, "smokes[yes]", by="age")
    assert compared.groups == ("18-39", "40-64", "65+") and compared.measure == "share"
    assert np.allclose(compared.values, table.shares[1] / table.shares.sum(axis=0))
    truth = people(3000)
    for group, value, error in zip(compared.groups, compared.values, compared.standard_error, strict=True):
        inside = [own == "yes" for own, age in zip(truth["smokes"], truth["age"], strict=True) if age == group]
        assert abs(value - np.mean(inside)) < 6 * error  # with probability above 1 - 1e-7


def test_compared_as_with_the_reports_themselves(tmp_path: Path) -> None:
    (tmp_path / "health.toml").write_text(written(PAIR, questions=SPLIT))
    survey = dn.Survey.load(tmp_path / "health.toml")
    store = open_store(str(tmp_path / "health.db"))
    _, messages = collected(survey, store)
    store.close()
    columns = [survey.unpack(message) for message in messages]
    from deniable.core import concatenate

    data = {name: concatenate(each[place] for each in columns) for place, name in enumerate(("smokes", "age"))}
    mechanisms = {question.id: question.mechanism for question in survey.questions}
    exact = dn.compare_groups(data, "smokes[yes]", by="age", mechanisms=mechanisms)
    found = dn.compare_groups(dn.collected(tmp_path / "health.toml"), "smokes[yes]", by="age")
    assert np.allclose(found.values, exact.values)
    assert np.allclose(found.standard_error, exact.standard_error, rtol=0.1)  # by the law, not by the spread that was seen


def test_what_cannot_be_tabulated_is_refused(file: Path, tmp_path: Path) -> None:
    survey = dn.collected(file)
    with pytest.raises(InvalidParameter, match=r"counted separately.*\[\[table\]\] questions = \[\"smokes\", \"town\"\]"):
        dn.crosstab(survey, "smokes", "town")
    with pytest.raises(InvalidParameter, match="no question 'height'"):
        dn.crosstab(survey, "smokes", "height")
    with pytest.raises(InvalidParameter, match="two or three different questions"):
        dn.crosstab(survey, "smokes")
    with pytest.raises(InvalidParameter, match="Collect answers first"):
        dn.collected(file, str(tmp_path / "none.db"))
    empty = dn.Collected(survey.survey, {})
    with pytest.raises(EmptyBatch, match="hidden until there are 10 reports"):
        dn.crosstab(empty, "smokes", "age")


def test_the_command_line(file: Path) -> None:
    done = CliRunner().invoke(main, ["crosstab", str(file), "smokes", "age"])
    assert done.exit_code == 0 and done.output.startswith("smokes / age") and "Independence:" in done.output
    done = CliRunner().invoke(main, ["crosstab", str(file), "smokes", "town"])
    assert done.exit_code != 0 and "[[table]]" in done.output


def test_estimates_on_the_command_line_show_tables(file: Path) -> None:
    done = CliRunner().invoke(main, ["estimate", str(file)], env={"COLUMNS": "100"})
    table = dn.crosstab(dn.collected(file), "smokes", "age")
    assert done.exit_code == 0
    for line in (*table.text().splitlines()[:-1], str(table.test())):
        assert line.rstrip() in done.output
    assert "3,500 reports" in done.output and "95% intervals" in done.output


def test_a_hidden_table_says_so(tmp_path: Path) -> None:
    path = tmp_path / "health.toml"
    path.write_text(written(PAIR))
    store = open_store(str(tmp_path / "health.db"))
    Collector(dn.Survey.load(path), store)
    store.close()
    done = CliRunner().invoke(main, ["estimate", str(path)])
    assert done.exit_code == 0 and "Hidden until there are 10 reports" in done.output.split("smokes by age")[1]
