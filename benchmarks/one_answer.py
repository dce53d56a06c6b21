"""What one answer costs on a device, beside the draws and operations of its law by themselves: microseconds of the CPU.

    python -m benchmarks.one_answer             every family, and a table in one_answer.md
    python -m benchmarks.one_answer direct-1    these families

`perturb` is `perturb([answer])` with secure coins, as a device calls it, without numba, which a device need not load. `law`
is the same law as one Python function in a straight line: its draws from secure coins with a fresh key, its NumPy operations
and the encoders that need a draw, on codes that are there already. `answer` is what makes these codes: looking the answer
up, or rounding it to a grid. The rest is what the interpreter and all around it cost: checking codes, walking through the
program, and the report with its layout. Of each family the instance with the largest rest is shown. All are the least of
many runs, measured in turns.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import click

TABLE = Path(__file__).with_suffix(".md")
ALLOWED = 60.0  # microseconds that the rest may take
TURNS, CALLS = 15, 40


@dataclass(frozen=True)
class Cost:
    """Microseconds for one answer."""

    wire: str
    whole: float
    answer: float
    law: float

    @property
    def rest(self) -> float:
        """What is neither the answer nor its law."""
        return self.whole - self.answer - self.law

    def row(self) -> str:
        """A row of the table."""
        return f"| {self.wire} | {self.whole:.0f} | {self.answer:.0f} | {self.law:.0f} | {self.rest:.0f} |"


def straight(program: Any) -> Callable[[Any, Any], object]:
    """The law as one function of codes and coins: the same operations, and nothing between them."""
    from deniable.core.running import compiled

    constants, steps = compiled(program)
    names: dict[str, object] = {f"v{place}": value for place, value in enumerate(constants) if value is not None}
    lines, codes = ["def law(codes, coins):"], 0
    for place, operate, args, _ in steps:
        given = ", ".join(f"v{arg}" for arg in args)
        if operate is None:
            lines.append(f" v{place} = codes[{codes}]({given})" if args else f" v{place} = codes[{codes}]")
            codes += 1
        else:
            names[f"f{place}"] = operate
            lines.append(f" v{place} = f{place}([{given}], coins, 1)")
    lines.append(f" return {', '.join(f'v{node}' for _, node in program.report)},")
    exec("\n".join(lines), names)
    made: Callable[[Any, Any], object] = names["law"]  # type: ignore[assignment]
    return made


def microseconds(work: Callable[[], object]) -> float:
    """For one call, of many in a row."""
    start = process_time()
    for _ in range(CALLS):
        work()
    return 1e6 * (process_time() - start) / CALLS


def measured(mechanism: Any, answer: Any) -> Cost:
    """One instance, its three times in turns."""
    from deniable import SecureCoins

    law = straight(mechanism.law)
    nodes = [node for node in mechanism.law.nodes if node.op == "code"]

    def encoded() -> list[Any]:
        codes = zip(mechanism.encoded(mechanism.prepared([answer])), nodes, strict=True)
        return [code() if callable(code) and not node.args else code for code, node in codes]

    codes = encoded()
    works: list[Callable[[], object]] = [lambda: mechanism.perturb([answer]), encoded, lambda: law(codes, SecureCoins())]
    turns = [[microseconds(work) for work in works] for _ in range(TURNS)]
    return Cost(mechanism.wire, *(min(times) for times in zip(*turns, strict=True)))


def worst(costs: list[Cost]) -> list[Cost]:
    """Of each family the instance that costs most beside its law."""
    found: dict[str, Cost] = {}
    for cost in costs:
        found[cost.wire] = max(found.get(cost.wire, cost), cost, key=lambda each: each.rest)
    return sorted(found.values(), key=lambda each: -each.rest)


def page(costs: list[Cost]) -> str:
    """The table with what it is about."""
    rests = [cost.rest for cost in costs]
    above = sum(rest > ALLOWED for rest in rests)
    shown = "\n".join(cost.row() for cost in worst(costs))
    return f"""# One answer

`python -m benchmarks.one_answer` on {date.today()}: microseconds of the processor for `perturb([answer])` with secure coins
and without numba, for the codes of the answer, for its law alone, and the rest; the least of {TURNS} times {CALLS} calls, of
each family the instance with the largest rest. Over all {len(costs)} instances of the tests the rest is
{median(rests):.0f} µs in the median and {max(rests):.0f} µs at most; {above} are above {ALLOWED:.0f} µs.

| family | perturb | answer | law | rest |
|---|--:|--:|--:|--:|
{shown}
"""


@click.command()
@click.argument("names", metavar="[FAMILY]...", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Microseconds for one answer, of these families or of all."""
    sys.modules["numba"] = None  # type: ignore[assignment]
    from tests.families import INSTANCES, answers

    costs = [
        measured(mechanism, answers(mechanism, 5)[2])
        for mechanism in INSTANCES.values()
        if mechanism.traced and (not names or mechanism.wire in names)
    ]
    made = page(costs)
    click.echo(made)
    if not names:
        TABLE.write_text(made)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.one_answer")
