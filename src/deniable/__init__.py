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
from deniable.domains import Categories, Interval, SparseVector
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
from deniable.graphs import Graph, common_neighbours, count_triangles
from deniable.mechanisms import (
    BlockDesign,
    Compressed,
    DirectResponse,
    HadamardResponse,
    LocalHashing,
    SubsetSelection,
    Unary,
    Wheel,
    mechanism_from_json,
)
from deniable.planner import plan, required_n
from deniable.postprocess import base_cut, em, em_channel, norm_sub
from deniable.privacy.certify import Certificate, certify
from deniable.privacy.law import Law, law

__all__ = [
    "BlockDesign",
    "Categories",
    "Certificate",
    "Coins",
    "Compressed",
    "DeniableError",
    "DirectResponse",
    "Domain",
    "EmptyBatch",
    "Estimate",
    "EveryCoin",
    "Graph",
    "HadamardResponse",
    "Interval",
    "InvalidCoins",
    "InvalidParameter",
    "InvalidReport",
    "Law",
    "LocalHashing",
    "Mechanism",
    "MissingExtra",
    "NotCertifiable",
    "OutsideDomain",
    "PrivacyLoss",
    "Reports",
    "SecureCoins",
    "SeededCoins",
    "SparseVector",
    "SubsetSelection",
    "SurveyMismatch",
    "Tally",
    "Unary",
    "Wheel",
    "base_cut",
    "certify",
    "common_neighbours",
    "concatenate",
    "count_triangles",
    "em",
    "em_channel",
    "from_arrow",
    "law",
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
