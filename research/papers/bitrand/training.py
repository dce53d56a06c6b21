"""The figures on training: all lines at all budgets, trained several times; figures that share lines share trainings."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats
from deniable_learn.learner import area_under_curve
from research.data.folder import Data
from research.data.samples import images, texts
from research.papers.bitrand.lines import (
    OURS_AWARE,
    OURS_FAIR,
    OURS_RAW,
    SCALARS,
    Line,
    Size,
    Task,
    outcome,
)
from research.papers.figure import Pace, Row

COLUMNS = (
    "data",
    "epsilon",
    "mechanism",
    "accuracy %",
    "its error",
    "AUC %",
    "error of AUC",
    "true epsilon",
    "BitRand's gain",
    "gain in the paper",
)
ERRORS = {"accuracy %": "its error", "AUC %": "error of AUC"}
CLIENTS = {"AG": 43, "digits": 227}  # samples of a client, as in the paper for AG and for FEMNIST
QUICK, FULL, LABELS = (1.0, 5.0, 10.0), (1.0, 2.0, 3.0, 5.0, 7.0, 10.0), (1.0, 2.5, 5.0, 10.0)
NOISELESS, RANDOM = Line("nothing", "noiseless"), Line("nothing", "random")

ENDS = (NOISELESS, RANDOM)
CODED = (Line("features", "LATENT"), Line("features", "OME"))
BITRAND = (Line("features", "BitRand"), *(Line("features", "BitRand", labels) for labels in LABELS))
OURS = tuple(Line("ours", name) for name in (OURS_RAW, OURS_AWARE, OURS_FAIR))
FEATURES = (*(Line("features", name) for name in SCALARS), *CODED)
GRADIENTS = (*(Line("gradients", name) for name in SCALARS), *CODED)
ANONYMIZED = (*(Line("anonymized", name) for name in (*SCALARS, "LDP-FL")), *CODED)
LAPLACE = tuple(Line("features", "BitRand", labels, laplace=True) for labels in LABELS)
CORRECTED = tuple(Line("features", "BitRand", labels, corrected=True) for labels in LABELS[:2])


@dataclass(eq=False)
class Study:
    """Trainings by data, line, budget and repetition, each made once."""

    quick: bool
    seed: int
    data: Data
    pace: Pace
    tasks: dict[tuple[str, int, int], Task] = field(default_factory=dict)
    made: dict[str, tuple[float, float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take up what an earlier run kept."""
        if self.kept is not None and self.kept.is_file():
            lines = self.kept.read_text(encoding="utf-8").splitlines()
            self.made.update((key, (a, b, c)) for key, a, b, c in map(json.loads, lines))

    @property
    def kept(self) -> Path | None:
        """The file with a line for each training, by the way all were made."""
        if self.pace.kept is None:
            return None
        real = "real" if self.data.folder else "made-up"
        return self.pace.kept / f"bitrand-trainings-{'quick' if self.quick else 'full'}-{self.seed}-{real}.jsonl"

    @property
    def size(self) -> Size:
        """Two repetitions at least, or there would be no standard error."""
        rounds, repeats = self.pace.times(self.quick, 40, 60), self.pace.times(self.quick, 3, 4)
        return Size(64, max(5, rounds), max(2, repeats))

    @property
    def budgets(self) -> tuple[float, ...]:
        """Claimed epsilons of the features."""
        return QUICK if self.quick else FULL

    @property
    def people(self) -> int:
        """In AG; twice as many in digits, where fewer numbers describe each."""
        return max(200, self.pace.times(self.quick, 800, 3000))

    def task(self, data: str, repeat: int, times: int = 1) -> Task:
        """Other people in each repetition, so many times as many as usual."""
        if (data, repeat, times) not in self.tasks:
            people, own = times * self.people, 1000 * self.seed + repeat
            held = texts(self.data, own, people) if data == "AG" else images(self.data, own, 2 * people)
            self.tasks[data, repeat, times] = Task(held, CLIENTS[data], self.size, f"{self.seed} {repeat}")
        return self.tasks[data, repeat, times]

    def once(self, data: str, line: Line, epsilon: float, repeat: int, times: int = 1) -> tuple[float, float, float]:
        """Accuracy and area under the curve in percent, and the true epsilon."""
        if line in ENDS:
            epsilon = 0.0
        key = repr((data, line, epsilon, repeat, times, self.size, self.people))
        if key not in self.made:
            task = self.task(data, repeat, times)
            scores, cost = outcome(task, line, epsilon)
            self.made[key] = (*scored(scores, task.held.test_right.astype(np.int64)), cost)
            if self.kept is not None:
                with self.kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, *self.made[key]]) + "\n")
        return self.made[key]

    def all(self, data: str, line: Line, epsilon: float, measure: str) -> Floats:
        """One measure in all repetitions."""
        place = list(ERRORS).index(measure)
        return np.array([self.once(data, line, epsilon, k)[place] for k in range(self.size.repeats)])

    def gain(self, data: str, line: Line, rival: Line, epsilons: Sequence[float], measure: str) -> tuple[float, float]:
        """By how many points a line is above another on average over budgets, and the standard error of that."""
        each = np.mean([self.all(data, line, e, measure) - self.all(data, rival, e, measure) for e in epsilons], axis=0)
        return float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each)))

    def best(self, data: str, rivals: Sequence[Line], epsilon: float, measure: str) -> Line:
        """The rival with the highest mean."""
        return max(rivals, key=lambda line: float(self.all(data, line, epsilon, measure).mean()))

    def rows(
        self, lines: Sequence[Line], ours: Line, stated: dict[tuple[str, Line], str], measure: str, pace: Pace
    ) -> list[Row]:
        """The table: all lines at all budgets, with the gain of BitRand at budget 1 where the paper has one."""
        found: list[Row] = []
        cells = [(data, epsilon) for data in CLIENTS for epsilon in self.budgets]
        for data, epsilon in pace.over(cells):
            for line in lines:
                row: list[str | float] = [data, epsilon, line.name]
                for each in ERRORS:
                    values = self.all(data, line, epsilon, each)
                    row += [float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))]
                cost = max(self.once(data, line, epsilon, k)[2] for k in range(self.size.repeats))
                paper = stated.get((data, line), "") if epsilon == self.budgets[0] else ""
                gain = self.gain(data, ours, line, (epsilon,), measure)[0]
                found.append((*row, cost, gain, paper))
        return found

    @property
    def notes(self) -> list[str]:
        """What was trained on what."""
        size = self.size
        return [
            *(self.task(data, 0).held.note for data in CLIENTS),
            "LATENT and OME are corrected as in the paper, at epsilon / 4.57 and / 2",
            "SEC and CelebA are missing, and digits replace FEMNIST; the paper's p-values are not compared, since it does "
            "not state how often it trained",
            f"{size.repeats} repetitions with other people, coins and first weights each; two hidden layers of "
            f"{size.hidden} rectified units (the paper: 1,500), {size.rounds} rounds in which all clients take part (the "
            f"paper does not state), clients of {CLIENTS['AG']} and {CLIENTS['digits']} samples as in the paper",
        ]


@lru_cache(maxsize=2)
def study(quick: bool, seed: int, data: Data, pace: Pace) -> Study:
    """The same for all figures of a run."""
    return Study(quick, seed, data, pace)


def scored(scores: Floats, right: NDArray[np.int64]) -> tuple[float, float]:
    """Accuracy, and the mean area under the curve of each class against the others; in percent."""
    scores = np.nan_to_num(scores)
    areas = [
        area_under_curve(right == c, scores[:, c]) for c in range(scores.shape[1]) if 0 < (right == c).sum() < len(right)
    ]
    return 100 * float((scores.argmax(axis=1) == right).mean()), 100 * float(np.mean(areas))
