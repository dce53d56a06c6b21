"""Tests of the relay that mixes reports."""

from pathlib import Path

import deniable as dn
from deniable.survey.reading import parse_toml

SURVEY = """
[survey]
id = "commute"
title = "The way to work"
epsilon = 1.0

[[question]]
id = "commute"
kind = "category"
ask = "How do you get to work?"
choices = ["bus", "car", "bike"]
"""


def survey_of(text: str) -> dn.Survey:
    """The survey of this text."""
    return parse_toml(text, "survey.toml")


def survey_in(folder: Path) -> dn.Survey:
    """The survey, with its file in this folder."""
    path = folder / "survey.toml"
    path.write_text(SURVEY)
    return dn.Survey.load(path)
