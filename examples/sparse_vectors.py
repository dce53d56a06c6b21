"""What people own, out of a million things: a few bits each, and the most popular ones still stand out."""

import numpy as np

import deniable as dn

things = dn.SparseVector(1_000_000)
mechanism = dn.Compressed(things, epsilon=6.0)  # for one thing more or less in a list, the length of the list hidden too
coins = dn.SeededCoins(2026)  # an experiment that can be repeated; leave the coins out for people's answers

random = np.random.default_rng(1)
people = [[123_456, *random.choice(1_000_000, 20, replace=False).tolist()] for _ in range(60)]
people += [random.choice(1_000_000, 20, replace=False).tolist() for _ in range(40)]

reports = mechanism.perturb(people, coins, names=[f"person {number}, report 1" for number in range(100)])
bits = mechanism.bits(reports)
print(f"{bits.mean():.0f} bits for a list of about 20 things out of 1,000,000")

# One thing can be looked up without decoding the rest: 60 of these 100 people own it.
said = mechanism.value(reports, 123_456)
share = mechanism.coordinate.indicator(said, 1).mean()
error = (mechanism.coordinate.noise / len(people)) ** 0.5
print(f"owners of thing 123456: {share:.0%}, standard error {error:.0%}")

# Whole vectors and lists of ones say the same.
assert mechanism.ones(reports[:1])[0].size == mechanism.vector(reports[:1]).sum()

# The number of chunks follows from a noisy count; the published protocol discloses the exact one, so no epsilon holds.
print(f"ours: {mechanism.loss()}")
print(f"published: {dn.Compressed.as_published(things, epsilon=6.0).loss()}")
