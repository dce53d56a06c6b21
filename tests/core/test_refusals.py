"""Bad input: a clear error of our own, nothing lost or half done, and never a person's answer in the message."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.layout import Flags, Layout, Number

COLOURS = dn.Categories(["red", "green", "blue"])
DIRECT = dn.DirectResponse(COLOURS, 1.0)
UNARY = dn.Unary(COLOURS, 1.0)
NUMBERS = dn.DirectResponse(dn.Categories(range(10)), 1.0)
SECRET = "ultraviolet"


@pytest.mark.parametrize(
    "labels",
    [
        [],
        ["only"],
        range(0),
        range(1),
        "yes",
        ["a", "a"],
        [1, 1],
        [True, False],
        [1.5, 2],
        [None, 1],
        range(2**31 + 1),
        range(10**30),
    ],
)
def test_domains_that_make_no_sense(labels: Any) -> None:
    with pytest.raises(dn.InvalidParameter):
        dn.Categories(labels)


@pytest.mark.parametrize(
    "answers",
    [
        [SECRET],
        ["red", SECRET],
        [["red"]],
        [None],
        [math.nan],
        np.array([SECRET]),
        np.array([["red"]]),
        SECRET,
        b"red",
        5,
        None,
        [0],
    ],
)
def test_answers_outside_the_domain(answers: Any) -> None:
    with pytest.raises(dn.OutsideDomain) as caught:
        DIRECT.perturb(answers)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "answers",
    [
        np.array([10]),
        np.array([-1]),
        np.array([3.0]),
        np.array([True]),
        np.array([2**63], np.uint64),
        np.array([2**64 - 1], np.uint64),
        np.array([[1]]),
        [11],
        [-1],
        ["1"],
    ],
)
def test_numbers_outside_the_domain(answers: Any) -> None:
    with pytest.raises(dn.OutsideDomain) as caught:
        NUMBERS.perturb(answers)
    assert "0 to 9" in str(caught.value)


def test_everything_else_may_be_an_answer_of_its_own() -> None:
    words = dn.Categories(["red", "green", "another"], other="another")
    assert words.index([SECRET, "red", "another", 5, None]).tolist() == [2, 0, 2, 2, 2]
    numbers = dn.Categories(range(10), other=9)
    assert numbers.index(np.array([3, 10, -1, 2**62])).tolist() == [3, 9, 9, 9]
    assert numbers.index(np.array([2**64 - 1, 1], np.uint64)).tolist() == [9, 1]
    for domain in (words, numbers):
        mechanism = dn.DirectResponse(domain, 1.0)
        assert dn.mechanism_from_json(mechanism.to_json()).domain == domain
        assert mechanism.fingerprint != dn.DirectResponse(dn.Categories(domain.labels), 1.0).fingerprint
    with pytest.raises(dn.OutsideDomain):
        words.index([["red"]])
    with pytest.raises(dn.InvalidParameter, match="one of the categories"):
        dn.Categories(["red", "green"], other="blue")


def test_one_bad_answer_at_the_end_refuses_the_whole_batch() -> None:
    values = np.zeros(100_000, np.int64)
    values[-1] = 12345
    with pytest.raises(dn.OutsideDomain) as caught:
        NUMBERS.perturb(values)
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_all_integer_types_are_answers(dtype: type) -> None:
    values: Any = np.arange(10).astype(dtype)
    assert len(NUMBERS.perturb(values)) == 10
    assert NUMBERS.domain.index(values).tolist() == list(range(10))


@pytest.mark.parametrize("batch", [[], (), np.array([], np.int64)])
def test_empty_batches(batch: Any) -> None:
    with pytest.raises(dn.EmptyBatch):
        DIRECT.perturb(batch)


def test_nothing_to_count_or_estimate() -> None:
    none = DIRECT.perturb(["red"])[:0]
    assert len(none) == 0
    with pytest.raises(dn.EmptyBatch):
        DIRECT.tally(none)
    with pytest.raises(dn.EmptyBatch):
        dn.em(DIRECT, none)
    with pytest.raises(dn.EmptyBatch):
        DIRECT.estimate(dn.Tally(DIRECT.fingerprint, 0, np.zeros(3, np.int64)))
    with pytest.raises(dn.EmptyBatch):
        dn.concatenate([])


@pytest.mark.parametrize("coins", [7, "seed", np.random.default_rng(1), dn.SeededCoins])
def test_a_bare_seed_is_not_a_source_of_randomness(coins: Any) -> None:
    with pytest.raises(dn.InvalidCoins, match="SeededCoins"):
        DIRECT.perturb(["red"], coins)


def test_secure_coins_are_the_default() -> None:
    values = np.zeros(400, np.int64)
    assert NUMBERS.perturb(values).pack() != NUMBERS.perturb(values).pack()
    assert NUMBERS.perturb(values, dn.SeededCoins(1)).pack() == NUMBERS.perturb(values, dn.SeededCoins(1)).pack()


def test_reports_of_another_mechanism() -> None:
    reports = DIRECT.perturb(["red"] * 5)
    stricter = dn.DirectResponse(COLOURS, 0.5)  # the same layout, another law
    for refuse in (stricter.count, stricter.tally, stricter.pack, UNARY.count, lambda r: dn.em(stricter, r)):
        with pytest.raises(dn.SurveyMismatch):
            refuse(reports)
    with pytest.raises(dn.SurveyMismatch):
        stricter.unpack(DIRECT.pack(reports))
    with pytest.raises(dn.SurveyMismatch):
        stricter.estimate(DIRECT.tally(reports))
    with pytest.raises(dn.SurveyMismatch):
        dn.concatenate([reports, stricter.perturb(["red"])])


def test_tallies_that_cannot_be() -> None:
    for counts in ([1, 2], [1, -1, 3], [1, 2, 11], [[1, 2, 3]]):
        with pytest.raises(dn.InvalidReport):
            DIRECT.estimate(dn.Tally(DIRECT.fingerprint, 10, np.array(counts)))
    for text in (
        "",
        "{}",
        "[]",
        '{"fingerprint": "a", "n": 1}',
        '{"fingerprint": "a", "n": 1, "counts": [0.5]}',
        '{"fingerprint": 1, "n": 1, "counts": [1]}',
    ):
        with pytest.raises(dn.InvalidReport):
            dn.Tally.from_json(text)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (Fraction(1, 4), Fraction(1, 2)),
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(1), Fraction(1, 2)),
        (Fraction(9, 10), Fraction(1, 10)),
        (Fraction(3, 2), Fraction(0)),
        (0.5, Fraction(1, 4)),
    ],
)
def test_unary_probabilities_that_break_the_budget(p: Any, q: Any) -> None:
    with pytest.raises(dn.InvalidParameter):
        dn.Unary(COLOURS, 1.0, p, q)


@pytest.mark.parametrize("size", [-1, 3, 4, 1.5, "2", True])
def test_subset_sizes_that_make_no_sense(size: Any) -> None:
    with pytest.raises(dn.InvalidParameter):
        dn.SubsetSelection(COLOURS, 1.0, size)


def test_whole_parameters_are_numbers_of_any_kind_but_not_truth_values() -> None:
    for make in (dn.SubsetSelection, dn.LocalHashing, dn.Wheel):
        assert make(dn.Categories(range(9)), 1.0, np.int64(3)) == make(dn.Categories(range(9)), 1.0, 3)  # type: ignore[arg-type]
        for number in (True, 2.0, "2"):
            with pytest.raises(dn.InvalidParameter):
                make(dn.Categories(range(9)), 1.0, number)  # type: ignore[arg-type]


@pytest.mark.parametrize("truth", [[0.5, 0.5], [0.5, 0.5, 0.5], [1.5, -0.5, 0], [math.nan, 0.5, 0.5]])
def test_true_shares_that_are_none(truth: list[float]) -> None:
    with pytest.raises(dn.InvalidParameter):
        DIRECT.predict(truth, 100)
    with pytest.raises(dn.InvalidParameter):
        DIRECT.predict([0.2, 0.3, 0.5], 0)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, math.nan])
def test_confidence_that_is_none(confidence: float) -> None:
    with pytest.raises(dn.InvalidParameter):
        DIRECT.predict([0.2, 0.3, 0.5], 10).interval(confidence)


def test_descriptions_that_were_tampered_with() -> None:
    good = json.loads(DIRECT.to_json())
    changes: list[dict[str, object]] = [
        {"odds": "4"},
        {"epsilon": 0},
        {"epsilon": "1"},
        {"epsilon": 10**400},
        {"mechanism": "direct-2"},
        {"domain": {}},
        {"domain": {"kind": "categories", "size": "3"}},
        {"domain": 3},
        {"domain": {"kind": "categories", "size": 10**30}},
        {"extra": 1},
    ]
    for change in changes:
        with pytest.raises(dn.InvalidParameter):
            dn.mechanism_from_json(json.dumps({**good, **change}))
    unary = json.loads(UNARY.to_json())
    for wrong in ({"p": "1/0"}, {"p": "x"}, {"q": "1/2"}):
        with pytest.raises(dn.InvalidParameter):
            dn.mechanism_from_json(json.dumps({**unary, **wrong}))
    for text in ("", "[]", "null", "{}", "[" * 100_000):
        with pytest.raises(dn.InvalidParameter):
            dn.mechanism_from_json(text)


def test_columns_that_no_device_can_have_sent() -> None:
    layout = Layout((Number("hash", 1000), Flags("cells", 11, ones=2)))
    good: dict[str, Any] = {"hash": np.array([999, 0], np.uint16), "cells": np.array([[3, 0], [0, 6]], np.uint8)}
    assert layout.check(good) == 2
    back = layout.unpack(layout.pack(good), 2)
    assert all(np.array_equal(back[name], good[name]) for name in good)
    wrong: list[dict[str, Any]] = [
        {"hash": np.array([1000, 0], np.uint16)},
        {"hash": np.array([1, 0], np.int64)},
        {"hash": np.array([1], np.uint16)},
        {"cells": np.array([[7, 0], [0, 6]], np.uint8)},
        {"cells": np.array([[1, 8], [0, 6]], np.uint8)},
        {"cells": np.array([[3], [6]], np.uint8)},
        {"more": np.array([1, 2], np.uint8)},
    ]
    for change in wrong:
        with pytest.raises(dn.InvalidReport):
            dn.Reports.of("0" * 32, layout, {**good, **change})
    stray = bytearray(layout.pack({name: column[:1] for name, column in good.items()}))
    stray[-1] |= 0x80  # 21 bits leave three unused
    with pytest.raises(dn.InvalidReport, match="not zero"):
        layout.unpack(bytes(stray), 1)


def test_a_value_too_large_for_its_domain_is_not_counted() -> None:
    reports = dn.Reports(DIRECT.fingerprint, DIRECT.layout, {"value": np.array([3], np.uint8)})
    with pytest.raises(dn.InvalidReport):
        DIRECT.count(reports)


def test_no_repr_shows_an_answer() -> None:
    reports = DIRECT.perturb(["green"] * 3)
    assert "green" not in repr(reports)
    assert repr(reports) == f"<Reports: 3 of 2 bits, mechanism {DIRECT.fingerprint[:8]}>"


def test_missing_extras_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in ("matplotlib", "matplotlib.pyplot", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(dn.MissingExtra, match=r"deniable\[plot\]"):
        DIRECT.predict([0.2, 0.3, 0.5], 10).plot()
    with pytest.raises(dn.MissingExtra, match=r"deniable\[parquet\]"):
        dn.to_arrow(DIRECT, DIRECT.perturb(["red"]))


def test_every_error_is_ours() -> None:
    public = [getattr(dn, name) for name in dn.__all__]
    errors = [each for each in public if isinstance(each, type) and issubclass(each, Exception)]
    assert len(errors) == 15
    assert all(issubclass(each, dn.DeniableError) for each in errors)
