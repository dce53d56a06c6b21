"""One check for any mechanism, ours or yours: every law that a mechanism must obey, on the exact law of its code.

`check_mechanism(mechanism)` raises `CheckFailed` at the first law that is broken. `checks(mechanism)` yields the checks one
by one, for test runners:

    @pytest.mark.parametrize("check", checks(mechanism), ids=str)
    def test_my_mechanism(check):
        check()

Use small instances: a question with three to ten answers. The law of the code is enumerated, which is exact and needs no
samples, but it takes every combination of coins. Checks that do not apply to a mechanism say why.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from deniable.core import Mechanism
from deniable.errors import DeniableError
from deniable.testing.exact import LIMIT, Exact
from deniable.testing.failures import CheckFailed, NotApplicable
from deniable.testing.laws import CHECKS
from deniable.testing.population import population, published, truth

__all__ = ["CHECKS", "Check", "CheckFailed", "check_mechanism", "checks", "population", "published", "truth"]


@dataclass(frozen=True)
class Check:
    """One law, for one mechanism. Calling it returns None, or why the law does not apply here."""

    name: str
    exact: "Exact"

    def __call__(self) -> str | None:
        try:
            CHECKS[self.name](self.exact)
        except NotApplicable as reason:
            return str(reason)
        except CheckFailed as failure:
            raise CheckFailed(f"{type(self.exact.mechanism).__name__}, {self.name}: {failure}") from failure.__cause__
        except DeniableError as error:
            what = f"raised {type(error).__name__}: {error}"
            raise CheckFailed(f"{type(self.exact.mechanism).__name__}, {self.name}: {what}") from error
        return None

    def __str__(self) -> str:
        return self.name


def checks(mechanism: Mechanism, limit: int = LIMIT) -> Iterator[Check]:
    """All checks of a mechanism; they share one enumeration of at most `limit` combinations of coins and answers."""
    exact = Exact(mechanism, limit)
    return (Check(name, exact) for name in CHECKS)


def check_mechanism(mechanism: Mechanism, limit: int = LIMIT) -> dict[str, str]:
    """Run every check; raises `CheckFailed` at the first broken law. Returns the checks that do not apply, with the reason.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> check_mechanism(DirectResponse(Categories(["yes", "no", "maybe"]), epsilon=1.0))
    {'losses': 'Only releases state an expected loss.'}
    """
    return {check.name: reason for check in checks(mechanism, limit) if (reason := check())}
