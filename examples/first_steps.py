"""One question from the first answer to the published shares: randomize, count, estimate, certify."""

import deniable as dn

# The question. Everybody who takes part, and the server, knows these answers and this budget.
city = dn.Categories(["Lyon", "Paris", "Nice", "Lille"])
mechanism = dn.SubsetSelection(city, epsilon=1.0)

# On the devices. Each would randomize one answer; a batch stands for many devices here. The coins are secure by default.
answers = ["Lyon"] * 20_000 + ["Paris"] * 15_000 + ["Nice"] * 10_000 + ["Lille"] * 5_000
reports = mechanism.perturb(answers)
message = mechanism.pack(reports)
print(f"{len(reports):,} reports of {mechanism.layout.bits} bits, {len(message):,} bytes with their header")

# At the collector. It only counts, and keeps nothing but the tally.
tally = mechanism.tally(mechanism.unpack(message))

# At the analyst's. The estimate is unbiased and has error bars.
estimate = mechanism.estimate(tally)
low, high = estimate.interval(0.95)
for label, value, start, stop in zip(estimate.labels, estimate.values, low, high, strict=True):
    print(f"{label:6} {value:6.1%}   95 % interval {start:6.1%} to {stop:6.1%}")

# For everybody: what the code that ran can give away, worked out exactly.
certificate = dn.certify(mechanism)
print(certificate)
assert certificate.holds
