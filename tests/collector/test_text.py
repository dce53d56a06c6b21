"""Questions of kind text at a collector: names in the results, rounds that list candidates, and what is refused."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, results
from deniable.collector.fakes import with_fakes
from deniable.collector.rounds import Rounds
from deniable.collector.store import Store, opened
from deniable.collector.verdicts import Counted
from deniable.domains.listed_strings import OTHER, ListedStrings
from deniable.errors import InvalidParameter, OutsideDomain
from tests.cli.test_cli import run
from tests.servers import served
from tests.surveys import survey
from tests.waits import PATIENCE

ASKED = """
[survey]
id = "sites"
epsilon = 4.0
people = 8000
minimum_reports = 10

[[question]]
id = "site"
ask = "Which site did not work?"
kind = "text"
find = 3
"""
SAID = ["Example.org"] * 3000 + ["another  shop"] * 2000 + ["<i>x"] * 1500 + [f"rare {n}" for n in range(1500)]


@pytest.fixture
def store(new_store: Callable[[], str]) -> Iterator[Store]:
    with opened(new_store()) as found:
        yield found


def shuffled(seed: int) -> list[str]:
    return [SAID[place] for place in np.random.default_rng(seed).permutation(len(SAID)).tolist()]


def send(collector: Collector, said: list[str], seed: int) -> None:
    body = collector.survey.batch({"site": said}, len(said), dn.SeededCoins(seed))
    assert set(collector.take(collector.survey.read(body))) == {Counted.NOW}


def test_names_in_the_results(store: Store) -> None:
    """The two strings that are frequent and not blocked come first. A string that nobody has may follow: how often that
    happens at the stated rate is tested in tests/discovery, on many draws."""
    asked = survey(ASKED + 'blocklist = ["ANOTHER shop"]\n')
    assert dn.Survey.from_json(asked.to_json()).fingerprint == asked.fingerprint
    assert dn.certify_survey(asked).holds and len(asked.randomize({"site": "x"})) == len(asked.randomize({"site": "y" * 64}))
    collector = Collector(asked, store)
    send(collector, shuffled(1), 1)
    (message,) = asked.read(dn.Device(asked).answer({"site": " EXAMPLE.org"}))
    assert collector.take([message]) == [Counted.NOW] and collector.take([message]) == [Counted.BEFORE]
    found = results(asked, collector.number, store)
    (question,) = json.loads(found.json())["questions"]
    shares = {row["answer"]: row for row in question["estimates"] if row["measure"] == "share"}
    assert list(shares)[:2] == ["example.org", "<i>x"] and "another shop" not in shares
    assert shares["example.org"]["low"] < 3 / 8 < shares["example.org"]["high"]
    assert [row["value"] < 1e-6 for row in question["estimates"] if row["measure"] == "p-value"][:2] == [True, True]
    said = " ".join(question["words"])
    assert (
        "2 names passed" in said
        and "at most 3 %" in said
        and "is missing (95 % confidence)" in said
        and "One false report" in said
    )
    bounded = with_fakes(found, 0.001)["false_reports"]["estimates"]  # type: ignore[index]
    assert bounded[0]["low"] < shares["example.org"]["low"] < shares["example.org"]["high"] < bounded[0]["high"]


def test_rounds_list_the_candidates_and_every_device_proves_the_list(store: Store) -> None:
    asked = survey(ASKED.replace("people = 8000", "people = 12000") + "rounds = 3\n")
    rounds = Rounds(Collector(asked, store))
    for number in range(1, 4):
        current = rounds.current.survey
        assert dn.certify_survey(current).holds and current.lasting == asked.lasting
        assert dn.Survey.from_json(current.to_json()).fingerprint == current.fingerprint
        send(rounds.current, shuffled(number)[:4000], number)
        if number < 3:
            assert rounds.step()
    listed = rounds.current.survey.questions[0].mechanism.domain
    assert isinstance(listed, ListedStrings) and {"example.org", "another shop", "<i>x"} <= set(listed.names)
    assert rounds.current.survey.questions[0].bits <= 128
    found = results(asked, rounds.first.number, store)
    (question,) = json.loads(found.json())["questions"]
    names = [row["answer"] for row in question["estimates"] if row["measure"] == "share"]
    assert names == ["example.org", "another shop", "<i>x"] and question["reports"] == 12_000


def test_rounds_set_apart_what_is_certain_and_every_device_proves_it(store: Store) -> None:
    """With epsilon 2 no list pays. Names are verified by the people of all rounds; blocked ones are not published."""
    lines = ASKED.replace("epsilon = 4.0", "epsilon = 2.0").replace("find = 3", "find = 6")
    asked = survey(lines.replace("people = 8000", "people = 16000") + 'rounds = 2\nblocklist = ["another shop"]\n')
    rounds = Rounds(Collector(asked, store))
    send(rounds.current, shuffled(1), 1)
    assert rounds.step()
    current = rounds.current.survey
    domain = current.questions[0].mechanism.domain
    assert isinstance(domain, dn.SiftedStrings) and list(domain.known) == ["<i>x", "example.org"]
    assert dn.certify_survey(current).holds and current.lasting == asked.lasting
    assert dn.Survey.from_json(current.to_json()).fingerprint == current.fingerprint
    sizes = {len(current.randomize({"site": said})) for said in ("example.org", "y", "y" * 64)}
    assert len(sizes) == 1 and current.questions[0].bits <= 128
    send(rounds.current, shuffled(2), 2)
    found = results(asked, rounds.first.number, store)
    (question,) = json.loads(found.json())["questions"]
    shares = {row["answer"]: row for row in question["estimates"] if row["measure"] == "share"}
    assert "example.org" in shares and "another shop" not in shares and question["reports"] == 16_000
    assert shares["example.org"]["low"] < 3 / 8 < shares["example.org"]["high"]


def test_text_over_http(tmp_path: Path) -> None:
    """Devices and `deniable simulate` send texts, several of each person; too few for anything to be named."""
    path = tmp_path / "survey.toml"
    path.write_text(ASKED + "at_most = 2\n")
    with served(path, str(tmp_path / "survey.db"), "--open-results") as server:

        def get(name: str) -> str:
            with urllib.request.urlopen(f"{server.url}/v1/{name}", timeout=PATIENCE) as answer:
                found: bytes = answer.read()
                return found.decode()

        asked = dn.Survey.from_json(get("survey"))
        for _ in range(12):
            assert dn.Device(asked, send=server.url).submit({"site": "Example.org"}, strict=True).state == "sent"
        assert json.loads(get("law"))["survey"] == asked.fingerprint
        said = run("simulate", str(path), "--people", "40", "--url", server.url, "--seed", "1", "--yes").stdout
        assert "40 of 40 people were counted" in said
        (question,) = json.loads(get("results"))["questions"]
        assert question["reports"] == 52 and question["estimates"] == []
        assert "No string passed verification yet." in question["words"][0]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("find = 0", "find must be a whole number from 1 to 200"),
        ('form = "prose"', "form must be one of 'text'"),
        ('normal = ["upper"]', "normal must list some of 'nfc'"),
        ("false_discoveries = 1", "between 0 and 1"),
        ("blocklist = [3]", "blocklist must be a list"),
        ('blocklist = [" "]', "A text of the blocklist is empty"),
        ("at_most = 9", "at most 8 strings"),
        ("rounds = 17", "rounds must be a whole number from 1 to 16"),
        ('choices = ["a"]', "Unknown key 'choices'"),
    ],
)
def test_lines_that_cannot_be_used(lines: str, says: str) -> None:
    with pytest.raises(dn.InvalidSurvey, match=says):
        survey(ASKED.replace("find = 3\n", "") + lines)


def test_another_domain_than_the_question_says_is_refused() -> None:
    spec = json.loads(survey(ASKED).to_json())
    spec["question"][0]["normal"] = ["nfc"]
    with pytest.raises(dn.InvalidSurvey, match="does not match the answers"):
        dn.Survey.from_json(json.dumps(spec))


def test_several_texts_of_one_person() -> None:
    asked = survey(ASKED + "at_most = 3\n")
    message = asked.randomize({"site": ["a", "b", "c"]})
    assert len(message) == len(asked.randomize({"site": "a"}))
    how, domain = asked.questions[0].how, asked.questions[0].domain
    assert how.read(domain, "a; b") == ["a", "b"] and "semicolons" in how.hint(domain)
    with pytest.raises(OutsideDomain):
        asked.randomize({"site": ["a", "b", "c", "d"]})


def test_listed_strings() -> None:
    domain = ListedStrings(["a b", "c"])
    assert domain.index(["A  B", "c", "other", "(another)"]).tolist() == [0, 1, 2, 2]
    assert domain.labels == ("a b", "c", OTHER) and domain.answer(2) not in domain.names
    for wrong in ([], ["a", "a"], ["A"], [OTHER]):
        with pytest.raises(InvalidParameter):
            ListedStrings(wrong)
    with pytest.raises(OutsideDomain):
        domain.index([["a"]])


def test_a_plan_says_what_can_be_found() -> None:
    assert "is found with probability 1/2 if its share is" in dn.plan_survey(survey(ASKED)).explain()
