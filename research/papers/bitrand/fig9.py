"""Fig. 9: what the paper says LATENT and OME cost, beside what they cost."""

from research.data.folder import Data
from research.papers import style
from research.papers.bitrand.theory import claimed_epsilon, true_epsilon
from research.papers.figure import ABOUT, ALL, Figure, Pace, Result, near, printed, theory

FIGURE = Figure("bitrand/fig9", "BitRand", "corrected and true epsilon of LATENT and OME over epsilon", seconds=0.1)
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
                kind = name.partition(",")[0]
                stated = EPSILON if kind == "f-RR" else claimed_epsilon(kind, r, bits, EPSILON, alpha)
                cost = true_epsilon(kind, r, bits, EPSILON, alpha)
                rows.append((panel, r, bits, name, stated / EPSILON, cost / EPSILON))
    table = Result(COLUMNS, rows)
    latent, ome, one = (
        table.numbers("paper's ratio", mechanism=name) for name in ("LATENT, alpha 7", "OME, alpha 100", "OME, alpha 1")
    )
    true = {name: table.numbers("true ratio", mechanism=name) for name in ("LATENT, alpha 7", "OME, alpha 1", "f-RR")}
    same = [claimed_epsilon("f-RR", r, bits, EPSILON) / EPSILON for sizes in SIZES.values() for r, bits in sizes]
    sign = (
        f"the formula of Theorem 6 is negative, from {ome.max():.2g} to {ome.min():.2g} for these sizes (erratum BitRand B3)"
    )
    checks = (
        printed("smallest ratio of LATENT by Theorem 5", "4.57", latent.min(), "the formula gives another number"),
        printed(
            "largest ratio of LATENT by Theorem 5",
            "4.75",
            latent.max(),
            "that is the largest for the sizes that are shown (erratum BitRand B7)",
        ),
        printed("smallest ratio of OME at alpha 100", "4.6e6", ome.max(), sign),
        printed("largest ratio of OME at alpha 100", "4.6e9", ome.min(), sign),
        near("ratio of OME at alpha 1 by Theorem 6", "2", float(one.mean()), "the formula gives another number"),
        theory(
            "LATENT costs more than its budget",
            true["LATENT, alpha 7"].min() > 1,
            f"it costs {true['LATENT, alpha 7'].mean():.3g} of it: the "
            "correction has the wrong direction (erratum BitRand B3)",
        ),
        theory(
            "OME at alpha 1 costs about twice its budget",
            abs(true["OME, alpha 1"].mean() - 2) <= 2 * ABOUT,
            f"it costs {true['OME, alpha 1'].mean():.3g} of it (erratum BitRand B3)",
        ),
        theory(
            "the ratio of BitRand is 1",
            true["f-RR"].max() <= 1,
            f"it is from {true['f-RR'].min():.0f} to {true['f-RR'].max():.2g}; and by the method of Theorems 5 and 6 it "
            f"would be from {min(same):.2g} to {max(same):.2g} (erratum BitRand B1)",
        ),
    )
    return Result(COLUMNS, rows, checks, (f"epsilon {EPSILON:g}; no data needed",))


def plot(result: Result) -> "style.Picture":
    """True ratios; those of the paper are in the table."""
    figure, axes = style.blank(1, 2)
    for chart, (panel, x) in zip(axes, (("10 bits", "features"), ("1,000 features", "bits")), strict=True):
        for number, name in enumerate(style.distinct(result.column("mechanism"))):
            look = style.look(number, f"{name}: true")
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
    style.legend(figure)
    return figure
