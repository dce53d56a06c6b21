"""The surveys of js/test/repeated.json, with their laws: `python -m tests.clients.repeated_surveys` writes them anew."""

import json

from deniable.survey.law_document import law_json
from tests import ROOT
from tests.survey.test_repeating import ALL, WEEKLY, survey

FILE = ROOT / "js" / "test" / "repeated.json"


def made() -> str:
    """The file."""
    found = {name: survey(text) for name, text in {"wellbeing": ALL, "weekly": WEEKLY}.items()}
    both = {name: {"survey": each.to_json(), "law": law_json(each)} for name, each in found.items()}
    return json.dumps(both, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(made())
