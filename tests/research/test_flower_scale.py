"""Flower with as many clients as a paper has: it runs, keeps its budget, and its result is what the page says."""

import math
import re

import pytest

from research.data.folder import Data
from research.data.samples import texts
from research.experiments import flower_scale
from tests import ROOT


@pytest.mark.needs("flwr", "torch")
def test_rounds_are_run_within_epsilon() -> None:
    held = texts(Data(), 1, 200)
    plain, private = (flower_scale.trained(held, 5, method, 8.0, 2) for method in ("", "unit-axes"))
    assert math.isinf(plain.epsilon) and 7.99 < private.epsilon <= 8 and private.refused == 0
    assert private.needed > 5 and all(0 <= each.accuracy <= 1 for each in (plain, private))


def test_the_page_says_what_was_measured() -> None:
    result = (ROOT / "research" / "experiments" / "flower_scale.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (\S+) \| (\S+) \| (\S+) \| (\S+) \|$", result, re.MULTILINE)
    (_, _, _, plain, quick), (_, epsilon, needed, private, slow) = rows
    page = " ".join((ROOT / "docs" / "learning.md").read_text(encoding="utf-8").split())
    assert f"{flower_scale.CLIENTS:,} clients" in result and "With 2,791 clients of 43 texts" in page
    assert f"a round takes {float(quick):.0f} s of one core, and {float(slow):.0f} s with randomized updates" in page
    assert f"right in {plain} %" in page and f"{private} % with epsilon {epsilon} in all" in page
    assert f"{needed} clients are needed" in page
