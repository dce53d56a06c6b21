"""Steps that clean an estimate, each named where it is used; the raw estimate stays as it is."""

from deniable.postprocess.em import em
from deniable.postprocess.norm_sub import norm_sub

__all__ = ["em", "norm_sub"]
