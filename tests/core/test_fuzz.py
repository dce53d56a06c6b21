"""Decoders under hostile bytes, each in a process of its own: they refuse, and nothing else happens (see fuzz.py)."""

import subprocess
import sys

import pytest

from tests import ROOT
from tests.decoders import DECODERS
from tests.fuzz import NAMES, inputs_of

pytestmark = pytest.mark.long
INPUTS = 20_000


def test_every_decoder_is_fed() -> None:
    assert tuple(DECODERS) == NAMES


@pytest.mark.needs("atheris")
def test_hostile_bytes_are_refused() -> None:
    command = [sys.executable, "-m", "tests.fuzz", str(INPUTS), "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    for name, part in zip(NAMES, done.stderr.split("\ndecoder ")[1:], strict=True):
        assert part.startswith(f"{name}\n") and f"Done {inputs_of(name, INPUTS)} runs" in part, part[-3000:]
