"""Gradients of single examples: norms from factors, and none clipped is beyond its bound."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sgd_cases import RNG, WIDTHS, block, single
from shufflelib.sgd import ExampleGradients, Network


@pytest.mark.parametrize("widths", WIDTHS)
def test_norms_from_factors_are_those_of_whole_gradients_rounded_up(widths):
    parameters, features, labels = block(widths, 50)
    gradients = Network(widths).gradients(parameters, features, labels)
    for order, norms in ((1, gradients.l1_norms()), (2, gradients.l2_norms())):
        exact = np.array([np.linalg.norm(single(gradients, j), ord=order) for j in range(50)])
        assert np.all(norms >= exact) and np.all(norms <= exact * (1 + 1e-4))


def exact_norm_to_the(order, vector):
    return sum(abs(Fraction(float(entry))) ** order for entry in vector)


@pytest.mark.parametrize("seed", range(3))
def test_no_example_exceeds_the_bound_in_exact_arithmetic_however_large_its_factors(seed):
    """Large inputs make small weights: below the normal range of single precision rounding is not small."""
    rng = RNG(seed)
    close = 0
    for _ in range(200):
        bound = 10.0 ** rng.uniform(-15, 9)
        size = 10.0 ** rng.uniform(-40, 38)
        a = (rng.choice([-1, 1], (1, 3)) * size).astype(np.float32)
        d = rng.normal(size=(1, 4)) * min(1e29 * bound / size, 1e30) * 10.0 ** rng.uniform(-30, 0)
        gradients = ExampleGradients([a], [d.astype(np.float32)])
        for order, norms in ((1, gradients.l1_norms()), (2, gradients.l2_norms())):
            clipped = exact_norm_to_the(order, gradients.clipped_mean(norms, bound))
            assert clipped <= Fraction(bound) ** order
            close += clipped > Fraction(0.999 * bound) ** order
    assert close > 20


def test_norms_in_extreme_ranges_are_rounded_up():
    rng = RNG(4)
    for size in 10.0 ** np.arange(-44, 38, 3):
        a = (rng.normal(size=(1, 9)) * size).clip(-3e38, 3e38).astype(np.float32)
        d = (rng.normal(size=(1, 4)) * 10.0 ** rng.uniform(-44, 0)).astype(np.float32)
        gradients = ExampleGradients([a], [d])
        for order, norm in ((1, gradients.l1_norms()[0]), (2, gradients.l2_norms()[0])):
            if np.isfinite(norm):
                exact = (exact_norm_to_the(order, a[0]) + 1) * exact_norm_to_the(order, d[0])
                assert exact <= Fraction(float(norm)) ** order <= exact * Fraction(1001, 1000)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_gradients_that_are_no_numbers_count_as_zero_and_spare_the_others(wrong):
    network = Network((5, 7, 3))
    parameters, features, labels = block((5, 7, 3), 4)
    features[2, 1] = wrong
    gradients = network.gradients(parameters, features, labels)
    rest = network.gradients(parameters, features[[0, 1, 3]], labels[[0, 1, 3]])
    for norms, kept in ((gradients.l1_norms(), rest.l1_norms()), (gradients.l2_norms(), rest.l2_norms())):
        assert not np.isfinite(norms[2])
        found = gradients.clipped_mean(norms, 2.0)
        assert np.allclose(found, 0.75 * rest.clipped_mean(kept, 2.0), rtol=1e-5, atol=1e-7)


def test_no_examples_add_up_to_nothing():
    none = ExampleGradients([np.zeros((0, 3), np.float32)], [np.zeros((0, 2), np.float32)])
    for total in (
        none.mean(),
        none.clipped_mean(none.l1_norms(), 1.0),
        none.clipped_mean(none.l2_norms(), 1.0),
    ):
        assert total.shape == (8,) and not total.any()
