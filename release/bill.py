"""The software bill of materials: what a package needs, in CycloneDX 1.5, with the versions that it was tested with."""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.build import EPOCH


def bill_of(package: str) -> str:
    """The bill of one of our packages, as JSON, from what is installed in this environment.

    Packages that only an extra needs are `optional`. An extra that is not installed here is not in the bill, and says so
    by its absence from `deniable:extras`.
    """
    extras = _extras(package)
    reached, required = _reached(package, extras), set(_reached(package, frozenset()))
    needs = {name: {each for each, _ in _requirements(name, extras)} & set(reached) for name in reached}
    own = _found(package)
    about = _component(own, "application" if own.entry_points.select(group="console_scripts") else "library")
    about["properties"] = [{"name": "deniable:extras", "value": ",".join(sorted(extras))}]
    others = sorted(set(needs) - {package})
    body: dict[str, object] = {
        "metadata": {
            "timestamp": datetime.fromtimestamp(EPOCH, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": about,
        },
        "components": [
            {**_component(_found(name), "library"), "scope": "required" if name in required else "optional"}
            for name in others
        ],
        "dependencies": [
            {"ref": _url(_found(name)), "dependsOn": sorted(_url(_found(each)) for each in needs[name])}
            for name in [package, *others]
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1}
    return json.dumps(head | body, indent=2) + "\n"


@cache
def _found(name: str) -> Distribution:
    return distribution(name)


def _extras(package: str) -> frozenset[str]:
    """The extras of ours whose packages are all installed here."""
    named = _found(package).metadata.get_all("Provides-Extra") or []
    return frozenset(name for name in named if all(_installed(each) for each, _ in _named(package, frozenset({name}))))


def _installed(name: str) -> bool:
    try:
        _found(name)
    except PackageNotFoundError:
        return False
    return True


def _named(package: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """What a package requires on this machine with these extras: names, each with its extras."""
    for text in _found(package).requires or []:
        need = Requirement(text)
        wanted = need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        if wanted:
            yield canonicalize_name(need.name), frozenset(need.extras)


def _requirements(package: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    return ((name, own) for name, own in _named(package, extras) if name != package and _installed(name))


def _reached(package: str, extras: frozenset[str]) -> list[str]:
    """Everything that is installed with a package and these extras of it, by name."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(package, extras)]
    while waiting:
        item = waiting.pop()
        if item not in seen:
            seen.add(item)
            waiting += _requirements(*item)
    return sorted({name for name, _ in seen})


def _url(found: Distribution) -> str:
    return f"pkg:pypi/{canonicalize_name(found.name)}@{found.version}"


def _component(found: Distribution, kind: str) -> dict[str, object]:
    about: dict[str, object] = {"type": kind, "bom-ref": _url(found), "name": canonicalize_name(found.name)}
    about |= {"version": found.version, "purl": _url(found)}
    (expression,) = found.metadata.get_all("License-Expression") or [""]
    (name,) = found.metadata.get_all("License") or [""]
    if expression:
        about["licenses"] = [{"expression": expression}]
    elif 0 < len(name) < 60:  # not a whole text
        about["licenses"] = [{"license": {"name": name}}]
    return about
