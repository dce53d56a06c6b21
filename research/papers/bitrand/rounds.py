"""Federated rounds in NumPy: a network with two hidden layers, clients that send gradients, a server that takes their mean.

It is Algorithm 1 of the paper: every client reports the mean gradient of its own samples in every round, and every client
counts once. The server's step has momentum, which the paper does not have, so that tens of rounds do. It is in NumPy so that
the figures need no extra; the tests compare it with Flower's FedAvg.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints

Floats = NDArray[np.float32]

RATE, MOMENTUM = 0.1, 0.9  # the rate is the paper's for images
LONGEST = 1.0  # to which a client cuts its gradient where it is randomized, and the server what it steps along


@dataclass(frozen=True)
class Layers:
    """From `inputs` numbers through two layers of `hidden` rectified units to a score for each of `outputs` classes."""

    inputs: int
    outputs: int
    hidden: int
    constants: bool = True  # whether they are learnt; they start at zero

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Of the three matrices, each with a last row for the constant."""
        return (self.inputs + 1, self.hidden), (self.hidden + 1, self.hidden), (self.hidden + 1, self.outputs)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return sum(a * b for a, b in self.shapes)

    def start(self, random: np.random.Generator) -> Floats:
        """Random weights of the size that keeps rectified units at theirs (He et al. 2015), constants of zero."""
        parts = [random.normal(0, (2 / (a - 1)) ** 0.5, (a, b)) for a, b in self.shapes]
        for part in parts:
            part[-1] = 0
        return np.concatenate([part.ravel() for part in parts]).astype(np.float32)

    def matrices(self, weights: Floats) -> list[Floats]:
        """The weights, layer by layer."""
        ends = np.cumsum([a * b for a, b in self.shapes])
        return [weights[end - a * b : end].reshape(a, b) for end, (a, b) in zip(ends, self.shapes, strict=True)]

    def scores(self, weights: Floats, rows: Floats) -> Floats:
        """The score of each class for each row."""
        return self._passed(self.matrices(weights), rows)[-1]

    @staticmethod
    def _passed(matrices: Sequence[Floats], rows: Floats) -> list[Floats]:
        layers = [rows]
        for place, matrix in enumerate(matrices):
            out = layers[-1] @ matrix[:-1] + matrix[-1]
            layers.append(np.maximum(out, 0) if place < 2 else out)
        return layers

    def gradient(self, weights: Floats, rows: Floats, labels: Ints, shares: Floats, channel: Floats | None = None) -> Floats:
        """The gradient of the cross entropy, summed over rows that count by their shares.

        With a channel, of the labels that were reported: the loss of T' p (Patrini et al. 2017).
        """
        parts = []
        for given, back in self._factors(weights, rows, labels, shares, channel):
            parts += [(given.T @ back).ravel(), back.sum(axis=0) * np.float32(self.constants)]
        return np.concatenate(parts)

    def gradients(self, weights: Floats, rows: Floats, labels: Ints, shares: Floats) -> Floats:
        """The same of each of several groups of rows, which all have as many: one row each."""
        count, each = labels.shape
        made, end = np.empty((count, self.size), np.float32), 0
        factors = self._factors(weights, rows.reshape(count * each, -1), labels.ravel(), shares.ravel())
        for given, back in factors:
            (a, b), own = (given.shape[1], back.shape[1]), back.reshape(count, each, -1)
            np.matmul(given.reshape(count, each, a).swapaxes(1, 2), own, out=made[:, end : end + a * b].reshape(count, a, b))
            made[:, end + a * b : end + (a + 1) * b] = own.sum(axis=1) * np.float32(self.constants)
            end += (a + 1) * b
        return made

    def _factors(
        self, weights: Floats, rows: Floats, labels: Ints, shares: Floats, channel: Floats | None = None
    ) -> list[tuple[Floats, Floats]]:
        """For each layer what it was given and what came back to it: the gradient of its matrix is their product."""
        matrices = self.matrices(weights)
        layers = self._passed(matrices, rows)
        p = np.exp(layers[-1] - layers[-1].max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        if channel is None:
            right = np.eye(self.outputs, dtype=np.float32)[labels]
        else:
            right = p * channel[:, labels].T
            right /= np.maximum(right.sum(axis=1, keepdims=True), np.float32(1e-30))
        back, found = (p - right) * shares[:, None], []
        for matrix, given in zip(matrices[::-1], layers[-2::-1], strict=True):
            found.append((given, back))
            if len(found) < len(matrices):
                back = (back @ matrix[:-1].T) * (given > 0)
        return found[::-1]


@dataclass(frozen=True, eq=False)
class Clients:
    """Samples, those of a client side by side, and where each client's begin and end."""

    rows: Floats
    labels: Ints
    ends: Ints

    @classmethod
    def split(cls, rows: NDArray[np.floating], labels: Ints, each: int) -> "Clients":
        """Clients of about so many samples."""
        count = max(1, round(len(labels) / each))
        sizes = np.array([len(part) for part in np.array_split(np.arange(len(labels)), count)])
        return cls(rows.astype(np.float32), labels, sizes.cumsum())

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def shares(self) -> Floats:
        """What a sample counts in the mean over clients of the means over their samples."""
        sizes = np.diff(self.ends, prepend=0)
        return np.repeat(1 / (len(self) * sizes), sizes).astype(np.float32)

    def padded(self) -> tuple[Floats, Ints, Floats]:
        """The samples of each client, their labels, and what each counts in its client's mean; of padding 0."""
        starts, sizes = np.concatenate([[0], self.ends[:-1]]), np.diff(self.ends, prepend=0)
        place = np.arange(sizes.max())
        own = place < sizes[:, None]
        where = np.where(own, starts[:, None] + place, 0)
        return self.rows[where], self.labels[where], (own / sizes[:, None]).astype(np.float32)


def cut(gradients: Floats) -> Floats:
    """The same, those longer than `LONGEST` cut to it."""
    length = np.sqrt(np.einsum("...i,...i->...", gradients, gradients))
    if not (length > LONGEST).any():
        return gradients
    return np.asarray(gradients * np.minimum(1, LONGEST / np.maximum(length, 1e-30))[..., None])


def learnt(
    layers: Layers, clients: Clients, rounds: int, random: np.random.Generator, channel: Floats | None = None
) -> Floats:
    """The weights after so many rounds in which all clients report their gradients as they are.

    The mean over clients is taken in one pass; it is the same number.
    """
    shares = clients.shares
    return stepped(layers, rounds, random, lambda w: layers.gradient(w, clients.rows, clients.labels, shares, channel))


def learnt_from_reports(
    layers: Layers,
    clients: Clients,
    rounds: int,
    random: np.random.Generator,
    reported: Callable[[Floats], Floats],
) -> Floats:
    """The same where each client cuts its gradient to a public length and reports it by `reported`, which returns the mean.

    The server cuts that mean to the same length: no mean of gradients is longer.
    """

    samples = clients.padded()

    def mean(weights: Floats) -> Floats:
        return cut(reported(cut(layers.gradients(weights, *samples))))

    return stepped(layers, rounds, random, mean)


def stepped(layers: Layers, rounds: int, random: np.random.Generator, mean: Callable[[Floats], Floats]) -> Floats:
    """The server: from random weights along the mean gradients, with momentum."""
    weights, speed = layers.start(random), np.zeros(layers.size, np.float32)
    for _ in range(rounds):
        speed = MOMENTUM * speed + mean(weights)
        weights = weights - RATE * speed
    return weights
