"""Three clients that claim epsilon 1: a correct one, one with a fixed seed, and one that does not memoize."""

import numpy as np

import deniable as dn

question = dn.Categories(["never", "sometimes", "often"])
draw = np.random.default_rng(1)

# What a correct client loses is found to within a few percent, and never exceeds its claim.
correct = dn.audit(dn.SubsetSelection(question, 1.0), trials=100_000)
print(f"correct: {correct.verdict}; at least {correct.epsilon:.2f} of 1")


# A client that was left with the seed of a test: everybody gets the same "random" report.
def seeded(answer: str) -> int:
    mechanism = dn.DirectResponse(question, 1.0)
    return int(mechanism.perturb([answer], dn.SeededCoins(7)).columns["value"][0])


found = dn.audit(seeded, question.labels, claimed=1.0, trials=2_000)
print(f"seeded: {found.verdict}")
print(f"        {found.event}: {found.pair[0]} against {found.pair[1]}")


# A client that should give each person the same report every day, and draws a new one instead.
def forgetful(person: int, answer: str) -> str:
    return answer if draw.random() < 0.576 - 0.212 else str(draw.choice(question.labels))


found = dn.audit(forgetful, question.labels, claimed=1.0, trials=2_000, repeats=10)
print(f"memory: {found.verdict}, for {found.unit}")

# Mixed with the reports of 1,000 others by somebody trusted, a report says less; liars are another matter.
mechanism = dn.SubsetSelection(question, 1.0)
print(f"shuffled: {dn.shuffled(mechanism, n=1_000, delta=1e-6)}")
print(f"liars: {dn.worst_gain(mechanism, m=10, n=1_000)}")
