"""The loss-sum engine against exact rational convolution, enumeration against the contour."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

from claims import exact_losses
from shufflelib.numerics import nodes, positive_part_enumerated, positive_part_iid, saddle_point
from shufflelib.numerics.certified import LOG_ZERO, Interval, intersect
from shufflelib.numerics.logspace import UNIT
from shufflelib.numerics.positive_part_enumerated import ENUMERATION_LIMIT, Listed, ListedSums
from shufflelib.numerics.positive_part_iid import EqualLosses, LossDistributions


def distribution_of(values, masses, sizes, precision):
    return LossDistributions.of_one(values, masses, sizes, precision)


def by_list(distribution, n):
    """Return the list's bracket of one distribution, or None."""
    first, second = (0.5 * (distribution.sizes + side * distribution.values)[:, 0] for side in (1.0, -1.0))
    rest = distribution.masses[:, 0], distribution.zero_mass[0], distribution.precision
    listed = Listed.of(first, second, *rest, n, ENUMERATION_LIMIT)
    if listed is None:
        return None
    crude = positive_part_iid.union_upper_bound(distribution, n)
    found = ListedSums.of(listed).log_positive_part(np.zeros(1), crude)
    return Interval(*(float(end[0]) for end in found))


def expected_positive_part(distribution, n, **rest):
    """Return what a pair of distributions makes of both."""
    ends = positive_part_iid.expected_positive_part(distribution, n, **rest)
    ends = Interval(*(float(end[0]) for end in ends))
    return intersect(ends, by_list(distribution, n) or ends)


def by_contour(distribution, n, tolerance):
    """Return the integral's bracket of one distribution, in its own units."""
    scale, tolerance = np.max(np.abs(distribution.values), axis=0), np.array([tolerance])
    losses, unknown = distribution.losses(scale, n), np.full(1, math.inf)
    ends = saddle_point.by_contour(EqualLosses, losses, tolerance, 0.0 * tolerance, known=unknown)
    return Interval(*(float(end[0] + np.log(scale[0])) for end in ends))


def exact_mean(values, masses, n):
    """Return E[(G_1 + … + G_n)_+] in fractions."""
    atoms = [*zip(values, masses, strict=True), (F(0), 1 - sum(masses))]
    return n * exact_losses.expected_positive_part(exact_losses.summed(atoms), n)


def log(fraction):
    with mpmath.workdps(40):
        return mpmath.log(mpmath.mpf(fraction.numerator) / fraction.denominator) if fraction else -mpmath.inf


def random_distribution(rng):
    """Draw a distribution of losses a − E b as they occur: ratios in [1/e, e], masses over four decades."""
    atoms = int(rng.integers(1, 4))
    n = int(rng.integers(2, 26 if atoms < 3 else 12))
    e = F(int(rng.integers(11, 400)), 10) if rng.random() < 0.7 else F(int(rng.integers(10001, 12000)), 10000)
    ratio = 1 + (e - 1) * F(int(rng.integers(0, 100)), 100)
    pool = [(F(1), e), (e, F(1)), (F(1), F(1)), (e, e), (1 / e, 1 / e), (F(1), (1 + e) / 2)]
    pairs = [pool[i] for i in rng.choice(len(pool), atoms, replace=False)]
    masses = [F(int(10 ** rng.uniform(0, 4)), 20000 * atoms) for _ in pairs]
    values = [a - ratio * b for a, b in pairs]
    sizes = [a + ratio * b for a, b in pairs]
    distribution = distribution_of(
        *(np.array([float(part) for part in column]) for column in (values, masses, sizes)), 1e-15
    )
    return distribution, values, masses, n


@pytest.mark.parametrize("seed", range(60))
def test_both_ways_enclose_the_rational_value(seed):
    distribution, values, masses, n = random_distribution(np.random.default_rng(seed))
    truth = log(exact_mean(values, masses, n))
    if not np.any(distribution.values > 0):
        assert expected_positive_part(distribution, n) == LOG_ZERO
        assert truth == -mpmath.inf
        return
    listed = by_list(distribution, n)
    assert listed.lower <= truth <= listed.upper
    assert listed.upper - listed.lower < 1e-9
    for tolerance in (1e-2, 1e-6):
        bracket = by_contour(distribution, n, tolerance)
        assert bracket.lower <= truth <= bracket.upper


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("values", [(F(3, 2), F(-11, 10)), (F(3, 2), F(-21, 10), F(1, 3))])
def test_the_contour_is_sharp_where_the_sum_is_never_0(values, n):
    share, floats = F(1, len(values)), np.array(values, float)
    distribution = distribution_of(floats, np.full(floats.size, float(share)), np.abs(floats), 1e-15)
    truth = log(exact_mean(values, [share] * floats.size, n))
    bracket = by_contour(distribution, n, 1e-6)
    assert truth - 1e-10 < bracket.lower <= truth <= bracket.upper < truth + 1e-10


@pytest.mark.parametrize("n", [3, 40, 1000])
@pytest.mark.parametrize("factor", [1 - 1e-6, 1 + 1e-6])
def test_a_wrong_value_is_noticed(n, factor):
    """The brackets are tight enough to expel a value that is off by 1e-6."""
    distribution = distribution_of(np.array([1.5, -2.1]), np.array([0.2, 0.2]), np.array([1.5, 2.1]), 1e-15)
    truth = log(exact_mean([F(3, 2), F(-21, 10)], [F(1, 5), F(1, 5)], n)) if n <= 40 else None
    bracket = expected_positive_part(distribution, n, tolerance=1e-8)
    assert bracket.upper - bracket.lower < 2e-6  # an atom at 0 widens it at n = 1000
    if truth is not None:
        assert not bracket.lower <= truth + math.log(factor) <= bracket.upper


@pytest.mark.parametrize("n", [1000, 10**4])
def test_a_sum_that_is_often_0_is_smoothed_less(n):
    distribution = distribution_of(np.array([1.5, -2.1]), np.array([0.2, 0.2]), np.array([1.5, 2.1]), 1e-15)
    bracket = expected_positive_part(distribution, n, tolerance=1e-6)
    assert bracket.upper - bracket.lower < 1.1e-6  # nine times as wide from one quadrature


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 10**15])
def test_large_sums_meet_their_gaussian_limit(n):
    """At five standard deviations and n → ∞ the value tends to the Gaussian one at rate 1/√n."""
    masses = np.array([0.25, 0.25])
    z = 5.0
    drift = -z * math.sqrt(0.5 / n)
    # mean 'drift' and variance 0.5 up to O(drift²)
    distribution = distribution_of(
        np.array([1.0 + 2 * drift, -1.0 + 2 * drift]), masses, np.array([1.0, 1.0]), 1e-16
    )
    bracket = expected_positive_part(distribution, n, tolerance=1e-6)
    gaussian = mpmath.npdf(z) - z * mpmath.ncdf(-z)
    limit = math.log(float(gaussian) * math.sqrt(0.5 * n))
    assert bracket.upper - bracket.lower < 2e-5
    assert expected_positive_part(distribution, n, tolerance=1e-6, known=bracket.upper) == bracket
    assert abs(bracket.upper - limit) < 100 / math.sqrt(n) + 2e-5


@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize("rare", [F(1, 8), F(1, 1000), F(1, 10**9)])
def test_rare_losses_leave_the_sum_of_positive_parts(n, rare):
    values, masses = [F(1), F(-3, 2)], [rare / 2, rare / 4]
    distribution = distribution_of(
        np.array([1.0, -1.5]), np.array(masses, float), np.array([1.0, 1.5]), 1e-15
    )
    truth = log(exact_mean(values, masses, n))
    low, high = (
        float(bound(distribution, n)[0])
        for bound in (positive_part_iid.single_positive_lower_bound, positive_part_iid.union_upper_bound)
    )
    assert low <= truth <= high
    assert high - low <= n * float(rare / 3) + 1e-12
    alone = log(n * masses[0] * (1 - masses[1]) ** (n - 1))
    assert 1e-14 < alone - low < 1e-12  # no more than the rounding it is charged


@pytest.mark.parametrize("n", [3, 40, 10**4, 2 * 10**5])
@pytest.mark.parametrize("values", [(1.0, -1.0), (1.0, -0.5), (1.0, 0.3, -0.7)])
def test_nodes_left_out_hold_nothing(values, n):
    """A lattice's characteristic function comes back to 1 far from the real axis; no such node is skipped."""
    values, masses = np.array(values), np.full(len(values), 0.9 / len(values))
    sizes, ones = 0.01 * np.abs(values[:, None]), np.ones(1)
    losses = saddle_point.Losses(
        0.01 * values[:, None], masses[:, None], sizes, 0.1 * ones, ones, float(n) * ones, 1e-15
    )
    line = EqualLosses(losses, math.inf * ones)
    step, smoothing, count = 2.0 * math.pi / 15.0, 1e-8, 20_701
    number = np.arange(count)
    phi = 1.0 + nodes.cf_minus_one(np.outer(step * number, 0.01 * values)) @ line.tilt.masses[:, 0]
    terms = (
        phi**n / (1.0 + 1j * step * number) ** 2 * np.exp(0.5 * smoothing * (1.0 + 1j * step * number) ** 2)
    )
    terms[0] *= 0.5
    smooth, _, _ = saddle_point._quadratures(
        line, smoothing * ones, step * ones, np.array([count]), 60.0 * ones
    )
    assert smooth[0] == pytest.approx(np.sum(terms.real), rel=1e-9)


@pytest.mark.parametrize("count", [1, 2, 15, 16, 1000])
def test_turns_from_two_tables_lose_no_more_than_a_few_roundings(count):
    angles = np.append(0.0, np.random.default_rng(7).normal(size=40) * 10.0 ** np.arange(-39, 1))
    turned = nodes.cf_minus_one_of_multiples(angles, count)
    assert turned.shape == (count, angles.size)
    with mpmath.workdps(60):
        for k in (0, count // 3, count - 1):
            for j, angle in enumerate(angles):
                exact = mpmath.expjpi(k * mpmath.mpf(angle) / mpmath.pi) - 1
                assert abs(exact - complex(turned[k, j])) <= 8 * UNIT * k * abs(angle)


@pytest.mark.parametrize("n", [2, 40_000, 150_000, 10**15])
def test_a_long_list_of_counts_is_weighed_as_well_as_it_says(n):
    most = min(n, 39_999)
    counts, _, log_weight, size = positive_part_enumerated._count_vectors(1, most, n)
    with mpmath.workdps(60):
        for k in {0, 1, most // 3, most // 2, most - 1, most}:
            here = int(np.flatnonzero(counts[:, 0] == k)[0])
            exact = mpmath.loggamma(n + 1) - mpmath.loggamma(n - k + 1) - mpmath.loggamma(k + 1)
            assert abs(log_weight[here] - exact) <= size[here] * UNIT


def test_losses_too_small_to_be_measured_in_the_largest_are_not_forgotten():
    values = np.array([-4.35e-196, -8.03e173, 4.40e-236, -7.77e-92, 1.23e-198])
    distribution = distribution_of(values, np.full(5, 3 / 16), np.abs(values), 1e-14)
    truth = log(exact_mean([F(x) for x in values], [F(3, 16)] * 5, 4))
    bracket = expected_positive_part(distribution, 4)
    assert bracket.lower <= truth <= bracket.upper < truth + 5.0


@pytest.mark.parametrize("precision", [1e-2, 1e-4, 0.0])
@pytest.mark.parametrize("n", [1, 5])
def test_the_bound_without_cancellation_holds_for_every_distribution_within_its_precision(n, precision):
    """Terms and masses all too small by ``precision``: the largest pmf that the given one may stand for."""
    distribution = distribution_of(
        np.array([1.0, 0.25]), np.array([0.5, 0.125]), np.array([1.5, 0.25]), precision
    )
    far = F(precision)
    truth = n * sum(
        (F(value) + F(size) * far) * F(mass) * (1 + far)
        for value, size, mass in zip(
            *(part[:, 0].tolist() for part in (distribution.values, distribution.sizes, distribution.masses)),
            strict=True,
        )
    )
    end = float(positive_part_iid.union_upper_bound(distribution, n)[0])
    assert log(truth) <= end <= log(truth) + 0.6 * precision**2 + 200 * UNIT


def test_the_bound_without_cancellation_holds_for_masses_of_any_size():
    """The logarithm of a small mass is a large number, and its last digit is worth much."""
    for exponent in np.linspace(-1000.0, 0.0, 301):
        mass = 2.0**exponent
        end = positive_part_iid.union_upper_bound(
            distribution_of(np.ones(1), np.array([mass]), np.ones(1), 0.0), 1
        )[0]
        truth = log(F(mass))
        assert truth <= end <= truth + (100 + 8 * abs(truth)) * UNIT
    never = distribution_of(np.array([-1.0, -0.5]), np.array([0.5, 0.25]), np.array([1.0, 0.5]), 1e-15)
    assert positive_part_iid.union_upper_bound(never, 3) == -math.inf
