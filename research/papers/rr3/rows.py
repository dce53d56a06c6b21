"""What is measured here beyond the figures of the paper."""

from research.papers.figure import Loaded
from research.papers.rr3 import graphs, variance

ROWS = {
    "variance": Loaded(variance.FIGURE, variance.run, variance.plot),
    "graphs": Loaded(graphs.FIGURE, graphs.run, graphs.plot),
}
