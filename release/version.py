"""The version of everything: it is written once, in packages/deniable/pyproject.toml, and copied from there."""

import re
import tomllib
from pathlib import Path

from release import ROOT

SOURCE = "packages/deniable/pyproject.toml"
# Every other place: the file, and what stands around the version there.
COPIES = [
    ("packages/deniable-learn/pyproject.toml", r'(?m)^(version = ")[^"]+(")$'),
    ("packages/deniable-learn/pyproject.toml", r'("deniable==)[^"]+(")'),
    ("research/pyproject.toml", r'(?m)^(version = ")[^"]+(")$'),
    ("research/pyproject.toml", r'(stats\]==)[^"]+(")'),
    ("research/pyproject.toml", r'("deniable-learn==)[^"]+(")'),
    ("js/package.json", r'(?m)^(  "version": ")[^"]+(",)$'),
    ("js/package-lock.json", r'(?m)^(  "version": ")[^"]+(",)$'),
    ("js/package-lock.json", r'(?m)^(      "name": "deniable",\n      "version": ")[^"]+(",)$'),
    ("CITATION.cff", r"(?m)^(version: )\S+()$"),
]


def version(root: Path = ROOT) -> str:
    """The version of this checkout."""
    with (root / SOURCE).open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def copied(root: Path = ROOT) -> dict[str, str]:
    """Every file that repeats the version, as it should be."""
    made: dict[str, str] = {}
    for name, pattern in COPIES:
        text = made.get(name) or (root / name).read_text(encoding="utf-8")
        made[name], count = re.subn(pattern, rf"\g<1>{version(root)}\g<2>", text)
        if count != 1:
            raise ValueError(f"{name} has the version {count} times at the place where it is expected once: {pattern}")
    return made


def stamp(root: Path = ROOT) -> list[str]:
    """Copy the version to every other place; returns the files that changed."""
    changed = [name for name, text in copied(root).items() if (root / name).read_text(encoding="utf-8") != text]
    for name in changed:
        (root / name).write_text(copied(root)[name], encoding="utf-8")
    return changed
