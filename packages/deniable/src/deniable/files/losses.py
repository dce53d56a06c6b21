"""Loss matrices from CSV files."""

import csv
from os import PathLike
from pathlib import Path

from deniable.domains.loss_matrix import LossMatrix
from deniable.errors import InvalidParameter


def read_losses(path: str | PathLike[str]) -> LossMatrix:
    """The losses in a CSV file: a row for each true answer and a column for each released one.

    If the first line is not numbers, it names the answers; rows may then begin with the same names. A matrix in NumPy needs
    no file: `LossMatrix(array)`.
    """
    with Path(path).open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    labels: list[str] | None = None
    if rows and not _numbers(rows[0]):
        labels, rows = [name.strip() for name in rows[0]], rows[1:]
        if rows and not _numbers(rows[0][:1]):
            labels = labels[1:] if len(labels) == len(rows) + 1 else labels
            if [row[0].strip() for row in rows] != labels:
                raise InvalidParameter("The rows of the file must begin with the names of its first line, in that order.")
            rows = [row[1:] for row in rows]
    if not all(_numbers(row) for row in rows):
        raise InvalidParameter("The file must hold numbers, except for names in the first line and the first column.")
    return LossMatrix([[float(cell) for cell in row] for row in rows], labels)


def _numbers(row: list[str]) -> bool:
    try:
        [float(cell) for cell in row]
    except ValueError:
        return False
    return True
