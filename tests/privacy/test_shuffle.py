"""Shuffling: never below the truth, which is worked out for few people by listing every histogram."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest

import deniable as dn
from deniable.privacy import positive_part, shuffle
from deniable.privacy.hiding import Blanket, Clones, attained, bounds, listed_channel, ways
from deniable.privacy.law import law
from deniable.privacy.loss_law import LossLaw
from deniable.privacy.profile import LossLattice, Steps, lower_hull
from deniable.privacy.shuffle import MOST, Shuffle, delta_of, shuffled_delta
from tests.examples import EXAMPLES

THREE = dn.Categories(range(3))
Law = dict[bytes, Fraction]
Histograms = dict[tuple[tuple[bytes, int], ...], Fraction]


def histograms(laws: Sequence[Law]) -> Histograms:
    """The exact law of the shuffled reports: how often each report came."""
    found: dict[tuple[tuple[bytes, int], ...], Fraction] = {(): Fraction(1)}
    for each in laws:
        grown: dict[tuple[tuple[bytes, int], ...], Fraction] = defaultdict(Fraction)
        for histogram, chance in found.items():
            for report, more in each.items():
                counts = dict(histogram)
                counts[report] = counts.get(report, 0) + 1
                grown[tuple(sorted(counts.items()))] += chance * more
        found = dict(grown)
    return found


def truth(mechanism: dn.Mechanism, n: int, power: Fraction) -> Fraction:
    """The exact delta: the worst over both values of one person and all values of the others."""
    return worst_of([dict(law(mechanism, index).items()) for index in range(mechanism.domain.size)], n, power)


def worst_of(laws: Sequence[Law], n: int, power: Fraction) -> Fraction:
    """The same for these laws of one report."""
    worst = Fraction(0)
    for others in itertools.combinations_with_replacement(laws, n - 1):
        rest = [histograms([each, *others]) for each in laws]
        for first, second in itertools.permutations(rest, 2):
            worst = max(worst, sum((max(c - power * second.get(h, 0), Fraction(0)) for h, c in first.items()), Fraction(0)))
    return worst


def reduced(hidden: Clones, n: int, power: Fraction) -> Fraction:
    """The exact delta of the reduction, by listing all outcomes of the clones."""
    p, alpha, r = hidden.odds, hidden.alpha, hidden.r
    laws: list[dict[tuple[int, int], Fraction]] = [defaultdict(Fraction), defaultdict(Fraction)]
    for a in range(n):
        for b in range(n - a):
            chance = math.comb(n - 1, a) * math.comb(n - 1 - a, b) * r ** (a + b) * (1 - 2 * r) ** (n - 1 - a - b)
            for each, (one, other) in zip(laws, ((p, Fraction(1)), (Fraction(1), p)), strict=True):
                each[a + 1, b] += chance * one * alpha
                each[a, b + 1] += chance * other * alpha
    return sum((max(c - power * laws[1][h], Fraction(0)) for h, c in laws[0].items()), Fraction(0))


def blanketed(hidden: Blanket, n: int, power: Fraction) -> Fraction:
    """The exact delta of the blanket, by listing how many of n people send each kind of report."""
    o, alone, both, neither = hidden.odds, hidden.alone, hidden.both, hidden.neither
    rest = 1 - 2 * alone - both - neither
    total = Fraction(0)
    for a, b, c, d in itertools.product(range(n + 1), repeat=4):
        if (left := n - a - b - c - d) >= 0:
            ways = math.factorial(n)
            for each in (a, b, c, d, left):
                ways //= math.factorial(each)
            chance = ways * alone ** (a + b) * both**c * neither**d * rest**left
            lean = (o - power) * a + (1 - power * o) * b + (1 - power) * (o * c + d)
            total += chance * max(lean, Fraction(0))
    return total / n


def channels() -> Iterator[tuple[str, dn.Mechanism, int]]:
    yield "direct", dn.DirectResponse(THREE, 1.0), 4
    yield "direct, large epsilon", dn.DirectResponse(THREE, 3.0), 4
    yield "two values", dn.DirectResponse(dn.Categories(range(2)), 1.0), 6
    yield "unary", dn.Unary(THREE, 1.0), 3
    yield "subset", dn.SubsetSelection(dn.Categories(range(4)), 1.0, 2), 3
    yield "hadamard", dn.HadamardResponse(THREE, 1.0), 3
    yield "hashing", dn.LocalHashing(THREE, 1.0, 2), 2
    yield "three states", dn.ThreeState.ewrr(1.0), 3
    yield "a channel of one's own", dn.FiniteChannel(THREE, 1.0, [[4, 3, 2], [2, 4, 3], [3, 2, 4]]), 4
    yield "an uneven channel", dn.FiniteChannel(THREE, 2.0, [[6, 2, 2], [2, 7, 1], [4, 3, 3]]), 4


class TestNeverBelowTheTruth:
    @pytest.mark.parametrize(
        ("name", "mechanism", "n"), list(channels()), ids=lambda given: given if isinstance(given, str) else ""
    )
    @pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.8])
    def test_delta(self, name: str, mechanism: dn.Mechanism, n: int, epsilon: float) -> None:
        for people in range(1, n + 1):
            exact = truth(mechanism, people, Fraction(math.exp(epsilon)))
            bound = shuffled_delta(mechanism, people, epsilon)
            assert Fraction(bound) >= exact
            sure = max(positive_part.mean_if_positive(atoms, people, math.exp(epsilon)) for atoms in attained(mechanism))
            assert Fraction(sure) <= exact
            assert bound < 2 * float(exact) + 0.1
            blanket = next((each for each in bounds(mechanism)[0][0] if isinstance(each, Blanket)), None)
            if blanket is not None:
                listed = blanketed(blanket, people, Fraction(math.exp(epsilon)))
                assert exact <= listed <= Fraction(delta_of(blanket, people, epsilon))

    def test_alone_it_is_the_truth(self) -> None:
        for mechanism in (dn.DirectResponse(THREE, 1.0), dn.SubsetSelection(dn.Categories(range(5)), 2.0)):
            exact = truth(mechanism, 1, Fraction(math.exp(0.3)))
            assert shuffled_delta(mechanism, 1, 0.3) == pytest.approx(float(exact), rel=1e-9)


class TestTheSum:
    @pytest.mark.parametrize("n", [1, 2, 5, 40])
    @pytest.mark.parametrize(
        "hidden",
        [
            Clones(Fraction(3), Fraction(1, 4), Fraction(1, 4)),
            Clones(Fraction(3), Fraction(1, 9), Fraction(1, 20)),
            Clones(Fraction(20), Fraction(1, 30), Fraction(1, 50)),
            Clones(Fraction(3), Fraction(1, 4), Fraction(1, 2)),
        ],
    )
    @pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.05])
    def test_is_not_below_and_hardly_above(self, n: int, hidden: Clones, epsilon: float) -> None:
        exact = reduced(hidden, n, Fraction(math.exp(epsilon)))
        bound = Fraction(delta_of(hidden, n, epsilon))
        assert exact <= bound <= exact * Fraction(10**7 + 1, 10**7) + Fraction(1, 10**30)

    def test_known_figure_of_the_clones(self) -> None:
        """n = 1,000, epsilon 1 by itself, 0.1 shuffled: 3.5277e-4 with a clone in every e-th report."""
        odds = dn.odds_below(1.0)
        assert delta_of(Clones(odds, 1 / (odds + 1), 1 / (2 * odds)), 1000, 0.1) == pytest.approx(3.5277e-4, rel=2e-5)

    def test_beyond_the_odds_nothing_is_lost(self) -> None:
        hidden = Clones(Fraction(3), Fraction(1, 4), Fraction(1, 4))
        assert delta_of(hidden, 10, 1.2) == 0.0
        assert delta_of(hidden, 10, math.log(3)) < 1e-10

    def test_more_people_hide_better(self) -> None:
        mechanism = dn.DirectResponse(THREE, 1.0)
        deltas = [shuffled_delta(mechanism, n, 0.1) for n in (1, 10, 100, 1_000, 10_000)]
        assert deltas == sorted(deltas, reverse=True) and deltas[-1] < 1e-6 * deltas[0]


class TestTheTransform:
    """Sums of many terms, by the transform, beside the same sums listed."""

    @pytest.mark.parametrize("n", [2, 7, 30])
    @pytest.mark.parametrize("epsilon", [0.02, 0.3, 0.9])
    @pytest.mark.parametrize("rough", [False, True])
    def test_encloses_what_is_listed(self, n: int, epsilon: float, rough: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        for mechanism in (dn.DirectResponse(THREE, 1.0), dn.SubsetSelection(dn.Categories(range(8)), 1.0)):
            for atoms in [bounds(mechanism)[0][0][0].atoms, *attained(mechanism)]:
                power = math.exp(epsilon)
                monkeypatch.setattr(positive_part, "MOST_LISTED", 10**6)
                listed = positive_part.mean_positive_part(atoms, n, power)
                monkeypatch.setattr(positive_part, "MOST_LISTED", 0)
                above = positive_part.mean_positive_part(atoms, n, power, rough)
                below = positive_part.mean_if_positive(atoms, n, power, rough)
                assert below <= listed <= above * (1 + 1e-11)  # the listed sum is rounded up by as much
                if not rough:
                    assert above <= listed * 1.0001 and below >= listed * 0.999

    def test_small_deltas_keep_their_digits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        atoms = Clones(Fraction(3), Fraction(1, 4), Fraction(1, 4)).atoms
        listed = positive_part.mean_positive_part(atoms, 600, math.exp(0.8))
        monkeypatch.setattr(positive_part, "MOST_LISTED", 0)
        assert 0 < listed < 1e-20
        assert listed <= positive_part.mean_positive_part(atoms, 600, math.exp(0.8)) <= listed * 1.01

    def test_figures_that_others_have_computed(self) -> None:
        """Direct response of 16 values with epsilon 1, delta 1e-6: 0.0643 among 1,000 and 0.0186 among 10,000."""
        mechanism = dn.DirectResponse(dn.Categories(range(16)), 1.0)
        for n, known in ((1_000, 0.0643), (10_000, 0.0186)):
            loss = dn.shuffled(mechanism, n, 1e-6)
            assert loss.epsilon == pytest.approx(known, abs=5e-5)
            assert loss.at_least < loss.epsilon < 1.02 * loss.at_least

    def test_many_people(self) -> None:
        loss = dn.shuffled(dn.DirectResponse(dn.Categories(range(16)), 1.0), 200_000, 1e-6)
        assert 0.003 < loss.at_least < loss.epsilon < 1.02 * loss.at_least < 0.004


class TestShuffled:
    def test_the_epsilon_has_its_delta(self) -> None:
        mechanism = dn.SubsetSelection(dn.Categories(range(16)), 1.0)
        loss = dn.shuffled(mechanism, 1_000, 1e-6)
        assert shuffled_delta(mechanism, 1_000, loss.epsilon) <= 1e-6
        assert shuffled_delta(mechanism, 1_000, loss.epsilon * 0.998) > 1e-6
        assert loss.epsilon < 0.2 < loss.local <= 1.0
        assert "only if a trusted shuffler mixes" in str(loss) and "1,000" in str(loss)

    def test_alone_there_is_nothing_to_gain(self) -> None:
        assert dn.shuffled(dn.DirectResponse(THREE, 1.0), 1, 1e-9).epsilon == pytest.approx(1.0, rel=1e-3)

    def test_the_exact_channel_is_better_than_the_odds_alone(self) -> None:
        mechanism = dn.DirectResponse(dn.Categories(range(16)), 2.0)
        (blanket, merged, _), proof = bounds(mechanism)[0][0], bounds(mechanism)[1]
        assert delta_of(blanket, 1_000, 0.3) < delta_of(merged, 1_000, 0.3) / 10
        assert proof == "exact channel"
        assert bounds(dn.PrivUnit(dn.UnitVectors(4), 1.0))[1] == "odds alone"

    @pytest.mark.parametrize("name", sorted(EXAMPLES))
    def test_closed_form_is_that_of_the_law(self, name: str) -> None:
        """For pure protocols p, alpha and r come from p and q; here they are worked out from every report."""
        table = listed_channel(EXAMPLES[name])
        if table:
            hidden = ways(table)
            listed = [clones for clones, _, _ in hidden]
            ((blanket, *_, found),) = bounds(EXAMPLES[name])[0]
            assert isinstance(found, Clones) and found in listed
            assert all(each.odds <= found.odds and each.r >= found.r for each in listed)
            least = min(sum(atom[0] for atom in common.atoms) for _, common, _ in hidden)
            assert sum(atom[0] for atom in blanket.atoms) <= least

    def test_refusals(self) -> None:
        mechanism = dn.DirectResponse(THREE, 1.0)
        with pytest.raises(dn.InvalidParameter, match="Delta"):
            dn.shuffled(mechanism, 10, 0.0)
        with pytest.raises(dn.InvalidParameter, match="number of people"):
            dn.shuffled(mechanism, 0, 1e-6)
        for people in (1000.0, "1000", True, math.inf):
            with pytest.raises(dn.InvalidParameter, match="number of people"):
                dn.shuffled(mechanism, people, 1e-6)  # type: ignore[arg-type]
        for delta in ("1e-6", None, math.nan):
            with pytest.raises(dn.InvalidParameter, match="Delta"):
                dn.shuffled(mechanism, 10, delta)  # type: ignore[arg-type]
        for given in ("direct-1", THREE, [mechanism, "direct-1"]):
            with pytest.raises(dn.InvalidParameter, match="at least one mechanism"):
                dn.shuffled(given, 10, 1e-6)  # type: ignore[arg-type]
        with pytest.raises(dn.InvalidParameter, match="discloses some answers"):
            dn.shuffled(dn.UtilityOptimized(dn.Unary, THREE, [0], 1.0), 10, 1e-6)
        with pytest.raises(dn.InvalidParameter, match="Clones need"):
            Clones(Fraction(3), Fraction(1, 2), Fraction(1, 4))


class TestSampling:
    @pytest.mark.parametrize("part", [Fraction(1, 2), Fraction(1, 10)])
    @pytest.mark.parametrize("epsilon", [0.05, 0.3])
    def test_silence_is_one_more_report(self, part: Fraction, epsilon: float) -> None:
        uneven = dn.FiniteChannel(THREE, 2.0, [[6, 2, 2], [2, 7, 1], [4, 3, 3]])
        for mechanism in (dn.DirectResponse(THREE, 1.0), uneven):
            shuffle = Shuffle(mechanism, 4, part)
            laws = [
                {b"silence": 1 - part, **{report: part * chance for report, chance in law(mechanism, index).items()}}
                for index in range(3)
            ]
            exact = worst_of(laws, 4, Fraction(math.exp(epsilon)))
            below = max(positive_part.mean_if_positive(atoms, 4, math.exp(epsilon)) for atoms in shuffle.references)
            assert Fraction(below) <= exact <= Fraction(shuffle.delta_at(epsilon))
            assert shuffle.delta_at(epsilon) < 3 * float(exact) + 0.01

    def test_fewer_reports_lose_less(self) -> None:
        mechanism = dn.DirectResponse(dn.Categories(range(16)), 1.0)
        whole, tenth = (dn.shuffled(mechanism, 10_000, 1e-6, taking_part=part) for part in (1, Fraction(1, 10)))
        assert tenth.at_least < tenth.epsilon < 1.02 * tenth.at_least
        assert tenth.epsilon < whole.at_least / 2
        assert "each there with probability 0.1 in secret" in str(tenth) and "probability" not in str(whole)


def losses(first: Histograms, second: Histograms) -> LossLaw:
    """The law of the loss of one histogram against another."""
    masses: dict[Fraction, Fraction] = defaultdict(Fraction)
    for report, chance in first.items():
        masses[chance / second[report]] += chance
    return LossLaw(dict(masses))


class TestSeveralShuffles:
    @pytest.mark.parametrize("times", [2, 3])
    @pytest.mark.parametrize("epsilon", [0.1, 0.6])
    def test_encloses_the_exact_composition(self, times: int, epsilon: float) -> None:
        """Of all histograms of three people, again and again: the product of their laws in fractions."""
        mechanism = dn.DirectResponse(THREE, 1.0)
        laws = [dict(law(mechanism, index).items()) for index in range(3)]
        shuffle, odds, exact = Shuffle(mechanism, 3), Fraction(math.exp(epsilon)), Fraction(0)
        for others in itertools.combinations_with_replacement(laws, 2):
            first, second = (histograms([each, *others]) for each in laws[:2])
            exact = max(exact, (losses(first, second) ** times).delta(odds))
        above = Steps([(LossLattice.above(shuffle.delta_at, 0.01, 1, 1e-12), times)]).delta(epsilon, up=True)
        tests = [positive_part.power_of_test(shuffle.references[0], 3, math.exp(k / 50)) for k in range(-60, 60)]
        below = Steps([(LossLattice.below(tests, 1e-4), times)]).delta(epsilon, up=False)
        assert below <= float(exact) <= above
        assert above < 1.5 * float(exact) + 0.02 and below > float(exact) / 2

    def test_a_law_that_is_known_is_found_again(self) -> None:
        """One bit by randomized response, 12 times: composed by transforms, and exactly."""
        law = LossLaw.worst(Fraction(math.exp(0.5)))
        exact = (law**12).delta(Fraction(math.exp(3)))
        above = LossLattice.above(lambda epsilon: float(law.delta(Fraction(math.exp(epsilon)))) * (1 + 1e-15), 0.05, 1, 0.0)
        points = [(float(p), float(q)) for p, q in [(law.masses[max(law.masses)], law.masses[min(law.masses)])]]
        below = LossLattice.below(points, 1e-5)
        assert float(exact) <= Steps([(above, 12)]).delta(3.0, up=True) < float(exact) * 1.01
        assert float(exact) * 0.99 < Steps([(below, 12)]).delta(3.0, up=False) <= float(exact)

    def test_ten_shuffles_and_two_questions(self) -> None:
        mechanism, other = dn.DirectResponse(dn.Categories(range(16)), 1.0), dn.DirectResponse(dn.Categories(range(8)), 0.5)
        one = dn.shuffled(mechanism, 1_000, 1e-6)
        ten = dn.shuffled(mechanism, 1_000, 1e-6, times=10)
        both = dn.shuffled([mechanism, other], 1_000, 1e-6)
        for loss in (ten, both):
            assert loss.at_least < loss.epsilon < 1.02 * loss.at_least
        assert one.epsilon * 3 < ten.at_least and ten.epsilon < one.epsilon * 5 and ten.local == pytest.approx(10)
        assert one.epsilon < both.epsilon < one.epsilon + dn.shuffled(other, 1_000, 1e-6).epsilon
        assert "in each of 10 shuffles" in str(ten) and "all reports of a person" in str(ten)

    def test_the_hull(self) -> None:
        points = [(Fraction(x), Fraction(y)) for x, y in ((0, 4), (1, 3), (1, 1), (2, 2), (3, 0), (4, 0), (5, 0))]
        assert lower_hull(points) == [points[0], points[2], points[4], points[6]]

    def test_refusals(self) -> None:
        mechanism = dn.DirectResponse(THREE, 1.0)
        with pytest.raises(dn.InvalidParameter, match="taking part"):
            dn.shuffled(mechanism, 10, 1e-6, taking_part=0)
        with pytest.raises(dn.InvalidParameter, match="at least one mechanism"):
            dn.shuffled([], 10, 1e-6)
        for times in (0, 1.5):
            with pytest.raises(dn.InvalidParameter, match="times"):
                dn.shuffled(mechanism, 10, 1e-6, times=times)  # type: ignore[arg-type]
        for part in (math.nan, 1.1, "1/2"):
            with pytest.raises(dn.InvalidParameter, match="taking part"):
                dn.shuffled(mechanism, 10, 1e-6, taking_part=part)  # type: ignore[arg-type]

    def test_where_no_lower_bound_is_left_the_search_for_one_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As with a billion people, where the errors of the transform are larger than what it measures."""
        asked = list[float]()

        def nothing(atoms: object, people: int, power: float, rough: bool = False) -> float:
            asked.append(power)
            return 0.0

        monkeypatch.setattr(shuffle, "mean_if_positive", nothing)
        assert dn.shuffled(dn.DirectResponse(THREE, 1.0), 100_000, 1e-6).at_least < 1e-8 and len(asked) < 100

    def test_beyond_what_is_counted_nothing_is_said_from_below(self) -> None:
        assert Shuffle(dn.DirectResponse(THREE, 1.0), MOST + 1).below(1e-6, 1.0) == (0.0, ())


@pytest.mark.parametrize("n", [2, 50, 1_000, 1_000_000])
def test_a_delta_too_small_for_a_float_is_not_nothing(n: int) -> None:
    """Below the epsilon of one report, everybody else may have sent the report that gives the person away."""
    mechanism = dn.DirectResponse(dn.Categories(range(16)), 1.0)
    assert 0 < dn.shuffled_delta(mechanism, n, 0.9) < 1
