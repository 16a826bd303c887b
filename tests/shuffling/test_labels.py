"""Public labels of reports: the crowd of a user is the other users of the same label."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from claims.exact_shuffle import randomized_response
from oracles import neighbours
from oracles.brute_force import both_ways
from shufflelib import randomizers, record, shuffle
from shufflelib.registry import check

# eps0, n -> bracket of ε at 1e-8 with 65,536 rows of a sketch, by mixtures over rows
SKETCHES = [
    (4.0, 10**7, 2.97, 3.74),
    (4.0, 10**8, 1.24, 1.44),
    (2.0, 10**7, 0.886, 1.174),
    (2.0, 10**8, 0.261, 0.306),
]


@pytest.mark.parametrize(("eps0", "n", "lower", "upper"), SKETCHES)
def test_rows_of_a_count_sketch(eps0, n, lower, upper):
    found = shuffle(randomizers.rappor(eps0=eps0, d=1024), n=n, labels=65_536).epsilon(1e-8)
    assert lower <= found.lower <= found.upper <= upper


def test_the_crowd_is_that_of_a_label():
    """δ is the mean over the number of others with the label."""
    rows, ratio = randomized_response(4, 3), F(3, 2)
    for n, labels in ((3, 2), (4, 3), (5, 4)):
        alone = [max(both_ways(one, ratio) for one in neighbours.shuffled(rows, m)) for m in range(1, n + 1)]
        share = F(1, labels)
        mean = sum(math.comb(n - 1, m) * share**m * (1 - share) ** (n - 1 - m) * alone[m] for m in range(n))
        found = shuffle(randomizers.generalized_rr(eps0=math.log(4), d=3), n=n, labels=labels).delta(
            math.log(1.5)
        )
        assert found.lower <= mean * (1 + 1e-9) and mean <= found.upper * (1 + 1e-9)
        assert found.upper <= 1.1 * mean


def test_the_bound_is_the_mean_of_the_bounds_of_all_crowds():
    mechanism = randomizers.subset(eps0=1.0, d=10)
    for n, labels in ((30, 7), (40, 20)):
        share = 1 / labels
        mass = [math.comb(n - 1, m) * share**m * (1 - share) ** (n - 1 - m) for m in range(n)]
        found = shuffle(mechanism, n=n, labels=labels).delta(np.array([0.1, 0.5]))
        every = [shuffle(mechanism, n=m + 1).delta(np.array([0.1, 0.5])).upper for m in range(n)]
        assert found.upper == pytest.approx(np.array(mass) @ np.array(every), rel=1e-3)


def test_cohorts_of_bloom_filters():
    bits = randomizers.unary.rappor(d=128, h=2, f=0.0, p=0.35, q=0.65)
    fixed, drawn = shuffle(bits, n=10_000).epsilon(1e-6), shuffle(bits, n=10**6, labels=100).epsilon(1e-6)
    assert fixed.upper < drawn.upper < 1.001 * fixed.upper
    assert drawn.lower == pytest.approx(fixed.lower, rel=1e-3)


def test_one_label_is_none():
    one, none = (shuffle(randomizers.laplace(eps0=1.0), n=100, **labels) for labels in ({"labels": 1}, {}))
    assert repr(one) == repr(none) and one.epsilon(1e-6).upper == none.epsilon(1e-6).upper


def test_more_labels_are_less_private_up_to_the_local_budget():
    mechanism = randomizers.binary_rr(eps0=2.0)
    uppers = [shuffle(mechanism, n=1000, labels=labels).epsilon(1e-6).upper for labels in (2, 10, 100, 10**9)]
    assert uppers == sorted(uppers) and uppers[-1] == pytest.approx(2.0, rel=1e-5)


def test_unbounded_losses_have_labels_too():
    """At order 16 the tails decide, which are bounded apart."""
    profile = shuffle(randomizers.gaussian(sigma=1.0), n=10_000, labels=10)
    fixed = shuffle(randomizers.gaussian(sigma=1.0), n=1000)
    for question in (lambda one: one.epsilon(1e-6), lambda one: one.renyi(16.0)):
        found, known = question(profile), question(fixed)
        assert 0.95 * known.upper < found.upper < 1.1 * known.upper
        assert 0.9 * known.lower < found.lower < found.upper


def test_what_is_said_names_the_labels():
    profile = shuffle(randomizers.binary_rr(eps0=1.0), n=1000, labels=10)
    assert repr(profile) == "shuffle(binary_rr(eps0=1.0), n=1000, labels=10)"
    text = str(profile.compose(3).epsilon(1e-6))
    for words in ("each with one of 10 public labels", "anew in each round", "may be known, being kept"):
        assert words in text
    with pytest.raises(ValueError, match="profile must cover replacing a value by that of any other user"):
        profile.subsample(0.5)
    found = record(profile, delta=1e-6)
    assert found["shuffle_model"]["mechanism"]["labels"] == 10
    assert found["shuffle_model"]["neighbours"] == "restricted" and check(found).verdict == "holds"


def test_masses_that_underflow_among_labels():
    """Of 170 bits all are one with a chance of 1e-300: a hundredth of that is no normal float."""
    mechanism = randomizers.rappor(eps0=8.0, d=170)
    fixed = shuffle(mechanism, n=10_000).epsilon(1e-6)
    found = shuffle(mechanism, n=10**6, labels=100).epsilon(1e-6)
    assert found.upper == pytest.approx(fixed.upper, rel=1e-2)
    assert found.lower == pytest.approx(fixed.lower, rel=1e-2)


def test_ratios_that_are_hardly_floats_among_labels():
    mechanism = randomizers.laplace(eps0=650.0)
    for eps in (300.0, 649.0):
        found, fixed = (
            shuffle(mechanism, n=100 * share, **labels).delta(eps)
            for share, labels in ((100, {"labels": 100}), (1, {}))
        )
        assert found.lower <= found.upper and 0.9 * fixed.lower <= found.upper <= 1.0


@pytest.mark.parametrize("eps0", [700.0, 1e-12])
def test_most_labels_at_the_ends_of_budgets(eps0):
    asked = np.array([0.0, 0.5 * eps0, 0.99 * eps0])
    for mechanism in (randomizers.generalized_rr(eps0=eps0, d=4), randomizers.rappor(eps0=eps0, d=4)):
        local = shuffle(mechanism, n=1).delta(asked).upper
        for n, labels in ((1, 10**15), (10**15, 10**15), (10**15, 2)):
            found = shuffle(mechanism, n=n, labels=labels).delta(asked)
            assert (found.lower <= found.upper).all() and (found.upper <= 1.01 * local).all()
            assert eps0 < 1 or found.lower[0] > 1 - 1e-12  # e^700 to one that nobody lies
