"""The mean of a private number: plan, certify, collect, estimate."""

import numpy as np

import deniable as dn

# What everybody knows beforehand: the range, the budget. The range must not be read off the data.
salary = dn.Interval(0, 200_000, steps=1024)
mechanism = dn.plan(salary, epsilon=2.0, n=20_000, target="mean")
print(mechanism.explain().splitlines()[0])

certificate = dn.certify(mechanism)
print(f"certificate: {'holds' if certificate.holds else 'DOES NOT HOLD'}, {certificate.loss.proof}")

# On the devices. Real numbers are rounded to the grid by coins, so that the mean is not biased by it.
salaries = np.random.default_rng(1).lognormal(np.log(42_000), 0.4, 20_000).clip(0, 200_000)
reports = mechanism.perturb(salaries)
print(f"{len(reports):,} reports of {mechanism.layout.bits} bits")

# At the collector and the analyst.
estimate = mechanism.estimate(mechanism.tally(reports))
low, high = estimate.interval(0.95)
print(f"mean {estimate.values[0]:,.0f}, 95 % interval {low[0]:,.0f} to {high[0]:,.0f}; the truth is {salaries.mean():,.0f}")

# A whole vector is one answer too: a few of its coordinates are reported, and the rest stays at home.
vectors = dn.Features(dimensions=384, low=-0.3, high=0.3)
print(dn.plan(vectors, epsilon=4.0, n=500, target="mean").explain())
assert certificate.holds
