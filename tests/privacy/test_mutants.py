"""Changed laws are refused, are not proved, or lose no more than is proved: some here, all by python -m tests.mutants."""

from fractions import Fraction

from tests.mutants import Case, cases, counted, mutants, true_odds, verdict

EVERY = 61  # mutant is looked at here


def test_no_mutant_loses_more_than_is_proved() -> None:
    verdicts, changes, laws, _ = counted(EVERY)
    assert laws > 150 and verdicts.total() > 80
    assert {"refused", "not proved", "the same law", "proved to lose more"} <= set(verdicts)
    assert {"constant", "operands", "draw"} <= set(changes)


def test_laws_followed_here_have_the_loss_that_is_proved() -> None:
    """So that mutants are judged by the same measure."""
    found = cases()
    for name in (
        "direct",
        "hashing",
        "unit-codes-small",
        "keys-direct",
        "open-direct",
        "open-published-uUE",
        "bits-by-turns",
    ):
        bound = found[name].bound()
        assert bound is not None and bound.odds == true_odds(found[name]), name
        assert not found[name].faults, name  # no check finds fault with the law itself


def test_a_bound_that_is_too_small_would_be_seen() -> None:
    case: Case = cases()["direct"]
    changed = next(program for what, program in mutants(case.program) if what == "constant" and program is not None)
    assert verdict(case, changed, Fraction(3)).startswith("proved")
    assert true_odds(Case(changed)) != true_odds(case)
