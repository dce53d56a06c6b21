"""`deniable estimate`: from files of reports and tallies to shares with intervals."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from deniable.arrays import Floats, Progress
from deniable.cli import options, pipes, surveys
from deniable.cli.false_reports import FalseReports
from deniable.cli.modes import Modes, names_survey
from deniable.cli.spread import QUARTILES, Spread
from deniable.cli.survey_results import survey_results, write_results
from deniable.cli.targets import draw, write_table, write_text
from deniable.core import Estimate, Mechanism, PureProtocol, Tally, confidence_each
from deniable.errors import EmptyBatch, InvalidParameter, InvalidReport, SurveyMismatch
from deniable.files import read_batches
from deniable.files.compression import plain_name
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.postprocess import norm_sub

if TYPE_CHECKING:
    from rich.table import Table


MOST_ROWS = 100  # of a table without --top
FEW_ROWS = 30  # of one for more answers than that
TABLES = (".csv", ".jsonl", ".ndjson", ".tsv", ".txt")


def _mode(args: Sequence[str]) -> str:
    return "survey" if names_survey(args) else "reports"


@click.group(cls=Modes, pick=_mode, short_help="Estimate shares from reports, or show the results of a survey.")
def estimate() -> None:
    """Estimate the share of each answer, with confidence intervals.

    \b
    deniable estimate answers.reports --mechanism mechanism.json
    deniable estimate survey.toml

    You can leave the mode out, as above: a file that ends in .toml means survey, and anything else means reports.
    """


fakes_option = click.option(
    "--fakes",
    type=click.FloatRange(0, 0.5, max_open=True),
    metavar="SHARE",
    help="Also show intervals that hold if at most this share of the reports is false, and shares recovered from them.",
)
csv_option = options.target(
    "--csv", "csv_file", help="Write the table to FILE as CSV instead of printing it; .jsonl, .parquet and .gz work too."
)


@estimate.command("survey", short_help="The results of a survey.")
@surveys.argument
@surveys.store_option
@click.option("--url", metavar="URL", help="Ask the collector at URL instead of reading the database.")
@surveys.token_option
@options.confidence
@fakes_option
@csv_option
@options.target("--parquet", "parquet_file", help="Write the results to FILE as Parquet.")
@options.force
@options.picture
@options.json_flag
def survey_mode(
    survey: Path,
    store: str | None,
    url: str | None,
    token: str | None,
    confidence: float,
    fakes: float | None,
    csv_file: Path | None,
    parquet_file: Path | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Show the results of SURVEY, from the database beside it or from a running collector.

    \b
    deniable estimate survey.toml
    deniable estimate survey.toml --url http://127.0.0.1:8080 --csv results.csv --picture results.png
    """
    confidence_each(confidence, 1)  # refuses what is no confidence level
    write_results(survey_results(survey, store, url, token, confidence, fakes), csv_file, parquet_file, picture, as_json)


@estimate.command("reports", short_help="The shares of answers, from files of reports.")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="REPORTS...")
@options.mechanism
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Only the K largest shares, largest first.")
@options.confidence
@click.option(
    "--exact", is_flag=True, help="Intervals that are valid for any number of reports, and wider. Needs the extra stats."
)
@click.option(
    "--clean",
    type=click.Choice(["none", "norm-sub"]),
    default="none",
    show_default=True,
    help="Also show shares that are not negative and sum to 100 %.",
)
@fakes_option
@click.option("--target", metavar="ANSWER", help="With --fakes: the answer that all false reports are assumed to support.")
@click.option(
    "--quantile", "quantiles", type=float, multiple=True, metavar="Q", help="A quantile of a number; 0.5 is the median."
)
@click.option("--mean", is_flag=True, help="The mean of a number, or the mean scores of items, instead of shares.")
@click.option("--bins", type=click.IntRange(min=1), metavar="B", help="The number of bins of a histogram; default: 12.")
@csv_option
@options.target("--save-tally", help="Write the counts to FILE, as JSON.")
@options.force
@options.picture
@options.json_flag
def reports_mode(
    files: tuple[Path, ...],
    mechanism: Mechanism,
    top: int | None,
    confidence: float,
    exact: bool,
    clean: str,
    fakes: float | None,
    target: str | None,
    quantiles: tuple[float, ...],
    mean: bool,
    bins: int | None,
    csv_file: Path | None,
    save_tally: Path | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Count REPORTS and estimate the share of each answer, or the distribution of a number, with confidence intervals.

    REPORTS are files written by deniable perturb, packed or Parquet, and tallies ending in .json that --save-tally wrote,
    perhaps on other machines; - is the standard input. Their counts are added. Nothing is printed or written before all of
    them have been read; one damaged byte or one file of another mechanism stops the command.

    The estimates are unbiased, so small shares may come out below zero. Each interval contains the true share at the
    confidence level that you choose. With --top, all intervals do so simultaneously, so that picking the largest shares does
    not mislead.

    \b
    deniable estimate answers.reports --mechanism mechanism.json
    deniable estimate north.parquet south.parquet --mechanism mechanism.json --top 10
    deniable estimate north.parquet --mechanism mechanism.json --save-tally north.json
    deniable estimate north.json south.json --mechanism mechanism.json --csv shares.csv
    zstdcat answers.reports.zst | deniable estimate - --mechanism mechanism.json --csv -
    deniable estimate minutes.reports --mechanism minutes.json --mean
    deniable estimate ages.reports --mechanism ages.json --quantile 0.5 --quantile 0.9 --bins 12 --picture ages.png
    """
    confidence_each(confidence, 1)  # refuses what is no confidence level
    _check_once(files)
    if exact and not isinstance(mechanism, PureProtocol):
        raise InvalidParameter("Exact intervals are for mechanisms whose reports support answers. Leave --exact out.")

    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("counting") as advance_to, pipes.incoming(files) as found:
        tally = _counted(found, mechanism, advance_to)
    if isinstance(mechanism, DistributionMechanism) and top is None and clean == "none" and not mean:
        if save_tally is not None:
            write_text(save_tally, tally.to_json() + "\n")
        spread = Spread(mechanism.distribution(tally), quantiles or QUARTILES, bins, confidence, mechanism)
        spread.publish(csv_file, picture, as_json, _written(csv_file, save_tally, None))
        return
    if quantiles or bins is not None:
        raise InvalidParameter(
            "Quantiles and bins are for mechanisms that deniable plan --numbers LOW HIGH --target distribution chooses."
        )
    raw = mechanism.mean_of(tally) if mean else mechanism.listed(tally)
    if raw is None:
        raise InvalidParameter("A mean is for numbers, and for items with scores. Leave --mean out.")
    many = top is None and raw.values.size > MOST_ROWS and not as_json and csv_file is None
    shown = FEW_ROWS if many else top
    result = Shares.of(mechanism, tally, raw, confidence, exact, shown, clean)
    false = FalseReports.of(mechanism, tally, fakes, target, confidence, result.order)
    if picture is not None:
        draw(raw.plot(confidence, shown or MOST_ROWS), picture)
    if save_tally is not None:
        write_text(save_tally, tally.to_json() + "\n")
    if csv_file is not None:
        write_table(csv_file, result.rows())
        if str(csv_file) == "-":  # for a pipe: the table and nothing else
            return
    if as_json:
        click.echo(json.dumps(result.record() | false.record()))
        return
    console = panel.console()
    if csv_file is None:
        console.print(result.table())
        for table in false.tables():
            console.print(table)
    for line in (*result.notes(), *false.notes(), *_written(csv_file, save_tally, picture)):
        console.print(line, markup=False, soft_wrap=line.startswith("Wrote "))


def _written(csv_file: Path | None, save_tally: Path | None, picture: Path | None) -> list[str]:
    lines = [f"Wrote the table to {csv_file}."] if csv_file is not None else []
    lines += [f"Wrote the counts to {save_tally}."] if save_tally is not None else []
    return lines + (
        [f"Wrote the picture to {picture}; each normal interval holds on its own."] if picture is not None else []
    )


def _check_once(files: tuple[Path, ...]) -> None:
    if len({file.resolve() for file in files}) != len(files):
        raise InvalidParameter("A file is listed twice, so its reports would be counted twice. List each file once.")


def _counted(files: tuple[Path, ...], mechanism: Mechanism, advance_to: Progress) -> Tally:
    """The counts of all files, added; progress goes by their size."""
    sizes = [file.stat().st_size if file.is_file() else 0 for file in files]
    whole, before, tally = max(1, sum(sizes)), 0, Tally(mechanism.fingerprint, 0, np.zeros(mechanism.cells, np.int64))
    for file, size in zip(files, sizes, strict=True):
        try:
            if file.suffix == ".json":
                tally += _read_tally(file, mechanism)
            elif plain_name(file).suffix in TABLES:
                raise InvalidReport("This is a table, not a file of reports. Randomize its answers first: deniable perturb")
            else:
                at = 0
                for reports in read_batches(file, mechanism):
                    if len(reports):
                        tally += mechanism.tally(reports)
                    at += len(reports) * mechanism.layout.bits // 8
                    advance_to((before + min(at, size)) / whole)
        except (InvalidReport, SurveyMismatch, EmptyBatch) as error:
            said = str(error) if str(file) in str(error) else f"{file}: {error}"
            raise type(error)(said) from error
        before += size
        advance_to(before / whole)
    if tally.n == 0:
        raise EmptyBatch("These files hold no reports, so there is nothing to estimate.")
    return tally


def _read_tally(file: Path, mechanism: Mechanism) -> Tally:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidReport(f"There is no file {file}. Check the name.") from None
    except ValueError:
        raise InvalidReport("This is not JSON text. Write the tally again with --save-tally.") from None
    tally = Tally.from_json(text)
    mechanism.check_tally(tally)
    return tally


@dataclass(frozen=True)
class Shares:
    """The answers to show, in order, with everything that is said about each."""

    estimate: Estimate
    order: list[int]
    low: Floats
    high: Floats
    cleaned: Floats | None
    confidence: float
    exact: bool
    together: bool
    epsilon: float
    fingerprint: str

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        tally: Tally,
        raw: Estimate,
        confidence: float,
        exact: bool,
        top: int | None,
        clean: str,
    ) -> "Shares":
        """What the options ask for."""
        together = top is not None
        ends = raw.interval(confidence, together)
        if exact and isinstance(mechanism, PureProtocol):
            ends = mechanism.exact_interval(tally, confidence, together)
        order = list(range(raw.values.size)) if top is None else raw.largest(top)
        if clean != "none" and raw.measure != "share":
            raise InvalidParameter(f"Only shares can be cleaned, and these are {raw.measure}s. Leave --clean out.")
        cleaned = norm_sub(raw).values if clean == "norm-sub" else None
        return cls(raw, order, *ends, cleaned, confidence, exact, together, mechanism.epsilon, mechanism.fingerprint)

    def rows(self) -> list[dict[str, object]]:
        """One for each answer."""
        return [
            {
                "value": self.estimate.labels[place],
                "estimate": float(self.estimate.values[place]),
                "low": float(self.low[place]),
                "high": float(self.high[place]),
            }
            | ({} if self.cleaned is None else {"cleaned": float(self.cleaned[place])})
            for place in self.order
        ]

    def record(self) -> dict[str, object]:
        """All of it as plain data."""
        return {
            "people": self.estimate.n,
            "epsilon": self.epsilon,
            "fingerprint": self.fingerprint,
            "confidence": self.confidence,
            "intervals": "exact" if self.exact else "normal",
            "together": self.together,
            "shares": self.rows(),
        }

    def table(self) -> "Table":
        """The rows; shares in percent, means as they are."""
        from rich.text import Text

        from deniable.cli import panel

        numbers = ["estimate", f"{100 * self.confidence:g} % interval"] + ["cleaned"] * (self.cleaned is not None)
        shares = self.estimate.measure == "share"
        table = panel.table([f"{'% of ' if shares else ''}{self.estimate.n:,} people"], numbers)

        def shown(number: float) -> str:
            return f"{100 * number:.2f}" if shares else f"{number:.6g}"

        for place in self.order:
            cells = [shown(self.estimate.values[place]), f"{shown(self.low[place])} to {shown(self.high[place])}"]
            cells += [] if self.cleaned is None else [shown(self.cleaned[place])]
            table.add_row(Text(str(self.estimate.labels[place])), *cells)
        return table

    def notes(self) -> list[str]:
        """What the intervals mean."""
        level, size = f"{100 * self.confidence:g} %", self.estimate.values.size
        kind = "Exact intervals" if self.exact else "Normal intervals"
        least = "at least " if self.exact else ""
        hold = f"all {size:,} hold simultaneously" if self.together else "each holds"
        about = (
            "They include the sampling error of drawing these people from the whole population."
            if self.exact
            else "They are about these people and include the privacy noise only."
        )
        noise = f"The noise corresponds to epsilon {self.epsilon:g} for one answer."
        lines = [f"{kind}: {hold} with {least}{level} confidence. {about} {noise}"]
        if len(self.order) < size:
            lines.insert(0, f"The {len(self.order):,} largest of {size:,} {self.estimate.measure}s.")
        if self.cleaned is not None:
            lines.append(
                "Cleaned: shifted and clipped so that shares are not negative and sum to 100 %; no longer unbiased."
            )
        return lines
