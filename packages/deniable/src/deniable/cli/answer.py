"""`deniable answer` and `simulate`: people who answer a survey."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from deniable.cli import friends, options, surveys
from deniable.device import Device, Ledger
from deniable.device.sending import FINGERPRINT, http_exchanger, http_sender
from deniable.errors import BudgetSpent, InvalidParameter, OutsideDomain, Unavailable
from deniable.mixing import Terms, mix_sender
from deniable.survey import Survey
from deniable.survey.repeating import spoken
from deniable.survey.rounds import people_of

AT_ONCE = 10_000  # people whose reports are made together
CHANGES = 0.02  # of simulated people, between two periods
mix_option = options.file_option(
    "--mix", help="Send through the relay named in these terms, a file that deniable mix keys wrote."
)


@click.command(short_help="Answer a survey in the terminal.")
@surveys.argument
@surveys.url_option
@surveys.token_option
@options.file_option(
    "--ledger", help="The record of your reports and your privacy loss. Default: the survey's name with .ledger."
)
@click.option(
    "--lifetime",
    type=float,
    metavar="E",
    help="Refuse to answer if the privacy loss of all surveys in the ledger would exceed E.",
)
@click.option(
    "--invitation",
    envvar="DENIABLE_INVITATION",
    metavar="LINK",
    help="Your invitation, if the survey requires one: the link or its code; by default the variable DENIABLE_INVITATION.",
)
@mix_option
@click.option("--yes", is_flag=True, help="Send without asking for confirmation.")
def answer(
    survey: Path,
    url: str,
    token: str | None,
    ledger: Path | None,
    lifetime: float | None,
    invitation: str | None,
    mix: Path | None,
    yes: bool,
) -> None:
    """Answer SURVEY in the terminal. Your answers are randomized on this machine, and you see each report before it is sent.

    You can answer once, or once in each period if the survey asks again. The ledger keeps your reports. If they do not
    arrive, run the command again to send the same ones.

    \b
    deniable answer survey.toml
    deniable answer survey.toml --url https://survey.example --ledger me.ledger
    deniable answer survey.toml --mix survey.mix
    """
    asked = Survey.load(survey)
    terms = None if mix is None else Terms.load(mix)
    asked = surveys.asked_of(asked, url, terms)
    send = http_sender(url, token) if terms is None else mix_sender(terms)
    book = Ledger(ledger if ledger is not None else survey.with_suffix(".ledger"), lifetime)
    exchanger = http_exchanger(url, asked.fingerprint)
    device = Device(asked, book, send, invitation=invitation, exchange=exchanger)
    _exchanged(device, sending=False)
    if device.message() is None:
        if not device.due:
            raise BudgetSpent("You do not report in this period: your device drew once, at random, in which periods you do.")
        device.answer(_asked(asked, device))
    else:
        click.echo("You have already answered this survey. If your report has not arrived, the same one is sent again.")
    message = device.message()
    assert message is not None
    sent = asked.read(message)[0] if message[FINGERPRINT] == asked.fingerprint_bytes else None  # None: of an earlier round
    for question, reports in zip(asked.part(sent.part), asked.unpack(sent), strict=True) if sent is not None else ():
        cost = f"epsilon {question.mechanism.epsilon:g}" + (f" for {question.how.unit}" if question.how.unit else "")
        click.echo(f"{question.id}: the report is {reports.pack().hex()} ({cost}); your answer stays on this machine")
    if terms is not None:
        click.echo(f"It goes to the relay at {terms.relay}, under the terms with fingerprint {terms.fingerprint}")
    if not yes and not click.confirm("Send it?", default=True):
        raise BudgetSpent("The report was not sent. It is in the ledger; answer again to send it.")
    _exchanged(device, sending=True)
    reply = device.send()
    if not reply.arrived:
        raise InvalidParameter(f"The report did not arrive: {reply.detail or reply.status}. It is kept in the ledger.")
    if terms is None:
        click.echo("The collector has counted it.")
    else:
        click.echo(f"The relay has stored it and will pass it on with at least {terms.people - 1:,} others.")


def _exchanged(device: Device, sending: bool) -> None:
    """Exchange the invitation, before anything is asked; and wait until the report may be sent."""
    entry = device.entry()
    if device.survey.invitations is None or (entry is not None and entry.state == "sent"):
        return
    wait = device.exchange()
    if not isinstance(wait, float):
        raise InvalidParameter(f"The invitation was not exchanged: {wait.detail or wait.status}. Nothing was sent.")
    if not sending:
        click.echo("Your invitation was exchanged for a token, which does not disclose the invitation.")
    elif wait > 0:
        click.echo(
            f"The report will be sent in {wait:.0f} s, so that its time cannot be matched with the exchange. You may also "
            "stop now and run the command again later."
        )
        time.sleep(wait)


def _asked(survey: Survey, device: Device) -> dict[str, object]:
    less = survey.unit.removeprefix("one person over the whole survey")
    spent = spoken(survey) or [f"You spend epsilon {survey.epsilon:g} on the whole survey{less}."]
    click.echo(" ".join([f"{survey.title}.", *spent]))
    answers: dict[str, object] = {}
    for question in (member for each in device.questions for member in each.members):
        domain = question.domain
        click.echo(f"{question.ask} ({question.how.hint(domain)})")
        while True:
            try:
                typed = click.prompt(">", default="" if question.optional else None, show_default=False, prompt_suffix=" ")
                given = question.how.read(domain, str(typed))
                domain.index(question.answers([given]))
                answers[question.id] = given
                break
            except OutsideDomain as error:
                click.echo(str(error))
    return answers


@click.command(short_help="Answer a survey with made-up people.")
@surveys.argument
@click.option("--people", type=click.IntRange(min=1), metavar="N", help="How many people to simulate.")
@options.file_option(
    "--graph", help="Who knows whom, for a question of kind friends: a file of pairs. Everybody in it answers."
)
@options.file_option("--links", help="The links of members, if each has a secret: the file of deniable invite members.")
@surveys.url_option
@surveys.token_option
@click.option(
    "--connections",
    type=click.IntRange(1, 10_000),
    default=64,
    show_default=True,
    help="How many requests to send at a time.",
)
@click.option(
    "--periods",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="P",
    help="For a survey that asks again: how many periods up to now to simulate. One person in 50 changes an answer "
    "from one period to the next.",
)
@mix_option
@options.seed
@click.option("--yes", is_flag=True, help="Send without asking for confirmation.")
def simulate(
    survey: Path,
    people: int | None,
    graph: Path | None,
    links: Path | None,
    url: str,
    token: str | None,
    connections: int,
    periods: int,
    mix: Path | None,
    seed: int | None,
    yes: bool,
) -> None:
    """Send the reports of N made-up people to the collector of SURVEY over HTTP.

    Their answers are drawn at random, some common and some rare, and randomized as on a device. Use it to preview the
    results of a survey and to test the load on its collector. Nothing can separate them from real people afterwards;
    deniable manage delete removes all reports of a survey.

    \b
    deniable simulate survey.toml --people 100000 --yes
    deniable simulate wellbeing.toml --people 5000 --periods 30 --yes
    deniable simulate friends.toml --graph edges.csv --yes
    deniable simulate survey.toml --people 1000 --mix survey.mix --yes
    """
    import numpy as np

    from deniable.collector.crowd import run_crowd

    terms = None if mix is None else Terms.load(mix)
    asked = surveys.asked_of(Survey.load(survey), url, terms)
    given = None if graph is None else friends.answers(asked, graph)
    if terms is not None:
        _check_relay(terms)
    people = people if given is None else len(given)
    if people is None:
        raise InvalidParameter("Say how many people to simulate: --people 1000.")
    if asked.invitations is not None:
        raise InvalidParameter(
            "This survey counts only invited people, so it cannot be simulated. Simulate a copy of it without [invitations]."
        )
    if not yes:
        where = f"at {url}" if terms is None else f"behind the relay at {terms.relay}"
        click.echo(f"The collector {where} will count {people:,} made-up people like real ones.")
        if not sys.stdin.isatty() or not click.confirm("Send them?", default=False):
            raise InvalidParameter("Nothing was sent. To send without being asked, use --yes.")
    random = np.random.default_rng(seed)
    coins = options.coins_of(seed)
    _check_periods(asked, periods)
    whole = {q.id: q.how.pretend(q.domain, random, people) if given is None else given for q in asked.asked}

    from deniable.cli import panel

    if asked.same_people:
        friends.run(asked, whole, url, min(connections, people), token, coins, links)
        return

    with panel.progress("answering") as advance_to:
        done = 0

        def watch(number: int) -> None:
            nonlocal done
            done += number
            if done % 50 == 0:
                advance_to(min(1.0, done / (people * periods)))

        def bodies() -> Iterator[bytes]:
            if asked.repeats is not None:
                yield from again(asked, people, periods, whole, random, coins)
                return
            current, size = asked, AT_ONCE if asked.rounds is None else max(1, min(AT_ONCE, people_of(asked) // 8))
            for start in range(0, people, size):
                part = {name: values[start : start + size] for name, values in whole.items()}
                yield from current.randomize_all(part, min(size, people - start), coins)
                if asked.rounds is not None:
                    current = surveys.fetched(asked, url)  # perhaps the next round

        most = min(connections, people)
        if terms is None:
            sent = run_crowd(url, bodies(), most, token, watch)
        else:
            sent = run_crowd(terms.relay, map(terms.seal, bodies()), most, watch=watch, to=("/v1/mix", terms.media_type))
    refused = {status: number for status, number in sent.statuses.items() if not 200 <= status < 300}
    if asked.repeats is not None:
        click.echo(
            f"{sent.arrived:,} reports of {people:,} people were counted." + (f" Statuses: {refused}" if refused else "")
        )
    else:
        became = "counted" if terms is None else "stored by the relay"
        click.echo(f"{sent.arrived:,} of {people:,} people were {became}." + (f" Statuses: {refused}" if refused else ""))
    if refused or (asked.repeats is None and sent.arrived < people):
        raise InvalidParameter("Some reports were refused. See the log and the metrics of the collector for the reasons.")


def _check_relay(terms: Terms) -> None:
    """Refuse a relay that does not answer or has other terms: it would take nothing."""
    from deniable.collector.mixed import terms_at

    theirs, why = terms_at(terms.relay)
    if theirs is None:
        raise Unavailable(
            f"The relay at {terms.relay} cannot take reports: {why}. Nothing was sent. Start it with deniable mix."
        )
    if theirs != terms.fingerprint:
        raise InvalidParameter(
            f"The relay's terms (fingerprint {theirs}) differ from those of this file ({terms.fingerprint}). Nothing was "
            "sent. Ask whoever runs the survey for its current .mix file."
        )


def _check_periods(survey: Survey, periods: int) -> None:
    if survey.repeats is None and periods > 1:
        raise InvalidParameter("This survey asks only once, so there are no periods to simulate. Leave --periods out.")
    if survey.repeats is not None and periods > min(survey.late, survey.period(time.time())) + 1:
        raise InvalidParameter(
            f"The collector accepts reports of this period and of {survey.late} before it. Simulate fewer periods, or raise "
            "late in a copy of the survey."
        )


def again(survey: Survey, people: int, periods: int, answers: dict[str, Any], random: Any, coins: Any) -> Iterator[bytes]:
    """The messages of people who are asked in several periods up to now; a few change their answers in between."""
    import numpy as np

    from deniable.device.panel import Panel

    panel, now = Panel(survey, people, coins), time.time()
    assert survey.window is not None
    for place in range(periods - 1, -1, -1):
        yield from panel.messages(answers, now - place * survey.window)
        moved = np.flatnonzero(random.random(people) < CHANGES)
        for each in survey.asked:
            fresh, values = each.how.pretend(each.domain, random, len(moved)), list(answers[each.id])
            for person, value in zip(moved.tolist(), fresh, strict=True):
                values[person] = value
            answers[each.id] = values
