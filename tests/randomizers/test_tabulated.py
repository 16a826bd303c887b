"""Mechanisms given by the caller as tables of probabilities; `test_contract.py` has others in fractions."""

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


@pytest.mark.parametrize(("eps0", "d", "n"), [(1.0, 10, 10**3), (4.0, 5, 10**4)])
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


@pytest.mark.parametrize("n", [2, 15])
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
