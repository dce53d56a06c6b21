"""What is audited: a mechanism, a function, a command, an address, or a file of values with their reports."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Protocol

import numpy as np

from deniable.arrays import Ints
from deniable.audit.batch import Batch, joined, read
from deniable.core import Coins, Mechanism
from deniable.errors import InvalidParameter, OutsideDomain, Unavailable


class Client(Protocol):
    """Somebody who gives one report for each value, given as its place in a list; people are numbered."""

    @property
    def at_once(self) -> int:
        """How many values it takes at a time."""
        ...

    @property
    def alone(self) -> int:
        """How many values to ask one at a time, as a device does, while the event is looked for; 0 if it never gets more."""
        ...

    def ask(self, places: Ints, people: Ints) -> Batch:
        """One report for each."""
        ...


class MechanismClient:
    """The code of a mechanism."""

    at_once = 1 << 16
    alone = 4_000

    def __init__(self, mechanism: Mechanism, values: Sequence[object], coins: Coins | None = None) -> None:
        self._mechanism, self._values, self._coins = mechanism, values, coins

    def ask(self, places: Ints, people: Ints) -> Batch:
        """One report for each; every one is a person's first."""
        return read(self._mechanism.perturb([self._values[place] for place in places.tolist()], self._coins))


class FunctionClient:
    """A function of one value; with `repeats`, of a person's number and a value. How long each call takes is measured."""

    at_once = 1 << 14
    alone = 0

    def __init__(self, function: Callable[..., Any], values: Sequence[object], repeats: bool) -> None:
        self._function, self._values, self._repeats = function, values, repeats

    def ask(self, places: Ints, people: Ints) -> Batch:
        """One report for each."""
        function, reports, seconds = self._function, [], np.empty(len(places))
        try:
            for turn, (place, person) in enumerate(zip(places.tolist(), people.tolist(), strict=True)):
                value = self._values[place]
                start = perf_counter_ns()
                report = function(person, value) if self._repeats else function(value)
                seconds[turn] = (perf_counter_ns() - start) / 1e9
                reports.append(report)
        except OutsideDomain:
            raise
        except Exception as error:  # its message may hold the value
            raise InvalidParameter(
                f"The client failed with {type(error).__name__}. Give only values that it accepts"
                + (", and a function of a person and a value." if self._repeats else ".")
            ) from None
        return read(reports, seconds)


class CommandClient:
    """A program that reads values, one a line, and writes a report for each, one a line; JSON if it can be read so.

    With `repeats` a line is the number of a person, a tab and the value.
    """

    at_once = 1 << 17
    alone = 100  # each is a process of its own

    def __init__(self, command: str, values: Sequence[object], repeats: bool) -> None:
        self._command, self._repeats = shlex.split(command), repeats
        self._texts = [str(value) for value in values]
        if not self._command or any("\n" in text for text in self._texts):
            raise InvalidParameter("A command reads one value per line: give a command, and values without line breaks.")

    def ask(self, places: Ints, people: Ints) -> Batch:
        """One report for each, from one run of the program."""
        texts = [self._texts[place] for place in places.tolist()]
        if self._repeats:
            texts = [f"{person}\t{text}" for person, text in zip(people.tolist(), texts, strict=True)]
        try:
            done = subprocess.run(self._command, input="\n".join(texts) + "\n", capture_output=True, text=True)
        except OSError as error:
            raise InvalidParameter(f"The command cannot be run: {error.strerror}. Check its name.") from None
        lines = done.stdout.splitlines()
        if done.returncode or len(lines) != len(texts):
            raise InvalidParameter(
                f"The command must write one line for each line it reads. It wrote {len(lines):,} for {len(texts):,} and "
                f"ended with code {done.returncode}."
            )
        return read(_parsed(lines))


class AddressClient:
    """An address that takes a JSON list of values by POST and answers with a JSON list of reports.

    With `repeats` each element is an object with "person" and "value".
    """

    at_once = 1 << 12
    alone = 500

    def __init__(self, url: str, values: Sequence[object], repeats: bool, timeout: float = 60.0) -> None:
        self._url, self._values, self._repeats, self._timeout = url, values, repeats, timeout

    def ask(self, places: Ints, people: Ints) -> Batch:
        """One report for each, from one request."""
        import urllib.error
        import urllib.request

        values: list[object] = [self._values[place] for place in places.tolist()]
        if self._repeats:
            values = [{"person": who, "value": value} for who, value in zip(people.tolist(), values, strict=True)]
        body, headers = json.dumps(values).encode(), {"Content-Type": "application/json"}
        try:
            request = urllib.request.Request(self._url, body, headers, method="POST")
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                reports = json.loads(answer.read())
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise Unavailable(
                f"The address returned no list of reports ({type(error).__name__}). Check it and try again."
            ) from None
        if not isinstance(reports, list) or len(reports) != len(values):
            raise InvalidParameter("The address must return a JSON list with one report for each value.")
        return read(reports)


class FileClient:
    """Pairs of value and report that were written down: each answer is the next unused report with that value."""

    alone = 0

    def __init__(self, groups: Sequence[Sequence[Any]], repeats: int, coins: np.random.Generator) -> None:
        self._groups = [list(group) for group in groups]  # one entry a person: a report, or a list of them
        for group in self._groups:
            coins.shuffle(group)
        self._repeats, self._used = repeats, np.zeros(len(groups), np.int64)
        self.at_once = 1 << 30

    def left(self, place: int) -> int:
        """How many people with this value have not been asked."""
        return len(self._groups[place]) - int(self._used[place])

    def ask(self, places: Ints, people: Ints) -> Batch:
        """One report for each; an error if they have run out."""
        reports: list[Any] = []
        for place in places[:: self._repeats].tolist():
            entry = self._groups[place][self._used[place]]
            self._used[place] += 1
            reports += entry if self._repeats > 1 else [entry]
        return read(reports)


class OneByOne:
    """Another client that gets one value at a time."""

    alone = 0

    def __init__(self, client: Client) -> None:
        self._client, self.at_once = client, min(client.at_once, 1 << 12)

    def ask(self, places: Ints, people: Ints) -> Batch:
        """One report for each, every one from a call of its own."""
        return joined([self._client.ask(places[turn : turn + 1], people[turn : turn + 1]) for turn in range(len(places))])


def _parsed(lines: Sequence[str]) -> list[Any]:
    """Every line as JSON, or as it is if not all are JSON."""
    try:
        return [json.loads(line) for line in lines]
    except ValueError:
        return list(lines)


def named_function(name: str) -> Any:
    """What `module:function` names; the module may be a file in the current folder."""
    module, _, path = name.partition(":")
    if (here := str(Path.cwd())) not in sys.path:  # an installed command does not look there by itself
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidParameter(
            f"Cannot find {name!r}: {error}. Write module:function, where the module is installed or in the current folder."
        ) from None
    return found


def read_pairs(path: Path, value: str, report: Sequence[str], person: str | None) -> dict[str, list[Any]]:
    """The reports of each value in a CSV or Parquet file; with `person`, a list for each person."""
    from deniable.files.tables import read_columns

    columns = read_columns(path, [value, *report, *([person] if person else [])])
    texts = [column if isinstance(column[0], list) else _parsed([str(each) for each in column]) for column in columns]
    reports: list[Any] = (
        texts[1] if len(report) == 1 else [list(row) for row in zip(*texts[1 : 1 + len(report)], strict=True)]
    )
    found: dict[str, list[Any]] = {}
    if person is None:
        for each, made in zip(columns[0], reports, strict=True):
            found.setdefault(str(each), []).append(made)
        return found
    people: dict[tuple[str, str], list[Any]] = {}
    for each, who, made in zip(columns[0], columns[-1], reports, strict=True):
        people.setdefault((str(each), str(who)), []).append(made)
    for (each, _), several in people.items():
        found.setdefault(each, []).append(several)
    return found
