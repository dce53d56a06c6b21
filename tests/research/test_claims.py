"""The table of claims: what papers say, what certificates find, and that the documentation shows just that."""

import json
import math
from functools import cache

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from research.claims import CLAIMS, Checked, Claim, Evaluated, checked_claims, claims, claims_table
from tests import ROOT

PAGE = ROOT / "docs" / "claims.md"


@cache
def checked() -> list[Checked]:
    return checked_claims()


def test_the_documentation_has_the_table_that_is_computed() -> None:
    assert "\n".join(claims_table(checked())) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("position", range(len(CLAIMS)), ids=[claim.name for claim in CLAIMS])
def test_counterexamples_are_small_and_show_what_is_wrong(position: int) -> None:
    each = checked()[position]
    assert each.verdict in ("false", "loose")
    if each.found.mechanism is not None:
        assert each.true == each.found.mechanism.loss().epsilon()
    shown = each.counterexample
    if shown.mechanism is not None:
        assert shown.proof == "proved" and shown.worst_pair is not None and shown.mechanism.domain.size <= 4096
    assert shown.epsilon > each.smallest_claimed if each.verdict == "false" else shown.epsilon < each.smallest_claimed


def test_known_truths() -> None:
    found = {each.claim.name: each for each in checked()}
    assert found["BitRand, f-RR"].true == pytest.approx(3310.97158905, rel=1e-9)
    assert found["BitRand, f-RR"].counterexample.epsilon == pytest.approx(0.29891850037781, rel=1e-9)
    assert found["LATENT"].verdict == "loose"
    assert found["Duchi, even dimensions"].true == pytest.approx(1.3132616875, rel=1e-9)


def test_a_claim_that_is_right_is_called_so() -> None:
    claim = Claim("Warner", "Warner 1965", "two answers", 1.0, lambda: dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0))
    (each,) = checked_claims([claim])
    assert each.verdict == "holds" and each.counterexample is each.found
    assert each.example == "two answers: claimed 1, true 1; report 00, 'yes' against 'no'"


def test_a_law_worked_out_elsewhere_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    unbounded = Evaluated(math.inf, ("a", "b"), "ff", "proved")
    one = [Claim("somebody", "Somebody 2020", "any size", 1.0, lambda: unbounded)]
    monkeypatch.setattr("research.claims.CLAIMS", one)
    (each,) = checked_claims()
    assert each.verdict == "false" and "| 1 | inf | false |" in claims_table([each])[-1]
    record = json.loads(CliRunner().invoke(claims, ["--json"]).stdout)
    assert record["true"] is None and record["counterexample"]["mechanism"] is None


def test_the_command_prints_them() -> None:
    result = CliRunner(env={"COLUMNS": "120"}).invoke(claims)
    assert result.exit_code == 0
    for each in checked():
        assert each.claim.name in result.stdout and f"{each.true:.4g}" in result.stdout
    lines = CliRunner().invoke(claims, ["--json"]).stdout.splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["name"] for record in records] == [claim.name for claim in CLAIMS]
    assert [record["true"] for record in records] == [each.true for each in checked()]
    made = dn.mechanism_from_json(json.dumps(records[0]["counterexample"]["mechanism"]))
    assert made == checked()[0].counterexample.mechanism


@pytest.mark.parametrize(
    "more", [["direct"], ["--epsilon", "1"], ["--values", "3"], ["--category", "a"], ["--proof", "factored"]]
)
def test_claims_take_no_options_of_a_certificate(more: list[str]) -> None:
    result = CliRunner().invoke(claims, more)
    assert result.exit_code == 2 and more[0] in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("arguments", [["certify", "--claims"], ["certify", "claims", "--json"]])
def test_certify_says_where_the_claims_are(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2 and result.stderr.startswith("error: ") and "deniable claims" in result.stderr
