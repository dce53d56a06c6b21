"""Building what people install: `python -m release` writes wheels, source distributions and an npm package to dist/."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("deniable", "deniable-learn")  # each is built from packages/NAME
