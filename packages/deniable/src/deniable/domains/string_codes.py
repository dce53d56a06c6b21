"""Strings as bits: a prefix code for the bytes of a string, so that common characters take few bits."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

END = 256  # the symbol after the last byte

# Of each form the characters by the length of their codes; "\0" stands for the end, and all other bytes take `rest` bits.
FORMS: dict[str, tuple[dict[int, str], int]] = {
    "text": ({4: "\0etaoinsr", 5: "hldcumpg", 6: "fwybvk ", 8: "jxqz-.0123456'&,"}, 14),
    "address": ({4: "\0eaoitnsr", 5: "cmld.uph/", 7: "gbfywvk-012", 9: "xjzq3456789_?=:&%+#~"}, 14),
    "version": ({3: "\0.", 4: "0123456789", 9: "-abcdefghijklmnoprstuvwxyz+ "}, 14),
    "bytes": ({}, 8),
}


class Code(NamedTuple):
    """The bits of a symbol, the first being the most significant of `size` bits."""

    bits: int
    size: int


@dataclass(frozen=True)
class PrefixCode:
    """The canonical prefix code of a form: symbols in order of length, those of one length in the order of `FORMS`."""

    form: str

    @cached_property
    def codes(self) -> dict[int, Code]:
        """The code of each byte, and of the end."""
        groups, rest = FORMS[self.form]
        lengths = [(size, END if each == "\0" else ord(each)) for size, group in groups.items() for each in group]
        known = {symbol for _, symbol in lengths}
        first = 1 if END in known else 0
        lengths += [(rest, byte) for byte in range(first, 256) if byte not in known]
        if END not in known:  # byte 0 occurs in no string
            lengths = [(rest, END), *((rest, byte) for byte in range(1, 256))]
        found, bits, before = {}, 0, lengths[0][0]
        for size, symbol in lengths:
            bits <<= size - before
            found[symbol] = Code(bits, size)
            bits, before = bits + 1, size
        assert bits <= 1 << before
        return found

    def bits(self, text: bytes, most: int) -> int:
        """The first `most` bits of the code of a string and its end, as a number; what is missing is filled with zeros."""
        found = size = 0
        for symbol in (*text, END):
            own = self.codes[symbol]
            found, size = found << own.size | own.bits, size + own.size
            if size >= most:
                return found >> size - most
        return found << most - size

    def size(self, text: bytes) -> int:
        """How many bits a string takes, with its end."""
        return sum(self.codes[symbol].size for symbol in (*text, END))

    @cached_property
    def tree(self) -> list[tuple[int, int]]:
        """The nodes of the code: where bits 0 and 1 lead. Node 0 is the root, 1 the end (filled with zeros), -1 is none."""
        tree = [[-1, -1], [1, -1]]
        for symbol, (bits, size) in self.codes.items():
            node = 0
            for place in reversed(range(size)):
                bit = bits >> place & 1
                if place == 0:
                    tree[node][bit] = 1 if symbol == END else 0
                elif tree[node][bit] < 0:
                    tree.append([-1, -1])
                    tree[node][bit] = len(tree) - 1
                node = tree[node][bit]
        return [(zero, one) for zero, one in tree]

    @cached_property
    def _symbols(self) -> dict[tuple[int, int], int]:
        return {(code.bits, code.size): symbol for symbol, code in self.codes.items()}

    def text(self, bits: int, size: int) -> bytes | None:
        """The string whose code begins so many bits; None if they do not hold its end."""
        symbols, found, start = self._symbols, bytearray(), 0
        for end in range(1, size + 1):
            part = bits >> size - end & (1 << end - start) - 1
            symbol = symbols.get((part, end - start))
            if symbol == END:
                return bytes(found)
            if symbol is not None:
                found.append(symbol)
                start = end
        return None


@cache
def prefix_code(form: str) -> PrefixCode:
    """The code of a form, made once."""
    return PrefixCode(form)
