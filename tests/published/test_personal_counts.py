"""The published counts of two symbols: the definition enumerated, equal budgets, what the pair misses."""

import math

import numpy as np
import pytest

import oracles
from shufflelib.profiles.pairs import Gaussian
from shufflelib.published import personalized
from shufflelib.published.closed_form import OutOfRegime
from shufflelib.shuffling import VariationRatioPair


def enumerated(eps0, delta0, eps):
    """Return δ of (ρ₀, ρ₁) from the numbers of all symbols."""
    chances = [(1 - d) / (1 + math.exp(e)) for e, d in zip(eps0, delta0, strict=True)]
    *rest, own = [(q, q, 1 - 2 * q) for q in chances[:-1]] + [chances[-1]]
    pairs = (own * math.exp(eps0[-1]), own), (own, own * math.exp(eps0[-1]))
    worlds = [oracles.shuffled_distribution([*rest, (*pair, delta0[-1])]) for pair in pairs]
    p, q = worlds
    return math.fsum(max(p[key] - math.exp(eps) * q.get(key, 0.0), 0.0) for key in p)


def test_delta_is_that_of_the_enumerated_counts():
    rng = np.random.default_rng(5)
    for _ in range(40):
        n = rng.integers(2, 7)
        eps0, delta0 = rng.uniform(0.0, 4.0, n), rng.choice([0.0, 1e-3, 0.5], n)
        eps = rng.uniform(0.0, 4.0)
        found = personalized.counts_delta_gspa24(eps0=eps0, delta0=delta0, eps=eps)
        assert found == pytest.approx(enumerated(eps0, delta0, eps), abs=1e-13)


@pytest.mark.parametrize("n", [2, 100, 10_000])
def test_equal_budgets_are_the_pair_of_the_stronger_clones(n):
    pair = VariationRatioPair(n=n, p=math.e, beta=math.tanh(0.5), q0=math.e)
    eps0 = np.ones(n)
    for eps in (0.0, 0.01, 0.1):
        found = personalized.counts_delta_gspa24(eps0=eps0, eps=eps)
        ends = pair.delta(eps)
        assert ends.lower * (1 - 1e-8) - 1e-14 <= found <= ends.upper * (1 + 1e-8) + 1e-14
    ends = pair.epsilon(1e-6)
    assert personalized.counts_epsilon_gspa24(eps0=eps0, delta=1e-6) == pytest.approx(ends.upper, rel=1e-6)


def test_epsilon_is_the_inverse_and_never_above_the_own_budget():
    eps0 = np.r_[np.full(500, 0.1), np.full(500, 1.0)]
    eps = personalized.counts_epsilon_gspa24(eps0=eps0, delta=1e-5)
    assert personalized.counts_delta_gspa24(eps0=eps0, eps=eps) == pytest.approx(1e-5, rel=1e-6)
    assert personalized.counts_epsilon_gspa24(eps0=[0.0, 1.0], delta=1e-300) <= 1.0
    assert (
        personalized.counts_epsilon_gspa24(eps0=eps0[::-1], delta=1e-5) < eps
    )  # the last one's budget counts
    assert personalized.counts_delta_gspa24(eps0=eps0, eps=1.0) == 0.0
    assert personalized.counts_epsilon_gspa24(eps0=[1.0, 0.0], delta=0.1) == 0.0


def test_unequal_slots_reveal_more_than_the_counts():
    claimed = personalized.counts_delta_gspa24(eps0=[0.0] * 5 + [math.log(99)], eps=math.log(5))
    first = np.array([0.99, 0.01])  # the first slot's report; the user who changes has it one time in six
    moved = (5 * first + first[::-1]) / 6
    truth = max(np.maximum(p - 5 * q, 0.0).sum() for p, q in ((first, moved), (moved, first)))
    assert claimed == pytest.approx(0.029375) and truth == pytest.approx(0.1233333)


def test_the_failure_of_a_slot_is_charged_nothing():
    reveals = np.full(5, 1e-3)  # reports that reveal the value with this probability have δ = 1e-3
    assert personalized.counts_delta_gspa24(eps0=np.zeros(5), delta0=reveals, eps=0.0) == 0.0


def test_the_normal_limit_of_the_counts_is_a_smaller_mu():
    eps0 = np.full(10**5, 0.5)  # GSPA's μ leaves out that the user's own symbol is random
    mu = personalized.gaussian_mu_gspa24(eps0=eps0) * math.tanh(0.25)
    for eps in (0.0, 0.001, 0.002):
        counts = personalized.counts_delta_gspa24(eps0=eps0, eps=eps)
        assert counts == pytest.approx(Gaussian(mu).delta(eps).upper, rel=0.03)
        assert counts < personalized.gaussian_delta_gspa24(eps0=eps0, eps=eps)


def test_the_components_give_the_two_inputs_back():
    table = np.array([[0.5, 0.3, 0.2], [0.3, 0.3, 0.4], [0.4, 0.35, 0.25]])
    e = 2.5
    found = personalized.decomposition_gspa24(table, eps0=math.log(e))
    assert np.allclose((e * found.first + found.second) / (e + 1), table[0])
    assert np.allclose((found.first + e * found.second) / (e + 1), table[1])
    assert np.allclose((found.first + found.second) / (e + 1) + found.rest[0], table[2])
    assert found.first.sum() == pytest.approx(1.0) and min(found.first.min(), found.second.min()) >= 0.0


def test_the_printed_rest_is_negative_for_three_inputs():
    table = np.array([[3, 3, 1], [3, 1, 3], [1, 3, 3]]) / 7
    assert personalized.decomposition_gspa24(table, eps0=math.log(3)).rest[0, 0] == pytest.approx(-1 / 14)
    two = personalized.decomposition_gspa24(table[:2], eps0=math.log(3))
    assert two.rest.shape == (0, 3)


def test_a_table_beyond_the_budget_is_refused():
    with pytest.raises(OutOfRegime, match=r"within a factor of exp\(eps0\).*exp\(1.09861\)"):
        personalized.decomposition_gspa24([[0.75, 0.25], [0.25, 0.75]], eps0=1.0)
