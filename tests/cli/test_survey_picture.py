"""The picture of a survey's results: small multiples in the order of the answers, never larger than a page."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.cli.survey_picture import PAGE, survey_picture
from deniable.cli.surveys import show
from deniable.collector import Collector, opened, results
from tests.surveys import KINDS, several, survey

pytestmark = pytest.mark.needs("matplotlib")


def collected(text: str, people: int = 500) -> dict[str, Any]:
    """The results of made-up people."""
    asked = survey(text)
    answers = {q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(2), people) for q in asked.questions}
    with tempfile.TemporaryDirectory() as folder, opened(str(Path(folder) / "store.db")) as store:
        collector = Collector(asked, store)
        collector.take(asked.read(asked.batch(answers, people)))
        return results(asked, collector.number, store).data()


@pytest.mark.parametrize("text", [KINDS, several(*[6] * 20, epsilon=20.0), several(100), several(*[3] * 64, epsilon=50.0)])
def test_a_picture_fits_on_a_page(text: str) -> None:
    data = collected(text)
    figure = survey_picture(data)
    width, height = figure.get_size_inches()
    assert width <= PAGE[0] + 0.01 and height <= PAGE[1] + 0.01
    assert sum(axes.axison for axes in figure.axes) >= len(data["questions"])


def test_ordered_answers_keep_their_order() -> None:
    figure = survey_picture(collected(KINDS))
    shown = [[label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes]
    assert [str(number) for number in range(11)] in shown
    assert ["never", "sometimes", "often"] in shown


def test_the_terminal_folds_and_says_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"word {place}" for place in range(50)]
    show(
        collected(
            KINDS.replace('["never", "sometimes", "often"]', str(words)).replace('"ordered"\nchoices', '"category"\nchoices')
        )
    )
    printed = capsys.readouterr().out
    assert "21 others" in printed and "the largest of them" in printed
    assert "stand out from the noise" in printed or "may be zero so far" in printed
