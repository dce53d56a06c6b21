"""How long regressions on randomized answers take: 100,000 people and 5 covariates, in every ordinary setting.

python -m research.experiments.regression            writes regression.md
python -m research.experiments.regression --quick    prints it for few people
"""

import os
import platform
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

import deniable as dn
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
PEOPLE, FEW, REPEATS = 100_000, 2_000, 3
YES = dn.Categories(["no", "yes"])
TOWNS = dn.Categories(["a", "b", "c", "d", "e", "f", "g", "h"])
SETTINGS = {
    "open covariates, randomized outcome": "says ~ a + b + c + d + e",
    "open covariates, outcome by hashing": "hashed ~ a + b + c + d + e",
    "a randomized covariate beside open ones": "says ~ a + b + c + d + smokes",
    "the same, open outcome": "voted ~ a + b + c + d + smokes",
    "the same, linear": "hours ~ a + b + c + d + smokes",
    "the same, open covariates with few values": "says ~ young + school + region + sex + smokes",
    "an interaction with a randomized covariate": "says ~ a * smokes + b + c",
    "an open covariate determines a randomized one": "says ~ a + b + c + d + sure",
    "the same, open outcome, determined": "voted ~ a + b + c + d + sure",
    "the same, linear, determined": "hours ~ a + b + c + d + sure",
    "a randomized covariate that equals an open one": "voted ~ a + b + c + sex + sex_again",
    "a randomized covariate with 8 answers": "says ~ a + b + c + d + town",
    "the same, linear, 8 answers": "hours ~ a + b + c + d + town",
    "two randomized covariates": "says ~ a + b + c + h0 + h1",
    "four randomized covariates": "says ~ a + h0 + h1 + h2 + h3",
    "five randomized covariates": "says ~ h0 + h1 + h2 + h3 + h4",
}
MECHANISMS: dict[str, dn.Mechanism] = {
    "says": dn.DirectResponse(YES, 2.0),
    "hashed": dn.LocalHashing(YES, 1.0),
    **{name: dn.DirectResponse(YES, 1.0) for name in ("smokes", "sure", "sex_again")},
    **{f"h{place}": dn.DirectResponse(YES, 2.0) for place in range(5)},
    "town": dn.SubsetSelection(TOWNS, 2.0),
}


def people(count: int) -> dict[str, Any]:
    """Made-up people: open columns, and reports on the rest."""
    random = np.random.default_rng(1)
    data: dict[str, Any] = dict(zip("abcde", random.normal(size=(5, count)), strict=True))
    data |= {
        "young": random.integers(0, 2, count),
        "school": random.integers(0, 5, count),
        "sex": random.integers(0, 2, count),
    }
    data["region"] = random.choice(["north", "south", "east", "west"], count)
    secret = {"smokes": random.random(count) < 1 / (1 + np.exp(0.5 * data["b"] - 0.3 * data["a"]))}
    secret |= {"sure": data["a"] > 0, "sex_again": data["sex"] == 1}
    secret |= {f"h{place}": random.random(count) < 0.3 + 0.1 * place for place in range(5)}
    predictor = -0.5 + 0.4 * data["a"] - 0.3 * data["b"] + 0.2 * data["c"] + 0.7 * secret["smokes"]
    says = random.random(count) < 1 / (1 + np.exp(-predictor))
    data |= {"voted": says.astype(int), "hours": predictor + random.normal(size=count)}
    secret |= {"says": says, "hashed": says}
    for place, (name, own) in enumerate(secret.items()):
        data[name] = MECHANISMS[name].perturb(np.where(own, "yes", "no").tolist(), dn.SeededCoins(place))
    data["town"] = MECHANISMS["town"].perturb([TOWNS.labels[i] for i in random.integers(0, 8, count)], dn.SeededCoins(99))
    return data


def page(count: int, repeats: int) -> str:
    """The whole result."""
    data, longest = people(count), 0.0
    lines = [f"{count:,} people, 5 covariates; seconds on {platform.machine()}, one thread, the best of {repeats} runs.", ""]
    lines += ["| setting | seconds | converged |", "|---|--:|---|"]
    for name, formula in SETTINGS.items():
        taken = []
        for _ in range(repeats):
            start = time.perf_counter()
            found = dn.regress(formula, data, MECHANISMS)
            taken.append(time.perf_counter() - start)
        longest = max(longest, min(taken))
        note = "" if found.converged and not found.notes else f": {found.notes[0].split(':')[0]}"
        lines.append(f"| {name} (`{formula}`) | {min(taken):.2f} | {'yes' if found.converged else 'no'}{note} |")
    return "\n".join([*lines, "", f"The longest takes {longest:.2f} s.", ""])


@click.command()
@quick_option("A fiftieth of the people, once")
def main(quick: bool) -> None:
    """Time regressions on made-up people."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    deliver(page(FEW if quick else PEOPLE, 1 if quick else REPEATS), None if quick else RESULT)


if __name__ == "__main__":
    main()
