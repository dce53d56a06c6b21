"""Test vectors: seed, answers, report bytes, counts, estimate; every client in every language must agree with them.

`python -m tests.vectors` writes them anew to vectors/; do that only when a wire name is added.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import deniable as dn
from tests.examples import EXAMPLES, NUMBERS
from tests.open_examples import LEAN, PUBLISHED
from tests.streams import CountingCoins

FOLDER = Path(__file__).parent.parent / "vectors"
PEOPLE = 12
EVERYTHING: dict[str, dn.Mechanism] = {
    **EXAMPLES,
    **NUMBERS,
    **{f"utility-{name}": mechanism for name, mechanism in LEAN.items()},
    **{f"published-{name}": mechanism for name, mechanism in PUBLISHED.items()},
}


def good(name: str, mechanism: dn.Mechanism) -> dict[str, object]:
    """One batch, and each of its answers on its own as a device sends it."""
    domain = mechanism.domain
    answers = [domain.answer((5 * person + person * person) % domain.size) for person in range(PEOPLE)]
    coins = CountingCoins(name.encode())
    singles, drawn = [], []
    for answer in answers:
        before = coins.drawn
        singles.append(mechanism.perturb([answer], coins))
        drawn.append(coins.drawn - before)
    reports = dn.concatenate(singles)
    tally = mechanism.tally(reports)
    estimate = mechanism.estimate(tally)
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
        "values": estimate.values.tolist(),
        "standard_errors": estimate.standard_error.tolist(),
    }


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
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for kind, vectors in all_vectors().items():
        (FOLDER / f"{kind}.json").write_text("[\n" + ",\n".join(json.dumps(each) for each in vectors) + "\n]\n")
