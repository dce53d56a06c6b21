"""The programs of vectors/laws.json for tests of clients: their codes, and what Python makes of them."""

import itertools
import json
import math
import random
import subprocess
from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.arrays import Ints
from deniable.core.operations import Type
from deniable.core.program import Program
from tests import ROOT

VECTORS = json.loads((ROOT / "vectors" / "laws.json").read_text())


def text_of(case: dict[str, Any]) -> str:
    return json.dumps(case["law"], separators=(",", ":"))


def flat(codes: Sequence[Any]) -> list[int]:
    return [number for code in codes for number in (code if isinstance(code, list) else [code])]


def output(*command: object, data: bytes = b"") -> str:
    done = subprocess.run([str(word) for word in command], input=data, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout.decode()[-2000:] + done.stderr.decode()[-4000:]
    return done.stdout.decode()


def batch(program: Program, codes: Sequence[int], size: int) -> list[Ints]:
    left, found = iter(codes), []
    for place, _ in program.codes:
        width = program.types[place].width
        values = np.array(list(itertools.islice(left, width or 1)), np.int64)
        found.append(np.repeat(values[None], size, axis=0) if width else np.repeat(values, size))
    return found


def some_codes(program: Program, most: int) -> list[list[int]]:
    """All codes where they are few; else the lowest, the highest and some between."""
    kinds = [program.types[place] for place, _ in program.codes]
    ranges = [range(kind.low, kind.high + 1) for kind in kinds for _ in range(kind.width or 1)]
    if any(kind.distinct for kind in kinds):
        return [[each for kind in kinds for each in _distinct(kind, turn)] for turn in range(most)]
    if math.prod(len(each) for each in ranges) <= most:
        return [list(each) for each in itertools.product(*ranges)]
    draw = random.Random(len(ranges))
    between = [[draw.choice(each) for each in ranges] for _ in range(most - 2)]
    return [[each[0] for each in ranges], [each[-1] for each in ranges], *between]


def _distinct(kind: Type, turn: int) -> list[int]:
    """A code whose numbers differ from each other: some of all in turn."""
    return [kind.low + (turn + place) % kind.size for place in range(kind.width or 1)]


def listed(column: Any, size: int) -> list[int | bytes]:
    """A field of the reports: rows as bytes, numbers as numbers."""
    if np.ndim(column) == 2:
        return [bytes(row) for row in column]
    return [int(number) for number in np.broadcast_to(column, size)]


def law_of(*nodes: list[Any]) -> str:
    """A law that reports every node but the codes."""
    report = [[f"f{place}", place] for place, node in enumerate(nodes) if node[0] != "code"]
    return json.dumps({"nodes": nodes, "report": report})
