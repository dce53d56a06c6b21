"""Leaks planted beside a law, which is as promised: in what runs it, in encoders, in layouts, in names and in copies.

Each is refused, or what it adds never runs: then nothing of the answer is told, one answer at a time with secure coins.
"""

import copy
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import encoded
from deniable.core.layout import Layout, Number
from deniable.core.orders import Orders, Padded, Taken
from deniable.privacy.memoized import certify_ever

N, TIMES = 10, 40
ANSWERS, KEYS = dn.Categories(range(N)), dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2)
POINTS = dn.Points(np.random.default_rng(1).random((600, 2)))
SEEN: list[int] = [0]
BOX: dict[str, Any] = {}


def truth_of(mechanism: Any, values: Any) -> dn.Reports:
    """The answers themselves, as reports."""
    return dn.Reports(mechanism.fingerprint, mechanism.layout, {"value": np.asarray(values, np.uint8)})


def direct(**members: Any) -> dn.Mechanism:
    """Direct response of a class with these members."""
    made: dn.Mechanism = type("Beside", (dn.DirectResponse,), members)(Watching(range(N)), 1.0)
    return made


class Watching(dn.Categories):
    """A question that remembers the last answer: an encoder may do anything."""

    def encode(self, answers: Any) -> Any:
        SEEN[0] = int(self.index(answers)[0])
        return super().encode(answers)


class Computing(np.ndarray[Any, Any]):
    """An array that gives itself as the result of every sum."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(each) for each in inputs]
        return getattr(ufunc, method)(*plain, **options) if ufunc in (np.minimum, np.maximum) else np.asarray(self)


class ComputingAnswers(dn.Categories):
    def encode(self, answers: Any) -> Any:
        return [self.index(answers).view(Computing)]


class Sly(int):
    """A number that coins take for 2^53, whatever proofs compute with it."""

    def __ne__(self, other: object) -> bool:
        return other != 1 << 53

    __hash__ = int.__hash__


class SlyParts(Fraction):
    """A fraction of which both parts are such numbers."""

    numerator = property(lambda self: Sly(self._numerator))
    denominator = property(lambda self: Sly(self._denominator))


class Lying(type(dn.DirectResponse)):  # type: ignore[misc]
    """A class whose list of base classes leaves the class itself out."""

    __mro__ = property(lambda cls: dn.DirectResponse.__mro__)


class OwnOrders:
    """Every place of every order is the answer."""

    size = 600

    def at(self, answers: Any, place: Any) -> Any:
        return answers


@dataclass(frozen=True)
class Telling(Number):
    """A field whose columns hold the last answer, whatever is written into them."""

    def empty(self, size: int) -> Any:
        return np.full(size, SEEN[0], self.dtype).view(Deaf)


class Deaf(np.ndarray[Any, Any]):
    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, SEEN[0])


def has_c(domain: dn.KeyValue, truth: Any) -> Any:
    return domain.asked(truth, np.full(len(truth), 2)) <= 1 << 53


class WritesIntoDraws(dn.PermanentSet):
    """The encoder writes into the public draw that it is given."""

    def _asked(self, truth: Any, key: Any) -> Any:
        asked = super()._asked(truth, key)
        key[:] = np.where(has_c(self.domain, truth), 2, 0)
        return asked


class ChangesCodes(dn.PCKVDirect):
    """The second encoder changes the code of the first, which was looked at already."""

    def randomize(self, truth: Any, coins: Any) -> Any:
        code = encoded(truth, self.first, "first", 7)
        encoded(truth, self.second, "second", 2)
        noise = coins.split(Fraction(1, 2), 1, 6, len(truth))
        return {"pair": np.minimum(np.maximum((code + noise) % 7, code // 1000), 6)}

    def first(self, truth: Any) -> Any:
        BOX["code"] = np.zeros(len(truth), np.int64)
        return BOX["code"]

    def second(self, truth: Any) -> Any:
        BOX["code"][:] = np.where(has_c(self.domain, truth), 6500, 0)
        return np.zeros(len(truth), np.int64)


class OrdersOfItsOwn(dn.Bipartite):
    def randomize(self, truth: Any, coins: Any) -> Any:
        orders: Any = OwnOrders()
        order: Any = encoded(truth, lambda t: Taken(orders, np.asarray(t)), "order", 600, width=600, distinct=True)
        return {"value": order[:, coins.split(self.p, self.near, 600 - self.near, len(truth))]}


class LooksUpTheAnswer(dn.Bipartite):
    """Orders that were found and checked, in an object with a function of its own in place of the one that looks them up."""

    def randomize(self, truth: Any, coins: Any) -> Any:
        order: Any = encoded(truth, self.orders, "order", 600, width=600, distinct=True)
        return {"value": order[:, coins.split(self.p, self.near, 600 - self.near, len(truth))]}

    def orders(self, truth: Any) -> Any:
        answers = np.asarray(truth)
        taken: Any = Orders(600, lambda each: (np.arange(600) + each[:, None]) % 600).of(answers)
        taken.at = lambda place: answers
        return taken


class ListsOfItsOwn(dn.PCKVDirect):
    """Lists of keys in arrays that give one thing when they are looked at, and another when they are used."""

    def randomize(self, truth: Any, coins: Any) -> Any:
        keys: Any = encoded(truth, self.lists, "keys", 5, width=2, distinct=True)
        return {
            "pair": np.minimum((keys[:, coins.below(2, len(truth))] + coins.split(Fraction(1, 2), 1, 6, len(truth))) % 7, 6)
        }

    def lists(self, truth: Any) -> Any:
        numbers = np.zeros(len(truth), np.int64).view(Computing)
        return Padded(np.arange(len(truth) + 1), numbers, np.array([3, 4]).view(Computing))


def value(mechanism: dn.Mechanism, answer: Any) -> Any:
    return mechanism.perturb([answer]).columns["value"][0]


def looked_up(mechanism: dn.Mechanism, answer: Any) -> Any:
    """The same, of a mechanism that fails where it cannot replace a function."""
    try:
        return value(mechanism, answer)
    except AttributeError as error:
        assert "read-only" in str(error)
        return None


@dataclass(frozen=True)
class Leak:
    """A mechanism, and what is told about an answer; of two answers it would tell different things, always the same."""

    make: Callable[[], dn.Mechanism]
    told: Callable[[Any, Any], Any] = value
    answers: tuple[Any, Any] = (3, 7)


LEAKS: Mapping[str, Leak] = {
    "perturb by __getattribute__": Leak(
        lambda: direct(
            __getattribute__=lambda s, n: (lambda v: truth_of(s, v)) if n == "perturb" else object.__getattribute__(s, n)
        )
    ),
    "perturb in the object": Leak(
        lambda: direct(__post_init__=lambda s: s._fix(epsilon=1.0, perturb=lambda v: truth_of(s, v)))
    ),
    "what is drawn, in the object": Leak(
        lambda: direct(__post_init__=lambda s: s._fix(epsilon=1.0, _drawn=lambda v, c: {"value": np.asarray(v)}))
    ),
    "a module's name": Leak(lambda: direct(__module__="deniable.mechanisms", perturb=truth_of)),
    "a module's and a class's name": Leak(
        lambda: direct(
            __module__="deniable.mechanisms.shares.direct_response", __qualname__="DirectResponse", perturb=truth_of
        )
    ),
    "base classes that a metaclass makes up": Leak(
        lambda: Lying("Beside", (dn.DirectResponse,), {"perturb": truth_of})(ANSWERS, 1.0)
    ),
    "a program while it is proved": Leak(
        lambda: direct(
            traced=property(lambda s: BOX.pop("run", None) is None),
            prepared=lambda s, v: BOX.update(run=1) or v,
            randomize=lambda s, t, c: {"value": t} if isinstance(t, np.ndarray) else dn.DirectResponse.randomize(s, t, c),
        )
    ),
    "a number of a custom class": Leak(
        lambda: direct(randomize=lambda s, t, c: {"value": t // 5 ^ c.toss_each(np.full(len(t), 2), Sly(4))})
    ),
    "a law of a custom class": Leak(
        lambda: direct(
            __post_init__=lambda s: s._fix(
                epsilon=1.0, _law=type("Law", (), {"program": dn.DirectResponse(ANSWERS, 1.0).law})()
            )
        )
    ),
    "arrays that compute something else": Leak(lambda: dn.DirectResponse(ComputingAnswers(range(N)), 1.0)),
    "an encoder that writes into a draw": Leak(
        lambda: WritesIntoDraws(KEYS, 1.0), lambda m, a: m.perturb([a]).columns["key"][0], ({}, {"c": 1.0})
    ),
    "an encoder that changes an earlier code": Leak(
        lambda: ChangesCodes(KEYS, 3.0), lambda m, a: m.perturb([a]).columns["pair"][0], ({}, {"c": 1.0})
    ),
    "lists that compute something else": Leak(
        lambda: ListsOfItsOwn(KEYS, 3.0), lambda m, a: m.perturb([a]).columns["pair"][0], ({}, {"c": 1.0})
    ),
    "orders of a custom class": Leak(
        lambda: OrdersOfItsOwn(POINTS, 1.0, "given", 60), lambda m, a: value(m, m.domain.answer(a))
    ),
    "orders that are looked up by a function in the object": Leak(
        lambda: LooksUpTheAnswer(POINTS, 1.0, "given", 60), lambda m, a: looked_up(m, m.domain.answer(a))
    ),
    "a layout made after the answer": Leak(
        lambda: direct(layout=property(lambda s: Layout((Number("value", 16 + SEEN[0]),)))),
        lambda m, a: (m.perturb([a]), m.perturb([0]).layout.fields[0].below)[1],
    ),
    "a field that holds the answer": Leak(
        lambda: direct(layout=property(lambda s: Layout((Telling("value", N),)))),
        lambda m, a: (m.perturb([a]), m.perturb([0]).columns["value"][0])[1],
    ),
    "a layout of its own that packs": Leak(
        lambda: direct(
            layout=property(
                lambda s: type("Own", (Layout,), {"rows": lambda s, c: np.array([[SEEN[0]]])})((Number("value", N),))
            )
        ),
        lambda m, a: (lambda r: r.layout.rows(r.columns)[0, 0])(m.perturb([a])),
    ),
    "a fingerprint made after the answer": Leak(
        lambda: direct(fingerprint=property(lambda s: f"{SEEN[0]:032d}")), lambda m, a: m.perturb([a]).fingerprint
    ),
    "parameters that follow the answer": Leak(
        lambda: direct(parameters=lambda s: {"seen": SEEN[0]}), lambda m, a: m.perturb([a]).fingerprint
    ),
    "a message with more in it": Leak(
        lambda: direct(pack=lambda s, r: dn.DirectResponse.pack(s, r) + bytes([SEEN[0]])),
        lambda m, a: m.pack(m.perturb([a]))[-1],
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_beside_the_law_is_refused_or_never_runs(name: str) -> None:
    """That 40 honest reports of each of two answers are all alike has a probability far below 1e-9.

    Fingerprints, layouts and lengths must be the same for both.
    """
    leak = LEAKS[name]
    SEEN[0] = 0
    try:
        mechanism = leak.make()
        assert dn.certify(mechanism).holds
    except (dn.NotCertifiable, dn.InvalidLaw):
        return
    try:
        first, second = ({leak.told(mechanism, answer) for _ in range(TIMES)} for answer in leak.answers)
    except dn.OutsideDomain:  # whatever the answer is: nothing is reported
        return
    assert first == second or min(len(first), len(second)) > 1, name


def test_a_law_has_plain_numbers_only() -> None:
    """Others could be one thing where a law is proved, and another where it runs."""
    for heads in (SlyParts(1, 2), Fraction(SlyParts(1, 2))):
        with pytest.raises(dn.InvalidLaw):
            _ = direct(randomize=lambda s, t, c, heads=heads: {"value": c.toss(heads, len(t))}).law


class Turning(dn.Categories):
    """A question that gives all answers the code of the first, and later the first the code of the last."""

    def encode(self, answers: Any) -> Any:
        codes = self.index(answers)
        return (np.where(codes == 0, self.size - 1, codes) if BOX.get("later") else codes * 0,)


@pytest.mark.parametrize("size", [7, 3000])
def test_answers_that_change_their_codes_are_not_followed(size: int) -> None:
    """Where some answers may be disclosed, a sensitive one could take the code of one of these."""
    with pytest.raises(dn.NotCertifiable, match="custom class"):
        dn.certify(dn.UtilityOptimized(dn.DirectResponse, Turning(range(size)), [0, 1], 1.0))
    tells: dn.Mechanism = type("Tells", (dn.DirectResponse,), {"randomize": lambda s, t, c: {"value": t}})(
        Turning(range(9)), 1
    )
    with pytest.raises(dn.NotCertifiable, match="custom class"):
        dn.certify(tells, "enumerated")
    assert dn.certify(tells).loss.odds is None  # by the rules, which look at every code


def test_places_that_change_their_codes_have_no_metric_certificate() -> None:
    class Moving(dn.Points):
        pass

    points = np.random.default_rng(3).random((6, 2))
    made = [dn.MetricRelease.laplace(domain(points), 1.0) for domain in (dn.Points, Moving)]
    assert dn.certify(made[0]).holds
    with pytest.raises(dn.NotCertifiable, match="custom class"):
        dn.certify(made[1])


def test_copies_have_the_law_that_was_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that is another one in another process, or after some time, does not run there."""
    monkeypatch.setitem(BOX, "later", False)
    mechanism = Later(ANSWERS, 1.0)
    assert dn.certify(mechanism).holds
    sent = pickle.dumps(mechanism)
    assert pickle.loads(sent).perturb([3]).fingerprint == mechanism.fingerprint
    BOX["later"] = True
    assert copy.copy(mechanism).law == mechanism.law == mechanism.because("so").law
    for other in (pickle.loads(sent), copy.deepcopy(mechanism)):
        with pytest.raises(dn.InvalidLaw, match="a different law here"):
            other.perturb([3])


class Later(dn.DirectResponse):
    def randomize(self, truth: Any, coins: Any) -> Any:
        return {"value": truth} if BOX["later"] else super().randomize(truth, coins)


class SecondRound(dn.Memoized):
    """With secure coins the kept answer is sent as it is."""

    def again(self, kept: Any, coins: Any) -> Any:
        return dict(kept) if isinstance(coins, dn.SecureCoins) else super().again(kept, coins)


class KeepsTheAnswer(dn.Memoized):
    def keep(self, values: Any, coins: Any = None) -> Any:
        return truth_of(self.base, values) if coins is None else super().keep(values, coins)


class KeptAnew(dn.DirectResponse):
    """A new permanent answer each time."""

    def kept_for(self, values: Any, public: Any) -> Any:
        SEEN[0] += 1
        return np.full(len(values), SEEN[0])


class NeedsMore(dn.Memoized):
    """The second round repeats the first with its own coins, which nobody keeps."""

    def randomize(self, truth: Any, coins: Any) -> Any:
        stayed, kept = coins.toss(Fraction(1, 2), len(truth)), self.base.randomize(truth, coins)
        return {"value": np.where(stayed, kept["value"], coins.below(N, len(truth)))}


def test_a_second_round_is_the_law_and_nothing_else() -> None:
    """The probability that 200 honest reports repeat the kept answer is below 1e-9."""
    mechanism = SecondRound.direct(ANSWERS, 2.0, 1.0)
    assert dn.certify(mechanism).holds and certify_ever(mechanism).holds
    kept = mechanism.keep([3])
    assert len({int(mechanism.report(kept).columns["value"][0]) for _ in range(200)}) > 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: KeepsTheAnswer.direct(ANSWERS, 2.0, 1.0),
        lambda: dn.Memoized(KeptAnew(ANSWERS, 2.0)),
        lambda: NeedsMore.direct(ANSWERS, 2.0, 1.0),
    ],
    ids=["keep", "kept for", "first coins"],
)
def test_what_keeps_answers_is_ours(make: Callable[[], Any]) -> None:
    with pytest.raises(dn.NotCertifiable):
        certify_ever(make())
