"""Hostile bytes to the decoders, led by which lines of code they reach (atheris).

python -m tests.fuzz                   every decoder, for a million inputs each
python -m tests.fuzz message 20000 7   one of them, so many inputs, from this seed
"""

import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ("message", "payload", "json_report", "reports", "sparse_reports", "labels", "specification", "law")
WATCHED = [
    "deniable.survey",
    "deniable.core",
    "deniable.collector.json_reports",
    "deniable.mechanisms.sparse",
    "tests.decoders",
]


def run(name: str, inputs: int, seed: int) -> None:
    """Feed one decoder and end the process, with a status other than 0 if something but a refusal was raised."""
    import atheris

    sys.modules["numba"] = None  # type: ignore[assignment]  # it cannot compile watched code; the plain twins do the same
    with atheris.instrument_imports(include=WATCHED):
        from tests import decoders
    from deniable import DeniableError

    decoder, good = decoders.DECODERS[name], decoders.examples(name)
    folder = Path(tempfile.mkdtemp(prefix="deniable-fuzz-"))
    for place, each in enumerate(good):
        decoder(each)  # what is good must be taken
        (folder / str(place)).write_bytes(each)

    def one(data: bytes) -> None:
        try:
            decoder(data)
        except DeniableError:
            return

    bounds = [f"-runs={inputs}", f"-seed={seed}", "-max_len=2000", "-timeout=300", f"-artifact_prefix={folder}/"]
    atheris.Setup([sys.argv[0], *bounds, str(folder)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    for each in NAMES:
        subprocess.run([sys.executable, "-m", "tests.fuzz", each, "1000000", "1"], check=True)
