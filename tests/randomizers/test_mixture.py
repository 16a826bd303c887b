"""Mixtures of randomizers against enumeration in exact fractions; running them; what they refuse.

The oracle of a mixture is a matrix with one row for each combination of inputs, one column for each output of
each component; it shares no code with the package.
"""

from collections import Counter
from fractions import Fraction as F
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

import oracles
from oracles.mixtures import LOG, MIXTURES, direct_sum, mixture, rr
from shufflelib import randomizers, shuffle

# ---- the mixture's certificate

CASES = {
    name: (mixture(parts, weights), direct_sum(rows, weights))
    for name, (parts, weights, rows, _) in MIXTURES.items()
}
each_case = pytest.mark.parametrize(("mixed", "rows"), CASES.values(), ids=CASES)


@each_case
@pytest.mark.parametrize("ratio", [F(3, 2), F(2)])
def test_the_upper_end_is_the_blanket_of_the_direct_sum_over_all_pairs(mixed, rows, ratio):
    """All ordered pairs of inputs, those that agree in some component among them."""
    for n in (1, 2):
        assert shuffle(mixed, n=n).delta(LOG(ratio)).upper == pytest.approx(
            float(oracles.blanket_bound(rows, n, ratio)), rel=1e-6
        )


@each_case
def test_the_blanket_has_the_mass_of_the_infimum_and_a_report_has_mass_one(mixed, rows):
    least = float(sum(map(min, zip(*rows, strict=True))))
    for pair in mixed.input_pairs():
        assert pair.blanket.w.sum() == pytest.approx(least, rel=1e-13)
        for ratios in (pair.blanket, *pair.attacks):
            report = ratios.w @ ratios.r0_over_w + ratios.r0_outside
            assert report == pytest.approx(1.0, rel=1e-13)


@each_case
def test_beta_is_the_total_variation(mixed, rows):
    best = max(sum(abs(a - b) for a, b in zip(*pair, strict=True)) / 2 for pair in permutations(rows, 2))
    if "crooked" not in repr(mixed).lower() and "local_hash" not in repr(mixed):  # E8
        assert mixed.beta == pytest.approx(float(best), rel=1e-13)


# ---- samples and estimates


def test_reports_follow_the_distribution():
    mix, rng, n = randomizers.mixture([rr(3, 2), rr(2, 3)], [0.3, 0.7]), np.random.default_rng(1), 60_000
    reports = mix.sample((np.ones(n, int), np.full(n, 2)), rng)
    seen = Counter((int(k), int(a if k == 0 else b)) for k, a, b in reports)
    wanted = {(0, 0): 0.075, (0, 1): 0.225, (1, 0): 0.175, (1, 1): 0.175, (1, 2): 0.35}
    assert chisquare([seen[key] for key in wanted], [n * wanted[key] for key in wanted]).pvalue > 1e-4
    hidden = np.where(reports["component"] == 0, reports["report1"], reports["report0"])
    assert not hidden.any()  # what was not drawn is not told


def test_components_of_every_kind_are_sampled_and_estimated():
    parts = [
        randomizers.generalized_rr(eps0=4.0, d=3),
        randomizers.rappor(eps0=4.0, d=3),
        randomizers.local_hash(eps0=4.0, d=3),
        randomizers.laplace(eps0=4.0),
    ]
    mix, n, rng = randomizers.mixture(parts, [0.4, 0.3, 0.2, 0.1]), 40_000, np.random.default_rng(2)
    items = np.arange(n) % 3
    reports = mix.sample((items, items, items, items / 2.0), rng)
    assert reports.shape == (n,) and reports["report1"].shape == (n, 3)
    for estimate in mix.estimate(rng.permutation(reports))[:3]:
        assert np.allclose(estimate, 1 / 3, atol=0.05)
    assert abs(mix.estimate(reports)[3] - 0.5) < 0.05


# ---- bad input


def test_running_refuses():
    mix, rng = randomizers.mixture([rr(3, 2), rr(3, 3)], [0.5, 0.5]), np.random.default_rng(0)
    reports = mix.sample(([0, 1], [2, 0]), rng)
    for x, error, match in (
        ([0, 1, 1], TypeError, "tuple of 2"),
        (np.zeros((2, 5), int), TypeError, "tuple of 2"),
        (([0, 1], [2]), ValueError, "every user"),
        (([0, 2], [2, 0]), ValueError, "x must be"),
        (([], []), ValueError, "empty"),
    ):
        with pytest.raises(error, match=match):
            mix.sample(x, rng)
    with pytest.raises(TypeError, match="Generator"):
        mix.sample(([0, 1], [2, 0]), 0)
    for wrong in (np.zeros(3), reports["report0"], [(0, 1, 0)]):
        with pytest.raises(TypeError, match="structured array"):
            mix.estimate(wrong)
    reports["component"] = 2
    with pytest.raises(ValueError, match="component"):
        mix.estimate(reports)
