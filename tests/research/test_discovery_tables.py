"""What the documentation says about finding strings is what the experiments measured."""

import re
from pathlib import Path

from deniable.discovery.planning import BITS
from research.experiments import discovery, discovery_text
from research.experiments.runs import Runs
from tests import ROOT

DOCS = (ROOT / "docs" / "discovery.md").read_text(encoding="utf-8")
WORDS = " ".join(DOCS.split())


def rows(text: str) -> dict[str, list[str]]:
    """The lines of a table that begin with an epsilon."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if re.match(r"\| \d", line)]
    return {cells[0]: cells[1:] for cells in found}


def figure(cell: str) -> str:
    """The mean, without its error."""
    return cell.split()[0]


def test_the_table_of_keys_is_made_from_the_runs() -> None:
    table, known = rows(discovery.RESULT.read_text(encoding="utf-8")), Runs(discovery.KEPT_RUNS).known()
    assert list(table) == ["1", "2", "4"]
    for epsilon, cells in zip(discovery.EPSILONS, table.values(), strict=True):
        one, four, plain, base = (discovery.measured(known, way, epsilon) for way in discovery.WAYS)
        assert {len(one), len(four), len(plain), len(base)} == {discovery.RUNS}
        for found, place in ((one, 0), (four, 3)):
            assert cells[place] == discovery.mean_and_error(found, "scores")
            assert cells[place + 1] == discovery.mean(found, "scores", 1)
        assert cells[6] == discovery.mean_and_error(plain, "scores")
        assert cells[7] == discovery.mean_and_error(base, "published")


def test_further_runs_are_reported_too() -> None:
    """Those of the table met the aim at epsilon 4, in part by chance."""
    found = discovery.further(Runs(discovery.KEPT_RUNS).known())
    assert len(found) == len(discovery.FURTHER)
    said = discovery.mean_and_error(found, "scores")
    assert f"have\n{said}" in discovery.RESULT.read_text(encoding="utf-8") and f"ten further runs have {said}." in WORDS


def test_the_documentation_has_the_same_figures() -> None:
    measured, stated = rows(discovery.RESULT.read_text(encoding="utf-8")), rows(DOCS)
    for epsilon, cells in stated.items():
        own = measured[epsilon]
        assert cells[:4] == [own[0], own[1], own[3], own[4]]
        assert cells[4:] == [figure(own[place]) for place in (6, 8, 10, 11, 12)]


def test_the_table_of_texts_is_made_from_the_runs_and_summed_up_in_the_documentation() -> None:
    known = Runs(discovery_text.KEPT_RUNS).known()
    assert discovery_text.RESULT.read_text(encoding="utf-8") == discovery_text.page(known)
    runs = [known[discovery_text.name_of(*case)] for case in discovery_text.CASES]
    named, right = sum(len(run["named"]) for run in runs), sum(run["right"] for run in runs)
    false = sum(run["false"] for run in runs)
    assert f"{named} strings were named in {len(runs)} runs, of which {false or 'none'} belong" in WORDS
    assert f"and {right} are among the 20 most frequent" in WORDS


def test_the_documentation_says_how_long_a_code_may_be() -> None:
    limits = [BITS[form] for form in ("text", "address", "version", "bytes")]
    said = "{} bits as text, {} as an address, {} as a version, {} as bytes".format(*limits)
    assert said in WORDS


def test_costs_are_those_of_the_table() -> None:
    text = (Path(discovery.__file__).parent / "discovery_cost.md").read_text(encoding="utf-8")
    million = [line.split("|") for line in text.splitlines() if "| 1,000,000 |" in line]
    counting, decoding = ([float(cells[place].split()[0]) for cells in million] for place in (4, 5))
    memory = [int(cells[7].split()[0]) for cells in million]
    assert len(million) == 3 and max(counting) + max(decoding) < 10 and max(memory) < 200
    said = f"decoded in {min(decoding):.1f} to {max(decoding):.1f} s, with a peak of {min(memory)} to {max(memory)} MB"
    assert said in WORDS and max(counting) <= 0.6 and "counted in at most 0.6 s" in WORDS
