"""The figures of BitRand that differ in data only, a row each; every other figure has a file of its own."""

from functools import partial

from research.data.folder import Data
from research.papers.bitrand import attack, bits, claims, elastic, trained_picture, training
from research.papers.figure import ALL, Figure, Loaded, Pace, Result

FLIPS = {"fig4": ("epsilon 1", (1.0,)), "fig12": ("epsilon 0.1, 1 and 2", bits.EPSILONS)}
# what grows, what the others are, numbers of features, of bits, and budgets
GROWTH: dict[str, tuple[str, str, tuple[int, ...], tuple[int, ...], tuple[float, ...]]] = {
    "fig5": ("features", "10 bits, epsilon 1", (1, 10, 100, 1000, 10_000), (10,), (1.0,)),
    "fig6": ("bits", "1,000 features, epsilon 1", (1000,), (5, 10, 20, 100, 1000), (1.0,)),
    "fig13": ("features", "other bits and budgets", (1, 10, 100, 1000, 10_000), (5, 20, 100, 1000), (0.1, 1.0, 2.0)),
    "fig14": ("bits", "other features and budgets", (10, 100, 1000, 10_000), (5, 10, 20, 100, 1000), (0.1, 1.0, 2.0)),
}
# what is randomized, what is measured, seconds with --quick and minutes with --full
TRAINED = {
    "fig8": ("anonymized", "AUC %", 39, 8),
    "fig15": ("features", "accuracy %", 8, 2),
    "fig16": ("gradients", "accuracy %", 11, 2.5),
    "fig17": ("anonymized", "accuracy %", 39, 8),
    "fig18": ("labels", "accuracy %", 11, 2.5),
    "fig19": ("features", "AUC %", 8, 2),
    "fig20": ("gradients", "AUC %", 11, 2.5),
    "fig21": ("labels", "AUC %", 11, 2.5),
}


def flipped(epsilons: tuple[float, ...], quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """How often each bit is flipped: formulas of the paper at its alpha, with 1,000 features of 10 bits."""
    rows = bits.table(epsilons)
    return Result(bits.COLUMNS, rows, tuple(bits.flip_checks(rows, epsilons)), bits.NOTES)


def grown(name: str, quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Flips as features or bits grow: formulas of the paper at its alpha, and the loss of all bits together."""
    what, _, features, sizes, epsilons = GROWTH[name]
    rows = elastic.table(features, sizes, epsilons, what)
    by_features = what == "features"
    checks = elastic.feature_checks(rows, sizes, epsilons) if by_features else elastic.bit_checks(rows, epsilons)
    return Result(elastic.COLUMNS, rows, checks, ("no data needed",))


def trained(what: str, measure: str, quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """All lines of the paper and ours, in federated rounds, several times."""
    study = training.study(quick, seed, data, pace)
    return claims.on_labels(study, measure, pace) if what == "labels" else claims.on_inputs(study, what, measure, pace)


LIMIT = "3,000 people and 64 hidden units, where the paper has up to 120,000 and 1,500, and two of its four data sets"


def _figure(name: str, what: str, seconds: float, minutes: float = 0.1, limit: str = "", shares: str = "") -> Figure:
    return Figure(f"bitrand/{name}", "BitRand", what, seconds=seconds, minutes=minutes, limit=limit, shares=shares)


def _trained(name: str) -> Loaded:
    what, measure, seconds, minutes = TRAINED[name]
    shown = "area under the curve" if measure == "AUC %" else "accuracy"
    inputs = "gradients are randomized, with an anonymizer" if what == "anonymized" else f"{what} are randomized"
    run, plot = partial(trained, what, measure), partial(trained_picture.drawn, measure=measure)
    first = next(each for each, row in TRAINED.items() if row[0] == what)
    shares = "" if first == name else f"bitrand/{first}"
    return Loaded(_figure(name, f"{shown} where {inputs}", seconds, minutes, LIMIT, shares), run, plot)


def _grown(name: str) -> Loaded:
    what, others, *_, epsilons = GROWTH[name]
    figure = _figure(name, f"flip probabilities against the number of {what}, {others}", 0.1 * min(2, len(epsilons)))
    return Loaded(figure, partial(grown, name), partial(elastic.drawn, x=what))


def _flipped(name: str) -> Loaded:
    when, epsilons = FLIPS[name]
    plot = partial(bits.drawn, columns=("flip probability", "mean of the first bits"))
    return Loaded(_figure(name, f"flip probabilities of the bits at {when}", 0.1), partial(flipped, epsilons), plot)


ROWS = {name: make(name) for rows, make in ((FLIPS, _flipped), (GROWTH, _grown), (TRAINED, _trained)) for name in rows}
ROWS["attack"] = Loaded(attack.FIGURE, attack.run, attack.plot)  # an experiment of ours
