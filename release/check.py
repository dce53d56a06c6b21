"""What is wrong with built packages: metadata, long description, licence, types, and what does not belong into them."""

import json
import tarfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata
from readme_renderer import markdown

from release import PACKAGES
from release.version import version

NPM = {"package.json", "README.md", "LICENSE"}  # beside src/ and the types


def problems(dist: Path) -> list[str]:
    """What is wrong with the packages in a folder, one line each; none if they may be published."""
    found = [line for name in PACKAGES for line in _python(dist, name)]
    return found + _npm(dist / f"deniable-{version()}.tgz")


def contents(package: Path) -> list[str]:
    """The names of the files in a wheel, a source distribution or an npm package; of archives, below their one folder."""
    if package.suffix == ".whl":
        return sorted(name for name in zipfile.ZipFile(package).namelist() if not name.endswith("/"))
    with tarfile.open(package) as archive:
        return sorted(member.name.partition("/")[2] for member in archive.getmembers() if member.isfile())


def _python(dist: Path, name: str) -> list[str]:
    stem = f"{name.replace('-', '_')}-{version()}"
    wheel, sdist = dist / f"{stem}-py3-none-any.whl", dist / f"{stem}.tar.gz"
    absent = [path.name for path in (wheel, sdist) if not path.exists()]
    if absent:
        return [f"{', '.join(absent)} was not built"]
    module = name.replace("-", "_")
    with zipfile.ZipFile(wheel) as archive:
        found = _metadata(wheel.name, archive.read(f"{stem}.dist-info/METADATA"), name)
    wanted = {f"{module}/py.typed", f"{module}/__init__.py", f"{stem}.dist-info/licenses/LICENSE"}
    found += [f"{wheel.name} lacks {each}" for each in sorted(wanted - set(contents(wheel)))]
    with tarfile.open(sdist) as archive:
        held = archive.extractfile(f"{stem}/PKG-INFO")
        assert held is not None
        found += _metadata(sdist.name, held.read(), name)
    wanted = {f"src/{module}/py.typed", "pyproject.toml", "README.md", "LICENSE"}
    found += [f"{sdist.name} lacks {each}" for each in sorted(wanted - set(contents(sdist)))]
    stray = [each for path in (wheel, sdist) for each in contents(path) if "__pycache__" in each or each.endswith(".pyc")]
    return found + [f"{each} does not belong into a package" for each in stray]


def _metadata(where: str, data: bytes, name: str) -> list[str]:
    try:
        about = Metadata.from_email(data, validate=True)
    except ExceptionGroup as group:
        return [f"{where}: {error}" for error in group.exceptions]
    found = []
    if (about.name, str(about.version)) != (name, version()):
        found.append(f"{where} is {about.name} {about.version} instead of {name} {version()}")
    if about.description_content_type != "text/markdown" or not markdown.render(about.description or ""):
        found.append(f"{where}: the long description is no Markdown that can be shown")
    if str(about.license_expression) != "MIT" or about.license_files != ["LICENSE"]:
        found.append(f"{where} does not state its licence")
    missing = [name for name in ("summary", "requires_python", "classifiers") if not getattr(about, name)]
    return found + [f"{where} has no {name}" for name in missing]


def _npm(package: Path) -> list[str]:
    if not package.exists():
        return [f"{package.name} was not built"]
    names = set(contents(package))
    with tarfile.open(package) as archive:
        held = archive.extractfile("package/package.json")
        assert held is not None
        about = json.loads(held.read())
    entries = [path for entry in about["exports"].values() for path in entry.values()]
    found = [f"{package.name} lacks {path}" for path in entries if path.removeprefix("./") not in names]
    found += [f"{package.name} lacks {each}" for each in sorted(NPM - names)]
    stray = [each for each in names - NPM if not each.startswith("src/") and not each.endswith(".d.ts")]
    found += [f"{package.name}: {each} does not belong into a package" for each in sorted(stray)]
    return found + ([] if about["version"] == version() else [f"{package.name} has the version {about['version']}"])
