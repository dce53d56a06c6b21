"""The public names and where each lives. This list is the interface: `__init__.py` loads from it on first use."""

__all__: list[str]

from deniable.aggregate.counting import aggregate as aggregate
from deniable.aggregate.joint import aggregate_joint as aggregate_joint
from deniable.aggregate.manifest import Aggregate as Aggregate
from deniable.aggregate.manifest import Manifest as Manifest
from deniable.aggregate.perturbing import perturb_files as perturb_files
from deniable.analysis.correlation import Correlation as Correlation
from deniable.analysis.crosstab import crosstab as crosstab
from deniable.analysis.crosstab import crosstabs as crosstabs
from deniable.analysis.fitted import Regression as Regression
from deniable.analysis.groups import Difference as Difference
from deniable.analysis.groups import GroupComparison as GroupComparison
from deniable.analysis.groups import compare_estimates as compare_estimates
from deniable.analysis.groups import compare_groups as compare_groups
from deniable.analysis.groups import correlate as correlate
from deniable.analysis.joint_tally import JointTally as JointTally
from deniable.analysis.outcome import TestOutcome as TestOutcome
from deniable.analysis.plan import plan_tables as plan_tables
from deniable.analysis.power import PowerTarget as PowerTarget
from deniable.analysis.power import coefficient_of as coefficient_of
from deniable.analysis.power import difference_of as difference_of
from deniable.analysis.power import share_of as share_of
from deniable.analysis.power import smallest_effect as smallest_effect
from deniable.analysis.power import table_of as table_of
from deniable.analysis.regression import regress as regress
from deniable.analysis.synthetic import SyntheticRows as SyntheticRows
from deniable.analysis.synthetic import synthesize as synthesize
from deniable.analysis.table import Table as Table
from deniable.analysis.trend import Change as Change
from deniable.analysis.trend import Trend as Trend
from deniable.analysis.trend import trend as trend
from deniable.audit.result import Audit as Audit
from deniable.audit.run import audit as audit
from deniable.collector.collected import Collected as Collected
from deniable.collector.collected import collected as collected
from deniable.core.coins import Coins as Coins
from deniable.core.coins import SecureCoins as SecureCoins
from deniable.core.coins import SeededCoins as SeededCoins
from deniable.core.domain import Domain as Domain
from deniable.core.estimate import Estimate as Estimate
from deniable.core.frames import answers as answers
from deniable.core.loss import PrivacyLoss as PrivacyLoss
from deniable.core.mechanism import Mechanism as Mechanism
from deniable.core.odds import odds_below as odds_below
from deniable.core.reports import Reports as Reports
from deniable.core.reports import concatenate as concatenate
from deniable.core.tally import Tally as Tally
from deniable.device.device import Device as Device
from deniable.device.device import Outcome as Outcome
from deniable.device.ledger import Ledger as Ledger
from deniable.device.memory import Memory as Memory
from deniable.discovery.discover import decode as decode
from deniable.discovery.discover import discover as discover
from deniable.discovery.found import Found as Found
from deniable.discovery.planning import plan_discovery as plan_discovery
from deniable.discovery.rounds import discover_in_rounds as discover_in_rounds
from deniable.discovery.verifying import known as known
from deniable.domains.categories import Categories as Categories
from deniable.domains.codes import SignMagnitude as SignMagnitude
from deniable.domains.features import Features as Features
from deniable.domains.features import UnitVectors as UnitVectors
from deniable.domains.interval import Interval as Interval
from deniable.domains.key_value import KeyValue as KeyValue
from deniable.domains.key_value import Pairs as Pairs
from deniable.domains.link import Link as Link
from deniable.domains.loss_matrix import LossMatrix as LossMatrix
from deniable.domains.ordered import Ordered as Ordered
from deniable.domains.points import Points as Points
from deniable.domains.product import Product as Product
from deniable.domains.quadkey import quadkey as quadkey
from deniable.domains.sifted_strings import SiftedStrings as SiftedStrings
from deniable.domains.sparse_vector import SparseVector as SparseVector
from deniable.domains.strings import Strings as Strings
from deniable.domains.vectors import Vectors as Vectors
from deniable.errors import (
    BudgetSpent as BudgetSpent,
)
from deniable.errors import (
    DeniableError as DeniableError,
)
from deniable.errors import (
    EmptyBatch as EmptyBatch,
)
from deniable.errors import (
    EngineFailure as EngineFailure,
)
from deniable.errors import (
    InvalidCoins as InvalidCoins,
)
from deniable.errors import (
    InvalidLaw as InvalidLaw,
)
from deniable.errors import (
    InvalidParameter as InvalidParameter,
)
from deniable.errors import (
    InvalidReport as InvalidReport,
)
from deniable.errors import (
    InvalidSurvey as InvalidSurvey,
)
from deniable.errors import (
    MissingExtra as MissingExtra,
)
from deniable.errors import (
    MissingPackage as MissingPackage,
)
from deniable.errors import (
    NotCertifiable as NotCertifiable,
)
from deniable.errors import (
    OutsideDomain as OutsideDomain,
)
from deniable.errors import (
    SurveyMismatch as SurveyMismatch,
)
from deniable.errors import (
    Unavailable as Unavailable,
)
from deniable.files.arrow import from_arrow as from_arrow
from deniable.files.arrow import to_arrow as to_arrow
from deniable.files.losses import read_losses as read_losses
from deniable.files.reports import (
    read_batches as read_batches,
)
from deniable.files.reports import (
    read_reports as read_reports,
)
from deniable.files.reports import (
    write_batches as write_batches,
)
from deniable.files.reports import (
    write_reports as write_reports,
)
from deniable.graphs.bipartite import BipartiteGraph as BipartiteGraph
from deniable.graphs.graph import Graph as Graph
from deniable.graphs.neighbours import common_neighbours as common_neighbours
from deniable.graphs.triangle_survey import estimate_triangles as estimate_triangles
from deniable.graphs.triangles import count_triangles as count_triangles
from deniable.mechanisms.algebra.rotation import Rotation as Rotation
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing as PrefixHashing
from deniable.mechanisms.discovery.sifted_hashing import SiftedHashing as SiftedHashing
from deniable.mechanisms.distributions.comb_wave import CombWave as CombWave
from deniable.mechanisms.distributions.cuts import Cuts as Cuts
from deniable.mechanisms.distributions.distribution import Distribution as Distribution
from deniable.mechanisms.distributions.heat_map import HeatMap as HeatMap
from deniable.mechanisms.distributions.hierarchy import Hierarchy as Hierarchy
from deniable.mechanisms.distributions.rounds import combined as combined
from deniable.mechanisms.distributions.shifted_tiles import ShiftedTiles as ShiftedTiles
from deniable.mechanisms.distributions.square_wave import SquareWave as SquareWave
from deniable.mechanisms.distributions.tiles import Tiles as Tiles
from deniable.mechanisms.distributions.workload import Workload as Workload
from deniable.mechanisms.distributions.workload_channel import WorkloadChannel as WorkloadChannel
from deniable.mechanisms.key_value.key_sampling import KeySampling as KeySampling
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate as KeyValueEstimate
from deniable.mechanisms.key_value.pair_wheel import PairWheel as PairWheel
from deniable.mechanisms.key_value.pckv_direct import PCKVDirect as PCKVDirect
from deniable.mechanisms.key_value.pckv_unary import PCKVUnary as PCKVUnary
from deniable.mechanisms.key_value.permanent_set import PermanentSet as PermanentSet
from deniable.mechanisms.key_value.privkvm import PrivKVM as PrivKVM
from deniable.mechanisms.key_value.privset import PrivSet as PrivSet
from deniable.mechanisms.key_value.three_design import feasible_regions as feasible_regions
from deniable.mechanisms.key_value.three_state import ThreeState as ThreeState
from deniable.mechanisms.means.bit_sampling import BitSampling as BitSampling
from deniable.mechanisms.means.duchi import Duchi as Duchi
from deniable.mechanisms.means.hybrid import Hybrid as Hybrid
from deniable.mechanisms.means.mean_channel import MeanChannel as MeanChannel
from deniable.mechanisms.means.optimal_mean import OptimalMean as OptimalMean
from deniable.mechanisms.means.permanent_mean import PermanentMean as PermanentMean
from deniable.mechanisms.means.piecewise import Piecewise as Piecewise
from deniable.mechanisms.means.three_outputs import ThreeOutputs as ThreeOutputs
from deniable.mechanisms.means.window_mean import WindowMean as WindowMean
from deniable.mechanisms.registry import mechanism_from_json as mechanism_from_json
from deniable.mechanisms.releases.bipartite import Bipartite as Bipartite
from deniable.mechanisms.releases.coarsened import Coarsened as Coarsened
from deniable.mechanisms.releases.comparison import Comparison as Comparison
from deniable.mechanisms.releases.comparison import (
    compare_metric_releases as compare_metric_releases,
)
from deniable.mechanisms.releases.comparison import compare_releases as compare_releases
from deniable.mechanisms.releases.metric_release import MetricRelease as MetricRelease
from deniable.mechanisms.releases.release_channel import ReleaseChannel as ReleaseChannel
from deniable.mechanisms.releases.staircase import Staircase as Staircase
from deniable.mechanisms.releases.vector_release import VectorRelease as VectorRelease
from deniable.mechanisms.shares.block_design import BlockDesign as BlockDesign
from deniable.mechanisms.shares.direct_response import DirectResponse as DirectResponse
from deniable.mechanisms.shares.equal_weight import EqualWeight as EqualWeight
from deniable.mechanisms.shares.finite_channel import FiniteChannel as FiniteChannel
from deniable.mechanisms.shares.hadamard_response import HadamardResponse as HadamardResponse
from deniable.mechanisms.shares.label_response import LabelResponse as LabelResponse
from deniable.mechanisms.shares.local_hashing import LocalHashing as LocalHashing
from deniable.mechanisms.shares.subset_selection import SubsetSelection as SubsetSelection
from deniable.mechanisms.shares.unary import Unary as Unary
from deniable.mechanisms.shares.weighted_design import WeightedDesign as WeightedDesign
from deniable.mechanisms.shares.wheel import Wheel as Wheel
from deniable.mechanisms.sparse.compressed import Compressed as Compressed
from deniable.mechanisms.vectors.bitrand import BitRand as BitRand
from deniable.mechanisms.vectors.duchi_vector import DuchiVector as DuchiVector
from deniable.mechanisms.vectors.feature_vector import FeatureVector as FeatureVector
from deniable.mechanisms.vectors.privunit import PrivUnit as PrivUnit
from deniable.mechanisms.vectors.sign_word import SignWord as SignWord
from deniable.mechanisms.vectors.unit_axes import UnitAxes as UnitAxes
from deniable.mechanisms.vectors.unit_codes import UnitCodes as UnitCodes
from deniable.metrics import mae as mae
from deniable.metrics import mse as mse
from deniable.metrics import top_f1 as top_f1
from deniable.metrics import top_ndcg as top_ndcg
from deniable.planning.circles import Direction as Direction
from deniable.planning.circles import mean_direction as mean_direction
from deniable.planning.costs import Cost as Cost
from deniable.planning.costs import measured_cost as measured_cost
from deniable.planning.measured import MeasuredErrors as MeasuredErrors
from deniable.planning.measured import compare as compare
from deniable.planning.padding import Padding as Padding
from deniable.planning.padding import PaddingPilot as PaddingPilot
from deniable.planning.planner import plan as plan
from deniable.planning.planner import required_n as required_n
from deniable.planning.releases import plan_release as plan_release
from deniable.planning.repeated import plan_repeated as plan_repeated
from deniable.planning.rounds import next_round as next_round
from deniable.planning.windows import WindowPlan as WindowPlan
from deniable.planning.windows import plan_windows as plan_windows
from deniable.postprocess.base_cut import base_cut as base_cut
from deniable.postprocess.em import em as em
from deniable.postprocess.em import em_channel as em_channel
from deniable.postprocess.ems import ems as ems
from deniable.postprocess.least_squares import least_squares as least_squares
from deniable.postprocess.norm_sub import norm_sub as norm_sub
from deniable.postprocess.recovery import Recovered as Recovered
from deniable.postprocess.recovery import recover as recover
from deniable.privacy.certificate import Certificate as Certificate
from deniable.privacy.certify import certify as certify
from deniable.privacy.composition import (
    Composition as Composition,
)
from deniable.privacy.composition import (
    compose as compose,
)
from deniable.privacy.composition import (
    loss_law as loss_law,
)
from deniable.privacy.composition import (
    same_answer as same_answer,
)
from deniable.privacy.law import Law as Law
from deniable.privacy.law import law as law
from deniable.privacy.liars import (
    Suspicion as Suspicion,
)
from deniable.privacy.liars import (
    WorstGain as WorstGain,
)
from deniable.privacy.liars import (
    interval_with_liars as interval_with_liars,
)
from deniable.privacy.liars import (
    suspicions as suspicions,
)
from deniable.privacy.liars import (
    suspicions_of_tally as suspicions_of_tally,
)
from deniable.privacy.liars import (
    worst_gain as worst_gain,
)
from deniable.privacy.loss_law import LossLaw as LossLaw
from deniable.privacy.memoized import certify_ever as certify_ever
from deniable.privacy.metric import MetricCertificate as MetricCertificate
from deniable.privacy.metric import MetricLoss as MetricLoss
from deniable.privacy.metric import metric_loss as metric_loss
from deniable.privacy.shuffle import ShuffledLoss as ShuffledLoss
from deniable.privacy.shuffle import shuffled as shuffled
from deniable.privacy.shuffle import shuffled_delta as shuffled_delta
from deniable.survey.certificate import SurveyCertificate as SurveyCertificate
from deniable.survey.certificate import certify_survey as certify_survey
from deniable.survey.planning import SurveyPlan as SurveyPlan
from deniable.survey.planning import plan_survey as plan_survey
from deniable.survey.question import Question as Question
from deniable.survey.survey import Survey as Survey
from deniable.wrappers.every_attribute import EveryAttribute as EveryAttribute
from deniable.wrappers.fake_attributes import FakeAttributes as FakeAttributes
from deniable.wrappers.memoized import Memoized as Memoized
from deniable.wrappers.one_attribute import OneAttribute as OneAttribute
from deniable.wrappers.one_group import OneGroup as OneGroup
from deniable.wrappers.one_pair import OnePair as OnePair
from deniable.wrappers.pilot import Pilot as Pilot
from deniable.wrappers.pilot import PilotedEstimate as PilotedEstimate
from deniable.wrappers.published_utility import PublishedUtility as PublishedUtility
from deniable.wrappers.seeded import Seeded as Seeded
from deniable.wrappers.seeded_channel import SeededChannel as SeededChannel
from deniable.wrappers.seeded_pairs import SeededPairs as SeededPairs
from deniable.wrappers.utility_optimized import UtilityOptimized as UtilityOptimized
from deniable.wrappers.whole_record import WholeRecord as WholeRecord
