"""The command line: what it prints, how it refuses, and its exit codes.

Help texts are compared with tests/golden_help/. After a change that is meant, write them anew and read the difference:

    DENIABLE_WRITE_GOLDEN=1 python -m pytest tests/test_cli.py -k golden
"""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

import deniable as dn
from deniable.cli.main import main
from deniable.cli.mechanisms import MAKERS

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


def certified(*arguments: str) -> dict[str, object]:
    """The JSON object of a certificate that holds."""
    result = run("certify", *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    record = json.loads(result.stdout)
    assert isinstance(record, dict)
    return record


class TestHelp:
    @pytest.mark.parametrize("verb", ["", *sorted(main.commands)])
    def test_golden(self, verb: str) -> None:
        shown = run(*[verb] if verb else [], "--help").stdout
        file = GOLDEN / f"{verb or 'deniable'}.txt"
        if os.environ.get("DENIABLE_WRITE_GOLDEN"):
            file.write_text(shown, encoding="utf-8")
        assert shown == file.read_text(encoding="utf-8")

    def test_every_golden_file_belongs_to_a_verb(self) -> None:
        assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(["deniable", *main.commands])

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
            "print(sorted({'numba', 'matplotlib', 'pyarrow', 'rich', 'scipy'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert done.stdout.startswith("Usage: deniable [OPTIONS] COMMAND")
        assert done.stdout.endswith("\n[]\n")


class TestCertify:
    @pytest.mark.parametrize(
        ("name", "proof"),
        [(name, proof) for name in MAKERS for proof in ("enumerated", "factored" if "unary" in name else "symmetric")],
    )
    def test_every_mechanism_and_proof(self, name: str, proof: str) -> None:
        record = certified(name, "--values", "6", "--epsilon", "1", "--proof", proof)
        assert record["holds"] is True
        assert (record["proof"], record["values"], record["unit"]) == (proof, 6, "one answer")
        assert Fraction(str(record["odds"])) == (dn.odds_below(0.5) ** 2 if "symmetric" in name else dn.odds_below(1.0))
        assert record["odds"] == record["declared_odds"]

    def test_names(self) -> None:
        assert list(MAKERS) == [
            "direct", "unary-symmetric", "unary", "subset", "design", "wheel", "hashing-binary", "hashing", "hadamard"
        ]  # fmt: skip
        question = dn.Categories(range(6))
        for name, mechanism in {
            "unary": dn.Unary(question, 1.0),
            "unary-symmetric": dn.Unary.symmetric(question, 1.0),
            "hashing": dn.LocalHashing(question, 1.0),
            "hashing-binary": dn.LocalHashing.binary(question, 1.0),
        }.items():
            assert certified(name, "--values", "6", "--epsilon", "1")["fingerprint"] == mechanism.fingerprint

    @pytest.mark.parametrize(("name", "proof"), [("direct", "factored"), ("unary", "symmetric"), ("subset", "factored")])
    def test_a_proof_that_is_not_possible(self, name: str, proof: str) -> None:
        said = refusal("certify", name, "--values", "64", "--epsilon", "1", "--proof", proof)
        assert "certif" in said or "not one toss" in said

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
            "proof": "enumerated",
            "outcomes_followed": 4,
            "values_followed": 2,
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
        assert "worst pair    0 against 4" in shown
        assert "worst report  0f, which names 0, 1, 2, 3" in shown
        assert "followed      320 outcomes, 5 of 5 values" in shown
        for line in shown:  # beside every epsilon stands its unit
            assert "epsilon" not in line or "one answer" in line

    def test_a_wide_report_is_cut_in_the_panel_only(self) -> None:
        arguments = ("unary", "--values", "1000", "--epsilon", "1")
        shown = run("certify", *arguments).stdout
        assert "... (125 bytes), which names 999 answers" in shown
        assert "4 of 1,000 values, which stand for all" in shown
        assert len(str(certified(*arguments)["worst_report"])) == 2 * 125

    def test_a_mechanism_from_a_file(self, tmp_path: Path) -> None:
        mechanism = dn.SubsetSelection(dn.Categories(["a", "b", "c", "d"]), 0.5, 2)
        file = tmp_path / "mechanism.json"
        file.write_text(mechanism.to_json(), encoding="utf-8")
        assert certified(str(file))["fingerprint"] == mechanism.fingerprint
        assert "a file holds its own" in refusal("certify", str(file), "--epsilon", "1")
        file.write_text(dn.DirectResponse(dn.Categories(range(10**6)), 1.0).to_json(), encoding="utf-8")
        assert "At most 100,000 values" in refusal("certify", str(file))

    def test_a_promise_that_does_not_hold(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def honest(self: dn.Unary, truth: NDArray[np.int64], coins: dn.Coins) -> Mapping[str, NDArray[np.uint8]]:
            coins.toss(self.p, len(truth))
            return {"cells": (1 << truth[:, None]).astype(np.uint8)}

        monkeypatch.setattr(dn.Unary, "randomize", honest)
        result = run("certify", "unary", "--values", "5", "--epsilon", "1")
        assert (result.exit_code, result.stderr) == (1, "")
        assert "DOES NOT HOLD" in result.stdout and "rules one of the worst pair out" in result.stdout
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
            (["direct", "--values", "1000000000000", "--epsilon", "1"], "At most 100,000 values"),
            (["direct", "--values", "4"], "add --epsilon"),
            (["direct", "--values", "4", "--epsilon", "1", "--size", "2"], "Only subset takes --size"),
            (["subset", "--values", "4", "--epsilon", "1", "--size", "0"], "at least one answer"),
            (["subset", "--values", "4", "--epsilon", "1", "--size", "4"], "1 to 3 of the 4 values"),
            (["unary", "--values", "20000", "--epsilon", "1"], "too wide"),
            (["laplace"], "There is no mechanism or file 'laplace'"),
            (["laplace", "--values", "4"], "Only a name takes a question"),
            (["laplace", "--other", "4"], "Only a name takes a question"),
        ],
    )
    def test_refused(self, arguments: list[str], says: str) -> None:
        assert says in refusal("certify", *arguments)

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
        assert "7 of 7 intervals hold the truth" in seeded.stdout

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
        assert re.search(r"A person who is 'widowed' sent 7 bits, [01]{7}. They speak for '", text)
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
        assert "through the wheel mechanism, the planner's choice." in said["1"]
        assert "wheel-1, 7 values" in said["1"]
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
        assert result.stdout.endswith(f"The picture is in {file}.\n")
        assert file.read_bytes().startswith(b"\x89PNG")
        assert list(tmp_path.iterdir()) == [file]

    def test_a_picture_that_cannot_be_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert "A picture must end in" in refusal("demo", "--picture", str(tmp_path / "demo.txt"))
        assert "cannot be written" in refusal("demo", "--picture", str(tmp_path / "nowhere" / "demo.png"))
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        result = run("demo", "--seed", "2", "--picture", str(tmp_path / "demo.png"))
        assert result.exit_code == 2
        assert result.stderr == (
            "error: A plot needs a package that is not installed. Install it with: pip install 'deniable[plot]'\n"
        )
        assert list(tmp_path.iterdir()) == []


def test_an_unknown_verb() -> None:
    result = run("divine")
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert "No such command" in result.stderr


def test_verbs_are_commands() -> None:
    assert all(isinstance(command, click.Command) and command.help for command in main.commands.values())
