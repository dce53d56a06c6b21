"""Draws of which a report looks at one only: with secure coins, one draw stands for both of them.

In `where(c, a, b)` nobody looks at b where c holds, nor at a where it does not. If two draws of the same kind are looked at
only in opposite branches of one condition, which depends on neither, a report looks at one of them, whatever else is drawn;
given the rest, its law is the same if both are one draw.
"""

from collections.abc import Sequence
from itertools import combinations

from deniable.core.operations import Node
from deniable.core.program import Program

SHARED = {"below", "public", "toss"}  # draws of numbers without an argument

Literal = tuple[int, bool]  # a condition, and whether it holds


def shared(program: Program) -> Program:
    """The program with one draw for two of which only one is looked at; itself where there are none."""
    instead = _instead(program)
    return _without(program, instead) if instead else program


def _instead(program: Program) -> dict[int, int]:
    """For each draw that can be left out, the earlier one that stands for it."""
    nodes, needed = program.nodes, _needed(program)
    depends = _depends(program)
    given = {arg for node in nodes if node.op == "code" for arg in node.args}  # what encoders look at stays as it is
    draws = [place for place, node in enumerate(nodes) if node.op in SHARED and place not in given]
    found: dict[int, int] = {}
    for first, second in combinations(draws, 2):
        same = (nodes[first].op, nodes[first].params) == (nodes[second].op, nodes[second].params)
        if not same or {first, second} & (found.keys() | set(found.values())):
            continue
        opposite = [(place, holds) for place, holds in needed[first] if (place, not holds) in needed[second]]
        if any(not {first, second} & depends[place] for place, _ in opposite):
            found[second] = first
    return found


def _needed(program: Program) -> list[set[Literal]]:
    """For each node, conditions without which no report looks at it."""
    uses: list[list[set[Literal]]] = [[] for _ in program.nodes]
    for _, place in program.report:
        uses[place].append(set())
    needed: list[set[Literal]] = [set() for _ in program.nodes]
    for place in reversed(range(len(program.nodes))):
        needed[place] = set.intersection(*uses[place]) if uses[place] else set()
        node = program.nodes[place]
        for number, arg in enumerate(node.args):
            more = {(node.args[0], number == 1)} if node.op == "where" and number > 0 else set()
            uses[arg].append(needed[place] | more)
    return needed


def _depends(program: Program) -> list[set[int]]:
    """For each node, itself and the nodes that it is made of."""
    found: list[set[int]] = []
    for place, node in enumerate(program.nodes):
        found.append({place}.union(*(found[arg] for arg in node.args)))
    return found


def _without(program: Program, instead: dict[int, int]) -> Program:
    """The program with draws left out, and what is the same in both branches in place of their choice."""
    stands = dict(instead)
    for place, node in enumerate(program.nodes):
        sides = {stands.get(arg, arg) for arg in node.args[1:]}
        if node.op == "where" and len(sides) == 1:
            stands[place] = sides.pop()
    kept = _kept(program, stands)
    number = {place: new for new, place in enumerate(kept)}
    nodes = [program.nodes[place] for place in kept]
    return Program(
        tuple(Node(node.op, tuple(number[stands.get(arg, arg)] for arg in node.args), node.params) for node in nodes),
        tuple((name, number[stands.get(place, place)]) for name, place in program.report),
    )


def _kept(program: Program, stands: dict[int, int]) -> Sequence[int]:
    """The nodes that reports are made of, and all codes, in order."""
    todo = [stands.get(place, place) for _, place in program.report]
    todo += [place for place, node in enumerate(program.nodes) if node.op == "code"]
    found: set[int] = set()
    while todo:
        if (place := todo.pop()) not in found:
            found.add(place)
            todo += [stands.get(arg, arg) for arg in program.nodes[place].args]
    return sorted(found)
