"""The end of a period with many ids: how long anybody waits while they are dropped.

    python -m benchmarks.rollover                    10 million ids in both stores, writes rollover.md
    python -m benchmarks.rollover --ids 100000 --print

The ids of an earlier period are put into the store directly. Then people send 400 reports a second of the current period;
the first of them ends the earlier one, and the collector drops its ids beside the reports.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import click
import numpy as np

from benchmarks.chaos import CELLS, WINDOW, survey_text
from benchmarks.hostile import EVERY, HONEST, honest
from benchmarks.page import publish
from deniable.collector import Store, opened
from deniable.survey import Message, Survey
from deniable.survey.message import encode
from deniable.survey.reading import parse_toml
from tests.servers import postgres, served

RESULT = Path(__file__).with_suffix(".md")
AT_ONCE = 1_000_000
# So many random ids of the first period. SQLite keeps them in the order of their key, PostgreSQL as they came.
FILL = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) "
    "INSERT INTO seen (survey, period, id) SELECT ?, 0, randomblob(16) AS id FROM n ORDER BY id",
    "postgresql": "INSERT INTO seen (survey, period, id) SELECT ?, 0, decode(md5(random()::text || i), 'hex') "
    "FROM generate_series(1, {count}) AS i",
}


def fill(store: Store, kind: str, survey: Survey, ids: int) -> int:
    """Put ids of the first period into a store; the number of the survey there."""
    number, _ = store.register(survey)
    with store.change() as change:
        change.patient()
        if kind == "postgresql":  # an index that is made at the end is made soon
            ((key,),) = change.run("SELECT conname FROM pg_constraint WHERE conrelid = 'seen'::regclass AND contype = 'p'")
            change.run(f"ALTER TABLE seen DROP CONSTRAINT {key}")
        for start in range(0, ids, AT_ONCE):
            change.run(FILL[kind].format(count=min(AT_ONCE, ids - start)), number)
        if kind == "postgresql":
            change.run("ALTER TABLE seen ADD PRIMARY KEY (survey, period, id)")
    return number


def reports(survey: Survey) -> Iterator[bytes]:
    """Reports of the current period, without end."""
    random = np.random.default_rng(0)
    while True:
        payload = int(random.integers(CELLS)).to_bytes(2, "little")
        message = Message(os.urandom(16), 1, survey.period(time.time()), 1, payload)
        yield encode(survey.fingerprint_bytes, message)


def measured(kind: str, ids: int, seconds: float) -> str:
    """A line of the table."""
    folder = Path(tempfile.mkdtemp(prefix="deniable-rollover-"))
    try:
        with ExitStack() as stack:
            text = survey_text(time.time() - 4.2 * WINDOW)
            (folder / "survey.toml").write_text(text)
            survey = parse_toml(text, "survey.toml")
            address = str(folder / "store.db") if kind == "sqlite" else stack.enter_context(postgres()).database()
            with opened(address) as store:
                number = fill(store, kind, survey, ids)
            running = stack.enter_context(served(folder / "survey.toml", address))
            waited, statuses = honest(running.port, reports(survey), seconds)
            with opened(address) as store, store.view() as view:
                left = view.run("SELECT COUNT(*) FROM seen WHERE survey = ? AND period = 0", number)[0][0]
    finally:
        shutil.rmtree(folder)
    p50, p99 = 1000 * np.percentile(waited, [50, 99])
    refused = sum(number for status, number in statuses.items() if status != 200)
    return (
        f"| {kind} | {ids:,} | {ids - left:,} | {len(waited):,} | {refused} | {p50:.1f} | {p99:.1f} | "
        f"**{1000 * max(waited):.0f}** |"
    )


HEAD = """# The end of a period with many ids

`python -m benchmarks.rollover` on {date}, two cores: {rate} reports a second over {connections} connections for
{seconds:g} s, from the moment at which the first report ends a period with so many ids.

| store | ids | dropped meanwhile | reports | refused | median, ms | p99, ms | longest, ms |
|---|--:|--:|--:|--:|--:|--:|--:|
"""


@click.command()
@click.option("--ids", default=10_000_000, show_default=True)
@click.option("--seconds", default=30.0, show_default=True)
@click.option("--store", "stores", multiple=True, type=click.Choice(list(FILL)), help="Default: both.")
@click.option("--print", "shown", is_flag=True, help="Print the result instead of writing it.")
def main(ids: int, seconds: float, stores: tuple[str, ...], shown: bool) -> None:
    """Measure how long anybody waits at the end of a period with many ids."""
    lines = [measured(kind, ids, seconds) for kind in stores or FILL]
    head = HEAD.format(date=datetime.now(UTC).date(), rate=round(HONEST / EVERY), connections=HONEST, seconds=seconds)
    text = head + "\n".join(lines) + "\n"
    publish(text, RESULT, shown)


if __name__ == "__main__":
    main()
