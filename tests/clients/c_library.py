"""The client in C, built into a folder and called from Python, with the coins that Python gives it."""

import ctypes
import itertools
import math
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests import ROOT

FOLDER = ROOT / "clients" / "c"
SOURCES = ["program.c", "types.c", "json.c", "run.c", "coins.c", "aes.c", "sha256.c", "message.c"]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SANITIZED = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
OK, LONG_FRACTION, MEMORY, CODE, COINS, LAYOUT, ROOM = 0, 17, 18, 19, 20, 21, 22


def compiled(out: Path, *options: str, sources: Sequence[str] = SOURCES) -> Path:
    """What the compiler makes of the sources, without a warning."""
    command = ["cc", *STRICT, *options, "-o", str(out), *sources]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out


class Odds(ctypes.Structure):
    _fields_ = [
        ("above", ctypes.POINTER(ctypes.c_uint32)),
        ("below", ctypes.POINTER(ctypes.c_uint32)),
        ("limbs", ctypes.c_uint32),
    ]

    @property
    def fraction(self) -> Fraction:
        parts = (sum(part[i] << 32 * i for i in range(self.limbs)) for part in (self.above, self.below))
        return Fraction(*parts)


class NodeView(ctypes.Structure):
    _fields_ = [
        ("op", ctypes.c_uint8),
        ("row", ctypes.c_uint8),
        ("params", ctypes.c_uint16),
        ("width", ctypes.c_uint32),
        ("low", ctypes.c_int64),
        ("high", ctypes.c_int64),
        ("args", ctypes.c_void_p),
        ("count", ctypes.c_uint32),
        ("rows", ctypes.c_uint32),
        ("columns", ctypes.c_uint32),
        ("whole", ctypes.c_int64 * 3),
        ("table", ctypes.c_void_p),
        ("odds", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("number", ctypes.c_int64),
        ("numbers", ctypes.POINTER(ctypes.c_int64)),
        ("bits", ctypes.c_void_p),
    ]

    @property
    def value(self) -> int | bytes:
        return ctypes.string_at(self.bits, (self.width + 7) // 8) if self.row else int(self.number)


class FieldView(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("length", ctypes.c_size_t), ("node", ctypes.c_uint32)]


class ProgramView(ctypes.Structure):
    _fields_ = [
        ("nodes", ctypes.POINTER(NodeView)),
        ("size", ctypes.c_uint32),
        ("report", ctypes.POINTER(FieldView)),
        ("fields", ctypes.c_uint32),
        ("used", ctypes.c_size_t),
        ("place", ctypes.c_uint32),
    ]


_P, _I, _U = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint32
_CALLBACKS = [
    ("toss", ctypes.CFUNCTYPE(ctypes.c_int, _P, _P, _U, _P, _P)),
    ("below", ctypes.CFUNCTYPE(ctypes.c_int, _P, _I, _P)),
    ("split", ctypes.CFUNCTYPE(ctypes.c_int, _P, _P, _I, _I, _P)),
    ("pick", ctypes.CFUNCTYPE(ctypes.c_int, _P, _P, _U, _P)),
    ("toss_each", ctypes.CFUNCTYPE(ctypes.c_int, _P, _P, _I, _U, _P)),
    ("subset", ctypes.CFUNCTYPE(ctypes.c_int, _P, _U, _U, ctypes.c_int, _P)),
    ("majority", ctypes.CFUNCTYPE(ctypes.c_int, _P, _U, _P, _P)),
]


_ENCODER = ctypes.CFUNCTYPE(ctypes.c_int, _P, _P, _U, _P)


class CoinsView(ctypes.Structure):
    _fields_ = [("state", _P), *_CALLBACKS]


class Refused(Exception):
    """The library's code and sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Law:
    """A program that the library has loaded into memory of its own."""

    def __init__(self, library: "Library", text: bytes, memory: int) -> None:
        self._library, self._memory, self.view = library, ctypes.create_string_buffer(memory), ProgramView()
        library.check(library.c.deniable_load(ctypes.byref(self.view), text, len(text), self._memory, memory))

    @property
    def report(self) -> dict[str, int | bytes]:
        """The fields of the last run."""
        return {name: self.view.nodes[node].value for name, node in self.fields}

    @property
    def fields(self) -> list[tuple[str, int]]:
        fields = (self.view.report[i] for i in range(self.view.fields))
        return [(ctypes.string_at(each.name, each.length).decode(), each.node) for each in fields]

    def run(self, coins: CoinsView, codes: Sequence[int]) -> None:
        given = (ctypes.c_int64 * len(codes))(*codes)
        self._library.check(self._library.c.deniable_run(ctypes.byref(self.view), ctypes.byref(coins), given, len(codes)))

    def run_encoded(self, coins: CoinsView, encode: Callable[[int, list[int]], list[int]]) -> None:
        """Run with an encoder, which is given the number of the code and the values of its draws."""
        turn = itertools.count()

        def encoder(_: Any, program: Any, node: int, out: int) -> int:
            code = self.view.nodes[node]
            args = (ctypes.c_uint32 * code.count).from_address(code.args) if code.count else ()
            values = encode(next(turn), [int(self.view.nodes[arg].number) for arg in args])
            _numbers(out, max(1, code.width))[:] = values
            return 0

        made = _ENCODER(encoder)
        self._library.check(self._library.c.deniable_run_encoded(ctypes.byref(self.view), ctypes.byref(coins), made, None))

    def pack(self, widths: Sequence[int] | None, room: int = 4096) -> bytes:
        out, size = ctypes.create_string_buffer(room), ctypes.c_size_t()
        given = None if widths is None else (ctypes.c_uint32 * len(widths))(*widths)
        self._library.check(self._library.c.deniable_pack(ctypes.byref(self.view), given, out, room, ctypes.byref(size)))
        return out.raw[: size.value]

    def wipe(self) -> bytes:
        """Forget the values; the whole memory afterwards."""
        self._library.c.deniable_wipe(ctypes.byref(self.view))
        return self._memory.raw


class Library:
    """The shared object."""

    def __init__(self, path: Path) -> None:
        self.c = ctypes.CDLL(str(path))
        self.c.deniable_sentence.restype = ctypes.c_char_p

    def check(self, code: int) -> None:
        if code != OK:
            raise Refused(code, self.c.deniable_sentence(code).decode())

    def load(self, text: str, memory: int = 1 << 20) -> Law:
        return Law(self, text.encode("utf-8", "surrogatepass"), memory)

    def _stream(self, make: Callable[[Any], object]) -> CoinsView:
        coins = CoinsView()
        coins.stream = ctypes.create_string_buffer(1024)  # larger than the structure, and kept as long as the coins
        make(coins.stream)
        self.c.deniable_from_stream(ctypes.byref(coins), coins.stream)
        return coins

    def seeded(self, seed: int | bytes) -> CoinsView:
        name = seed if isinstance(seed, bytes) else str(seed).encode()
        return self._stream(lambda stream: self.c.deniable_seeded(stream, name, len(name)))

    def secure(self) -> CoinsView:
        return self._stream(lambda stream: self.check(self.c.deniable_secure(stream)))

    def sha256(self, data: bytes) -> bytes:
        state, out = ctypes.create_string_buffer(256), ctypes.create_string_buffer(32)
        self.c.deniable_sha256_start(state)
        self.c.deniable_sha256_add(state, data, ctypes.c_size_t(len(data)))
        self.c.deniable_sha256_end(state, out)
        return out.raw

    def part(self, coins: CoinsView, questions: int, sample: int) -> int:
        part = ctypes.c_uint64()
        self.check(self.c.deniable_draw_part(ctypes.byref(coins), questions, sample, ctypes.byref(part)))
        return part.value

    def message(
        self, fingerprint: bytes, identity: bytes, part: int, period: int, payload: bytes, room: int = 4096
    ) -> bytes:
        out, size = ctypes.create_string_buffer(room), ctypes.c_size_t()
        self.check(
            self.c.deniable_message(
                fingerprint,
                identity,
                ctypes.c_uint64(part),
                ctypes.c_uint32(period),
                payload,
                ctypes.c_size_t(len(payload)),
                out,
                ctypes.c_size_t(room),
                ctypes.byref(size),
            )
        )
        return out.raw[: size.value]

    def with_token(self, message: bytes, token: bytes, room: int = 4096) -> bytes:
        out, size = ctypes.create_string_buffer(message, room), ctypes.c_size_t(len(message))
        place, length = ctypes.c_size_t(room), ctypes.c_size_t(len(token))
        self.check(self.c.deniable_add_token(token, length, out, place, ctypes.byref(size)))
        return out.raw[: size.value]


Weight = tuple[Any, ...]  # which outcome of which draw: all that its probability follows from


class EveryOutcome:
    """Coins for C that go through every combination of outcomes, one run each, like the wheels of an odometer."""

    def __init__(self) -> None:
        self._wheels: list[list[int]] = []  # where each draw stands, and how many outcomes it has
        self._turn = 0
        self.weights: list[Weight] = []
        self.failed: BaseException | None = None
        self.view = CoinsView(None, *(kind(self._guarded(getattr(self, name))) for name, kind in _CALLBACKS))

    def _guarded(self, draw: Callable[..., None]) -> Callable[..., int]:
        def call(_: Any, *args: Any) -> int:
            try:
                draw(*args)
            except BaseException as error:  # must not be lost on the way through C
                self.failed = error
                return 1
            return 0

        return call

    def runs(self) -> Iterator[None]:
        """One for each combination."""
        while True:
            self._turn, self.weights = 0, []
            yield
            if self.failed is not None:
                raise self.failed
            while self._wheels and self._wheels[-1][0] + 1 == self._wheels[-1][1]:
                self._wheels.pop()
            if not self._wheels:
                return
            self._wheels[-1][0] += 1

    def _choose(self, outcomes: int) -> int:
        if self._turn == len(self._wheels):
            self._wheels.append([0, outcomes])
        wheel = self._wheels[self._turn]
        assert wheel[1] == outcomes
        self._turn += 1
        return wheel[0]

    def toss(self, heads: int, bits: int, row: int, spare: int) -> None:
        outcome = self._choose(1 << bits)
        self.weights.append((_tossed, heads, outcome.bit_count(), bits))
        _write(row, outcome, bits)

    def below(self, n: int, value: int) -> None:
        self.weights.append((_uniform, n))
        ctypes.c_int64.from_address(value).value = self._choose(n)

    def split(self, heads: int, first: int, second: int, value: int) -> None:
        outcome = self._choose(first + second)
        self.weights.append((_parted, heads, first, second, outcome < first))
        ctypes.c_int64.from_address(value).value = outcome

    def pick(self, weights: int, count: int, value: int) -> None:
        outcome = self._choose(count)
        self.weights.append((_picked, weights, count, outcome))
        ctypes.c_int64.from_address(value).value = outcome

    def toss_each(self, heads: int, whole: int, count: int, values: int) -> None:
        shares, out = (_numbers(each, count) for each in (heads, values))
        for place, share in enumerate(shares):
            out[place] = share == whole if share in (0, whole) else self._choose(2)
            self.weights.append((_shared, share, whole, out[place]))

    def subset(self, n: int, k: int, one_less: int, row: int) -> None:
        wanted = k - bool(one_less)
        outcome = self._choose(math.comb(n, wanted))
        self.weights.append((_uniform, math.comb(n, wanted)))
        members = next(itertools.islice(itertools.combinations(range(n), wanted), outcome, None))
        _write(row, sum(1 << member for member in members), n)

    def majority(self, n: int, row: int, spare: int) -> None:
        rows = [each for each in range(1 << n) if 2 * each.bit_count() > n]
        self.weights.append((_uniform, len(rows)))
        _write(row, rows[self._choose(len(rows))], n)


def _write(row: int, value: int, bits: int) -> None:
    size = (bits + 7) // 8
    ctypes.memmove(row, value.to_bytes(size, "little"), size)


def _numbers(at: int, count: int) -> Any:
    return (ctypes.c_int64 * count).from_address(at)


def _odds(at: int) -> Fraction:
    return Odds.from_address(at).fraction


def _tossed(heads: int, ones: int, bits: int) -> Fraction:
    return _odds(heads) ** ones * (1 - _odds(heads)) ** (bits - ones)


def _uniform(n: int) -> Fraction:
    return Fraction(1, n)


def _parted(heads: int, first: int, second: int, inside: bool) -> Fraction:
    return _odds(heads) / first if inside else (1 - _odds(heads)) / second


def _picked(weights: int, count: int, outcome: int) -> Fraction:
    row = list(_numbers(weights, count))
    return Fraction(row[outcome], sum(row))


def _shared(share: int, whole: int, up: int) -> Fraction:
    return Fraction(share if up else whole - share, whole)


Report = tuple[int | bytes, ...]


def enumerated(law: Law, codes: Sequence[int]) -> dict[Report, Fraction]:
    """The exact law of the code in C: the probability of each report on these codes."""
    coins, seen = EveryOutcome(), Counter[tuple[Report, tuple[Weight, ...]]]()
    nodes = [law.view.nodes[node] for _, node in law.fields]
    for _ in coins.runs():
        law.run(coins.view, codes)
        seen[tuple(node.value for node in nodes), tuple(coins.weights)] += 1
    single: dict[Weight, Fraction] = {}
    found: dict[Report, Fraction] = {}
    for (report, weights), times in seen.items():
        for weight in weights:
            if weight not in single:
                single[weight] = weight[0](*weight[1:])
        chance = math.prod((single[weight] for weight in weights), start=Fraction(times))
        found[report] = found.get(report, Fraction(0)) + chance
    return {report: chance for report, chance in found.items() if chance}
