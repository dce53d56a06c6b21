"""What the bits of a string say: its name, and the levels of a search that hold all of it."""

import unicodedata

import numpy as np

from deniable.arrays import Bools, Words32
from deniable.domains.string_codes import prefix_code
from deniable.domains.strings import KEY, Strings


def complete(domain: Strings, row: Words32) -> Bools:
    """The levels whose prefix holds the whole string, so that their cell has no other but by chance."""
    if domain.form == KEY:
        return np.ones(len(domain.prefixes), np.bool_)
    name = name_of(domain, row)
    size = prefix_code(domain.form).size(str(name).encode())
    return np.array([bits >= size for bits in domain.prefixes])


def name_of(domain: Strings, row: Words32) -> str | int | None:
    """The string of a row of words; None if it cannot be an answer."""
    number = int.from_bytes(row.astype(">u4").tobytes(), "big")
    bits = 32 * len(row)
    if domain.form == KEY:
        return number >> bits - domain.length
    text = prefix_code(domain.form).text(number, bits)
    try:
        name = (text or b"").decode()
    except UnicodeDecodeError:
        return None
    shown = all(unicodedata.category(each)[0] != "C" for each in name)  # no control or formatting characters
    try:
        return name if shown and domain.normalised(name) == name else None
    except ValueError:
        return None
