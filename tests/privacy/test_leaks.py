"""Leaks planted in laws: each is refused, gets its true loss, or never runs, because only the traced law does."""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import cells, encoded, lookup
from deniable.core.mechanism import Mechanism

Randomize = Callable[[Any, Any, Any], Any]
HALF, RARE = Fraction(1, 2), Fraction(1, 1000)
GENERATOR = np.random.default_rng(1)


def words(size: int) -> dn.Categories:
    return dn.Categories(range(size))


def leaky(family: Any, randomize: Randomize, *arguments: Any) -> Mechanism:
    """A mechanism of a class below this family, with another `randomize`."""
    made: Mechanism = type(f"Leaky{family.__name__}", (family,), {"randomize": randomize})(*arguments)
    return made


def direct(randomize: Randomize, size: int = 10) -> Mechanism:
    return leaky(dn.DirectResponse, randomize, words(size), 1.0)


def unary(randomize: Randomize, size: int = 20) -> Mechanism:
    return leaky(dn.Unary, randomize, words(size), 1.0)


def own(self: Any, truth: Any, coins: Any, field: str = "value") -> Any:
    """The honest report."""
    return super(type(self), self).randomize(truth, coins)[field]


def secrets(randomize: Randomize, base: Any = dn.DirectResponse) -> Mechanism:
    """A question of nine answers of which five are sensitive."""
    return leaky(dn.UtilityOptimized, randomize, base, words(9), list(range(5)), 1.0)


def _either(self: Any, truth: Any, own: Any, blank: Any) -> Any:
    return {name: np.where(lookup(self.secret, truth), own[name], blank[name]) for name in own}


def first_call(self: Any, truth: Any, coins: Any) -> Any:
    value = own(self, truth, coins)
    if "used" not in self.__dict__:
        object.__setattr__(self, "used", True)
        return {"value": truth}
    return {"value": value}


def previous(self: Any, truth: Any, coins: Any) -> Any:
    value, last = own(self, truth, coins), KEPT.get("last", truth)
    KEPT["last"] = truth
    return {"value": np.where(coins.toss(RARE, len(truth)), last, value)}


def sometimes_more(self: Any, truth: Any, coins: Any) -> Any:
    value = own(self, truth, coins)
    if (truth == 3).any():
        coins.below(2, len(truth))
    return {"value": value}


KEPT: dict[str, Any] = {}
CALLS: list[int] = []
N = 10
# A leak each, in one line: what it does, and a mechanism that does it.
SEEN: dict[str, Callable[[], Mechanism]] = {
    "the truth": lambda: direct(lambda s, t, c: {"value": t}),
    "batch of one": lambda: direct(lambda s, t, c: {"value": t if len(t) == 1 else own(s, t, c)}),
    "batch of three": lambda: direct(lambda s, t, c: {"value": t if len(t) == 3 else own(s, t, c)}),
    "row 0": lambda: direct(lambda s, t, c: {"value": np.where(np.arange(len(t)) == 0, t, own(s, t, c))}),
    "rows unlike row 0": lambda: direct(lambda s, t, c: {"value": np.where(t == t[0], own(s, t, c), t)}),
    "first call of the object": lambda: direct(first_call),
    "the previous answer": lambda: direct(previous),
    "from a date on": lambda: direct(lambda s, t, c: {"value": t if time.time() > 1e9 else own(s, t, c)}),
    "clock in the report": lambda: direct(lambda s, t, c: {"value": (own(s, t, c) + time.time_ns()) % N}),
    "numpy draws": lambda: direct(lambda s, t, c: {"value": (t + GENERATOR.integers(N)) % N}),
    "numpy draws for each": lambda: direct(lambda s, t, c: {"value": (t + GENERATOR.integers(N, size=len(t))) % N}),
    "numpy random mask": lambda: direct(
        lambda s, t, c: {"value": np.where(GENERATOR.random(len(t)) < 0.5, t, own(s, t, c))}
    ),
    "identity of objects": lambda: direct(lambda s, t, c: {"value": (own(s, t, c) + id(s)) % N}),
    "branch on the answer": lambda: direct(lambda s, t, c: {"value": t if (t == 3).any() else own(s, t, c)}),
    "branch by bool": lambda: direct(lambda s, t, c: {"value": t if t == 3 else own(s, t, c)}),
    "branch on a coin": lambda: direct(lambda s, t, c: {"value": t if c.toss(HALF, len(t)) else own(s, t, c)}),
    "more coins for one answer": lambda: direct(sometimes_more),
    "one coin for all": lambda: direct(lambda s, t, c: {"value": np.where(c.toss(HALF, 1), t, own(s, t, c))}),
    "rare truth": lambda: direct(lambda s, t, c: {"value": np.where(c.toss(RARE, len(t)), t, own(s, t, c))}),
    "rarer truth": lambda: direct(lambda s, t, c: {"value": np.where(c.toss(Fraction(1, 10**12), len(t)), t, own(s, t, c))}),
    "thrown-away coin decides": lambda: direct(
        lambda s, t, c: {"value": np.where(c.below(1000, len(t)) == 0, t, own(s, t, c))}
    ),
    "one value of 9,000": lambda: direct(lambda s, t, c: {"value": np.where(t == 777, t, own(s, t, c))}, 9000),
    "one value of 100,000": lambda: direct(lambda s, t, c: {"value": np.where(t == 777, t, own(s, t, c))}, 100_000),
    "two values alike": lambda: direct(lambda s, t, c: {"value": np.where(t == 3, 4, own(s, t, c))}),
    "one lie never told": lambda: direct(lambda s, t, c: {"value": np.where(own(s, t, c) == (t + 1) % N, t, own(s, t, c))}),
    "odds doubled": lambda: direct(lambda s, t, c: {"value": (c.split(s.p * 2, 1, N - 1, len(t)) + t) % N}),
    "p a little too high": lambda: direct(
        lambda s, t, c: {"value": (c.split(s.p + Fraction(1, 10**9), 1, N - 1, len(t)) + t) % N}
    ),
    "draw reused": lambda: direct(lambda s, t, c: (lambda w: {"value": (w + w + t) % N})(c.split(s.p, 1, N - 1, len(t)))),
    "noise times two": lambda: direct(lambda s, t, c: {"value": (2 * c.split(s.p, 1, N - 1, len(t)) + t) % N}),
    "noise of too small a range": lambda: direct(lambda s, t, c: {"value": (c.below(N - 1, len(t)) + t) % N}),
    "wrong modulus": lambda: direct(lambda s, t, c: {"value": (c.below(5, len(t)) + t) % (N - 1)}),
    "forgotten modulus": lambda: direct(lambda s, t, c: {"value": np.minimum(own(s, t, c) + t, N - 1)}),
    "noise times the answer": lambda: direct(lambda s, t, c: {"value": (c.below(N, len(t)) * t + t) % N}),
    "noise chosen by the answer": lambda: direct(
        lambda s, t, c: {"value": (np.where(t < 5, c.below(2, len(t)), c.split(s.p, 1, N - 1, len(t))) + t) % N}
    ),
    "truth by table": lambda: direct(
        lambda s, t, c: {"value": np.where(lookup(np.array([0] * 9 + [1]), t) == 1, t, own(s, t, c))}
    ),
    "table that is no permutation": lambda: direct(
        lambda s, t, c: {"value": lookup(np.array([*range(9), 8] * 9 + [0] * 10), t * N + c.below(N, len(t)))}
    ),
    "parity of the answer": lambda: direct(lambda s, t, c: {"value": (own(s, t, c) // 2 * 2 + t % 2) % N}),
    "high bit of the answer": lambda: direct(lambda s, t, c: {"value": np.where(t >= 5, 9, own(s, t, c))}),
    "difference of the answer": lambda: direct(lambda s, t, c: {"value": abs(own(s, t, c) - t)}),
    "product with the answer": lambda: direct(lambda s, t, c: {"value": own(s, t, c) * (t > 0)}),
    "public draw as noise": lambda: direct(lambda s, t, c: {"value": (c.public(N, len(t)) + t) % N}),
    "heads from the answer": lambda: direct(lambda s, t, c: {"value": np.where(c.toss_each(t, 9), 9, own(s, t, c))}),
    "weights from the answer": lambda: direct(lambda s, t, c: {"value": (c.pick([1] * (N - 1) + [50], len(t)) + 3 * t) % N}),
    "float noise": lambda: direct(lambda s, t, c: {"value": t + 0.5}),
    "a fixed lie": lambda: direct(lambda s, t, c: {"value": np.where(c.toss(s.p, len(t)), t, 0)}),
    "a lie near the truth": lambda: direct(lambda s, t, c: {"value": (t + c.split(s.p, 1, 2, len(t))) % N}),
    "two reports in one": lambda: direct(lambda s, t, c: {"value": np.where(own(s, t, c) == own(s, t, c), t, own(s, t, c))}),
    "a set field": lambda: unary(lambda s, t, c: {"cells": own(s, t, c, "cells").with_bit(t, np.ones(len(t), np.bool_))}),
    "majority of three coins": lambda: unary(
        lambda s, t, c: {
            "cells": own(s, t, c, "cells").with_bit(
                t, 1 * c.toss(3 * HALF / 2, len(t)) + c.toss(3 * HALF / 2, len(t)) + c.toss(3 * HALF / 2, len(t)) >= 2
            )
        }
    ),
    "bare bit": lambda: unary(lambda s, t, c: {"cells": own(s, t, c, "cells").with_bit(19, t == 19)}),
    "one bit or'ed": lambda: unary(
        lambda s, t, c: (lambda row: {"cells": row.with_bit(7, row.bit(7) | (t == 7))})(own(s, t, c, "cells"))
    ),
    "mixed pattern of coins": lambda: unary(
        lambda s, t, c: (lambda row: {"cells": row.with_bit(t, row.bit(t) | (row.bit(0) & row.bit(1) & ~row.bit(2)))})(
            own(s, t, c, "cells")
        )
    ),
    "row told when empty": lambda: unary(
        lambda s, t, c: (lambda row: {"cells": row.with_bit(t, row.bit(t) | (row.bit(3) == row.bit(4)))})(
            own(s, t, c, "cells")
        )
    ),
    "noise too short": lambda: unary(
        lambda s, t, c: {"cells": c.toss_packed(s.q, len(t), 19).widened(20).with_bit(t, c.toss(s.p, len(t)))}
    ),
    "rows turned by the answer": lambda: unary(lambda s, t, c: {"cells": own(s, t, c, "cells").turned(t == 3)}),
    "row chosen by the answer": lambda: unary(
        lambda s, t, c: {"cells": np.where(t == 3, c.toss_packed(HALF, len(t), 20), own(s, t, c, "cells"))}
    ),
    "true bit of wide rows": lambda: unary(
        lambda s, t, c: {"cells": own(s, t, c, "cells").with_bit(t, c.toss(s.p + Fraction(1, 10**6), len(t)))}, 700
    ),
    "one value of a wide row": lambda: unary(
        lambda s, t, c: {"cells": own(s, t, c, "cells").with_bit(t, c.toss(s.p, len(t)) | (t == 699))}, 700
    ),
    "padding bits": lambda: unary(
        lambda s, t, c: {"cells": c.toss_packed(s.q, len(t), 24).with_bit(t, c.toss(s.p, len(t))).with_bit(20, t == 1)}
    ),
    "exchange of the wrong cell": lambda: leaky(
        dn.SubsetSelection,
        lambda s, t, c: (
            lambda honest: {"cells": c.subset(39, s.size, one_less=honest).widened(40).with_bit(38, honest).exchanged(t, 39)}
        )(c.toss(s.p, len(t))),
        words(40),
        1.0,
    ),
    "subset that knows the answer": lambda: leaky(
        dn.SubsetSelection,
        lambda s, t, c: {"cells": own(s, t, c, "cells").with_bit(9, t == 3)},
        words(40),
        1.0,
    ),
    "subset without a stand-in": lambda: leaky(
        dn.SubsetSelection,
        lambda s, t, c: (lambda honest: {"cells": c.subset(39, s.size, one_less=honest).widened(40).with_bit(t, honest)})(
            c.toss(s.p, len(t))
        ),
        words(40),
        1.0,
    ),
    "one value of a hash": lambda: leaky(
        dn.LocalHashing,
        lambda s, t, c: (lambda r: {**r, "bucket": np.where(t == 17, t % s.buckets, r["bucket"])})(
            super(type(s), s).randomize(t, c)
        ),
        words(1000),
        1.0,
    ),
    "one seed of 64": lambda: leaky(
        dn.LocalHashing,
        lambda s, t, c: (lambda r: {**r, "bucket": np.where(r["a"] % 64 == 0, t % s.buckets, r["bucket"])})(
            super(type(s), s).randomize(t, c)
        ),
        words(1000),
        1.0,
    ),
    "seed from the answer": lambda: leaky(
        dn.LocalHashing,
        lambda s, t, c: (lambda r: {**r, "a": (r["a"] + t) % (s.prime - 1)})(super(type(s), s).randomize(t, c)),
        words(1000),
        1.0,
    ),
    "one value of a wheel": lambda: leaky(
        dn.Wheel,
        lambda s, t, c: (lambda r: {**r, "place": np.where(t == 5, 5, r["place"])})(super(type(s), s).randomize(t, c)),
        words(200),
        1.0,
    ),
    "one value of a design": lambda: leaky(
        dn.BlockDesign,
        lambda s, t, c: {"point": np.where(t == 5, 5, own(s, t, c, "point"))},
        words(20_000),
        1.0,
    ),
    "agreement ignores its tosses": lambda: leaky(
        dn.DuchiVector,
        lambda s, t, c: {"signs": s.rounded(t, c) ^ c.majority(41, len(t))},
        dn.Features(41, -1, 1, 8),
        1.0,
    ),
    "signs of the vector": lambda: leaky(
        dn.DuchiVector, lambda s, t, c: {"signs": s.rounded(t, c)}, dn.Features(41, -1, 1, 8), 1.0
    ),
    "vectors off an axis": lambda: leaky(
        dn.UnitCodes,
        lambda s, t, c: (
            lambda r: {**r, "code0": np.where(encoded(t, _off, "off", 2) == 1, encoded(t, _first, "c", 128), r["code0"])}
        )(super(type(s), s).randomize(t, c)),
        *(dn.UnitVectors(4), 1.0),
    ),
    "directions that are not all different": lambda: leaky(
        dn.UnitAxes,
        lambda s, t, c: {
            **super(type(s), s).randomize(t, c),
            "code0": encoded(t, s.order, "order", 256, c.public(1 << 48, len(t)), width=256)[:, c.below(256, len(t))],
        },
        *(dn.UnitVectors(4), 1.0),
    ),
    "an order that knows the choice": lambda: leaky(
        dn.UnitCodes,
        lambda s, t, c: (
            lambda choice: {
                **super(type(s), s).randomize(t, c),
                "code0": encoded(t, s.order, "order", 128, choice, width=128, distinct=True)[:, choice],
            }
        )(c.split(HALF, s.near, 128 - s.near, len(t))),
        *(dn.UnitVectors(4), 1.0),
    ),
    "vector in clear": lambda: leaky(
        dn.Compressed, lambda s, t, c: super(type(s), s).randomize(t, c), dn.SparseVector(100), 1.0
    ),
    "a perturb of its own": lambda: type(
        "Own", (dn.DirectResponse,), {"perturb": lambda s, values, coins=None: dn.DirectResponse.perturb(s, values, coins)}
    )(words(5), 1.0),
    "set of two pairs": lambda: leaky(
        dn.PCKVUnary,
        lambda s, t, c: (lambda r: {**r, "high": r["high"].with_bit(0, encoded(t, _largest, "size", 3) == 2)})(
            super(type(s), s).randomize(t, c)
        ),
        dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2),
        1.0,
    ),
    "one record": lambda: leaky(
        dn.EveryAttribute,
        lambda s, t, c: {**super(type(s), s).randomize(t, c), "1.value": t[:, 1]},
        *(lambda made: (made.domain, 1.0, made.parts))(dn.EveryAttribute.of(dn.Vectors([words(3), words(3)]), 1.0)),
    ),
    "rare pair of a record": lambda: leaky(
        dn.EveryAttribute,
        lambda s, t, c: (lambda r: {**r, "1.value": np.where(t[:, 0] + t[:, 1] == 0, t[:, 1], r["1.value"])})(
            super(type(s), s).randomize(t, c)
        ),
        *(lambda made: (made.domain, 1.0, made.parts))(dn.EveryAttribute.of(dn.Vectors([words(3), words(3)]), 1.0)),
    ),
    "fakes that are true": lambda: leaky(
        dn.FakeAttributes,
        lambda s, t, c: (lambda r: {**r, "0.value": t[:, 0]})(super(type(s), s).randomize(t, c)),
        *(lambda made: (made.domain, 1.0, made.parts))(dn.FakeAttributes.of(dn.Vectors([words(3), words(3)]), 1.0)),
    ),
    "one bit of a number twice": lambda: leaky(
        dn.BitRand,
        lambda s, t, c: (lambda r: {**r, "bit0": r["bit0"] ^ r["bit0"] ^ cells(t, 2)})(super(type(s), s).randomize(t, c)),
        *(lambda m: (m.domain, m.epsilon, m.ones, m.zeros))(dn.BitRand.water_filled(2, 3, 3.0)),
    ),
    "open answers never hidden": lambda: secrets(
        lambda s, t, c: s.layout.join(lookup(s._open_number, t), s.base.randomize(lookup(s._place, t), c))
    ),
    "open answers hidden too rarely": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(s._open_number, t) * ~c.toss(s.mask.hidden - RARE, len(t)),
            _either(s, t, s.base.randomize(lookup(s._place, t), c), s.base.blank(len(t), c)),
        )
    ),
    "a sensitive answer disclosed": lambda: secrets(
        lambda s, t, c: s.layout.join(
            np.where(c.toss(RARE, len(t)), lookup(np.minimum(np.arange(9), 3), t), lookup(s._open_number, t))
            * ~c.toss(s.mask.hidden, len(t)),
            s.base.randomize(lookup(s._place, t), c),
        )
    ),
    "another answer disclosed": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(np.minimum(s._open_number, 2), t) * ~c.toss(s.mask.hidden, len(t)),
            _either(s, t, s.base.randomize(lookup(s._place, t), c), s.base.blank(len(t), c)),
        )
    ),
    "open answers hide behind one report": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(s._open_number, t) * ~c.toss(s.mask.hidden, len(t)),
            _either(s, t, s.base.randomize(lookup(s._place, t), c), {"value": np.zeros(len(t), np.int64)}),
        )
    ),
    "hash functions of open answers": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(s._open_number, t) * ~c.toss(s.mask.hidden, len(t)),
            _either(s, t, s.base.randomize(lookup(s._place, t), c), {**s.base.blank(len(t), c), "a": 0 * t}),
        ),
        dn.LocalHashing,
    ),
    "rows of open answers": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(s._open_number, t) * ~c.toss(s.mask.hidden, len(t)),
            _either(s, t, s.base.randomize(lookup(s._place, t), c), {"cells": c.toss_packed(HALF, len(t), 5)}),
        ),
        dn.Unary,
    ),
}
# Leaks in code that runs only where nobody looks: the law has no such thing, and only the law runs.
HARMLESS: dict[str, Callable[[], Mechanism]] = {
    "only with secure coins": lambda: direct(
        lambda s, t, c: {"value": t if isinstance(c, dn.SecureCoins) else own(s, t, c)}
    ),
    "only with arrays": lambda: direct(lambda s, t, c: {"value": t if isinstance(t, np.ndarray) else own(s, t, c)}),
    "only in batches of 5,000": lambda: direct(lambda s, t, c: {"value": t if len(t) == 5000 else own(s, t, c)}),
    "after many calls": lambda: direct(
        lambda s, t, c: {
            "value": t if KEPT.setdefault("calls", [0]).append(0) or len(KEPT["calls"]) > 5000 else own(s, t, c)
        }
    ),
    "from a later date on": lambda: direct(lambda s, t, c: {"value": t if time.time() > 1e11 else own(s, t, c)}),
}


def _off(truth: Any, *_: Any) -> Any:
    return (truth.max(axis=1) < 1).astype(np.int64)


def _first(truth: Any, *_: Any) -> Any:
    return (truth[:, 0] > 0).astype(np.int64)


def _largest(truth: Any, *_: Any) -> Any:
    return np.minimum(truth.sizes, 2)


@pytest.mark.parametrize("name", SEEN)
def test_a_leak_is_refused_or_gets_its_true_loss(name: str) -> None:
    try:
        found = dn.certify(SEEN[name]())
    except (dn.NotCertifiable, dn.InvalidLaw):
        return
    assert not found.holds, name
    assert found.loss.odds is None or found.loss.epsilon() > found.mechanism.epsilon


@pytest.mark.parametrize("name", HARMLESS)
def test_a_leak_that_the_law_does_not_have_never_runs(name: str) -> None:
    """One answer at a time, with secure coins, as a device does: false alarms below 1e-9, since a tenth at most is true."""
    mechanism = HARMLESS[name]()
    honest = dn.DirectResponse(dn.Categories(mechanism.domain.labels), mechanism.epsilon)  # type: ignore[arg-type]
    assert dn.certify(mechanism).holds and mechanism.law == honest.law
    told = sum(int(mechanism.perturb([3]).columns["value"][0]) == 3 for _ in range(300))
    assert told < 300 * 0.6  # 0.23 are true on average


def test_there_are_enough_leaks() -> None:
    assert len(SEEN) + len(HARMLESS) >= 64
