"""The paper on BitRand: its errata, its numbers, and what is better here."""

from deniable.mechanisms.bit_budgets import latent_published_epsilon, ome_published_epsilon
from deniable.papers.bitrand.theory import true_epsilon
from deniable.papers.errata import Erratum, Paper, Stated

ERRATA = (
    Erratum(
        "BitRand B1",
        "Theorem 2: f-RR with alpha up to its bound keeps epsilon.",
        "All bits of all features are reported, so their losses add up: r times the sum of |ln alpha + epsilon i / l|.",
        """
>>> small = dn.certify(dn.BitRand.as_published(features=1, bits=1, epsilon=0.1))
>>> small.holds, round(small.loss.epsilon(), 4)
(False, 0.2989)
>>> print(round(dn.BitRand.as_published(features=768, bits=10, epsilon=1.0).loss().epsilon()))
3311
""",
    ),
    Erratum(
        "BitRand B2",
        "Less important bits are flipped more often, up to a half.",
        "From epsilon 1 on the lowest bits are flipped more often than not.",
        """
>>> [round(float(flip), 3) for flip in dn.BitRand.as_published(1000, 10, 2.0).zeros[-3:]]
[0.465, 0.515, 0.564]
""",
    ),
    Erratum(
        "BitRand B3",
        "Theorems 5 and 6: LATENT costs 4.57 times its budget, and OME at alpha 100 from 4.6e6 to 4.6e9 times.",
        "LATENT costs 0.875 of its budget. For OME the printed formula "
        "is negative; it costs 6.9 for each bit, whatever the budget.",
        """
>>> print(round(dn.BitRand.latent(100, 10, 1.0, alpha=7.0).loss().epsilon(), 3))
0.875
>>> from deniable.mechanisms.bit_budgets import ome_published_epsilon
>>> ome_published_epsilon(100, 10, 0.1, 100.0) < 0, round(dn.BitRand.ome(100, 10, 0.1, alpha=100.0).loss().epsilon())
(True, 6903)
""",
    ),
    Erratum(
        "BitRand B4",
        "Theorem 3: label-RR keeps epsilon for every beta up to epsilon - ln(C - 1).",
        "The loss is |beta + ln(C - 1)|, so beta has a lower bound too.",
        """
>>> print(round(dn.LabelResponse.as_published(dn.Categories(range(10)), 1.0, beta=-5.0).loss().epsilon(), 3))
2.803
""",
    ),
    Erratum(
        "BitRand B5",
        "Theorem 4: the expected error is the sum of flip probability times sensitivity.",
        "That is an upper bound. The decoder is biased, and always answering 0 has a smaller error at small budgets.",
        """
>>> from deniable.mechanisms.bit_budgets import published_error_bound
>>> from deniable.mechanisms.bitrand import sign_magnitude_errors
>>> mechanism = dn.BitRand.as_published(1000, 10, 1.0, whole=5)
>>> errors = sign_magnitude_errors(mechanism, 0.5)
>>> round(published_error_bound(1000, 10, 5, 1.0), 2), round(errors["mae"], 2), round(errors["bias"], 2)
(29.58, 10.65, 3.97)
""",
    ),
    Erratum(
        "BitRand B6",
        "Eq. 1 encodes any number.",
        "Numbers outside the range wrap around; they must be moved to the end of it.",
        """
>>> code = dn.SignMagnitude(1, 10, 5)
>>> float(code.decode(code.wrapped([[40.0]]))[0, 0])
8.0
""",
    ),
    Erratum(
        "BitRand B7",
        "Fig. 9: the ratio of LATENT lies between 4.57 and 4.75.",
        "Theorem 5 gives at most 4.573 for the sizes shown.",
        """
>>> from deniable.mechanisms.bit_budgets import latent_published_epsilon
>>> round(latent_published_epsilon(10, 10, 0.1, 7.0) / 0.1, 3)
4.573
""",
    ),
)

STATED = (
    Stated(
        "Appendix I",
        "least ratio of LATENT at alpha 7",
        "4.57",
        lambda: latent_published_epsilon(10_000, 10, 0.1, 7.0) / 0.1,
    ),
    Stated(
        "Appendix I",
        "largest ratio of LATENT at alpha 7",
        "4.75",
        lambda: latent_published_epsilon(10, 10, 0.1, 7.0) / 0.1,
        "BitRand B7",
    ),
    Stated("Appendix J", "ratio of OME at alpha 1", "2", lambda: ome_published_epsilon(1000, 10, 0.1, 1.0) / 0.1),
    Stated(
        "Appendix J",
        "least ratio of OME at alpha 100",
        "4.6e6",
        lambda: ome_published_epsilon(10, 10, 0.1, 100.0) / 0.1,
        "BitRand B3",
    ),
    Stated(
        "Appendix J",
        "largest ratio of OME at alpha 100",
        "4.6e9",
        lambda: ome_published_epsilon(1000, 1000, 0.1, 100.0) / 0.1,
        "BitRand B3",
    ),
    Stated("Appendix I", "ratio of BitRand", "1", lambda: true_epsilon("f-RR", 1000, 10, 0.1) / 0.1, "BitRand B1"),
    Stated(
        "Appendix K", "largest number of 10 bits, five of them whole", "31.9375", lambda: sum(2.0**i for i in range(-4, 5))
    ),
    Stated("Section 6", "ratio of epsilon to r l, called 0.0", "0.0", lambda: 1.0 / (1000 * 10)),
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
        "`LabelResponse` refuses a beta that does not keep epsilon.",
    ),
)
