"""Local differential privacy that proves what it promises: randomize, count, estimate, certify."""

from deniable.core.coins import Coins, SecureCoins, SeededCoins
from deniable.core.domain import Domain
from deniable.core.estimate import Estimate
from deniable.core.every import EveryCoin
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.core.odds import odds_below
from deniable.core.reports import Reports, concatenate
from deniable.core.tally import Tally
from deniable.domains import Categories, Features, Interval, SignMagnitude, UnitVectors
from deniable.errors import (
    DeniableError,
    EmptyBatch,
    InvalidCoins,
    InvalidParameter,
    InvalidReport,
    MissingExtra,
    NotCertifiable,
    OutsideDomain,
    SurveyMismatch,
)
from deniable.files import from_arrow, read_batches, read_reports, to_arrow, write_batches, write_reports
from deniable.mechanisms import (
    BitRand,
    BitSampling,
    BlockDesign,
    DirectResponse,
    Duchi,
    DuchiVector,
    FeatureVector,
    FiniteChannel,
    HadamardResponse,
    Hybrid,
    LabelResponse,
    LocalHashing,
    MeanChannel,
    Piecewise,
    PrivUnit,
    Rotation,
    SubsetSelection,
    ThreeOutputs,
    Unary,
    UnitCodes,
    Wheel,
    mechanism_from_json,
)
from deniable.planner import plan, required_n
from deniable.postprocess import base_cut, em, em_channel, least_squares, norm_sub
from deniable.privacy.certify import Certificate, certify
from deniable.privacy.law import Law, law

__all__ = [
    "BitRand",
    "BitSampling",
    "BlockDesign",
    "Categories",
    "Certificate",
    "Coins",
    "DeniableError",
    "DirectResponse",
    "Domain",
    "Duchi",
    "DuchiVector",
    "EmptyBatch",
    "Estimate",
    "EveryCoin",
    "FeatureVector",
    "Features",
    "FiniteChannel",
    "HadamardResponse",
    "Hybrid",
    "Interval",
    "InvalidCoins",
    "InvalidParameter",
    "InvalidReport",
    "LabelResponse",
    "Law",
    "LocalHashing",
    "MeanChannel",
    "Mechanism",
    "MissingExtra",
    "NotCertifiable",
    "OutsideDomain",
    "Piecewise",
    "PrivUnit",
    "PrivacyLoss",
    "Reports",
    "Rotation",
    "SecureCoins",
    "SeededCoins",
    "SignMagnitude",
    "SubsetSelection",
    "SurveyMismatch",
    "Tally",
    "ThreeOutputs",
    "Unary",
    "UnitCodes",
    "UnitVectors",
    "Wheel",
    "base_cut",
    "certify",
    "concatenate",
    "em",
    "em_channel",
    "from_arrow",
    "law",
    "least_squares",
    "mechanism_from_json",
    "norm_sub",
    "odds_below",
    "plan",
    "read_batches",
    "read_reports",
    "required_n",
    "to_arrow",
    "write_batches",
    "write_reports",
]
