"""Test vectors: seed, answers, report bytes, counts, estimate; every client in every language must agree with them.

`python -m tests.vectors` writes them anew to vectors/; do that only when a wire name is added.
"""

import json
from collections.abc import Iterator

import deniable as dn
from tests import ROOT
from tests.examples import DISTRIBUTIONS, EXAMPLES, MAPS, NUMBERS
from tests.open_examples import LEAN, PUBLISHED
from tests.streams import CountingCoins
from tests.vector_surveys import bad_answers, bad_survey_messages, bad_surveys, good_surveys

FOLDER = ROOT / "vectors"
PEOPLE = 12
FILMS = dn.KeyValue(["Alien", "Brazil", "Clue", "Dune", "Emma"], low=0.5, high=5, at_most=3)
AGES, UNEVEN, RANGE = dn.Ordered(range(18, 30)), dn.Ordered([0, 1, 3, 4, 9, 11, 20]), dn.Interval(-1, 1, steps=6)
GRADES = dn.Ordered(["low", "middle", "high"])
KEYED: dict[str, dn.Mechanism] = {
    "pckv-unary": dn.PCKVUnary(FILMS, 1.0),
    "pckv-unary-published": dn.PCKVUnary.published(FILMS, 2.0),
    "pckv-unary-balanced": dn.PCKVUnary.balanced(FILMS, 1.0),
    "pair-wheel": dn.PairWheel(FILMS, 1.0),
    "pair-wheel-frequencies": dn.PairWheel.frequencies(FILMS, 1.0),
    "pckv-direct": dn.PCKVDirect(FILMS, 1.0),
    "pckv-direct-frequencies": dn.PCKVDirect.frequencies(FILMS, 1.0),
    "privset": dn.PrivSet(FILMS, 1.0),
    "privset-three": dn.PrivSet(FILMS, 1.0, 3, 1),
    "privset-threshold": dn.PrivSet(FILMS, 2.0, 3, 2),
    "key-sampling": dn.KeySampling.kvue(FILMS, 1.0),
    "key-sampling-privkv": dn.KeySampling.privkv_for(FILMS, 1.0),
    "key-sampling-fakes": dn.KeySampling.privkv(FILMS, 0.5, 0.5, [0.0, 0.5, -1.0, 1.0, 0.1]),
}
RELEASED: dict[str, dn.Mechanism] = {
    "ordered-direct": dn.DirectResponse(AGES, 1.0),
    "ordered-words": dn.Wheel(GRADES, 1.0),
    "places": dn.SubsetSelection(
        dn.Points([[45.7, 4.8], [48.9, 2.4], [43.7, 7.3]], "haversine", ["Lyon", "Paris", "Nice"]), 1.0
    ),
    "bipartite": dn.Bipartite(AGES, 1.5),
    "bipartite-uneven": dn.Bipartite(UNEVEN, 1.5, near=3),
    "bipartite-interval": dn.Bipartite(RANGE, 1.5, near=3),
    "bipartite-words": dn.Bipartite(GRADES, 0.3),
    "coarsened": dn.Coarsened(AGES, 1.5),
    "coarsened-uneven": dn.Coarsened(UNEVEN, 1.5),
    "coarsened-interval": dn.Coarsened(RANGE, 1.5),
    "coarsened-one": dn.Coarsened(AGES, 1.5, [5]),
    "staircase": dn.Staircase(AGES, 1.5, [1, 2, 3, 6]),
    "metric": dn.MetricRelease(GRADES, 1.5, [[9, 3, 2], [4, 6, 4], [3, 3, 8]], 0.9),
}
EVERYTHING: dict[str, dn.Mechanism] = {
    **EXAMPLES,
    **NUMBERS,
    **DISTRIBUTIONS,
    "tiles-places": MAPS["tiles-places"],
    "tiles-shifted": MAPS["tiles-shifted"],
    **{f"utility-{name}": mechanism for name, mechanism in LEAN.items()},
    **{f"published-{name}": mechanism for name, mechanism in PUBLISHED.items()},
    **KEYED,
    **RELEASED,
}


def good(name: str, mechanism: dn.Mechanism) -> dict[str, object]:
    """One batch, and each of its answers on its own as a device sends it."""
    domain = mechanism.domain
    answers = [domain.answer((5 * person + person * person) % domain.size) for person in range(PEOPLE)]
    if name in KEYED:
        answers = [
            {FILMS.labels[key]: 0.5 + (person + key) * 7 % 10 * 0.45 for key in range(person % 4)} for person in range(12)
        ]
    coins = CountingCoins(name.encode())
    singles, drawn = [], []
    for answer in answers:
        before = coins.drawn
        singles.append(mechanism.perturb([answer], coins))
        drawn.append(coins.drawn - before)
    reports = dn.concatenate(singles)
    tally = mechanism.tally(reports)
    return {
        "name": name,
        "spec": mechanism.spec(),
        "fingerprint": mechanism.fingerprint,
        "report_bits": mechanism.layout.bits,
        "seed": name,
        "answers": answers,
        "random_bytes": drawn,
        "reports": [single.pack().hex() for single in singles],
        "message": mechanism.pack(reports).hex(),
        "counts": tally.counts.tolist(),
        "odds": None if (odds := mechanism.loss().odds) is None else str(odds),
        **estimated(mechanism, tally),
    }


def estimated(mechanism: dn.Mechanism, tally: dn.Tally) -> dict[str, list[float]]:
    """The estimate and its errors: of keys their frequencies; nothing for releases that cannot be inverted."""
    try:
        found = mechanism.estimate(tally)
    except dn.InvalidParameter:
        return {}
    if isinstance(found, dn.KeyValueEstimate):
        found = found.frequency
    return {"values": found.values.tolist(), "standard_errors": found.standard_error.tolist()}


def bad(name: str, mechanism: dn.Mechanism) -> Iterator[dict[str, object]]:
    """Messages that must be refused, and by which error."""
    message = mechanism.pack(mechanism.perturb([mechanism.domain.answer(0)] * 3, dn.SeededCoins(name.encode())))
    other = EXAMPLES["direct" if name != "direct" else "warner"].fingerprint
    for why, data, error in [
        ("empty", b"", "InvalidReport"),
        ("cut off", message[:-1], "InvalidReport"),
        ("left over", message + b"\0", "InvalidReport"),
        ("damaged", message[:33] + bytes([message[33] ^ 1]) + message[34:], "InvalidReport"),
        ("another format", with_checksum(message[:4] + b"\2" + message[5:-4]), "InvalidReport"),
        ("another magic", with_checksum(b"XXXX" + message[4:-4]), "InvalidReport"),
        ("another mechanism", with_checksum(message[:8] + bytes.fromhex(other) + message[24:-4]), "SurveyMismatch"),
        ("one report too many", with_checksum(message[:24] + b"\x0c" + message[25:-4]), "InvalidReport"),
        ("stray bits", with_checksum(message[:-5] + bytes([message[-5] | 0x80])), "InvalidReport"),
    ]:
        if why != "stray bits" or 3 * mechanism.layout.bits % 8:
            yield {"name": name, "why": why, "message": data.hex(), "error": error}


def with_checksum(body: bytes) -> bytes:
    import zlib

    return body + zlib.crc32(body).to_bytes(4, "little")


def all_vectors() -> dict[str, list[dict[str, object]]]:
    return {
        "good": [good(name, mechanism) for name, mechanism in EVERYTHING.items()],
        "bad": [vector for name, mechanism in EVERYTHING.items() for vector in bad(name, mechanism)],
        "surveys": list(good_surveys()),
        "bad_surveys": [*bad_surveys(), *bad_answers(), *bad_survey_messages()],
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for kind, vectors in all_vectors().items():
        (FOLDER / f"{kind}.json").write_text("[\n" + ",\n".join(json.dumps(each) for each in vectors) + "\n]\n")
