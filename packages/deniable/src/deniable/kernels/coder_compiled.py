"""The text of coder_plain.py, compiled by numba: in whole numbers there is nothing that could differ."""

from types import FunctionType

from numba import njit

from deniable.kernels import coder_plain

# In the order in which they call each other: a compiled function may only call compiled ones.
_names = dict(vars(coder_plain))
for _name, _function in vars(coder_plain).items():
    if isinstance(_function, FunctionType) and _function.__module__ == coder_plain.__name__:
        _names[_name] = njit(cache=True, nogil=True)(FunctionType(_function.__code__, _names, _name))

code_labels, code_symbols = _names["code_labels"], _names["code_symbols"]
read_headers, read_labels, read_symbols = _names["read_headers"], _names["read_labels"], _names["read_symbols"]
