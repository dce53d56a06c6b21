"""Names for the arrays that everything here is made of, and for what follows long work."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Whole = int | Ints  # one whole number, or an array of them
Words = NDArray[np.uint64]
Words32 = NDArray[np.uint32]

Progress = Callable[[float], None]  # is called with the share of the work that is done
