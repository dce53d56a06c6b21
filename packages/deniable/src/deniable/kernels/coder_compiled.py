"""The text of coder_plain.py, compiled by numba: in whole numbers there is nothing that could differ."""

import numpy as np
from numba import njit

from deniable.kernels import coder_plain
from deniable.kernels.same_text import compiled


@njit(cache=True, nogil=True)
def bit_length(number):  # type: ignore[no-untyped-def]
    """The exponent of the same number as a float."""
    return max(0, (np.float64(number).view(np.int64) >> 52) - 1022)


OFTEN = ("backwards", "put_bits", "put_number", "put_symbol", "put_raw", "symbol_of", "finish")
_names = compiled(coder_plain, OFTEN, bit_length=bit_length)
code_labels, code_symbols = _names["code_labels"], _names["code_symbols"]
read_headers, read_labels, read_symbols = _names["read_headers"], _names["read_labels"], _names["read_symbols"]
