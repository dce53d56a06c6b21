"""Local differential privacy that proves what it promises: randomize, count, estimate, certify."""

from deniable.aggregate import Aggregate, Manifest, aggregate, perturb_files
from deniable.core.coins import Coins, SecureCoins, SeededCoins
from deniable.core.domain import Domain
from deniable.core.estimate import Estimate
from deniable.core.every import EveryCoin
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.core.odds import odds_below
from deniable.core.reports import Reports, concatenate
from deniable.core.tally import Tally
from deniable.domains import Categories, Interval, LossMatrix, Ordered, Points, Vectors, quadkey
from deniable.errors import (
    DeniableError,
    EmptyBatch,
    EngineFailure,
    InvalidCoins,
    InvalidParameter,
    InvalidReport,
    MissingExtra,
    NotCertifiable,
    OutsideDomain,
    SurveyMismatch,
)
from deniable.files import from_arrow, read_batches, read_losses, read_reports, to_arrow, write_batches, write_reports
from deniable.mechanisms import (
    Bipartite,
    BlockDesign,
    Coarsened,
    Comparison,
    DirectResponse,
    FiniteChannel,
    HadamardResponse,
    LocalHashing,
    ReleaseChannel,
    Staircase,
    SubsetSelection,
    Unary,
    VectorRelease,
    Wheel,
    compare_releases,
    plan_release,
)
from deniable.metrics import mae, mse, top_f1, top_ndcg
from deniable.planner import plan, required_n
from deniable.postprocess import base_cut, em, em_channel, least_squares, norm_sub
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify
from deniable.privacy.law import Law, law
from deniable.wrappers import Pilot, PilotedEstimate, PublishedUtility, UtilityOptimized, mechanism_from_json

__all__ = [
    "Aggregate",
    "Bipartite",
    "BlockDesign",
    "Categories",
    "Certificate",
    "Coarsened",
    "Coins",
    "Comparison",
    "DeniableError",
    "DirectResponse",
    "Domain",
    "EmptyBatch",
    "EngineFailure",
    "Estimate",
    "EveryCoin",
    "FiniteChannel",
    "HadamardResponse",
    "Interval",
    "InvalidCoins",
    "InvalidParameter",
    "InvalidReport",
    "Law",
    "LocalHashing",
    "LossMatrix",
    "Manifest",
    "Mechanism",
    "MissingExtra",
    "NotCertifiable",
    "Ordered",
    "OutsideDomain",
    "Pilot",
    "PilotedEstimate",
    "Points",
    "PrivacyLoss",
    "PublishedUtility",
    "ReleaseChannel",
    "Reports",
    "SecureCoins",
    "SeededCoins",
    "Staircase",
    "SubsetSelection",
    "SurveyMismatch",
    "Tally",
    "Unary",
    "UtilityOptimized",
    "VectorRelease",
    "Vectors",
    "Wheel",
    "aggregate",
    "base_cut",
    "certify",
    "compare_releases",
    "concatenate",
    "em",
    "em_channel",
    "from_arrow",
    "law",
    "least_squares",
    "mae",
    "mechanism_from_json",
    "mse",
    "norm_sub",
    "odds_below",
    "perturb_files",
    "plan",
    "plan_release",
    "quadkey",
    "read_batches",
    "read_losses",
    "read_reports",
    "required_n",
    "to_arrow",
    "top_f1",
    "top_ndcg",
    "write_batches",
    "write_reports",
]
