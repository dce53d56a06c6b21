"""`python -m release [FOLDER]`: build and check everything, with bills of materials and checksums."""

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

from release import PACKAGES, ROOT
from release.bill import bill_of
from release.build import built
from release.check import problems
from release.version import copied, stamp, version


def main() -> None:
    """Parse the arguments, build, check, and print what was made."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist", help="where to write to (default: dist)")
    parser.add_argument("--stamp", action="store_true", help="only copy the version to every file that repeats it")
    given = parser.parse_args()
    if given.stamp:
        print(*(f"{name}: {version()}" for name in stamp()), sep="\n")
        return
    stale = [name for name, text in copied().items() if (ROOT / name).read_text(encoding="utf-8") != text]
    if stale:
        sys.exit(f"error: {', '.join(stale)} have another version than {version()}. Run: python -m release --stamp")
    given.folder.mkdir(parents=True, exist_ok=True)
    if any(given.folder.iterdir()):
        sys.exit(f"error: {given.folder} is not empty. Remove what is in it, so that only this release is there.")
    for path in release(given.folder):
        print(f"{path.stat().st_size:>10,}  {path.name}")


def release(dist: Path) -> list[Path]:
    """Build into an empty folder and check; returns what is in it."""
    with tempfile.TemporaryDirectory(prefix="deniable-release-") as work:
        made = built(dist, Path(work))
    for package in PACKAGES:
        path = dist / f"{package}-{version()}.cdx.json"
        path.write_text(bill_of(package), encoding="utf-8")
        made.append(path)
    found = problems(dist)
    if found:
        sys.exit("error: this release is not fit to be published:\n" + "\n".join(found))
    sums = dist / "SHA256SUMS"
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(made)]
    sums.write_text("".join(lines), encoding="utf-8")
    return [*sorted(made), sums]


if __name__ == "__main__":
    main()
