"""Follow every coin through the code: the exact law of a mechanism, and a planted bug that the certificate catches."""

import math
from collections.abc import Mapping
from typing import Any

import deniable as dn

# With real coins `perturb` is a device. With every coin it is the exact law of the code, as fractions.
question = dn.Categories(["yes", "no", "no answer"])
mechanism = dn.DirectResponse(question, epsilon=math.log(3))
for index, answer in enumerate(question.labels):
    law = dn.law(mechanism, index)
    shown = ", ".join(f"{question.labels[report[0]]} {chance}" for report, chance in law.items())
    print(f"{answer}: {shown}")
    assert sum(chance for _, chance in law.items()) == 1
print(dn.certify(mechanism).loss)


class Forgetful(dn.Unary):
    """Unary encoding whose author forgot to randomize the first bit. Its declared loss is the old one."""

    def randomize(self, truth: Any, coins: dn.Coins) -> Mapping[str, Any]:
        cells = super().randomize(truth, coins)["cells"]
        return {"cells": cells.with_bit(0, truth == 0)}


sound, broken = dn.Unary(question, epsilon=1.0), Forgetful(question, epsilon=1.0)
assert broken.loss() == sound.loss()  # what it says of itself has not changed ...
certificate = dn.certify(broken)
print(certificate)  # ... but the code no longer does what it says
assert dn.certify(sound).holds and not certificate.holds
assert math.isinf(certificate.loss.epsilon())
