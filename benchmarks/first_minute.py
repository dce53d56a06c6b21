"""How long the first minute takes, with the packages that make release has built: `python -m benchmarks.first_minute`.

An empty environment gets the collector from the folder of wheels; then come the first estimate on the command line, and a
survey that is served and answered in Chromium. Dependencies come from wherever pip gets them on this machine.
"""

import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from tests import ROOT
from tests.browsers import chromium
from tests.servers import free_port, wait_until_ready


@click.command()
@click.argument("dist", type=click.Path(path_type=Path, exists=True), default=ROOT / "dist")
def main(dist: Path) -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory(prefix="deniable-first-") as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        start = time.perf_counter()
        pip = [str(folder / "venv" / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        constraints = ["-c", str(ROOT / "constraints.txt"), "--find-links", str(dist)]
        subprocess.run([*pip, *constraints, "deniable[collector]"], check=True)
        installed = time.perf_counter() - start
        program = folder / "venv" / "bin" / "deniable"
        estimate(program, folder / "first")
        estimated = time.perf_counter() - start
        start = time.perf_counter()
        answered(program, folder / "second")
        counted = time.perf_counter() - start
    click.echo("| step | seconds |\n|---|--:|")
    click.echo(f"| pip install from the built wheels | {installed:.1f} |")
    click.echo(f"| pip install to the first estimate | {estimated:.1f} |")
    click.echo(f"| deniable init, deniable serve, to the first counted answer in Chromium | {counted:.1f} |")


def estimate(program: Path, folder: Path) -> None:
    """The commands that `deniable init` writes for data that one already has."""
    subprocess.run([program, "init", "--yes", folder], check=True, stdout=subprocess.DEVNULL)
    lines = [line.strip() for line in (folder / "README.md").read_text(encoding="utf-8").splitlines()]
    for line in lines[lines.index("Or randomize answers that you already have:") :]:
        if line.startswith("deniable "):
            subprocess.run([program, *shlex.split(line)[1:]], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def answered(program: Path, folder: Path) -> None:
    """A survey, from nothing to the receipt in a browser."""
    subprocess.run([program, "init", "--yes", folder], check=True, stdout=subprocess.DEVNULL)
    with serving(program, folder) as url, chromium() as browser:
        page = browser.new_page()
        page.goto(url)
        page.get_by_label("bus").check()
        page.get_by_role("button", name="Randomize my answer").click()
        page.get_by_role("button", name="Send the report").click()
        page.get_by_role("heading", name="Thank you").wait_for()


@contextmanager
def serving(program: Path, folder: Path) -> Iterator[str]:
    port, nowhere = free_port(), subprocess.DEVNULL
    command = [str(program), "serve", "survey.toml", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stdout=nowhere, stderr=nowhere) as process:
        try:
            wait_until_ready(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
