"""Steps that clean an estimate, each named where it is used; the raw estimate stays as it is."""

from deniable.postprocess.base_cut import base_cut
from deniable.postprocess.em import em, em_channel
from deniable.postprocess.ems import ems
from deniable.postprocess.least_squares import least_squares
from deniable.postprocess.norm_sub import norm_sub
from deniable.postprocess.recovery import Recovered, recover

__all__ = ["Recovered", "base_cut", "em", "em_channel", "ems", "least_squares", "norm_sub", "recover"]
