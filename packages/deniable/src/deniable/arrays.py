"""Names for the arrays that everything here is made of."""

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Whole = int | Ints  # one whole number, or an array of them
Words = NDArray[np.uint64]
