"""People who answer in a real browser, through a relay and into a collector that are processes of their own."""

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deniable.collector.texts import LANGUAGES, table
from deniable.mixing import Terms, mixed_losses
from deniable.mixing.waiting import Waiting
from tests.browsers import Picture, Site, Visit, Visitor, expect, settled, violations
from tests.mixing import survey_in
from tests.mixing.processes import Relayed, counted, keys
from tests.servers import served
from tests.waits import until

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]

PEOPLE = 3
COUNTED = "messages=3 counted=3 duplicates=0 refused=0"  # in the log of the relay, after the collector has answered
NO_X25519 = """
const fresh = crypto.subtle.generateKey.bind(crypto.subtle);
crypto.subtle.generateKey = async (algorithm, ...rest) => {
  if ((algorithm.name ?? algorithm) === "X25519") throw new DOMException("Unrecognized name.", "NotSupportedError");
  return fresh(algorithm, ...rest);
};
"""
# Other terms than everybody gets, at one address. The page itself cannot be replaced on its way: a browser lets no page that
# it did not load from this machine reach a relay on it.
GIVEN = """
const parse = JSON.parse;
JSON.parse = (...given) => {
  const found = parse(...given);
  return found?.format === "deniable-mix-1" && location.search === "?given" ? { ...found, ...%s } : found;
};
"""


class MixedSite(Site):
    """A collector and its relay, which can be started and killed."""

    relay: str

    def __init__(self, url: str, file: Path, *options: str) -> None:
        self.url, self.terms, self.file = url, Terms.load(file), file
        self.relay = self.terms.relay
        self.mixing = Relayed(file, int(self.relay.rsplit(":", 1)[1]), url, *options)

    @property
    def people(self) -> int:
        return counted(self.url)

    @property
    def waiting(self) -> int:
        """How many messages wait in the relay."""
        waiting = Waiting(self.file.with_suffix(".mix.db"), self.terms.survey)
        try:
            return waiting.count
        finally:
            waiting.close()


@contextmanager
def mixed_site(folder: Path, *options: str) -> Iterator[MixedSite]:
    survey_in(folder)
    file = keys(folder, PEOPLE)
    with served(folder / "survey.toml", str(folder / "survey.db")) as collector:
        where = MixedSite(collector.url, file, *options)
        try:
            yield where
        finally:
            if where.mixing.running:
                where.mixing.end()


@pytest.fixture
def commute(tmp_path: Path) -> Iterator[MixedSite]:
    with mixed_site(tmp_path) as running:
        yield running


def answered(person: Visitor, choice: str = "bike", path: str = "/") -> None:
    """Answer, up to where the report is shown."""
    person.goto(path)
    person.page.get_by_label(choice).check()
    person.click("Randomize my answer")
    person.heading("This is what will be sent")


def sent_to(person: Visitor) -> list[str]:
    """Where this person posts to, from now on."""
    found: list[str] = []
    person.context.on("request", lambda request: found.append(request.url) if request.method == "POST" else None)
    return found


def test_people_answer_through_the_relay(commute: MixedSite, visit: Visit, axe: str, picture: Picture) -> None:
    """Sealed by the browser, mixed by the relay, opened and counted by the collector, each once."""
    commute.mixing.start()
    addresses = []
    for place in range(PEOPLE):
        person = visit(commute, viewport={"width": 390, "height": 844})
        addresses.append(sent_to(person))
        answered(person)
        assert violations(person.page, axe) == []
        assert addresses[-1] == []  # nothing leaves before Send is pressed
        person.click("Send the report")
        person.heading("Thank you. Your report has arrived")
        expect(person.page.locator("#stored")).to_contain_text("as soon as 3 reports have arrived")
        if place < PEOPLE - 1:
            assert commute.people == 0 and commute.waiting == place + 1
    until(lambda: commute.people == PEOPLE)
    assert addresses == [[commute.relay + "/v1/mix"]] * PEOPLE  # and never to the collector
    person.fits("mixed", picture)
    person.goto()
    person.heading("You have answered")
    with person.page.expect_download() as download:
        person.click("Download the receipt")
    receipt = json.loads(Path(download.value.path()).read_text())
    assert (receipt["relay"], receipt["terms"]) == (commute.relay, commute.terms.fingerprint)
    assert addresses[-1] == [commute.relay + "/v1/mix"]
    until(lambda: commute.mixing.log.read_text().count(COUNTED) == 1)


def test_the_page_says_what_mixing_adds(commute: MixedSite, visit: Visit, tmp_path: Path) -> None:
    person = visit(commute)
    page = person.goto()
    expect(page.locator("#mixing")).to_contain_text("with those of at least 2 others")
    alone, together = page.locator("#alone"), page.locator("#together")
    expect(page.locator("footer")).to_contain_text(f"to the relay at {commute.relay}, and nothing else.")
    expect(together).to_contain_text("a factor of at most 2.72, whatever they do")
    losses = mixed_losses(survey_in(tmp_path), PEOPLE, commute.terms.delta)
    assert losses.mixed.epsilon <= 1.0
    expect(alone).to_contain_text("except with a probability of 1 in 1,000.")
    factor = re.search(r"factor of at most ([\d.]+),", alone.inner_text())
    assert factor is not None and 1 < float(factor[1]) <= 2.72
    page.get_by_text("When this holds, and who sees what").click()
    expect(page.locator("#terms")).to_have_text(" ".join(re.findall("....", commute.terms.fingerprint)))
    expect(page.get_by_text("The collector sees that you opened this page")).to_be_visible()
    for language in LANGUAGES:
        person.goto(f"/?lang={language}")
        expect(page.locator("#mixed")).to_have_text(table("mix")["mix_title"][language])


def test_a_relay_that_is_down_and_comes_up_again(commute: MixedSite, visit: Visit) -> None:
    """The report waits on the device, is never sent past the relay, and counts once however often it was sent."""
    person = visit(commute)
    posts = sent_to(person)
    answered(person)
    person.click("Send the report")
    person.heading("Saved, to be sent later")
    expect(person.page.get_by_text("The relay cannot be reached.")).to_be_visible()
    report = person.ledger()["commute"]["message"]
    person.page.reload()
    person.heading("Saved, to be sent later")
    assert person.ledger()["commute"] == {**person.ledger()["commute"], "message": report, "state": "kept"}
    person.page.goto("about:blank")  # so that it does not try by itself before the answers are lost
    commute.mixing.start()
    bodies: list[bytes] = []

    def lose(route: "Route") -> None:
        """The relay gets it, and the device never hears of that."""
        bodies.append(route.request.post_data_buffer or b"")
        route.fetch()
        route.abort()

    person.page.route("**/v1/mix", lose, times=2)
    person.goto()
    person.page.get_by_role("heading", name=re.compile("arrived|have answered")).wait_for()
    assert len(bodies) == 2 and bodies[0][:16] == bodies[1][:16] and bodies[0][16:] != bodies[1][16:]
    assert set(posts) == {commute.relay + "/v1/mix"} and len(posts) > 3
    assert commute.waiting == 1 and person.ledger()["commute"]["message"] == report
    for _ in range(PEOPLE - 1):
        other = visit(commute)
        answered(other, "bus")
        other.click("Send the report")
        other.heading("Thank you. Your report has arrived")
    until(lambda: commute.people == PEOPLE)
    until(lambda: COUNTED in commute.mixing.log.read_text())


def test_offline_then_online(commute: MixedSite, visit: Visit) -> None:
    commute.mixing.start()
    person = visit(commute)
    person.goto()
    settled(person.page, "() => navigator.serviceWorker.ready.then(() => true)")
    person.until("navigator.serviceWorker.controller !== null")
    person.context.set_offline(True)
    person.page.reload()  # the page is still there, and so is what it needs to seal
    person.page.get_by_label("car").check()
    person.click("Randomize my answer")
    person.heading("This is what will be sent")
    person.click("Send the report")
    person.heading("Saved, to be sent later")
    person.context.set_offline(False)
    person.page.get_by_role("heading", name=re.compile("arrived|have answered")).wait_for()
    assert commute.waiting == 1 and commute.people == 0


def test_a_browser_without_x25519_answers_nothing_and_sends_nothing(commute: MixedSite, visit: Visit) -> None:
    commute.mixing.start()
    person = visit(commute)
    person.context.add_init_script(NO_X25519)
    posts = sent_to(person)
    person.goto()
    person.heading("This browser cannot encrypt your report")
    expect(person.page.get_by_text("Nothing was sent.")).to_be_visible()
    expect(person.page.get_by_role("button", name="Randomize my answer")).to_have_count(0)
    assert posts == [] and commute.people == commute.waiting == 0


def test_the_policy_permits_the_relay_and_nobody_else(commute: MixedSite, visit: Visit) -> None:
    def policy(path: str) -> str:
        with urllib.request.urlopen(commute.url + path, timeout=30) as answer:
            return str(answer.headers["content-security-policy"])

    usual = policy("/results")
    assert "connect-src 'self';" in usual and policy("/try") == policy("/worker.js") == usual
    assert policy("/") == policy("/?lang=de") == usual.replace("connect-src 'self'", f"connect-src 'self' {commute.relay}")
    person = visit(commute)
    page = person.goto()
    page.get_by_label("bike").wait_for()
    elsewhere = commute.url.replace("127.0.0.1", "localhost") + "/v1/mix"  # another origin
    blocked = settled(page, "(url) => fetch(url).then(() => 'sent', (error) => error.name)", elsewhere)
    assert blocked == "TypeError" and person.seen()["violations"] == ["connect-src"]
    page.evaluate("window.seen.violations = []")
    person.trouble.clear()


def test_a_relay_that_does_not_know_the_site_stores_nothing(tmp_path: Path, visit: Visit) -> None:
    """Without leave for the collector's origin (CORS), browsers do not even send."""
    with mixed_site(tmp_path, "--allow-origin", "https://other.example") as where:
        where.mixing.start()
        person = visit(where)
        answered(person)
        person.click("Send the report")
        person.heading("Saved, to be sent later")
        assert where.waiting == 0 and person.ledger()["commute"]["state"] == "kept"


def test_a_relay_with_other_terms_is_not_used(commute: MixedSite, visit: Visit) -> None:
    """A collector that gave this person a key of their own would be found out."""
    commute.mixing.start()
    person = visit(commute)
    own = commute.terms.key[:-2] + ("00" if commute.terms.key[-2:] != "00" else "01")
    person.context.add_init_script(GIVEN % {"key": own})
    answered(person, path="/?given")
    person.click("Send the report")
    person.heading("The report was refused")
    expect(person.page.get_by_text("The relay's terms differ from those of this page.")).to_be_visible()
    assert commute.waiting == 0
    person.goto()  # with the terms of everybody, the same report arrives
    person.page.get_by_role("heading", name=re.compile("arrived|have answered")).wait_for()
    assert commute.waiting == 1


def test_terms_of_another_survey_are_not_used(commute: MixedSite, visit: Visit) -> None:
    person = visit(commute)
    person.context.add_init_script(GIVEN % {"survey": "0" * 32})
    person.goto("/?given")
    person.heading("The mixing terms do not match this survey")
    assert person.posts == 0
