"""`deniable learn`: train a classifier on one randomized report of each person in a table, and score it."""

import csv
import json
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats
from deniable.cli import options
from deniable.errors import InvalidParameter
from deniable.files.tables import read_columns
from deniable_learn.learner import accuracy
from deniable_learn.means import PrivateMeansClassifier, unit

TEST = 0.25  # of the rows, held out for the score


@click.command(short_help="Train a classifier on randomized reports.")
@click.argument("table", type=click.Path(path_type=Path), metavar="TABLE")
@click.option("--label", required=True, metavar="COLUMN", help="The column to predict.")
@options.epsilon
@click.option("--features", metavar="A,B,...", help="The columns to learn from. Default: all others.")
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="COLUMN=LOW:HIGH",
    help="The public range of a numeric column. Repeatable.",
)
@click.option("--seed", type=int, default=1, show_default=True, metavar="N", help="Seed of the split and of the coins.")
@options.json_flag
def learn(
    table: Path, label: str, epsilon: float, features: str | None, ranges: tuple[str, ...], seed: int, as_json: bool
) -> None:
    """Train a classifier on one randomized report of each row of TABLE, and score it on a quarter that is held out.

    Each row is one person. Their label and features are randomized together, once, with all of epsilon; the classifier
    sees the reports only. Columns of numbers need a public range, and values outside it are clipped. Other columns become
    one feature for each word. The words, and the labels, must be public. The score stands beside that without privacy.

    \b
    deniable learn adult.csv --label income --epsilon 2 --features age,education --range age=17:90
    """
    names = features.split(",") if features else [name for name in header(table) if name != label]
    *columns, labels = read_columns(table, [*names, label])
    rows, kinds = encoded(names, columns, dict(map(parsed, ranges))), np.array([str(each) for each in labels])
    classes = sorted(set(kinds.tolist()))
    order = np.random.default_rng(seed).permutation(len(rows))
    held, own = np.split(order, [round(TEST * len(rows))])
    if not len(held):
        raise InvalidParameter("The table has too few rows to hold some out for the score. Give at least three.")
    learner = PrivateMeansClassifier(epsilon, classes, (-1, 1), seed=seed).fit(rows[own], kinds[own])
    loss = learner.privacy_loss()
    scores = {
        "accuracy": accuracy(kinds[held], learner.predict(rows[held])),
        "accuracy_without_privacy": accuracy(kinds[held], nearest_mean(rows[own], kinds[own], rows[held])),
        "accuracy_of_the_largest_class": float(np.mean(kinds[held] == max(classes, key=kinds[own].tolist().count))),
    }
    if as_json:
        sizes = {"people": len(own), "tested": len(held), "features": rows.shape[1], "classes": len(classes)}
        click.echo(json.dumps({**sizes, "epsilon": loss.epsilon(), "proof": loss.proof, **scores}))
        return
    click.echo(f"{len(own):,} people, {rows.shape[1]} features, {len(classes)} classes; {len(held):,} rows held out.\n")
    for name, share in scores.items():
        click.echo(f"{name.replace('_', ' '):<32}{share:.1%}")
    click.echo(f"\nexact privacy loss: epsilon {loss.epsilon():.6g} ({loss.proof}); protects {loss.protects}.")


def header(table: Path) -> list[str]:
    """The names of the columns of a CSV file."""
    if table.suffix != ".csv":
        raise InvalidParameter("Name the columns to learn from with --features; only CSV files are listed without it.")
    with table.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def parsed(text: str) -> tuple[str, tuple[float, float]]:
    """A public range as it is written on the command line."""
    name, _, ends = text.partition("=")
    try:
        low, high = map(float, ends.split(":"))
    except ValueError:
        raise InvalidParameter(f"Write a range as COLUMN=LOW:HIGH, such as age=0:100, not {text!r}.") from None
    if not low < high:
        raise InvalidParameter(f"The range of {name} must have its lower end first.")
    return name, (low, high)


def encoded(names: list[str], columns: list[list[object]], ranges: dict[str, tuple[float, float]]) -> Floats:
    """Features in [-1, 1]: numbers in their public range, and a column for each word."""
    if unknown := set(ranges) - set(names):
        raise InvalidParameter(f"A range is given for {', '.join(sorted(unknown))}, which is not among the features.")
    parts = []
    for name, column in zip(names, columns, strict=True):
        try:
            numbers = np.array(column, np.float64)
        except (TypeError, ValueError):
            words, codes = np.unique([str(each) for each in column], return_inverse=True)
            parts.append(np.eye(len(words))[codes])
            continue
        if name not in ranges:
            raise InvalidParameter(f"Give the public range of {name}, which holds numbers: --range {name}=LOW:HIGH.")
        low, high = ranges[name]
        parts.append((2 * (np.clip(numbers, low, high) - low) / (high - low) - 1)[:, None])
    return np.concatenate(parts, axis=1)


def nearest_mean(rows: Floats, kinds: NDArray[np.str_], test: Floats) -> list[str]:
    """What the same classifier predicts from the true vectors: the class whose mean is nearest, weighed by its share."""
    middle = unit(rows).mean(axis=0)
    own, held, classes = unit(unit(rows) - middle), unit(unit(test) - middle), sorted(set(kinds.tolist()))
    means = np.stack([own[kinds == each].mean(axis=0) for each in classes])
    shares = np.array([np.mean(kinds == each) for each in classes])
    spread = max(1 - float(shares @ (means**2).sum(axis=1)), 0.1) / rows.shape[1]
    scores = (held @ means.T - (means**2).sum(axis=1) / 2) / spread + np.log(shares)
    return [classes[place] for place in scores.argmax(axis=1).tolist()]
