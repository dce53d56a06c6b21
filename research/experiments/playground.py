"""The mechanisms of the playground in the documentation: `python -m research.experiments.playground` writes them anew."""

import json
from pathlib import Path

import deniable as dn

FILE = Path(__file__).resolve().parent.parent.parent / "docs" / "playground" / "laws.json"
CITIES = ("Lyon", "Paris", "Nice", "Lille")
EPSILONS = (0.5, 1.0, 2.0, 4.0)


def cases() -> list[dict[str, object]]:
    """For each epsilon, the mechanism with its law, as devices get them."""
    mechanisms = [dn.DirectResponse(dn.Categories(list(CITIES)), epsilon) for epsilon in EPSILONS]
    return [{"spec": mechanism.spec(), "law": mechanism.device_law()} for mechanism in mechanisms]


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases()) + "\n", encoding="utf-8")
