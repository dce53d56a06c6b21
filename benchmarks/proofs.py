"""Proofs: the seconds of CPU that a certificate takes, beside what it may take; making the plan is not counted."""

from collections.abc import Callable
from functools import partial
from time import process_time

import deniable as dn
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from deniable.discovery.planning import plan_discovery
from deniable.survey import Survey, certify_survey
from deniable.survey.reading import parse_toml
from tests.surveys import KINDS

Subject = dn.Mechanism | Survey
ONE, WHOLE = 2.0, 10.0  # seconds: any default plan up to 10,000 answers, any survey of 20 questions
NUMBERS = dn.Interval(0, 120, steps=1024)
PEOPLE = 100_000

SHARES: dict[str, Callable[[dn.Domain, float], dn.Mechanism]] = {
    "direct": dn.DirectResponse,
    "unary": dn.Unary,
    "subset": dn.SubsetSelection,
    "hashing": dn.LocalHashing,
    "hadamard": dn.HadamardResponse,
    "design": dn.BlockDesign,
    "wheel": dn.Wheel,
}


def shares(size: int) -> dict[str, Callable[[], Subject]]:
    domain = dn.Categories(range(size))
    made: dict[str, Callable[[], Subject]] = {name: partial(make, domain, 1.0) for name, make in SHARES.items()}
    made["planned"] = partial(dn.plan, domain, 1.0, n=PEOPLE)
    return {f"shares/{name}/{size}": each for name, each in made.items()}


def twenty() -> Survey:
    """Twenty questions of every kind, each with a share of the budget."""
    head, *questions = KINDS.split("[[question]]")
    copies = [each.replace('id = "', f'id = "q{place}-', 1) for place in range(4) for each in questions]
    return parse_toml("[[question]]".join([head, *copies[:20]]), "survey.toml")


def line(size: int) -> dn.Ordered:
    return dn.Ordered(range(size))


LATER: dict[str, Callable[[], Subject]] = {  # what plans and surveys choose for other questions, at large sizes
    "distributions/square-wave/2048": lambda: dn.SquareWave(line(2048), 1.0),
    "distributions/comb-wave/2048": lambda: dn.CombWave(line(2048), 1.0),
    "distributions/hierarchy/2048": lambda: dn.Hierarchy.weighted(line(2048), 1.0),
    "distributions/cuts/2048": lambda: dn.Cuts(line(2048), 1.0, [list(range(64, 2048, 64))], [1]),
    "distributions/workload/32": lambda: dn.WorkloadChannel.optimal(line(32), 1.0, rounds=10),
    "maps/tiles/32x64": lambda: dn.Tiles.weighted(dn.Product([line(32), line(64)]), 1.0),
    "tables/one-pair/20x10": lambda: dn.OnePair(dn.Vectors([dn.Categories(range(10))] * 20), 1.0),
    "tables/product/100x100": partial(dn.plan, dn.Product([line(100), line(100)]), 1.0, n=PEOPLE),
    "text/prefix-hashing": partial(plan_discovery, 1.0),
    "pairs/planned/10000": partial(dn.plan, dn.KeyValue(range(10_000), 0, 5, 8), 1.0, n=PEOPLE),
    "releases/bipartite/10000": partial(dn.Bipartite, line(10_000), 1.0),
    "vectors/unit-axes/768": partial(dn.UnitAxes, dn.UnitVectors(768), 4.0),
}


def seconds(make: Callable[[], Subject], effort: Effort) -> float:
    """The least of three proofs, each of an object made anew: what was proved once is remembered."""
    runs: list[float] = []
    for _ in range(3):
        subject = make()
        start = process_time()
        certificate = certify_survey(subject) if isinstance(subject, Survey) else dn.certify(subject)
        runs.append(process_time() - start)
        if not certificate.holds:
            raise RuntimeError("The benchmark proves what does not hold.")
    return min(runs)


SUBJECTS: dict[str, Callable[[], Subject]] = {
    **shares(1_000),
    **shares(10_000),
    **{
        f"numbers/{target}/1025": partial(dn.plan, NUMBERS, 1.0, n=PEOPLE, target=target)
        for target in ("mean", "quantiles", "ranges")
    },
    **LATER,
    "survey/20-questions": twenty,
}


def allowed(name: str, effort: Effort) -> tuple[float, str]:
    return (WHOLE if name.startswith("survey") else ONE), "allowed"


FIGURES = [
    Figure(f"proofs/{name}", "seconds of CPU", partial(seconds, make), partial(allowed, name), has_peers=False)
    for name, make in SUBJECTS.items()
]
