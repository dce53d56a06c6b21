"""The figures of compressed response that differ in data only, a row each; every other figure has a file of its own."""

from functools import partial

import numpy as np

from research.data.folder import Data
from research.data.lists import SITES, friends, rated, variants
from research.papers.compressed import drawing, messages, sweep
from research.papers.compressed.about import LOCATIONS
from research.papers.figure import ALL, Check, Figure, Loaded, Pace, Result, trend

# what people have, the seconds with --quick and minutes with --full; people whose messages are made, and by the published
# encoder too: with --quick and with --full
SIZES = {
    "fig1": ("ratings", 6, 0.3, (150, 1000), (30, 100)),
    "fig5": ("variants", 4, 1, (40, 1000), (5, 20)),
    "fig9": ("friends", 5, 0.3, (150, 1000), (30, 100)),
}
# what is measured against what, and how long it takes
SWEEPS: dict[str, tuple[str, sweep.Setting, float, float]] = {
    "fig2": ("bits", "epsilon", 6, 0.4),
    "fig3": ("time", "epsilon", 14, 0.5),
    "fig7": ("bits", "beta", 3, 0.5),
    "fig8": ("time", "beta", 9, 0.3),
}


def sized(name: str, quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Messages of some people, at epsilon 1 for one differing coordinate."""
    what, _, _, people, heaps = SIZES[name]
    count, few = pace.times(quick, *people), pace.times(quick, *heaps)
    if what == "variants":
        return messages.size_result(variants(data, seed, count), count, seed, pace, few, variant_checks)
    held, own = (rated(data, seed), messages.slope_checks) if what == "ratings" else (friends(data, seed), None)
    return messages.size_result(held, count, seed, pace, few, own)


def variant_checks(cost: messages.Cost) -> list[Check]:
    """How many variants there are, and how much the cost varies."""
    away = float(np.abs(cost.bits / cost.bits.mean() - 1).max())
    low, high = int(cost.differing.min()), int(cost.differing.max())
    kept = SITES / LOCATIONS
    return [
        trend("over 83 % of the locations are kept", kept > 0.83, f"it is {kept:.4f} of them"),
        trend("people have 800 to 1,100 variants", low >= 800 and high <= 1100, f"they have {low} to {high}", sure=False),
        trend(
            "every cost is within 10 % of the mean",
            away <= 0.1,
            f"one of {len(cost.bits)} is {away:.1%} away: by the exact law of the labels and the numbers of variants here, "
            f"{messages.beyond(cost.differing, 0.1):.2%} of people are more than 10 % away",
        ),
    ]


def _figure(name: str, what: str, seconds: float, minutes: float) -> Figure:
    return Figure(f"compressed/{name}", "Compressed RR", what, seconds=seconds, minutes=minutes)


def _swept(name: str) -> Loaded:
    what, setting, seconds, minutes = SWEEPS[name]
    made = sweep.bits_result if what == "bits" else sweep.times_result
    plot = partial(drawing.by_setting, setting=setting, column="bits" if what == "bits" else "milliseconds")
    return Loaded(_figure(name, f"{what} of a message against {setting}", seconds, minutes), partial(made, setting), plot)


ROWS = {
    name: Loaded(
        _figure(name, f"bits and time of a message against the number of {what}", seconds, minutes),
        partial(sized, name),
        drawing.by_size,
    )
    for name, (what, seconds, minutes, *_) in SIZES.items()
} | {name: _swept(name) for name in SWEEPS}
