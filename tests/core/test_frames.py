"""Answers from the columns of data frames: the same from each package, and missing ones refused or taken as silence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deniable as dn

COLUMNS: dict[str, list[Any]] = {"smokes": ["yes", None, "no"], "minutes": [1.5, None, 3.0], "grade": [2, 0, 1]}
SILENT = "(no answer)"


def pandas_frame() -> object:
    import pandas

    return pandas.DataFrame(COLUMNS)


def pandas_categories() -> object:
    import pandas

    return pandas.DataFrame(COLUMNS).astype({"smokes": "category", "minutes": "Float64"})


def polars_frame() -> object:
    import polars

    return polars.DataFrame(COLUMNS)


def polars_lazy() -> object:
    import polars

    return polars.DataFrame(COLUMNS).lazy()


def arrow_table() -> object:
    import pyarrow

    return pyarrow.table(COLUMNS)


def duckdb_relation() -> object:
    import duckdb

    rows = "('yes', 1.5, 2), (NULL, NULL, 0), ('no', 3.0, 1)"
    return duckdb.sql(f"SELECT * FROM (VALUES {rows}) AS people(smokes, minutes, grade)")


FRAMES = [pandas_frame, pandas_categories, polars_frame, polars_lazy, arrow_table, duckdb_relation]
pytestmark = pytest.mark.needs("pandas", "polars", "pyarrow", "duckdb")


@pytest.mark.parametrize("frame", FRAMES)
def test_every_data_frame_gives_the_same_answers(frame: Callable[[], object]) -> None:
    assert list(dn.answers(frame(), "smokes", silence=SILENT)) == ["yes", SILENT, "no"]
    assert list(dn.answers(frame(), "minutes", silence=0.0)) == [1.5, 0.0, 3.0]
    grades = dn.answers(frame(), "grade")
    assert isinstance(grades, np.ndarray) and grades.tolist() == [2, 0, 1]
    rows = dn.answers(frame(), ["smokes", "grade"], silence=SILENT)
    assert list(rows) == [("yes", 2), (SILENT, 0), ("no", 1)]
    mechanism = dn.DirectResponse(dn.Categories(["yes", "no", SILENT]), 1.0)
    assert len(mechanism.perturb(dn.answers(frame(), "smokes", silence=SILENT))) == 3
    for column in ("smokes", "minutes"):
        with pytest.raises(dn.OutsideDomain, match="1 of 3 answers are missing"):
            dn.answers(frame(), column)
    with pytest.raises(dn.InvalidParameter, match="no column 'drinks'"):
        dn.answers(frame(), "drinks")


def test_a_column_goes_into_perturb_as_it_is() -> None:
    import pandas
    import polars
    import pyarrow

    words, numbers = dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0), dn.Duchi(dn.Interval(0, 5), 1.0)
    for made in (pandas.Series, polars.Series, pyarrow.array, lambda values: pyarrow.chunked_array([values])):
        assert len(words.perturb(made(["yes", "no"]))) == 2
        assert len(numbers.perturb(made([1.0, 4.5]))) == 2
        for mechanism, gap in ((words, ["yes", None]), (numbers, [1.0, None])):
            with pytest.raises(dn.OutsideDomain, match=r"1 of 2 answers are missing|not a finite number"):
                mechanism.perturb(made(gap))
    with pytest.raises(dn.OutsideDomain, match="missing"):
        numbers.perturb(polars.Series([1.0, float("nan")]))


def test_a_survey_takes_columns_and_an_optional_question_takes_silence() -> None:
    import polars

    text = """
[survey]
id = "s"
epsilon = 2.0
[[question]]
id = "smokes"
ask = "?"
kind = "category"
choices = ["yes", "no"]
optional = {}
"""
    from deniable.survey.reading import parse_toml

    column = {"smokes": polars.Series(["yes", None, "no"])}
    assert len(parse_toml(text.format("true"), "s").randomize_all(column, 3)) == 3
    with pytest.raises(dn.OutsideDomain, match="1 of 3 answers are missing"):
        parse_toml(text.format("false"), "s").randomize_all(column, 3)


def test_what_is_no_column_is_refused() -> None:
    for wrong in ("yes", 3, None):
        with pytest.raises(dn.InvalidParameter, match="a data frame, a column or a list"):
            dn.answers(wrong)
    with pytest.raises(dn.InvalidParameter, match="Only a data frame has columns"):
        dn.answers(["yes"], "smokes")
    assert dn.answers(["yes", None], silence="no") == ["yes", "no"]
