"""Tables that are looked into: compiled loops find what bisection finds."""

import numpy as np
import pytest

from deniable.arrays import Ints
from deniable.core.weights import WeightTable
from deniable.kernels import tables
from deniable.kernels.tables import bisected, starts_of
from tests.twins import plain_loops

pytestmark = pytest.mark.needs("numba")


def weights(rows: int, columns: int, total: int, seed: int) -> Ints:
    """Rows with one sum: most columns have little, some nothing, so that many edges fall on the same highest bits."""
    draws = np.random.default_rng(seed)
    found = np.zeros((rows, columns), np.int64)
    for row in found:
        cuts = np.sort(np.minimum(draws.geometric(min(0.5, 40 / total), columns - 1), total))
        row[:] = np.diff(np.concatenate([[0], cuts, [total]]))
        draws.shuffle(row)
    return found


@pytest.mark.parametrize("rows, columns", [(1, 1), (1, 2), (1, 300), (7, 2), (5, 33), (40, 500)])
@pytest.mark.parametrize("total", [1, 3, 64, 1000, 1 << 50, (1 << 63) - 1])
def test_columns_are_found_as_by_bisection(rows: int, columns: int, total: int) -> None:
    from deniable.kernels import tables_compiled

    table = WeightTable(weights(rows, columns, total, columns).tolist())
    draws = np.random.default_rng(1)
    row, number = draws.integers(rows, size=4000), draws.integers(total, size=4000)
    edges = table.edges[row, draws.integers(columns, size=4000)]
    number[::3] = np.clip(edges - draws.integers(2, size=4000), 0, total - 1)[::3]  # at an edge, and just below it
    number[:2] = 0, total - 1
    expected = bisected(table.edges, row, number)
    lows = table.edges[row, expected] - table.weights[row, expected]
    assert ((lows <= number) & (number < table.edges[row, expected])).all()
    for loops in (tables_compiled, plain_loops(tables)):
        np.testing.assert_array_equal(loops.find_columns(table.edges, *starts_of(table.edges), row, number), expected)
    np.testing.assert_array_equal(table.find(row, number), expected)


def test_cells_are_taken_and_places_outside_refused() -> None:
    from deniable.kernels import tables_compiled

    cells = np.arange(35, dtype=np.uint16).reshape(5, 7)
    row, column = np.repeat(np.arange(5), 7), np.tile(np.arange(7), 5)
    for loops in (tables_compiled, plain_loops(tables)):
        np.testing.assert_array_equal(loops.take_cells(cells, row, column), np.arange(35))
    for place in ((5, 0), (0, 7), (-1, 0)):
        with pytest.raises(IndexError):
            tables_compiled.take_cells(cells, *(np.array([each]) for each in place))
