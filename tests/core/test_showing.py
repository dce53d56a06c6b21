"""Results in notebooks and data frames: escaped tables, the order of answers, columns that other packages read."""

import numpy as np
import pytest

import deniable as dn
from deniable.core.charting import chart_lines
from deniable.core.showing import MOST_LINES
from deniable.planning.shares import options

GRADES = dn.Ordered(["bad", "fair", "good"])
SHARES = [0.2, 0.7, 0.1]
ESTIMATE = dn.DirectResponse(dn.Categories(["<b>red</b>", "green", "blue"]), 1.0).predict(SHARES, 1000)


def test_a_notebook_shows_bars_with_intervals_and_escapes_names() -> None:
    html = ESTIMATE._repr_html_()
    assert "&lt;b&gt;red" in html
    assert "<b>" not in html
    assert html.index("green") < html.index("red") < html.index("blue")  # by size
    low, high = (100 * end for end in ESTIMATE.interval())
    assert f"70 ({low[1]:.4g} to {high[1]:.4g})" in html
    assert " to " not in dn.norm_sub(ESTIMATE)._repr_html_()  # which has no error bars


def test_ordered_answers_and_numbers_keep_their_order() -> None:
    words = dn.DirectResponse(GRADES, 1.0).predict(SHARES, 1000)
    assert words.shown() == [0, 1, 2]
    assert words.shown(2) == [0, 1]  # the two largest, in their order
    numbers = dn.Estimate([3, 5, 7], np.array([0.1, 0.7, 0.2]), None, 10)
    assert numbers.shown() == [0, 1, 2]
    assert ESTIMATE.shown() == [1, 0, 2]
    optimized = dn.UtilityOptimized(dn.DirectResponse, GRADES, ["bad", "fair"], 1.0)
    assert optimized.predict(SHARES, 1000).ordered
    assert dn.Coarsened(GRADES, 1.0).predict(SHARES, 1000).ordered
    spread = dn.plan(GRADES, 1.0, 1000, target="distribution")
    assert spread.distribution(spread.tally(spread.perturb(["bad", "fair", "good"] * 20))).estimate().ordered


def test_a_long_list_says_how_many_are_left_out() -> None:
    many = dn.DirectResponse(dn.Categories([f"v{place}" for place in range(100)]), 1.0).predict([0.01] * 100, 1000)
    assert "71 others (largest)" in many._repr_html_()
    assert many.plot().get_title() == "The largest of 100 answers"
    tally = dn.Tally("ab" * 16, 5, np.arange(100))
    assert "70 further cells are not shown." in tally._repr_html_()


def test_plans_certificates_and_surveys_have_tables() -> None:
    mechanism = dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0)
    certificate = dn.certify(mechanism)
    assert "Certificate: holds" in certificate._repr_html_()
    assert mechanism.fingerprint in certificate._repr_html_()
    ranking = options(mechanism.domain, 1.0, 100)
    assert ranking.best.name in ranking._repr_html_()
    measured = dn.compare(mechanism.domain, 1.0, 100, repeats=2, mechanisms=["direct", "unary"], coins=dn.SeededCoins(1))
    shown = measured._repr_html_()
    assert shown.count("<tr>") == 3 and measured.rows[0].name in shown and "bits: size of one report" in shown
    survey = dn.Survey.from_json(
        '{"survey": {"id": "s", "title": "<i>", "epsilon": 1.0},'
        ' "question": [{"id": "q", "ask": "Why?", "kind": "category", "choices": ["a", "b"]}]}'
    )
    assert "&lt;i&gt;: epsilon 1 for" in survey._repr_html_()
    assert "Why?" in survey._repr_html_()


@pytest.mark.needs("pandas", "polars", "pyarrow", "duckdb")
def test_data_frames_read_an_estimate() -> None:
    import duckdb
    import pandas
    import polars
    import pyarrow

    names = ["answer", "share", "standard_error", "low", "high"]
    for frame in (
        ESTIMATE.to_pandas(),
        ESTIMATE.to_polars(),
        polars.DataFrame(ESTIMATE),
        pyarrow.table(ESTIMATE).to_pandas(),
    ):
        assert list(frame.columns) == names
        assert list(frame["share"]) == SHARES
        assert isinstance(frame, pandas.DataFrame | polars.DataFrame)
    wide = ESTIMATE.to_pandas(confidence=0.99)
    assert list(wide["low"]) == ESTIMATE.interval(0.99)[0].tolist()
    estimate = ESTIMATE  # DuckDB finds it by its name
    assert duckdb.sql("SELECT answer FROM estimate WHERE share > 0.5").fetchall() == [("green",)]
    assert estimate.n == 1000


@pytest.mark.needs("nbclient", "ipykernel", "matplotlib")
def test_jupyter_shows_pictures_and_tables_without_magic() -> None:
    import nbformat
    from nbclient import NotebookClient

    cells = [
        "import deniable as dn\nestimate = dn.DirectResponse(dn.Categories(['a', 'b']), 1.0).predict([0.4, 0.6], 100)",
        "estimate.plot()",
        "estimate",
        "mechanism = dn.plan(dn.Ordered(range(5)), 1.0, 100, target='distribution')",
        "mechanism.distribution(mechanism.tally(mechanism.perturb([1, 2, 3] * 50))).plot()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    _, plotted, shown, _, spread = (cell.outputs for cell in notebook.cells)
    for drawn in (plotted, spread):
        assert sum("image/png" in output.get("data", {}) for output in drawn) == 1
    assert "<table" in shown[0].data["text/html"]


@pytest.mark.needs("matplotlib")
def test_plots_are_drawn_on_given_axes() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert ESTIMATE.plot(ax=axes) is axes
    errors = dn.compare(dn.Categories(["a", "b"]), 1.0, 200, repeats=2, mechanisms=["direct"], coins=dn.SeededCoins(1))
    assert errors.plot(ax=Figure().subplots()).get_xscale() == "log"


def test_many_numbers_become_bins_whose_errors_add_up() -> None:
    ages = dn.DirectResponse(dn.Categories(range(18, 100)), 1.0).predict(np.full(82, 1 / 82), 1000)
    lines = chart_lines(ages)
    assert [line.label for line in lines][:2] == ["18 to 19", "20 to 24"]
    assert len(lines) <= MOST_LINES
    assert sum(line.value for line in lines) == pytest.approx(1)
    places = list(lines[1].places)
    error = np.sqrt(ages.covariance()[np.ix_(places, places)].sum())
    assert (lines[1].high or 0) - lines[1].value == pytest.approx(1.959964 * error, rel=1e-6)
    loose = chart_lines(dn.Estimate(ages.labels, ages.values, ages.variance, 1000))  # the most it can be
    assert (loose[1].high or 0) >= (lines[1].high or 0)


def test_small_shares_of_many_answers_are_folded() -> None:
    words = [f"v{place}" for place in range(100)]
    many = dn.DirectResponse(dn.Categories(words), 4.0).predict([0.505, *[0.005] * 99], 1_000_000)
    lines = chart_lines(many, most=10)
    assert [line.label for line in lines] == ["v0", *words[1:9], "91 others"]
    assert lines[-1].others == 91 and lines[-1].value == pytest.approx(0.005)
    assert not lines[0].noisy
    assert chart_lines(dn.norm_sub(many), most=10)[0].low is None


@pytest.mark.needs("matplotlib")
def test_no_chart_is_larger_than_a_page() -> None:
    from matplotlib.figure import Figure

    words = dn.Categories([f"v{place}" for place in range(500)])
    estimate = dn.DirectResponse(words, 1.0).predict(np.full(500, 1 / 500), 1000)
    figure = estimate.plot().figure
    assert isinstance(figure, Figure)
    width, height = figure.get_size_inches()
    assert width <= 8.3 and height <= 11.7
