"""Data to learn from: tables of people, images and embeddings of texts; real, or made up in their shape."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints
from research.data import tables
from research.data.folder import Data, random_for

# file, target, columns left out, and what the target must begin with to count as one
TABLES = {
    "abalone": (tables.ABALONE, "rings", (), ""),
    "bias": (tables.BIAS, "Slope", ("Date",), ""),
    "superconduct": (tables.SUPERCONDUCT, "critical_temp", (), ""),
    "adult": (tables.ADULT, "income", ("split",), ">50K"),
    "bank": (tables.BANK, "y", (), "yes"),
}
TEXTS, IMAGES = "text/agnews_minilm_l6_f16.npz", "images/mnist.npz"


@dataclass(frozen=True, eq=False)
class Samples:
    """People to learn from and people to test with: rows of numbers in a public range, and a class or number each."""

    name: str
    rows: Floats
    right: NDArray[np.generic]
    test: Floats
    test_right: NDArray[np.generic]
    low: Floats
    high: Floats
    note: str


def table(data: Data, name: str, seed: int, people: int) -> Samples:
    """A table whose words became numbers; a quarter of the people test."""
    file, target, drop, one = TABLES[name]
    random = random_for(seed, "table", name)
    if data.has(file):
        columns = [column for column in data.header(file) if column not in (target, *drop)]
        names, cells = tables.complete(data, file, [*columns, target])
        read = tables.table(name, names, cells[random.permutation(len(cells))[:people]], target, positive=one)
        rows, right = read.rows, read.right
        if target == "Slope":  # some lost their decimal point
            slope = right.astype(np.float64)
            right = np.where(slope > 100, slope / 1000, slope)
        note = f"{name}: {len(rows):,} real rows, drawn with the seed, {rows.shape[1]} features"
    else:
        read = tables.made_up(name, people, 10, bool(one), random)
        rows, right, note = read.rows, read.right, f"{name}: stand-in, {people:,} made-up rows of 10 features"
    low, high = rows.min(axis=0), rows.max(axis=0)
    cut = len(rows) * 3 // 4
    return Samples(name, rows[:cut], right[:cut], rows[cut:], right[cut:], low, np.where(high > low, high, low + 1), note)


def texts(data: Data, seed: int, people: int) -> Samples:
    """Embeddings of news, of length one, and their four topics."""
    random = random_for(seed, "texts")
    if data.has(TEXTS):
        kept = data.arrays(TEXTS)
        own, held = (random.permutation(len(kept[f"y_{part}"]))[: max(people, 200)] for part in ("train", "test"))
        x, test = (kept[f"x_{part}"][chosen].astype(np.float64) for part, chosen in (("train", own), ("test", held)))
        y, right = kept["y_train"][own].astype(np.int64), kept["y_test"][held].astype(np.int64)
        note = f"AG: {len(x):,} real texts of AG News as 384 numbers each (the paper has 120,000 as 768)"
    else:
        centres = random.normal(size=(4, 64)) / 8
        y, right = np.arange(people) % 4, np.arange(people) % 4
        x, test = (centres[labels] + random.normal(size=(people, 64)) * 0.12 for labels in (y, right))
        note = f"AG: stand-in, {people:,} made-up embeddings of 64 numbers"
    return _unit("AG", x, y, test, right, note)


def images(data: Data, seed: int, people: int) -> Samples:
    """Digits as 7 x 7 means of their pixels, of length one, and their ten classes."""
    random = random_for(seed, "images")
    if data.has(IMAGES):
        kept = data.arrays(IMAGES)
        own, held = (random.permutation(len(kept[f"y_{part}"]))[: max(people, 300)] for part in ("train", "test"))
        x, test = (_pooled(kept[f"x_{part}"][chosen]) for part, chosen in (("train", own), ("test", held)))
        y, right = kept["y_train"][own].astype(np.int64), kept["y_test"][held].astype(np.int64)
        note = f"digits: {len(x):,} real images of MNIST as 49 numbers each"
    else:
        patterns = random.normal(size=(10, 49))
        y, right = np.arange(people) % 10, np.arange(people) % 10
        x, test = (patterns[labels] + 1.2 * random.normal(size=(people, 49)) for labels in (y, right))
        note = f"digits: stand-in, {people:,} made-up patterns of 49 numbers"
    return _unit("digits", x, y, test, right, note)


def _pooled(pixels: NDArray[np.uint8]) -> Floats:
    means = pixels.reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49) / 255
    return np.asarray(means - means.mean(axis=1, keepdims=True))


def _unit(name: str, x: Floats, y: Ints, test: Floats, right: Ints, note: str) -> Samples:
    rows, held = (each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-9) for each in (x, test))
    ends = np.ones(rows.shape[1])
    return Samples(name, rows, y, held, right, -ends, ends, note)
