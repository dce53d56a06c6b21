"""Fig. 9: what the paper says LATENT and OME cost, beside what they cost."""

from typing import TYPE_CHECKING

from deniable.mechanisms.bit_budgets import latent_published_epsilon, ome_published_epsilon
from deniable.papers import style
from deniable.papers.bitrand.theory import true_epsilon
from deniable.papers.data import Data
from deniable.papers.figure import ALL, Figure, Pace, Result, claimed, printed

if TYPE_CHECKING:
    from matplotlib import figure as pictures

FIGURE = Figure("bitrand/fig9", "BitRand", "corrected and true epsilon of LATENT and OME over epsilon", seconds=3)
COLUMNS = ("panel", "features", "bits", "mechanism", "paper's ratio", "true ratio")
EPSILON = 0.1
SIZES = {
    "10 bits": [(r, 10) for r in (10, 100, 1000, 10_000)],
    "1,000 features": [(1000, bits) for bits in (5, 10, 20, 100, 1000)],
}


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Theorems 5 and 6 as printed, and the exact loss of all bits together."""
    rows = []
    for panel, sizes in pace.over(list(SIZES.items())):
        for r, bits in sizes:
            for name, alpha in (("LATENT, alpha 7", 7.0), ("OME, alpha 100", 100.0), ("OME, alpha 1", 1.0), ("f-RR", 0.0)):
                if name == "f-RR":
                    stated = EPSILON
                elif name.startswith("LATENT"):
                    stated = latent_published_epsilon(r, bits, EPSILON, alpha)
                else:
                    stated = ome_published_epsilon(r, bits, EPSILON, alpha)
                cost = true_epsilon(name.partition(",")[0], r, bits, EPSILON, alpha)
                rows.append((panel, r, bits, name, stated / EPSILON, cost / EPSILON))
    table = Result(COLUMNS, rows, (claimed("", True, ""),))
    latent, ome, one = (
        table.numbers("paper's ratio", mechanism=name) for name in ("LATENT, alpha 7", "OME, alpha 100", "OME, alpha 1")
    )
    true = {name: table.numbers("true ratio", mechanism=name) for name in ("LATENT, alpha 7", "OME, alpha 1", "f-RR")}
    sign = "the printed formula is negative, and its smallest size is 4.6e5, at 10 features (erratum BitRand B3)"
    checks = (
        printed("smallest ratio of LATENT", "4.57", latent.min(), "of another formula"),
        printed(
            "largest ratio of LATENT",
            "4.75",
            latent.max(),
            "Theorem 5 never exceeds this for these sizes (erratum BitRand B7)",
        ),
        printed("smallest ratio of OME at alpha 100", "4.6e6", ome.max(), sign),
        printed("largest ratio of OME at alpha 100", "4.6e9", ome.min(), sign),
        printed("ratio of OME at alpha 1", "2", float(one.mean()), "of another formula"),
        claimed(
            "LATENT costs more than its budget",
            true["LATENT, alpha 7"].min() > 1,
            f"it costs {true['LATENT, alpha 7'].mean():.3g} of it: the "
            "correction has the wrong direction (erratum BitRand B3)",
        ),
        claimed(
            "the ratio of BitRand is 1",
            true["f-RR"].max() <= 1,
            f"it is from {true['f-RR'].min():.0f} to {true['f-RR'].max():.2g} (erratum BitRand B1)",
        ),
    )
    return Result(COLUMNS, rows, checks, (f"epsilon {EPSILON:g}; no data needed",))


def plot(result: Result) -> "pictures.Figure":
    """True ratios; those of the paper are in the table."""
    figure, axes = style.blank(1, 2)
    for chart, (panel, x) in zip(axes, (("10 bits", "features"), ("1,000 features", "bits")), strict=True):
        for number, name in enumerate(style.distinct(result.column("mechanism"))):
            look = {"color": style.COLOURS[number], "marker": style.MARKERS[number], "label": f"{name}: true"}
            chart.plot(
                result.numbers(x, panel=panel, mechanism=name),
                result.numbers("true ratio", panel=panel, mechanism=name),
                **look,
            )
            if name in ("LATENT, alpha 7", "OME, alpha 1"):
                stated = result.numbers("paper's ratio", panel=panel, mechanism=name)
                chart.plot(
                    result.numbers(x, panel=panel, mechanism=name),
                    stated,
                    "--",
                    color=style.COLOURS[number],
                    label=f"{name}: paper",
                )
        chart.set(xscale="log", yscale="log", xlabel=x, ylabel="true epsilon / epsilon", title=panel)
    style.legend(figure, axes[0], 6)
    return figure
