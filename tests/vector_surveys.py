"""Whole surveys for the test vectors: every kind of question, every mechanism that the planner takes, and bad ones."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import deniable as dn
from deniable.survey import message as survey_message
from tests.streams import CountingCoins
from tests.surveys import COMMUTE, KINDS, OPENS, SAMPLED, survey

WORDS = ["never", "rarely", "sometimes", "often"]


def asked(*questions: Mapping[str, object], **about: object) -> str:
    """A survey file in JSON."""
    numbered = [{"id": f"q{place}", **question} for place, question in enumerate(questions)]
    return json.dumps({"survey": {"id": "vector", "epsilon": 1.0, **about}, "question": numbered})


def related(questions: Sequence[Mapping[str, object]], tables: list[list[str]], **about: object) -> str:
    """The same, for tables of these questions."""
    return json.dumps({**json.loads(asked(*questions, **about)), "table": [{"questions": each} for each in tables]})


def chosen(question: Mapping[str, object], wire: str = "direct-1") -> dict[str, object]:
    """The question with a mechanism of this family, so that it is reported by itself."""
    return {**question, "mechanism": {"mechanism": wire}}


def category(size: int) -> dict[str, object]:
    return {"kind": "category", "choices": list(range(size))}


def ratings(size: int, at_most: int) -> dict[str, object]:
    return {
        "kind": "ratings",
        "items": [f"item {place}" for place in range(size)],
        "low": 0.5,
        "high": 5,
        "at_most": at_most,
    }


def features(dimensions: int) -> dict[str, object]:
    return {"kind": "features", "dimensions": dimensions, "low": -1, "high": 1}


def given(question: Mapping[str, object], mechanism: Callable[[Any], dn.Mechanism]) -> dict[str, object]:
    """The question with a mechanism that was chosen by hand."""
    domain = dn.Survey.from_json(asked(question)).questions[0].mechanism.domain
    return {**question, "mechanism": mechanism(domain).spec()}


EVENINGS = {"kind": "ordered", "choices": WORDS}
AGES = {"kind": "ordered", "low": 18, "high": 40}
MONEY = {"kind": "number", "low": -12.5, "high": 1000}
SICK = {
    "kind": "category",
    "choices": ["flu", "burn", "cold", "none", "other"],
    "sensitive": ["burn", "none"],
    "optional": True,
}
APPS = {"kind": "set", "items": ["chat", "map", "game", "bank", "mail", "news"], "at_most": 3}
LEVELS = {"kind": "ordered", "low": 0, "high": 20, "target": "ranges"}
AREA = {"kind": "place", "area": [[48.80, 2.25], [48.92, 2.41]], "grid": [3, 4], "target": "ranges"}
FILM = {"item 0": 4.25, "item 2": 0.5}

Case = tuple[str, dict[str, object], float]
SURVEYS: dict[str, Case] = {
    "commute": (
        survey(COMMUTE).to_json(),
        {"mode": "bus", "minutes": 33.3},
        0.0,
    ),
    "commute-sensitive": (survey(COMMUTE).to_json(), {"mode": "none of these", "minutes": 200}, 0.0),
    "kinds": (
        survey(KINDS).to_json(),
        {
            "mood": 7,
            "often": "sometimes",
            "films": {"Brazil": 4.5},
            "apps": ["bank", "chat"],
            "home": "Nice",
            "taste": [0.25, -1, 0.3, 1],
        },
        0.0,
    ),
    "kinds-empty": (
        survey(KINDS).to_json(),
        {"mood": 0, "often": "never", "films": {}, "apps": [], "home": "Lyon", "taste": [1, 1, -0.1, 0]},
        0.0,
    ),
    "sampled": (survey(SAMPLED).to_json(), {"a": None, "b": 16, "c": 0.4}, OPENS + 3 * 86_400.0 + 5),
    "silence": (asked({**SICK}, epsilon=0.7, title="Krankheit \u00e9 \U0001f600"), {}, 0.0),
    "open": (asked(SICK, epsilon=2.0), {"q0": "cold"}, 0.0),
    "open-many": (asked({**SICK, "sensitive": ["burn", "none", "other"]}), {"q0": "none"}, 0.0),
    "other": (asked({"kind": "category", "choices": ["a", "b", "c"], "other": "c"}), {"q0": "z"}, 0.0),
    "design": (asked(category(100)), {"q0": 99}, 0.0),
    "many": (asked(category(5000), epsilon=0.5), {"q0": 4321}, 0.0),
    "weighted": (
        asked({**category(4), "weight": 3.0}, {**AGES, "weight": 0.5}, budget="weighted", epsilon=3.0),
        {"q0": 2, "q1": 18},
        0.0,
    ),
    "bare-numbers": (asked(MONEY, epsilon=0.4), {"q0": 417.25}, 0.0),
    "numbers-hybrid": (asked(MONEY, epsilon=1.1), {"q0": -99}, 0.0),
    "numbers-three": (asked(MONEY, epsilon=2.0), {"q0": 0.1}, 0.0),
    "numbers-piecewise": (asked(MONEY, epsilon=4.0), {"q0": 1000}, 0.0),
    "ratings-unary": (asked(ratings(40, 3), epsilon=3.0), {"q0": FILM}, 0.0),
    "ratings-published": (asked(given(ratings(5, 3), lambda d: dn.PCKVUnary.published(d, 1.0))), {"q0": FILM}, 0.0),
    "ratings-wheel": (asked(given(ratings(5, 3), lambda d: dn.PairWheel(d, 1.0))), {"q0": FILM}, 0.0),
    "ratings-direct": (asked(given(ratings(5, 3), lambda d: dn.PCKVDirect(d, 1.0))), {"q0": FILM}, 0.0),
    "ratings-privset": (asked(given(ratings(5, 3), lambda d: dn.PrivSet(d, 1.0, 3, 2))), {"q0": FILM}, 0.0),
    "ratings-privkv": (
        asked(given(ratings(3, 2), lambda d: dn.KeySampling.privkv(d, 0.5, 0.25, [0.5, 0.0, -1.0]))),
        {"q0": {"item 1": 5.0}},
        0.0,
    ),
    "features-signs": (asked(given(features(4), lambda d: dn.DuchiVector(d, 1.0))), {"q0": [0.1, 0.2, -0.3, 1]}, 0.0),
    "features-odd": (asked(given(features(3), lambda d: dn.DuchiVector(d, 1.0))), {"q0": [0.1, 0.2, -0.3]}, 0.0),
    "features-many": (asked(features(20), epsilon=8.0), {"q0": [place / 20 for place in range(20)]}, 0.0),
    "release-bipartite": (asked(given(AGES, lambda d: dn.Bipartite(d, 1.0))), {"q0": 23}, 0.0),
    "release-coarsened": (asked(given(EVENINGS, lambda d: dn.Coarsened(d, 0.5))), {"q0": "often"}, 0.0),
    "release-number": (asked(given(MONEY, lambda d: dn.Bipartite(d, 1.0, near=30))), {"q0": 3.0}, 0.0),
    "distribution": (asked({**MONEY, "target": "distribution"}), {"q0": 417.25}, 0.0),
    "quantiles": (asked({**MONEY, "target": "quantiles"}, {**AGES, "target": "ranges"}), {"q0": 0.1, "q1": 39}, 0.0),
    "rounds": (asked({**MONEY, "target": "quantiles"}, rounds=3), {"q0": 999}, 0.0),
    **{
        f"chosen-{make.__name__}": (asked(given(category(12), lambda d, make=make: make(d, 1.0))), {"q0": 7}, 0.0)  # type: ignore[misc]
        for make in (dn.DirectResponse, dn.Unary, dn.SubsetSelection, dn.HadamardResponse, dn.LocalHashing, dn.Wheel)
    },
    # Tables: combinations as one question, pairs that are drawn in public, and answers to each with a share of the budget.
    "table-compound": (
        related([category(2), EVENINGS, category(3)], [["q0", "q1"]], people=5000),
        {"q0": 1, "q1": "often", "q2": 0},
        0.0,
    ),
    "table-pairs": (
        related([category(4)] * 5, [list(pair) for pair in combinations(["q0", "q1", "q2", "q3", "q4"], 2)], people=50_000),
        {"q0": 3, "q1": 0, "q2": 2, "q3": 1, "q4": 0},
        0.0,
    ),
    "table-split": (
        related([chosen(category(2)), chosen({**category(2), "optional": True})], [["q0", "q1"]], people=5000),
        {"q0": 1},
        0.0,
    ),
    # What only the second edition of the planner has.
    "planner-2": (
        asked(
            category(10), {**SICK, "sensitive": ["flu", "burn", "cold", "none"]}, APPS, LEVELS, AREA, epsilon=5.0, planner=2
        ),
        {"q0": 9, "q1": "cold", "q2": ["map", "chat"], "q3": 12, "q4": "48.8 to 48.84, 2.29 to 2.33"},
        0.0,
    ),
    "planner-2-table": (
        related([category(4), EVENINGS], [["q0", "q1"]], planner=2, epsilon=0.5),
        {"q0": 3, "q1": "never"},
        0.0,
    ),
}


def good_surveys() -> Iterator[dict[str, object]]:
    """A survey, one person's answers, and the message that a device makes of them with these random bytes."""
    for name, (text, answers, now) in SURVEYS.items():
        made = dn.Survey.from_json(text)
        coins = CountingCoins(name.encode())
        part = made.draw_parts(1, coins)[0]
        message = made.randomize(answers, coins, now, part)
        identity = name.encode().ljust(16, b".")[:16]
        yield {
            "name": name,
            "survey": made.to_json(),
            "fingerprint": made.fingerprint,
            "odds": str(made.loss().odds),
            "seed": name,
            "now": now,
            "answers": answers,
            "part": str(part),
            "random_bytes": coins.drawn,
            "id": identity.hex(),
            "message": renamed(message, identity).hex(),
        }


def renamed(message: bytes, identity: bytes) -> bytes:
    """The message with another id, which is not drawn from the coins."""
    from tests.vectors import with_checksum

    return with_checksum(message[:24] + identity + message[40:-4])


def changed(text: str, change: Callable[[Any], None]) -> str:
    data = copy.deepcopy(json.loads(text))
    change(data)
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def bad_surveys() -> Iterator[dict[str, object]]:
    """Surveys that no device may answer."""
    text, kinds, sick = (SURVEYS[name][0] for name in ("commute", "kinds", "open"))
    sick = dn.Survey.from_json(sick).to_json()
    for why, bad in [
        ("no JSON", text[:-1]),
        ("a list", "[]"),
        ("another format", changed(text, lambda d: d.update(format="deniable survey 2"))),
        ("no questions", changed(text, lambda d: d.update(question=[]))),
        ("an unknown kind", changed(text, lambda d: d["question"][0].update(kind="essay"))),
        ("an unknown mechanism", changed(text, lambda d: d["question"][1]["mechanism"].update(mechanism="hybrid-2"))),
        ("other odds", changed(text, lambda d: d["question"][1]["mechanism"].update(odds="3"))),
        ("more than the budget", changed(text, lambda d: d["survey"].update(epsilon=1.9))),
        ("other answers", changed(text, lambda d: d["question"][0]["choices"].reverse())),
        ("another range", changed(text, lambda d: d["question"][1].update(high=60))),
        ("other places", changed(kinds, lambda d: d["question"][4]["places"].reverse())),
        ("other items", changed(kinds, lambda d: d["question"][2]["items"].reverse())),
        ("more items a person", changed(kinds, lambda d: d["question"][3].update(at_most=4))),
        ("other dimensions", changed(kinds, lambda d: d["question"][5].update(dimensions=5))),
        ("two questions with one id", changed(kinds, lambda d: d["question"][0].update(id="often"))),
        ("open answers that are said to be sensitive", changed(sick, lambda d: d["question"][0].pop("sensitive"))),
        ("others are sensitive", changed(sick, lambda d: d["question"][0].update(sensitive=["flu", "burn"]))),
    ]:
        yield {"name": why, "survey": bad, "error": "InvalidSurvey"}


def bad_answers() -> Iterator[dict[str, object]]:
    """Answers that a question does not allow."""
    every = SURVEYS["kinds"][1]
    wrong: list[tuple[str, dict[str, object]]] = [
        ("not a choice", {"mood": 11}),
        ("a word for a number", {"mood": "7"}),
        ("not given", {"often": None}),
        ("a rating above", {"films": {"Alien": 5.5}}),
        ("an unknown film", {"films": {"Dune": 3}}),
        ("too many", {"films": {"Alien": 1, "Brazil": 2, "Casablanca": 3}}),
        ("no set", {"apps": "chat"}),
        ("an unknown app", {"apps": ["mail"]}),
        ("an unknown place", {"home": "Rome"}),
        ("too few numbers", {"taste": [0, 0, 0]}),
        ("a number outside", {"taste": [0, 0, 0, 1.5]}),
        ("another question", {"colour": "red"}),
    ]
    for why, answers in wrong:
        yield {"name": why, "survey": "kinds", "answers": {**every, **answers}, "error": "OutsideDomain"}


def bad_survey_messages() -> Iterator[dict[str, object]]:
    """Messages of a survey that must be refused."""
    from tests.vectors import with_checksum

    made = dn.Survey.from_json(SURVEYS["sampled"][0])
    identity = bytes(range(16))
    message = renamed(made.randomize({"a": "yes", "b": 0, "c": 0}, dn.SeededCoins(1), OPENS, 0b101), identity)
    head, body = message[: survey_message.HEADER], message[survey_message.HEADER : -4]
    other = bytes.fromhex(dn.Survey.from_json(SURVEYS["commute"][0]).fingerprint)
    for why, data, error in [
        ("empty", b"", "InvalidReport"),
        ("cut off", message[:-1], "InvalidReport"),
        ("left over", message + b"\0", "InvalidReport"),
        ("damaged", message[:57] + bytes([message[57] ^ 1]) + message[58:], "InvalidReport"),
        ("another magic", with_checksum(b"XXXX" + head[4:] + body), "InvalidReport"),
        ("another version", with_checksum(head[:4] + b"\2" + head[5:] + body), "InvalidReport"),
        ("another survey", with_checksum(head[:8] + other + head[24:] + body), "SurveyMismatch"),
        ("another part", with_checksum(head[:40] + b"\7" + head[41:] + body), "InvalidReport"),
        ("a question that is not there", with_checksum(head[:40] + b"\x09" + head[41:] + body), "InvalidReport"),
        ("no report", with_checksum(head[:52] + b"\0" + head[53:] + body), "InvalidReport"),
        ("stray bits", with_checksum(head + bytes([body[0] | 0x80]) + body[1:]), "InvalidReport"),
        ("not a number that is sent", with_checksum(head + b"\3" + body[1:]), "InvalidReport"),
    ]:
        yield {"name": why, "survey": "sampled", "message": data.hex(), "error": error}
