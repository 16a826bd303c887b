"""The worst population before binary randomized response, against exact fractions and plain sums."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import binom

import oracles
from claims import exact_shuffle
from oracles import neighbours
from shufflelib import randomizers, shuffle
from shufflelib.numerics.binary_rr_all_datasets import BinaryPopulations
from shufflelib.shuffling import WorstPopulation, binary_rr_exact, blanket_profile

ODDS = (F(101, 100), F(3, 2), F(3), F(20), F(1000))  # e^eps0
SHARES = (F(0), F(1, 100), F(1, 10), F(1, 3), F(2, 3), F(9, 10))  # of e^eps0 - 1 in e^eps - 1


def truth(odds, ratio, s, others):
    """Return the exact hockey-stick divergence where s of the others hold 1."""
    zero, one = exact_shuffle.randomized_response(odds, 2)
    crowd = [one] * s + [zero] * (others - s)
    pair = neighbours.beside(*(oracles.shuffled_distribution([own, *crowd]) for own in (zero, one)))
    return oracles.hockey_stick(pair, ratio)


def cases():
    for odds in ODDS:
        for share in SHARES:
            yield odds, 1 + (odds - 1) * share


def test_every_single_population_is_enclosed():
    for odds, ratio in cases():
        for others in (1, 4, 9):
            values = BinaryPopulations(math.log(odds), [math.log(ratio)], others)
            ends = values.one_by_one([0], [0], [others])[2]
            unit = math.exp(values.log_unit[0])
            rounding = 1e-14 * float(odds / (odds - ratio))
            for s in range(others + 1):
                exact = float(truth(odds, ratio, s, others))
                assert ends.lower[s] * unit <= exact * (1 + rounding)
                assert ends.upper[s] * unit >= exact * (1 - rounding)


UNLIKE = (  # chances of a one, of zeros and of ones
    (F(1, 4), F(1, 2)),
    (F(3, 5), F(9, 10)),
    (F(1, 10), F(9, 10)),
    (F(1, 1000), F(1, 2)),
    (F(1, 2), F(501, 1000)),
    (F(98, 100), F(99, 100)),
    (F(1, 10**6), F(1, 10**4)),
)


def losses(a, b):
    """Return the largest losses of the reports zero and one."""
    return math.log((1 - a) / (1 - b)), math.log(b / a)


@pytest.mark.parametrize(("a", "b"), UNLIKE)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_unlike_rows_against_every_dataset(a, b, n):
    first, second = losses(a, b)
    pair = WorstPopulation(first, n, second)
    assert pair.reversed.reversed.max_privacy_loss == first
    rows = [[1 - a, a], [1 - b, b]]
    for share in (F(0), F(1, 100), F(1, 3), F(9, 10)):
        for own, one in ((0, pair), (1, pair.reversed)):
            largest = (1 - a) / (1 - b) if own == 0 else b / a
            ratio = 1 + (largest - 1) * share
            crowds = [[rows[1]] * s + [rows[0]] * (n - 1 - s) for s in range(n)]
            exact = float(max(
                oracles.hockey_stick(neighbours.beside(*(
                    oracles.shuffled_distribution([rows[i], *crowd]) for i in (own, 1 - own))), ratio)
                for crowd in crowds
            ))  # fmt: skip
            found = one.log_hockey_stick(math.log(ratio)).exp()
            doubt = 1e-14 * float(largest / (largest - ratio)) + 1e-13 / float(largest - 1)
            assert found.lower <= exact * (1 + doubt) and exact * (1 - doubt) <= found.upper
            assert found.upper <= found.lower * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize(("a", "b"), [UNLIKE[0], UNLIKE[1], UNLIKE[2], (F(1, 50), F(1, 2))])
@pytest.mark.parametrize("n", [1700, 10**5, 10**9])
def test_many_users_of_unlike_rows(a, b, n):
    first, second = losses(a, b)
    pair = WorstPopulation(first, n, second)
    found = pair.epsilon(1e-6)
    assert found.upper <= found.lower * (1 + 1e-6)
    table = randomizers.from_pmf([[float(1 - a), float(a)], [float(1 - b), float(b)]])
    wide, known = blanket_profile(table, n).epsilon(1e-6), shuffle(table, n).epsilon(1e-6)
    assert wide.lower * (1 - 1e-6) <= known.lower <= known.upper <= wide.upper
    assert known.upper == pytest.approx(found.upper, rel=1e-9)
    if n < 2000 and a == F(1, 4):
        ratio = math.exp(found.upper)
        known = [plain(float(one), float(other), ratio, n).max() for one, other in ((a, b), (1 - b, 1 - a))]
        assert max(known) == pytest.approx(1e-6, rel=1e-6)


def test_unlike_rows_of_which_one_is_rare_keep_the_blanket():
    table = randomizers.from_pmf([[1 - 1e-4, 1e-4], [0.5, 0.5]])
    assert not WorstPopulation(*losses(1e-4, 0.5)[:1], 10**6, losses(1e-4, 0.5)[1]).resolved
    for n, exact in ((1000, True), (10**6, False)):
        got, wide = shuffle(table, n).epsilon(1e-6), blanket_profile(table, n).epsilon(1e-6)
        assert got.upper <= wide.upper * (1 + 1e-9) and got.upper <= got.lower * (1 + 1e-4)
        assert isinstance(shuffle(table, n).dominating_pairs[0], WorstPopulation) == exact
    apart = randomizers.from_pmf([[0.999, 0.001], [0.9, 0.1]])
    got, wide = shuffle(apart, 10**5).epsilon(0.01), blanket_profile(apart, 10**5).epsilon(0.01)
    assert got.upper <= wide.upper * (1 + 1e-9)


def plain(a, b, ratio, n):
    """Return δ of every population by convolving binomial distributions in floating point."""
    found = []
    for s in range(n):
        distribution = np.convolve(
            binom.pmf(np.arange(s + 1), s, b), binom.pmf(np.arange(n - s), n - 1 - s, a)
        )
        part = (1 - a - ratio * (1 - b)) * np.append(distribution, 0.0)
        part -= (ratio * b - a) * np.append(0.0, distribution)
        found.append(part[part > 0].sum())
    return np.array(found)


@pytest.mark.parametrize(("eps0", "eps"), [(0.1, 0.008), (1.0, 0.0), (1.0, 0.12), (4.0, 1.5)])
def test_a_thousand_users_against_plain_convolutions(eps0, eps):
    known = plain(1 / (1 + math.exp(eps0)), 1 / (1 + math.exp(-eps0)), math.exp(eps), 1000)
    values = BinaryPopulations(eps0, [eps], 999)
    which, s, ends = values.one_by_one([0, 0], [0, 300], [299, 999])
    assert np.array_equal(s, np.arange(1000.0)) and not which.any()
    unit = math.exp(values.log_unit[0])
    assert np.all(ends.lower * unit <= known * (1 + 1e-11))
    assert np.all(ends.upper * unit >= known * (1 - 1e-11))
    assert np.all(ends.upper * unit - known <= 1e-8 * known.max())


@pytest.mark.parametrize("seed", range(40))
def test_a_piece_is_bounded_by_no_less_than_its_populations(seed):
    rng = np.random.default_rng(seed)
    others = int(10 ** rng.uniform(1, 4))
    eps0 = float(np.exp(rng.uniform(-3, 2)))
    deviation = 2 * math.cosh(eps0 / 2) / math.sqrt(others)
    values = BinaryPopulations(eps0, eps0 * np.minimum(0.95, rng.uniform(0, 6, 2) * deviation), others)
    length = int(rng.integers(1, max(2, others // 20)))
    first = rng.integers(0, others - length + 1, 5)
    bound, middle = values.in_cells(np.array([0, 0, 0, 1, 1]), first, first + length - 1)
    for which, start, end, inside in zip((0, 0, 0, 1, 1), first, bound, middle, strict=True):
        assert end >= values.one_by_one([which], [start], [start + length - 1])[2].lower.max()
        assert inside <= end


@pytest.mark.parametrize("others", [1999, 2000, 30_000])
@pytest.mark.parametrize(("eps0", "z"), [(0.01, 2.0), (1.0, 0.0), (1.0, 5.0), (6.0, 4.0)])
def test_listing_and_cutting_into_pieces_overlap(others, eps0, z, monkeypatch):
    values = BinaryPopulations(eps0, [min(eps0 * 2 * z / math.sqrt(others), 0.9 * eps0)], others)
    listed = binary_rr_exact._listed(values, [0], [0], [others])
    monkeypatch.setattr(binary_rr_exact, "FEW", 1000)
    cut = binary_rr_exact._search(values, np.array([0]), others, 1e-6)
    assert max(listed[0], cut[0]) <= min(listed[1], cut[1])
    assert cut[1] - cut[0] <= 1e-4 * listed[0]


@pytest.mark.parametrize("others", [binary_rr_exact.FEW, 2023, 30_000, 10**12])
def test_no_population_is_left_out_of_the_pieces(others, monkeypatch):
    """The first pieces are all of 0 … n − 1, and what is cut falls into as many populations as before."""
    seen = []

    def in_cells(self, which, first, last, asked=BinaryPopulations.in_cells):
        seen.append((first, last))
        return asked(self, which, first, last)

    monkeypatch.setattr(BinaryPopulations, "in_cells", in_cells)
    values = BinaryPopulations(1.0, [3.0 / math.sqrt(others)], others)
    binary_rr_exact._search(values, np.array([0]), others, 1e-6)
    first, last = seen[0]
    assert first[0] == 0 and last[-1] == others
    assert np.array_equal(first[1:], last[:-1] + 1.0) and np.all(first <= last)
    for i, j in ((0, 0), (5, 7), (5, 8), (100, 10**12)):
        which, low, high = binary_rr_exact._cut(np.array([3]), np.array([i]), np.array([j]))
        assert np.all(which == 3)
        assert low[0] == i and high[-1] == j and np.array_equal(low[1:], high[:-1] + 1)


@pytest.mark.parametrize(
    ("eps0", "n"), [(1.0, 1), (1.0, 30), (0.3, 1490), (4.0, 10_000), (1.0, 10**9), (700.0, 9)]
)
def test_an_array_is_its_values(eps0, n):
    """Among them ε that need no sum, beside others that do, and more of them than are searched at once."""
    pair = WorstPopulation(eps0=eps0, n=n)
    few = np.linspace(0.0, min(eps0, 12.0 * math.cosh(0.5 * min(eps0, 9.0)) / math.sqrt(n)), 24)
    eps = np.concatenate([[2.0 * eps0, eps0, eps0 * (1.0 - 1e-12)], few[::-1], [0.5 * eps0]])
    found = pair.log_hockey_stick(eps, 1e-5)
    for i, x in enumerate(eps.tolist()):
        assert pair.log_hockey_stick(x, 1e-5) == (found.lower[i], found.upper[i])


def test_the_profile_keeps_the_attack_below_and_the_curve_above():
    profile = shuffle(randomizers.binary_rr(eps0=1.0), n=40)
    kinds = [type(pair).__name__ for pair in (*profile.dominating_pairs, *profile.attack_pairs)]
    assert kinds == ["WorstPopulation", "BlanketPair"]
    (worst,) = profile.dominating_pairs
    assert worst.reversed is worst and worst.max_privacy_loss == 1.0
    assert profile.attained_pairs == profile.dominating_pairs
    generic = shuffle(randomizers.generic(eps0=1.0), n=40)
    assert generic.attained_pairs == generic.attack_pairs
    wide = blanket_profile(randomizers.generalized_rr(eps0=1.0, d=2), n=40)
    for got, other in ((profile.renyi(3.0), wide.renyi(3.0)), (profile.delta(0.3), wide.delta(0.3))):
        assert other.lower * (1 - 1e-5) <= got.lower <= got.upper <= other.upper * (1 + 1e-5)
    got, other = profile.tradeoff(0.1), wide.tradeoff(0.1)
    assert other.lower - 1e-6 <= got.lower <= got.upper <= other.upper + 1e-6


def test_inconsistent_ends_become_the_trivial_bound(monkeypatch):
    pair = WorstPopulation(eps0=1.0, n=601)
    good = pair.log_hockey_stick(0.1)
    monkeypatch.setattr(binary_rr_exact, "_search", lambda *_: (2.0, 1.0))
    found = pair.log_hockey_stick(0.1)
    assert found.lower == -math.inf and good.upper < found.upper < 0.0
