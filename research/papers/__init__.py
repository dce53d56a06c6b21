"""The figures and tables of five papers, made anew: one folder for each paper, one file for each figure."""

from research.data.folder import Data
from research.papers.catalog import FIGURES, Loaded, load, missing
from research.papers.figure import Check, Figure, Pace, Result

__all__ = ["FIGURES", "Check", "Data", "Figure", "Loaded", "Pace", "Result", "load", "missing"]
