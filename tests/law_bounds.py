"""What the rules of proof make of laws: a file of vectors for verifiers in other languages.

vectors/law_bounds.json has the odds that Python proves: for laws of the other files by name, for larger ones, for mutants
and for planted leaks. A list in a larger law is written as runs: {"runs": [[first, step, times], ...]}.

python -m tests.law_bounds
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.program import Program
from deniable.privacy.cases import open_bound
from deniable.privacy.problem import Problem
from deniable.privacy.rules import proved
from tests.families import INSTANCES
from tests.law_vectors import FOLDER, LONGEST, _write
from tests.mutants import mutants
from tests.privacy.test_leaks import SEEN

EVERY = 3  # of so many mutants one is a vector
DIGITS = 1000  # of odds that are written down


def words(size: int) -> dn.Categories:
    return dn.Categories(range(size))


def line(steps: int) -> dn.Interval:
    return dn.Interval(0, 1, steps=steps)


def keys(size: int, at_most: int) -> dn.KeyValue:
    return dn.KeyValue(range(size), -1, 1, at_most)


def space(dimensions: int) -> dn.Features:
    return dn.Features(dimensions, -1, 1, steps=1024)


def larger() -> Iterator[tuple[str, dn.Mechanism]]:
    """Every family at sizes that nobody enumerates."""
    shares: list[Any] = [dn.DirectResponse, dn.Unary, dn.SubsetSelection, dn.HadamardResponse, dn.LocalHashing, dn.Wheel]
    for make in [*shares, dn.BlockDesign]:
        largest = 1 if make is dn.BlockDesign else 10  # its tables are long
        for size in (100, 1000 * largest):
            yield f"{make.__name__} {size}", make(words(size), 1.0)
        for size in (20, 200, 200 * largest):
            yield f"open {make.__name__} {size}", dn.UtilityOptimized(make, words(size), range(size // 2), 1.0)
    for make in [dn.DirectResponse, dn.Unary, dn.SubsetSelection, dn.LocalHashing, dn.Wheel]:
        for size in (20, 2000):
            yield f"published {make.__name__} {size}", dn.PublishedUtility(make, words(size), range(size // 2), 1.0)
    yield "open DirectResponse 10000", dn.UtilityOptimized(dn.DirectResponse, words(10_000), range(5000), 1.0)
    half = Fraction(1, 2)
    yield "memoized direct", dn.Memoized.direct(words(1000), 2.0, 1.0)
    yield "memoized rappor", dn.Memoized.rappor(words(1000), half, half, 3 * half / 2)
    yield "memoized optimized", dn.Memoized.optimized(words(1000), 2.0, 1.0)
    yield "memoized hashing", dn.Memoized.hashing(words(1000), 2.0, 1.0)
    ordered = dn.Ordered(range(1000))
    for release in (dn.Bipartite, dn.Coarsened):
        yield f"{release.__name__} line", release(ordered, 1.0)
        yield f"{release.__name__} interval", release(line(1024), 1.0)
        yield f"{release.__name__} plane", release(dn.Points(np.random.default_rng(1).random((30, 2))), 1.0)
    scattered = dn.Points(np.random.default_rng(1).random((600, 2)))
    yield "release of an order", dn.Bipartite(scattered, 1.0, near=60)
    yield "directions", dn.UnitCodes(dn.UnitVectors(64), 2.0)
    yield "staircase", dn.Staircase(dn.Ordered(range(100)), 1.0)
    means: list[Any] = [dn.Duchi, dn.ThreeOutputs, dn.Piecewise, dn.Hybrid]
    for epsilon in (0.5, 1.2, 3.0):
        yield from ((f"{make.__name__} {epsilon}", make(line(1024), epsilon)) for make in means)
    yield "bit sampling", dn.BitSampling(line(1023), 1.0)
    for epsilon in (1.0, 4.0, 8.0):
        yield f"feature vector {epsilon}", dn.FeatureVector(space(20), epsilon)
    yield "feature vector, all", dn.FeatureVector.composed(space(10), 4.0)
    for dimensions in (4, 41, 100):
        yield f"signs {dimensions}", dn.DuchiVector(space(dimensions), 1.0)
    for size in (40, 1000):
        pairs = keys(size, 5)
        yield f"pairs unary {size}", dn.PCKVUnary(pairs, 1.0)
        yield f"pairs published {size}", dn.PCKVUnary.published(pairs, 1.0)
        yield f"pairs on a ring {size}", dn.PairWheel(pairs, 1.0)
        yield f"pairs direct {size}", dn.PCKVDirect(pairs, 1.0)
        yield f"pairs sampled {size}", dn.KeySampling.kvue(pairs, 1.0)
        yield f"keys of a set {size}", dn.PrivSet(pairs, 0.5)
    chances = INSTANCES["keys-unary-both"].chances  # type: ignore[attr-defined]
    for size, most in ((40, 30), (1000, 3), (6, 6)):
        yield f"one of {most} pairs, unary {size}", dn.PCKVUnary(keys(size, most), chances=chances)
        yield f"one of {most} pairs, direct {size}", dn.PCKVDirect(keys(size, most), 1.0)
    yield "bits", dn.BitRand.as_published(4, 8, 1.0)
    for width, bits in ((7, 3), (100, 1)):
        yield f"bits by turns {width}x{bits}", dn.BitRand.ome(width, bits, 1.0)
    yield "bits in turn", dn.BitRand.latent(4, 8, 1.0)
    record = dn.Vectors([words(10), words(50), words(3)])
    for kind in (dn.EveryAttribute, dn.OneAttribute, dn.FakeAttributes):
        yield f"{kind.__name__} direct", kind.of(record, 1.0)
        yield f"{kind.__name__} unary", kind.of(record, 1.0, dn.Unary)
    yield "whole record", dn.WholeRecord(record, 3.0)
    for sizes, agreeing in (((2,) * 12, 10), ((4,) * 5, 4), ((16, 32), 1)):
        similar = dn.Vectors([words(size) for size in sizes])
        yield f"similar records {len(sizes)}x{sizes[0]}", dn.WholeRecord(similar, 6.0, agreeing)
    yield "one group", dn.OneGroup.of(dn.Vectors([words(2)] * 12), 6.0, [range(8), range(4, 12)])
    yield "one group of unequal ones", dn.OneGroup.of(record, 2.0, [[0, 2], [1]], dn.SubsetSelection)
    numbers = dn.Vectors([dn.Ordered(range(100)), line(64)])
    yield "coordinates", dn.VectorRelease.of(numbers, 1.0)
    yield "one coordinate", dn.VectorRelease.one_coordinate(numbers, 1.0)


def hiding(mechanism: dn.Mechanism) -> dict[str, Any] | None:
    """Which reports disclose no answer, and which answers are sensitive."""
    if mechanism.layout.opens is None:
        return None
    field, start = mechanism.layout.opens
    return {"field": field, "from": start, "secret": np.flatnonzero(getattr(mechanism, "secret")).tolist()}  # noqa: B009


def bound(program: Program, hidden: Mapping[str, Any] | None = None) -> Fraction | None:
    """The odds that are proved; None if none are."""
    if hidden is None:
        found = proved(Problem.of(program))
    else:
        found = open_bound(program, hidden["field"], hidden["from"], frozenset(hidden["secret"]))
    return None if found is None else found.odds


def entry(about: Mapping[str, Any], program: Program, hidden: Mapping[str, Any] | None = None) -> dict[str, Any]:
    odds = bound(program, hidden)
    shown = None if hidden is None else {**hidden, "secret": packed(hidden["secret"])}
    return {**about, **({} if hidden is None else {"open": shown}), "odds": None if odds is None else str(odds)}


Case = tuple[dict[str, Any], Program, dict[str, Any] | None]  # what is written of it, its law, and what it may disclose


def named() -> Iterator[Case]:
    """The laws of laws.json."""
    for vector in json.loads((FOLDER / "laws.json").read_text()):
        yield ({"law": vector["name"]}, Program.from_json(json.dumps(vector["law"])), hiding(INSTANCES[vector["name"]]))


def of_questions() -> Iterator[Case]:
    """The laws of surveys in question_laws.json."""
    for vector in json.loads((FOLDER / "surveys.json").read_text()):
        for question in dn.Survey.from_json(vector["survey"]).questions:
            if question.mechanism.traced:
                about = {"survey": vector["name"], "question": question.id}
                yield (about, question.mechanism.law, hiding(question.mechanism))


def inline() -> Iterator[Case]:
    """Larger laws, and planted leaks of which a law can be traced."""
    for name, mechanism in larger():
        yield ({"larger": name, "program": packed(json.loads(mechanism.law.to_json()))}, mechanism.law, hiding(mechanism))
    for name, make in SEEN.items():
        try:
            mechanism = make()
            program = mechanism.law
        except dn.DeniableError:
            continue
        yield ({"leak": name, "program": packed(json.loads(program.to_json()))}, program, hiding(mechanism))


def shortest() -> list[Program]:
    """One small law of each family: the shortest, for families differ in their operations."""
    found: dict[str, Program] = {}
    for mechanism in INSTANCES.values():
        if mechanism.traced and mechanism.protected is None:
            known = found.get(mechanism.wire)
            if known is None or len(mechanism.law.nodes) < len(known.nodes):
                found[mechanism.wire] = mechanism.law
    return [law for law in found.values() if len(law.to_json()) <= LONGEST]


def changed() -> Iterator[Case]:
    """Mutants: the law of this name with one other node."""
    names = {each.law.fingerprint: name for name, each in reversed(INSTANCES.items()) if each.traced}
    for law in shortest():
        before = json.loads(law.to_json())["nodes"]
        for _, mutant in itertools.islice(mutants(law), 0, None, EVERY):
            if mutant is None:
                continue
            after = json.loads(mutant.to_json())["nodes"]
            places = [place for place, node in enumerate(after) if node != before[place]]
            if places:
                yield ({"mutant": names[law.fingerprint], "at": places[0], "node": packed(after[places[0]])}, mutant, None)


def packed(value: Any) -> Any:
    """The same with long lists of numbers as runs."""
    if isinstance(value, dict):
        return {key: packed(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) < 20 or not all(isinstance(each, int) for each in value):
        return [packed(each) for each in value]
    runs: list[list[int]] = []
    for each in value:
        if runs and (runs[-1][2] == 1 or each == runs[-1][0] + runs[-1][1] * runs[-1][2]):
            runs[-1] = [runs[-1][0], each - runs[-1][0] if runs[-1][2] == 1 else runs[-1][1], runs[-1][2] + 1]
        else:
            runs.append([each, 0, 1])
    return {"runs": runs} if len(runs) * 4 < len(value) else value


def cases() -> Iterator[Case]:
    yield from named()
    yield from of_questions()
    yield from inline()
    yield from changed()


def entries() -> Iterator[dict[str, Any]]:
    for each in (entry(*case) for case in cases()):
        if len(each["odds"] or "") <= DIGITS:
            yield each


if __name__ == "__main__":
    _write("law_bounds.json", entries())
