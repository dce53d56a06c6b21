"""Releases: mechanisms whose report is itself an answer, near the truth if answers have distances."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import Answers, Number, Reports, checked_answers, lookup
from deniable.core.reading import supporting
from deniable.domains.metric import Metric, checked_prior, metric_of
from deniable.mechanisms.shares.channel import Channel

if TYPE_CHECKING:
    from deniable.mechanisms.releases.comparison import Comparison


class Release(Channel):
    """A mechanism that releases one answer for each answer, judged by what the released one costs.

    Numbers on an interval are moved to the nearest point of its grid, without a coin: an unbiased mean is not what a
    release is for.
    """

    question = "releases"

    @property
    def remark(self) -> str:
        """What this release has chosen, in a few words, for comparisons."""
        return ""

    @cached_property
    def metric(self) -> Metric:
        """The losses between the answers."""
        return metric_of(self.domain)

    @cached_property
    def outputs(self) -> Ints:
        """The number of the answer that each report stands for."""
        return np.arange(self.domain.size)

    @abstractmethod
    def row_losses(self) -> Floats:
        """The expected loss of a release, for each true answer."""

    def expected_loss(self, prior: ArrayLike | None = None) -> float:
        """The expected loss of a release, for answers that are as common as the prior says; equally common unless given."""
        return float(checked_prior(prior, self.domain.size) @ self.row_losses())

    def worst_loss(self) -> float:
        """The expected loss of a release for the true answer that fares worst."""
        return float(self.row_losses().max())

    def released(self, reports: Reports) -> Sequence[Any]:
        """The answers that these reports release."""
        labels, values = self.domain.labels, self.checked_reports(reports).columns["value"]
        return [labels[number] for number in self.outputs[values].tolist()]

    def prepared(self, values: Answers) -> Answers:
        return self.domain.snapped(checked_answers(values))

    def device_law(self) -> dict[str, object]:
        return {**super().device_law(), "snaps": True}  # as `prepared` does

    def reading(self) -> dict[str, object]:
        (field,), outputs = self.layout.fields, self.outputs
        assert isinstance(field, Number)
        plain = len(outputs) == self.domain.size  # a report is an answer, or one of a few that stand for all

        def released(columns: Mapping[str, Any], cell: Any) -> Any:
            value = columns["value"]
            return (value if plain else lookup(np.resize(outputs, field.below), value)) == cell

        return {"supports": [supporting(self.layout, self.domain.size, released)]}

    def compare(self, prior: ArrayLike | None = None) -> "Comparison":
        """What releases cost under this mechanism and under its rivals, at the same epsilon."""
        from deniable.mechanisms.releases.comparison import compare_releases

        return compare_releases(self.domain, self.epsilon, prior, also=self)
