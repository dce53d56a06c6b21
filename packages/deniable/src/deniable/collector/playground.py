"""What the playground asks: the planner's comparison for a made-up question, and a real certificate."""

import asyncio
import json
from functools import lru_cache

from deniable.collector.promises import Data, certificate_data, loss_data
from deniable.collector.verdicts import BAD_QUERY, BUSY, Refusal
from deniable.domains import Categories
from deniable.mechanisms.registry import candidates
from deniable.planning.shares import options
from deniable.privacy.certify import certify

EDITION = 1  # of the planner: weighted designs, which the next one has, are searched for up to a second
VALUES, EPSILON, PEOPLE = (2, 64), (0.1, 8.0), (10, 10_000_000)
WAITING = 8  # requests that may wait; each takes up to a fifth of a second of the collector's time


@lru_cache(maxsize=512)
def compared(values: int, epsilon: float, people: int) -> str:
    """Every mechanism whose reports the page can count: its predicted error, its cost, its loss and its law."""
    ranked = options(Categories(range(values)), epsilon, people, edition=EDITION)
    rows: list[Data] = []
    for option in ranked:
        row: Data = {"name": option.name, "error": option.error, "bits": option.bits, "work": option.costs["work"]}
        row |= {"guess": option.costs["guess"], "planned": option is ranked.best, "loss": loss_data(option.mechanism.loss())}
        rows.append(row | {"mechanism": option.mechanism.spec(), "law": option.mechanism.device_law()})
    return json.dumps({"values": values, "epsilon": epsilon, "people": people, "options": rows})


@lru_cache(maxsize=512)
def certified(values: int, epsilon: float, name: str) -> str:
    """The certificate of one of them."""
    mechanism = candidates("shares", EDITION)[name].make(Categories(range(values)), epsilon)
    found = certify(mechanism)
    return json.dumps({"name": name, "loss": loss_data(found.loss)} | certificate_data(found))


class Playground:
    """Answers one question at a time and refuses when too many wait, so that counting reports goes first."""

    def __init__(self) -> None:
        self._turn, self._waiting = asyncio.Lock(), 0

    async def answer(self, query: dict[str, str]) -> str | Refusal:
        """The comparison for `values`, `epsilon` and `people`, or with `certify` one mechanism's certificate."""
        try:
            values, people = int(query.get("values", "8")), int(query.get("people", "10000"))
            epsilon = round(float(query.get("epsilon", "1")), 2)
        except (ValueError, OverflowError):
            return BAD_QUERY.saying("values and people must be whole numbers, and epsilon a number.")
        ranges = ((values, VALUES, "values"), (epsilon, EPSILON, "epsilon"), (people, PEOPLE, "people"))
        for number, (least, most), what in ranges:
            if not least <= number <= most:
                return BAD_QUERY.saying(f"{what} must be from {least:,} to {most:,}.")
        name = query.get("certify")
        if name is not None and name not in candidates("shares", EDITION):
            return BAD_QUERY.saying(f"certify must be one of {', '.join(candidates('shares', EDITION))}.")
        if self._waiting >= WAITING:
            return BUSY.saying("Too many people use the playground right now. Try again.")
        self._waiting += 1
        try:
            async with self._turn:
                if name is None:
                    return await asyncio.to_thread(compared, values, epsilon, people)
                return await asyncio.to_thread(certified, values, epsilon, name)
        finally:
            self._waiting -= 1
