"""A whole survey in one program: devices answer once, a collector counts each report once, results with their intervals."""

import tempfile
from pathlib import Path

import deniable as dn
from deniable.collector import Collector, opened, results

FILE = """
[survey]
id = "lunch"
epsilon = 2.0                # for one person, over both questions
minimum_reports = 500
planner = 2                  # the edition of the planner that chooses the mechanisms

[[question]]
id = "meal"
ask = "What did you have for lunch?"
kind = "category"
choices = ["nothing", "soup", "salad", "pasta"]

[[question]]
id = "price"
ask = "What did it cost?"
kind = "number"
low = 0
high = 20
"""

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "survey.toml"
    path.write_text(FILE)
    survey = dn.Survey.load(path)
    print(dn.certify_survey(survey))

    # One device: it answers once, whatever happens.
    device = dn.Device(survey, ledger=Path(folder) / "me.ledger")
    mine = device.answer({"meal": "soup", "price": 6.5})
    assert device.message() == mine

    # Many devices, each with a message of its own.
    everybody = survey.randomize_all({"meal": ["soup", "pasta"] * 1000, "price": [6.5, 11.0] * 1000}, people=2000)

    with opened(str(path.with_suffix(".db"))) as store:
        collector = Collector(survey, store)
        collector.take(survey.read(mine))
        collector.take(survey.read(b"".join([mine, *everybody])))  # mine once more: it is not counted again
        found = results(collector.survey, collector.number, store)
    print(f"{found.people:,} people")
    for question, _, measure, answer, value, _, low, high, *_ in found.records():
        print(f"{question:6} {measure:6} {answer:8} {value:6.2f}   95 % interval {low:6.2f} to {high:6.2f}")
