"""Which mechanism for a question, a record or a question asked again and again, what it costs and what error to expect."""

from deniable.planning.costs import Cost, measured_cost
from deniable.planning.records import plan_records
from deniable.planning.repeated import plan_repeated
from deniable.planning.shares import CLOSE, Option, chosen, options, plan, required_n

__all__ = [
    "CLOSE",
    "Cost",
    "Option",
    "chosen",
    "measured_cost",
    "options",
    "plan",
    "plan_records",
    "plan_repeated",
    "required_n",
]
