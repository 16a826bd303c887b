"""Sums of noise on whole numbers and of Laplace noise, against masses convolved in 40 digits."""

import math
import pickle
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

from oracles import gaussian_delta, noise
from oracles.brute_force import hockey_stick
from oracles.counts import coins
from shufflelib import aggregate, randomizers, shuffle
from shufflelib.shuffling.laplace_sums import log_density, log_density_error

KINDS = {
    "skellam": randomizers.skellam(mu=0.5),
    "binomial": randomizers.binomial(trials=3, p=0.25),
    "even binomial": randomizers.binomial(trials=3),
    "discrete Gaussian": randomizers.discrete_gaussian(sigma=1.0),
    "Laplace": randomizers.laplace(eps0=1.0),
    "Gaussian": randomizers.gaussian(sigma=1.0),
}


def encloses(found, exact, width=1e-9):
    assert found.lower <= exact * (1 + 1e-12) + 1e-28, (found, exact)
    assert found.upper >= exact * (1 - 1e-12) - 1e-28, (found, exact)
    assert found.upper - found.lower <= width * exact + 1e-28, (found, exact)


# ---------------------------------------------------------------- one coordinate


@pytest.mark.parametrize("by", [1, 2, 5])
@pytest.mark.parametrize(("mu", "n"), [(0.1, 1), (0.5, 3), (3.0, 4)])
def test_skellam_noise_is_that_of_all_users(mu, n, by):
    masses = noise.summed(noise.skellam(mu), n)
    profile = aggregate(randomizers.skellam(mu=mu, sensitivity=by), n)
    for eps in (0.0, 0.3, 1.5):
        encloses(profile.delta(eps), noise.hockey_stick(noise.shifted(masses, (by,)), eps))


@pytest.mark.parametrize("by", [1, 2, 7])
@pytest.mark.parametrize(("trials", "p", "n"), [(2, F(1, 2), 3), (3, F(1, 4), 2), (1, F(7, 8), 5)])
def test_binomial_noise_is_exact_in_fractions(trials, p, n, by):
    masses = dict(enumerate(coins(trials * n, p)))
    profile = aggregate(randomizers.binomial(trials=trials, p=float(p), sensitivity=by), n)
    for ratio in (F(1), F(3, 2), F(4)):
        both = [hockey_stick(noise.shifted(masses, (side * by,)), ratio) for side in (1, -1)]
        encloses(profile.delta(math.log(ratio)), float(max(both)))


GAUSSIANS = [
    (1, 0.3, 1e-9),
    (1, 2.0, 1e-9),
    (2, 1.0, 0.06),
    (3, 1.2, 1e-4),
    (10, 0.8, 0.08),
    (12, 1.25, 1e-6),
]


@pytest.mark.parametrize("by", [1, 3])
@pytest.mark.parametrize(("n", "sigma", "width"), GAUSSIANS)
def test_sums_of_discrete_gaussians(n, sigma, width, by):
    """They are no discrete Gaussians: what is known of each loss gives the width."""
    masses = noise.summed(noise.discrete_gaussian(sigma), n)
    profile = aggregate(randomizers.discrete_gaussian(sigma=sigma, sensitivity=by), n)
    for eps in (0.0, 0.3, 1.5):
        encloses(profile.delta(eps), noise.hockey_stick(noise.shifted(masses, (by,)), eps), width)


@pytest.mark.parametrize(("n", "eps0"), [(1, 1.0), (1, 5.0), (2, 0.5), (2, 4.0), (3, 1.0), (3, 30.0)])
def test_sums_of_laplace_noise(n, eps0):
    profile = aggregate(randomizers.laplace(eps0=eps0), n)
    for share in (0.0, 0.3, 0.7, 0.95):
        exact = noise.laplace_shift(n, eps0, share * eps0)
        encloses(profile.delta(share * eps0), exact, 1e-3 if share > 0.9 else 1e-4)
    assert profile.delta(eps0 * (1 + 1e-12)).upper == 0.0


# δ of S + shift and S, by mpmath's Bessel function, the best threshold and quadrature in 40 digits
BESSEL = [
    (10, 1.0, 0.1118, 0.049080453365082134), (10, 1.0, 0.4472, 0.0010085470621040585),
    (10, 3.0, 1.3416, 0.004566219821095491), (100, 1.0, 0.0354, 0.014289058760331791),
    (100, 1.0, 0.1414, 0.00059937426930111),
]  # fmt: skip


@pytest.mark.parametrize(("n", "eps0", "eps", "exact"), BESSEL)
def test_ten_and_a_hundred_laplace_users(n, eps0, eps, exact):
    found = aggregate(randomizers.laplace(eps0=eps0), n).delta(eps)
    encloses(found, exact, 2e-5)


def test_one_user_is_that_of_the_reports():
    one, other = (made(randomizers.laplace(eps0=2.0), n=1).epsilon(0.05) for made in (aggregate, shuffle))
    assert one.lower <= other.upper and other.lower <= one.upper <= 1.0001 * other.upper


@pytest.mark.parametrize("n", [1, 2, 7, 300, 301, 1000, 10**4])
def test_the_density_is_a_bessel_function(n):
    at = np.array([0.0, 1e-3, 0.3, *(z * math.sqrt(2 * n) for z in (0.5, 1.0, 5.0))])
    with mpmath.workdps(40):
        nu = mpmath.mpf(n) - 0.5
        exact = [nu * mpmath.log(x) + mpmath.log(mpmath.besselk(nu, x)) for x in map(mpmath.mpf, at[1:])]
        exact = [mpmath.log(2) * (nu - 1) + mpmath.loggamma(nu), *exact]  # the limit at 0
        found = log_density(at, n)
        pairs = zip(found - found[0], exact, strict=True)
        error = np.array([float(mpmath.mpf(a) - b + exact[0]) for a, b in pairs])
    assert np.abs(error).max() <= log_density_error(n)
    assert np.abs(error).max() <= 1e-13 or n in (301, 1000)
    assert log_density_error(n) <= 3e-10


@pytest.mark.parametrize("z", [1.0, 3.0])
def test_both_formulas_of_the_density_agree(z):
    """Where they change, δ at ε = z/√(2n) goes on: its ratio to one Gaussian's is smooth in n."""
    ratios = []
    for n in (298, 299, 300, 301, 302, 303):
        mu = 1.0 / math.sqrt(2 * n)
        found = aggregate(randomizers.laplace(eps0=1.0), n).delta(z * mu)
        assert found.upper <= found.lower * (1 + 1e-4)
        ratios.append(0.5 * (found.lower + found.upper) / float(gaussian_delta(mu, z * mu)))
    steps = np.diff(ratios)
    assert np.abs(np.diff(steps)).max() < 2e-5


@pytest.mark.parametrize("n", [10**4, 10**6])
@pytest.mark.parametrize("kind", ["skellam", "even binomial", "discrete Gaussian", "Laplace"])
def test_many_users_are_nearly_gaussian(kind, n):
    variance = {"skellam": 0.5, "even binomial": 0.75, "discrete Gaussian": 1.0, "Laplace": 2.0}[kind]
    found, limit = (
        aggregate(one, n).epsilon(1e-6) for one in (KINDS[kind], randomizers.gaussian(sigma=variance**0.5))
    )
    assert abs(found.lower / limit.lower - 1.0) < 30.0 / n + 1e-5
    assert found.upper <= found.lower * (1 + 1e-5)


# ---------------------------------------------------------------- several coordinates


@pytest.mark.parametrize("p", [F(1, 4), F(3, 8)])
@pytest.mark.parametrize("neighbours", ["replace", "coordinate", "zero"])
def test_two_coordinates_of_binomial_noise(neighbours, p):
    """At p = 3/8 and e^ε = 5/4 one number that rises and one that falls tell more than two that rise."""
    masses = dict(enumerate(coins(6, p)))
    profile = aggregate(randomizers.binomial(trials=2, p=float(p)), 3, neighbours=neighbours, changed=2)
    for ratio in (F(1), F(5, 4), F(4)):
        same, other = (
            max(hockey_stick(noise.shifted(masses, (side * a, side * b)), ratio) for side in (1, -1))
            for a, b in ((1, 1), (1, -1))
        )
        exact = same if neighbours == "zero" else max(same, other)
        encloses(profile.delta(math.log(ratio)), float(exact))


def test_three_coordinates_of_binomial_noise():
    masses = dict(enumerate(coins(4, F(1, 4))))
    profile = aggregate(randomizers.binomial(trials=2, p=0.25), 2, changed=3)
    for ratio in (F(1), F(3, 2), F(4)):
        exact = max(
            hockey_stick(noise.shifted(masses, shifts), ratio)
            for shifts in ((1, 1, 1), (-1, -1, -1), (1, 1, -1), (-1, -1, 1))
        )
        encloses(profile.delta(math.log(ratio)), float(exact))
        many = aggregate(randomizers.binomial(trials=2, p=0.25), 2, changed=9).delta(math.log(ratio))
        assert float(exact) <= many.lower <= many.upper <= 1.5 * many.lower


@pytest.mark.parametrize("kind", ["skellam", "discrete Gaussian"])
def test_two_coordinates_of_symmetric_noise(kind):
    one = KINDS[kind]
    masses = noise.skellam(0.5) if kind == "skellam" else noise.discrete_gaussian(1.0)
    found = aggregate(one, 1, changed=2).delta(0.5)
    for shifts in ((1, 1), (1, -1)):
        encloses(found, noise.hockey_stick(noise.shifted(masses, shifts), 0.5), 1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_are_rounds(kind):
    several = aggregate(KINDS[kind], 50, changed=3).epsilon(1e-4)
    rounds = aggregate(KINDS[kind], 50).compose(3).epsilon(1e-4)
    assert several.lower <= rounds.upper and rounds.lower <= several.upper
    assert several.upper <= 1.01 * rounds.lower


# ---------------------------------------------------------------- dropouts


@pytest.mark.parametrize("kind", [*KINDS, "flips", "lopsided flips", "one-hot"])
def test_who_stays_beyond_n_does_no_harm(kind):
    flips = {
        "flips": randomizers.binary_rr(eps0=1.0),
        "lopsided flips": randomizers.unary(d=4, p=0.1, q=0.6),
        "one-hot": randomizers.rappor(eps0=1.0, d=4),
    }
    one = (KINDS | flips)[kind]
    for question, value in (("delta", 0.2), ("epsilon", 1e-3)):
        upper = [getattr(aggregate(one, n), question)(value).upper for n in (2, 3, 5, 40, 301)]
        assert all(b <= a * (1 + 1e-5) for a, b in zip(upper, upper[1:], strict=False)), upper


# ---------------------------------------------------------------- other questions, and running it


@pytest.mark.parametrize("kind", KINDS)
def test_every_question_is_answered(kind):
    profile = aggregate(KINDS[kind], 50)
    renyi, rate = profile.renyi(3.0), profile.tradeoff(0.1)
    assert renyi.lower <= renyi.upper
    assert renyi.upper < math.inf or "binomial" in kind or kind == "skellam" or kind == "discrete Gaussian"
    assert 0.0 < rate.lower <= rate.upper < 0.9
    both = profile.delta([0.1, 0.3])
    assert (both.lower[1], both.upper[1]) == (profile.delta(0.3).lower, profile.delta(0.3).upper)
    again = pickle.loads(pickle.dumps(profile)).delta(0.3)
    assert (again.lower, again.upper) == (profile.delta(0.3).lower, profile.delta(0.3).upper)
    for neighbours in ("coordinate", "zero"):
        with pytest.raises(ValueError, match="any other user"):
            aggregate(KINDS[kind], 50, neighbours=neighbours).subsample(0.5)


@pytest.mark.parametrize("by", [1, -1])
def test_a_sample_of_users_with_noise(by):
    """Of four users with two coins each, two are drawn: all datasets of zeros and ones, by definition."""
    masses, ratio = dict(enumerate(coins(4, F(1, 4)))), F(5, 4)
    found = aggregate(randomizers.binomial(trials=2, p=0.25), 2).subsample(0.5).delta(math.log(ratio))
    for ones in range(4):  # of the others, three
        cells = {}
        for own in (0, 1):
            total = ones + own
            for drawn in range(3):
                chance = F(math.comb(total, drawn) * math.comb(4 - total, 2 - drawn), math.comb(4, 2))
                for k, mass in masses.items():
                    cells.setdefault(k + drawn, [F(0), F(0)])[own] += chance * mass
        exact = hockey_stick({k: tuple(pair[::by]) for k, pair in cells.items()}, ratio)
        assert float(exact) <= found.upper * (1 + 1e-12)


COUNTS = ["skellam", "binomial", "even binomial", "discrete Gaussian"]


@pytest.mark.parametrize("kind", COUNTS)
def test_reports_have_the_noise_that_is_certified(kind):
    one, rng, n = KINDS[kind], np.random.default_rng(5), 200_000
    x = rng.integers(0, 2, n)
    reports = one.sample(x, rng)
    assert reports.dtype.kind == "i" and reports.shape == (n,)
    spread = math.sqrt(one.variance / n)
    assert abs(one.estimate(reports) - x.mean()) < 5 * spread
    drawn = reports - x
    assert abs(drawn.var() / one.variance - 1.0) < 0.02
    if kind != "discrete Gaussian":
        return
    masses = noise.discrete_gaussian(1.0)
    for k in range(-4, 5):
        share = float(masses[k])
        assert abs((drawn == k).mean() - share) < 5 * math.sqrt(share / n)


def test_noise_on_whole_numbers_is_not_shuffled():
    for kind in COUNTS:
        with pytest.raises(TypeError, match="noise on whole numbers to aggregate"):
            shuffle(KINDS[kind], 10)


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: randomizers.skellam(mu=0.0), "mu must"),
        (lambda: randomizers.skellam(mu=1.0, sensitivity=0), "sensitivity must"),
        (lambda: randomizers.binomial(trials=0), "trials must"),
        (lambda: randomizers.binomial(trials=4, p=1.0), "p must"),
        (lambda: randomizers.discrete_gaussian(sigma=math.nan), "sigma must"),
        (lambda: aggregate(randomizers.discrete_gaussian(sigma=0.5), 100), "sigma must be about 0.75"),
        (lambda: aggregate(randomizers.skellam(mu=1e6), 10**6), "n must leave noise of a variance"),
        (lambda: aggregate(randomizers.laplace(eps0=1e-6), 10**9), "n and eps0 must leave"),
        (lambda: randomizers.skellam(mu=1.0).sample([2], np.random.default_rng(0)), "x must"),
        (lambda: aggregate(randomizers.piecewise(eps0=1.0), 10), "discrete Gaussian noise, got piecewise"),
    ],
)
def test_bad_input_is_refused_by_name(build, match):
    with pytest.raises((TypeError, ValueError), match=match):
        build()
