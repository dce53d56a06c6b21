"""The paper on BitRand: its errata, its numbers, and what is better here."""

import numpy as np

from deniable.domains import SignMagnitude
from research.papers.bitrand import celeba
from research.papers.bitrand.errata import ERRATA
from research.papers.bitrand.theory import (
    BITS,
    WHOLE,
    claimed_epsilon,
    p_of_bounds,
    p_of_first_bits,
    p_of_flips,
    true_epsilon,
)
from research.papers.errata import Paper, Stated

EPSILON = 0.1
SIZES = [(r, 10) for r in (10, 100, 1000, 10_000)] + [(1000, bits) for bits in (5, 10, 20, 100, 1000)]


def _ratios(name: str, alpha: float) -> list[float]:
    """By the theorems, for all sizes that the text names, from the probabilities of each bit."""
    return [claimed_epsilon(name, r, bits, EPSILON, alpha) / EPSILON for r, bits in SIZES]


def _true(name: str, alpha: float) -> float:
    """What all bits of 1,000 features truly cost, over epsilon."""
    return true_epsilon(name, 1000, BITS, EPSILON, alpha) / EPSILON


def _worth(place: int) -> float:
    """By how much a bit changes the number that the code is read as."""
    code = SignMagnitude(1, BITS, WHOLE)
    first, second = code.decode(np.array([[1 << BITS - 1], [(1 << BITS - 1) + (1 << BITS - 1 - place)]]))[:, 0]
    return float(second - first)


def _range() -> float:
    code = SignMagnitude(1, BITS, WHOLE)
    numbers = code.decode(np.arange(1 << BITS)[:, None])
    return float(numbers.max() - numbers.min())


STATED = (
    Stated("Fig. 4", "worth of the highest integer bit, printed as 2^4", "16", lambda: _worth(1)),
    Stated("Fig. 4", "worth of the lowest fraction bit, printed as 2^-4", "0.0625", lambda: _worth(BITS - 1)),
    Stated("Appendix K", "range of a code of 10 bits, printed as 2 (2^4 + ... + 2^-4)", "63.875", _range),
    Stated("Section 5", "p of f-RR's error bounds against the rivals'", "0.02", p_of_bounds, "BitRand B9"),
    Stated("Section 5", "p of f-RR's flips against LATENT's", "3.7e-9", p_of_flips),
    Stated("Section 5", "p of f-RR's first bits against OME's", "5.1e-3", p_of_first_bits, "BitRand B9"),
    Stated("Appendix I", "least ratio of LATENT at alpha 7, by Theorem 5", "4.57", lambda: min(_ratios("LATENT", 7.0))),
    Stated(
        "Appendix I",
        "largest ratio of LATENT at alpha 7, by Theorem 5",
        "4.75",
        lambda: max(_ratios("LATENT", 7.0)),
        "BitRand B7",
    ),
    Stated("Appendix I", "what LATENT costs over epsilon", "4.57", lambda: _true("LATENT", 7.0), "BitRand B3"),
    Stated("Appendix I", "what BitRand costs over epsilon", "1", lambda: _true("f-RR", 0.0), "BitRand B1"),
    Stated(
        "Appendix J",
        "least ratio of OME at alpha 100, by Theorem 6",
        "4.6e6",
        lambda: max(_ratios("OME", 100.0)),
        "BitRand B3",
    ),
    Stated(
        "Appendix J",
        "largest ratio of OME at alpha 100, by Theorem 6",
        "4.6e9",
        lambda: min(_ratios("OME", 100.0)),
        "BitRand B3",
    ),
    Stated(
        "Appendix J",
        "what OME at alpha 100 costs over epsilon, at least",
        "4.6e6",
        lambda: min(true_epsilon("OME", r, bits, EPSILON, 100.0) / EPSILON for r, bits in SIZES),
        "BitRand B3",
    ),
    Stated("Appendix J", "ratio of OME at alpha 1, by Theorem 6", "2", lambda: max(_ratios("OME", 1.0))),
    Stated("Appendix J", "what OME at alpha 1 costs over epsilon", "2", lambda: _true("OME", 1.0), "BitRand B3"),
    Stated("Section 7", "gain on CelebA, features (from Table 3)", "1.66", lambda: celeba.gain("features")),
    Stated(
        "Section 7",
        "gain on CelebA with the anonymizer, labels at 1 (from Table 4)",
        "1.28",
        lambda: celeba.gain("anonymized", 1.0),
        "BitRand B11",
    ),
    Stated(
        "Section 7",
        "gain on CelebA without the anonymizer, labels at 1 (from Table 5)",
        "0.3",
        lambda: celeba.gain("gradients", 1.0),
    ),
    Stated("Section 7", "gain of label-RR on CelebA at 1 (from Table 3)", "2.04", lambda: celeba.label_gain(1.0)),
    Stated("Section 7", "gain of label-RR on CelebA at 2.5 (from Table 3)", "4.24", lambda: celeba.label_gain(2.5)),
)

PAPER = Paper(
    "bitrand",
    "BitRand",
    "Bit-aware randomized response for local differential privacy in federated learning, 2022",
    ERRATA,
    STATED,
    (
        "`BitRand.water_filled` halves the published error bound at the same true loss; `BitRand.offset` is unbiased.",
        "`FeatureVector` and `PrivUnit` keep epsilon for whole vectors, "
        "and at the true loss of f-RR have a fraction of its error.",
        "`privatize` with `fit_moments` corrects certified reports for their known noise; a network that is trained "
        "on uncorrected reports learns less.",
        "`LabelResponse` refuses a beta that does not keep epsilon.",
    ),
)
