"""Tables of a survey at the collector: counted once with the questions, kept, restored and published."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, open_store, results
from deniable.collector.segments import write_segment
from deniable.collector.store import Store
from deniable.core import concatenate
from deniable.files.reports import read_batches
from tests.collector.one_backup import read_backup, write_backup
from tests.survey.test_tables import PAIR, QUESTIONS, parsed

SPLIT = {name: own + '\nmechanism = { mechanism = "direct-1" }' for name, own in QUESTIONS.items()}


def people(count: int) -> dict[str, Any]:
    random = np.random.default_rng(3)
    age = random.choice(["18-39", "40-64", "65+"], count)
    smokes = np.where(random.random(count) < np.where(age == "65+", 0.1, 0.5), "yes", "no")
    return {"smokes": smokes.tolist(), "age": age.tolist(), "town": random.choice(["Lyon", "Nice", "Metz"], count).tolist()}


def collected(survey: dn.Survey, store: Store, count: int = 300) -> tuple[Collector, list[Any]]:
    """Single messages of many people, some of them twice, in several groups; and a batch."""
    collector, answers = Collector(survey, store), people(count)
    messages = [survey.read(body)[0] for body in survey.randomize_all(answers, count, dn.SeededCoins(4), now=0)]
    messages += survey.read(survey.batch(people(500), 500, dn.SeededCoins(5), now=0))
    collector.take(messages[:100])
    collector.take(messages[50:])
    collector.take(messages[:10])
    return collector, messages


@pytest.mark.parametrize("questions", [QUESTIONS, SPLIT], ids=["together", "by themselves"])
def test_a_table_is_that_of_all_reports_each_counted_once(questions: dict[str, str], tmp_path: Path) -> None:
    survey = parsed(PAIR, questions=questions)
    store = open_store(str(tmp_path / "a.db"))
    collector, messages = collected(survey, store)
    found = results(survey, collector.number, store)
    table = found.tables[0].table
    assert table is not None and found.people == table.n == 800
    columns = [survey.unpack(message) for message in messages]
    if questions is QUESTIONS:
        joined = concatenate(each[0] for each in columns)
        exact = dn.crosstab(joined, survey.questions[0].mechanism, names=["smokes", "age"])
    else:
        own = {name: concatenate(each[place] for each in columns) for place, name in enumerate(("smokes", "age"))}
        exact = dn.crosstab(own, {question.id: question.mechanism for question in survey.questions})
    assert np.array_equal(table.shares, exact.shares)
    assert np.allclose(table.covariance(), exact.covariance())
    by_question = {each.question.id: each.estimate for each in found.answered}
    assert by_question["smokes"] is not None
    assert np.allclose(by_question["smokes"].values, table.margins()["smokes"].values)
    store.close()


def test_tallies_of_pairs_survive_backup_and_restore(new_store: Callable[[], str], tmp_path: Path) -> None:
    survey = parsed(PAIR, questions=SPLIT)
    store, other = open_store(new_store()), open_store(new_store())
    collector, _ = collected(survey, store)
    write_backup(survey, store, tmp_path / "backup")
    again = Collector(read_backup(tmp_path / "backup", other), other)
    before, after = (results(survey, each.number, each.store) for each in (collector, again))
    assert before.json() == after.json()
    with other.view() as view:
        assert (0, "smokes*age") in view.tallies(again.number, survey)
    store.close()
    other.close()


def test_what_is_published(tmp_path: Path) -> None:
    survey = parsed(PAIR)
    store = open_store(str(tmp_path / "a.db"))
    collector, _ = collected(survey, store)
    found = results(survey, collector.number, store)
    (table,) = json.loads(found.json())["tables"]
    assert table["questions"] == ["smokes", "age"] and not table["hidden"] and len(table["cells"]) == 6
    assert table["labels"] == [["no", "yes"], ["18-39", "40-64", "65+"]]
    assert {"statistic", "p_value", "effect", "without"} <= set(table["test"])
    assert all(cell["noisy"] == (cell["low"] <= 0) for cell in table["cells"])
    rows = [row for row in csv.DictReader(io.StringIO(found.csv())) if row["measure"] == "joint share"]
    assert [row["answer"] for row in rows][:2] == ["no, 18-39", "no, 40-64"] and rows[0]["question"] == "smokes*age"
    assert {key for key, _, _ in found.tallies} == {"smokes+age", "town"}
    age = next(each for each in found.data()["questions"] if each["question"] == "age")  # type: ignore[attr-defined]
    assert age["ordered"] and [row["label"] for row in age["chart"]] == ["18-39", "40-64", "65+"]  # not by size
    assert found.parquet()[:4] == b"PAR1"
    store.close()


def test_a_table_of_too_few_is_hidden(tmp_path: Path) -> None:
    survey = parsed(PAIR, questions=SPLIT)
    store = open_store(str(tmp_path / "a.db"))
    collector = Collector(survey, store)
    assert json.loads(results(survey, collector.number, store).json())["tables"][0]["hidden"]
    collector.take(survey.read(survey.batch(people(5), 5, dn.SeededCoins(1), now=0)))
    found = results(survey, collector.number, store)
    assert found.tables[0].table is None and found.tables[0].reports == 5 and found.tallies == ()
    store.close()


def test_kept_reports_of_tables_are_the_same_people_in_the_same_order(tmp_path: Path) -> None:
    survey = parsed(PAIR, about="keep_reports = true", questions=SPLIT)
    store = open_store(str(tmp_path / "a.db"))
    collector, _ = collected(survey, store)
    assert write_segment(collector, tmp_path / "kept")
    columns = {}
    for name in ("smokes", "age"):
        (path,) = (tmp_path / "kept").glob(f"{name}-*.parquet")
        mechanism = next(question.mechanism for question in survey.questions if question.id == name)
        columns[name] = concatenate(read_batches(path, mechanism))
    mechanisms = {question.id: question.mechanism for question in survey.questions}
    exact = dn.crosstab(columns, mechanisms)
    found = results(survey, collector.number, store)
    table = found.tables[0].table
    assert table is not None and np.array_equal(table.shares, exact.shares)
    segments = {name: tmp_path / "kept" / f"{name}-*.parquet" for name in columns}
    joint = dn.aggregate_joint(mechanisms, segments, *columns, workers=1)  # and so are its counts, file by file
    (tally,) = [tally for key, _, tally in found.tallies if key == "smokes*age"]
    assert joint == survey.joints[0].joint_tally(tally)
    store.close()
