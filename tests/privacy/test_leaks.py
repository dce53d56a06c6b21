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
from deniable.core.steps import joined

Randomize = Callable[[Any, Any, Any], Any]
HALF, RARE, NEARLY = Fraction(1, 2), Fraction(1, 1000), Fraction(9, 10)
ALIVE: list[Any] = []  # objects that were traced: while they live, no other has their identity


def alive(traced: Any) -> Any:
    ALIVE.append(traced)
    return traced


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
    "identity of objects": lambda: direct(lambda s, t, c: {"value": (own(s, t, c) + id(alive(s))) % N}),
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
    "one draw for all numbers of a vector": lambda: leaky(
        dn.BitRand,
        lambda s, t, c: (lambda w: {f"bit{i}": cells(w, 2 - i).bytes for i in range(3)})((t + c.below(8, len(t))) % 8),
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
    "only where answers can be counted": lambda: direct(
        lambda s, t, c: {"value": t if hasattr(t, "tolist") and t.tolist() else own(s, t, c)}
    ),
    "mixed pattern of a subset": lambda: leaky(
        dn.SubsetSelection,
        lambda s, t, c: (lambda row: {"cells": row.with_bit(t, row.bit(t) | (row.bit(0) & row.bit(1)))})(
            own(s, t, c, "cells")
        ),
        *(words(40), 1.0),
    ),
    "one value of 3,000 with open answers": lambda: leaky(
        dn.UtilityOptimized,
        lambda s, t, c: {"value": np.where(t == 777, 777, own(s, t, c))},
        *(dn.DirectResponse, words(3000), list(range(1500)), 1.0),
    ),
    "one of 64 turns of a wheel": lambda: leaky(
        dn.Wheel,
        lambda s, t, c: (lambda r: {**r, "place": np.where(r["a"] % 64 == 0, t, r["place"])})(
            super(type(s), s).randomize(t, c)
        ),
        *(words(200), 1.0),
    ),
    "vectors off an axis, by axes": lambda: leaky(
        dn.UnitAxes,
        lambda s, t, c: (
            lambda r: {**r, "code0": np.where(encoded(t, _off, "off", 2) == 1, encoded(t, _first, "c", 256), r["code0"])}
        )(super(type(s), s).randomize(t, c)),
        *(dn.UnitVectors(4), 1.0),
    ),
    "between the points of a grid": lambda: leaky(
        dn.Piecewise,
        lambda s, t, c: {"value": np.where(KEPT["up"] > 0, 0, own(s, t, c))},
        *(Watched(0, 10, steps=4), 1.0),
    ),
    "values between the ends": lambda: leaky(
        dn.PCKVDirect,
        lambda s, t, c: {"pair": np.where(encoded(t, _between, "between", 2) == 1, 0, own(s, t, c, "pair"))},
        *(dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2), 1.0),
    ),
    "two bits set": lambda: leaky(
        dn.BitRand,
        lambda s, t, c: (lambda r: {**r, "bit1": r["bit1"] | (cells(t, 0) & cells(t, 1))})(
            super(type(s), s).randomize(t, c)
        ),
        *(lambda m: (m.domain, m.epsilon, m.ones, m.zeros))(dn.BitRand.water_filled(2, 3, 3.0)),
    ),
    "one coordinate of a vector": lambda: leaky(
        dn.FeatureVector,
        lambda s, t, c: (lambda r: {**r, "values": r["values"].with_bit(0, r["values"].bit(0) | (t[:, 0] == 2))})(
            super(type(s), s).randomize(t, c)
        ),
        *(dn.Features(3, -1, 1, steps=2), 1.0, 2, "duchi-1"),
    ),
    "rare record of which one answer is asked": lambda: leaky(
        dn.OneAttribute,
        lambda s, t, c: (
            lambda r: {**r, "report": np.where(t[:, 0] + t[:, 1] == 0, c.toss_packed(Fraction(0), len(t), 3), r["report"])}
        )(super(type(s), s).randomize(t, c)),
        *(lambda made: (made.domain, 1.0, made.parts))(dn.OneAttribute.of(dn.Vectors([words(3), words(3)]), 1.0, dn.Unary)),
    ),
    # Further ones, on what the proofs of sets, orders and turns rest on
    "a pair drawn twice": lambda: pairs(
        lambda keys, highs, draw, s, t, c: np.where(keys[:, 0] == draw, 0, (keys[:, draw] + c.below(8, len(t))) % 7)
    ),
    "keys that need not differ": lambda: leaky(
        dn.PCKVDirect,
        lambda s, t, c: (lambda key: {"pair": np.minimum(2 * ((key + c.split(NEARLY, 1, 4, len(t))) % 5), 6)})(
            encoded(t, s._all_keys, "keys", 5, width=2)[:, c.below(2, len(t))]
        ),
        *(dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2), 1.0),
    ),
    "the number of the pair": lambda: leaky(
        dn.PCKVDirect,
        lambda s, t, c: (
            lambda draw, keys: {"pair": np.minimum(draw * 2 + (keys[:, draw] + c.split(NEARLY, 1, 4, len(t))) % 5, 6)}
        )(c.below(2, len(t)), encoded(t, s._all_keys, "keys", 5, width=2, distinct=True)),
        *(dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2), 1.0),
    ),
    "always the first pair": lambda: leaky(
        dn.PCKVDirect,
        lambda s, t, c: (lambda keys: {"pair": np.minimum(2 * ((keys[:, 0] + c.split(NEARLY, 1, 4, len(t))) % 5), 6)})(
            encoded(t, s._all_keys, "keys", 5, width=2, distinct=True)
        ),
        *(dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2), 1.0),
    ),
    "noise of a pair used again": lambda: leaky(
        dn.PCKVDirect,
        lambda s, t, c: (lambda keys, w: {"pair": np.minimum((keys[:, c.below(2, len(t))] + w) % 5 + (w == 0), 6)})(
            encoded(t, s._all_keys, "keys", 5, width=2, distinct=True), c.split(NEARLY, 1, 4, len(t))
        ),
        *(dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2), 1.0),
    ),
    "a set that names one of the person's keys for certain": lambda: named_set(
        lambda s, t, c, own: drawn_row(s, c, np.ones(len(t), np.bool_), len(t)).exchanged(own[:, 0], 4)
    ),
    "how many places are shared depends on the answer": lambda: named_set(
        lambda s, t, c, own: drawn_row(s, c, own[:, 1] < 4, len(t)).exchanged(own[:, 0], 4)
    ),
    "a place of a set is exchanged where it is named": lambda: named_set(
        lambda s, t, c, own: (lambda row: row.exchanged(np.where(row.bit(0), own[:, 0], 1), 4))(
            drawn_row(s, c, c.toss(Fraction(1, 2), len(t)), len(t))
        )
    ),
    "a key of a set is named in place of an exchange": lambda: named_set(
        lambda s, t, c, own: (lambda row: row.with_bit(own[:, 0], row.bit(4)))(
            drawn_row(s, c, c.toss(Fraction(9, 10), len(t)), len(t))
        )
    ),
    "one draw of places for keys and for padding": lambda: named_set(
        lambda s, t, c, own: (lambda part: joined([part, part]).exchanged(own[:, 0], 4))(
            c.subset(4, 1, c.toss(Fraction(1, 2), len(t)))
        ),
        *(4, 4),
    ),
    "a key from a set of all keys": lambda: leaky(
        dn.PCKVUnary,
        lambda s, t, c: (
            lambda r: {
                **r,
                "high": r["high"].with_bit(encoded(t, s._all_keys, "k", 6, width=3, distinct=True)[:, 0] % 3, True),
            }
        )(super(type(s), s).randomize(t, c)),
        *(dn.KeyValue(["a", "b", "c"], 0, 1, at_most=3), 1.0),
    ),
    "an order with too wide a near part": lambda: order(
        lambda s, t, c: c.split(s.p, s.near // 2, 600 - s.near // 2, len(t))
    ),
    "a place in half of an order": lambda: order(lambda s, t, c: c.below(300, len(t))),
    "a place by the answer": lambda: order(lambda s, t, c: encoded(t, _small, "place", 600)),
    "a place drawn and made even": lambda: order(lambda s, t, c: c.below(600, len(t)) // 2 * 2),
    "one place for two releases": lambda: leaky(
        dn.VectorRelease,
        lambda s, t, c: (lambda v: {"value0": v["value0"], "value1": v["value0"]})(super(type(s), s).randomize(t, c)),
        *(lambda made: (made.domain, 0.2, made.parts))(dn.VectorRelease.of(dn.Vectors([dn.Ordered(range(5))] * 2), 1.0)),
    ),
    "bits by turns of the answer": lambda: leaky(
        dn.BitRand,
        lambda s, t, c: {**super(type(s), s).randomize(t, c), "bit0": cells(t, 0) & c.toss_packed(HALF, len(t), 3)},
        *(lambda m: (m.domain, m.epsilon, m.ones, m.zeros))(dn.BitRand.ome(3, 3, 1.0)),
    ),
    "ones of certain bits": lambda: leaky(
        dn.BitRand,
        lambda s, t, c: {**super(type(s), s).randomize(t, c), "bit1": cells(t, 1) & c.toss_packed(Fraction(1), len(t), 3)},
        *(lambda m: (m.domain, m.epsilon, m.ones, m.zeros))(dn.BitRand.ome(3, 3, 1.0)),
    ),
    "published, disguised too rarely": lambda: published(
        lambda s, t, c: (
            lambda own, d: s.layout.join(lookup(s._open_number, t) * ~d, {**own, "masked": lookup(s.secret, t) | d})
        )(s.base.randomize(lookup(s._place, t), c), c.toss(RARE, len(t)))
    ),
    "published, hiding behind one value": lambda: published(
        lambda s, t, c: (
            lambda own, d: s.layout.join(lookup(s._open_number, t) * ~d, {**own, "masked": lookup(s.secret, t) | d})
        )(s.base.randomize(lookup(s._place, t), c), c.toss(s.f, len(t))),
        dn.Unary,
    ),
    "published, a bit less noise to hide behind": lambda: published(
        lambda s, t, c: (
            lambda own, d: s.layout.join(lookup(s._open_number, t) * ~d, {**own, "masked": lookup(s.secret, t) | d})
        )(
            s.base.randomize(np.where(lookup(s.secret, t), lookup(s._place, t), c.below(4, len(t))), c),
            c.toss(s.f, len(t)),
        ),
        dn.Unary,
    ),
    "published, another open answer": lambda: published(
        lambda s, t, c: (lambda r: {**r, "open": (r["open"] + 1) % 5})(super(type(s), s).randomize(t, c))
    ),
    "subsets of two sizes": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(s._open_number, t) * ~c.toss(s.mask.hidden, len(t)),
            _either(s, t, s.base.randomize(lookup(s._place, t), c), {"cells": c.subset(5, 3, np.zeros(len(t), np.bool_))}),
        ),
        dn.SubsetSelection,
    ),
    "hidden answers in half of the range": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(s._open_number, t) * ~c.toss(s.mask.hidden, len(t)),
            _either(s, t, s.base.randomize(lookup(s._place, t), c), {"value": c.below(2, len(t))}),
        )
    ),
    "a marked cell of open answers": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(s._open_number, t) * ~c.toss(s.mask.hidden, len(t)),
            (lambda r: {"cells": r["cells"].with_bit(0, c.toss(HALF, len(t)) | (t == 0))})(
                _either(s, t, s.base.randomize(lookup(s._place, t), c), s.base.blank(len(t), c))
            ),
        ),
        dn.Unary,
    ),
    "a true bit that depends on the value": lambda: secrets(
        lambda s, t, c: s.layout.join(
            lookup(s._open_number, t) * ~c.toss(s.mask.hidden, len(t)),
            _either(
                s,
                t,
                {
                    "cells": c.toss_packed(s.base.q, len(t), 5).with_bit(
                        lookup(s._place, t), c.toss(s.base.p, len(t)) & (t > 0)
                    )
                },
                s.base.blank(len(t), c),
            ),
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
    "numpy tells the truth once in 1,000": lambda: direct(
        lambda s, t, c: {"value": np.where(np.random.default_rng(7).random(len(t)) < 0.001, t, own(s, t, c))}
    ),
    "numpy tells the truth once in 50": lambda: direct(
        lambda s, t, c: {"value": np.where(np.random.default_rng(7).random(len(t)) < 0.02, t, own(s, t, c))}
    ),
    "only outside of the tracer": lambda: direct(
        lambda s, t, c: {"value": t if type(t).__name__ == "ndarray" else own(s, t, c)}
    ),
    "only with another number of coins": lambda: direct(
        lambda s, t, c: {"value": t if hasattr(c, "draw") else own(s, t, c)}
    ),
    "from a later date on": lambda: direct(lambda s, t, c: {"value": t if time.time() > 1e11 else own(s, t, c)}),
}


def _between(truth: Any, *_: Any) -> Any:
    """Whether a value of the set lies between the ends."""
    return np.array(
        [len(v) and bool(((v > 0) & (v < 1)).any()) for v in np.split(truth.values, truth.starts[1:-1])], np.int64
    )


def _small(truth: Any, *_: Any) -> Any:
    return np.asarray(truth) % 2


class Watched(dn.Interval):
    """A scale that lets others see how far an answer is from its grid."""

    def placed(self, codes: Any, coins: Any) -> Any:
        KEPT["up"] = codes[1]
        return super().placed(codes, coins)


def pairs(value: Callable[..., Any]) -> Mechanism:
    """Sets of two of three keys, with a report made of their keys and of one draw."""

    def randomize(s: Any, t: Any, c: Any) -> Any:
        found, highs = (encoded(t, f, n, b, width=2, distinct=d) for f, n, b, d in (
            (s._all_keys, "keys", 5, True), (s._all_heads, "highs", 2**53 + 1, False)))  # fmt: skip
        return {"pair": value(found, highs, c.below(2, len(t)), s, t, c)}

    return leaky(dn.PCKVDirect, randomize, dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2), 1.0)


def named_set(row: Callable[..., Any], keys: int = 4, most: int = 2) -> Mechanism:
    """Places of a set, with another row of them."""

    def randomize(s: Any, t: Any, c: Any) -> Any:
        return {"cells": row(s, t, c, encoded(t, s._all_keys, "keys", keys + most, width=most, distinct=True)).bytes}

    return leaky(dn.PrivSet, randomize, dn.KeyValue(range(keys), 0, 1, at_most=most), 1.0, 2, 1)


def drawn_row(s: Any, c: Any, near: Any, n: int) -> Any:
    """A row of two of four keys, or of one of them and one of the two places for padding where `near`."""
    return joined([c.subset(4, 2, near), c.subset(2, 1, ~near)])


def order(place: Randomize) -> Mechanism:
    """A release of 600 scattered points, with another draw of a place."""
    points = dn.Points(np.random.default_rng(1).random((600, 2)))

    def randomize(s: Any, t: Any, c: Any) -> Any:
        return {"value": s._rings.member(t, place(s, t, c))}

    return leaky(dn.Bipartite, randomize, points, 1.0, "given", 60)


def published(randomize: Randomize, base: Any = dn.DirectResponse) -> Mechanism:
    """A published mechanism for nine answers of which five are sensitive."""
    return leaky(dn.PublishedUtility, randomize, base, words(9), list(range(5)), 1.0)


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
    if found.loss.odds is not None and isinstance(found.mechanism, dn.DirectResponse):
        assert true_odds(found.mechanism) <= found.loss.odds


def true_odds(mechanism: Mechanism) -> Fraction:
    """The largest ratio of the probabilities of a report, from the whole law of every answer."""
    laws = [dict(dn.law(mechanism, index).items()) for index in range(N)]
    every = [[law.get(report, Fraction(0)) for law in laws] for report in set().union(*laws)]
    return max(max(chances) / min(chances) for chances in every)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_leak_that_the_law_does_not_have_never_runs(name: str) -> None:
    """One answer at a time, with secure coins, as a device does: false alarms below 1e-9, since a tenth at most is true."""
    mechanism = HARMLESS[name]()
    honest = dn.DirectResponse(dn.Categories(mechanism.domain.labels), mechanism.epsilon)  # type: ignore[arg-type]
    assert dn.certify(mechanism).holds
    assert all(dict(dn.law(mechanism, index).items()) == dict(dn.law(honest, index).items()) for index in range(10))
    told = sum(int(mechanism.perturb([3]).columns["value"][0]) == 3 for _ in range(300))
    assert told < 300 * 0.6  # 0.23 are true on average


# The leaks that certificates once passed, and where each of them is planted now.
ONCE_PASSED: dict[str, tuple[str, ...]] = {
    "batch of one": ("batch of one",),
    "row 0; rows unlike row 0": ("row 0", "rows unlike row 0"),
    "first call; the next call": ("first call of the object", "the previous answer"),
    "secure coins; 5,000 calls; a date": (
        "only with secure coins",
        "after many calls",
        "from a date on",
        "from a later date on",
    ),
    "NumPy randomness": ("numpy tells the truth once in 1,000", "numpy tells the truth once in 50", "numpy random mask"),
    "between grid points; between the ends": ("between the points of a grid", "values between the ends"),
    "a thrown-away draw decides": ("thrown-away coin decides",),
    "more coins for one answer": ("more coins for one answer",),
    "majority of three": ("majority of three coins",),
    "padding bits": ("padding bits",),
    "mixed patterns": ("mixed pattern of coins", "mixed pattern of a subset"),
    "one value of many": (
        *("one value of a wide row", "one value of 9,000", "one value of 3,000 with open answers", "one value of a design"),
    ),
    "one value or seed of a hash": (
        *("one value of a hash", "one seed of 64", "one value of a wheel", "one of 64 turns of a wheel"),
    ),
    "agreement": ("agreement ignores its tosses",),
    "off an axis": ("vectors off an axis", "vectors off an axis, by axes"),
    "compressed in clear": ("vector in clear",),
    "rare sets and records": (
        *("two bits set", "set of two pairs", "one coordinate of a vector", "rare record of which one answer is asked"),
        *("rare pair of a record", "fakes that are true"),
    ),
}


def test_every_leak_that_once_passed_is_planted_and_many_more() -> None:
    """Those of whole surveys are planted in tests/survey/test_message_law.py."""
    planted = {name for names in ONCE_PASSED.values() for name in names}
    assert planted <= {*SEEN, *HARMLESS}
    assert len(SEEN) + len(HARMLESS) - len(planted) >= 40
