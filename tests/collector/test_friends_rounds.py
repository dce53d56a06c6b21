"""A survey about friends at its collector: the same people answer every round, each on a device of their own."""

import itertools
import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.collector import Collector, results
from deniable.collector.rounds import Rounds
from deniable.collector.store import open_store
from deniable.domains.members import Friendships
from deniable.graphs.friends import Friends
from deniable.survey.rounds import people_of
from tests.servers import served
from tests.surveys import survey
from tests.waits import until

ASKED = """
[survey]
id = "village"
epsilon = 4.0
minimum_reports = 10

[[question]]
id = "friends"
ask = "Whom do you know?"
kind = "friends"
members = 24
protects = "friendship"
"""
SIZE = 24
PAIRS = [(i, j) for i in range(SIZE) for j in range(i) if i // 12 == j // 12]  # two groups in which all know each other
KNOWS = [[other for other in range(SIZE) if other != me and other // 12 == me // 12] for me in range(SIZE)]


def mine(me: int) -> dict[str, Any]:
    return {"friends": {"me": me, "knows": KNOWS[me]}}


@pytest.fixture
def rounds(tmp_path: Path) -> Any:
    store = open_store(str(tmp_path / "survey.db"))
    yield Rounds(Collector(survey(ASKED), store))
    store.close()


def answered(rounds: Rounds, books: list[dn.Ledger]) -> None:
    """Everybody answers the current round, each with their own ledger."""
    current = rounds.current
    for me, book in enumerate(books):
        message = dn.Device(current.survey, book, coins=dn.SeededCoins(100 * me + (current.survey.round or 1))).answer(
            mine(me)
        )
        current.take(current.survey.read(message))


def test_rounds_follow_and_results_grow(rounds: Rounds) -> None:
    assert rounds.first.survey.rounds == 3 and people_of(rounds.first.survey) == SIZE
    books = [dn.Ledger() for _ in range(SIZE)]
    for number in (1, 2, 3):
        assert (rounds.current.survey.round or 1) == number
        answered(rounds, books)
        assert rounds.step() == (number < 3)
        found = results(rounds.first.survey, rounds.first.number, rounds.first.store).data()
        assert found["people"] == SIZE
        question = cast("list[Any]", found["questions"])[0]
        assert question["reports"] == SIZE and "friendships, between" in question["words"][0].replace(":", ",")
        assert len(question["words"]) == (2 if number < 3 else 3)
    assert "triangles" in question["words"][1]
    for line in question["estimates"]:
        assert line["measure"] == "count" and 0 <= line["low"] <= line["value"] <= line["high"]


def test_what_a_person_spends_is_the_budget_over_all_rounds(rounds: Rounds) -> None:
    books = [dn.Ledger(lifetime=4.0) for _ in range(SIZE)]
    for _ in range(3):
        answered(rounds, books)
        with pytest.raises(dn.BudgetSpent):
            dn.Device(rounds.current.survey, books[0]).answer(mine(0))
        rounds.step()
    assert books[0].spent() == 4.0 and len(books[0].entries()) == 3
    loss = books[0].loss()
    assert loss is not None and loss.epsilon() <= 4.0


def test_a_device_refuses_a_round_that_does_not_follow(rounds: Rounds) -> None:
    """A collector that changes the order or the shares after the lists could make a friendship cost more."""
    books = [dn.Ledger() for _ in range(SIZE)]
    answered(rounds, books)
    rounds.step()
    answered(rounds, books)
    rounds.step()
    current = rounds.current.survey
    spec = json.loads(current.to_json())
    shares = spec["question"][0]["mechanism"]["shares"]
    spec["question"][0]["mechanism"]["shares"] = [shares[0], shares[1] / 2, shares[2] + shares[1] / 2, *shares[3:]]
    with pytest.raises(dn.SurveyMismatch, match="does not follow"):
        dn.Device(dn.Survey.from_json(json.dumps(spec)), books[0]).answer(mine(0))
    assert dn.Device(current, books[0]).answer(mine(0))


def test_a_round_cannot_be_asked_twice() -> None:
    """Lists that are asked for three times, as if they were three rounds, would cost almost three times epsilon."""
    asked = survey(ASKED)
    first = asked.questions[0].mechanism
    assert isinstance(first, Friends)
    given = [mine(me)["friends"] for me in range(SIZE)]
    second = first.next(first.tally(first.perturb(given, dn.SeededCoins(1))), dn.SeededCoins(2))
    third = second.next(second.tally(second.perturb(given, dn.SeededCoins(3))), dn.SeededCoins(4))
    for number, mechanism in itertools.product((1, 2, 3), (first, second, third)):
        spec = json.loads(asked.to_json())
        spec["survey"] |= {} if number == 1 else {"round": number}
        spec["question"][0]["mechanism"] = mechanism.spec()
        if mechanism.round == number:
            assert dn.Survey.from_json(json.dumps(spec)).round == (None if number == 1 else number)
        else:
            with pytest.raises(dn.InvalidSurvey, match="belongs to another round"):
                dn.Survey.from_json(json.dumps(spec))


def test_certificate_and_statement_speak_of_friends() -> None:
    certificate = dn.certify_survey(survey(ASKED))
    assert certificate.holds and "all rounds    together" in str(certificate)
    said = certificate.statement()
    assert "Whether you know any one person" in said and "for 100 of them epsilon is 400" in said
    assert "you are asked in each of them" in said and "which member of the list you are" in said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("protects", "# protects"), "protects each friendship"),
        (("members = 24", "members = 1"), "members must be"),
        (("members = 24", 'members = ["ann", "ann"]'), "members must be"),
        (("epsilon = 4.0", "epsilon = 4.0\nrounds = 4"), "asked in 3 rounds"),
        (("epsilon = 4.0", "epsilon = 0.01"), "budget"),
        (("members = 24", "members = 24\nalpha = 1"), "Alpha must be"),
        (("[[question]]", '[[question]]\nid = "x"\nkind = "category"\nchoices = ["a", "b"]\n[[question]]'), "the only one"),
    ],
)
def test_files_that_make_no_sense(change: tuple[str, str], says: str) -> None:
    with pytest.raises(dn.InvalidSurvey, match=says):
        survey(ASKED.replace(*change))


def test_typed_answers() -> None:
    how, domain = survey(ASKED).questions[0].how, survey(ASKED).questions[0].domain
    assert how.read(domain, "3: 14, 15") == {"me": 3, "knows": [14, 15]} and how.read(domain, "3:") == {"me": 3, "knows": []}
    for text in ("3", "a: b"):
        with pytest.raises(dn.OutsideDomain):
            how.read(domain, text)
    made = how.pretend(domain, np.random.default_rng(1), 100)
    assert len(made) == SIZE and cast(Friendships, domain.index(made)).others.size


def test_over_http(tmp_path: Path) -> None:
    """`deniable simulate` with a graph file: every person is a request in every round."""
    path, edges = tmp_path / "survey.toml", tmp_path / "edges.csv"
    path.write_text(ASKED)
    edges.write_text("a,b\n" + "\n".join(f"{i:02},{j:02}" for i, j in PAIRS))
    with served(path, str(tmp_path / "survey.db"), "--open-results") as server:
        runner = CliRunner()
        done = runner.invoke(
            main, ["simulate", str(path), "--graph", str(edges), "--url", server.url, "--yes", "--seed", "1"]
        )
        assert done.exit_code == 0, done.output
        assert [f"Round {number}: 24 of 24" in done.output for number in (1, 2, 3)] == [True] * 3
        until(lambda: len(server.get("/v1/results")["questions"][0]["words"]) == 3)
        assert server.get("/v1/promise")["fingerprint"] == server.get("/v1/status")["fingerprint"]
        edges.write_text("a,b\n" + "\n".join(f"{i},{i + 1}" for i in range(30)))
        for more, says in (([], "Say how many"), (["--graph", str(edges)], "Raise members")):
            again = runner.invoke(main, ["simulate", str(path), "--url", server.url, "--yes", *more])
            assert again.exit_code != 0 and says in again.output
