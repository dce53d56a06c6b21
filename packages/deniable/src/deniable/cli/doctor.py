"""`deniable doctor`: what is installed, what is missing, and how fast this machine is."""

import json
import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import groupby

import click
import numpy as np

from deniable.cli import options
from deniable.core import Mechanism
from deniable.domains import Categories
from deniable.mechanisms.shares.direct_response import DirectResponse
from deniable.mechanisms.shares.subset_selection import SubsetSelection

# What each extra needs, by the name under which it is imported, and what it is for.
EXTRAS = {
    "fast": (["numba"], "compiled loops"),
    "parquet": (["pyarrow"], "Parquet files and Arrow tables"),
    "plot": (["matplotlib"], "plots"),
    "stats": (["scipy"], "exact intervals and optimal channels"),
    "collector": (["starlette", "uvicorn", "psycopg"], "deniable serve, PostgreSQL"),
    "otel": (["opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"], "OpenTelemetry traces and metrics"),
    "dask": (["distributed"], "counting with Dask"),
    "spark": (["pyspark"], "counting with Spark"),
}
HPKE = "cryptography.hazmat.primitives.hpke"  # which early releases lack; deniable mix needs it
REPORTS = 200_000


@click.command(short_help="Show what is installed, what is missing and how fast this machine is.")
@options.json_flag
def doctor(as_json: bool) -> None:
    """Show which optional packages are installed, how to get the others, and how many reports per second this machine makes.

    Nothing is sent anywhere. Add the output to a bug report.

    \b
    deniable doctor
    deniable doctor --json
    """
    extras = {name: [module for module in modules if not _is_installed(module)] for name, (modules, _) in EXTRAS.items()}
    speeds = {
        "direct response, 16 values": _speed(DirectResponse(Categories(range(16)), 1.0)),
        "subset selection, 128 values": _speed(SubsetSelection(Categories(range(128)), 1.0)),
    }
    about = {"deniable": _version("deniable"), "deniable-learn": _version("deniable-learn"), "numpy": np.__version__}
    about |= {"mixing": "yes" if _is_installed(HPKE) else "no; pip install --upgrade cryptography"}
    about |= {"python": platform.python_version(), "system": platform.platform(), "cores": str(os.cpu_count())}
    if as_json:
        missing = {name: lacking for name, lacking in extras.items() if lacking}
        click.echo(json.dumps({**about, "missing": missing, "reports_per_second": speeds}))
        return
    for name, value in about.items():
        click.echo(f"{name:<16}{value}")
    for lacks, group in groupby(sorted(extras, key=lambda name: bool(extras[name])), key=lambda name: bool(extras[name])):
        click.echo("missing" if lacks else "installed")
        for name in group:
            how = f"; pip install 'deniable[{name}]'" if lacks else ""
            click.echo(f"  {name:<14}{EXTRAS[name][1]}{how}")
    click.echo("reports per second, one core, secure coins")
    for what, speed in speeds.items():
        click.echo(f"  {what:<30}{speed:>14,.0f}")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it would be in
        return False


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _speed(mechanism: Mechanism) -> float:
    """Reports a second: the best of three, after one to warm up."""
    answers = np.arange(REPORTS) % mechanism.domain.size
    times = []
    for _ in range(4):
        start = time.perf_counter()
        mechanism.perturb(answers)
        times.append(time.perf_counter() - start)
    return REPORTS / min(times[1:])
