"""Published formulas for personal budgets: printed numbers, two readings, refuted claims with witnesses."""

import itertools
import math
from fractions import Fraction as F

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
from shufflelib.shuffling.personal import PersonalLaplace

# ---------------------------------------------------------------- oracles of this file


def trinomial_attack(own0, own1, others, m, eps, size=8192):
    """Return H of a count difference, from (a, b) of the user under both inputs and of m others."""
    turn = np.exp(-2j * np.pi * np.fft.fftfreq(size))
    factor = 1 + others[0] * (turn - 1) + others[1] * (1 / turn - 1)
    distribution = np.fft.ifft(np.exp(m * np.log(factor))).real
    distributions = [
        own[0] * np.roll(distribution, 1)
        + own[1] * np.roll(distribution, -1)
        + (1 - own[0] - own[1]) * distribution
        for own in (own0, own1)
    ]
    return max(
        np.maximum(p - math.exp(eps) * q, 0.0).sum() - 1e-9 for p, q in (distributions, distributions[::-1])
    )


def laplace_between(budget, low, high):
    """Return P(low < noise <= high)."""

    def cdf(y):
        return 0.5 * math.exp(budget * y) if y < 0 else 1 - 0.5 * math.exp(-budget * y)

    return cdf(high) - cdf(low)


def laplace_attack(own, others, m, radius, eps):
    """Count reports within ``radius`` of 0, minus those of 1; all others hold 0."""
    near, far = laplace_between(own, -radius, radius), laplace_between(own, 1 - radius, 1 + radius)
    rest = laplace_between(others, -radius, radius), laplace_between(others, 1 - radius, 1 + radius)
    return trinomial_attack((near, far), (far, near), rest, m, eps)


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


@pytest.mark.parametrize(
    ("eps0", "expected"),
    [(np.full(10**4, 0.5), 0.0518), (np.repeat([0.5, 0.01], 5000), 0.0476)],
)
def test_the_figure_of_the_paper(eps0, expected):
    assert gaussian_epsilon_gspa24(eps0=eps0, delta=1e-4) == pytest.approx(expected, abs=1e-4)


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


def test_mu_does_not_vanish_with_the_budgets():
    """Equal ε → 0: sqrt(4/(n-1)); at ε_0 = 0 nothing leaks, the formula has 0.2 at δ = 1e-6."""
    n = 1001
    assert gaussian_mu_gspa24(eps0=np.zeros(n)) == pytest.approx(math.sqrt(4 / (n - 1)), rel=1e-13)
    claimed = gaussian_epsilon_gspa24(eps0=np.full(n, 1e-3), delta=1e-6)
    assert claimed > 200 * 1e-3  # two hundred times the local guarantee


# ---------------------------------------------------------------- refuted: randomize, then shuffle


@pytest.mark.parametrize(
    ("n", "eps", "claimed", "simple", "full"),
    [(1000, 0.2, 2.07e-5, 0.0195, 2.585e-2), (10**4, 0.1, 2.26e-9, 1.78e-3, 2.74e-3)],
)
def test_one_narrow_user_among_wide_ones_refutes_mu(n, eps, claimed, simple, full):
    """Laplace: user 1 has ε_0 = 5, the others 0.1 and value 0.

    The truth is above two attacks: ``simple``, by a threshold, and ``full``, by a finely coarsened pair.
    """
    eps0 = np.full(n, 0.1)
    eps0[0] = 5.0
    says = gaussian_delta_gspa24(eps0=eps0, eps=eps)
    assert says == pytest.approx(claimed, rel=3e-3)
    truth = max(laplace_attack(5.0, 0.1, n - 1, r, eps) for r in (0.25, 0.3))
    assert truth > 0.97 * simple > 80 * says
    bracket = PersonalLaplace(eps0).delta(user=0, eps=eps)
    assert bracket.lower > 100 * says
    assert bracket.upper > 0.99 * full


# ---------------------------------------------------------------- refuted: local failures


def test_a_randomizer_that_reveals_with_chance_delta0_refutes_the_treatment_of_failures():
    """With chance δ_0 the report is the value, else it is blank: (0, δ_0)-LDP, and shuffling keeps δ_0."""
    chance = F(1, 1000)
    pmf = [[chance if y == x else F(0) for y in range(3)] + [1 - chance] for x in range(3)]
    for ratio in (F(1), F(2), F(50)):
        assert oracles.shuffled_hockey_stick(pmf, 0, 1, (2,) * 4, ratio) == chance
    n = 10**4
    claimed = gaussian_delta_gspa24(eps0=np.zeros(n), delta0=float(chance), eps=0.2)
    assert claimed < 1e-20 < float(chance)
    sound = delta_with_failures_fmt21(eps0=np.full(n, 1e-9), delta0=1e-8, eps=0.2, delta=1e-6)
    assert sound == pytest.approx(1e-6 + (math.exp(0.2) + 1) * 1.5 * n * 1e-8, rel=1e-6)
    assert sound > 1e-8
    assert delta_with_failures_fmt21(eps0=np.ones(9), delta0=0.0, eps=0.2, delta=1e-6) == 1e-6
    personal = delta_with_failures_fmt21(eps0=[1.0, 2.0], delta0=[1e-8, 2e-8], eps=0.5, delta=1e-6)
    assert personal == pytest.approx(1e-6 + (math.exp(0.5) + 1) * (1 + math.exp(2) / 2) * 2 * 2e-8, rel=1e-12)


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


def test_what_eq_14_prints_is_not_a_total_variation_distance():
    """Three quarters of the largest mass, whatever the approximation: 1e-4 where the distance is 2e-3."""
    small, large = (normal_approximation_gspa24(eps0=0.5, n=n) for n in (1000, 4000))
    for n, result in ((1000, small), (4000, large)):
        q = 1 / (1 + math.exp(0.5))
        peak = 1 / (2 * math.pi * (n - 1) * math.sqrt(q * q * (1 - 2 * q)))
        assert result.printed == pytest.approx(0.75 * peak, rel=0.02)
        assert result.printed < result.total_variation / 8
    assert small.printed / large.printed == pytest.approx(4.0, rel=0.02)  # falls as 1/n
    assert small.total_variation / large.total_variation == pytest.approx(2.0, rel=0.02)  # as 1/sqrt(n)


def test_theorem_2_with_its_slack_proves_nothing_at_the_papers_delta():
    n, delta = 4000, 1e-4
    eps0 = np.full(n, 0.5)
    slack = normal_approximation_gspa24(eps0=0.5, n=n).total_variation
    assert slack == pytest.approx(2.71e-3, rel=0.01)
    assert (
        min(gaussian_delta_with_slack_gspa24(eps0=eps0, eps=eps, slack=slack) for eps in (0, 0.1, 1, 9))
        > delta
    )
    assert gaussian_delta_with_slack_gspa24(eps0=eps0, eps=0.3, slack=slack) >= 2 * slack
    assert slack * math.sqrt(n) / math.sqrt(10**7) > 0.5 * delta  # nor with ten million users


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


def test_echo_numerical_version_is_refuted_by_one_narrow_user():
    """Laplace truncated to [0, 1]: ε_1 = 8, others 0.1 at 1, n = 20000, δ = 1e-6."""
    n = 20000
    eps0 = np.array([8.0] + [0.1] * (n - 1))
    says = echo_epsilon_numerical_liu23(eps0=eps0, delta=1e-6)
    assert says == pytest.approx(0.0516, abs=1e-4)

    def truncated(budget, low, high):  # chance of (low, high) for the value 0; the value 1 mirrors it
        return (math.exp(-budget * low) - math.exp(-budget * high)) / -math.expm1(-budget)

    radius = 0.15
    near, far = truncated(8.0, 0.0, radius), truncated(8.0, 1 - radius, 1.0)
    rest = truncated(0.1, 1 - radius, 1.0), truncated(0.1, 0.0, radius)  # others hold 1
    for eps in (says, 0.06):
        assert trinomial_attack((near, far), (far, near), rest, n - 1, eps) > 1e-6


# ---------------------------------------------------------------- hostile input


@pytest.mark.parametrize(("eps0", "n"), [(1.0, 50), (1e-3, 1000), (0.5, 10**9), (5.0, 1000)])
def test_the_normal_approximation_has_a_regime(eps0, n):
    with pytest.raises(OutOfRegime):
        normal_approximation_gspa24(eps0=eps0, n=n)
