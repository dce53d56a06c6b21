"""Small models in NumPy, linear or with one hidden layer: what they predict, and the gradient of every single example."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats
from deniable.kernels.lengths import Factors, outer_rows


@dataclass(frozen=True)
class Network:
    """From `inputs` numbers to `outputs`, through `hidden` units of tanh, or straight if there are none.

    All weights are one vector. Classification is softmax with its cross entropy, regression half the squared error; of
    both, the gradient by the outputs is what is predicted minus what is right.
    """

    inputs: int
    outputs: int
    hidden: int = 0
    classify: bool = True

    @property
    def size(self) -> int:
        """How many weights there are."""
        last = self.outputs * ((self.hidden or self.inputs) + 1)
        return last + self.hidden * (self.inputs + 1)

    def start(self, random: np.random.Generator) -> Floats:
        """Weights to begin with: zero for the outputs, small and random for hidden units."""
        weights = np.zeros(self.size)
        inside = self.hidden * (self.inputs + 1)
        weights[:inside] = random.normal(0, (self.inputs + 1) ** -0.5, inside)
        if self.hidden:
            weights[inside:] = random.normal(0, 0.1 * (self.hidden + 1) ** -0.5, self.size - inside)
        return weights

    def _layers(self, weights: Floats) -> tuple[Floats, Floats]:
        inside = self.hidden * (self.inputs + 1)
        return weights[:inside].reshape(self.hidden, self.inputs + 1), weights[inside:].reshape(self.outputs, -1)

    def predict(self, weights: Floats, rows: Floats) -> Floats:
        """Probabilities of the classes, or the numbers that are predicted."""
        return self._forward(weights, rows)[2]

    def _forward(self, weights: Floats, rows: Floats) -> tuple[Floats, Floats, Floats]:
        first, last = self._layers(weights)
        ones = np.ones((len(rows), 1), np.float32 if rows.dtype == np.float32 else np.float64)
        given = np.concatenate([rows, ones], axis=1)
        middle = np.concatenate([np.tanh(given @ first.T), ones], axis=1) if self.hidden else given
        out = last @ middle.T  # a row for each output: a few long rows take less time than many short ones
        if self.classify:
            out = np.exp(out - out.max(axis=0))
            out /= out.sum(axis=0)
        return given, middle, out.T

    def residual(self, predicted: Floats, right: NDArray[np.generic]) -> Floats:
        """What is predicted minus what is right: labels by their numbers, weights of all labels in rows, or targets."""
        if right.ndim == 2:
            return predicted - right.astype(np.float64)
        if not self.classify:
            return predicted - right.astype(np.float64)[:, None]
        rest = np.array(predicted, order="C")
        rest[np.arange(len(rest)), right.astype(np.int64)] -= 1
        return rest

    def gradients(self, weights: Floats, rows: Floats, right: NDArray[np.generic]) -> Floats:
        """The gradient of the loss of each example by all weights, one row each."""
        return multiplied(self.factors(weights, rows, right))

    def factors(self, weights: Floats, rows: Floats, right: NDArray[np.generic]) -> Factors:
        """The same as outer products, one for each layer: many times as short."""
        given, middle, predicted = self._forward(weights, rows)
        rest = self.residual(predicted, right)
        if not self.hidden:
            return [(rest, middle)]
        back = (rest @ self._layers(weights)[1][:, :-1]) * (1 - middle[:, :-1] ** 2)
        return [(back, given), (rest, middle)]

    def mean_gradient(self, weights: Floats, rows: Floats, right: NDArray[np.generic]) -> Floats:
        """The mean of the gradients, without making each of them."""
        given, middle, predicted = self._forward(weights, rows)
        rest = self.residual(predicted, right) / len(rows)
        last = (rest.T @ middle).ravel()
        if not self.hidden:
            return np.asarray(last)
        back = (rest @ self._layers(weights)[1][:, :-1]) * (1 - middle[:, :-1] ** 2)
        return np.concatenate([(back.T @ given).ravel(), last])


def multiplied(factors: Factors) -> Floats:
    """The gradients of examples, one row each."""
    found = [outer_rows(*pair) for pair in factors]
    return found[0] if len(found) == 1 else np.concatenate(found, axis=1)


def trained(
    network: Network,
    rows: Floats,
    right: NDArray[np.generic],
    random: np.random.Generator,
    epochs: int = 20,
    batch: int = 128,
    rate: float = 0.003,
    decay: float = 0.0,
) -> Floats:
    """Weights trained without privacy, on what is public or already randomized (Adam; Kingma, Ba 2015)."""
    weights = network.start(random)
    first, second, step = np.zeros_like(weights), np.zeros_like(weights), 0
    for _ in range(epochs):
        order = random.permutation(len(rows))
        for begin in range(0, len(rows), batch):
            own = order[begin : begin + batch]
            gradient = network.mean_gradient(weights, rows[own], right[own]) + decay * weights
            step += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            weights = weights - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights
