"""`deniable mix`: a relay that mixes reports before they are counted."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import click
import numpy as np

from deniable.cli import options, surveys
from deniable.cli.modes import Modes
from deniable.cli.targets import check_target
from deniable.errors import InvalidParameter
from deniable.files.atomic import written_whole
from deniable.mixing import BothLosses, Terms, make_terms, mixed_losses
from deniable.mixing.sealing import DELTA, FEWEST, LENGTH_BYTES, MOST_PEOPLE
from deniable.survey import Survey

LITTLE = 0.9  # of the loss without mixing, above which it is not worth the effort
LOCAL = ("localhost", "127.0.0.1", "::1")
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
    default=DELTA,
    show_default=True,
    help="The probability with which the smaller loss may fail.",
)


@click.group(cls=Modes, pick=lambda _: "run", short_help="Mix the reports of a survey before they are counted.")
def mix() -> None:
    """Run a relay between the people who answer a survey and its collector. Without a mode, the relay is started.

    Devices encrypt their messages for the collector and send them to the relay. The relay waits until there are enough,
    shuffles them and passes them on. It cannot read them, and the collector cannot see who sent which. Somebody other
    than the collector's operator should run it: if the two work together, mixing hides nothing, and each report is only as
    private as without it.

    Whoever runs the survey makes the keys, sends survey.mix to whoever runs the relay, and starts the collector. Its
    answer page then sends through the relay, and the collector counts no report that arrives any other way.

    \b
    deniable mix keys survey.toml --relay https://mix.example --people 1000
    deniable serve survey.toml

    Somebody else starts the relay:

    \b
    deniable mix survey.mix --collector https://survey.example

    People answer on the page or in a terminal, and anybody can compute the privacy loss:

    \b
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
    """Make the keys for mixing SURVEY, and print the privacy loss of a person with mixing.

    Two files are written next to the survey. The one that ends in .mix is for the relay and for all devices. The one
    that ends in .mixkey is for the collector only: deniable serve reads both when it starts, and only you can read it.
    The fingerprint of the terms is the same for everybody; publish it, so that people can compare.

    \b
    deniable mix keys survey.toml --relay https://mix.example --people 1000
    deniable mix keys survey.toml --relay https://mix.example --people 5000 --delta 1e-6
    """
    asked, force = Survey.load(survey), click.get_current_context().meta.get(options.FORCE, False)
    public, private = survey.with_suffix(".mix"), survey.with_suffix(".mixkey")
    for file in (public, private):
        check_target(file, force)
    losses = mixed_losses(asked, people, delta)
    terms, opener = make_terms(asked, relay, people, _size(asked), delta)
    with written_whole(private, overwrite=force, private=True) as temporary:
        temporary.write_text(opener.text, encoding="utf-8")
    with written_whole(public, overwrite=force) as temporary:
        terms.save(temporary)
    click.echo(f"{public} is for the relay and the devices, {private} for the collector, which must be restarted.")
    click.echo(f"Fingerprint of the terms: {terms.fingerprint}")
    click.echo(str(losses))
    for each in _doubts(terms, losses):
        click.echo(f"note: {each}", err=True)


def _doubts(terms: Terms, losses: BothLosses) -> Iterator[str]:
    """What may keep people from sending through the relay, or them from gaining by it."""
    if losses.mixed.epsilon > LITTLE * losses.together.epsilon():
        yield "Mixing so few people hardly reduces the loss. Choose a larger --people or a larger --delta."
    if terms.relay.startswith("http://") and urlsplit(terms.relay).hostname not in LOCAL:
        yield "From a page with HTTPS, browsers send nothing to a relay without it. Choose a relay with https://."


def _size(survey: Survey) -> int:
    """A power of two with room for every message of the survey."""
    random = np.random.default_rng(0)
    answers = {each.id: each.how.pretend(each.domain, random, SAMPLE) for each in survey.asked}
    longest = max(len(message) for message in itertools.islice(survey.randomize_all(answers, SAMPLE), SAMPLE))
    return max(256, 1 << (2 * longest + LENGTH_BYTES - 1).bit_length() - 1)


@mix.command(short_help="Run a relay.")
@click.argument("terms", type=click.Path(path_type=Path), metavar="TERMS")
@click.option("--collector", required=True, metavar="URL", help="The address of the collector, as people see its page.")
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="URL",
    help="Accept messages from pages of this site. Default: the site of the collector.",
)
@surveys.token_option
@options.file_option(
    "--store", help="The database for waiting messages. Default: the name of TERMS with .mix.db.", metavar="FILE"
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8081, show_default=True, help="The port to listen on.")
@options.file_option("--tls-cert", help="Serve HTTPS with this certificate.")
@options.file_option("--tls-key", help="The private key of the certificate.")
@click.option("--rate", type=float, default=0.0, metavar="R", help="Accept at most R messages per second from one address.")
@click.option("--proxy", multiple=True, metavar="ADDRESS", help="Trust X-Forwarded-For from a proxy at this address.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="The largest number of waiting messages.",
)
def run(
    terms: Path,
    collector: str,
    allow_origin: tuple[str, ...],
    token: str | None,
    store: Path | None,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    rate: float,
    proxy: tuple[str, ...],
    most: int,
) -> None:
    """Run the relay of TERMS, a file that deniable mix keys wrote.

    A device gets its response when its message is stored. The relay passes messages on when enough have arrived, and
    tries again until the collector has taken them: at most 1,000 at a time, or 10,000 with a batch token of the
    collector. The relay listens on this machine only, for a proxy that adds HTTPS. Without a proxy, use --host,
    --tls-cert and --tls-key. If people reach the collector at another address than the relay does, give that address
    with --allow-origin.

    \b
    deniable mix survey.mix --collector https://survey.example --token TOKEN
    deniable mix survey.mix --collector http://10.0.0.5:8080 --allow-origin https://survey.example
    """
    from deniable.collector.forwarded import Proxies
    from deniable.collector.origins import checked_origins, origin_of
    from deniable.collector.serve import Place, listening

    found, site = Terms.load(terms), origin_of(collector)
    origins = allow_origin or ((site,) if site is not None else ())
    checked_origins(origins)
    place, proxies = Place(host, port, tls_cert, tls_key, origins=origins), Proxies(proxy)
    if most < found.people:
        raise InvalidParameter(f"--most must be at least {found.people:,}, the number of messages that are mixed.")
    with listening(place) as bound:
        from deniable.collector.relay import Forwarder, Relay, http_poster, most_at_once, run_relay
        from deniable.collector.service import Limits
        from deniable.mixing.waiting import Waiting

        limits, most_sent = Limits(rate=rate), most_at_once(found, token)
        waiting = Waiting(store or terms.with_name(terms.name.removesuffix(".mix") + ".mix.db"), found.survey)
        try:
            forwarder = Forwarder(found, waiting, http_poster(collector, found, token), most_sent)
            doubt = _doubt(found, collector)
            click.echo(f"The relay of survey {found.survey} at {place.address} passes on {found.people:,} messages or more.")
            click.echo(f"Fingerprint of the terms: {found.fingerprint}")
            click.echo(f"Devices find it at {found.relay}, and pages of {', '.join(origins) or 'no site'} may send to it.")
            if doubt:
                click.echo(f"note: {doubt}", err=True)
            run_relay(Relay(found, waiting, forwarder, limits, most, proxies), place, bound)
        finally:
            waiting.close()


def _doubt(terms: Terms, collector: str) -> str | None:
    """Why it is not certain that the collector can read what is passed on to it. Refuses one that certainly cannot."""
    from deniable.collector.mixed import terms_at

    theirs, why = terms_at(collector)
    if theirs == terms.fingerprint:
        return None
    if theirs is not None:
        raise InvalidParameter(
            f"The collector's terms (fingerprint {theirs}) differ from those of this relay ({terms.fingerprint}), so it "
            "could not read the messages. Ask whoever runs the survey for its current .mix file."
        )
    return f"The collector at {collector} cannot take messages yet: {why}. They wait until it can."
