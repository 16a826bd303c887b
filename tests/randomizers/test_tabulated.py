"""Mechanisms given by the caller as tables of probabilities.

The truth for a table is counted, not computed: entries are whole numbers over a common denominator, the
histogram distributions of all datasets are products of linear forms in int64, and δ at a rational e^ε is a
ratio of integers.  Nothing here is shared with the package.
"""

import itertools
import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import oracles
from shufflelib import randomizers, shuffle
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.shuffling import BlanketPair
from shufflelib.shuffling.worst_of_pairs import WorstPair

# ---------------------------------------------------------------- all datasets, in integers


def histogram_distributions(table, n):
    """Return {multiset of n inputs: integer weights of all histograms}, the weights over denominator^n."""
    inputs, outputs = table.shape
    stride = (n + 1) ** np.arange(outputs)
    distributions = {(): np.eye(1, (n + 1) ** outputs, dtype=np.int64)[0]}
    for size in range(1, n + 1):
        for dataset in itertools.combinations_with_replacement(range(inputs), size):
            shorter, distribution = distributions[dataset[:-1]], np.zeros((n + 1) ** outputs, dtype=np.int64)
            for y in range(outputs):
                distribution[stride[y] :] += table[dataset[-1], y] * shorter[: distribution.size - stride[y]]
            distributions[dataset] = distribution
    return {dataset: distribution for dataset, distribution in distributions.items() if len(dataset) == n}


def worst_delta(table, n, ratio):
    """Return the exact δ(log ratio) over all neighbouring datasets of n users."""
    distributions, inputs = histogram_distributions(table, n), range(len(table))
    worst = 0
    for others in itertools.combinations_with_replacement(inputs, n - 1):
        rows = np.array([distributions[tuple(sorted((*others, x)))] for x in inputs])
        gaps = ratio.denominator * rows[:, None, :] - ratio.numerator * rows[None, :, :]
        worst = max(worst, int(np.maximum(gaps, 0).sum(axis=2).max()))
    return F(worst, ratio.denominator * int(table[0].sum()) ** n)


def random_table(rng, inputs, outputs, denominator, zeros=False):
    """Draw whole numbers that sum to the denominator in every row."""
    rows = []
    for _ in range(inputs):
        weights = rng.dirichlet(np.full(outputs, rng.choice([0.3, 1.0, 4.0])))
        if zeros:
            weights *= rng.random(outputs) < 0.7
            weights = weights if weights.sum() > 0.0 else np.eye(outputs)[rng.integers(outputs)]
        floor = 0 if zeros else 1
        row = floor + np.floor(weights / weights.sum() * (denominator - floor * outputs)).astype(np.int64)
        row[rng.integers(outputs)] += denominator - row.sum()
        rows.append(row)
    return np.array(rows)


def sound(bracket, truth, ratio):
    """Return whether a bracket holds for the true δ at e^ε = ratio; ε itself is rounded."""
    rounding = ratio * F(1, 10**15)
    return F(bracket.lower) <= truth + rounding and F(bracket.upper) >= truth - rounding


KINDS = ("positive", "zeros", "equal rows", "nearly equal rows")
RATIOS = (F(1), F(21, 20), F(3, 2), F(3), F(20))  # the last beyond the largest loss of many tables


def case(seed):
    """Return (table, n, ratio), a random small mechanism."""
    rng = np.random.default_rng(seed)
    inputs, outputs = int(rng.choice([2, 3, 4], p=[0.5, 0.35, 0.15])), int(rng.integers(2, 5))
    kind, n = KINDS[seed % 4], int(rng.integers(1, 7))
    table = random_table(rng, inputs, outputs, int(rng.integers(8, 33)), zeros=kind == "zeros")
    if kind == "equal rows":
        table[1] = table[0]
    if kind == "nearly equal rows":
        gain, loss = rng.choice(outputs, 2, replace=False)
        table[1], table[1, loss], table[1, gain] = table[0], table[0, loss] - 1, table[0, gain] + 1
    return table, n, RATIOS[int(rng.integers(5))]


def mechanism(table):
    return randomizers.from_pmf(table / table.sum(axis=1, keepdims=True))


CASES, BLOCKS = 2000, 20


# ---------------------------------------------------------------- faults that must be caught


def caught(bend):
    """Return how many of forty positive cases reject the bent profile, none of which rejects the good one."""
    found = 0
    for seed in range(0, 160, 4):
        table, n, ratio = case(seed)
        n = min(n, 4)
        truth, profile = worst_delta(table, n, ratio), shuffle(mechanism(table), n=n)
        eps = math.log(ratio)
        assert sound(profile.delta(eps), truth, ratio)
        found += not sound(bend(profile, table, n).delta(eps), truth, ratio)
    return found


# ---------------------------------------------------------------- points of reference

K_RR = {  # (eps0, n): 10 options upper, lower; 100 options upper, lower; δ = 1e-6
    (0.1, 10**3): (0.004197, 0.004197, 0.001179, 0.001179),
    (0.1, 10**4): (0.001160, 0.001160, 0.000310, 0.000310),
    (0.1, 10**6): (0.000077, 0.000077, 0.000017, 0.000017),
    (0.5, 10**3): (0.029652, 0.029645, 0.008905, 0.008905),
    (0.5, 10**4): (0.008494, 0.008494, 0.002463, 0.002463),
    (1.0, 10**3): (0.080162, 0.080132, 0.025471, 0.025470),
    (1.0, 10**4): (0.023253, 0.023253, 0.007183, 0.007183),
    (1.0, 10**5): (0.006639, 0.006639, 0.002007, 0.002007),
    (1.0, 10**6): (0.001854, 0.001854, 0.000544, 0.000544),
    (2.0, 10**3): (0.272767, 0.272649, 0.101209, 0.101199),
    (2.0, 10**4): (0.079804, 0.079802, 0.029209, 0.029209),
    (2.0, 10**6): (0.006597, 0.006597, 0.002346, 0.002346),
    (4.0, 10**3): (1.527445, 1.526898, 0.761217, 0.761164),
    (4.0, 10**4): (0.380493, 0.380489, 0.233739, 0.233738),
    (4.0, 10**5): (0.109909, 0.109909, 0.068431, 0.068431),
    (4.0, 10**6): (0.031882, 0.031882, 0.019792, 0.019792),
}
LAPLACE = {
    (0.1, 10**3): (None, 0.009521),
    (1.0, 10**3): (0.13020, 0.11047),
    (1.0, 10**4): (0.03784, 0.03130),
    (2.0, 10**3): (0.32567, 0.26013),
    (2.0, 10**4): (0.09460, 0.07186),
    (4.0, 10**3): (1.2128, 1.0220),
    (4.0, 10**4): (0.32810, 0.24451),
}
GAUSSIAN = {
    (1.0, 10**3): (0.21223, 0.17172),
    (2.0, 10**4): (0.02035, 0.01706),
    (5.0, 10**4): (0.00641, 0.00591),
}
POINTS = [
    (f"{d}-RR", randomizers.generalized_rr(eps0=eps0, d=d), n, *ends[2 * k : 2 * k + 2], 1e-6)
    for k, d in enumerate((10, 100))
    for (eps0, n), ends in K_RR.items()
]
POINTS += [("Laplace", randomizers.laplace(eps0=eps0), n, *ends, 1e-5) for (eps0, n), ends in LAPLACE.items()]
POINTS += [("Gaussian", randomizers.gaussian(sigma=s), n, *ends, 1e-5) for (s, n), ends in GAUSSIAN.items()]


@pytest.mark.parametrize("point", POINTS, ids=lambda p: f"{p[0]} {getattr(p[1], 'eps0', '')} {p[2]}")
def test_points_of_reference(point):
    """Four digits, or all that are printed; and each end on its side."""
    _, randomizer, n, upper, lower, unit = point
    bracket = shuffle(randomizer, n=n).epsilon(1e-6)
    if upper is not None:
        assert upper * (1 - 4e-5) - unit <= bracket.upper <= upper * (1 + 4e-5) + unit
        assert bracket.upper >= lower * (1 - 4e-5) - unit
    assert lower * (1 - 4e-5) - unit <= bracket.lower <= lower * (1 + 4e-5) + unit


@pytest.mark.parametrize(("eps0", "d", "n"), [(1.0, 10, 10**3), (4.0, 5, 10**4), (2.0, 12, 10**6)])
def test_a_table_of_randomized_response_is_randomized_response(eps0, d, n):
    odds = np.where(np.eye(d), math.exp(eps0), 1.0)
    built = shuffle(randomizers.from_pmf(odds / odds.sum(axis=1, keepdims=True)), n=n)
    named = shuffle(randomizers.generalized_rr(eps0=eps0, d=d), n=n)
    mine, theirs = built.epsilon(1e-6), named.epsilon(1e-6)
    assert mine.upper == pytest.approx(theirs.upper, rel=1e-5)
    assert mine.lower == pytest.approx(theirs.lower, rel=1e-5)
    assert built.renyi(4.0).upper == pytest.approx(named.renyi(4.0).upper, rel=1e-6)
    assert len(built.dominating_pairs) == 1 and built.randomizer.eps0 == pytest.approx(eps0, rel=1e-12)


# ---------------------------------------------------------------- rare outputs, tiny δ

RARE = [[F(1, 3), F(2, 3) - F(1, 10**9), F(1, 10**9)], [F(2, 3), F(1, 3) - F(1, 10**21), F(1, 10**21)]]


@pytest.mark.parametrize("n", [2, 7, 30])
@pytest.mark.parametrize("ratio", [F(3, 2), F(4), F(1000), F(10**7), F(10**10)])
def test_rare_outputs_are_bracketed(n, ratio):
    """One output a billion times likelier under one input: no exponential moment copes with it."""
    eps = math.log(ratio)
    for x, others in ((0, 1), (1, 1), (0, 0)):
        distribution = LikelihoodRatios.from_masses(*np.array([RARE[x], RARE[1 - x], RARE[others]], float))
        bracket = BlanketPair(distribution, n).log_hockey_stick(eps)
        truth = float(oracles.shuffled_hockey_stick(RARE, x, 1 - x, (others,) * (n - 1), ratio))
        assert math.exp(bracket.lower) <= truth * (1 + 1e-10) + 1e-25
        assert math.exp(bracket.upper) >= truth * (1 - 1e-10) - 1e-25
        assert bracket.upper - bracket.lower < 0.7 or truth < 1e-12


def one_far_report(sigma, n, eps):
    """Return E(G + (n-1) E G)_+ under the blanket of N(0, σ²), N(1, σ²): Jensen's lower end of the upper end.

    There :math:`G + (n-1)(1-E) > 0` is :math:`R_0 > c w`, far to the left of 1/2, where w = R_1.
    """
    with mpmath.workdps(40):
        c = mpmath.exp(eps) + (n - 1) * mpmath.expm1(eps)
        end = mpmath.mpf(1) / 2 - sigma**2 * mpmath.log(c)
        return mpmath.log(mpmath.ncdf(end / sigma) - c * mpmath.ncdf((end - 1) / sigma))


@pytest.mark.parametrize(("sigma", "n", "eps"), [(1.0, 10**3, 14.8), (1.0, 10**8, 3.4), (0.5, 10**4, 12.0)])
def test_gaussian_noise_means_something_at_tiny_delta(sigma, n, eps):
    """Between 1e-20 and 1e-100 one far report decides."""
    profile = shuffle(randomizers.gaussian(sigma=sigma), n=n)
    (reference,) = profile.dominating_pairs
    bracket, truth = reference.log_hockey_stick(eps), one_far_report(sigma, n, eps)
    assert -240.0 < truth < -45.0
    assert truth - 0.1 * abs(math.log(10)) <= bracket.upper <= truth + 4.0
    assert truth - 4.0 <= bracket.lower <= bracket.upper
    assert max(pair.log_worst(eps).lower for pair in profile.attack_pairs) >= 1.2 * truth


def test_gaussian_epsilon_at_tiny_delta():
    bracket = shuffle(randomizers.gaussian(sigma=5.0), n=10**4).epsilon(1e-100)
    assert 0.0 < bracket.lower < bracket.upper < 1.15 * bracket.lower


# ---------------------------------------------------------------- tables as arguments


def test_table_is_described_as_it_is():
    built = randomizers.from_pmf([[0.5, 0.25, 0.25], [0.2, 0.3, 0.5], [0.25, 0.5, 0.25]])
    assert built.eps0 == pytest.approx(math.log(2.5)) and built.eps0 >= math.log(2.5)
    assert built.p == built.q == pytest.approx(2.5)
    assert built.beta == pytest.approx(0.3)
    np.testing.assert_allclose(built.blanket(), [0.2, 0.25, 0.25])
    np.testing.assert_allclose(built.pmf()[1], [0.2, 0.3, 0.5])
    assert len(built.input_pairs()) == 3 and "3 inputs" in repr(built)
    zero = randomizers.from_pmf([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]])
    assert zero.eps0 == zero.p == math.inf and zero.beta == 0.25
    assert shuffle(zero, n=10).delta(0.0).upper >= 0.25


def test_rows_that_miss_one_are_charged():
    good = [[0.5, 0.5], [0.25, 0.75]]
    short = [[0.5, 0.5 - 1e-10], [0.25, 0.75]]
    sharp, blunt = (shuffle(randomizers.from_pmf(rows), n=3).delta(0.1) for rows in (good, short))
    assert blunt.lower < sharp.lower and sharp.upper < blunt.upper
    assert blunt.upper - blunt.lower >= 1e-10


def test_outputs_that_some_input_never_reports_cost_no_more_than_they_must():
    """Every column has a zero, so the blanket is empty and only the local guarantee is left."""
    rows = [[F(1, 2), F(1, 2), F(0)], [F(0), F(1, 2), F(1, 2)], [F(1, 2), F(0), F(1, 2)]]
    bracket = shuffle(randomizers.from_pmf(np.array(rows, float)), n=2).delta(0.3)
    assert bracket.upper == pytest.approx(1 - math.exp(0.3) / 2 + 0.5 * (math.exp(0.3) - 1), abs=1e-9)


def test_everything_else_follows_from_a_table():
    rng = np.random.default_rng(5)
    profile = shuffle(randomizers.from_pmf(rng.dirichlet(np.full(3, 5.0), 2)), n=1000)
    epsilon = profile.epsilon(1e-6)
    assert 0.0 < epsilon.lower < epsilon.upper < profile.randomizer.eps0
    assert profile.delta(epsilon.upper).upper <= 1e-6
    assert 0.0 < profile.renyi(2.0).lower <= profile.renyi(2.0).upper < epsilon.upper**2 * 10
    assert 0.9 < profile.tradeoff(0.05).lower / 0.95 <= profile.tradeoff(0.05).upper / 0.95 <= 1.0
    assert profile.subsample(rate=0.1).epsilon(1e-6).upper < epsilon.upper
    assert profile.compose(rounds=4).epsilon(1e-6).upper > epsilon.upper


def test_table_runs_and_estimates():
    rng = np.random.default_rng(11)
    built = randomizers.from_pmf([[0.6, 0.3, 0.1, 0.0], [0.2, 0.5, 0.2, 0.1], [0.1, 0.1, 0.2, 0.6]])
    x = rng.choice(3, size=200_000, p=[0.5, 0.3, 0.2])
    reports = built.sample(x, rng)
    for item in range(3):
        observed = np.bincount(reports[x == item], minlength=4) / (x == item).sum()
        np.testing.assert_allclose(observed, built.pmf()[item], atol=0.01)
    np.testing.assert_allclose(built.estimate(reports), [0.5, 0.3, 0.2], atol=0.02)
    with pytest.raises(ValueError, match="^estimate"):
        randomizers.from_pmf([[0.5, 0.5], [0.25, 0.75], [0.4, 0.6]]).estimate([0, 1])
    with pytest.raises(ValueError, match="^x"):
        built.sample([3], rng)
    with pytest.raises(ValueError, match="^reports"):
        built.estimate([4])


@pytest.mark.parametrize(
    "matrix",
    [
        None, "rows", [], [0.5, 0.5], [[1.0]], [[0.5, 0.5]], [[0.5, 0.5], [1.0]], [[0.5, 0.5], [0.5, 0.6]],
        [[0.5, 0.5], [-0.5, 1.5]], [[0.5, 0.5], [math.nan, 1.0]], [[0.5, 0.5], ["0.5", "0.5"]],
        [[0.5, 0.5], [math.inf, 0.0]], [[True, False], [False, True]], [[[0.5, 0.5]], [[0.5, 0.5]]],
    ],
    ids=repr,
)  # fmt: skip
def test_hostile_tables(matrix):
    with pytest.raises((ValueError, TypeError), match="matrix"):
        randomizers.from_pmf(matrix)


def test_no_promising_attack_is_left_out():
    """The 24 kept contain the best of all 450, for few users and for many."""
    rows = np.random.default_rng(3).dirichlet(np.full(8, 2.0), 6)
    built = randomizers.from_pmf(rows)
    for n, eps in ((2, 0.5), (30, 0.5), (10**6, 0.004)):
        kept = max(
            BlanketPair(attack, n).log_worst(eps, 1e-3).upper
            for pair in built.input_pairs()
            for attack in pair.attacks
        )
        every = max(
            BlanketPair(LikelihoodRatios.from_masses(rows[i], rows[j], rows[x]), n).log_worst(eps, 1e-3).lower
            for i, j in itertools.combinations(range(6), 2)
            for x in range(6)
        )
        assert every <= kept + 5e-3


# ---------------------------------------------------------------- many pairs


@pytest.mark.parametrize(("n", "eps"), [(1, 0.7), (5, 0.4), (1000, 0.0), (1000, 0.3), (10**8, 0.0009)])
@pytest.mark.parametrize("zeros", [False, True])
def test_the_worst_of_many_pairs_is_the_largest_of_all(n, eps, zeros):
    rows = np.random.default_rng(n).dirichlet(np.full(6, 1.5), 8)
    rows = np.where(rows < 0.04 * zeros, 0.0, rows)
    own = randomizers.from_pmf(rows / rows.sum(axis=1, keepdims=True))
    pairs = [BlanketPair(pair.blanket, n) for pair in own.input_pairs()]
    worst = WorstPair(pairs)
    every = [pair.log_worst(eps) for pair in pairs]
    found = worst.log_hockey_stick(eps)
    assert found.lower == max(one.lower for one in every)
    assert max(one.upper for one in every) <= found.upper <= max(one.upper for one in every) + 1e-5
    one_by_one = [one.log_hockey_stick(eps) for one in worst.directions]
    assert all(ceiling >= one.lower for ceiling, one in zip(worst.ceilings(eps), one_by_one, strict=True))
    assert worst.max_privacy_loss == max(max(p.max_privacy_loss, p.reversed.max_privacy_loss) for p in pairs)


def test_few_of_many_pairs_are_computed(monkeypatch):
    rows = np.random.default_rng(3).dirichlet(np.full(8, 2.0), 10)
    pairs = [BlanketPair(pair.blanket, 1000) for pair in randomizers.from_pmf(rows).input_pairs()]
    worst = WorstPair(pairs)
    compute, asked = BlanketPair.log_hockey_stick, []

    def counted(pair, eps, tolerance):
        asked.append(tolerance)
        return compute(pair, eps, tolerance)

    monkeypatch.setattr(BlanketPair, "log_hockey_stick", counted)
    worst.log_hockey_stick(0.1, 1e-6)
    assert len(worst.directions) == 90
    assert 1 <= asked.count(1e-6) <= 4 < len(asked)


def test_few_pairs_are_not_gathered():
    own = randomizers.from_pmf([[0.5, 0.5], [0.25, 0.75]])
    pairs = shuffle(own, n=10).dominating_pairs
    assert {type(pair) for pair in pairs} == {BlanketPair} and len(pairs) == len(own.input_pairs())


# ---------------------------------------------------------------- as parts of something larger


def test_tables_are_no_components_because_equal_inputs_may_be_the_worst():
    """The first component: a third input whose ratio varies more than any difference does."""
    table = randomizers.from_pmf([[0.5, 0.25, 0.25], [0.5, 0.2, 0.3], [0.1, 0.45, 0.45]])
    sampled = randomizers.poisson_sampled(table, rate=0.5)
    for build in (
        lambda part: randomizers.mixture([part, randomizers.binary_rr(eps0=1.0)], [0.5, 0.5]),
        lambda part: randomizers.joint([part, randomizers.binary_rr(eps0=1.0)]),
    ):
        for part in (table, sampled):
            with pytest.raises(ValueError, match="from_pmf"):
                build(part)
    assert shuffle(sampled, n=100).epsilon(1e-6).upper < shuffle(table, n=100).epsilon(1e-6).upper
