"""`deniable mix`: a relay that mixes reports before they are counted."""

import itertools
from pathlib import Path

import click
import numpy as np

from deniable.cli import options, surveys
from deniable.cli.modes import Modes
from deniable.cli.targets import check_target
from deniable.errors import InvalidParameter
from deniable.files.atomic import written_whole
from deniable.mixing import Terms, make_terms, mixed_losses
from deniable.mixing.sealing import FEWEST, LENGTH_BYTES, MOST_PEOPLE
from deniable.survey import Survey

SAMPLE = 16  # messages that are made to see how long they are

people_option = click.option(
    "--people",
    type=click.IntRange(FEWEST, MOST_PEOPLE),
    required=True,
    metavar="N",
    help="Pass messages on only when at least N have arrived.",
)
delta_option = click.option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=1e-9,
    show_default=True,
    help="The probability with which the smaller loss may fail.",
)


@click.group(cls=Modes, pick=lambda _: "run", short_help="Mix the reports of a survey before they are counted.")
def mix() -> None:
    """Run a relay between the people who answer a survey and its collector. Without a mode, the relay is started.

    Devices encrypt their messages for the collector and send them to the relay. The relay waits until there are enough,
    shuffles them and passes them on. It cannot read them, and the collector cannot tell who sent which. Somebody other
    than the collector's operator should run it: if the two work together, mixing hides nothing, and each report is only as
    private as without it.

    \b
    deniable mix keys survey.toml --relay https://mix.example --people 1000
    deniable mix survey.mix --collector https://survey.example
    deniable answer survey.toml --mix survey.mix
    deniable certify survey.toml --mix survey.mix
    """


@mix.command(short_help="Make the keys for mixing a survey.")
@surveys.argument
@click.option("--relay", required=True, metavar="URL", help="The address where devices will find the relay.")
@people_option
@delta_option
@options.force
def keys(survey: Path, relay: str, people: int, delta: float) -> None:
    """Make the keys for mixing SURVEY, and print what a person then loses.

    Two files are written beside the survey. The one that ends in .mix is for the relay and for all devices. The one
    that ends in .mixkey is for the collector only: deniable serve reads it, and only you can read it.

    \b
    deniable mix keys survey.toml --relay https://mix.example --people 1000
    """
    asked, force = Survey.load(survey), click.get_current_context().meta.get(options.FORCE, False)
    public, private = survey.with_suffix(".mix"), survey.with_suffix(".mixkey")
    for file in (public, private):
        check_target(file, force)
    losses = mixed_losses(asked, people, delta)
    terms, opener = make_terms(asked, relay, people, _size(asked))
    with written_whole(private, overwrite=force, private=True) as temporary:
        temporary.write_text(opener.text, encoding="utf-8")
    with written_whole(public, overwrite=force) as temporary:
        terms.save(temporary)
    click.echo(f"{public} is for the relay and the devices, {private} for the collector, which has to be started anew.")
    click.echo(str(losses))


def _size(survey: Survey) -> int:
    """A power of two with room for every message of the survey."""
    random = np.random.default_rng(0)
    answers = {each.id: each.how.pretend(each.domain, random, SAMPLE) for each in survey.asked}
    longest = max(len(message) for message in itertools.islice(survey.randomize_all(answers, SAMPLE), SAMPLE))
    return max(256, 1 << (2 * longest + LENGTH_BYTES - 1).bit_length() - 1)


@mix.command(short_help="Run a relay.")
@click.argument("terms", type=click.Path(path_type=Path), metavar="TERMS")
@click.option("--collector", required=True, metavar="URL", help="The address of the collector.")
@surveys.token_option
@options.file_option("--store", help="Where messages wait. Default: the name of TERMS with .mix.db.", metavar="FILE")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8081, show_default=True, help="The port to listen on.")
@options.file_option("--tls-cert", help="Serve HTTPS with this certificate.")
@options.file_option("--tls-key", help="The private key of the certificate.")
@click.option("--rate", type=float, default=0.0, metavar="R", help="Accept at most R messages per second from one address.")
@click.option(
    "--most", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="How many messages may wait at most."
)
def run(
    terms: Path,
    collector: str,
    token: str | None,
    store: Path | None,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    rate: float,
    most: int,
) -> None:
    """Run the relay of TERMS, a file that deniable mix keys wrote.

    A device gets its answer when its message is stored. The relay passes messages on when enough are there, and again until
    the collector has taken them. More than 1,000 at a time need a batch token of the collector.

    \b
    deniable mix survey.mix --collector https://survey.example --token TOKEN
    """
    from deniable.collector.serve import Place, listening

    found, place = Terms.load(terms), Place(host, port, tls_cert, tls_key)
    if most < found.people:
        raise InvalidParameter(f"--most must be at least {found.people:,}, the number of people who are mixed.")
    with listening(place) as bound:
        from deniable.collector.relay import Forwarder, Relay, http_poster, run_relay
        from deniable.collector.service import Limits
        from deniable.mixing.waiting import Waiting

        limits = Limits(rate=rate)
        waiting = Waiting(store or terms.with_name(terms.name.removesuffix(".mix") + ".mix.db"), found.survey)
        try:
            forwarder = Forwarder(found, waiting, http_poster(collector, token), limits)
            click.echo(f"The relay of survey {found.survey} at {place.address} passes on {found.people:,} messages or more.")
            run_relay(Relay(found, waiting, forwarder, limits, most), place, bound)
        finally:
            waiting.close()
