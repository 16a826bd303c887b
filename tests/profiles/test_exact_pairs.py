"""Small pairs whose trade-off function, δ and Rényi divergence are known exactly lie in tight brackets."""

import math
from fractions import Fraction as F
from itertools import product

import mpmath
import numpy as np
import pytest

import oracles
from shufflelib.numerics.certified import Interval
from shufflelib.numerics.logspace import UNIT
from shufflelib.profiles import DiscretePair

CASES = list(product([2, 3, 5, 17, 60], range(4)))
HALF = math.log(0.5)


def drawn(size, seed):
    """Return a `DiscretePair` and its two pmfs, exact: the floats' own ratios, divided by their sum."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1000, size=(2, size))
    p, q = ([F(int(w), int(row.sum())) for w in row] for row in weights)
    with mpmath.workdps(40):
        logs = [
            [float(mpmath.log(mpmath.mpf(x.numerator) / x.denominator)) for x in distribution]
            for distribution in (p, q)
        ]
    return DiscretePair(*map(np.array, logs)), p, q


def truth_of(p, q, fpr):
    return oracles.tradeoff(dict(enumerate(zip(p, q, strict=True))), F(float(fpr)))


@pytest.mark.parametrize("size, seed", CASES)
def test_false_negative_rates_enclose_neyman_and_pearsons(size, seed):
    pair, p, q = drawn(size, seed)
    for fpr in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
        for one, (first, second) in ((pair, (p, q)), (pair.reversed, (q, p))):
            low, high = one.false_negatives(fpr)
            truth = truth_of(first, second, fpr)
            assert F(low) <= truth <= F(high), (fpr, low, high)
            assert high - low < 1e-12


@pytest.mark.parametrize("size, seed", CASES)
def test_delta_encloses_the_fraction(size, seed):
    pair, p, q = drawn(size, seed)
    for eps in (0.0, 0.05, 0.3, 1.0):
        with mpmath.workdps(40):
            ratio = mpmath.exp(eps)
            terms = [mpmath.mpf(a.numerator) / a.denominator - ratio * b.numerator / b.denominator
                     for a, b in zip(p, q, strict=True)]  # fmt: skip
            truth = mpmath.fsum(max(term, 0) for term in terms)
            bracket = pair.log_hockey_stick(eps)
            assert mpmath.exp(mpmath.mpf(bracket.lower)) <= truth <= mpmath.exp(mpmath.mpf(bracket.upper))
            assert truth == 0 or bracket.upper - bracket.lower < 1e-12


@pytest.mark.parametrize("size, seed", CASES)
def test_renyi_encloses_the_sum(size, seed):
    pair, p, q = drawn(size, seed)
    for order in (1.01, 1.5, 2.0, 7.0, 100.0):
        with mpmath.workdps(40):
            moment = mpmath.fsum(
                (mpmath.mpf(a.numerator) / a.denominator) ** order
                * (mpmath.mpf(b.numerator) / b.denominator) ** (1 - mpmath.mpf(order))
                for a, b in zip(p, q, strict=True)
            )
            truth = mpmath.log(moment) / (mpmath.mpf(order) - 1)
            low, high = pair.renyi_directed(order)
            assert low <= truth <= high
            assert high - low < 1e-11 * max(1.0, math.ceil(truth))


@pytest.mark.parametrize("size", [1, 7, 300, 5000])
def test_the_rounding_of_the_sum_alone_is_inside_the_ends(size):
    """Masses taken as exact leave nothing to the ends but the sum's own rounding."""
    rng = np.random.default_rng(size)
    for spread in (0.0, 1.0, 30.0):
        log_p = -rng.uniform(0.0, 1.0 + spread, size)
        log_p -= np.log(np.sum(np.exp(log_p))) + rng.uniform(0.01, 1.0)
        told = np.full(size, np.inf)
        pair = DiscretePair.from_losses(log_p, -told, told)
        bracket = pair.log_hockey_stick(0.3)
        with mpmath.workdps(40):
            truth = mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(x)) for x in log_p))
            assert bracket.lower < truth < bracket.upper
        assert bracket.upper - bracket.lower < 64 * UNIT


def test_atoms_told_with_their_losses_are_sorted_and_those_of_neither_distribution_left_out():
    log_p, log_q = np.array([HALF, -math.inf, -math.inf, HALF]), np.array([HALF, HALF, -math.inf, -math.inf])
    told = np.array([0.25, math.nan, math.nan, math.nan])  # read where both distributions have the atom
    pair = DiscretePair.from_losses(log_p, log_q, told)
    assert pair.loss.lower.tolist() == pair.loss.upper.tolist() == [-math.inf, 0.25, math.inf]
    assert pair.log_p.lower.tolist() == [-math.inf, HALF, HALF]
    assert pair.log_q.upper.tolist() == [HALF, HALF, -math.inf]


@pytest.mark.parametrize("seed", range(20))
def test_false_negative_rates_hold_for_masses_off_by_their_stated_error(seed):
    rng, error = np.random.default_rng(seed), 1e-6
    p, q = (part / part.sum() for part in 10.0 ** -rng.uniform(0.0, 8.0, (2, 2 + seed % 4)))
    order = np.argsort(p / q)
    p, q, atoms = p[order], q[order], np.arange(p.size)
    loss = np.log(p) - np.log(q)
    log_p, log_q = (Interval.of(np.log(part)).widened(absolute=error) for part in (p, q))
    pair = DiscretePair.from_losses(log_p, log_q, Interval.of(loss).widened(absolute=2 * error))
    knots = np.cumsum(p)[:-1]
    off = F(999, 1000) * F(error)
    for fpr in (
        0.3,
        0.9,
        *knots,
        *(knots * (1 - error / 4)),
        *(knots * (1 + error / 4)),
        *(knots * (1 - 4 * error)),
    ):
        low, high = pair.false_negatives(float(fpr))
        for first, side, against in product(range(p.size + 1), (1, -1), (1, -1)):
            signs = [side if atom < first else -side for atom in atoms]
            distributions = (
                [
                    F(float(mass)) * (1 + way * sign * off)
                    for mass, sign in zip(distribution, signs, strict=True)
                ]
                for distribution, way in ((p, 1), (q, against))
            )
            first_distribution, second_distribution = (
                [mass / sum(distribution) for mass in distribution] for distribution in distributions
            )
            assert F(low) <= truth_of(first_distribution, second_distribution, fpr) <= F(high)


def test_a_false_negative_rate_is_known_beside_the_last_knot():
    """The sum up to there rounds by more than the masses beyond it weigh."""
    log_p, log_q = (
        [-8.215648073604084e-14, -30.130150664481928],
        [-3.4119221497505697e-40, -90.87612790699569],
    )
    low, high = DiscretePair(np.array(log_p), np.array(log_q)).false_negatives(0.9999999999999178)
    with mpmath.workdps(60):
        p, q = ([mpmath.exp(mpmath.mpf(part)) for part in side] for side in (log_p, log_q))
        truth = 1 - (mpmath.mpf(0.9999999999999178) / (p[0] / sum(p))) * (q[0] / sum(q))
    assert low <= truth <= high


@pytest.mark.parametrize(
    ("log_p", "log_q", "fpr", "low", "high"),
    [
        ([HALF, HALF], [0.0, -800.0], 0.7, 0.0, 1e-322),
        ([HALF, HALF], [0.0, -735.0], 0.7, 3.7e-320, 3.8e-320),
    ],
    ids=["a rate", "a rate that is subnormal"],
)
def test_what_no_float_holds_is_enclosed(log_p, log_q, fpr, low, high):
    found = DiscretePair(np.array(log_p), np.array(log_q)).false_negatives(fpr)
    with mpmath.workdps(60):
        p, q = ([mpmath.exp(mpmath.mpf(part)) for part in side] for side in (log_p, log_q))
        left, truth = mpmath.mpf(fpr), mpmath.mpf(0)
        for a, b in zip(p, q, strict=True):
            share = min(left / a * sum(p), 1)
            left, truth = left - share * a / sum(p), truth + (1 - share) * b / sum(q)
        assert found[0] <= truth <= found[1]
    assert low <= found[0] and found[1] <= high
