"""What kinds of questions share where the distribution of the answers may be asked for: `target = "distribution"`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from deniable.arrays import Floats
from deniable.core import Domain, Estimate, Mechanism, Tally
from deniable.errors import InvalidParameter
from deniable.planning.planner import Target, plan
from deniable.survey.kinds.kind import D, Details, Figures, Kind, Published, WrongDetail
from deniable.survey.kinds.summary import Shares, summary

if TYPE_CHECKING:
    from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism

TARGETS = ("distribution", "quantiles", "ranges")
MOST_QUANTILES = 12  # that one question may ask for


class Distributed(Kind[D]):
    """Comes before another kind in the bases of a class, which says what happens without a target."""

    targets: ClassVar[Sequence[str]] = TARGETS

    def domain(self, details: Details) -> D:
        self.quantiles(details)  # refuses a line that cannot be used
        return super().domain(details)  # type: ignore[safe-super]

    def target(self, details: Details) -> str | None:
        """What is to be estimated, if the file says so."""
        target = details.get("target")
        if target is not None and (not isinstance(target, str) or target not in self.targets):
            raise WrongDetail("target", f"target must be one of {', '.join(map(repr, self.targets))}.")
        return target

    def quantiles(self, details: Details) -> tuple[float, ...]:
        """The quantiles that the file asks for: results have them, and rounds look for them. None means the median."""
        asked = details.get("quantiles")
        if asked is None:
            return ()
        good = isinstance(asked, list) and all(isinstance(share, float) and 0 < share < 1 for share in asked)
        if not good or not 1 <= len(asked) <= MOST_QUANTILES or asked != sorted(set(asked)):
            raise WrongDetail(
                "quantiles", f"quantiles must be 1 to {MOST_QUANTILES} numbers between 0 and 1 in order, such as [0.5, 0.9]."
            )
        if self.target(details) not in TARGETS:
            raise WrongDetail("quantiles", 'quantiles require a target, such as target = "quantiles".')
        return tuple(asked)

    def mechanism(self, domain: D, details: Details, epsilon: float, people: int) -> Mechanism:
        """The best for the target."""
        target = self.target(details)
        if target not in TARGETS:
            return super().mechanism(domain, details, epsilon, people)
        try:
            return plan(cast(Domain, domain), epsilon, people, target=cast(Target, target), edition=self.edition)
        except InvalidParameter as error:
            raise WrongDetail("target", str(error)) from None

    def first_round(self, domain: D, details: Details, epsilon: float, people: int) -> Mechanism:
        """The best for the target; for quantiles, the one that shows best where later rounds have to look."""
        if self.target(details) != "quantiles":
            return super().first_round(domain, details, epsilon, people)
        from deniable.planning.rounds import next_round  # which few surveys need

        try:
            return next_round(cast(Domain, domain), epsilon, people, self.quantiles(details) or (0.5,), edition=self.edition)
        except InvalidParameter as error:
            raise WrongDetail("target", str(error)) from None

    def error(self, domain: D, mechanism: Mechanism, people: int) -> float:
        """Of the share of people up to a number, root mean square, if all answers are equally common."""
        if not distributes(mechanism):
            return super().error(domain, mechanism, people)
        from deniable.mechanisms.distributions.workload import Workload  # which few surveys need

        noise = cast("DistributionMechanism", mechanism).joint_noise(np.full(domain.size, 1 / domain.size))
        return float(np.sqrt(Workload.prefixes(domain.size).mean_square(noise) / people))

    def estimate(self, mechanism: Mechanism, tally: Tally) -> Any:
        if distributes(mechanism):
            return summary((cast("DistributionMechanism", mechanism), tally))
        return super().estimate(mechanism, tally)

    def results(self, details: Details, rounds: Sequence[tuple[Mechanism, Tally]]) -> Any:
        if not distributes(rounds[0][0]):
            return super().results(details, rounds)
        return summary(*cast("Sequence[tuple[DistributionMechanism, Tally]]", rounds), quantiles=self.quantiles(details))

    def moves(self, details: Details) -> bool:
        return self.target(details) in TARGETS

    def next_round(
        self, details: Details, epsilon: float, people: int, earlier: Sequence[tuple[Mechanism, Tally]]
    ) -> Mechanism:
        """Cuts near the quantiles that the file asks for, or else the median, where they may lie by now."""
        if not self.moves(details):
            return super().next_round(details, epsilon, people, earlier)
        from deniable.planning.rounds import next_round  # which few surveys need

        known = cast("Sequence[tuple[DistributionMechanism, Tally]]", earlier)
        return next_round(known[0][0].domain, epsilon, people, self.quantiles(details) or (0.5,), known)

    def parts(self, estimate: Any) -> Sequence[Estimate]:
        return Kind.parts(self, estimate) if isinstance(estimate, Published) else super().parts(estimate)

    def more(self, domain: D, estimate: Any) -> Figures:
        return {} if isinstance(estimate, Published) else super().more(domain, estimate)

    def cleaned(self, domain: D, part: Estimate) -> Floats:
        return part.fitted if isinstance(part, Shares) else super().cleaned(domain, part)


def distributes(mechanism: Mechanism) -> bool:
    """Whether the reports of a mechanism give a whole distribution."""
    return mechanism.question == "distributions"
