"""How numbers are distributed in experiments: shapes to choose settings on, shapes to compare on, and real data."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints
from research.data.folder import Data

PEOPLE, CELLS = 100_000, 256


@dataclass(frozen=True)
class Shape:
    """How numbers are distributed: the cells, from 0 to `cells` - 1, of some people."""

    name: str
    cells: int
    draw: Callable[[np.random.Generator], Ints]
    circular: bool = False


def on_grid(numbers: Floats, cells: int = CELLS) -> Ints:
    """The cells of numbers from 0 to 1."""
    return np.minimum((np.clip(numbers, 0, 1) * cells).astype(np.int64), cells - 1)


def beta(random: np.random.Generator) -> Ints:
    """A smooth density."""
    return on_grid(random.beta(5, 2, PEOPLE))


def rounded_log_normal(random: np.random.Generator) -> Ints:
    """Log-normal numbers, half of them rounded to twentieths."""
    numbers = np.exp(random.normal(-1.6, 0.7, PEOPLE))
    rounded = random.random(PEOPLE) < 0.5
    numbers[rounded] = np.round(20 * numbers[rounded]) / 20
    return on_grid(numbers)


def two_peaks(random: np.random.Generator) -> Ints:
    """A mixture of two normal densities."""
    low = random.random(PEOPLE) < 0.4
    return on_grid(np.where(low, random.normal(0.25, 0.06, PEOPLE), random.normal(0.65, 0.12, PEOPLE)))


def even_with_spikes(random: np.random.Generator) -> Ints:
    """Even numbers, of which a third are rounded to tenths."""
    numbers, rounded = random.random(PEOPLE), random.random(PEOPLE) < 1 / 3
    numbers[rounded] = np.round(10 * numbers[rounded]) / 10
    return on_grid(numbers)


def gamma(random: np.random.Generator) -> Ints:
    """A skew density."""
    return on_grid(random.gamma(2, 0.1, PEOPLE))


def normal(random: np.random.Generator) -> Ints:
    """A normal density, cut off at both ends, of which a fifth are rounded to quarters."""
    numbers, rounded = random.normal(0.5, 0.3, PEOPLE), random.random(PEOPLE) < 0.2
    numbers[rounded] = np.round(4 * numbers[rounded]) / 4
    return on_grid(numbers)


def logistic(random: np.random.Generator) -> Ints:
    """A logistic function of normal numbers."""
    return on_grid(1 / (1 + np.exp(-random.normal(0.3, 1.0, PEOPLE))))


def triangle(random: np.random.Generator) -> Ints:
    """A density with a corner."""
    return on_grid(random.triangular(0, 0.3, 1.0, PEOPLE))


def wages(random: np.random.Generator) -> Ints:
    """Weibull numbers from 0.08 on, of which a third are rounded to sixteenths."""
    numbers, rounded = 0.08 + 0.3 * random.weibull(1.5, PEOPLE), random.random(PEOPLE) < 0.35
    numbers[rounded] = np.round(16 * numbers[rounded]) / 16
    return on_grid(numbers)


def ramp(random: np.random.Generator) -> Ints:
    """A density that rises evenly."""
    return on_grid(np.sqrt(random.random(PEOPLE)))


def heavy_tails(random: np.random.Generator) -> Ints:
    """Student's density with four degrees of freedom."""
    return on_grid(0.55 + 0.07 * random.standard_t(4, PEOPLE))


# What the settings of all methods are chosen on, and what they are compared on.
CHOSEN_ON = (two_peaks, even_with_spikes, gamma, normal, logistic, triangle, wages, ramp, heavy_tails)
TRAINING = tuple(Shape(draw.__name__, CELLS, draw) for draw in CHOSEN_ON)
MADE_UP = (
    Shape("beta(5, 2)", CELLS, beta),
    Shape("log-normal(-1.6, 0.7), half rounded to twentieths", CELLS, rounded_log_normal),
)


def real_shapes(data: Data) -> list[Shape]:
    """Ages of Adult, ratings of films, and hours of check-ins in quarters, which go round."""
    if not data.has("tabular/adult.csv.gz", "ratings/ml_latest_small_2018.csv.gz", "locations/gowalla_nyc_checkins.csv.gz"):
        return []
    ages = np.array([int(age) for age in data.table("tabular/adult.csv.gz", ["age"])[0]])
    rated = [int(rating) for rating in data.table("ratings/ml_latest_small_2018.csv.gz", ["rating_x2"])[0]]
    times = data.table("locations/gowalla_nyc_checkins.csv.gz", ["time"])[0]
    quarters = np.array([int(text[11:13]) * 4 + int(text[14:16]) // 15 for text in times])
    return [
        Shape(f"ages, {len(ages):,} people", 91, lambda _: np.clip(ages, 0, 90)),
        Shape(f"ratings, {len(rated):,}", 10, lambda _: np.array(rated) - 1),
        Shape(f"quarters of an hour of check-ins, {len(quarters):,}", 96, lambda _: quarters, circular=True),
    ]
