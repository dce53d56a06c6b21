"""What docs/extending.md says: each extension is made in a scratch copy of the package and used, and its files counted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deniable as dn
from tests import ROOT
from tests.outside import MECHANISM, SURVEY

SOURCE = Path(dn.__file__).parent

KIND = '''
"""Yes or no."""

from deniable.domains import Categories
from deniable.survey.kinds.choice import Choice
from deniable.survey.kinds.kind import Details


class YesNo(Choice[Categories]):
    """A question that is answered by yes or no."""

    keys = frozenset()

    def domain(self, details: Details) -> Categories:
        return Categories(["yes", "no"])
'''
STORE = '''
"""A store that keeps everything in a temporary file, for trying things out."""

import tempfile

from deniable.collector.sqlite import SqliteStore


class MemoryStore(SqliteStore):
    """SQLite in a temporary file."""

    def __init__(self, address: str) -> None:
        super().__init__(tempfile.gettempdir() + "/" + address.removeprefix("memory://") + ".db")
'''
ENGINE = '''
"""An engine that does one job after the other."""

from contextlib import contextmanager


class Serial:
    """No processes and no machines: for looking at errors."""

    package, client, address, name_alone, workers = "serial", "a serial client", "serial", True, 1

    @classmethod
    def of(cls, client):
        return cls()

    @classmethod
    @contextmanager
    def at(cls, place, seconds):
        yield cls()

    def run(self, work, shared, jobs, merge):
        return (work(shared, job) for job in jobs)
'''
PROOF = '''

@proves(HalfHonest, "theorem")
def half_honest(mechanism, limit):
    """Follows the first and the last answer only."""
    laws = [law(mechanism, index, limit) for index in (0, mechanism.domain.size - 1)]
    return certificate(mechanism, worst_ratio(laws, (0, mechanism.domain.size - 1)), "theorem", 1, 2)
'''
USES = """
from deniable.privacy.certificate import certificate
from deniable.privacy.law import law
from deniable.privacy.proofs import proves
from deniable.privacy.ratio import worst_ratio
"""


FIGURE = """
from research.papers.figure import Figure, Result

FIGURE = Figure("brr/fig99", "BRR", "powers of two", seconds=0.1)


def run(quick, seed, data, pace=None):
    return Result(("n", "power"), [(n, 2.0**n) for n in range(5)])


def plot(result, folder):
    return []
"""


class Scratch:
    """A copy of a package that is edited and run, and compared with the original."""

    def __init__(self, folder: Path, source: Path = SOURCE) -> None:
        self.folder, self.source, self.package = folder, source, folder / "src" / source.name
        shutil.copytree(source, self.package, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))

    def add(self, path: str, text: str) -> None:
        (self.package / path).write_text(text)

    def register(self, path: str, after: str, line: str) -> None:
        """Add one line after the one that ends so."""
        text = (self.package / path).read_text()
        assert text.count(after) == 1, f"{path} has no single {after!r}"
        (self.package / path).write_text(text.replace(after, f"{after}\n{line}"))

    def touched(self) -> tuple[list[str], list[str]]:
        """New files, and those in which exactly one line is new."""
        new, registered = [], []
        for path in sorted(self.package.rglob("*")):
            name, text = str(path.relative_to(self.package)), path.read_bytes() if path.is_file() else b""
            if path.is_dir() or "__pycache__" in name:
                continue
            if not (self.source / name).exists():
                new.append(name)
            elif text != (before := (self.source / name).read_bytes()):
                assert len(text.splitlines()) == len(before.splitlines()) + 1, name
                registered.append(name)
        return new, registered

    def run(self, code: str) -> str:
        paths = os.pathsep.join([str(self.package.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        name = self.package.name
        command = [sys.executable, "-c", f"import {name}\nassert {str(self.package)!r} in {name}.__file__\n{code}"]
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def add_mechanism(scratch: Scratch) -> None:
    scratch.add("mechanisms/shares/half_honest.py", MECHANISM)
    line = '    "half-honest-1": "mechanisms.shares.half_honest:HalfHonest",'
    scratch.register("mechanisms/registry.py", "OURS = {", line)


def test_a_mechanism_is_a_file_and_a_registration(scratch: Scratch) -> None:
    add_mechanism(scratch)
    (scratch.folder / "survey.toml").write_text(SURVEY)
    scratch.run("""
import deniable as dn
from deniable.mechanisms.registry import family
from deniable.testing import check_mechanism
mechanism = family("half-honest-1")(dn.Categories(["a", "b", "c"]), 2.0)
assert set(check_mechanism(mechanism)) == {"losses"}, check_mechanism(mechanism)
assert dn.certify(mechanism).holds
assert "half-honest" in dn.plan(dn.Categories(["a", "b", "c"]), 2.0, 1000).explain()
assert dn.Survey.load("survey.toml").questions[0].mechanism.wire == "half-honest-1"
""")
    assert scratch.touched() == (["mechanisms/shares/half_honest.py"], ["mechanisms/registry.py"])


def test_a_kind_of_question_is_a_file_a_registration_and_its_widget(scratch: Scratch) -> None:
    scratch.add("survey/kinds/yes_no.py", KIND)
    scratch.register("survey/kinds/registry.py", "OURS = {", '    "yes-no": "survey.kinds.yes_no:YesNo",')
    text = SURVEY.partition("kind =")[0] + 'kind = "yes-no"\n'
    (scratch.folder / "survey.toml").write_text(text)
    scratch.run("""
import numpy as np, deniable as dn
from deniable.survey.kinds.registry import kind_named
survey = dn.Survey.load("survey.toml")
question, kind = survey.questions[0], kind_named("yes-no")
domain = question.mechanism.domain
assert kind.read(domain, "yes") == "yes" and kind.hint(domain) == "yes, no"
assert set(kind.pretend(domain, np.random.default_rng(1), 50)) == {"yes", "no"}
assert survey.randomize({"mode": "no"}) and dn.Survey.from_json(survey.to_json()).fingerprint == survey.fingerprint
""")
    widget = '  "yes-no": { control: choice, charts: () => [ranking(2)] },'
    scratch.register("collector/web/questions.js", "const KINDS = {", widget)
    registered = ["collector/web/questions.js", "survey/kinds/registry.py"]
    assert scratch.touched() == (["survey/kinds/yes_no.py"], registered)
    page = (SOURCE / "collector" / "web" / "questions.js").read_text()
    assert page.count("const KINDS = {") == 1 and "question.kind ==" not in page  # one table, of which a widget is an entry


def test_a_store_is_a_file_and_a_registration(scratch: Scratch) -> None:
    scratch.add("collector/memory.py", STORE)
    scratch.register("collector/store.py", "OURS = {", '    "memory": "collector.memory:MemoryStore",')
    (scratch.folder / "survey.toml").write_text(SURVEY.partition("mechanism =")[0])
    scratch.run(f"""
import os, tempfile, deniable as dn
from deniable.collector.store import opened
name = "deniable-test-{os.getpid()}"
with opened("memory://" + name) as store:
    assert type(store).__name__ == "MemoryStore"
    number, _ = store.register(dn.Survey.load("survey.toml"))
    with store.view() as view:
        assert view.survey("outside")[0] == number
for end in ("", "-wal", "-shm"):
    if os.path.exists(f"{{tempfile.gettempdir()}}/{{name}}.db{{end}}"):
        os.remove(f"{{tempfile.gettempdir()}}/{{name}}.db{{end}}")
""")
    assert scratch.touched() == (["collector/memory.py"], ["collector/store.py"])


@pytest.mark.needs("pyarrow")
def test_an_engine_is_a_file_and_a_registration(scratch: Scratch) -> None:
    scratch.add("aggregate/serial.py", ENGINE)
    first = next(line for line in (SOURCE / "aggregate/engine.py").read_text().splitlines() if line.startswith("OURS = {"))
    scratch.register("aggregate/engine.py", first, 'OURS["serial"] = "aggregate.serial:Serial"')
    scratch.run("""
import deniable as dn
from deniable.files import write_batches
mechanism = dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0)
batches = [mechanism.perturb(["yes", "no", "no"], dn.SeededCoins(turn)) for turn in range(4)]
write_batches("answers.parquet", mechanism, batches)
found = dn.aggregate(mechanism, ["answers.parquet"], engine="serial")
whole = sum(map(mechanism.tally, batches))
assert (found.n, found.counts.tolist()) == (whole.n, whole.counts.tolist())
""")
    assert scratch.touched() == (["aggregate/serial.py"], ["aggregate/engine.py"])


def test_a_proof_is_a_function_beside_its_mechanism(scratch: Scratch) -> None:
    """In the file of the mechanism, or of another package: nothing else is touched."""
    code = MECHANISM.replace("from deniable.core import", f"{USES.strip()}\nfrom deniable.core import")
    (scratch.folder / "half_honest.py").write_text(code + PROOF)
    scratch.run("""
import deniable as dn
from half_honest import HalfHonest
mechanism = HalfHonest(dn.Categories(range(6)), 2.0)
found = dn.certify(mechanism, "theorem")
assert found.holds and found.loss.proof == "theorem" and found.loss.odds == 7
found = dn.certify(mechanism)
assert found.holds and found.loss.proof == "proved" and found.loss.odds == 7  # without any registration
""")
    assert scratch.touched() == ([], [])


def test_a_theorem_of_ours_is_a_file_and_a_registration(scratch: Scratch) -> None:
    add_mechanism(scratch)
    uses = f"{USES.strip()}\nfrom deniable.mechanisms.shares.half_honest import HalfHonest\n"
    scratch.add("privacy/half_honest.py", uses + PROOF)
    first = next(line for line in (SOURCE / "privacy/proofs.py").read_text().splitlines() if line.startswith("OURS = ("))
    scratch.register("privacy/proofs.py", first, 'OURS = (*OURS, "half_honest")')
    scratch.run("""
import deniable as dn
from deniable.mechanisms.registry import family
mechanism = family("half-honest-1")(dn.Categories(range(6)), 2.0)
assert dn.certify(mechanism, "theorem").loss.odds == 7
""")
    new, registered = scratch.touched()
    assert (new[1:], registered[1:]) == (["privacy/half_honest.py"], ["privacy/proofs.py"])  # besides the mechanism's own


LISTED = """
from click.testing import CliRunner
from research.data.folder import Data
from research.papers.catalog import load
from research.reproduce import reproduce
result = load({name!r}).run(True, 1, Data(None))
assert result.rows and {name!r} in CliRunner().invoke(reproduce, []).output
"""


def test_a_figure_is_a_file(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, ROOT / "research")
    scratch.add("papers/brr/fig99.py", FIGURE)
    scratch.run(LISTED.format(name="brr/fig99"))
    assert scratch.touched() == (["papers/brr/fig99.py"], [])


def test_a_figure_that_differs_in_data_only_is_a_row(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, ROOT / "research")
    first = next(line for line in (scratch.package / "papers/bitrand/rows.py").read_text().splitlines() if "FLIPS =" in line)
    scratch.register("papers/bitrand/rows.py", first, 'FLIPS["fig99"] = ("epsilon 3", (3.0,))')
    scratch.run(LISTED.format(name="bitrand/fig99"))
    assert scratch.touched() == ([], ["papers/bitrand/rows.py"])
