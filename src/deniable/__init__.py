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
from deniable.device import Device, Ledger, Outcome
from deniable.domains import Categories, Interval
from deniable.errors import (
    BudgetSpent,
    DeniableError,
    EmptyBatch,
    InvalidCoins,
    InvalidParameter,
    InvalidReport,
    InvalidSurvey,
    MissingExtra,
    NotCertifiable,
    OutsideDomain,
    SurveyMismatch,
    Unavailable,
)
from deniable.files import from_arrow, read_batches, read_reports, to_arrow, write_batches, write_reports
from deniable.mechanisms import (
    BlockDesign,
    DirectResponse,
    FiniteChannel,
    HadamardResponse,
    LocalHashing,
    SubsetSelection,
    Unary,
    Wheel,
)
from deniable.metrics import mae, mse, top_f1, top_ndcg
from deniable.planner import plan, required_n
from deniable.postprocess import base_cut, em, em_channel, least_squares, norm_sub
from deniable.privacy.certificate import Certificate
from deniable.privacy.certify import certify
from deniable.privacy.law import Law, law
from deniable.survey import Question, Survey, SurveyCertificate, certify_survey
from deniable.wrappers import Pilot, PilotedEstimate, PublishedUtility, UtilityOptimized, mechanism_from_json

__all__ = [
    "BlockDesign",
    "BudgetSpent",
    "Categories",
    "Certificate",
    "Coins",
    "DeniableError",
    "Device",
    "DirectResponse",
    "Domain",
    "EmptyBatch",
    "Estimate",
    "EveryCoin",
    "FiniteChannel",
    "HadamardResponse",
    "Interval",
    "InvalidCoins",
    "InvalidParameter",
    "InvalidReport",
    "InvalidSurvey",
    "Law",
    "Ledger",
    "LocalHashing",
    "Mechanism",
    "MissingExtra",
    "NotCertifiable",
    "Outcome",
    "OutsideDomain",
    "Pilot",
    "PilotedEstimate",
    "PrivacyLoss",
    "PublishedUtility",
    "Question",
    "Reports",
    "SecureCoins",
    "SeededCoins",
    "SubsetSelection",
    "Survey",
    "SurveyCertificate",
    "SurveyMismatch",
    "Tally",
    "Unary",
    "Unavailable",
    "UtilityOptimized",
    "Wheel",
    "base_cut",
    "certify",
    "certify_survey",
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
    "plan",
    "read_batches",
    "read_reports",
    "required_n",
    "to_arrow",
    "top_f1",
    "top_ndcg",
    "write_batches",
    "write_reports",
]
