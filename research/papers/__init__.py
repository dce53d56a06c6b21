"""The reproduced figures and tables of five papers: a folder for each paper, a file or a row for each figure."""

from research.data.folder import Data
from research.papers.catalog import FIGURES, load, missing
from research.papers.figure import Check, Figure, Loaded, Pace, Result

__all__ = ["FIGURES", "Check", "Data", "Figure", "Loaded", "Pace", "Result", "load", "missing"]
