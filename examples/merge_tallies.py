"""Two collectors count on their own; their tallies travel as JSON, add up exactly, and refuse what does not belong."""

import tempfile
from pathlib import Path

import deniable as dn

question = dn.Categories(["walk", "bicycle", "bus", "car"])
mechanism = dn.Unary(question, epsilon=2.0)
coins = dn.SeededCoins(2026)  # an experiment that can be repeated; leave the coins out for people's answers

north = mechanism.perturb(["walk"] * 3_000 + ["bus"] * 2_000, coins)
south = mechanism.perturb(["car"] * 4_000 + ["bicycle"] * 1_000, coins)

with tempfile.TemporaryDirectory() as folder:
    files = [Path(folder) / "north.json", Path(folder) / "south.json"]
    for file, reports in zip(files, (north, south), strict=True):
        file.write_text(mechanism.tally(reports).to_json())
    tallies = [dn.Tally.from_json(file.read_text()) for file in files]

together = sum(tallies[1:], tallies[0])
print(f"{tallies[0].n:,} + {tallies[1].n:,} = {together.n:,} reports, counts {together.counts.tolist()}")
assert together == mechanism.tally(dn.concatenate([north, south]))

# The raw estimate is unbiased, the cleaned one has no negative shares and sums to one.
estimate = mechanism.estimate(together)
for label, raw, cleaned in zip(estimate.labels, estimate.values, dn.norm_sub(estimate).values, strict=True):
    print(f"{label:8} raw {raw:6.1%}   cleaned {cleaned:6.1%}")

# A tally of another question or budget has another fingerprint and cannot slip in.
stranger = dn.Unary(question, epsilon=1.0)
try:
    together + stranger.tally(stranger.perturb(["walk"]))
except dn.SurveyMismatch as refusal:
    print(f"refused: {refusal}")
