"""The types that everything else is made of; no files, sockets, clock or global randomness."""

from deniable.core.bits import PackedBits, distinct_rows
from deniable.core.candidate import LARGEST_DENSE, NEWEST_EDITION, Candidate, checked_edition, offered
from deniable.core.coins import WHOLE, Coins, SecureCoins, SeededCoins, StreamCoins, checked_coins
from deniable.core.domain import (
    LARGEST_DOMAIN,
    Answer,
    Answers,
    AnyDomain,
    Domain,
    Input,
    Label,
    Rows,
    checked_answers,
    formatted_size,
)
from deniable.core.estimate import Estimate, confidence_each
from deniable.core.law import Law
from deniable.core.layout import Column, Columns, Drawn, Flags, Layout, Number
from deniable.core.loss import PrivacyLoss, Proof, formatted_odds, written_odds
from deniable.core.mechanism import Additive, Counted, Mechanism, check_people
from deniable.core.odds import (
    SMALLEST_EPSILON,
    check_probability,
    checked_epsilon,
    log_up,
    odds_below,
    rounded_down,
    rounded_up,
    simplest_between,
)
from deniable.core.operations import DRAWS, WIDEST, Node, Type
from deniable.core.orders import Gridded, Orders, Padded, Ranked, padded
from deniable.core.permanent import Permanent, PermanentBits, public_draws
from deniable.core.program import MOST_ENTRIES, MOST_NODES, Program
from deniable.core.pure import CellProtocol, PureProtocol
from deniable.core.reports import Reports, concatenate
from deniable.core.running import run
from deniable.core.spec import Spec
from deniable.core.steps import aimed, around, cells, empty, encoded, lookup, one_row, packed
from deniable.core.tally import Tally
from deniable.core.tracing import Symbol
from deniable.core.weights import LARGEST_SUM, WeightTable
