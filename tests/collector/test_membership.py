"""Members with a secret each: nobody can report in another's name, in any round."""

import csv
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.collector import Collector
from deniable.collector.invited import check_keys
from deniable.collector.membership import members_of
from deniable.collector.rounds import Rounds
from deniable.collector.store import open_store
from deniable.collector.verdicts import BAD_SECRET, NO_BATCHES, NO_SECRET, Counted, Refusal
from deniable.device.sending import Reply
from deniable.invitations.member import Membership
from deniable.survey.message import with_token
from tests.collector.test_friends_rounds import ASKED, PAIRS, SIZE, mine
from tests.servers import served
from tests.surveys import survey

SECRET = ASKED.replace('protects = "friendship"', 'protects = "friendship"\nreporters = "secret"')


@pytest.fixture
def rounds(tmp_path: Path) -> Any:
    store = open_store(str(tmp_path / "survey.db"))
    yield Rounds(Collector(survey(SECRET), store))
    store.close()


def taken(rounds: Rounds, message: bytes) -> Counted | Refusal:
    current = rounds.current
    (verdict,) = current.take(current.survey.read(message))
    return verdict


def test_only_the_member_counts_in_every_round(rounds: Rounds) -> None:
    links = members_of(rounds.first.store, rounds.first.survey)
    assert links == members_of(rounds.first.store, rounds.first.survey)  # the same links again
    assert len({each.secret for each in links}) == SIZE == len(links)
    books = [dn.Ledger() for _ in range(SIZE)]
    for number in (1, 2, 3):
        current = rounds.current.survey
        assert (current.round or 1) == number
        for me in range(SIZE):
            link = f"https://survey.example/#{links[me].fragment}" if number == 1 else None  # the ledger keeps it
            said = list[bytes]()

            def send(message: bytes, said: list[bytes] = said) -> Reply:
                said.append(message)
                return Reply(200)

            device = dn.Device(current, books[me], send, invitation=link)
            bare = device.answer(mine(me))
            if me == 3:
                assert taken(rounds, bare) == NO_SECRET
                for other in (links[4].tag(bare), b"\0" * 32, links[3].tag(bare)[:31], links[3].tag(bare + b"\0")):
                    assert taken(rounds, with_token(bare, other)) == BAD_SECRET
            assert device.send().arrived
            (message,) = said
            assert taken(rounds, message) == Counted.NOW
            if me == 3:
                assert taken(rounds, message) == Counted.BEFORE
        assert rounds.step() == (number < 3)


def test_batches_and_other_surveys_tags_are_refused(rounds: Rounds) -> None:
    links = members_of(rounds.first.store, rounds.first.survey)
    asked = rounds.first.survey
    batch = asked.batch({"friends": [mine(me)["friends"] for me in range(2)]}, 2)
    verdict = taken(rounds, batch)
    assert isinstance(verdict, Refusal) and verdict.reason == NO_BATCHES.reason
    message = dn.Device(asked, dn.Ledger(), invitation=links[0].fragment).answer(mine(0))
    strange = Membership.derived(b"another key", asked.id, 0)
    assert taken(rounds, with_token(message, strange.tag(message))) == BAD_SECRET


def test_a_device_needs_its_link(rounds: Rounds) -> None:
    with pytest.raises(dn.InvalidParameter, match="a link of their own"):
        dn.Device(rounds.first.survey, dn.Ledger()).answer(mine(0))
    for wrong in ("", "#member=3", "#member=x.AAAAAAAAAAAAAAAAAAAAAA", "#invitation=abc", "#member=1.short"):
        with pytest.raises(dn.InvalidParameter, match="not the link of a member"):
            Membership.of(wrong)
    assert "AAAA" not in repr(Membership.of("#member=3.AAAAAAAAAAAAAAAAAAAAAA"))


def test_without_a_key_it_is_not_served_and_open_surveys_have_none(rounds: Rounds) -> None:
    with pytest.raises(dn.InvalidParameter, match="deniable invite members"):
        check_keys(rounds.first.store, rounds.first.survey, rounds.first.number)
    with pytest.raises(dn.InvalidParameter, match='reporters = "secret"'):
        members_of(rounds.first.store, survey(ASKED))
    with pytest.raises(dn.InvalidSurvey, match="anybody can report in the name of any member"):
        survey(ASKED.replace('protects = "friendship"', 'protects = "friendship"\nreporters = "all"'))
    for text, says in ((ASKED, "somebody else could report in your name"), (SECRET, "only from whoever has your link")):
        assert says in dn.certify_survey(survey(text)).statement()


@pytest.mark.needs("starlette", "uvicorn")
def test_from_links_to_results_on_the_command_line(tmp_path: Path) -> None:
    path, edges, links = tmp_path / "village.toml", tmp_path / "edges.csv", tmp_path / "village.members.csv"
    path.write_text(SECRET)
    edges.write_text("a,b\n" + "\n".join(f"{i},{j}" for i, j in PAIRS))
    runner = CliRunner()
    made = runner.invoke(main, ["invite", "members", str(path), "--store", str(tmp_path / "village.db")])
    assert made.exit_code == 0 and "24 members" in made.output, made.output
    with links.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["member"] for row in rows] == [str(number) for number in range(SIZE)]
    assert links.stat().st_mode & 0o077 == 0
    with served(path, str(tmp_path / "village.db")) as server:
        order = ["simulate", str(path), "--graph", str(edges), "--url", server.url, "--yes"]
        refused = runner.invoke(main, order)
        assert refused.exit_code != 0 and "--links" in refused.output
        sent = runner.invoke(main, [*order, "--links", str(links)])
        assert sent.exit_code == 0 and "Round 3: 24 of 24 people were counted." in sent.output, sent.output


def test_what_is_not_certified(tmp_path: Path) -> None:
    """That nobody answers twice is checked for members with a link of their own, and for nobody else."""
    for text, says in ((ASKED, True), (SECRET, False)):
        path = tmp_path / "village.toml"
        path.write_text(text)
        shown = CliRunner().invoke(main, ["certify", str(path)])
        assert shown.exit_code == 0 and ("Anyone can answer any number of times" in shown.output) == says
