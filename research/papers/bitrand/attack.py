"""What one report of f-RR discloses: images recovered from features that are said to be private at epsilon 1.

The attacker knows the mechanism and public images of other people. From one report of a person he estimates every number
without bias, and takes the best linear estimate given the mean and the covariance of the public images. Or he knows that the
person is one of 2,000 and picks the one whose report this most likely is.
"""

import math
from functools import partial

import numpy as np

from deniable import BitRand, FeatureVector
from deniable.arrays import Floats
from deniable.domains import Features, SignMagnitude
from research.data.folder import Data
from research.papers import style
from research.papers.bitrand.theory import true_epsilon
from research.papers.brr.published_sgd import pixels
from research.papers.figure import ALL, Figure, Pace, Result, Row, coins_for, set_up, theory, trend

FIGURE = Figure("bitrand/attack", "BitRand", "images recovered from one report each, claimed epsilon 1", seconds=9, own=True)
COLUMNS = ("person", "shown", "pixel", "value")
EPSILON, BITS, SHOWN, CANDIDATES, PUBLIC = 1.0, 10, 5, 2000, 4000
TRUTH, READ, BEST, FAIR = "true image", "f-RR, as read", "f-RR, recovered", "certified epsilon 1, recovered"
LARGEST = 0.99  # of a number that 10 bits below one hold


def code_bits(made: BitRand, rows: Floats) -> Floats:
    """The bits of the codes of all numbers, the highest first: people x numbers x bits."""
    domain = made.domain
    assert isinstance(domain, SignMagnitude)
    return domain.bits_of(rows).astype(np.float32)


def reported_bits(made: BitRand, rows: Floats, *what: object) -> Floats:
    """The bits that people report."""
    reports, size = made.perturb(rows, coins_for(1, "attack", *what)), rows.shape[1]
    planes = [
        np.unpackbits(reports.columns[f"bit{place}"], axis=1, bitorder="little", count=size) for place in range(made.bits)
    ]
    return np.stack(planes, axis=2).astype(np.float32)


def unbiased(made: BitRand, bits: Floats) -> Floats:
    """Every number from its reported bits: each without bias, then sign times magnitude, whose noises are independent."""
    ones, zeros = (np.array([float(each) for each in chances]) for chances in (made.ones, made.zeros))
    known = (bits - zeros) / (ones - zeros)
    magnitude = known[:, :, 1:] @ (0.5 ** np.arange(1, made.bits))
    return np.asarray((2 * known[:, :, 0] - 1) * magnitude)


def identified(made: BitRand, bits: Floats, candidates: Floats) -> float:
    """How often the most likely of the candidates is the person, the first ones being those who reported."""
    ones, zeros = (np.array([float(each) for each in chances]) for chances in (made.ones, made.zeros))
    gain = bits * np.log(ones / zeros) + (1 - bits) * np.log((1 - ones) / (1 - zeros))  # of a true one over a true zero
    scores = gain.reshape(len(bits), -1) @ code_bits(made, candidates).reshape(len(candidates), -1).T
    return float((scores.argmax(axis=1) == np.arange(len(bits))).mean())


def recovered(noisy: Floats, public: Floats, noise: Floats) -> Floats:
    """The best linear estimate of rows with independent noise of these variances, by the moments of the public rows."""
    mean = public.mean(axis=0)
    spread = np.cov(public.T) + 1e-4 * np.eye(len(mean))
    return np.asarray(mean + (noisy - mean) @ np.linalg.solve(spread + np.diag(noise), spread))


def run(quick: bool, seed: int, data: Data, pace: Pace = ALL) -> Result:
    """Five images, and how often people are identified."""
    held = pixels(data, seed, max(300, pace.times(quick, PUBLIC, PUBLIC)), CANDIDATES, 1)
    public, people = (LARGEST * np.clip(2 * each - 1, -1, 1) for each in (held.rows, held.test))
    size = people.shape[1]
    made = BitRand.as_published(size, BITS, EPSILON)
    sample = public[:100]
    noise = ((unbiased(made, reported_bits(made, sample, seed, "public")) - sample) ** 2).mean(axis=0)
    bits = reported_bits(made, people[:100], seed, "people")
    read = np.clip(unbiased(made, bits), -1, 1)
    best = recovered(unbiased(made, bits), public, noise)
    fair = FeatureVector(Features(size, -1, 1), EPSILON)
    single = np.array(
        [
            fair.estimate(fair.tally(fair.perturb(row[None], coins_for(seed, "fair", place)))).values
            for place, row in enumerate(people[:SHOWN])
        ]
    )
    spread = fair.predict(sample, 1).standard_error ** 2
    images = {
        TRUTH: people[:SHOWN],
        READ: read[:SHOWN],
        BEST: best[:SHOWN],
        FAIR: recovered(single, public, np.asarray(spread)),
    }
    rows: list[Row] = [
        (person, name, pixel, round(float(value), 3))
        for name, shown in images.items()
        for person, image in enumerate(shown)
        for pixel, value in enumerate(image)
    ]
    alike = {
        name: float(np.mean([np.corrcoef(a - public.mean(axis=0), b - public.mean(axis=0))[0, 1] for a, b in pairs]))
        for name, pairs in (
            (BEST, list(zip(best, people[:100], strict=True))),
            (FAIR, list(zip(images[FAIR], people[:SHOWN], strict=True))),
        )
    }
    found, cost = identified(made, bits, people), true_epsilon("f-RR", size, BITS, EPSILON)
    most = math.e / len(people)
    checks = (
        theory(
            f"f-RR keeps epsilon {EPSILON:g}: one report identifies one of {len(people):,} people with probability "
            f"{most:.2%} at most",
            found <= most,
            f"it identifies {found:.0%} of 100 people; it costs {cost:.0f} (erratum BitRand B1)",
        ),
        trend(
            "an image recovered from one report is like the true one: the correlation of what differs from the mean image",
            alike[BEST] > 0.5,
            f"it is {alike[BEST]:.2f}",
        ),
    )
    notes = (
        f"{size} numbers of {BITS} bits each, one report a person; {len(public):,} public images of other people",
        f"correlation with the true image, both without the mean image: {alike[BEST]:.2f} from f-RR at a claimed "
        f"{EPSILON:g}, {alike[FAIR]:.2f} from a report that is certified for {EPSILON:g} (FeatureVector)",
        *(() if data.folder else ("stand-in: made-up patterns",)),
    )
    return Result(COLUMNS, rows, checks, notes, setup=set_up(notes))


def plot(result: Result) -> "style.Picture":
    """Images in a row for each way."""
    names = [str(name) for name in style.distinct(result.column("shown"))]
    people = [int(person) for person in style.distinct(result.column("person"))]
    figure, axes = style.blank(len(names), len(people), 1.5, 1.5)
    draw = partial(np.array, dtype=np.float64)
    for row, name in enumerate(names):
        for place, person in enumerate(people):
            chart, values = axes[row * len(people) + place], draw(result.numbers("value", shown=name, person=person))
            side = round(len(values) ** 0.5)
            chart.imshow(values[: side * side].reshape(side, side), cmap="gray", vmin=-1, vmax=1)
            chart.set_xticks([], [])
            chart.set_yticks([], [])
            chart.grid(visible=False)
            chart.set(xlabel=f"person {person + 1}" if row == len(names) - 1 else " ", ylabel=name if not place else " ")
            chart.yaxis.label.set_fontsize(7)
    return figure
