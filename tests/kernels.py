"""Compiles the loops that the families call, once: processes that start together would each compile the same ones.

python -m tests.kernels
"""

import tempfile
from pathlib import Path

import deniable as dn
from deniable.kernels import expect_work
from tests.families import MECHANISMS, written


def compile_all() -> None:
    """numba keeps what it compiles beside the source, where every later process finds it."""
    expect_work()
    with tempfile.TemporaryDirectory() as folder:
        for mechanism in MECHANISMS:
            dn.aggregate(mechanism, _written(mechanism, Path(folder)), workers=1)


def _written(mechanism: dn.Mechanism, folder: Path) -> Path:
    part = Path(tempfile.mkdtemp(dir=folder))
    written(mechanism, part)
    return part


if __name__ == "__main__":
    compile_all()
