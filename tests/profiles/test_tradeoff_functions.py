"""Trade-off functions, their divergences and the random start, against exact and 40-digit values."""

import functools
import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from scipy import integrate, special

import oracles
from finite_pairs import distribution, function
from shufflelib.numerics.certified import Status
from shufflelib.profiles import (
    ApproximateDP,
    GaussianTradeoff,
    Identity,
    from_pair,
    from_profile,
    tradeoff_polygon,
)
from shufflelib.published import joint_concavity
from shufflelib.published.joint_concavity import clones
from shufflelib.shuffling import VariationRatioPair

RATES = [F(k, 40) for k in range(41)]
FPR = np.array([float(rate) for rate in RATES])

HAIR = 1e-15  # arguments and truths are rounded to floats


def distributions(seed, size=6):
    rng = np.random.default_rng(seed)
    return distribution(rng, size), distribution(rng, size)


def masses(p, q):
    return dict(enumerate(zip(p, q, strict=True)))


def encloses(bracket, truth, width=math.inf):
    truth = np.asarray(truth, float)
    assert np.all(bracket.lower <= truth + HAIR)
    assert np.all(truth - HAIR <= bracket.upper)
    assert np.all(bracket.upper - bracket.lower <= width)


REFERENCE = oracles.reference("clone_pair")


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: f"{row['name']} n={row['n']}")
def test_reference_rows(row):
    numbers = {key: float(row[key]) for key in ("p", "beta", "q0", "q1")}
    f = from_pair(VariationRatioPair(n=row["n"], **numbers).cells)
    for fpr, truth in row["tradeoff"]:
        encloses(f(fpr), float(truth), 1e-9)
    for order, forward, backward in row["renyi"]:
        for g, truth in ((f, forward), (f.inverse, backward)):
            bracket = joint_concavity.renyi(g, order=float(order))
            if math.isinf(float(truth)):
                assert bracket.upper == math.inf
            else:
                assert bracket.lower <= float(truth) * (1 + 1e-12) + HAIR
                assert bracket.upper >= float(truth) * (1 - 1e-12) - HAIR
                assert bracket.upper - bracket.lower < 1e-6


# ---------------------------------------------------------------- functions


@pytest.mark.parametrize(
    ("eps", "delta"), [(0.0, 0.0), (0.5, 0.0), (0.5, 0.01), (0.0, 0.2), (3.0, 1e-6), (1.0, 1.0)]
)
def test_approximate_dp(eps, delta):
    f = ApproximateDP(eps=eps, delta=delta)
    truth = np.maximum(0, np.maximum(1 - delta - np.exp(eps) * FPR, np.exp(-eps) * (1 - delta - FPR)))
    encloses(f(FPR), truth, 1e-13)
    encloses(f.delta(eps), delta, 1e-13)
    pure, loss = ApproximateDP(eps=eps, delta=0.0), ApproximateDP(eps=0.0, delta=delta)
    encloses(pure.tensor(loss)(FPR), truth, 1e-12)
    encloses(f.symmetrised(FPR), truth, 1e-12)


def test_identity_and_composition_with_a_loss():
    """Fact 3: f ⊗ f_{0,δ}(α) = (1 − δ) f(α/(1 − δ))."""
    encloses(Identity()(FPR), 1 - FPR, 1e-14)
    p, q = distributions(3)
    bracket = function(p, q).tensor(ApproximateDP(eps=0.0, delta=0.25))(FPR)
    kept = F(3, 4)
    truth = [kept * oracles.tradeoff(masses(p, q), a / kept) if a <= kept else F(0) for a in RATES]
    encloses(bracket, truth, 1e-12)


def test_product_of_finite_pairs_is_exact():
    (p, q), (r, s) = distributions(4, 4), distributions(5, 3)
    both = {
        (i, j): (a * c, b * d) for i, (a, b) in masses(p, q).items() for j, (c, d) in masses(r, s).items()
    }
    product = function(p, q).tensor(function(r, s))
    encloses(product(FPR), [oracles.tradeoff(both, a) for a in RATES], 1e-12)


@pytest.mark.parametrize("mu", [1e-6, 0.1, 1.0, 5.0, 20.0, 100.0])
def test_gaussian(mu):
    f = GaussianTradeoff(mu)
    with mpmath.workdps(40):
        quantile = [mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(a)) for a in FPR[1:-1]]
        truth = [float(mpmath.ncdf(z - mu)) for z in quantile]
    encloses(f(FPR[1:-1]), truth, 1e-12)
    assert np.all(f.low.lower(FPR[1:-1]) <= np.array(truth) + HAIR)
    assert np.all(f.high.upper(FPR[1:-1]) >= np.array(truth) - HAIR)
    if mu < 30:
        assert np.all(f.high.upper(FPR) - f.low.lower(FPR) < 3e-6)
        encloses(f.delta(0.3), float(oracles.gaussian_delta(mu, 0.3)), 1e-8)
        backward = 1 - mpmath.exp(-0.3) * (1 - oracles.gaussian_delta(mu, 0.3))
        encloses(f.delta(-0.3), float(backward), 1e-8)


def test_gaussian_products():
    f = GaussianTradeoff(0.3).tensor(GaussianTradeoff(0.4))
    assert f.mu == pytest.approx(0.5)
    polygons = (
        GaussianTradeoff(0.3).coarsened(segments=600).tensor(GaussianTradeoff(0.4).coarsened(segments=600))
    )
    encloses(polygons(FPR), f(FPR).lower, 2e-4)


def test_coarsened_encloses_and_narrows():
    pair = VariationRatioPair(n=60, p=3.0, beta=0.2, q0=4.0, q1=2.5)
    exact = from_profile(pair.cells)
    truth, widths = exact(FPR), []
    for segments in (10, 100):
        bracket = exact.coarsened(segments=segments)(FPR)
        assert np.all(bracket.lower <= truth.upper) and np.all(truth.lower <= bracket.upper)
        widths.append(np.max(bracket.upper - bracket.lower))
    assert widths[1] < 0.1 * widths[0]


def test_symmetrised():
    p, q = [F(1, 10), F(3, 10), F(6, 10)], [F(5, 10), F(3, 10), F(2, 10)]
    f, pair = function(p, q), masses(p, q)
    bend, value = F(1, 10), F(1, 2)  # x̄ and f(x̄)
    truth = [
        oracles.tradeoff(pair, x)
        if x <= bend
        else bend + value - x  # the appendix prints x̄ − f(x̄) − x, negative here
        if x <= value
        else oracles.tradeoff(oracles.swapped(pair), x)
        for x in RATES
    ]
    c = f.symmetrised
    encloses(c(FPR), truth, 1e-12)
    encloses(c.inverse(FPR), truth, 1e-12)
    for eps in (0.0, 0.4, 1.2):  # what it stands for: the same δ(ε), ε ≥ 0
        encloses(c.delta(eps), f.delta(eps).upper, 1e-12)
    assert c.delta(-0.4).upper < f.delta(-0.4).lower or c.delta(-0.4).lower > f.delta(-0.4).upper


PROFILES = {
    "symmetric": VariationRatioPair(n=40, p=3.0, beta=0.5, q0=3.0),
    "two ratios": VariationRatioPair(n=40, p=3.0, beta=0.2, q0=4.0, q1=2.5),
    "infinite loss": VariationRatioPair(n=5, p=math.inf, beta=1.0, q0=2.0),
}


@pytest.mark.parametrize("name", PROFILES)
def test_from_profile_encloses_the_exact_function(name):
    pair = PROFILES[name]
    exact, dotted = from_pair(pair.cells)(FPR), from_profile(pair)(FPR)
    assert np.all(dotted.lower <= exact.upper) and np.all(exact.lower <= dotted.upper)
    assert np.median(dotted.upper - dotted.lower) < 1e-3
    if math.isfinite(pair.p):
        assert np.all(dotted.upper - dotted.lower < 2e-3)
    few = from_profile(pair, dots=2)(FPR)
    assert np.all(few.lower <= exact.upper) and np.all(exact.lower <= few.upper)


def lines(p, q, slopes):
    """Return sup_A Q(A) − s P(A) of two distributions at slopes s."""
    return np.array([np.maximum(q - s * p, 0.0).sum() for s in slopes])


@pytest.mark.parametrize("seed", range(30))
def test_supporting_lines_known_roughly_enclose_the_polygon(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        size = int(rng.integers(1, 8))
        p, q = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
        s = np.exp(rng.uniform(-3.0, 3.0, int(rng.integers(2, 30))))
        s = np.concatenate([s, s[:3], [1.0, 1.0]])
        h, width = lines(p, q, s), 10 ** rng.uniform(-6.0, -0.3)
        low, high = h - width * rng.random(s.size) ** 3, h + width * rng.random(s.size) ** 3
        below, above = tradeoff_polygon.supporting(np.log(s), low, np.minimum(high, 1.0))
        order = np.argsort(p / q)
        spent, kept = np.append(0.0, np.cumsum(p[order])), np.append(1.0, 1.0 - np.cumsum(q[order]))
        x = np.concatenate([spent[1:-1], rng.random(9)])
        truth = np.interp(x, spent, kept)
        assert np.all(below.lower(x) <= truth + 1e-14) and np.all(truth - 1e-14 <= above.upper(x))


# ---------------------------------------------------------------- divergences


def divergence_truth(p, q, generator, at_zero, slope):
    total = mpmath.mpf(0)
    for a, b in zip(p, q, strict=True):
        a, b = (mpmath.mpf(x.numerator) / x.denominator for x in (a, b))
        if a and b:
            total += b * generator(a / b)
        elif b:
            total += b * at_zero
        elif a:
            total += a * slope
    return total


CASES = [
    (joint_concavity.kullback_leibler, lambda s: s * mpmath.log(s), 0, mpmath.inf),
    (joint_concavity.chi_square, lambda s: (s - 1) ** 2, 1, mpmath.inf),
    (joint_concavity.curve_length, lambda s: mpmath.sqrt(1 + s * s), 1, 1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("seed", range(6))
def test_divergences(case, seed):
    """F(0) is the limit of F, not of F(s)/s: for KL the latter would make this −∞."""
    divergence, generator, at_zero, slope = case
    for p, q in (distributions(seed), distributions(seed + 50, 3), ([F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)])):
        with mpmath.workdps(40):
            truth = divergence_truth(p, q, generator, at_zero, slope)
        bracket = divergence(function(p, q))
        if truth == mpmath.inf:
            assert bracket.upper == math.inf and bracket.status is Status.UNBOUNDED
        else:
            encloses(bracket, float(truth), 1e-11 * max(1.0, float(truth)))


# ---------------------------------------------------------------- clones


@functools.cache
def whole_clones(n, ratio):
    """Return δ of (P₀, Q₀) at e^ε = ratio exactly, e^ε₀ = 5/4."""
    total, (u, v) = 0, (ratio.numerator, ratio.denominator)
    for c in range(n):
        row = [math.comb(c, a) for a in range(c + 1)]
        gains = sum(max(0, v * p - u * q) for p, q in zip(row, [*row[1:], 0], strict=True))
        total += math.comb(n - 1, c) * 8**c * gains * 2 ** (n - 1 - c)
    return F(total, v * 18 ** (n - 1))


@pytest.mark.parametrize(("listed", "width"), [(2000, 1e-10), (0, 3e-3)])
def test_clones_enclose_whole_numbers(monkeypatch, listed, width):
    monkeypatch.setattr(clones, "LISTED_USERS", listed)
    f = joint_concavity.conditioned_on_clones(eps0=math.log(1.25), n=202)
    assert np.all(f(FPR).upper - f(FPR).lower < width)
    for ratio in (F(1), F(21, 20), F(3, 2), F(23, 10)):
        truth, bracket = whole_clones(202, ratio), f.delta(math.log(ratio))
        assert bracket.lower <= truth <= bracket.upper
        assert bracket.upper - bracket.lower < width
        assert f.inverse.delta(math.log(ratio)).lower <= truth <= f.inverse.delta(math.log(ratio)).upper


# ---------------------------------------------------------------- random start


def curve(separation, threshold):
    """Return Theorem 5.1's (α, β) by adaptive quadrature."""

    def rate(sign):
        def integrand(x):
            m = max(abs(separation(x)), 1e-300)
            return special.ndtr(sign * threshold / m - m / 2) * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

        points = [-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4]
        return integrate.quad(integrand, -9, 9, points=points, limit=500, epsabs=1e-12)[0]

    return rate(1), rate(-1)


STARTS = [
    joint_concavity.least_squares(a=1.0),
    joint_concavity.least_squares(a=0.0),
    joint_concavity.clipped_least_squares(a=1.0, clip=0.5),
    joint_concavity.logistic(bound=2.0),
]


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.name)
def test_random_start(start):
    f = joint_concavity.random_start_bound(start)
    points = [curve(start.separation, t) for t in (-2.0, -0.4, -0.05, 0.05, 0.3, 1.5)]
    x, y = np.array(points).T
    bracket = f(x)
    assert np.all(bracket.lower <= y + 1e-11) and np.all(y - 1e-11 <= bracket.upper)
    assert np.all(bracket.upper - bracket.lower < 2e-4)


def test_logistic_separation_is_the_gradient():
    """The printed supremum leaves out the factor yx, and with it a factor M."""
    start, z = joint_concavity.logistic(bound=3.0), np.linspace(-3, 3, 2001)
    for point in (-2.0, 0.0, 0.7):
        gradient = np.max(np.abs(z / (1 + np.exp(point * z))))
        assert start.separation(point) == pytest.approx(gradient, rel=1e-3)
        assert gradient > 2.9 * np.max(1 / (1 + np.exp(point * z)))


@pytest.mark.parametrize("a", [0.0, 1.0, 3.0])
def test_exact_mixture_lies_above_the_bound(a):
    exact = joint_concavity.exact_least_squares(a=a)(FPR)
    bound = joint_concavity.random_start_bound(joint_concavity.least_squares(a=a))(FPR)
    assert np.all(bound.lower <= exact.upper)
    assert np.max(exact.lower - bound.upper) > 0.03  # what the start reveals
    clipped = joint_concavity.random_start_bound(joint_concavity.clipped_least_squares(a=a, clip=0.5))(FPR)
    assert np.all(GaussianTradeoff(0.5)(FPR).lower <= clipped.upper + HAIR)  # never worse than the clip
    assert np.all(bound.lower <= clipped.upper)  # clipping helps


@pytest.mark.parametrize(
    ("mean", "variance"),
    [(0.0, 2.0), (1.0, 2.0), (-2.0, 1.1), (0.5, 30.0), (5.0, 1.001), (-3.0, 1.01), (40.1, 2.0)],
)
def test_unequal_gaussians(mean, variance):
    f = joint_concavity.unequal_gaussians(mean=mean, variance=variance)
    with mpmath.workdps(40):
        centre, root = -mpmath.mpf(mean) / (mpmath.mpf(variance) - 1), mpmath.sqrt(variance)
        nearest = max(abs(centre) - 1, 0)
        for r in (nearest + 0.05, nearest + 0.5, nearest + 1.3, nearest + 2.5):
            alpha = mpmath.ncdf(-centre - r) + mpmath.ncdf(centre - r)
            beta = mpmath.ncdf((centre + r - mean) / root) - mpmath.ncdf((centre - r - mean) / root)
            bracket = f(float(alpha))
            assert bracket.lower <= float(beta) + 1e-12 and float(beta) - 1e-12 <= bracket.upper
            assert bracket.upper - bracket.lower < 1e-4


def test_renyi_of_least_squares_is_infinite_from_two_on():
    order = np.array([1.01, 1.5, 1.9, 2.0, 3.0])
    bracket = joint_concavity.renyi_least_squares(a=1.0, order=order)
    assert bracket.status is Status.UNBOUNDED
    assert np.all(np.isinf(bracket.lower[3:])) and np.all(np.isinf(bracket.upper[3:]))
    with mpmath.workdps(30):
        for lam, low, high in zip(order[:3], bracket.lower, bracket.upper, strict=False):
            moment = mpmath.quad(
                lambda x, lam=lam: mpmath.npdf(x, 1, mpmath.sqrt(2)) ** lam * mpmath.npdf(x) ** (1 - lam),
                [-mpmath.inf, -10, 0, 10, 20, 40, mpmath.inf],
            )
            truth = mpmath.log(moment) / (lam - 1)
            assert low <= truth <= high and high - low < 1e-9 * truth
    assert joint_concavity.renyi_least_squares(a=1.0, order=9.9, noise=3.0).upper < math.inf
    assert joint_concavity.renyi_least_squares(a=1.0, order=10.0, noise=3.0).lower == math.inf
    # f-DP still proves something at every level
    assert joint_concavity.random_start_bound(joint_concavity.least_squares(a=1.0))(0.05).lower > 0.6
