"""People rate a few of many films; we learn how many rated each film and how well, without knowing anybody's ratings."""

import numpy as np

import deniable as dn

films = dn.KeyValue([f"film {number}" for number in range(200)], low=0.5, high=5.0, at_most=3)
mechanism = dn.plan(films, epsilon=2.0, n=200_000)
print(mechanism.explain().splitlines()[0])
print(f"a report takes {mechanism.layout.bits} bits; {mechanism.loss()}")

# Invented people: the later a film stands in the list, the fewer know it and the less they like it.
random = np.random.default_rng(2026)
people = [
    {
        f"film {film}": float(np.clip(random.normal(4 - film / 60, 1), 0.5, 5))
        for film in set(random.geometric(0.15, 3) - 1)
        if film < 200
    }
    for _ in range(50_000)
]

reports = mechanism.perturb(people, dn.SeededCoins(7))  # an experiment that can be repeated; leave the coins out for people
estimate = mechanism.estimate(mechanism.tally(reports))
low, high = estimate.frequency.interval(0.95)
for place in estimate.frequency.largest(5):
    print(f"{estimate.labels[place]:8} rated by {low[place]:6.1%} to {high[place]:6.1%} of all")

# A mean is given only where enough people have the key; elsewhere it would be a ratio of two noises.
mean = estimate.mean
print(f"{len(mean.labels)} of {len(estimate.labels)} films have a mean:")
low, high = mean.interval(0.95)
for label, value, first, last in list(zip(mean.labels, mean.values, low, high, strict=True))[:3]:
    print(f"{label:8} {value:.2f} stars ({first:.2f} to {last:.2f})")

# The whole set of a person is one answer: the law of a report hardly depends on it, whatever is in it.
small = dn.PCKVUnary(dn.KeyValue(["Alien", "Brazil"], 0.5, 5, at_most=2), epsilon=2.0)
print(f"exact loss over all sets of two films: epsilon {dn.certify(small).loss.epsilon():.6g}")
