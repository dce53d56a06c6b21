"""Compressed randomized response as it was published: it gives away how many coordinates differ."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.arrays import Ints, Words
from deniable.core import Coins, PrivacyLoss
from deniable.domains.sparse_vector import Sparse, SparseVector
from deniable.errors import InvalidParameter
from deniable.kernels.encoder_plain import net_of
from deniable.mechanisms.sparse.chunks import chunk_of
from deniable.mechanisms.sparse.compressed import Compressed
from deniable.mechanisms.sparse.encoder import stream
from deniable.mechanisms.sparse.heap_index import heap_index


@dataclass(frozen=True)
class PublishedCompressed(Compressed):
    """ceil(beta eps d) chunks for d differing coordinates, sent in the clear, and the encoder with a heap.

    The number of chunks is a function of d, so that some reports rule vectors out: nothing is promised, whatever epsilon
    says. With beta 0 the whole vector is one chunk (plain Poisson private representation); that keeps its promise, and takes
    a time that grows exponentially in d. The draws are ours: the published generator repeats itself from chunk to chunk.
    """

    beta: float = 2.0
    wire = "compressed-published-1"

    def __post_init__(self) -> None:
        if isinstance(self.beta, bool) or not isinstance(self.beta, int | float) or not 0 <= self.beta < 1e6:
            raise InvalidParameter(
                "Beta, the number of chunks per differing coordinate and unit of epsilon, must be from 0 to below 1,000,000."
            )
        if isinstance(self.domain, SparseVector) and self.domain.most is not None:
            raise InvalidParameter("The published protocol has no public bound. Leave `most` out.")
        super().__post_init__()

    def _check_sparsity(self) -> None:
        self._fix(sparsity=0.0)

    @property
    def noisy_count(self) -> None:
        """None: the number of chunks follows from the exact sparsity."""
        return None

    def chunks(self, truth: Sparse, coins: Coins) -> Ints:
        wanted = np.ceil(self.beta * self.coordinate.epsilon * truth.counts).astype(np.int64)
        return np.clip(wanted, 1, self.domain.size)

    def _labels(self, truth: Sparse, places: Ints, chunks: Ints, keys: Words, coins: Coins) -> Ints:
        labels = []
        for vector in range(len(truth)):
            part = slice(truth.offsets[vector], truth.offsets[vector + 1])
            own = chunk_of(places[part], self.domain.size, int(chunks[vector]))
            for chunk in range(chunks[vector]):
                at = places[part][own == chunk].astype(np.uint64)
                value = truth.values[part][own == chunk].astype(np.uint64)

                def net(label: int, at: Any = at, value: Any = value, chunk: int = chunk, key: Any = keys[vector]) -> int:
                    coordinate = self.coordinate
                    return net_of(
                        label, 0, len(at), at, value, np.uint64(chunk), key, coordinate.threshold, coordinate.values
                    )

                labels.append(heap_index(net, math.log(self.coordinate.odds), self.alpha, len(at), stream(coins))[0])
        return np.array(labels, np.int64)

    def loss(self) -> PrivacyLoss:
        loss = super().loss()
        return loss if self.beta == 0 else PrivacyLoss(None, "theorem", loss.protects)
