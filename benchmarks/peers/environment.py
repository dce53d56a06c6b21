"""The virtual environment the peers live in, made when it is first needed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv-peers"
PYTHON = FOLDER / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
WANTED = ROOT / "benchmarks" / "peers.txt"
INSTALLED = FOLDER / "peers.txt"


def is_ready() -> bool:
    return INSTALLED.exists() and INSTALLED.read_text() == WANTED.read_text()


def make() -> list[str]:
    """Install the peers; the requirements that could not be installed come back, the others are usable."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(FOLDER)], check=True, capture_output=True)
    if _install("-r", str(WANTED)):
        INSTALLED.write_text(WANTED.read_text())
        return []
    requirements = [line for line in WANTED.read_text().splitlines() if line and not line.startswith("#")]
    return [requirement for requirement in requirements if not _install(requirement)]


def _install(*what: str) -> bool:
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(PYTHON), "--no-deps", *what]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


if __name__ == "__main__":
    if not is_ready():
        make()
