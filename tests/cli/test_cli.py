"""The command line: what it prints, how it refuses, and its exit codes.

Help texts are compared with tests/golden_help/. After a change that is meant, write them anew and read the difference:

    DENIABLE_WRITE_GOLDEN=1 python -m pytest tests/cli/test_cli.py -k golden
"""

import csv
import gzip
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import EntryPoint, version
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray
from rich.console import Console

import deniable as dn
from deniable import planning as planner
from deniable.cli import panel
from deniable.cli.main import ELSEWHERE, VERBS, added_line, installed, main
from deniable.cli.mechanisms import MAKERS
from deniable.core import PureProtocol, packed
from deniable.planning.aims import people_by_answer
from deniable.planning.ranking import short_name
from tests.waits import PATIENCE

GOLDEN = Path(__file__).parent / "golden_help"
ANSWERS = dict(
    line.rsplit(",", 1)
    for line in (Path(dn.__file__).parent / "data" / "marital_status.csv").read_text().replace('"', "").splitlines()[1:]
)


def run(*arguments: str, columns: int = 80, charset: str = "utf-8") -> Result:
    """Run a command; an exception other than an exit code is raised here, so nothing passes with a traceback."""
    runner = CliRunner(charset=charset, env={"COLUMNS": str(columns)})
    return runner.invoke(main, list(arguments), prog_name="deniable", terminal_width=80, catch_exceptions=False)


def refusal(*arguments: str) -> str:
    """The one line that a refused command prints."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    return result.stderr


def misused(*arguments: str) -> str:
    """What is said where options are missing, or belong to another mode."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "") and result.stderr.startswith("Usage: ")
    return result.stderr.splitlines()[-1]


def certified(*arguments: str) -> dict[str, object]:
    """The JSON object of a certificate that holds."""
    result = run("certify", *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    record = json.loads(result.stdout)
    assert isinstance(record, dict)
    return record


def verbs() -> list[str]:
    """All verbs, those of a group after its name."""
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in VERBS}
    groups = {name: command.commands for name, command in commands.items() if isinstance(command, click.Group)}
    return sorted([*commands, *(f"{name} {kind}" for name, kinds in groups.items() for kind in kinds)])


class TestHelp:
    @pytest.mark.parametrize("verb", ["", *verbs()])
    def test_golden(self, verb: str) -> None:
        shown = run(*verb.split(), "--help").stdout
        file = GOLDEN / f"{verb.replace(' ', '-') or 'deniable'}.txt"
        if os.environ.get("DENIABLE_WRITE_GOLDEN"):
            file.write_text(shown, encoding="utf-8")
        assert shown == file.read_text(encoding="utf-8")

    def test_every_golden_file_belongs_to_a_verb(self) -> None:
        assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(
            ["deniable", *(verb.replace(" ", "-") for verb in verbs())]
        )

    def test_the_odds_in_the_help_are_rounded_up(self) -> None:
        rows = re.findall(r"epsilon (\S+) +odds (\S+) +even odds become at most (\S+) to (\S+)", run("certify", "-h").stdout)
        assert len(rows) == 3
        for epsilon, odds, high, low in rows:
            exact = math.exp(float(epsilon))
            assert 0 <= float(odds) - exact < 0.01
            assert 0 <= float(high) - 100 * exact / (1 + exact) < 0.1
            assert float(high) + float(low) == pytest.approx(100)

    def test_version(self) -> None:
        assert run("--version").stdout == f"deniable, version {version('deniable')}\n"

    def test_as_a_module_without_heavy_imports(self) -> None:
        code = (
            "import runpy, sys; sys.argv = ['deniable', '--help']\n"
            "try: runpy.run_module('deniable', run_name='__main__')\n"
            "except SystemExit as exit: assert exit.code == 0, exit.code\n"
            "print(sorted({'numba', 'numpy', 'matplotlib', 'pyarrow', 'rich', 'scipy'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
        assert done.stdout.startswith("Usage: deniable [OPTIONS] COMMAND")
        assert done.stdout.endswith("\n[]\n")


class TestCertify:
    @pytest.mark.parametrize(("name", "proof"), [(name, proof) for name in MAKERS for proof in ("enumerated", "rules")])
    def test_every_mechanism_and_proof(self, name: str, proof: str) -> None:
        asked = ["--proof", proof] if proof == "enumerated" else []
        record = certified(name, "--values", "6", "--epsilon", "1", *asked)
        assert record["holds"] is True
        assert (record["proof"], record["values"], record["unit"]) == ("proved", 6, "one answer")
        assert bool(record["rules"]) is not bool(asked)
        assert Fraction(str(record["odds"])) == (dn.odds_below(0.5) ** 2 if "symmetric" in name else dn.odds_below(1.0))
        assert record["odds"] == record["declared_odds"]

    def test_names(self) -> None:
        assert list(MAKERS) == [
            "direct", "unary-symmetric", "unary", "subset", "design", "design-weighted", "wheel", "hashing-binary",
            "hashing", "hadamard",
        ]  # fmt: skip
        question = dn.Categories(range(6))
        for name, mechanism in {
            "unary": dn.Unary(question, 1.0),
            "unary-symmetric": dn.Unary.symmetric(question, 1.0),
            "hashing": dn.LocalHashing(question, 1.0),
            "hashing-binary": dn.LocalHashing.binary(question, 1.0),
        }.items():
            assert certified(name, "--values", "6", "--epsilon", "1")["fingerprint"] == mechanism.fingerprint

    @pytest.mark.parametrize(("name", "values"), [("unary", 64), ("subset", 64), ("hashing", 6000), ("direct", 20_000)])
    def test_an_enumeration_that_is_not_possible(self, name: str, values: int) -> None:
        asked = ("certify", name, "--values", str(values), "--epsilon", "1")
        said = refusal(*asked, "--proof", "enumerated")
        assert "too many outcomes" in said or "combinations of coins" in said
        assert run(*asked).exit_code == 0  # the rules prove it

    @pytest.mark.parametrize("proof", ["factored", "symmetric", "theorem"])
    def test_proofs_that_cannot_be_asked_for(self, proof: str) -> None:
        assert "is not 'enumerated'" in misused("certify", "direct", "--values", "4", "--epsilon", "1", "--proof", proof)

    def test_categories_and_json(self) -> None:
        record = certified("direct", "--category", "yes", "--category", "no", "--epsilon", str(math.log(3)))
        assert record == {
            "holds": True,
            "mechanism": {
                "mechanism": "direct-1",
                "domain": {"kind": "categories", "labels": ["yes", "no"]},
                "epsilon": math.log(3),
                "odds": "3",
            },
            "fingerprint": dn.DirectResponse(dn.Categories(["yes", "no"]), math.log(3)).fingerprint,
            "unit": "one answer",
            "protects": "any two values",
            "budget": math.log(3),
            "epsilon": math.log(3),
            "odds": "3",
            "declared_odds": "3",
            "slack": 0.0,
            "worst_pair": ["yes", "no"],
            "worst_report": "00",
            "proof": "proved",
            "rules": ["enumeration"],
            "law": dn.DirectResponse(dn.Categories(["yes", "no"]), math.log(3)).law.fingerprint,
            "values": 2,
        }

    def test_size_chooses_the_mechanism(self) -> None:
        subset = certified("subset", "--values", "6", "--epsilon", "1", "--size", "3")
        assert subset["fingerprint"] == dn.SubsetSelection(dn.Categories(range(6)), 1.0, 3).fingerprint

    @pytest.mark.parametrize("columns", [80, 120])
    def test_panel(self, columns: int) -> None:
        result = run("certify", "unary", "--values", "5", "--epsilon", "1", columns=columns)
        assert (result.exit_code, result.stderr) == (0, "")
        assert {len(line) for line in result.stdout.splitlines()} == {columns}
        shown = [line.strip("│ ") for line in result.stdout.splitlines()]
        assert "verdict       holds" in shown
        assert "exact loss    epsilon 1 for one answer" in shown
        assert "odds          2.71828183 = 99402293/36568060" in shown
        assert "in words      no report changes the odds of two answers more than 2.72-fold" in shown
        assert "worst pair    1 against 0" in shown
        assert "worst report  02, which names 1" in shown
        assert "proof         proved: for all 5 answers and all draws, by enumeration" in shown
        assert f"law           {dn.Unary(dn.Categories(range(5)), 1.0).law.fingerprint}, 4 operations" in shown
        for line in shown:  # beside every epsilon stands its unit
            assert "epsilon" not in line or "one answer" in line

    def test_a_wide_report_is_cut_in_the_panel_only(self) -> None:
        found = dn.certify(dn.Unary(dn.Categories(range(1000)), 1.0))
        wide = replace(found, worst_report="ff" * 124 + "7f")
        console = Console(width=120)
        with console.capture() as shown:
            console.print(panel.certificate(wide))
        assert "ffffffffffffffff... (125 bytes), which names 999 answers" in shown.get()

    @pytest.mark.parametrize("values", [1000, 20_000])
    def test_a_wide_report_in_words(self, values: int) -> None:
        arguments = ("unary", "--values", str(values), "--epsilon", "1")
        shown = run("certify", *arguments, columns=120).stdout
        assert f"for all {values:,} answers and all draws, by marked cell" in shown
        assert "it has 1 at the cell of the first answer and 0 at that of the second" in shown
        record = certified(*arguments)
        assert (record["rules"], record["worst_pair"]) == (["marked cell"], [0, 1])
        assert Fraction(str(record["odds"])) == dn.odds_below(1.0)

    def test_a_loss_at_most(self, tmp_path: Path) -> None:
        """Where no case is found that reaches the bound, the certificate does not call it exact."""
        mechanism = dn.FeatureVector(dn.Features(20, 0, 1, steps=8), 4.0)
        file = tmp_path / "mechanism.json"
        file.write_text(mechanism.to_json(), encoding="utf-8")
        shown = run("certify", str(file)).stdout
        assert "loss at most  epsilon" in shown and "exact loss" not in shown and "worst" not in shown
        record = certified(str(file))
        assert (record["worst_pair"], record["worst_report"]) == (None, "")

    def test_a_mechanism_from_a_file(self, tmp_path: Path) -> None:
        mechanism = dn.SubsetSelection(dn.Categories(["a", "b", "c", "d"]), 0.5, 2)
        file = tmp_path / "mechanism.json"
        file.write_text(mechanism.to_json(), encoding="utf-8")
        assert certified(str(file))["fingerprint"] == mechanism.fingerprint
        assert "No such option '--epsilon'" in misused("certify", str(file), "--epsilon", "1")
        file.write_text(dn.DirectResponse(dn.Categories(range(10**6)), 1.0).to_json(), encoding="utf-8")
        assert "At most 100,000 values" in refusal("certify", str(file))

    def test_a_promise_that_does_not_hold(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def honest(self: dn.Unary, truth: NDArray[np.int64], coins: dn.Coins) -> Mapping[str, NDArray[np.uint8]]:
            coins.toss(self.p, len(truth))
            return {"cells": packed([truth == cell for cell in range(self.domain.size)], 1).bytes}

        monkeypatch.setattr(dn.Unary, "randomize", honest)
        result = run("certify", "unary", "--values", "5", "--epsilon", "1")
        assert (result.exit_code, result.stderr) == (1, "")
        assert "DOES NOT HOLD" in result.stdout and "impossible under one of the" in result.stdout
        result = run("certify", "unary", "--values", "5", "--epsilon", "1", "--json")
        record = json.loads(result.stdout)
        assert (result.exit_code, record["holds"], record["odds"], record["slack"]) == (1, False, None, None)
        assert run("demo", "--mechanism", "unary", "--seed", "1").exit_code == 1

    @pytest.mark.parametrize("epsilon", ["0", "nan", "-1", "1e9", "inf"])
    def test_bad_epsilon(self, epsilon: str) -> None:
        for name in MAKERS:
            assert "Epsilon must be a number" in refusal("certify", name, "--values", "4", "--epsilon", epsilon)
        assert "Epsilon must be a number" in refusal("demo", "--epsilon", epsilon)

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["direct", "--values", "0", "--epsilon", "1"], "at least two possible answers; this one has 0"),
            (["direct", "--values", "1", "--epsilon", "1"], "at least two possible answers; this one has 1"),
            (["direct", "--values", "-3", "--epsilon", "1"], "at least two possible answers"),
            (["direct", "--category", "yes", "--epsilon", "1"], "at least two possible answers"),
            (["direct", "--category", "yes", "--category", "yes", "--epsilon", "1"], "Two categories are the same"),
            (["direct", "--values", "2", "--category", "yes", "--epsilon", "1"], "A mechanism needs a question"),
            (["direct", "--epsilon", "1"], "A mechanism needs a question"),
            (["direct", "--values", "1000000000", "--epsilon", "1"], "At most 100,000 values"),
            (["direct", "--values", "4", "--epsilon", "1", "--size", "2"], "Only subset takes --size"),
            (["subset", "--values", "4", "--epsilon", "1", "--size", "0"], "at least one answer"),
            (["subset", "--values", "4", "--epsilon", "1", "--size", "4"], "1 to 3 of the 4 values"),
            (["laplace"], "There is no mechanism or file 'laplace'"),
        ],
    )
    def test_refused(self, arguments: list[str], says: str) -> None:
        assert says in refusal("certify", *arguments)

    def test_options_of_another_mode(self) -> None:
        assert "Missing option '--epsilon'" in misused("certify", "direct", "--values", "4")
        assert "'laplace' is not one of 'direct'" in misused("certify", "laplace", "--values", "4", "--epsilon", "1")
        assert "No such option '--other'" in misused("certify", "laplace", "--other", "4")

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"[1]",
            b'"direct"',
            b"null",
            b"\xff\xfe",
            b"[" * 100_000,
            b"1" * 5_000,
            b'{"mechanism":"direct-9","domain":{"kind":"categories","size":2},"epsilon":1.0}',
            b'{"mechanism":"direct-1","domain":{"kind":"categories","size":2},"epsilon":1.0,"odds":"3"}',
            b'{"mechanism":"direct-1","domain":{"kind":"categories","size":' + b"9" * 30 + b'},"epsilon":1.0,"odds":"3"}',
            b'{"mechanism":"unary-1","domain":{"kind":"categories","size":2},"epsilon":1.0,"p":"half","q":"1/4"}',
        ],
    )
    def test_a_file_that_is_no_mechanism(self, content: bytes, tmp_path: Path) -> None:
        file = tmp_path / "mechanism.json"
        file.write_bytes(content)
        assert "mechanism.json" in refusal("certify", str(file))

    def test_a_folder_and_a_missing_file(self, tmp_path: Path) -> None:
        assert "There is no mechanism or file" in refusal("certify", str(tmp_path))
        assert "There is no mechanism or file" in refusal("certify", str(tmp_path / "nothing.json"))

    @pytest.mark.parametrize("content", ["person,answer\n17,hepatitis\n", '{"17": "hepatitis"}', '["hepatitis"]'])
    def test_answers_given_by_mistake_are_not_repeated(self, content: str, tmp_path: Path) -> None:
        file = tmp_path / "answers"
        file.write_text(content, encoding="utf-8")
        assert "hepatitis" not in refusal("certify", str(file))

    def test_words_where_numbers_belong(self) -> None:
        for arguments in (["--epsilon", "much"], ["--values", "few"], ["--proof", "trust"]):
            result = run("certify", "direct", *arguments)
            assert (result.exit_code, result.stdout) == (2, "")
            assert result.stderr.startswith("Usage: ") and "Error: " in result.stderr

    def test_vectors_from_a_file_are_certified(self, tmp_path: Path) -> None:
        for mechanism, code in (
            (dn.FeatureVector(dn.Features(20, 0, 1, steps=8), 4.0), 0),
            (dn.BitRand.as_published(64, 10, 1.0), 1),
        ):
            path = tmp_path / "mechanism.json"
            path.write_text(mechanism.to_json())
            result = run("certify", str(path))
            assert result.exit_code == code and "proved: for all" in result.stdout
            record = json.loads(run("certify", str(path), "--json").stdout)
            assert record["holds"] is (code == 0) and record["values"] is None


def table(output: str) -> dict[str, list[str]]:
    """The rows of the demo's table: answer -> estimate, low, high, truth, inside, cleaned."""
    number = r"(-?\d+\.\d\d)"
    rows = re.findall(rf"^ (\S.*?)  +{number} +{number} to +{number} +{number} +(yes|no) +{number} *$", output, re.MULTILINE)
    return {answer: cells for answer, *cells in rows}


@pytest.fixture(scope="module")
def seeded() -> Result:
    return run("demo", "--seed", "2", "--mechanism", "subset")


class TestDemo:
    def test_runs(self, seeded: Result) -> None:
        assert (seeded.exit_code, seeded.stderr) == (0, "")
        assert "228,421 adults" in seeded.stdout
        assert "A report takes 7 bits on the wire." in seeded.stdout
        assert re.search(r"A \+ B +228,421 reports +the same as counting all at once", seeded.stdout)
        assert "holds" in seeded.stdout
        assert "\x1b" not in seeded.stdout

    def test_all_answers_are_in_the_table_with_their_true_shares(self, seeded: Result) -> None:
        truth = {answer: f"{100 * int(people) / 228_421:.2f}" for answer, people in ANSWERS.items()}
        assert {answer: row[3] for answer, row in table(seeded.stdout).items()} == truth

    def test_the_printed_intervals_cover_the_truth(self, seeded: Result) -> None:
        rows = table(seeded.stdout)
        for estimate, low, high, truth, inside, _ in rows.values():
            assert float(low) < float(estimate) < float(high)
            assert float(low) <= float(truth) <= float(high)
            assert inside == "yes"
        assert "7 of 7 intervals contain the true share" in seeded.stdout

    def test_a_miss_is_called_a_miss(self) -> None:
        missed = 0
        for seed in range(10, 20):
            for _, low, high, truth, inside, _ in table(
                run("demo", "--seed", str(seed), "--mechanism", "subset").stdout
            ).values():
                outside = not float(low) - 0.005 <= float(truth) <= float(high) + 0.005
                assert inside == "no" or not outside
                missed += inside == "no"
        assert 0 < missed < 14  # 3.5 of 70 on average

    def test_cleaned_shares_sum_to_one(self) -> None:
        cleaned = [float(row[5]) for row in table(run("demo", "--seed", "2", "--epsilon", "0.1").stdout).values()]
        assert min(cleaned) >= 0 and sum(cleaned) == pytest.approx(100, abs=0.04)

    def test_every_row_has_a_bar_with_an_error_bar(self, seeded: Result) -> None:
        for answer in ANSWERS:
            assert re.search(rf"^{re.escape(answer)} +█*├●?┤ *$", seeded.stdout, re.MULTILINE)
        assert re.search(r"^ +0 % +10 % +20 % +30 % +40 % +50 % *$", seeded.stdout, re.MULTILINE)

    def test_one_report_in_words(self, seeded: Result) -> None:
        text = " ".join(seeded.stdout.split())
        assert re.search(r"A person who is 'widowed' sent 7 bits, [01]{7}. They support '", text)
        said = re.search(r"believed 'widowed' with 6.9 % before seeing the report, and (\S+) % after", text)
        assert said
        before, after = 15_787 / 228_421, float(said[1]) / 100
        factor = after / (1 - after) / (before / (1 - before))
        assert 1 / 2.72 < factor < 2.72
        assert (
            "nobody's belief that this person is 'widowed' rather than 'married, living together' can change by more than a "
            "factor 2.72 (epsilon 1, one answer)"
        ) in text

    def test_coins(self, seeded: Result) -> None:
        assert "for experiments only" in seeded.stdout
        assert run("demo", "--seed", "2", "--mechanism", "subset").stdout == seeded.stdout
        secure = run("demo").stdout
        assert "The coins are secure" in secure and "experiments" not in secure
        assert table(secure).keys() == ANSWERS.keys()

    @pytest.mark.parametrize(
        ("name", "bits", "epsilon"),
        [
            ("direct", 3, "0.5"),
            ("unary", 7, "2"),
            ("unary", 7, "0.000001"),
            ("unary-symmetric", 7, "1"),
            ("design", 3, "1"),
            ("wheel", 6, "1"),
            ("hashing", 8, "1"),
            ("hashing-binary", 7, "1"),
            ("hadamard", 3, "1"),
        ],
    )
    def test_other_mechanisms_and_budgets(self, name: str, bits: int, epsilon: str) -> None:
        result = run("demo", "--seed", "2", "--mechanism", name, "--epsilon", epsilon, columns=120)
        assert (result.exit_code, result.stderr) == (0, "")
        assert f"A report takes {bits} bits on the wire." in result.stdout
        assert table(result.stdout).keys() == ANSWERS.keys()

    def test_without_a_name_the_planner_chooses(self) -> None:
        said = {epsilon: " ".join(run("demo", "--seed", "2", "--epsilon", epsilon).stdout.split()) for epsilon in ("1", "2")}
        assert "through the design-weighted mechanism, the planner's choice." in said["1"]
        assert "weighted-design-1, 7 values" in said["1"]
        assert "through the direct mechanism, the planner's choice." in said["2"]

    @pytest.mark.parametrize(("columns", "widest"), [(80, 80), (120, 120), (300, 120)])
    def test_width(self, columns: int, widest: int) -> None:
        lines = run("demo", "--seed", "2", columns=columns).stdout.splitlines()
        assert max(len(line) for line in lines) == widest
        assert not any("…" in line for line in lines)  # nothing is cut

    def test_without_unicode(self) -> None:
        result = run("demo", "--seed", "2", charset="ascii")
        assert result.exit_code == 0
        assert re.search(r"^never married +#+\[o?\] *$", result.stdout, re.MULTILINE)

    def test_picture(self, tmp_path: Path) -> None:
        file = tmp_path / "demo.png"
        file.write_text("an older one")
        result = run("demo", "--seed", "2", "--picture", str(file))
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.endswith(f"Wrote the picture to {file}.\n")
        assert file.read_bytes().startswith(b"\x89PNG")
        assert list(tmp_path.iterdir()) == [file]

    def test_a_picture_that_cannot_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert "A picture must end in" in refusal("demo", "--picture", str(tmp_path / "demo.txt"))
        assert "cannot be written" in refusal("demo", "--picture", str(tmp_path / "nowhere" / "demo.png"))
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        result = run("demo", "--seed", "2", "--picture", str(tmp_path / "demo.png"))
        assert result.exit_code == 2
        assert result.stderr == (
            "error: A plot needs a package that is not installed. Install it with: pip install 'deniable[plot]'\n"
        )
        assert list(tmp_path.iterdir()) == []


TOWNS = {"Lyon": 2000, "Paris": 1500, "Nice": 1000, "Lille, north": 400, "Metz": 100}


@dataclass(frozen=True)
class Collection:
    """A folder with answers, the mechanism for them and their reports."""

    folder: Path

    def __getattr__(self, name: str) -> str:
        return str(self.folder / name.replace("_", "."))

    @property
    def mechanism(self) -> PureProtocol:
        found = dn.mechanism_from_json((self.folder / "m.json").read_text())
        assert isinstance(found, PureProtocol)
        return found


def write_csv(path: Path, rows: Iterable[Sequence[str]], encoding: str = "utf-8") -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows(rows)


def done(*arguments: str) -> str:
    """The output of a command that succeeds and has nothing to warn of."""
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """CSV -> plan -> perturb, in batches of at most 700 rows."""
    made = Collection(tmp_path_factory.mktemp("towns"))
    answers = [town for town, people in TOWNS.items() for _ in range(people)]
    write_csv(made.folder / "a.csv", [["id", "town"], *([str(row), town] for row, town in enumerate(answers))], "utf-8-sig")
    (made.folder / "towns.txt").write_text("Lyon\r\nParis\nNice\n\nLille, north\n", encoding="utf-8")
    arguments = ("plan", "--categories", made.towns_txt, "--other", "elsewhere", "--epsilon", "2", "--people", "5000")
    done(*arguments, "--out", made.m_json)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deniable.files.reports.MOST_REPORTS", 700)
        result = run(
            "perturb", made.a_csv, "--column", "town", "--mechanism", made.m_json, "--out", made.a_reports, "--seed", "3"
        )
    assert result.exit_code == 0
    assert result.stderr == (
        "warning: seeded coins are for experiments only: whoever knows the seed can undo the randomness.\n"
    )
    assert result.stdout == f"Wrote 5,000 reports of 3 bits to {made.a_reports}; epsilon 2 for one answer.\n"
    return made


def shares(output: str) -> dict[str, list[float]]:
    """The rows of the table of `estimate`: answer -> estimate, low, high, perhaps cleaned."""
    number = r"(-?\d+\.\d\d)"
    rows = re.findall(rf"^(\S.*?)  +{number} +{number} to +{number}(?: +{number})?$", output, re.MULTILINE)
    return {label: [float(cell) for cell in cells if cell] for label, *cells in rows}


class TestPlan:
    def test_table(self) -> None:
        arguments = ("plan", "--values", "1024", "--epsilon", "1", "--people", "10000")
        shown = done(*arguments)
        ranked = planner.options(dn.Categories(range(1024)), 1.0, 10_000)
        rows = re.findall(r"^(\*| ) (\S+) +(\S+) +(\S+)x +(\S+)% +(\S+) +(\S+) +(\S+)% +(\S+)$", shown, re.MULTILINE)
        assert [row[1] for row in rows] == [short_name(option.name) for option in ranked]
        assert {row[1] for row in rows} == set(MAKERS) - {"design-weighted"}
        assert "Left out: design, weighted, which supports at most 256 values." in shown
        for (mark, name, error, ratio, above, bits, work, guess, liar), option in zip(rows, ranked, strict=True):
            assert (mark == "*") == (name == "design")
            assert float(error) == pytest.approx(100 * option.error, rel=5e-3)
            assert float(ratio) == pytest.approx((option.error / ranked[0].error) ** 2, abs=5e-4)
            assert float(above) == pytest.approx(100 * (float(ratio) - 1), abs=0.11)  # subset selection reaches the bound
            assert (bits, work) == (f"{option.bits:,}", f"{option.costs['work']:,}")
            assert float(guess) == pytest.approx(100 * (option.costs["guess"] or 0), abs=6e-3)
            assert float(liar) == pytest.approx(option.costs["liar"] or 0, abs=6e-3)
        said = " ".join(shown.split())
        assert "design for 1,024 values, epsilon 1 for one answer, 10,000 people" in said
        assert "design is chosen: its squared error is 0.31 % above the smallest, and its reports take 11 bits." in said
        record = json.loads(done(*arguments, "--json"))
        assert record["chosen"] == "design"
        assert record["fingerprint"] == planner.plan(dn.Categories(range(1024)), 1.0, 10_000).fingerprint
        assert [each["error"] for each in record["options"]] == [option.error for option in ranked]

    def test_fewer_bits(self) -> None:
        arguments = ("plan", "--values", "1024", "--epsilon", "1", "--people", "10000", "--max-bits")
        assert json.loads(done(*arguments, "10", "--json"))["chosen"] == "direct"
        assert "10,000 people, at most 10 bits a report" in " ".join(done(*arguments, "10").split())
        assert "No mechanism fits in 9 bits per report; the smallest needs 10." in refusal(*arguments, "9")

    @pytest.mark.parametrize("name", MAKERS)
    def test_by_name(self, name: str, tmp_path: Path) -> None:
        file = tmp_path / "m.json"
        arguments = ("plan", "--values", "20", "--epsilon", "1", "--people", "100", "--mechanism", name, "--out", str(file))
        said = " ".join(done(*arguments).split())
        assert f"{name} is used as you asked: " in said and said.endswith(f"Wrote the mechanism to {file}.")
        assert dn.mechanism_from_json(file.read_text()) == MAKERS[name](dn.Categories(range(20)), 1.0)
        assert [path.name for path in tmp_path.iterdir()] == ["m.json"]

    def test_how_manypeople_by_answer(self) -> None:
        arguments = ("plan", "--category", "yes", "--category", "no", "--epsilon", "1", "--people", "5", "--error", "0.01")
        needed = planner.required_n(dn.Categories(["yes", "no"]), 1.0, 0.01)
        assert f"within 1 percentage point at 95 % confidence, {needed:,} people must answer" in " ".join(
            done(*arguments).split()
        )
        assert json.loads(done(*arguments, "--json"))["people_needed"] == needed

    def test_questions(self, towns: Collection) -> None:
        labels = ["Lyon", "Paris", "Nice", "Lille, north", "elsewhere"]
        assert towns.mechanism.domain == dn.Categories(labels, "elsewhere")
        common = ("--epsilon", "1", "--people", "9", "--json")
        words = [part for label in labels for part in ("--category", label)]
        spec = json.loads(done("plan", *words, "--other", "Lyon", *common))["mechanism"]
        assert spec["domain"] == {"kind": "categories", "labels": labels, "other": "Lyon"}
        spec = json.loads(done("plan", "--values", "4", "--other", "3", *common))["mechanism"]
        assert spec["domain"] == {"kind": "categories", "size": 4, "other": 3}

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ([], "A mechanism needs a question"),
            (["--values", "3", "--category", "a"], "A mechanism needs a question"),
            (["--values", "3", "--categories", "none.txt"], "A mechanism needs a question"),
            (["--categories", "none.txt"], "'none.txt' cannot be read: No such file"),
            (["--values", "3", "--other", "many"], "--other must be one of the numbers"),
            (["--values", "3", "--other", "3"], "must be one of the categories"),
            (["--values", "3", "--epsilon", "0"], "Epsilon must be a number"),
            (["--values", "3", "--people", "0"], "at least 1"),
            (["--values", "3", "--max-bits", "1", "--mechanism", "direct"], "No mechanism fits in 1 bit per report"),
            (["--values", "3", "--error", "1"], "share between 0 and 1"),
            (["--values", "3", "--out", "nowhere/m.json"], "a folder that exists"),
        ],
    )
    def test_refused(self, arguments: list[str], says: str) -> None:
        assert says in refusal("plan", "--epsilon", "1", "--people", "10", *arguments)

    def test_a_file_of_answers_that_is_not_text(self, tmp_path: Path) -> None:
        (tmp_path / "answers").write_bytes(b"\xff\xfe\n\xff")
        arguments = ("--epsilon", "1", "--people", "9")
        assert "not UTF-8 text" in refusal("plan", "--categories", str(tmp_path / "answers"), *arguments)

    def test_an_existing_file_is_kept_unless_forced(self, tmp_path: Path) -> None:
        file = tmp_path / "m.json"
        file.write_text("precious")
        arguments = ("plan", "--values", "3", "--epsilon", "1", "--people", "10", "--out", str(file))
        assert "add --force" in refusal(*arguments)
        assert file.read_text() == "precious"
        done(*arguments, "--force")
        assert file.read_text().startswith("{")


class TestPerturb:
    def test_the_reports_are_those_of_the_library(self, towns: Collection) -> None:
        answers = [town for town, people in TOWNS.items() for _ in range(people)]
        coins, mechanism = dn.SeededCoins(3), towns.mechanism
        expected = [mechanism.perturb(answers[start : start + 700], coins) for start in range(0, 5000, 700)]
        assert Path(towns.a_reports).read_bytes() == b"".join(map(mechanism.pack, expected))

    def test_secure_coins(self, towns: Collection, tmp_path: Path) -> None:
        files = [tmp_path / "first", tmp_path / "second"]
        for file in files:
            done("perturb", towns.a_csv, "--column", "town", "--mechanism", towns.m_json, "--out", str(file))
        assert files[0].read_bytes() != files[1].read_bytes()
        truth = np.array([*list(TOWNS.values())[:4], 100]) / 5000
        for file in files:
            estimate = towns.mechanism.estimate(towns.mechanism.tally(dn.read_reports(file, towns.mechanism)))
            assert np.abs(estimate.values - truth).max() < 6 * estimate.standard_error.max()  # fails once in 10^7 runs

    @pytest.mark.needs("pyarrow")
    @pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
    def test_parquet_in_and_out(self, towns: Collection, tmp_path: Path, kind: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        answers = pa.array([town for town, people in TOWNS.items() for _ in range(people)])
        column = answers.dictionary_encode() if kind == "dictionary" else answers.cast(getattr(pa, kind)())
        pq.write_table(pa.table({"other": pa.array([None] * 5000, pa.float64()), "town": column}), tmp_path / "a.parquet")
        out = tmp_path / "reports.parquet"
        arguments = ("perturb", str(tmp_path / "a.parquet"), "--column", "town", "--mechanism", towns.m_json, "--seed", "3")
        assert run(*arguments, "--out", str(out)).exit_code == 0
        direct = towns.mechanism.perturb(answers.to_pylist(), dn.SeededCoins(3))
        assert dn.read_reports(out, towns.mechanism).pack() == direct.pack()

    @pytest.mark.needs("pyarrow")
    def test_whole_numbers(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        mechanism = dn.DirectResponse(dn.Categories(range(300)), 1.0)
        (tmp_path / "m.json").write_text(mechanism.to_json())
        numbers = list(range(300)) * 3
        write_csv(tmp_path / "a.csv", [["n"], *([str(n)] for n in numbers)])
        pq.write_table(pa.table({"n": pa.array(numbers, pa.uint16())}), tmp_path / "a.parquet")
        pq.write_table(pa.table({"n": pa.array(map(str, numbers))}), tmp_path / "text.parquet")
        expected = mechanism.pack(mechanism.perturb(numbers, dn.SeededCoins(3)))
        for name in ("a.csv", "a.parquet", "text.parquet"):
            out = tmp_path / f"{name}.reports"
            self.run_on(tmp_path / name, "n", tmp_path / "m.json", out)
            assert out.read_bytes() == expected

    def run_on(self, data: Path, column: str, mechanism: Path, out: Path) -> None:
        arguments = ("--column", column, "--mechanism", str(mechanism), "--out", str(out), "--seed", "3")
        assert run("perturb", str(data), *arguments).exit_code == 0

    def test_a_pipe(self, towns: Collection, tmp_path: Path) -> None:
        piped, named = tmp_path / "piped.reports", tmp_path / "named.reports"
        arguments = ["--column", "town", "--mechanism", towns.m_json, "--seed", "3", "--out"]
        assert run("perturb", towns.a_csv, *arguments, str(named)).exit_code == 0
        command = [sys.executable, "-m", "deniable", "perturb", "-", *arguments, str(piped)]
        with Path(towns.a_csv).open("rb") as answers:
            subprocess.run(command, stdin=answers, check=True, capture_output=True, timeout=300)
        assert piped.read_bytes() == named.read_bytes()

    @pytest.mark.needs("pyarrow")
    def test_numbers_with_a_fraction_in_parquet(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        mechanism = dn.plan(dn.Interval(0, 10), 1.0, 100, target="mean")
        (tmp_path / "m.json").write_text(mechanism.to_json())
        numbers = [0.5, 2.25, 9.75] * 20
        pq.write_table(pa.table({"n": numbers}), tmp_path / "a.parquet")
        out = tmp_path / "a.reports"
        common = ("--column", "n", "--mechanism", str(tmp_path / "m.json"), "--seed", "3", "--out", str(out))
        assert run("perturb", str(tmp_path / "a.parquet"), *common).exit_code == 0
        assert out.read_bytes() == mechanism.pack(mechanism.perturb(numbers, dn.SeededCoins(3)))

    def test_labels_that_are_numbers_or_words(self, tmp_path: Path) -> None:
        mechanism = dn.DirectResponse(dn.Categories(["7", 7, -8, "eight"]), 1.0)
        (tmp_path / "m.json").write_text(mechanism.to_json())
        write_csv(tmp_path / "a.csv", [["n"], ["7"], ["-8"], ["eight"]])
        self.run_on(tmp_path / "a.csv", "n", tmp_path / "m.json", tmp_path / "out")
        expected = mechanism.perturb(["7", -8, "eight"], dn.SeededCoins(3))  # the word goes before the number
        assert (tmp_path / "out").read_bytes() == mechanism.pack(expected)

    def test_an_empty_field(self, tmp_path: Path) -> None:
        (tmp_path / "m.json").write_text(dn.DirectResponse(dn.Categories(range(5)), 1.0).to_json())
        write_csv(tmp_path / "a.csv", [["id", "n"], *([f"{row}", "4"] for row in range(20)), ["20", ""]])
        said = self.refused(tmp_path, "n")
        assert re.match(
            r"error: Row 21 of \S+, column 'n': The field is empty\. Fill it in, or .* \(silence=, --silence\)", said
        )

    @pytest.mark.parametrize("text", ["5", "-1", "1.0", " 1", "1_0", "9" * 5000, "٣", "hepatitis"])
    def test_a_number_outside(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "m.json").write_text(dn.DirectResponse(dn.Categories(range(5)), 1.0).to_json())
        write_csv(tmp_path / "a.csv", [["id", "n"], *([f"{row}", "4"] for row in range(20)), ["20", text], ["21", "99"]])
        said = self.refused(tmp_path, "n")
        assert re.match(r"error: Row 21 of \S+, column 'n': An answer is not one of the whole numbers 0 to 4\.", said)
        assert "hepatitis" not in said.replace(str(tmp_path), "")
        (tmp_path / "m.json").write_text(dn.DirectResponse(dn.Categories(range(5), 0), 1.0).to_json())
        self.run_on(tmp_path / "a.csv", "n", tmp_path / "m.json", tmp_path / "out")  # with `other` it is that

    def refused(self, folder: Path, column: str, data: str = "a.csv") -> str:
        """What is said about bad data; nothing is left behind."""
        before = sorted(path.name for path in folder.iterdir())
        arguments = ("--column", column, "--mechanism", str(folder / "m.json"), "--out", str(folder / "out"))
        said = refusal("perturb", str(folder / data), *arguments)
        assert sorted(path.name for path in folder.iterdir()) == before
        return said

    @pytest.mark.parametrize("row", [1, 5, 6, 11, 12])
    def test_an_answer_outside_in_any_batch(self, tmp_path: Path, row: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("deniable.files.reports.MOST_REPORTS", 5)
        (tmp_path / "m.json").write_text(dn.Unary(dn.Categories(["well", "ill"]), 1.0).to_json())
        answers = ["well"] * 12
        answers[row - 1] = "hepatitis"
        write_csv(tmp_path / "a.csv", [["state"], *([answer] for answer in answers)])
        said = self.refused(tmp_path, "state")
        assert f"Row {row} of " in said and "not one of 'well', 'ill'" in said and "hepatitis" not in said

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"", "is empty"),
            (b"\n\n", "is empty"),
            (b"state\n", "no rows"),
            (b"state\n\n\n", "no rows"),
            (b"id,name\n1,hepatitis\n", "has no column 'state'. Its columns are 'id', 'name'."),
            (b"state,state\nill,ill\n", "has several columns 'state'"),
            (b"id,state\n1,ill\nhepatitis\n", "Row 2 of"),
            (b"id,state\n1,ill\n2,ill,hepatitis\n", "has 3 fields, but there are 2 columns"),
            (b"state\nill\n\xffhepatitis\n", "is not UTF-8 text"),
            (b'state\nill\n"hepatitis\n', "cannot be read as CSV near line"),
            (b'state\nill\n"hepa"titis\n', "cannot be read as CSV near line"),
            (b"state\nill\n" + b"hepatitis" * 20_000, "cannot be read as CSV near line"),
            (b"state\n1\nill\n", "Row 1 of"),
        ],
    )
    def test_bad_tables(self, tmp_path: Path, content: bytes, says: str) -> None:
        (tmp_path / "m.json").write_text(dn.DirectResponse(dn.Categories(["well", "ill"]), 1.0).to_json())
        (tmp_path / "a.csv").write_bytes(content)
        said = self.refused(tmp_path, "state")
        assert says in said and "hepatitis" not in said

    @pytest.mark.needs("pyarrow")
    def test_bad_parquet(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        (tmp_path / "m.json").write_text(dn.DirectResponse(dn.Categories(["well", "ill"]), 1.0).to_json())
        for column, says in [
            (pa.array([1.5]), "is of type double; answers must be text or whole numbers"),
            (pa.array([True]), "is of type bool"),
            (pa.array([["well"]]), "is of type list"),
            (pa.array(["ill", None]), "Row 2 of"),
            (pa.array([17, 18]), "Row 1 of"),
            (pa.array([], pa.string()), "has no rows"),
        ]:
            pq.write_table(pa.table({"state": column, "id": column}), tmp_path / "a.parquet")
            assert says in self.refused(tmp_path, "state", "a.parquet")
            assert "Its columns are 'state', 'id'." in self.refused(tmp_path, "town", "a.parquet")
        (tmp_path / "a.parquet").write_bytes(b"PAR1 hepatitis")
        said = self.refused(tmp_path, "state", "a.parquet")
        assert "not a Parquet file" in said and "hepatitis" not in said

    def test_compressed_tables(self, tmp_path: Path) -> None:
        mechanism = dn.DirectResponse(dn.Categories(["well", "ill"]), 1.0)
        (tmp_path / "m.json").write_text(mechanism.to_json())
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"state\nill\nwell\n"))
        self.run_on(tmp_path / "a.csv.gz", "state", tmp_path / "m.json", tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == mechanism.pack(mechanism.perturb(["ill", "well"], dn.SeededCoins(3)))
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"state\nill\nwell\n")[:-4])
        (tmp_path / "out").unlink()
        assert "not a gzip file" in self.refused(tmp_path, "state", "a.csv.gz")

    def test_blank_lines_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "m.json").write_text(dn.DirectResponse(dn.Categories(["well", "ill"]), 1.0).to_json())
        (tmp_path / "a.csv").write_bytes(b"state\r\nill\r\n\r\nwell\r\n\r\n")
        self.run_on(tmp_path / "a.csv", "state", tmp_path / "m.json", tmp_path / "out")
        mechanism = dn.mechanism_from_json((tmp_path / "m.json").read_text())
        assert (tmp_path / "out").read_bytes() == mechanism.pack(mechanism.perturb(["ill", "well"], dn.SeededCoins(3)))

    def test_files_that_are_not_there(self, towns: Collection, tmp_path: Path) -> None:
        arguments = ("--column", "town", "--out", str(tmp_path / "out"), "--mechanism")
        assert "There is no file" in refusal("perturb", str(tmp_path / "none.csv"), *arguments, towns.m_json)
        assert "deniable plan" in refusal("perturb", towns.a_csv, *arguments, str(tmp_path / "none.json"))
        assert "does not describe" in refusal("perturb", towns.a_csv, *arguments, towns.a_csv)

    def test_existing_files_are_kept(self, towns: Collection, tmp_path: Path) -> None:
        data, out = tmp_path / "a.csv", tmp_path / "out"
        data.write_text("town\nLyon\n")
        out.write_text("precious")
        arguments = ("perturb", str(data), "--column", "town", "--mechanism", towns.m_json, "--out")
        assert "add --force" in refusal(*arguments, str(out))
        assert out.read_text() == "precious"
        assert "overwrite the answers" in refusal(*arguments, str(data), "--force")
        assert data.read_text() == "town\nLyon\n"
        done(*arguments, str(out), "--force")
        assert len(dn.read_reports(out, towns.mechanism)) == 1
        assert "a folder that exists" in refusal(*arguments, str(tmp_path / "no" / "out"))

    def test_a_full_disk(self, towns: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        arguments = ("perturb", towns.a_csv, "--column", "town", "--mechanism", towns.m_json, "--out", str(tmp_path / "out"))
        assert "No space left on device" in refusal(*arguments)
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def tally(towns: Collection) -> dn.Tally:
    return towns.mechanism.tally(dn.read_reports(towns.a_reports, towns.mechanism))


class TestDoctor:
    def test_what_is_installed_and_how_fast(self) -> None:
        shown = done("doctor")
        assert f"deniable        {version('deniable')}" in shown
        assert "  parquet       Parquet files and Arrow tables\n" in shown
        record = json.loads(done("doctor", "--json"))
        assert record["numpy"] == np.__version__
        assert all(speed > 0 for speed in record["reports_per_second"].values())

    def test_what_is_missing_says_how_to_get_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "scipy", None)
        shown = done("doctor")
        assert "pip install 'deniable[stats]'" in shown
        assert json.loads(done("doctor", "--json"))["missing"]["stats"] == ["scipy"]


class TestEstimate:
    def estimate(self, towns: Collection, *arguments: str) -> str:
        return done("estimate", *arguments, "--mechanism", towns.m_json)

    def test_table(self, towns: Collection, tally: dn.Tally) -> None:
        shown = self.estimate(towns, towns.a_reports, "--confidence", "0.9")
        estimate = towns.mechanism.estimate(tally)
        low, high = estimate.interval(0.9)
        rows = shares(shown)
        assert list(rows) == list(towns.mechanism.domain.labels)
        for place, row in enumerate(rows.values()):
            assert row == pytest.approx([100 * estimate.values[place], 100 * low[place], 100 * high[place]], abs=0.0051)
        said = " ".join(shown.split())
        assert "% of 5,000 people estimate 90 % interval" in said
        assert "Normal intervals: each holds with 90 % confidence." in said
        assert "epsilon 2 for one answer" in said

    def test_a_mean_is_no_percentage(self, tmp_path: Path) -> None:
        mechanism = dn.plan(dn.Interval(0, 120), 4.0, 500, target="mean")
        file, described = tmp_path / "ages.reports", tmp_path / "mean.json"
        file.write_bytes(mechanism.pack(mechanism.perturb(np.full(500, 40.0), dn.SeededCoins(1))))
        described.write_text(mechanism.to_json())
        record = json.loads(done("estimate", str(file), "--mechanism", str(described), "--json"))
        mean = record["shares"][0]["estimate"]
        shown = " ".join(done("estimate", str(file), "--mechanism", str(described)).split())
        assert f"mean {mean:.6g}" in shown
        assert "%" not in shown.partition("estimate")[0]
        assert "Only shares can be cleaned" in refusal(
            "estimate", str(file), "--mechanism", str(described), "--clean", "norm-sub"
        )

    def test_top_is_simultaneous(self, towns: Collection, tally: dn.Tally) -> None:
        shown = self.estimate(towns, towns.a_reports, "--top", "2")
        low, high = towns.mechanism.estimate(tally).interval(0.95, together=True)
        rows = shares(shown)
        assert list(rows) == ["Lyon", "Paris"]
        assert rows["Lyon"][1:] == pytest.approx([100 * low[0], 100 * high[0]], abs=0.0051)
        said = " ".join(shown.split())
        assert "The 2 largest of 5 shares." in said and "all 5 hold simultaneously with 95 % confidence" in said

    @pytest.mark.needs("scipy")
    @pytest.mark.parametrize("together", [False, True])
    def test_exact(self, towns: Collection, tally: dn.Tally, together: bool) -> None:
        top = ["--top", "5"] if together else []
        record = json.loads(self.estimate(towns, towns.a_reports, "--exact", "--json", *top))
        low, high = towns.mechanism.exact_interval(tally, 0.95, together)
        assert (record["intervals"], record["together"], record["people"]) == ("exact", together, 5000)
        ends = {row["value"]: (row["low"], row["high"]) for row in record["shares"]}
        assert ends == dict(zip(towns.mechanism.domain.labels, zip(low, high, strict=True), strict=True))
        assert "Exact intervals" in self.estimate(towns, towns.a_reports, "--exact", *top)

    def test_cleaned(self, towns: Collection, tally: dn.Tally) -> None:
        rows = shares(self.estimate(towns, towns.a_reports, "--clean", "norm-sub"))
        cleaned = dn.norm_sub(towns.mechanism.estimate(tally)).values
        assert [row[3] for row in rows.values()] == pytest.approx(100 * cleaned, abs=0.0051)
        assert all(len(row) == 3 for row in shares(self.estimate(towns, towns.a_reports)).values())

    def test_csv(self, towns: Collection, tally: dn.Tally, tmp_path: Path) -> None:
        file = tmp_path / "shares.csv"
        arguments = (towns.a_reports, "--csv", str(file), "--clean", "norm-sub")
        shown = self.estimate(towns, *arguments)
        assert shares(shown) == {} and f"Wrote the table to {file}." in shown
        with file.open(newline="") as text:
            rows = list(csv.DictReader(text))
        assert [row["value"] for row in rows] == list(towns.mechanism.domain.labels)
        estimate = towns.mechanism.estimate(tally)
        assert [float(row["estimate"]) for row in rows] == estimate.values.tolist()
        assert [float(row["high"]) for row in rows] == estimate.interval()[1].tolist()
        assert [float(row["cleaned"]) for row in rows] == dn.norm_sub(estimate).values.tolist()
        assert "add --force" in refusal("estimate", *arguments, "--mechanism", towns.m_json)

    @pytest.mark.needs("pyarrow")
    def test_files_and_tallies_add_up(self, towns: Collection, tally: dn.Tally, tmp_path: Path) -> None:
        second = tmp_path / "b.parquet"
        arguments = ("--column", "town", "--mechanism", towns.m_json, "--out", str(second), "--seed", "4")
        run("perturb", towns.a_csv, *arguments)
        saved, both = tmp_path / "second.json", tmp_path / "both.json"
        self.estimate(towns, str(second), "--save-tally", str(saved))
        assert dn.Tally.from_json(saved.read_text()) != tally
        records = [
            json.loads(self.estimate(towns, *files, "--json"))
            for files in (
                [towns.a_reports, str(second)],
                [str(saved), towns.a_reports, "--save-tally", str(both)],
                [str(both)],
            )
        ]
        assert records[0] == records[1] == records[2]
        expected = tally + towns.mechanism.tally(dn.read_reports(second, towns.mechanism))
        assert dn.Tally.from_json(both.read_text()) == expected
        assert records[0]["people"] == 10_000
        assert [row["estimate"] for row in records[0]["shares"]] == towns.mechanism.estimate(expected).values.tolist()

    def test_many_answers(self, tmp_path: Path) -> None:
        mechanism = dn.DirectResponse(dn.Categories(range(200)), 6.0)
        (tmp_path / "m.json").write_text(mechanism.to_json())
        (tmp_path / "t.json").write_text(mechanism.tally(mechanism.perturb(np.arange(2000) % 200)).to_json())
        arguments = ("estimate", str(tmp_path / "t.json"), "--mechanism", str(tmp_path / "m.json"))
        shown = done(*arguments)
        assert len(shares(shown)) == 30
        assert "The 30 largest of 200 shares." in shown and "all 200 hold simultaneously" in shown
        assert len(json.loads(done(*arguments, "--json"))["shares"]) == 200
        assert len(shares(done(*arguments, "--top", "150"))) == 150

    def test_picture(self, towns: Collection, tmp_path: Path) -> None:
        file = tmp_path / "shares.svg"
        shown = self.estimate(towns, towns.a_reports, "--top", "3", "--picture", str(file))
        assert f"Wrote the picture to {file}; each normal interval holds on its own." in shown
        assert "<svg" in file.read_text()
        assert "A picture must end in" in refusal(
            "estimate", towns.a_reports, "--mechanism", towns.m_json, "--picture", str(tmp_path / "shares.txt")
        )

    def test_nothing_is_said_before_all_is_read(self, towns: Collection, tmp_path: Path) -> None:
        broken, saved = tmp_path / "b.reports", tmp_path / "t.json"
        data = Path(towns.a_reports).read_bytes()
        stranger = dn.DirectResponse(dn.Categories(range(3)), 1.0)
        for content, says in [
            (data[:-1], "ends inside a batch"),
            (data + b"\0", "ends inside a batch"),
            (data[:-10] + b"\0" + data[-9:], "checksum"),
            (data + stranger.pack(stranger.perturb([1])), f"made by mechanism {stranger.fingerprint[:8]}"),
            (b"", "is empty"),
            (b"town\nhepatitis\n" * 9, "not packed reports"),
        ]:
            broken.write_bytes(content)
            arguments = (towns.a_reports, str(broken), "--mechanism", towns.m_json, "--save-tally", str(saved))
            said = refusal("estimate", *arguments)  # with nothing on the output
            assert says in said and "b.reports" in said and "hepatitis" not in said
            assert not saved.exists()

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ("[", "A tally is a JSON object"),
            ('{"hepatitis": 1}', "A tally is a JSON object"),
            ('{"fingerprint": "x", "n": 1, "counts": [1]}', "belongs to mechanism x"),
            ('{"fingerprint": "FINGERPRINT", "n": 1, "counts": [1]}', "has 5 counts"),
            ('{"fingerprint": "FINGERPRINT", "n": 1, "counts": [2, 0, 0, 0, 0]}', "from 0 to the number of reports"),
            ('{"fingerprint": "FINGERPRINT", "n": 0, "counts": [0, 0, 0, 0, 0]}', "holds no reports"),
            ("\udcff", "not JSON text"),
        ],
    )
    def test_bad_tallies(self, towns: Collection, tmp_path: Path, content: str, says: str) -> None:
        file = tmp_path / "t.json"
        file.write_text(content.replace("FINGERPRINT", towns.mechanism.fingerprint), errors="surrogateescape")
        said = refusal("estimate", towns.a_reports, str(file), "--mechanism", towns.m_json)
        assert says in said and "t.json" in said and "hepatitis" not in said.replace(str(tmp_path), "")

    def test_files_twice_or_missing(self, towns: Collection, tmp_path: Path) -> None:
        mechanism = ("--mechanism", towns.m_json)
        again = str(Path(towns.a_reports).parent / "." / ".." / Path(towns.a_reports).parent.name / "a.reports")
        assert "listed twice" in refusal("estimate", towns.a_reports, again, *mechanism)
        for name in ("none.reports", "none.parquet", "none.json"):
            assert "There is no file" in refusal("estimate", str(tmp_path / name), *mechanism)
        assert "There is no file" in refusal("estimate", towns.a_reports, "--mechanism", str(tmp_path / "none.json"))
        (tmp_path / "empty").write_bytes(towns.mechanism.pack(dn.read_reports(towns.a_reports, towns.mechanism)[:0]))
        assert "files hold no reports" in refusal("estimate", str(tmp_path / "empty"), *mechanism)

    def test_without_the_extras(self, towns: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("pyarrow", "scipy.special", "matplotlib.pyplot"):
            monkeypatch.setitem(sys.modules, name, None)
        (tmp_path / "a.parquet").write_bytes(b"PAR1")
        common = ("--mechanism", towns.m_json)
        columns = ("--column", "town", "--out")
        for extra, arguments in [
            ("parquet", ("estimate", str(tmp_path / "a.parquet"), *common)),
            ("parquet", ("perturb", str(tmp_path / "a.parquet"), *columns, str(tmp_path / "out"), *common)),
            ("parquet", ("perturb", towns.a_csv, *columns, str(tmp_path / "out.parquet"), *common)),
            ("stats", ("estimate", towns.a_reports, "--exact", *common)),
            ("plot", ("estimate", towns.a_reports, "--picture", str(tmp_path / "p.png"), *common)),
            ("plot", ("compare", "--values", "3", "--epsilon", "1", "--people", "9", "--picture", str(tmp_path / "p.png"))),
        ]:
            assert f"pip install 'deniable[{extra}]'" in refusal(*arguments)
        assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
        assert len(shares(self.estimate(towns, towns.a_reports))) == 5

    def test_characters_that_the_terminal_does_not_have(self, tmp_path: Path) -> None:
        mechanism = dn.DirectResponse(dn.Categories(["Zürich", "Genève"]), 1.0)
        (tmp_path / "m.json").write_text(mechanism.to_json())
        (tmp_path / "t.json").write_text(mechanism.tally(mechanism.perturb(["Zürich"] * 9, dn.SeededCoins(1))).to_json())
        arguments = ("estimate", str(tmp_path / "t.json"), "--mechanism", str(tmp_path / "m.json"))
        assert list(shares(run(*arguments).stdout)) == ["Zürich", "Genève"]
        plain = run(*arguments, charset="ascii")
        assert (plain.exit_code, plain.stderr) == (0, "")
        assert re.findall(r"^\S+\?\S+", plain.stdout, re.MULTILINE) == ["Z?rich", "Gen?ve"]

    def test_a_table_is_no_file_of_reports(self, towns: Collection) -> None:
        said = refusal("estimate", towns.a_csv, "--mechanism", towns.m_json)
        assert "a table, not a file of reports" in said and "deniable perturb" in said and "cut off" not in said

    def test_bad_numbers(self, towns: Collection) -> None:
        arguments = ("estimate", towns.a_reports, "--mechanism", towns.m_json)
        for confidence in ("0", "1", "nan", "95"):
            assert "confidence level must be between 0 and 1" in refusal(*arguments, "--confidence", confidence)
        assert run(*arguments, "--top", "0").exit_code == 2


class TestCompare:
    def test_measured_beside_predicted(self) -> None:
        arguments = ("compare", "--values", "8", "--epsilon", "1", "--people", "500", "--seed", "1", "--repeats", "100")
        record = json.loads(done(*arguments, "--json"))
        found = {each["name"]: each for each in record["mechanisms"]}
        assert found.keys() == MAKERS.keys()
        for option in planner.options(dn.Categories(range(8)), 1.0, 500):
            each = found[short_name(option.name)]
            assert (each["predicted"], each["bits"]) == (option.error, option.bits)
            assert each["ratio"] == pytest.approx((each["measured"] / each["predicted"]) ** 2)
            assert abs(each["ratio"] - 1) < 4 * each["ratio_error"] and 0.01 < each["ratio_error"] < 0.2
            assert each["perturb_seconds"] > 0 and each["count_seconds"] > 0

    @pytest.mark.parametrize("truth", ["zipf", "uniform"])
    def test_table_and_picture(self, truth: str, tmp_path: Path) -> None:
        file = tmp_path / "errors.png"
        words = ("--category", "yes", "--category", "no", "--category", "?", "--mechanisms", "subset,direct")
        arguments = ("--epsilon", "1", "--people", "300", "--repeats", "5", "--seed", "1", "--truth", truth)
        shown = done("compare", *words, *arguments, "--picture", str(file))
        assert "3 answers, epsilon 1 for one answer, 300 people, 5 collections each:" in shown
        rows = re.findall(r"^(\S+) +\S+ +\S+ +(\S+) \+- (\S+) +\S+ +\S+ +(\S+)% +(\d+)$", shown, re.MULTILINE)
        assert sorted((name, bits) for name, *_, bits in rows) == [("direct", "2"), ("subset", "3")]
        assert {above for *_, above, _ in rows} == {"0.0"}  # with three answers both are the best there is
        assert file.read_bytes().startswith(b"\x89PNG")

    def test_people_are_all_there(self) -> None:
        held = people_by_answer(dn.Categories(range(7)), 1000, "zipf")
        assert held.sum() == 1000 and (np.diff(held) < 0).all() and abs(held[0] - 2 * held[1]) <= 2
        assert people_by_answer(dn.Categories(range(4)), 10, "uniform").sum() == 10

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--values", "4", "--mechanisms", "direct,laplace"], "There is no mechanism 'laplace'"),
            (["--values", "4", "--mechanisms", ""], "There is no mechanism ''"),
            (["--values", str(1 << 21), "--mechanisms", "unary"], "do not support this question"),
            (["--values", "1"], "at least two possible answers"),
            (["--values", "4", "--picture", "x.txt"], "A picture must end in"),
        ],
    )
    def test_refused(self, arguments: list[str], says: str) -> None:
        assert says in refusal("compare", "--epsilon", "1", "--people", "10", *arguments)


def test_an_unknown_verb() -> None:
    result = run("divine")
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert "No such command" in result.stderr


def test_verbs_are_commands() -> None:
    commands = {name: main.get_command(click.Context(main), name) for name in VERBS}
    for name, command in commands.items():
        assert isinstance(command, click.Command) and command.help
        assert command.short_help == VERBS[name][1]


def test_verbs_of_other_packages_are_listed_without_loading_them() -> None:
    for name, entry in installed().items():
        assert added_line(entry) == ELSEWHERE[name][1]
    own = EntryPoint("weigh", "absent.module:weigh", "deniable.commands")
    assert added_line(own) == "Defined in absent.module."
