"""Hostile bytes to the decoders, led by which lines of code they reach (atheris).

python -m tests.fuzz                   every decoder, for a million inputs each; proofs for one in a hundred of that
python -m tests.fuzz 20000 7           every decoder, so many inputs, from this seed
python -m tests.fuzz 20000 7 message   one of them
"""

import os
import sys
import tempfile
from pathlib import Path

NAMES = ("message", "payload", "json_report", "reports", "sparse_reports", "labels", "specification", "law", "proof")
SLOW = {"proof": 100}  # one in so many inputs
WATCHED = [
    "deniable.survey",
    "deniable.core",
    "deniable.privacy",
    "deniable.collector.json_reports",
    "deniable.mechanisms.sparse",
    "tests.decoders",
]


def inputs_of(name: str, inputs: int) -> int:
    """How many inputs a decoder gets, where others get so many."""
    return max(1, inputs // SLOW.get(name, 1))


def run(inputs: int, seed: int, names: tuple[str, ...]) -> int:
    """Feed these decoders, in a process each; the first status that is not 0: something but a refusal was raised."""
    import atheris

    sys.modules["numba"] = None  # type: ignore[assignment]  # it cannot compile watched code; the plain twins do the same
    with atheris.instrument_imports(include=WATCHED):
        from tests import decoders
    from deniable import DeniableError

    def feed(name: str) -> None:
        """Does not come back: the process ends with the last input."""
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

        runs = inputs_of(name, inputs)
        bounds = [f"-runs={runs}", f"-seed={seed}", "-max_len=2000", "-timeout=300", f"-artifact_prefix={folder}/"]
        atheris.Setup([sys.argv[0], *bounds, str(folder)], one)
        atheris.Fuzz()

    for name in names:
        print(f"decoder {name}", file=sys.stderr, flush=True)
        child = os.fork()  # what is watched is loaded once, which takes longer than many inputs do
        if child == 0:
            feed(name)
        _, status = os.waitpid(child, 0)
        if status:
            return os.waitstatus_to_exitcode(status) or 1
    return 0


if __name__ == "__main__":
    inputs, seed = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (1_000_000, 1)
    sys.exit(run(inputs, seed, tuple(sys.argv[3:]) or NAMES))
