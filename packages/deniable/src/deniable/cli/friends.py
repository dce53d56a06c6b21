"""What `deniable simulate` does for a survey that asks the same people in every round, such as whom they know."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from deniable.cli import surveys
from deniable.core import Answers, Coins
from deniable.errors import InvalidParameter
from deniable.invitations.member import Membership
from deniable.survey import Survey
from deniable.survey.message import with_token

PATIENCE = 600.0  # seconds for the collector to open the next round
LOOK = 0.5  # seconds between two looks
AT_ONCE = 2_000  # people whose reports are made together


def answers(survey: Survey, path: Path) -> Answers:
    """Who knows whom in a file of pairs: the answer of everybody in it, who are the first members in sorted order."""
    from deniable.cli.graph_files import graph_in
    from deniable.survey.kinds.friends import friendships

    (question, *_) = survey.questions
    if not survey.same_people:
        raise InvalidParameter('A graph is for a survey with a question of kind "friends". Leave --graph out.')
    graph, _ = graph_in(path)
    if graph.vertices > question.domain.size:
        raise InvalidParameter(
            f"The graph has {graph.vertices:,} people, and the survey {question.domain.size:,} members. Raise members."
        )
    return friendships(zip(graph.owners.tolist(), graph.lower.tolist(), strict=True), graph.vertices)


def run(
    survey: Survey,
    whole: Mapping[str, Answers],
    url: str,
    connections: int,
    token: str | None,
    coins: Coins | None,
    links: Path | None = None,
) -> None:
    """Let all these people answer every round over HTTP, one request each, and wait for each round to open."""
    from deniable.cli import panel
    from deniable.collector.crowd import run_crowd

    secrets = _secrets(survey, links)

    current, people = survey, len(next(iter(whole.values())))
    for number in range(survey.round or 1, (survey.rounds or 1) + 1):
        current = _opened(survey, number, url)
        with panel.progress(f"round {number}") as advance_to:
            done = 0

            def watch(more: int) -> None:
                nonlocal done
                done += more
                advance_to(min(1.0, done / people))

            def bodies(asked: Survey = current) -> Any:
                for start in range(0, people, AT_ONCE):
                    part = {name: values[start : start + AT_ONCE] for name, values in whole.items()}
                    made = asked.randomize_all(part, min(AT_ONCE, people - start), coins)
                    for place, message in enumerate(made, start):
                        yield message if secrets is None else with_token(message, secrets[place].tag(message))

            sent = run_crowd(url, bodies(), connections, token, watch)
        click.echo(f"Round {number}: {sent.arrived:,} of {people:,} people were counted.")
        if sent.arrived < people:
            raise InvalidParameter(
                "Some reports were refused. See the log and the metrics of the collector for the reasons."
            )


def _secrets(survey: Survey, links: Path | None) -> Mapping[int, Membership] | None:
    """The secret of each member in a file of links, where the survey asks for them."""
    if not survey.has_secrets:
        if links is not None:
            raise InvalidParameter('This survey asks for no secrets (reporters = "secret"). Leave --links out.')
        return None
    if links is None:
        raise InvalidParameter(
            "Every member of this survey has a link of their own. Give the file that deniable invite members wrote: "
            "--links FILE."
        )
    from deniable.files.tables import read_columns

    (rows,) = read_columns(links, ["link"])
    found = [Membership.of(str(link)) for link in rows]
    return {each.member: each for each in found}


def _opened(survey: Survey, number: int, url: str) -> Survey:
    """The survey in this round, as soon as the collector has opened it."""
    end = time.monotonic() + PATIENCE
    while True:
        found = surveys.fetched(survey, url)
        if (found.round or 1) >= number:
            return found
        if time.monotonic() > end:
            raise InvalidParameter(
                f"The collector has not opened round {number}. It opens when the number of people in the survey file "
                "(people) have answered, or after round_time."
            )
        time.sleep(LOOK)
