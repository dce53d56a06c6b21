"""Invitations under attack, and what they cost: double answers of a hostile client, tokens signed a second, and a browser.

    python -m research.experiments.invitations [--tries 100000] [--browser]

The hostile client holds some invitations. It exchanges each of them again and again with other blinded numbers, spends each
token with other messages, alone and many in one body, alters tokens, and tries codes that it makes up.
"""

import argparse
import json
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from deniable.collector import Collector, Refusal, Store, opened, results
from deniable.collector.access import Gate
from deniable.collector.app import App
from deniable.collector.invited import make_invitations, make_keys
from deniable.collector.issuing import Issuing
from deniable.invitations.blind_rsa import PrivateKey, PublicKey, blind, finalize
from deniable.invitations.terms import Invitations
from deniable.invitations.token import Token, fresh_prefix, signed_message
from deniable.survey import Survey
from deniable.survey.message import with_token
from deniable.survey.reading import parse_toml

INVITED = 100
TEXT = """
[survey]
id = "hostile"
epsilon = 1.0
minimum_reports = 1

[[question]]
id = "town"
kind = "category"
choices = ["Lyon", "Paris", "Nice", "Lille"]
"""


def signing_rate(seconds: float = 2.0) -> float:
    """Blind signatures a second of processor time."""
    key = PrivateKey.fresh()
    blinded = blind(key.public, b"message").message
    key.blind_sign(blinded)
    start, done = time.process_time(), 0
    while time.process_time() - start < seconds:
        key.blind_sign(blinded)
        done += 1
    return done / (time.process_time() - start)


class Hostile:
    """A client that wants its invitations to count more than once."""

    def __init__(self, store: Store) -> None:
        asked = parse_toml(TEXT, "survey")
        self.survey: Survey = replace(asked, invitations=Invitations(make_keys(store, asked), 0))
        self.codes = make_invitations(store, self.survey, INVITED)
        self.collector = Collector(self.survey, store)
        self.issuing = Issuing(App(self.collector, Gate(), Gate()))
        offer = self.issuing.keys()
        assert isinstance(offer, bytes)
        self.key = PublicKey(bytes.fromhex(json.loads(offer)["keys"][0]))
        self.tokens: list[bytes] = []
        self.outcomes: Counter[str] = Counter()

    def exchange(self, code: str) -> None:
        """Exchange an invitation, with a blinded number that is new each time."""
        prefix = fresh_prefix()
        message = signed_message(prefix, self.survey.fingerprint_bytes)
        made = blind(self.key, message)
        body = {"invitation": code, "key": 0, "blinded": made.message.hex()}
        answer = self.issuing._answer(json.dumps(body).encode())
        if isinstance(answer, Refusal):
            self.outcomes[f"exchange: {answer.reason}"] += 1
        else:
            self.outcomes["exchange: signed"] += 1
            signature = finalize(self.key, message, bytes.fromhex(json.loads(answer)["signature"]), made.inverse)
            self.tokens.append(Token(0, prefix, signature).to_bytes())

    def spend(self, tokens: list[bytes]) -> None:
        """Send a new message with each of these tokens, all in one body."""
        many = self.survey.randomize_all({"town": ["Nice"] * len(tokens)}, len(tokens))
        body = b"".join(with_token(message, token) for message, token in zip(many, tokens, strict=True))
        for verdict in self.collector.take(self.survey.read(body)):
            self.outcomes[f"report: {verdict.reason if isinstance(verdict, Refusal) else verdict.value}"] += 1

    def altered(self) -> Iterator[bytes]:
        """Tokens with one bit changed."""
        while True:
            token = bytearray(secrets.choice(self.tokens))
            token[secrets.randbelow(len(token))] ^= 1 << secrets.randbelow(8)
            yield bytes(token)


def attack(tries: int) -> tuple[int, Counter[str]]:
    """How many people the collector counts after so many tries with 100 invitations, and what became of the tries."""
    with tempfile.TemporaryDirectory() as folder, opened(str(Path(folder) / "store.db")) as store:
        client = Hostile(store)
        for code in client.codes:
            client.exchange(code)
        altered = client.altered()
        while sum(client.outcomes.values()) < tries:
            client.spend([secrets.choice(client.tokens) for _ in range(secrets.choice((1, 10, 800)))])
            client.spend([next(altered) for _ in range(150)])
            for _ in range(20):
                client.exchange(secrets.choice(client.codes))
                client.exchange(secrets.token_urlsafe(16))
        people = results(client.survey, client.collector.number, store).people
        return people, client.outcomes


SCRIPT = """async ([base, code]) => {
  const { Device, Survey, openLedger } = await import(`${base}/pages/deniable.js`);
  const { Invitation, withToken } = await import(`${base}/pages/invitation.js`);
  const survey = await Survey.fetch(base);
  const ledger = await openLedger();
  const device = new Device(survey, { ledger });
  await device.answer({ town: "Nice" });
  const start = performance.now();
  const { token } = await new Invitation(survey, ledger).right(base, code);
  const between = performance.now();
  const { state } = await device.send(base, { seal: (message) => withToken(message, token) });
  return { exchange: between - start, report: performance.now() - between, state };
}"""


def browser_times(visits: int = 15) -> list[dict[str, float]]:
    """Milliseconds of exchange and report in Chromium, each in a browser profile of its own; the survey's delay is 0."""
    from tests.browsers import chromium, site

    found = []
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        with opened(str(folder / "store.db")) as store:
            listed = json.dumps(make_keys(store, parse_toml(TEXT, "survey")))
        with site(f"{TEXT}\n[invitations]\nkeys = {listed}\ndelay = 0\n", folder) as running:
            collector = running.app.collector
            for code in make_invitations(collector.store, collector.survey, visits):
                context = browser.new_context(base_url=running.url)
                page = context.new_page()
                page.goto("/results")
                made = page.evaluate(SCRIPT, [running.url, code])
                assert made.pop("state") == "sent", made
                found.append(made)
                context.close()
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=100_000)
    parser.add_argument("--browser", action="store_true")
    given = parser.parse_args()
    click.echo(f"tokens signed per second and core: {signing_rate():.0f}")
    if given.browser:
        times = sorted(browser_times(), key=lambda each: each["exchange"] + each["report"])
        for name, place in (("median", len(times) // 2), ("slowest", -1)):
            click.echo(f"{name} in Chromium: " + ", ".join(f"{what} {value:.0f} ms" for what, value in times[place].items()))
    people, outcomes = attack(given.tries)
    click.echo(f"{sum(outcomes.values()):,} tries with {INVITED} invitations: {people} people counted")
    for outcome, number in sorted(outcomes.items()):
        click.echo(f"  {outcome}: {number:,}")


if __name__ == "__main__":
    main()
