"""Wheels, source distributions and the npm package, the same bytes from the same files wherever they are built."""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from release import PACKAGES, ROOT

# Files carry this date: 2026-01-01. What is built then depends on the tree alone, not on when or where.
EPOCH = 1_767_225_600
_SKIPPED = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", "node_modules", "test")
_BUILD = "import os, sys; os.umask(0o022); from setuptools import build_meta; build_meta.{}(sys.argv[1])"


def built(dist: Path, work: Path, root: Path = ROOT) -> list[Path]:
    """Build everything into the folder `dist`, from copies in the empty folder `work`."""
    dist.mkdir(parents=True, exist_ok=True)
    made = [path for name in PACKAGES for path in python_package(name, dist, work, root)]
    return [*made, npm_package(dist, work, root)]


def python_package(name: str, dist: Path, work: Path, root: Path = ROOT) -> tuple[Path, Path]:
    """The source distribution of a package, and the wheel that is built from it."""
    source = _copied(root / "packages" / name, work / name)
    sdist = _setuptools("build_sdist", source, work / "sdist")
    shutil.unpack_archive(sdist, work / "unpacked", filter="data")
    unpacked = work / "unpacked" / sdist.name.removesuffix(".tar.gz")
    shutil.rmtree(next((unpacked / "src").glob("*.egg-info")))
    wheel = _setuptools("build_wheel", _dated(unpacked), work / "wheel")
    (dist / sdist.name).write_bytes(_same_archive(sdist.read_bytes()))
    return dist / sdist.name, Path(shutil.copy(wheel, dist / wheel.name))


def npm_package(dist: Path, work: Path, root: Path = ROOT) -> Path:
    """The npm package, as `npm pack` makes it."""
    source = _copied(root / "js", work / "js")
    command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(dist.resolve())]
    done = subprocess.run(command, cwd=source, check=True, capture_output=True, text=True, timeout=120)
    return dist / done.stdout.strip()


def _copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, ignore=_SKIPPED)
    return _dated(target)


def _dated(folder: Path) -> Path:
    """The folder, with the same modes and dates whoever has copied it."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (EPOCH, EPOCH))
    return folder


def _setuptools(build: str, source: Path, target: Path) -> Path:
    target = target / source.name
    target.mkdir(parents=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", _BUILD.format(build), str(target.resolve())]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{build} of {source.name} failed:\n{done.stdout}{done.stderr}")
    (made,) = target.iterdir()
    return made


def _same_archive(data: bytes) -> bytes:
    """The same .tar.gz with its files in order, and without traces of whoever packed it."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as before,
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="") as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as after,
    ):
        for member in sorted(before.getmembers(), key=lambda member: member.name):
            entry = tarfile.TarInfo(member.name)
            entry.size, entry.type, entry.mtime = member.size, member.type, EPOCH
            entry.mode = 0o755 if member.isdir() else 0o644
            after.addfile(entry, before.extractfile(member) if member.isfile() else None)
    return packed.getvalue()
