"""Learn to distinguish three classes from one randomized report per person, and boosted trees from a trusted curator."""

import numpy as np

from deniable_learn import PrivateGBDTRegressor, PrivateMeansClassifier

random = np.random.default_rng(7)
kind = random.integers(0, 3, 4000)
features = random.normal(np.eye(6)[kind], 0.5)  # in a real study these never leave the devices
learnt, tested = slice(0, 3000), slice(3000, None)

for epsilon in (0.5, 2.0):
    learner = PrivateMeansClassifier(epsilon, classes=range(3), feature_range=(-2, 2), seed=1)
    learner.fit(features[learnt], kind[learnt])
    right = learner.score(features[tested], kind[tested])
    print(f"epsilon {epsilon:g}: {right:.0%} right; {learner.privacy_loss()}")

target = 3 * features[:, 0] + (features[:, 1] > 0)
for leaves in ("laplace", "bipartite", "sums"):
    trees = PrivateGBDTRegressor(2.0, (-2, 2), (-4, 8), leaves=leaves, trees=5, rate=0.5, seed=1)
    trees.fit(features[learnt], target[learnt])
    print(
        f"boosted trees, leaves by {leaves}: {trees.score(features[tested], target[tested]):+.2f} of the variance explained"
    )
print("whom to trust:", trees.privacy_loss().protects)
