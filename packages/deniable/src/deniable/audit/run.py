"""The audit: look for an event on one part of the trials, then judge it on another that the search has not seen."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from deniable.arrays import Ints, Progress
from deniable.audit.batch import Batch, joined
from deniable.audit.bounds import loss_from_coins, loss_from_shares
from deniable.audit.clients import (
    AddressClient,
    Client,
    CommandClient,
    FileClient,
    FunctionClient,
    MechanismClient,
    OneByOne,
    read_pairs,
)
from deniable.audit.events import Readings
from deniable.audit.feature import Context
from deniable.audit.features import features_of
from deniable.audit.result import Audit
from deniable.audit.search import Found, Judge, best
from deniable.core import Coins, Mechanism, checked_epsilon
from deniable.errors import InvalidParameter

CONFIDENCE = 0.9999
TRIALS = 200_000
SEARCH = 0.25  # of the trials: the event is looked for in one half of these and chosen in the other
MOST_SEARCH = 120_000  # reports, however many trials
MANY_CELLS = 1 << 25  # numbers that are held at once while the event is looked for
JUDGED_ALONE = 12  # times as many trials one at a time to judge an event as to find it
LOOKED_AT = 2.0  # deviations by which an event may have been lucky when it is looked at again
CLEARLY = 0.25  # epsilon that must be expected beyond that of batches before people are asked one at a time


def audit(
    client: Mechanism | Callable[..., Any] | str | Path,
    values: Sequence[object] | None = None,
    *,
    claimed: float | Mechanism | None = None,
    trials: int = TRIALS,
    confidence: float = CONFIDENCE,
    repeats: int = 1,
    delta: float = 0.0,
    timing: bool = False,
    supports: Callable[[Any, Any], object] | None = None,
    seed: int | None = None,
    coins: Coins | None = None,
    progress: Progress | None = None,
) -> Audit:
    """A lower bound of the privacy loss of a client, from its reports alone, at this confidence level.

    The client is a mechanism; a function that gives a report for a value; "http://..." or "https://...", an address that
    takes a JSON list of values and answers with a list of reports; any other text, a command that reads values and writes
    reports, one a line; or a path, a CSV or Parquet file with the columns "value" and "report". `values` are what it is
    asked: at least two. `claimed` is the epsilon it promises, or the mechanism that it says it is: then what a report of
    that mechanism supports is looked at too; for any other client, `supports(report, value)` says whether its collector
    counts a report for a value. With `repeats` a trial is one person asked so often, and the claim is for all reports of a
    person together: a function then gets the number of a person and a value. A client that takes many values at once is also
    asked one at a time, as a device is.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.direct_response import DirectResponse
    >>> found = audit(DirectResponse(Categories(["yes", "no"]), 1.0), trials=20_000, seed=1)
    >>> found.consistent, 0.8 < found.epsilon < 1.05
    (True, True)
    """
    start = time.perf_counter()
    _check(trials, confidence, repeats, delta)
    draw = np.random.default_rng(seed)
    mechanism = claimed if isinstance(claimed, Mechanism) else client if isinstance(client, Mechanism) else None
    epsilon = checked_epsilon(claimed) if isinstance(claimed, int | float) else getattr(mechanism, "epsilon", None)
    groups = read_pairs(client, "value", ["report"], "person" if repeats > 1 else None) if isinstance(client, Path) else {}
    known: Sequence[object] = list(groups) or ([] if mechanism is None else default_values(mechanism))
    asked = list(known if values is None else values)
    made, kind = _made(client, asked, groups, repeats, draw, coins)
    if supports is not None and (isinstance(made, MechanismClient) or repeats > 1):
        raise InvalidParameter(
            "`supports` is for single reports of a client that is not a mechanism: a mechanism has its own."
        )
    context = Context(asked, mechanism, repeats, timing, not isinstance(made, FileClient), supports)
    judge = Judge(max(2, round(trials * (1 - SEARCH))), NormalDist().inv_cdf(1 - (1 - confidence)))
    found = _search(made, context, round(trials * SEARCH), judge, draw, progress)
    made, found, judge, alone = _or_alone(made, context, found, judge, draw)
    first = second = of_first = of_second = 0
    if found is not None:
        first, second, of_first, of_second = _judge(made, context, found, judge.trials, draw, progress)
    error = 1 - confidence
    lost = (
        loss_from_shares(first, of_first, second, of_second, error, delta)
        if delta
        else loss_from_coins(first, second, error)
    )
    return Audit(
        client=kind,
        claimed=epsilon,
        epsilon=lost,
        confidence=confidence,
        delta=delta,
        event="no event distinguished any two values" if found is None else found.event.words + alone,
        pair=(context.labels[0], context.labels[1]) if found is None else tuple(context.labels[p] for p in found.pair),  # type: ignore[arg-type]
        seen=(first, second),
        asked=(of_first, of_second),
        repeats=repeats,
        seconds=time.perf_counter() - start,
    )


def _check(trials: int, confidence: float, repeats: int, delta: float) -> None:
    if not 100 <= trials <= 10**9:
        raise InvalidParameter("An audit needs 100 to 1,000,000,000 trials; 100,000 or more find small losses.")
    if not 0.5 <= confidence < 1:
        raise InvalidParameter("The confidence level must be at least 0.5 and below 1, for example 0.9999.")
    if not 1 <= repeats <= 100_000 or not 0 <= delta < 1:
        raise InvalidParameter("Repeats must be 1 to 100,000, and delta at least 0 and below 1.")


def _made(
    client: Mechanism | Callable[..., Any] | str | Path,
    asked: list[object],
    groups: dict[str, list[Any]],
    repeats: int,
    draw: np.random.Generator,
    coins: Coins | None,
) -> tuple[Client, str]:
    """The client behind one interface, and what to call it."""
    if len(asked) < 2 or len({repr(value) for value in asked}) != len(asked):
        raise InvalidParameter("An audit needs at least two different values to ask the client about.")
    if isinstance(client, Mechanism):
        if repeats > 1:
            raise InvalidParameter(
                "A mechanism has no people. To audit repeated reports, give a function of a person and a value."
            )
        return MechanismClient(client, asked, coins), client.wire
    if isinstance(client, Path):
        return _filed(groups, asked, repeats, draw), "a file of values and reports"
    if isinstance(client, str):
        if client.startswith(("http://", "https://")):
            return AddressClient(client, asked, repeats > 1), "an address"
        return CommandClient(client, asked, repeats > 1), "a command"
    if not callable(client):
        raise InvalidParameter("A client must be a mechanism, a function, a command, an address or the path of a file.")
    name = getattr(client, "__name__", type(client).__name__)
    return FunctionClient(client, asked, repeats > 1), f"the function {name}"


def _filed(groups: dict[str, list[Any]], asked: list[object], repeats: int, draw: np.random.Generator) -> FileClient:
    missing = [value for value in asked if str(value) not in groups]
    if missing:
        raise InvalidParameter(
            f"The file has no reports for {len(missing)} of these values. Choose values that it contains."
        )
    chosen = [groups[str(value)] for value in asked]
    if repeats > 1:
        chosen = [[each[:repeats] for each in group if len(each) >= repeats] for group in chosen]
    if min(len(group) for group in chosen) < 20:
        raise InvalidParameter("The file has too few reports: at least 20 people are needed for each value.")
    return FileClient(chosen, repeats, draw)


def default_values(mechanism: Mechanism) -> list[object]:
    """A few values to audit a mechanism with: neighbours at both ends, and one between; sensitive ones where some are."""
    if mechanism.protected is not None:
        return [mechanism.protected[place] for place in _spread(len(mechanism.protected))]
    answers = [mechanism.domain.answer(place) for place in _spread(mechanism.domain.size)]
    return list({repr(answer): answer for answer in answers}.values())


def _spread(size: int) -> list[int]:
    return sorted({place for place in (0, 1, 2, size // 2, size - 2, size - 1) if 0 <= place < size})


def _or_alone(
    client: Client, context: Context, found: Found | None, judge: Judge, draw: np.random.Generator
) -> tuple[Client, Found | None, Judge, str]:
    """The same client asked one value at a time, if an event was found there that can prove more; and how to say so."""
    if client.alone and context.repeats == 1:
        single = OneByOne(client)
        count = min(client.alone, max(50, judge.trials // 3))
        fewer = replace(judge, trials=min(judge.trials, JUDGED_ALONE * count))
        least = CLEARLY + (0.0 if found is None else found.score)
        other = _search(single, context, count, fewer, draw, None)
        if other is not None and other.score > least:  # found among few: looked at again before many are asked
            seen = _judge(single, context, other, count, draw, None)
            hits, asked = np.array(seen[:2]), np.maximum(seen[2:], 1)
            again = replace(fewer, luck=LOOKED_AT).score(hits[0], int(asked[0]), hits[1], int(asked[1]))
            if again > least:
                return single, other, fewer, ", if asked one at a time"
    return client, found, judge, ""


def _search(
    client: Client, context: Context, count: int, judge: Judge, draw: np.random.Generator, progress: Progress | None
) -> Found | None:
    count = min(count, max(1000, MOST_SEARCH // context.repeats))
    values = draw.integers(0, len(context.values), count)
    if isinstance(client, FileClient):  # a quarter of what the file has of each value
        each = [client.left(place) // 4 for place in range(len(context.values))]
        values = draw.permutation(np.repeat(np.arange(len(each)), each))
    batch = _asked(client, values, context, draw, lambda share: progress(share * SEARCH) if progress else None)
    if context.repeats == 1:
        keep = max(64, min(len(batch), MANY_CELLS // batch.cells.shape[1]))
        batch, values = batch.rows(slice(0, keep)), values[:keep]
        batch = _with_before(batch, values)
        values = values[1:]
    half = len(values) // 2
    parts = slice(0, half * context.repeats), slice(half * context.repeats, None)
    fit, select = (batch.rows(part) for part in parts)
    features = features_of(fit, values[:half], context)
    return best(features, Readings(fit), values[:half], Readings(select), values[half:], judge)


def _asked(client: Client, values: Ints, context: Context, draw: np.random.Generator, progress: Progress) -> Batch:
    """The reports of as many people as there are values, each asked `repeats` times."""
    parts, step = [], max(1, client.at_once // context.repeats)
    offset = int(draw.integers(1 << 40))
    for start in range(0, len(values), step):
        some = values[start : start + step]
        people = np.repeat(np.arange(len(some)) + start + offset, context.repeats)
        parts.append(client.ask(np.repeat(some, context.repeats), people))
        progress(min(1.0, (start + step) / len(values)))
    return joined(parts)


def _with_before(batch: Batch, values: Ints) -> Batch:
    """All reports but the first, each with the one before and its value."""
    later = batch.rows(slice(1, None))
    return replace(later, before=batch.rows(slice(0, -1)), value_before=values[:-1])


def _judge(
    client: Client, context: Context, found: Found, trials: int, draw: np.random.Generator, progress: Progress | None
) -> tuple[int, int, int, int]:
    """How often the event came under each of the two values, and how often they were asked: a fair coin chooses."""
    seen, asked = np.zeros(2, np.int64), np.zeros(2, np.int64)
    pair = np.array(found.pair)
    if isinstance(client, FileClient):
        least = min(client.left(place) for place in found.pair)
        trials = min(trials, 2 * least - math.ceil(5.5 * math.sqrt(2 * least)))
    coins = draw.integers(0, 2, max(0, trials))
    if isinstance(client, FileClient) and any(client.left(pair[side]) < int((coins == side).sum()) for side in (0, 1)):
        return 0, 0, 0, 0  # as good as never: and then nothing is said
    step = max(2, client.at_once // context.repeats)
    step -= step % 2
    for start in range(0, len(coins), step):
        side = coins[start : start + step]
        values = pair[side]
        if not found.event.alone:  # every second report, after one on any value: so trials stay independent
            values[::2] = draw.integers(0, len(context.values), len(values[::2]))
        batch = _asked(client, values, context, draw, lambda _: None)
        if not found.event.alone:
            batch, side = _with_before(batch, values).rows(slice(0, None, 2)), side[1::2]
        holds = found.event.holds(Readings(batch))
        seen += np.bincount(side[holds], minlength=2)
        asked += np.bincount(side, minlength=2)
        if progress is not None:
            progress(SEARCH + (1 - SEARCH) * min(1.0, (start + step) / len(coins)))
    return int(seen[0]), int(seen[1]), int(asked[0]), int(asked[1])
