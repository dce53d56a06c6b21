"""The figures of papers: each runs, says the same for the same seed, and judges by its numbers alone."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from research.data.folder import FILES
from research.data.histograms import STATED, histogram
from research.data.lists import network, rated, weighted
from research.papers import FIGURES, Check, Data, Pace, Result, load, pages
from research.papers.bitrand import theory
from research.papers.brr.fig8 import staircase_channel
from research.papers.brr.regions import divided
from research.papers.catalog import NAMES, missing, papers
from research.papers.compressed.messages import Published, paper_cost
from research.papers.errata import Paper, Stated
from research.papers.figure import ahead, near, printed, ranking, result_from, trend
from research.papers.figure import theory as behind
from research.papers.uldp.mechanisms import PUBLISHED, sized, stated_error, total
from tests import ROOT

TINY = Pace(0.02)  # a fiftieth of what --quick does
SEEDED = ["uldp/fig4", "compressed/fig4", "bitrand/fig15", "rr3/graphs", "brr/fig12"]
EXACT = [  # these need no data and no coins
    "brr/fig1",
    *(f"bitrand/fig{number}" for number in (3, 4, 5, 6, 7, 9, 11, 12, 13, 14)),
    *(f"uldp/fig{number}" for number in (1, 3, 7)),
]
# The figures of a paper are made in one process: they share data and trainings.
EACH = [pytest.param(name, marks=pytest.mark.xdist_group(f"figures of {name.partition('/')[0]}")) for name in FIGURES]
NUMBERS = [(paper.name, stated) for paper in papers() for stated in paper.stated]
CODES = {erratum.code for paper in papers() for erratum in paper.errata}


@pytest.fixture(scope="module")
def tiny() -> dict[str, Result]:
    """Every result is made once."""
    return {}


def made(name: str, kept: dict[str, Result]) -> Result:
    if name not in kept:
        kept[name] = load(name).run(True, 1, Data(), TINY)
    return kept[name]


class TestFigures:
    @pytest.mark.long
    @pytest.mark.parametrize("name", EACH)
    def test_runs_and_judges(self, name: str, tiny: dict[str, Result]) -> None:
        figure, result = load(name).figure, made(name, tiny)
        assert figure.name == name and figure.what and not missing(figure)
        rows = list(csv.reader(io.StringIO(result.csv())))
        assert len(rows) == len(result.rows) + 1 and len(rows[0]) == len(result.columns) - len(result.measured)
        assert all(check.claim and check.otherwise for check in result.checks) and result.checks and result.notes

    @pytest.mark.parametrize("name", EXACT)
    def test_the_page_says_what_is_computed(self, name: str) -> None:
        """Every statement, number and verdict under figures that need no data is on the committed page."""
        page = (ROOT / "docs" / f"paper-{name.partition('/')[0]}.md").read_text(encoding="utf-8")
        assert "\n".join(pages.section(name, load(name).run(True, 1, Data(), Pace()))) in page

    @pytest.mark.long
    @pytest.mark.parametrize("name", EACH)
    def test_errata_that_are_named_exist(self, name: str, tiny: dict[str, Result]) -> None:
        texts = " ".join(check.otherwise for check in made(name, tiny).checks)
        for word, codes in re.findall(r"(?:erratum|errata) (\w+) (\w\d+(?:, \w\d+)*)", texts):
            assert {f"{word} {code}" for code in codes.split(", ")} <= CODES

    @pytest.mark.long
    @pytest.mark.needs("matplotlib")
    @pytest.mark.parametrize("name", EACH)
    def test_is_drawn(self, name: str, tiny: dict[str, Result], tmp_path: Path) -> None:
        picture = load(name).plot(made(name, tiny))
        pages.save_small(picture, tmp_path / "picture.png")
        assert 2_000 < (tmp_path / "picture.png").stat().st_size < 120_000
        for below in picture.legends:  # all names, and none of them cut off
            assert {each.get_text() for each in below.get_texts()} >= {
                label for chart in picture.axes for label in chart.get_legend_handles_labels()[1]
            }
            box = below.get_window_extent().transformed(picture.transFigure.inverted())
            assert box.x0 > -0.01 and box.x1 < 1.01
        for chart in picture.axes:
            assert not chart.get_visible() or (chart.get_ylabel() and (chart.get_xlabel() or chart.get_xticklabels()))

    @pytest.mark.long
    @pytest.mark.parametrize("name", [EACH[FIGURES.index(name)] for name in SEEDED])
    def test_same_seed_same_table(self, name: str, tiny: dict[str, Result]) -> None:
        first = made(name, tiny)
        assert load(name).run(True, 1, Data(), TINY).csv() == first.csv()
        assert name == "brr/fig12" or load(name).run(True, 2, Data(), TINY).csv() != first.csv()

    def test_a_figure_is_a_file_or_a_row(self) -> None:
        assert list(NAMES) == ["brr", "bitrand", "rr3", "compressed", "uldp"] and len(FIGURES) == len(set(FIGURES)) == 53
        assert NAMES["bitrand"] == (*(f"fig{number}" for number in range(3, 22)), "table2", "attack")
        assert NAMES["rr3"] == ("fig2", "variance", "graphs", "remark9")
        own = [name for name in FIGURES if load(name).figure.own]
        assert own == ["bitrand/attack", "rr3/variance", "rr3/graphs", "rr3/remark9"]
        assert [load(name).figure.name for name in FIGURES] == list(FIGURES)

    def test_unknown_names_are_refused(self) -> None:
        with pytest.raises(dn.InvalidParameter, match="deniable reproduce"):
            load("brr/fig99")


class TestNumbers:
    @pytest.mark.parametrize(("paper", "stated"), NUMBERS, ids=[f"{paper}: {each.what}" for paper, each in NUMBERS])
    def test_matched_or_an_erratum(self, paper: str, stated: Stated) -> None:
        """Every number is matched in its printed digits, or is not and has an erratum, whose counterexample runs too."""
        assert stated.matched == (not stated.erratum), stated.ours()
        assert not stated.erratum or (stated.erratum in CODES and stated.erratum.startswith(paper.split()[0]))

    def test_there_are_some_of_each(self) -> None:
        assert {paper for paper, _ in NUMBERS} == {paper.name for paper in papers()}
        assert sum(not stated.erratum for _, stated in NUMBERS) >= 20

    def test_errata_are_numbered_once(self) -> None:
        assert len(CODES) == sum(len(paper.errata) for paper in papers())
        assert all(">>>" in erratum.example for paper in papers() for erratum in paper.errata)


class TestVerdict:
    def result(self, *checks: Check, **more: Any) -> Result:
        return Result(("n",), [(1,)], checks, **more)

    def test_it_is_worked_out(self) -> None:
        right, wrong = trend("a", True, "x"), printed("b", "4.75", 4.573, "erratum Y")
        assert self.result(right).verdict == (
            "reproduced: trend yes, ranking not testable, magnitude not testable, printed numbers not testable; set-up: same"
        )
        both = self.result(right, wrong)
        assert both.status == "trend and ranking" and both.answer("printed numbers") == "no"
        assert (right.line, wrong.line) == ("a", "b (paper 4.75, here 4.573). Contradicted: erratum Y.")
        assert trend("a", False, "it falls", sure=False).line == "a. Not matched: it falls."

    def test_theory_does_not_change_the_status(self) -> None:
        assert self.result(trend("a", True, "x"), behind("optimal", False, "it is not")).status == "reproduced"
        assert self.result(behind("optimal", True, "it is not")).status == "not comparable"

    def test_a_failed_ranking(self) -> None:
        for sure, faulty, status in (
            (True, False, "contradicted"),
            (False, False, "not comparable"),
            (True, True, "only with the authors' fault"),
        ):
            off = near("b", "1", 9.0, "x")  # numbers do not matter once the course is lost
            assert self.result(trend("a", True, "x"), ranking("r", False, "x", sure, faulty), off).status == status

    def test_numbers_alone(self) -> None:
        """Where nothing but numbers is stated, the reason decides what a wrong one means."""
        assert self.result(near("b", "1", 9.0, "x")).status == "contradicted"
        assert self.result(near("b", "1", 9.0, "x", sure=False)).status == "not comparable"
        assert self.result(near("b", "1", 9.0, "x", faulty=True)).status == "only with the authors' fault"

    def test_ties_are_within_two_standard_errors(self) -> None:
        assert ahead("a", [("here", -1.9, 1.0)]).holds and "tied here" in ahead("a", [("here", -1.9, 1.0)]).claim
        assert not ahead("a", [("here", -2.1, 1.0)]).holds and not ahead("a", [("here", -1e-9, 0.0)]).holds
        assert "tied" not in ahead("a", [("here", 2.1, 1.0)]).claim

    def test_without_a_statement_nothing_is_reproduced(self) -> None:
        assert self.result().status == "not comparable" and not self.result().reproduced

    def test_printed_digits_decide(self) -> None:
        assert printed("", "0.20", 0.197, "").holds and not printed("", "0.200", 0.197, "").holds
        assert printed("", "2", 2.4999, "").holds and not printed("", "2", 2.51, "").holds
        assert near("", "8.7", 10.0, "").holds and not near("", "8.7", 10.1, "").holds
        assert near("", "8.7", 10.1, "", 0.1).holds

    def test_a_planted_error_is_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With another formula for a stated number, the figure no longer says that it is matched."""
        module = __import__("research.papers.bitrand.fig9", fromlist=["x"])
        before = [check.holds for check in module.run(True, 1, Data()).checks]
        right = module.claimed_epsilon
        monkeypatch.setattr(module, "claimed_epsilon", lambda *given: 1.1 * right(*given))
        after = [check.holds for check in module.run(True, 1, Data()).checks]
        assert before[0] and not after[0]

    def test_kept_results_come_back(self) -> None:
        check = Check("a", False, "b", "4", 5.0, aspect="magnitude", error=0.5, faulty=True)
        made: dict[str, str | float] = {"mode": "quick", "seconds": 1.5}
        result = Result(("n", "t"), [(1, 0.5)], (check,), ("c",), ("t",), ("d",), "smaller", made)
        again = result_from(result.json())
        assert (again.checks, again.setup, again.made) == ((check,), "smaller", made)
        assert (again.csv(True), again.verdict, again.improved) == (result.csv(True), result.verdict, result.improved)

    def test_results_need_whole_rows(self) -> None:
        for rows in ([], [(1, 2)]):
            with pytest.raises(dn.InvalidParameter, match="at least one row"):
                Result(("n",), rows)


class TestData:
    def test_a_changed_file_is_refused(self, tmp_path: Path) -> None:
        name = "surveys/drug_review_rating_histogram.csv.gz"
        (tmp_path / "surveys").mkdir()
        (tmp_path / name).write_bytes(b"something else")
        with pytest.raises(dn.InvalidParameter, match="not the one"):
            histogram(Data(tmp_path), "Drug", 1)

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(dn.InvalidParameter, match="no folder"):
            Data(tmp_path / "nowhere")
        with pytest.raises(dn.InvalidParameter, match="--data"):
            Data().read("images/mnist.npz")
        assert len(FILES) == 33 and all(len(value) == 64 for value in FILES.values())

    def test_stand_ins_have_the_stated_shape_and_say_so(self) -> None:
        for name, (size, count, share, people) in STATED.items():
            held = histogram(Data(), name, 1)
            assert (len(held.people), len(held.sensitive), held.people.sum()) == (size, count, people)
            assert held.open_share == pytest.approx(share, abs=0.01)
            assert held.real == (name == "Normal") and ("stand-in" in held.note) != held.real
        assert "stand-in" in rated(Data(), 1).note and "stand-in" in network(Data(), 1, small=True).note
        assert "stand-in" in weighted(Data(), "visits", 1, 20).note
        found = divided(Data(), "Gowalla", 1)
        assert len(found.sizes) >= 13 and found.sizes.sum() == 1000 and "stand-in" in found.places.note


class TestLaws:
    """What is worked out in floats for large sizes is what the library does exactly for small ones."""

    @pytest.mark.parametrize("name", ["f-RR", "LATENT", "OME"])
    def test_bits(self, name: str) -> None:
        made = {
            "f-RR": dn.BitRand.as_published(20, 10, 1.0),
            "LATENT": dn.BitRand.latent(20, 10, 1.0, theory.LATENT),
            "OME": dn.BitRand.ome(20, 10, 1.0, theory.OME),
        }[name]
        ones, zeros = theory.chances(name, 20, 10, 1.0)
        assert ones == pytest.approx([float(each) for each in made.ones], rel=1e-9)
        assert zeros == pytest.approx([float(each) for each in made.zeros], rel=1e-9)
        assert theory.true_epsilon(name, 20, 10, 1.0) == pytest.approx(made.loss().epsilon(), rel=1e-9)

    def test_the_published_staircase(self) -> None:
        points = np.random.default_rng(1).normal([40.7, -74.0], 0.01, (9, 2))
        domain = dn.Points(points, "quadkey")
        edges = np.unique(domain.losses(np.arange(9)))[[0, 2]].tolist()
        exact = dn.ReleaseChannel.staircase_as_published(domain, 1.0, edges)
        assert np.allclose(staircase_channel(domain, 1.0, edges), exact.matrix, rtol=1e-9)

    def test_published_chunks(self) -> None:
        made = Published(dn.SparseVector(500), 1.0, 2.0, beta=2.0)
        report = made.perturb([[1, 5, 9]], dn.SeededCoins(1))
        assert made.decoder(report).counts.tolist() == [2] and made.loss().odds is None
        assert paper_cost(np.array([1, 2])) == pytest.approx(2 + (1 + 1 + 2))

    def test_the_papers_formula_is_the_exact_error_where_it_should_be(self) -> None:
        """Eq. 28 for uSS and uUE against the variances of the mechanisms as published."""
        for name in ("uSS", "uUE"):
            assert stated_error(name, 25, 2.0, 0.95) == pytest.approx(total(sized(name, 25, 2.0, 0.95), 0.95), rel=1e-6)
        assert {name: round(stated_error(name, 230, 1.0, 0.77), 1) for name in ("uRAP", "uSS", "uLH")} == {
            "uRAP": 902.3,
            "uSS": 839.6,
            "uLH": 851.1,
        }
        assert all(stated_error(name, 25, 1.0, 0.95) > 0 for name in PUBLISHED)


class TestCommand:
    def run(self, *arguments: str) -> str:
        result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["reproduce", *arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    def refused(self, *arguments: str) -> str:
        result = CliRunner().invoke(main, ["reproduce", *arguments])
        assert result.exit_code == 2
        return result.stderr

    def test_the_list(self) -> None:
        output = self.run("--list")
        assert self.run() == output and all(name in output for name in FIGURES)
        assert "--full uses less than the paper in bitrand/fig8" in output and "experiment of ours" in output
        assert [json.loads(line)["figure"] for line in self.run("--json").splitlines()] == list(FIGURES)

    @pytest.mark.needs("matplotlib")
    def test_one_figure(self, tmp_path: Path) -> None:
        output = self.run("brr/fig1", "--out", str(tmp_path / "results"))
        assert output.count("reproduced: trend yes") == 1 and "data:" in output
        kept = {path.name: path for path in (tmp_path / "results").iterdir()}
        assert set(kept) == {"brr-fig1.csv", "brr-fig1.json", "brr-fig1.png"}
        first = kept["brr-fig1.csv"].read_bytes()
        record = json.loads(self.run("brr/fig1", "--out", str(tmp_path / "results"), "--json"))
        assert (
            record["status"] == "reproduced"
            and record["aspects"]["trend"] == "yes"
            and kept["brr-fig1.csv"].read_bytes() == first
        )
        assert f"{1 + 5 + 2} pages and pictures of 1 figures" in self.run(
            "--pages", str(tmp_path / "pages"), "--out", str(tmp_path / "results")
        )
        assert "**reproduced**; set-up: same." in (tmp_path / "pages" / "paper-brr.md").read_text()
        assert "Of 1 figures and tables: 1 reproduced, 0 trend" in (tmp_path / "pages" / "papers.md").read_text()

    @pytest.mark.needs("matplotlib")
    def test_a_run_is_resumed(self, tmp_path: Path) -> None:
        self.run("brr/fig1", "--out", str(tmp_path))
        first = (tmp_path / "brr-fig1.json").stat().st_mtime_ns
        assert self.run("brr/fig1", "--out", str(tmp_path), "--resume") == ""
        assert (tmp_path / "brr-fig1.json").stat().st_mtime_ns == first
        assert "reproduced" in self.run("brr/fig1", "--out", str(tmp_path), "--resume", "--seed", "2")  # in another way

    @pytest.mark.needs("matplotlib")
    def test_a_statement_that_fails_is_said_once(self, tmp_path: Path) -> None:
        shown = self.run("bitrand/fig7", "--out", str(tmp_path))
        assert shown.count("Contradicted:") == 2 and shown.count("erratum BitRand B4") == 2
        assert "contradicted: trend no, ranking not testable" in shown

    def test_refusals(self, tmp_path: Path) -> None:
        assert "no figure" in self.refused("brr/fig2")
        assert "not both" in self.refused("brr/fig1", "--all")
        assert "no folder" in self.refused("brr/fig1", "--data", str(tmp_path / "nowhere"))
        assert "no results" in self.refused("--pages", str(tmp_path), "--out", str(tmp_path / "empty"))


class TestPages:
    @pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.folder)
    def test_errata_and_numbers_are_those_of_the_code(self, paper: Paper) -> None:
        page = (ROOT / "docs" / f"paper-{paper.folder}.md").read_text(encoding="utf-8")
        assert "\n".join(pages.errata(paper)) in page
        assert "\n".join(pages.numbers(paper)) in page

    @pytest.mark.parametrize("name", FIGURES)
    def test_every_figure_has_its_place(self, name: str) -> None:
        page = (ROOT / "docs" / f"paper-{name.partition('/')[0]}.md").read_text(encoding="utf-8")
        assert f"### {name}: {load(name).figure.what}\n" in page
        assert (ROOT / "docs" / "pictures" / f"{name.replace('/', '-')}.png").stat().st_size < 120_000

    def test_the_pages_say_how_each_figure_was_run(self) -> None:
        """In the table of its paper, and below it; the front page names those that were not run in full."""
        front = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
        quick = set(re.search(r"`--quick` only: (.*)\.\n", front)[1].split(", ")) if "only:" in front else set()  # type: ignore[index]
        for name in FIGURES:
            page = (ROOT / "docs" / f"paper-{name.partition('/')[0]}.md").read_text(encoding="utf-8")
            section = page.partition(f"### {name}: ")[2].partition("\n###")[0]
            mode = "quick" if name in quick else "full"
            assert f"Run with `--{mode}` on " in section
            row = re.search(rf"^\| \[{name.partition('/')[2]}\]\(.*$", page, re.MULTILINE)
            assert load(name).figure.own or (row and f" | {mode} | **" in row[0])
