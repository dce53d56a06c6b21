"""The text of coder_plain.py, compiled by numba: in whole numbers there is nothing that could differ."""

from deniable.kernels import coder_plain
from deniable.kernels.same_text import compiled

_names = compiled(coder_plain)
code_labels, code_symbols = _names["code_labels"], _names["code_symbols"]
read_headers, read_labels, read_symbols = _names["read_headers"], _names["read_labels"], _names["read_symbols"]
