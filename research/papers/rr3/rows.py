"""What is measured here beyond the figures of the paper."""

from research.papers.figure import Loaded
from research.papers.rr3 import graphs, remark9, variance

ROWS = {
    "variance": Loaded(variance.FIGURE, variance.run, variance.plot),
    "graphs": Loaded(graphs.FIGURE, graphs.run, graphs.plot),
    "remark9": Loaded(remark9.FIGURE, remark9.run, remark9.plot),
}
