"""Ask the same people every day; their devices store a permanent answer, so that the losses do not add up."""

import tempfile
from pathlib import Path

import deniable as dn

question = dn.Categories(["well", "a cold", "something worse"])
mechanism = dn.plan_repeated(question, epsilon=2.0, once=1.0, n=300)
print(mechanism.explain().splitlines()[0])
print("one report:       ", mechanism.loss())
print("all reports ever: ", mechanism.lifetime_loss())
assert dn.certify(mechanism).holds and dn.certify_ever(mechanism).holds

with tempfile.TemporaryDirectory() as folder:
    people = [dn.Memory(mechanism, Path(folder) / f"{person}.memory") for person in range(30)]
    for day in range(3):
        reports = dn.concatenate([memory.report("well" if person % 3 else "a cold") for person, memory in enumerate(people)])
        estimate = mechanism.estimate(mechanism.tally(reports))
        print(f"day {day}: {estimate.values.round(2)} from {estimate.n} people")
    print("the first person has spent:", people[0].loss())

    people[0].report("something worse")  # a new value is kept anew, and costs as much again
    print("and after a change:        ", people[0].loss())
    print("that it changed may show:  ", mechanism.stream_loss(4))
