"""Programs with seeded runs, one answer each: what an interpreter in any language must give. Written to vectors/laws.json.

python -m tests.law_vectors
"""

import json
from functools import partial
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.bits import PackedBits
from deniable.core.running import run
from tests import ROOT
from tests.families import INSTANCES

FILE = ROOT / "vectors" / "laws.json"
LONGEST = 40_000  # letters of a program


def cases(mechanism: dn.Mechanism) -> list[dict[str, Any]]:
    """A few answers, each with the codes that the program is given and the fields that come out."""
    found = []
    for seed in range(4):
        domain, law = mechanism.domain, mechanism._law
        answers = [domain.answer(int(dn.SeededCoins(b"answer %d" % seed).below(min(domain.size, 1 << 40), 1)[0]))]
        used: list[Any] = []
        if domain.inputs is not None:
            codes: list[Any] = list(domain.encode(answers))
            used = [code[0].tolist() for code in codes]
        else:
            codes = [partial(_noted, used, partial(encode, domain.index(answers))) for encode in law.encoders if encode]
        fields = run(law.program, codes, dn.SeededCoins(seed), 1)
        found.append({"seed": seed, "codes": used, "report": {name: _plain(value) for name, value in fields.items()}})
    return found


def _noted(used: list[Any], encode: Any, *draws: Any) -> Any:
    code = encode(*draws)
    used.append(int(code[0]))
    return code


def _plain(value: Any) -> Any:
    if isinstance(value, PackedBits):
        value = value.bytes
    value = np.asarray(value)
    return value.tobytes().hex() if value.ndim == 2 else int(value.ravel()[0])


def vectors() -> list[dict[str, Any]]:
    """All instances whose laws are programs of moderate length, each program once."""
    found, seen = [], set()
    for name, mechanism in INSTANCES.items():
        if mechanism.traced and mechanism.law.fingerprint not in seen and len(mechanism.law.to_json()) <= LONGEST:
            seen.add(mechanism.law.fingerprint)
            found.append({"name": name, "law": json.loads(mechanism.law.to_json()), "cases": cases(mechanism)})
    return found


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in vectors())
    FILE.write_text(f"[\n{lines}\n]\n")
