"""Fig. 9: how well the thirty most frequent answers are found."""

from functools import partial

from deniable.arrays import Floats
from deniable.metrics import top_f1, top_ndcg
from research.data.folder import Data
from research.papers import style
from research.papers.figure import ALL, Check, Figure, Pace, Result, near, ranking, set_up
from research.papers.uldp.mechanisms import FEWER_MANY, LEAN, MANY, PUBLISHED
from research.papers.uldp.metrics import average, judged

FIGURE = Figure("uldp/fig9", "ULDP", "F1 and NDCG of the 30 most frequent answers", seconds=5, minutes=2, limit=FEWER_MANY)
COLUMNS = ("data", "epsilon", "mechanism", "F1", "F1 error", "NDCG", "NDCG error")
TOP, SETS = 30, ("Foursquare", "Census", "Normal")


def f1(truth: Floats, values: Floats) -> float:
    """The share of the top answers that is found."""
    return top_f1(truth, values, TOP)


def ndcg(truth: Floats, values: Floats) -> float:
    """How well they are ranked."""
    return top_ndcg(truth, values, TOP)


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """The collections of Fig. 4, judged by rank; the ten answers of Drug have no top thirty."""
    rows, notes = judged(quick, seed, data, pace, {"F1": f1, "NDCG": ndcg}, SETS, MANY)
    table = Result(COLUMNS, rows)
    checks = list[Check]()
    for metric in ("F1", "NDCG"):
        means = {name: average(table, metric, f"{metric} error", name) for name in PUBLISHED}
        order = sorted(means, key=lambda name: means[name][0])
        low, high = (next(name for name in names if name != "uRR") for names in (order, reversed(order)))
        (least, error), (most, other) = means[low], means[high]
        ratio = least / most
        chance = ratio * ((error / least) ** 2 + (other / most) ** 2) ** 0.5
        checks += [
            ranking(
                f"uRR has the lowest {metric} on average",
                order[0] == "uRR",
                f"{order[0]} has {means[order[0]][0]:.3f}, and uRR {means['uRR'][0]:.3f}",
            ),
            near(
                f"{metric} of {low} over that of {high}, the lowest and the highest of the other five",
                "1",
                ratio,
                f"the errors of {low} are larger",
                chance,
                sure=False,
            ),
        ]
    return Result(COLUMNS, rows, tuple(checks), (*notes, LEAN), setup=set_up(notes, other=True, smaller=True))


plot = partial(style.panels, x="epsilon", y="F1", by="mechanism", panel="data", error="F1 error")
