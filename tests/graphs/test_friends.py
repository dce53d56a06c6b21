"""Friends as a survey in three rounds: what each round reports, what the next one makes of it, and what is refused."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.domains.members import Members, hashed_name
from deniable.graphs.friends import Friends
from deniable.graphs.lists import CircleLists
from deniable.graphs.ownership import Circle
from deniable.graphs.standing import public_words, shuffled
from deniable.mechanisms.registry import mechanism_from_json

SIZE = 120


def village(size: int = SIZE, group: int = 30, chance: float = 0.6) -> dn.Graph:
    random = np.random.default_rng(3)
    pairs = [(i, j) for i in range(size) for j in range(i) if i // group == j // group and random.random() < chance]
    return dn.Graph.of(pairs, size)


def answers(graph: dn.Graph) -> list[dict[str, Any]]:
    return [{"me": person, "knows": graph.neighbours(person).tolist()} for person in range(graph.vertices)]


def ran(first: Friends, given: Sequence[Any], coins: dn.SeededCoins) -> tuple[list[Friends], list[dn.Tally]]:
    """All rounds, and their tallies."""
    rounds, tallies = [first], list[dn.Tally]()
    while True:
        tallies.append(rounds[-1].tally(rounds[-1].perturb(given, coins)))
        if rounds[-1].round == 3:
            return rounds, tallies
        rounds.append(rounds[-1].next(tallies[-1], coins))


@pytest.fixture(scope="module")
def graph() -> dn.Graph:
    return village()


@pytest.fixture(scope="module")
def run(graph: dn.Graph) -> tuple[list[Friends], list[dn.Tally]]:
    return ran(Friends(Members(SIZE), 3.0), answers(graph), dn.SeededCoins(1))


@pytest.fixture(scope="module")
def few_hubs(graph: dn.Graph) -> tuple[list[Friends], list[dn.Tally]]:
    """With few hubs, so that most answers are compressed."""
    coins, first = dn.SeededCoins(2), Friends(Members(SIZE), 3.0)
    tallies = [first.tally(first.perturb(answers(graph), coins))]
    second = first.next(tallies[0])
    second = replace(second, shares=(20.0, *second.shares[1:]))
    tallies.append(second.tally(second.perturb(answers(graph), coins)))
    third = second.next(tallies[1])
    tallies.append(third.tally(third.perturb(answers(graph), coins)))
    return [first, second, third], tallies


class TestRounds:
    def test_counts_are_near_the_truth(self, graph: dn.Graph, run: Any, few_hubs: Any) -> None:
        """Within six standard errors: false alarms below 1e-8 for the normal part; seeds are fixed."""
        for rounds, tallies in (run, few_hubs):
            edges, triangles = rounds[0].edges(tallies[0]), rounds[2].triangles(tallies[2])
            assert abs(edges.raw - graph.edges) < 6 * edges.standard_error < 3000
            assert abs(triangles.raw - graph.triangles()) < 6 * triangles.standard_error < 60_000
            assert rounds[2].estimate(tallies[2]).values[0] == triangles.raw

    def test_rounds_are_named_by_what_they_know(self, run: Any) -> None:
        rounds, _ = run
        assert [each.round for each in rounds] == [1, 2, 3]
        assert len({each.fingerprint for each in rounds}) == 3
        assert rounds[1].rounds_fingerprint == rounds[2].rounds_fingerprint != rounds[0].rounds_fingerprint

    def test_json_and_packing(self, graph: dn.Graph, run: Any, few_hubs: Any) -> None:
        for each in (*run[0], *few_hubs[0]):
            assert mechanism_from_json(each.to_json()) == each
            reports = each.perturb(answers(graph)[:5], dn.SeededCoins(1))
            again = each.unpack(each.pack(reports))
            assert (each.count(again) == each.count(reports)).all()

    def test_tallies_add_in_any_grouping(self, graph: dn.Graph, few_hubs: Any) -> None:
        for each in few_hubs[0]:
            reports = each.perturb(answers(graph), dn.SeededCoins(4))
            parts = sum(each.tally(reports[start : start + 50]) for start in range(0, SIZE, 50))
            assert parts == each.tally(reports)

    def test_one_device_draws_the_rows_that_everybody_has(self, few_hubs: Any) -> None:
        third = few_hubs[0][2]
        few, many = (third._answers.download(third.lists, people) for people in (1, SIZE))
        assert (few.rows(np.arange(SIZE)) == many.words).all()
        assert few.bits == many.bits > 0

    def test_what_was_reported_arrives(self, graph: dn.Graph, few_hubs: Any) -> None:
        """Answers about friends are one with probability p, about others with q; six deviations, fixed seed."""
        third = few_hubs[0][2]
        words = third._answers.download(third.lists, SIZE).words
        place = third.standing.rank[third.position]  # of each member
        order = np.argsort(place)
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=SIZE, bitorder="little")
        truth = np.zeros((SIZE, SIZE), np.bool_)
        truth[graph.owners, graph.lower] = truth[graph.lower, graph.owners] = True
        truth = truth[np.ix_(order, order)]
        assert (bits == bits.T).all()
        hubs, first, second = third.plan.hubs, *np.triu_indices(SIZE, 1)
        for inside, coordinate in ((True, third.plan.plain), (False, third.plan.lists.coordinate)):
            for joined, chance in ((True, float(coordinate.p)), (False, float(coordinate.q))):
                chosen = ((second < hubs) == inside) & (truth[first, second] == joined)
                said = bits[first[chosen], second[chosen]]
                assert abs(said.mean() - chance) < 6 * math.sqrt(chance * (1 - chance) / len(said))

    def test_means_over_many_runs(self, graph: dn.Graph) -> None:
        """The mean of the last round over 20 draws is the truth, to six standard errors (fixed seed)."""
        small = village(40, 20, 0.7)
        errors = []
        for seed in range(20):
            rounds, tallies = ran(Friends(Members(40), 4.0), answers(small), dn.SeededCoins(seed))
            errors.append(rounds[2].triangles(tallies[2]).raw - small.triangles())
        assert abs(np.mean(errors)) < 6 * np.std(errors) / math.sqrt(len(errors))


class TestPeople:
    def test_who_is_missing_in_the_first_round_is_left_out(self, graph: dn.Graph) -> None:
        coins, first = dn.SeededCoins(1), Friends(Members(SIZE), 3.0)
        here = answers(graph)[:90]
        second = first.next(first.tally(first.perturb(here, coins)))
        assert second.standing.present == 90
        with pytest.raises(dn.OutsideDomain, match="did not report in the first round"):
            second.perturb(answers(graph)[90:91])
        third = second.next(second.tally(second.perturb(here, coins)))
        found = third.triangles(third.tally(third.perturb(here, coins)))
        among = dn.Graph.of([(i, j) for i, j in zip(graph.owners, graph.lower, strict=True) if i < 90], 90).triangles()
        assert abs(found.raw - among) < 6 * found.standard_error and found.most == math.comb(90, 3)

    def test_who_is_missing_in_the_second_round_has_no_friends(self, graph: dn.Graph) -> None:
        coins, first = dn.SeededCoins(1), Friends(Members(SIZE), 3.0)
        second = first.next(first.tally(first.perturb(answers(graph), coins)))
        second = replace(second, shares=(30.0, *second.shares[1:]))
        third = second.next(second.tally(second.perturb(answers(graph)[:60], coins)), coins)
        words = third._answers.download(third.lists, SIZE).words
        place = third.standing.rank[third.position]
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=SIZE, bitorder="little")
        inner = bits[np.ix_(place[60:], place[60:])][np.triu_indices(60, 1)]
        chance = max(float(third.plan.plain.q), float(third.plan.lists.coordinate.q))
        assert inner.mean() < chance + 6 * math.sqrt(chance * (1 - chance) / len(inner))

    def test_who_reports_twice_is_left_out(self, graph: dn.Graph) -> None:
        first = Friends(Members(SIZE), 3.0)
        given = answers(graph)
        second = first.next(first.tally(first.perturb([*given, given[7]], dn.SeededCoins(1))))
        assert second.standing.present == SIZE - 1 and second.standing.absent[second.position[7]]

    def test_a_round_needs_two_people(self, graph: dn.Graph) -> None:
        first = Friends(Members(SIZE), 3.0)
        with pytest.raises(dn.InvalidParameter, match="at least two members"):
            first.next(first.tally(first.perturb(answers(graph)[:1])))


class TestPrivacy:
    def test_all_rounds_together_are_certified(self, run: Any, few_hubs: Any) -> None:
        for each in (*run[0], *few_hubs[0]):
            certificate = dn.certify(each)
            assert certificate.holds and certificate.loss.epsilon() <= 3.0
            assert "any one person" in certificate.loss.protects

    def test_plans_that_spend_more_are_refused(self, run: Any) -> None:
        second = run[0][1]
        assert second.plan.spent <= 3.0
        for place in (1, 2, 4, 5):
            shares = list(second.shares)
            shares[place] += 0.01
            with pytest.raises(dn.InvalidParameter, match="more than epsilon"):
                replace(second, shares=tuple(shares))
            spec = {**second.spec(), "shares": shares}
            with pytest.raises(dn.InvalidParameter, match="more than epsilon"):
                mechanism_from_json(json.dumps(spec))

    def test_each_friendship_is_reported_once(self) -> None:
        """Of every pair exactly one person answers, in the first round and in the list; places are within the list."""
        for size in (2, 3, 8, 9):
            circle = Circle(size)
            for i in range(size):
                for j in range(size):
                    if i != j:
                        owner = int(circle.owners(np.array([i]), np.array([j]))[0])
                        assert owner == int(circle.owners(np.array([j]), np.array([i]))[0])
                        other = i + j - owner
                        place = int(circle.places(np.array([owner]), np.array([other]))[0])
                        assert 0 <= place < circle.sizes[owner]

    def test_one_friend_more_moves_the_number_by_one(self) -> None:
        """The noise of round 1 is geometric with the stated odds, and its argument counts the pairs somebody answers for."""
        first = Friends(Members(9), 2.0)
        assert Fraction(first.noisy_count.odds) < Fraction(math.exp(0.16))
        both = [first.perturb([{"me": 0, "knows": list(range(1, number))}], dn.SeededCoins(1)) for number in range(1, 10)]
        numbers = [int(each.columns["number"][0]) for each in both]
        assert sorted({b - a for a, b in pairwise(numbers)}) == [0, 1]
        assert numbers[-1] - numbers[0] == first.circle.sizes[first.position[0]]


class TestBadInput:
    @pytest.mark.parametrize(
        ("given", "says"),
        [
            (3, "An answer says who answers"),
            ({"me": 3}, "An answer says who answers"),
            ({"me": 3, "knows": "4"}, "An answer says who answers"),
            ({"me": SIZE, "knows": []}, "not a member"),
            ({"me": 3, "knows": [True]}, "not a member"),
            ({"me": 3, "knows": ["ann"]}, "not a member"),
            ({"me": 3, "knows": [3]}, "own friend"),
        ],
    )
    def test_answers(self, given: Any, says: str) -> None:
        with pytest.raises(dn.OutsideDomain, match=says):
            Friends(Members(SIZE), 1.0).perturb([given])

    def test_names_and_hashes(self) -> None:
        names = ["ann", "bob", "eve"]
        for domain in (Members(3, names), Members.hashed(names)):
            found = domain.index([{"me": "bob", "knows": ["eve", "ann", "eve"]}])
            assert len(found.others) == 2 and Members.from_spec(domain.spec()) == domain
        assert "bob" not in str(Members.hashed(names).spec()) and hashed_name(" BOB") == hashed_name("bob")
        for wrong in (["ann", "ann", "bob"], ["ann"], [""]):
            with pytest.raises(dn.InvalidParameter):
                Members(3, wrong)
        for size in (1, True, 1 << 30, 2.5):
            with pytest.raises(dn.InvalidParameter):
                Members(size)  # type: ignore[arg-type]

    def test_reports_that_no_device_sends(self, few_hubs: Any) -> None:
        second = few_hubs[0][1]
        hub = int(np.argsort(second.standing.rank[second.position])[9])
        columns = second.perturb([{"me": hub, "knows": []}], dn.SeededCoins(1)).columns
        for message in (b"", columns["message"][0] + b"\1\1", b"\0\377" + columns["message"][0][2:]):
            with pytest.raises(dn.InvalidReport):
                second.votes({"key": columns["key"], "message": np.array([message], object)})
        with pytest.raises(dn.InvalidReport, match="not a member"):
            second.votes({"key": np.array([SIZE], np.uint64), "message": columns["message"]})

    def test_damaged_documents(self, run: Any) -> None:
        third = run[0][2]
        for changed in (
            {"degrees": "!"}, {"degrees": third.lists}, {"shares": ()}, {"shares": (1.0,)}, {"degrees": ""},
            {"shares": (SIZE + 1.0, *third.shares[1:])}, {"shares": (1.5, *third.shares[1:])}, {"alpha": 1.0},
            {"domain": dn.Categories(range(3))},
        ):  # fmt: skip
            with pytest.raises(dn.InvalidParameter):
                replace(third, **changed)
        with pytest.raises(dn.DeniableError):
            replace(third, lists=third.degrees).perturb([{"me": 0, "knows": [1, 2, 3]}])
        with pytest.raises(dn.InvalidParameter, match="no round after"):
            third.next(run[1][2])
        with pytest.raises(dn.InvalidParameter, match="Lists are counted"):
            run[0][1].estimate(run[1][1])

    def test_predictions(self) -> None:
        first = Friends(Members(50), 1.0)
        assert first.predict([10], 50).standard_error[0] == pytest.approx(first.noisy_count.deviation * math.sqrt(50))
        for truth, people in (([1, 2], 5), ([1], 0)):
            with pytest.raises(dn.InvalidParameter):
                first.predict(truth, people)


def test_orders_and_keys_are_public_and_random() -> None:
    assert sorted(shuffled(100, "a").tolist()) == list(range(100))
    assert shuffled(100, "a").tolist() == shuffled(100, "a").tolist() != shuffled(100, "b").tolist()
    assert len(set(public_words(1000, "k").tolist())) == 1000 and int(public_words(1000, "k").max()) < 1 << 62


def test_silent_people_have_no_labels(few_hubs: Any) -> None:
    lists: CircleLists = few_hubs[0][1]._answers.lists
    silent = replace(lists, silent=np.arange(SIZE) < 10)
    assert silent.chunks[:10].sum() == 0 and (silent.chunks[10:] == lists.chunks[10:]).all()
