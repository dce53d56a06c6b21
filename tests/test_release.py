"""What would be published: complete, described, and the same bytes wherever it is built."""

import hashlib
import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from release import PACKAGES, ROOT, bill, build, check, version
from tests.waits import PATIENCE

pytestmark = [pytest.mark.needs("npm", "setuptools", "readme_renderer", "cyclonedx"), pytest.mark.xdist_group("wheel")]

VERSION = version.version()
# What the packaging tools add to the sources.
WHEEL = {"METADATA", "RECORD", "WHEEL", "licenses/LICENSE", "top_level.txt", "entry_points.txt"}
SDIST = {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
INFO = {"PKG-INFO", "SOURCES.txt", "dependency_links.txt", "entry_points.txt", "requires.txt", "top_level.txt"}


def tracked(folder: Path) -> set[str]:
    command = ["git", "ls-files", "-co", "--exclude-standard", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    return {name for name in done.stdout.splitlines() if (folder / name).exists()}


def named(dist: Path, package: str) -> tuple[Path, Path]:
    stem = f"{package.replace('-', '_')}-{VERSION}"
    return dist / f"{stem}-py3-none-any.whl", dist / f"{stem}.tar.gz"


def test_the_version_is_written_once_and_copied(tmp_path: Path) -> None:
    assert version.copied() == {name: (ROOT / name).read_text(encoding="utf-8") for name, _ in version.COPIES}
    for name in {version.SOURCE, *(name for name, _ in version.COPIES)}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8").replace(VERSION, "9.8.7"), encoding="utf-8")
    source = tmp_path / version.SOURCE
    source.write_text(source.read_text(encoding="utf-8").replace("9.8.7", "9.8.8"), encoding="utf-8")
    assert set(version.stamp(tmp_path)) == {name for name, _ in version.COPIES}
    assert not any("9.8.7" in (tmp_path / name).read_text(encoding="utf-8") for name, _ in version.COPIES)
    assert version.stamp(tmp_path) == []


def test_wheels_and_source_distributions_hold_the_sources_and_nothing_else(dist: Path) -> None:
    for package in PACKAGES:
        wheel, sdist = named(dist, package)
        sources = {name for name in tracked(ROOT / "packages" / package / "src") if not name.endswith(".md")}
        added = {name for name in check.contents(wheel) if ".dist-info/" in name}
        assert {name.partition("/")[2] for name in added} <= WHEEL and len(added) >= len(WHEEL) - 1
        assert set(check.contents(wheel)) - added == sources
        info = {name for name in check.contents(sdist) if ".egg-info/" in name}
        assert {name.rpartition("/")[2] for name in info} <= INFO
        assert set(check.contents(sdist)) - info == {f"src/{name}" for name in sources} | SDIST


def test_the_npm_package_holds_the_modules_and_their_types(dist: Path) -> None:
    package = dist / f"deniable-{VERSION}.tgz"
    ours = {name for name in tracked(ROOT / "js") if name.startswith("src/") or name.endswith(".d.ts")}
    assert set(check.contents(package)) == ours | check.NPM
    assert {"src/index.js", "index.d.ts", "src/node.js", "node.d.ts"} <= ours
    assert (ROOT / "js" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_checks_find_nothing_here_and_what_is_wrong_elsewhere(dist: Path, tmp_path: Path) -> None:
    assert check.problems(dist) == []
    wheel, sdist = named(dist, "deniable")
    stem = f"deniable-{VERSION}.dist-info"
    bad = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(bad, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            if name == f"{stem}/METADATA":
                data = data.replace(b"text/markdown", b"text/plain").replace(b"License-Expression: MIT\n", b"")
            if not name.endswith("py.typed"):
                after.writestr(name, data)
        after.writestr("deniable/__pycache__/x.pyc", b"")
    (tmp_path / sdist.name).write_bytes(sdist.read_bytes())
    found = " ".join(check.problems(tmp_path))
    for said in ("long description", "licence", "lacks deniable/py.typed", "x.pyc does not belong", "learn", ".tgz was not"):
        assert said in found, said


def test_the_same_bytes_are_built_elsewhere_by_somebody_else(dist: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        again = build.built(tmp_path / "far away" / "dist", tmp_path / "work")
    finally:
        os.umask(before)
    assert {path.name for path in again} == {path.name for path in dist.iterdir()}
    for path in again:
        assert path.read_bytes() == (dist / path.name).read_bytes(), path.name


def test_nothing_names_a_package_index_by_its_host() -> None:
    hosts = re.compile(r"pypi[.]org|python[h]osted[.]|npmjs[.]|docker[.]io|quay[.]io")  # this line names none itself
    folders = [ROOT / name for name in ("packages", "js", "docs", "release")]
    files = [ROOT / "README.md", *(folder / name for folder in folders for name in tracked(folder))]
    assert [str(path) for path in files if hosts.search(path.read_text(encoding="utf-8", errors="ignore"))] == []


def test_bills_are_valid_and_name_what_is_needed() -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    for package in PACKAGES:
        text = bill.bill_of(package)
        assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(text) is None
        assert text == bill.bill_of(package)
    scopes = {each["name"]: each["scope"] for each in json.loads(bill.bill_of("deniable"))["components"]}
    assert {name for name, scope in scopes.items() if scope == "required"} >= {"numpy", "cryptography", "click", "rich"}
    assert {scopes[name] for name in ("starlette", "psycopg", "numba", "anyio")} == {"optional"}


def test_the_command_writes_it_all_with_checksums(dist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from release import __main__ as command

    def copied(folder: Path, work: Path) -> list[Path]:
        """What was built before."""
        made = [folder / path.name for path in dist.iterdir()]
        for path in made:
            path.write_bytes((dist / path.name).read_bytes())
        return made

    monkeypatch.setattr(command, "built", copied)
    made = command.release(tmp_path)
    assert {path.name for path in made} == {path.name for path in tmp_path.iterdir()}
    sums = {line.split("  ")[1]: line.split("  ")[0] for line in (tmp_path / "SHA256SUMS").read_text().splitlines()}
    assert sums == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made if path.name != "SHA256SUMS"}
    assert len(sums) == 7
