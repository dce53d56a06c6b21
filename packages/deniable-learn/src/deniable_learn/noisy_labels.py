"""Labels that went through a known channel: the channel, labels without bias, and losses that take it into account.

`transition[y, z]` is the probability that label y is reported as z. The *forward* correction predicts what will be reported:
the loss of T' p. The *backward* correction weighs the losses of all labels so that their mean is the loss of the true one:
with row z of T's inverse. Patrini, Rozza, Menon, Nock, Qu 2017.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core.pure import PureProtocol
from deniable.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from torch import Tensor


def transition(mechanism: PureProtocol) -> Floats:
    """The channel of a label that is kept with probability p and becomes each other one with probability q."""
    size = mechanism.domain.size
    return np.full((size, size), float(mechanism.q)) + np.eye(size) * float(mechanism.p - mechanism.q)


def unbiased_labels(labels: ArrayLike, channel: ArrayLike) -> Floats:
    """A row for each reported label, whose mean over the coins has a one at the true label and zeros elsewhere.

    >>> unbiased_labels([0], [[0.75, 0.25], [0.25, 0.75]])
    array([[ 1.5, -0.5]])
    """
    return np.asarray(np.linalg.inv(_checked(channel))[np.asarray(labels, np.int64)])


def _checked(channel: ArrayLike) -> Floats:
    """The channel in double precision; rows may miss 1 by what the precision of its numbers rounds away."""
    given = np.asarray(channel)
    matrix = given.astype(np.float64)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    coarse = given.dtype.kind == "f" and given.dtype.itemsize < 8
    missed = len(given) * float(np.finfo(given.dtype).eps) if coarse and square else 1e-9
    if not square or (matrix < 0).any() or np.abs(matrix.sum(axis=1) - 1).max() > missed:
        raise InvalidParameter("A channel of labels is a square matrix of probabilities, whose rows sum to 1.")
    if np.linalg.cond(matrix) > 1e12:
        raise InvalidParameter(
            "This channel of labels cannot be inverted: reports contain too little information about the label."
        )
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True)) if coarse else matrix


def forward_loss(logits: "Tensor", labels: "Tensor", channel: ArrayLike) -> "Tensor":
    """The mean loss -log (T' p)[z] of reported labels z, p the softmax of the logits."""
    torch = _torch()
    matrix = torch.as_tensor(_checked(channel), dtype=logits.dtype, device=logits.device)
    reported = torch.log_softmax(logits, dim=1).unsqueeze(2) + torch.log(matrix).unsqueeze(0)
    return -torch.logsumexp(reported, dim=1).gather(1, labels.unsqueeze(1)).mean()


def backward_loss(logits: "Tensor", labels: "Tensor", channel: ArrayLike) -> "Tensor":
    """The mean over samples of the losses -log p of all labels, weighted by row z of T's inverse; it may be negative."""
    torch = _torch()
    inverse = torch.as_tensor(np.linalg.inv(_checked(channel)), dtype=logits.dtype, device=logits.device)
    return -(inverse[labels] * torch.log_softmax(logits, dim=1)).sum(dim=1).mean()


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtra("A corrected loss for networks", "learn") from None
    return torch
