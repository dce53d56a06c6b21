"""Which mechanism for a question, a record or a question asked repeatedly, what it costs and what error to expect."""

from deniable.planning.costs import Cost, measured_cost
from deniable.planning.planner import plan, required_n
from deniable.planning.ranking import CLOSE, Ranking, Row
from deniable.planning.shares import options
