"""Joint composition: tuples against enumeration in exact fractions; merged against unmerged ratios.

The oracle of a tuple is a matrix with one row for each combination of inputs and one column for each tuple of
outputs; it shares no code with the package.
"""

import math
from fractions import Fraction as F
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from scipy.stats import chisquare

import oracles
from oracles import neighbours
from oracles.mixtures import BENT, GRR, LOG, crooked, rr
from records import joint
from shufflelib import randomizers, shuffle
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.randomizers.cells import coarsened, mean_preserving_split
from shufflelib.randomizers.product_ratios import product_of_attacks, product_of_blankets
from test_contract import check_sound

DELTA = 1e-6


def test_two_equal_reports_with_many_outputs_keep_their_mass():
    pair = randomizers.gaussian(sigma=1.0).input_pairs()[0]
    for both in (product_of_blankets([pair.blanket] * 2), product_of_attacks([pair.attacks[0]] * 2)):
        for ratio, outside in ((both.r0_over_w, both.r0_outside), (both.r1_over_w, both.r1_outside)):
            assert math.fsum(both.w * ratio) + outside == pytest.approx(1.0, abs=1e-12)


# ---- the certificate


@pytest.mark.parametrize("seed", range(24))
def test_random_tuples_against_all_datasets(seed):
    """Two randomizers with two inputs and random distributions, one or both answers changing."""
    rng = np.random.default_rng(seed)
    rows = []
    for outputs in (2, int(rng.integers(2, 4))):
        weights = [[F(int(part)) for part in rng.integers(1, 7, outputs)] for _ in range(2)]
        rows.append([[part / sum(row) for part in row] for row in weights])
    distance = int(rng.integers(1, 3))
    record = joint("random", [crooked(part) for part in rows], rows, (1, 2), distance)
    check_sound(record)
    held, distributions = neighbours.tensor(rows)
    pairs = [
        (i, j)
        for i, j in permutations(range(len(held)), 2)
        if sum(a != b for a, b in zip(held[i], held[j], strict=True)) <= distance
    ]
    for n, ratio in product(record.users, (F(1), F(5, 4), F(2))):
        blanket = oracles.blanket_bound(distributions, n, ratio, pairs=pairs)
        upper = record.build(n).delta(LOG(ratio)).upper
        assert upper == pytest.approx(float(blanket), rel=1e-9, abs=1e-13)


def test_more_differing_coordinates_are_worse_and_equal_ones_do_not_help():
    """Four 10-ary responses at Hamming distance 1, ..., 4, against one response with the same budget."""
    parts = [randomizers.generalized_rr(eps0=0.25, d=10)] * 4
    brackets = [shuffle(randomizers.joint(parts, distance=h), n=10_000).epsilon(DELTA) for h in (1, 2, 3, 4)]
    assert all(a.upper < b.lower for a, b in pairwise(brackets))
    # the coordinates that agree still point at the user's tuple
    alone = shuffle(parts[0], n=10_000).epsilon(DELTA)
    assert brackets[0].lower > 1.02 * alone.upper
    assert brackets[3].upper < shuffle(randomizers.generic(eps0=1.0), n=10_000).epsilon(DELTA).lower


def test_published_numbers():
    joint = randomizers.joint([rr(3, 2), rr(2, 2), rr(5, 4)], distance=2)
    assert (
        joint.eps0 == pytest.approx(LOG(15)) and joint.p == pytest.approx(15) and joint.q == pytest.approx(30)
    )
    # the pair's true total variation is below β
    rows = neighbours.tensor([GRR(3, 2), GRR(5, 4)])[1]
    truth = max(sum(max(a - b, 0) for a, b in zip(rows[0], row, strict=True)) for row in rows)
    assert truth <= joint.beta <= 1.5 * truth


# ---- merging


def random_ratios(rng, atoms, with_outside=False):
    """Likelihood ratios of very different spread; some atoms vanish under one report."""
    first, second = np.exp(rng.uniform(-1, 1, (2, atoms)) * rng.choice([0.01, 0.3, 2.0, 6.0]))
    first[1:][rng.random(atoms - 1) < 0.05] = 0.0
    second[1:][(rng.random(atoms - 1) < 0.05) & (first[1:] > 0.0)] = 0.0
    mass = rng.dirichlet(np.full(atoms, 0.5)) * rng.uniform(0.2, 1.0)
    scale = 1.0 / (mass @ first), 1.0 / (mass @ second)
    outside = rng.uniform(0.0, 0.2, 2) * with_outside
    return LikelihoodRatios(
        first * scale[0] * (1 - outside[0]), second * scale[1] * (1 - outside[1]), mass, *outside
    )


def stop_loss(ratios, ratio, at):
    """E(G - at)_+ with the residual mass at G = 0, for arrays of ratios and of points."""
    gain = ratios.r0_over_w * ratio[:, None] - ratios.r1_over_w * (1.0 - ratio[:, None])
    listed = np.maximum(gain - at[:, None], 0.0) @ ratios.w
    return listed + (1.0 - ratios.w.sum()) * np.maximum(-at, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_split_is_above_and_coarsening_below_in_convex_order(seed):
    """Thousands of losses α a - β b, β/α from 0 to ∞: each keeps its mean and moves to the known side."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        ratios = random_ratios(rng, int(rng.integers(60, 300)), with_outside=True)
        up, down = mean_preserving_split(ratios, 60), coarsened(ratios, 60)
        assert down.w.size <= 140 and up.w.size <= 200
        ratio = rng.random(40)
        ratio[:2] = 0.0, 1.0
        scale = ratios.r0_over_w @ ratios.w + ratios.r1_over_w @ ratios.w
        at = rng.normal(size=40) * rng.choice([1e-3, 0.1, 1.0, 10.0], 40)
        middle, slack = stop_loss(ratios, ratio, at), 1e-12 * (scale + np.abs(at))
        assert np.all(stop_loss(up, ratio, at) >= middle - slack)
        assert np.all(stop_loss(down, ratio, at) <= middle + slack)
        for merged in (up, down):
            assert merged.w.sum() == pytest.approx(ratios.w.sum(), rel=1e-12)
            assert merged.w @ merged.r0_over_w == pytest.approx(ratios.w @ ratios.r0_over_w, rel=1e-12)
            assert merged.w @ merged.r1_over_w == pytest.approx(ratios.w @ ratios.r1_over_w, rel=1e-12)
            assert merged.max_privacy_loss <= ratios.max_privacy_loss * (1 + 1e-9) + 1e-9
            assert (merged.r0_outside, merged.r1_outside) == (ratios.r0_outside, ratios.r1_outside)


def test_products_multiply_masses_ratios_and_moments():
    rng = np.random.default_rng(9)
    for _ in range(300):
        all_ratios = [
            random_ratios(rng, int(rng.integers(2, 7)), with_outside=rng.random() < 0.5) for _ in range(3)
        ]
        whole = product_of_blankets(all_ratios)
        for power in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)):
            wanted = math.prod(
                part.w @ (part.r0_over_w ** power[0] * part.r1_over_w ** power[1]) for part in all_ratios
            )
            seen = math.prod(part.w[(part.r0_over_w > 0) | (part.r1_over_w > 0)].sum() for part in all_ratios)
            if power != (0, 0):
                got = whole.w @ (whole.r0_over_w ** power[0] * whole.r1_over_w ** power[1])
                assert got == pytest.approx(wanted, rel=1e-11)
            else:
                assert whole.w.sum() <= seen * (1 + 1e-12)
        outside = 1 - math.prod(1 - part.r0_outside for part in all_ratios)
        assert whole.r0_outside == pytest.approx(outside, rel=1e-11, abs=1e-300)


# ---- samples and estimates


def test_reports_follow_the_product_distribution_and_estimates_are_unbiased():
    rng = np.random.default_rng(3)
    joint = randomizers.joint([rr(3, 3), rr(2, 2)])
    n = 60_000
    x = (np.full(n, 2), np.full(n, 1))
    reports = joint.sample(x, rng)
    counts = np.bincount(2 * reports["report0"] + reports["report1"], minlength=6)
    distribution = np.outer(np.array(GRR(3, 3)[2], float), np.array(GRR(2, 2)[1], float)).ravel()
    assert chisquare(counts, n * distribution).pvalue > 1e-4
    first, second = joint.estimate(reports)
    assert np.allclose(first, [0, 0, 1], atol=0.03) and np.allclose(second, [0, 1], atol=0.03)

    mixed = randomizers.joint([randomizers.laplace(eps0=1.0), randomizers.rappor(eps0=2.0, d=4)])
    means = []
    for _ in range(300):
        held = (np.array([0.0, 0.25, 1.0, 0.5]), np.array([0, 1, 1, 3]))
        mean, shares = mixed.estimate(mixed.sample(held, rng))
        means.append([mean, *shares])
    means = np.array(means)
    error = means.std(axis=0) / np.sqrt(len(means))
    assert np.all(np.abs(means.mean(axis=0) - [0.4375, 0.25, 0.5, 0, 0.25]) < 4.5 * error)


# ---- refusals


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: randomizers.joint([rr(3, 2)], distance=2), "distance"),
        (lambda: randomizers.joint([randomizers.laplace(eps0=400.0)] * 2), "sum of the budgets"),
        (lambda: randomizers.joint([randomizers.generic(eps0=1.0)] * 2), "generic"),
        (lambda: randomizers.joint([randomizers.mixture([randomizers.generic(eps0=1.0)], [1.0])]), "generic"),
        (
            lambda: randomizers.joint([randomizers.poisson_sampled(randomizers.generic(eps0=1.0), rate=0.5)]),
            "generic",
        ),
        (
            lambda: randomizers.joint([randomizers.metric_generic(d01=1.0, dmax=2.0)]),
            "distributions of their own",
        ),
        (lambda: randomizers.joint([crooked(BENT)] * 12).input_pairs(), "pairs of tuples"),
    ],
)
def test_refuses_by_name(build, match):
    with pytest.raises((TypeError, ValueError), match=match):
        build()
