"""Whom people know, asked by the answer page in a real browser: three rounds of one person among others with Python."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.collector.membership import members_of
from deniable.graphs.friends import Friends
from tests.browsers import Site, Visit, Visitor, expect, site, violations
from tests.waits import until

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]

NAMES = [f"{name} {letter}." for name in ("Ann", "Bob", "Eve", "Zoë", "Jörg", "Ida") for letter in "ABCDE"]
ASKED = f"""
[survey]
id = "village"
title = "Who knows whom"
epsilon = 4.0
minimum_reports = 1

[[question]]
id = "friends"
ask = "Whom do you know?"
kind = "friends"
members = {json.dumps(NAMES)}
protects = "friendship"
"""
ME, KNOWN = 7, [5, 6, 8, 9, 29]


@pytest.fixture
def village(tmp_path: Path) -> Iterator[Site]:
    with site(ASKED, tmp_path) as running:
        yield running


def knows(me: int) -> list[int]:
    mine = [other for other in range(len(NAMES)) if other != me and other // 5 == me // 5]
    return sorted({*mine, *([29] if me == ME else [ME] if me == 29 else [])})


def others_answer(place: Site, books: dict[int, dn.Ledger]) -> None:
    """Everybody but one answers the current round with a device in Python."""
    current = place.app.rounds.current
    for me, book in books.items():
        message = dn.Device(current.survey, book, coins=dn.SeededCoins(me)).answer(
            {"friends": {"me": me, "knows": knows(me)}}
        )
        current.take(current.survey.read(message))


def _is_in_round(place: Site, number: int) -> bool:
    return mechanism(place).round == number


def mechanism(place: Site) -> Friends:
    found = place.app.rounds.current.survey.questions[0].mechanism
    assert isinstance(found, Friends)
    return found


def sent(person: Visitor, number: int) -> dict[str, Any]:
    """Send what is shown, and what the ledger then holds for this round."""
    person.click("Send the report")
    person.heading("Thank you. Your report has arrived")
    entry: dict[str, Any] = person.ledger()["village" if number == 1 else f"village round {number}"]
    return entry


def test_one_person_takes_part_in_all_rounds(village: Site, visit: Visit, axe: str) -> None:
    person = visit(village, viewport={"width": 390, "height": 844})
    books = {me: dn.Ledger() for me in range(len(NAMES)) if me != ME}
    page = person.goto()
    expect(page.locator("#checked")).to_contain_text("all three rounds together stay within epsilon 4")
    page.get_by_text("Whether you know any one person is protected").wait_for()
    page.get_by_text("somebody else could report in your name").wait_for()
    page.get_by_label("Your name").fill("bob c")
    page.get_by_role("radio", name=NAMES[ME]).check()
    for place in KNOWN:
        page.get_by_label("Search for people whom you know").fill(NAMES[place])
        page.get_by_role("checkbox", name=NAMES[place]).check()
    page.get_by_text("5 people chosen.").wait_for()
    page.get_by_label("Search for people whom you know").fill("zoe")  # without the dots
    expect(page.get_by_role("checkbox")).to_have_count(5)
    assert violations(page, axe) == []
    person.click("Randomize my answer")
    person.heading("This is what will be sent")
    page.get_by_text(f"That you are member “{NAMES[ME]}”").wait_for()
    assert violations(page, axe) == [] and person.posts == 0
    assert sent(person, 1)["epsilon"] == 4
    page.get_by_text("Please come back for round 2").wait_for()
    page.get_by_text("stays in this browser until the last round").wait_for()
    others_answer(village, books)
    for number in (2, 3):
        until(partial(_is_in_round, village, number))
        page.reload()
        page.get_by_text(f"You take part as “{NAMES[ME]}”.").wait_for()
        page.get_by_text(f"Round {number} of 3.").wait_for()
        expect(page.locator(".chosen li")).to_have_count(len(KNOWN))
        person.click("Randomize my answer")
        person.heading("This is what will be sent")
        entry = sent(person, number)
        assert entry["epsilon"] == 0  # the first round pays for all
        current = village.app.rounds.current.survey
        (message,) = current.read(bytes.fromhex(entry["message"]))
        columns = current.unpack(message)[0].columns
        assert int(columns["key" if number == 2 else "member"][0]) == ME
        others_answer(village, books)
    page.get_by_text("This was the last round").wait_for()
    kept = page.evaluate(
        """() => new Promise((done) => {
             const opening = indexedDB.open("deniable", 1);
             opening.onsuccess = () => {
               const read = opening.result.transaction("ledger").objectStore("ledger").get("all");
               read.onsuccess = () => { opening.result.close(); done(JSON.stringify(read.result.friends)); };
             };
           })"""
    )
    assert "knows" not in kept
    person.check()
    until(lambda: village.people == len(NAMES))


def test_a_link_says_who_somebody_is_and_nobody_else_may(tmp_path: Path, visit: Visit) -> None:
    with site(ASKED.replace("protects =", 'reporters = "secret"\nprotects ='), tmp_path) as place:
        collector = place.app.collector
        links = members_of(collector.store, collector.survey)
        stranger = visit(place)
        page = stranger.goto()
        page.get_by_label("Your name").fill(NAMES[ME])
        page.get_by_role("radio", name=NAMES[ME]).check()
        stranger.click("Randomize my answer")
        page.get_by_text("Open the link that was sent to you.").wait_for()
        assert stranger.posts == 0
        person = visit(place)
        page = person.goto(f"/#{links[ME].fragment}")
        page.get_by_text(f"You take part as “{NAMES[ME]}”.").wait_for()
        page.get_by_text("only from somebody who has your link").wait_for()
        assert links[ME].secret not in page.url
        # by keyboard alone: search, check the first match, and go on
        page.get_by_label("Search for people whom you know").focus()
        page.keyboard.type("ida e")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.get_by_text("1 person chosen.").wait_for()
        person.click("Randomize my answer")
        person.heading("This is what will be sent")
        sent(person, 1)
        assert place.people == 1
        person.check()
