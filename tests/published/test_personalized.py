"""Published formulas for personal budgets: printed numbers, two readings, refuted claims with witnesses."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import oracles
from shufflelib.published.closed_form import OutOfRegime
from shufflelib.published.personalized import (
    delta_with_failures_fmt21,
    echo_clones_liu23,
    echo_delta_liu23,
    echo_epsilon_liu23,
    echo_epsilon_numerical_liu23,
    gaussian_delta_gspa24,
    gaussian_delta_with_slack_gspa24,
    gaussian_epsilon_gspa24,
    gaussian_mu_gspa24,
    gaussian_tradeoff_with_slack_gspa24,
    normal_approximation_gspa24,
)

# ---------------------------------------------------------------- μ and its profile


def test_mu_is_the_printed_formula_in_both_readings():
    rng = np.random.default_rng(3)
    eps0, delta0 = rng.uniform(0.0, 3.0, 40), rng.uniform(0.0, 0.2, 40)
    with mpmath.workdps(40):
        chances = [(1 - mpmath.mpf(d)) / (1 + mpmath.exp(e)) for e, d in zip(eps0, delta0, strict=True)]
        theorem = mpmath.sqrt(2 / (mpmath.fsum(chances) - max(chances)))
        lemma = 2 / mpmath.sqrt(mpmath.fsum(2 * c for c in sorted(chances)[:-1]))  # p_i = 2(1-δ)/(1+e)
        assert gaussian_mu_gspa24(eps0=eps0, delta0=delta0) == pytest.approx(float(theorem), rel=1e-13)
        assert gaussian_mu_gspa24(eps0=eps0, delta0=delta0) == pytest.approx(float(lemma), rel=1e-13)
    uniform = gaussian_mu_gspa24(eps0=np.full(100, 0.7))
    assert uniform == pytest.approx(math.sqrt(2 * (1 + math.exp(0.7)) / 99), rel=1e-13)
    assert gaussian_mu_gspa24(eps0=eps0, delta0=0.1) == pytest.approx(
        gaussian_mu_gspa24(eps0=eps0) / math.sqrt(0.9), rel=1e-13
    )


def test_the_profile_is_that_of_mu():
    eps0 = np.array([0.3] * 500 + [2.0])
    mu = gaussian_mu_gspa24(eps0=eps0)
    for eps in (0.0, 0.2, 0.5):
        exact = float(oracles.gaussian_delta(mu, eps))
        assert gaussian_delta_gspa24(eps0=eps0, eps=eps) == pytest.approx(exact, rel=1e-9)
    eps = gaussian_epsilon_gspa24(eps0=eps0, delta=1e-5)
    assert gaussian_delta_gspa24(eps0=eps0, eps=eps) == pytest.approx(1e-5, rel=1e-4)
    many = gaussian_epsilon_gspa24(eps0=eps0, delta=[1e-5, 1e-3])
    assert many[0] == eps and many.shape == (2,)


def test_failures_are_charged_once_for_each_user():
    charged = delta_with_failures_fmt21(eps0=[1.0, 2.0], delta0=[1e-8, 2e-8], eps=0.5, delta=1e-6)
    assert charged == pytest.approx(1e-6 + (math.exp(0.5) + 1) * (1 + math.exp(2) / 2) * 2 * 2e-8, rel=1e-12)
    assert delta_with_failures_fmt21(eps0=np.ones(9), delta0=0.0, eps=0.2, delta=1e-6) == 1e-6


# ---------------------------------------------------------------- eq. (14) and the slack


def test_normal_approximation_against_independent_sums():
    eps0, n = 1.0, 120
    q, m = 1 / (1 + math.exp(eps0)), n - 1
    covariance = m * np.array([[q * (1 - q), -q * q], [-q * q, q * (1 - q)]])
    normal = stats.multivariate_normal([m * q, m * q], covariance)
    k = np.arange(0, m + 1)
    first, second = np.meshgrid(k, k, indexing="ij")
    inside = first + second <= m
    mass = np.zeros(first.shape)
    mass[inside] = stats.multinomial.pmf(
        np.stack([first, second, m - first - second], axis=-1)[inside], m, [q, q, 1 - 2 * q]
    )
    # a midpoint rule with 8 x 8 points in each cell, which is not the package's quadrature
    whole, quarter = np.zeros(first.shape), np.zeros(first.shape)
    offset = (np.arange(8) + 0.5) / 8
    for a, b in itertools.product(offset, offset):
        at = normal.pdf(np.stack([first + a - 0.5, second + b - 0.5], axis=-1))
        whole += at / 64
        quarter += normal.pdf(np.stack([first + a / 2, second + b / 2], axis=-1)) / 256
    result = normal_approximation_gspa24(eps0=eps0, n=n)
    assert result.printed == pytest.approx(np.abs(mass - quarter).max(), rel=1e-4)
    assert result.largest_cell == pytest.approx(np.abs(mass - whole).max(), rel=0.02)
    assert result.total_variation == pytest.approx(0.5 * np.abs(mass - whole).sum(), rel=0.01)


def test_slack_is_a_shift_of_both_axes():
    eps0 = np.full(500, 0.4)
    mu = gaussian_mu_gspa24(eps0=eps0)
    for fpr, slack in itertools.product((0.0, 0.1, 0.6), (0.0, 0.02, 0.3)):
        value = gaussian_tradeoff_with_slack_gspa24(eps0=eps0, fpr=fpr, slack=slack)
        at = fpr + slack
        expected = max(0.0, special.ndtr(special.ndtri(1 - at) - mu) - slack) if at > 0 else 1.0
        assert value == pytest.approx(expected, abs=1e-12)
    assert gaussian_tradeoff_with_slack_gspa24(eps0=eps0, fpr=0.8, slack=0.2) == 0.0
    # δ is the conjugate: no point of the shifted curve lies below its line
    for eps in (0.0, 0.3):
        delta = gaussian_delta_with_slack_gspa24(eps0=eps0, eps=eps, slack=0.02)
        gaps = [
            gaussian_tradeoff_with_slack_gspa24(eps0=eps0, fpr=fpr, slack=0.02)
            - (1 - delta - math.exp(eps) * fpr)
            for fpr in np.linspace(0.0, 1.0, 2001)
        ]
        assert -1e-9 < min(gaps) < (1e-4 if eps == 0.0 else 2e-3)
    assert gaussian_delta_with_slack_gspa24(eps0=eps0, eps=0.3, slack=0.0) == gaussian_delta_gspa24(
        eps0=eps0, eps=0.3
    )
    assert gaussian_delta_with_slack_gspa24(eps0=eps0, eps=3.0, slack=0.9) == 1.0


# ---------------------------------------------------------------- Echo


def test_echo_clones_are_the_double_sum():
    eps0 = np.random.default_rng(4).uniform(0.05, 4.0, 30)
    total = 0.0
    for i, own in enumerate(eps0):
        if i != int(np.argmax(eps0)):
            for other in eps0:
                ratio = own / other * math.expm1(-other) / math.expm1(-own)
                total += ratio * math.exp(-max(own, other)) / eps0.size
    assert echo_clones_liu23(eps0=eps0) == pytest.approx(total, rel=1e-12)


def test_echo_closed_form_and_both_sides_of_its_regime():
    delta = 1e-6
    log4 = math.log(4e6)
    n = 300
    # equal budgets: S = (n - 1) exp(-eps0)
    edge = math.log((n - 1) / (16 * log4))
    inside, outside = np.full(n, edge - 1e-9), np.full(n, edge + 1e-9)
    clones = (n - 1) * math.exp(-inside[0])
    assert echo_clones_liu23(eps0=inside) == pytest.approx(clones, rel=1e-12)
    shift = math.tanh(inside[0] / 2) * (8 * math.sqrt(log4 / clones) + 8 / clones)
    assert echo_epsilon_liu23(eps0=inside, delta=delta) == pytest.approx(math.log1p(shift), rel=1e-12)
    with pytest.raises(OutOfRegime, match="S >= 16"):
        echo_epsilon_liu23(eps0=outside, delta=delta)
    with pytest.raises(OutOfRegime, match="positive"):
        echo_epsilon_liu23(eps0=[0.0] + [1.0] * 2000, delta=delta)


def test_echo_numerical_version_against_plain_sums():
    eps0 = np.array([1.5] + [0.8] * 60)
    clones = []
    for i in range(1, 61):
        row = [eps0[i] / e * math.expm1(-e) / math.expm1(-eps0[i]) * math.exp(-max(e, eps0[i])) for e in eps0]
        clones.append(sum(row) / eps0.size)
    mean, variance = sum(clones), sum(p * (1 - p) for p in clones)
    count = np.arange(0, 61)
    weight = np.exp(-((count - mean) ** 2) / (2 * variance))
    weight /= weight.sum()
    truth = math.exp(1.5) / (1 + math.exp(1.5))
    for eps in (0.0, 0.3, 1.0):
        value = 0.0
        for c, w in zip(count, weight, strict=True):
            a = np.arange(0, c + 2)
            here, before = stats.binom.pmf(a, c, 0.5), stats.binom.pmf(a - 1, c, 0.5)
            p, q = truth * before + (1 - truth) * here, (1 - truth) * before + truth * here
            value += w * np.maximum(p - math.exp(eps) * q, 0).sum()
        assert echo_delta_liu23(eps0=eps0, eps=eps) == pytest.approx(value, rel=1e-9)
    assert echo_delta_liu23(eps0=eps0, eps=1.5) == 0.0
    eps = echo_epsilon_numerical_liu23(eps0=eps0, delta=0.01)
    assert echo_delta_liu23(eps0=eps0, eps=eps) == pytest.approx(0.01, rel=1e-6)


# ---------------------------------------------------------------- hostile input


@pytest.mark.parametrize(("eps0", "n"), [(1.0, 50), (1e-3, 1000), (0.5, 10**9), (5.0, 1000)])
def test_the_normal_approximation_has_a_regime(eps0, n):
    with pytest.raises(OutOfRegime):
        normal_approximation_gspa24(eps0=eps0, n=n)
