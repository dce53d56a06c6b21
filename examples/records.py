"""Several answers of one person: how to report them, and the true loss of a published mechanism."""

import deniable as dn

person = dn.Vectors([dn.Categories(["Lyon", "Nice", "Lille"]), dn.Categories(["yes", "no"])])
mechanism = dn.plan(person, epsilon=1.0, n=10_000)
print(mechanism.explain())

records = [("Lyon", "yes")] * 4000 + [("Nice", "no")] * 6000
estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(records)))
for label, value, error in zip(estimate.labels, estimate.values, estimate.standard_error, strict=True):
    print(label, f"{value:.3f} +- {1.96 * error:.3f}")

published = dn.FakeAttributes.as_published(person, epsilon=1.0)
certificate = dn.certify(published)
assert not certificate.holds
print("RS+FD as published, claimed 1:", certificate.loss)
print("for records that differ in one answer:", published.attribute_loss())
