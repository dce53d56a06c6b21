"""Kinds of questions: found by name, also in other packages; and mechanisms that a survey file fixes."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest

import deniable as dn
from deniable.core.estimate import Estimate
from deniable.mechanisms import registry as mechanisms
from deniable.survey.kinds import registry
from deniable.survey.kinds.category import Category
from deniable.survey.kinds.kind import Kind
from deniable.survey.kinds.registry import OURS, kind_named
from tests.surveys import ONE, SPARSE, survey


class Colour(Category):
    """A kind of another package."""

    keys = frozenset({"dark"})
    flags = frozenset({"dark"})

    def domain(self, details: object) -> dn.Categories:
        return dn.Categories(["red", "green", "blue"])


class OtherDirect(dn.DirectResponse):
    """A mechanism of another package."""

    wire = "other-direct-1"


@pytest.mark.parametrize("name", OURS)
def test_every_registered_kind_loads(name: str) -> None:
    assert isinstance(kind_named(name), Kind) and kind_named(name) is kind_named(name)
    assert kind_named(name).flags <= kind_named(name).keys


def test_kinds_and_mechanisms_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = dict(registry.kinds())
    entry = EntryPoint("colour", "tests.survey.test_kinds:Colour", registry.GROUP)
    monkeypatch.setattr(registry, "kinds", lambda: ours | {"colour": entry})
    text = ONE.replace('kind = "category"', 'kind = "colour"\ndark = true')
    asked = survey("\n".join(line for line in text.splitlines() if not line.startswith("choices")))
    assert list(asked.questions[0].mechanism.domain.labels) == ["red", "green", "blue"]
    with pytest.raises(dn.InvalidSurvey, match="dark must be true or false"):
        survey(ONE.replace('kind = "category"', 'kind = "colour"\ndark = 1').replace("choices", "# "))
    families = dict(mechanisms.families())
    entry = EntryPoint("other-direct-1", "tests.survey.test_kinds:OtherDirect", mechanisms.GROUP)
    monkeypatch.setattr(mechanisms, "families", lambda: families | {"other-direct-1": entry})
    asked = survey(ONE + 'mechanism = { mechanism = "other-direct-1" }')
    assert type(asked.questions[0].mechanism).__name__ == "OtherDirect"
    assert dn.Survey.from_json(asked.to_json()).fingerprint == asked.fingerprint


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('mechanism = { mechanism = "direct-2" }', "line 13: No mechanism 'direct-2' is installed"),
        ('mechanism = { mechanism = "direct-1", odds = "3" }', "line 13: The parameters do not fit together"),
        ('mechanism = { mechanism = "direct-1", epsilon = 1.5 }', "spend more than the survey's epsilon"),
        ('mechanism = { mechanism = "duchi-1" }', "line 13: "),
        ('mechanism = "direct-1"', "line 13: A mechanism is JSON"),
    ],
)
def test_mechanisms_that_cannot_be_used(written: str, says: str) -> None:
    with pytest.raises(dn.InvalidSurvey, match=says):
        survey(ONE + written)


def test_shares_of_items_need_not_sum_to_one() -> None:
    question = survey(SPARSE).questions[0]
    domain = question.mechanism.domain
    part = Estimate(range(domain.size), np.linspace(-0.5, 1.5, domain.size), np.ones(domain.size), 10)
    cleaned = question.how.cleaned(domain, part)
    assert cleaned.min() == 0 and cleaned.max() == 1 and cleaned.sum() > 2
