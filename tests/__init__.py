"""Tests, in the folders of what they test."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
