"""The inner loops on arrays: NumPy at first, compiled by numba once a process has done enough work to pay for loading it."""

from deniable.kernels.plain import column_sums as column_sums
from deniable.kernels.plain import expect_work as expect_work
from deniable.kernels.plain import histogram as histogram
from deniable.kernels.plain import interval_counts as interval_counts
from deniable.kernels.plain import scale as scale
from deniable.kernels.plain import settle as settle
from deniable.kernels.plain import subsets as subsets
from deniable.kernels.plain import toss_lanes as toss_lanes
from deniable.kernels.rows import get_bits as get_bits
from deniable.kernels.rows import move_bits as move_bits
from deniable.kernels.rows import put_bits as put_bits
from deniable.kernels.steps import add_scaled as add_scaled
from deniable.kernels.steps import aim as aim
from deniable.kernels.steps import all_within as all_within
from deniable.kernels.steps import grid_codes as grid_codes
from deniable.kernels.steps import grid_position as grid_position
from deniable.kernels.steps import remainder as remainder
from deniable.kernels.steps import wrap as wrap
