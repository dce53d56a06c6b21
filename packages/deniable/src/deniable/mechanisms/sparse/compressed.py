"""Compressed randomized response: every coordinate of a sparse vector answers, and a few bits say how."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Bytes, Floats, Ints, Ints32, Words
from deniable.core import (
    Answers,
    Coins,
    Columns,
    Drawn,
    Estimate,
    Mechanism,
    PackedBits,
    PrivacyLoss,
    Reports,
    Tally,
    checked_answers,
    checked_coins,
)
from deniable.core.frozen import Former
from deniable.core.threads import in_parts
from deniable.core.variable import VariableLayout
from deniable.domains.sparse_vector import Sparse, SparseVector
from deniable.errors import EmptyBatch, InvalidParameter, OutsideDomain
from deniable.mechanisms.sparse import codes
from deniable.mechanisms.sparse.budget import represented_odds, response_epsilon
from deniable.mechanisms.sparse.chunks import best_load, chunk_numbers
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.decoder import Decoder
from deniable.mechanisms.sparse.encoder import labels_for
from deniable.mechanisms.sparse.index_law import checked_alpha, mixed_index_law
from deniable.mechanisms.sparse.label_code import LabelCode
from deniable.mechanisms.sparse.noisy_count import NoisyCount
from deniable.mechanisms.sparse.permutation import Permutation

CODES = ("model", "zipf", "gamma")
AT_LEAST = 1 << 6  # vectors that a thread takes, several times over
ROOM = 1 << 28  # bits of whole vectors that are counted at a time


@dataclass(frozen=True)
class Compressed(Mechanism[Collection[int], Sparse]):
    """k-ary randomized response of every coordinate, encoded in a few bits for each one that differs from the reference.

    Coordinates are permuted and cut into chunks. For each chunk there is an endless list of shared draws, responses to
    "all coordinates have their reference value"; the device sends the number of one of them, chosen so that it is
    exactly a response to the truth (Poisson private representation: Liu, Chen, Ozgur, Li 2024).

        epsilon = sparsity + 2 alpha eps        eps: what one coordinate's response costs, p / q = e^eps
        p = 1 - (values - 1) q                  q in whole 2^-32

    `sparsity` is the share of the budget that goes into a noisy number of differing coordinates, from which the number of
    chunks follows; with a public bound (`SparseVector(most=...)`) none is needed. A smaller alpha is more accurate and takes
    more bits. `load` is how many coordinates that differ a chunk holds on average: more take fewer bits and longer to
    encode.
    """

    domain: SparseVector
    epsilon: float
    alpha: float = 1.5
    sparsity: float = 0.05
    load: float | None = None
    code: str = "model"
    weights: tuple[int, ...] | None = None
    wire = "compressed-1"
    question = "sparse"
    batch = 1 << 11

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, SparseVector):
            raise InvalidParameter("Compressed response needs a SparseVector, for example SparseVector(1000).")
        self._fix(alpha=checked_alpha(self.alpha))
        self._check_sparsity()
        _ = self.coordinate, self.noisy_count  # refuses budgets that do not suffice
        if self.load is None:
            self._fix(load=best_load(self.coordinate))
        elif isinstance(self.load, bool) or not isinstance(self.load, int | float) or not 0.01 <= self.load <= 1000:
            raise InvalidParameter("The load is the mean number of differing coordinates in a chunk, from 0.01 to 1000.")
        self._fix(load=float(self.load or 0))
        if self.code not in CODES:
            raise InvalidParameter(f"The code must be one of {', '.join(CODES)}.")
        if self.weights is None:
            self._fix(weights=self._weights())
        elif (self.weights and not codes.are_weights(self.weights)) or bool(self.weights) != (self.code != "gamma"):
            raise InvalidParameter("The weights of the code do not match it. Leave them out to compute them.")

    @classmethod
    def as_published(cls, domain: SparseVector, epsilon: float, alpha: float = 2.0, beta: float = 2.0) -> "Compressed":
        """The published protocol, whose number of chunks gives the sparsity away; for comparison on small inputs."""
        from deniable.mechanisms.sparse.published_compressed import PublishedCompressed

        return PublishedCompressed(domain, epsilon, alpha, beta=beta)

    def _check_sparsity(self) -> None:
        if self.domain.most is not None:
            self._fix(sparsity=0.0)  # nothing is left to hide
        elif isinstance(self.sparsity, bool) or not isinstance(self.sparsity, int | float) or not 0 < self.sparsity < 1:
            raise InvalidParameter(
                "The noisy sparsity needs a share of the budget between 0 and 1: a number of chunks that depends on the "
                "exact sparsity would disclose it. If a bound is public, use SparseVector(most=...) instead."
            )

    def _weights(self) -> tuple[int, ...]:
        if self.code == "gamma":
            return ()
        law = mixed_index_law(self.coordinate, self.alpha, self.load or 0)
        return codes.model_weights(law) if self.code == "model" else codes.zipf_weights(law.mean_log())

    @cached_property
    def coordinate(self) -> CoordinateResponse:
        """The response of one coordinate."""
        budget = response_epsilon(self.epsilon, self.alpha, self.sparsity * self.epsilon)
        return CoordinateResponse.quantised(budget, self.domain.values)

    channel = Former("coordinate")

    @cached_property
    def noisy_count(self) -> NoisyCount | None:
        """What hides how many coordinates differ, unless a bound is public."""
        return None if self.domain.most is not None else NoisyCount(self.sparsity * self.epsilon)

    @cached_property
    def permutation(self) -> Permutation:
        """The public order of the coordinates, the same for everybody."""
        return Permutation(self.domain.size, self.fingerprint)

    @cached_property
    def _plain_from(self) -> int:
        """The number of chunks from which a response of every coordinate is shorter."""
        return int(self.domain.size * self.coordinate.entropy() / codes.mean_bits(self.weights or ())) + 1

    @cached_property
    def _label_code(self) -> LabelCode:
        size, weights = self.domain.size, self.weights or ()
        most = np.array([self.domain.most or 0])
        chunks = None if self.domain.most is None else int(chunk_numbers(most, 0, self.load or 1, 1, size)[0])
        return LabelCode(size, weights, codes.value_weights(self.coordinate), self._plain_from, chunks)

    @cached_property
    def layout(self) -> VariableLayout:
        return VariableLayout.of(self._label_code.most_bytes)

    @property
    def cells(self) -> int:
        return self.domain.size * (self.domain.values - 1)

    def key(self, name: str) -> int:
        """The public key of a report: from a name that device and collector both know, such as a person's number.

        Every report of every person needs a name of its own; reports of one name share their noise.
        """
        digest = hashlib.sha256(f"deniable key {self.fingerprint} {name}".encode()).digest()
        return int.from_bytes(digest[:8], "little")

    def perturb(self, values: Answers, coins: Coins | None = None, names: Sequence[str] | None = None) -> Reports:
        """Randomize vectors, one report each. With `names`, their keys follow from them and need not be sent."""
        if isinstance(values, Mapping):
            raise OutsideDomain("Answers must be a list; for one vector write perturb([{17: 1}]).")
        coins, answers = checked_coins(coins), checked_answers(values)
        if names is not None and (len(names) != len(answers) or len(set(names)) != len(names)):
            raise InvalidParameter("Every report needs a unique name: give one name for each answer, all different.")
        columns: dict[str, NDArray[Any]] = {field.name: field.empty(len(answers)) for field in self.layout.fields}

        def part(begin: int, end: int, own: Coins) -> None:
            for start in range(begin, end, self.batch):
                some = slice(start, min(start + self.batch, end))
                truth = self.domain.place(answers[some], own)
                keys = None if names is None else np.array([self.key(name) for name in names[some]], np.uint64)
                for name, column in self.randomize(truth, own, keys).items():
                    columns[name][some] = column

        _ = self.fingerprint, self.permutation, self._label_code  # before threads could each make their own
        in_parts(part, len(answers), AT_LEAST, coins)
        return Reports(self.fingerprint, self.layout, columns)

    @property
    def traced(self) -> bool:
        """No: see `loss`."""
        return False

    def randomize(self, truth: Sparse, coins: Coins, keys: Words | None = None) -> Drawn:
        """Not the same coins whatever the truth is: how long it takes depends on it. Do not let others watch the clock."""
        if keys is None:
            keys = coins.public(1 << 62, len(truth)).astype(np.uint64)
        chunks = self.chunks(truth, coins)
        return {"key": keys, "message": self._written(truth, chunks, keys, coins)}

    def chunks(self, truth: Sparse, coins: Coins) -> Ints:
        """In how many chunks each vector is encoded: from the public bound, or from its noisy sparsity alone."""
        if self.noisy_count is None:
            return chunk_numbers(np.full(len(truth), self.domain.most), 0, self.load or 1, 1, self.domain.size)
        noisy = truth.counts + self.noisy_count.noise(len(truth), coins)
        return self.noisy_count.chunks(noisy, self.coordinate.epsilon, self.load or 1, self.domain.size)

    def _written(self, truth: Sparse, chunks: Ints, keys: Words, coins: Coins) -> NDArray[Any]:
        """The message of each vector."""
        plain, messages = chunks >= self._plain_from, np.full(len(truth), b"", object)
        places = self.permutation.forward(truth.places)
        if not plain.any():
            messages[:] = self._label_code.write(self._labels(truth, places, chunks, keys, coins), chunks)
            return messages
        if not plain.all():
            kept = np.repeat(~plain, truth.counts)
            offsets = np.concatenate([[0], np.cumsum(truth.counts[~plain])])
            rest = Sparse(offsets, places[kept], truth.values[kept])
            labels = self._labels(rest, places[kept], chunks[~plain], keys[~plain], coins)
            messages[~plain] = self._label_code.write(labels, chunks[~plain])
        for each in np.flatnonzero(plain):
            part = slice(truth.offsets[each], truth.offsets[each + 1])
            messages[each] = self._label_code.write_vector(self._plain(places[part], truth.values[part], coins))
        return messages

    def _labels(self, truth: Sparse, places: Ints, chunks: Ints, keys: Words, coins: Coins) -> Ints:
        """The labels of all chunks, for vectors whose coordinates lie at these permuted places."""
        size = self.domain.size
        return labels_for(self.coordinate, self.alpha, places, truth.values, truth.offsets, size, chunks, keys, coins)

    def _plain(self, places: Ints, values: Ints, coins: Coins) -> Ints:
        """The responses of all coordinates, tossed one by one."""
        truth = np.zeros(self.domain.size, np.int64)
        truth[places] = values
        moved = coins.split(self.coordinate.p, 1, self.domain.values - 1, self.domain.size)
        return (truth + moved) % self.domain.values

    def decoder(self, reports: Reports) -> Decoder:
        """The reports, read and checked; all that follows is by permuted place."""
        self.checked_reports(reports)
        messages = reports.columns["message"].tolist()
        counts, labels = self._label_code.read(messages)
        return Decoder(
            self.coordinate,
            self.domain.size,
            reports.columns["key"].astype(np.uint64),
            counts,
            labels,
            lambda report: self._label_code.read_vector(messages[report]),
        )

    def value(self, reports: Reports, coordinate: ArrayLike) -> Bytes:
        """What each report says of some coordinates, without decoding the others: of shape (reports, *coordinates)."""
        wanted = np.asarray(coordinate, np.int64)
        if wanted.size and (wanted.min() < 0 or wanted.max() >= self.domain.size):
            raise InvalidParameter(f"Coordinates are numbered from 0 to {self.domain.size - 1}.")
        decoder, places = self.decoder(reports), self.permutation.forward(wanted.ravel())
        report = np.repeat(np.arange(len(reports)), len(places))
        return decoder.at(report, np.tile(places, len(reports))).reshape(len(reports), *wanted.shape)

    def vector(self, reports: Reports) -> Bytes:
        """All coordinates of each report: of shape (reports, size)."""
        decoder, table = self.decoder(reports), self.permutation.table
        out = np.empty((len(reports), self.domain.size), np.uint8)
        for report in range(len(reports)):
            out[report, table] = decoder.values(report)
        return out

    def packed(self, reports: Reports) -> PackedBits:
        """All coordinates of each report as bits, in the public order of `permutation`; only for two values."""
        if self.domain.values != 2:
            raise InvalidParameter("Only vectors of two values are packed into bits.")
        return self.decoder(reports).packed()

    def ones(self, reports: Reports) -> list[Ints32]:
        """The coordinates of each report that are not the reference, in no order."""
        decoder = self.decoder(reports)
        return decoder.ones(self._names)

    @cached_property
    def _names(self) -> Ints32:
        """The coordinate at every permuted place, filled up to whole words."""
        return np.pad(self.permutation.table.astype(np.int32), (0, -self.domain.size % 64))

    def bits(self, reports: Reports) -> Ints:
        """The bits of each message, without the key and what fills the last byte."""
        messages = reports.columns["message"].tolist()
        last = [message[-1].bit_length() if message else 0 for message in messages]
        return np.array(
            [8 * max(0, len(message) - 1) + bits for message, bits in zip(messages, last, strict=True)], np.int64
        )

    def votes(self, columns: Columns) -> Ints:
        decoder = self.decoder(Reports(self.fingerprint, self.layout, columns))
        size, values, table = self.domain.size, self.domain.values, self.permutation.table
        counts = np.zeros((size, values - 1), np.int64)
        if values == 2:
            step = max(1, ROOM // size)
            for start in range(0, len(decoder), step):
                counts[:, 0] += decoder.packed(start, min(start + step, len(decoder))).column_sums()
        else:
            for report in range(len(decoder)):
                drawn = decoder.values(report)
                places = np.flatnonzero(drawn)
                counts[places, drawn[places] - 1] += 1
        out = np.empty_like(counts)
        out[table] = counts
        return out.ravel()

    def estimate(self, tally: Tally) -> Estimate:
        self.check_tally(tally)
        p, q = float(self.coordinate.p), float(self.coordinate.q)
        return self._with_error((tally.counts / tally.n - q) / (p - q), tally.n)

    def estimate_at(self, reports: Reports, coordinates: Sequence[int]) -> Estimate:
        """The estimate for some coordinates only, without decoding the others: however many there are."""
        values, wanted = self.domain.values, np.asarray(coordinates, np.int64)
        if len(reports) == 0 or wanted.ndim != 1:
            raise EmptyBatch("An estimate needs reports, and a list of coordinates.")
        said = self.value(reports, wanted)
        counts = np.stack([(said == value).sum(axis=0) for value in range(1, values)], axis=1).ravel()
        p, q = float(self.coordinate.p), float(self.coordinate.q)
        whole = self._with_error((counts / len(reports) - q) / (p - q), len(reports))
        cells = (wanted[:, None] * (values - 1) + np.arange(values - 1)).ravel().tolist()
        return replace(whole, labels=[self.domain.labels[cell] for cell in cells])

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        shares = np.asarray(truth, np.float64)
        if shares.shape != (self.cells,) or not ((shares >= 0) & (shares <= 1)).all() or n < 1:
            raise InvalidParameter(f"A prediction needs {self.cells} true shares from 0 to 1, and at least one person.")
        return self._with_error(shares, n)

    def _with_error(self, shares: Floats, n: int) -> Estimate:
        p, q = self.coordinate.p, self.coordinate.q
        variance = (float(q * (1 - q)) + shares * float((p - q) * (1 - p - q))) / float(n * (p - q) ** 2)
        return Estimate(self.domain.labels, shares, variance, n)

    def loss(self) -> PrivacyLoss:
        odds = represented_odds(self.coordinate.odds, self.alpha)
        protects = "two vectors that differ in one coordinate; k of them, k times epsilon"
        if self.noisy_count is not None:
            odds *= self.noisy_count.odds
        return PrivacyLoss(odds, "theorem", protects)

    def parameters(self) -> Mapping[str, object]:
        derived = {"threshold": self.coordinate.threshold, "plain_from": self._plain_from}
        return {**super().parameters(), **derived}
