"""Mixtures of randomizers against enumeration in exact fractions; running them; what they refuse.

The oracle of a mixture is a matrix with one row for each combination of inputs, one column for each output of
each component; it shares no code with the package.
"""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from scipy.stats import chisquare

import oracles
from oracles.mixtures import CASES, GRR, LOG, RATIOS, SUBSET, binary_levels, each_case, hierarchy, rr
from shufflelib import randomizers, shuffle
from shufflelib.profiles.likelihood_ratios import InputPair

NUDGE = F(1, 10**12)
DELTA = 1e-6


# ---- the mixture's certificate


@each_case
@pytest.mark.parametrize("ratio", RATIOS[1:])
def test_the_upper_end_is_the_blanket_of_the_direct_sum_over_all_pairs(case, ratio):
    """All ordered pairs of inputs, those that agree in some component among them."""
    for n in case.users[:2]:
        assert shuffle(case.mixture, n=n).delta(LOG(ratio)).upper == pytest.approx(
            float(oracles.blanket_bound(case.rows, n, ratio)), rel=1e-6
        )


@pytest.mark.parametrize("name", ["2-RR, 3-RR", "two budgets", "crooked"])
def test_the_worst_pair_differs_in_every_component(name):
    case = CASES[name]
    shape = [2, 3] if name == "2-RR, 3-RR" else [2, 2]
    held = list(product(*map(range, shape)))
    everywhere = [
        (i, j)
        for i, j in permutations(range(len(held)), 2)
        if all(a != b for a, b in zip(held[i], held[j], strict=True))
    ]
    for ratio in RATIOS:
        assert oracles.blanket_bound(case.rows, 2, ratio, pairs=everywhere) == oracles.blanket_bound(
            case.rows, 2, ratio
        )


def test_the_order_of_a_pair_matters_where_a_component_is_crooked():
    """(x0, x1) in one component with (x1, x0) in the other is worse than the same order in both."""
    case, ratio = CASES["crooked"], F(3, 2)
    same, mixed = [(0, 3), (3, 0)], [(1, 2), (2, 1)]
    ends = [oracles.blanket_bound(case.rows, 2, ratio, pairs=pairs) for pairs in (same, mixed)]
    assert abs(ends[0] - ends[1]) > F(1, 100)
    assert len(case.mixture.input_pairs()) == 2
    assert len(CASES["two budgets"].mixture.input_pairs()) == 1


@pytest.mark.parametrize(
    "rows",
    [GRR(3, 3), SUBSET(3, 4, 2), oracles.local_hash(3, 3, 2), GRR(9, 2)],
    ids=["3-RR", "subset", "hash", "2-RR"],
)
def test_equal_inputs_are_below_the_worst_pair_in_convex_order(rows):
    """E(G - t)_+ at every t, exact: what mixing keeps."""
    blanket = [min(row[y] for row in rows) for y in range(len(rows[0]))]

    def excess(x0, x1, ratio, t):
        gains = [((rows[x0][y] - ratio * rows[x1][y]) / w, w) for y, w in enumerate(blanket)]
        return sum(w * max(gain - t, 0) for gain, w in [*gains, (F(0), 1 - sum(blanket))])

    ends = (0, len(rows) - 1)  # of the subsets {0, 1}, {2, 3} these are disjoint
    for ratio in (*RATIOS, F(7, 2)):
        for x in range(len(rows)):
            kinks = {
                (a - ratio * b) / w
                for pair in ((x, x), ends)
                for a, b, w in zip(rows[pair[0]], rows[pair[1]], blanket, strict=True)
            }
            assert all(excess(x, x, ratio, t) <= excess(*ends, ratio, t) for t in kinks)


@pytest.mark.parametrize("e, d", [(3, 4), (9, 4)])
def test_linked_inputs_of_a_hierarchy_stay_inside_the_bracket(e, d):
    rows, mix = hierarchy(e, d), binary_levels(LOG(e), d)
    for n in (2, 3):
        for ratio in (F(2), F(e) * 2 / 3)[: 4 - n]:
            got = shuffle(mix, n=n).delta(LOG(ratio))
            truth = [
                oracles.worst_shuffled_hockey_stick(rows, n, ratio * (1 + side * NUDGE)) for side in (-1, 1)
            ]
            assert F(got.lower) <= truth[0] and truth[1] <= F(got.upper) <= F(6, 5) * truth[0]


@each_case
def test_pmf_is_the_weighted_direct_sum_and_its_blanket_is_exact(case):
    distribution, blanket = case.mixture.class_masses(), case.mixture.blanket()
    assert np.allclose(distribution.sum(axis=1), 1.0, rtol=1e-14)
    assert blanket.sum() == pytest.approx(float(sum(map(min, zip(*case.rows, strict=True)))), rel=1e-13)
    whole = InputPair.from_rows(distribution, blanket)
    assert whole.blanket.key() in {pair.blanket.key() for pair in case.mixture.input_pairs()}
    attacks = {one.key() for pair in case.mixture.input_pairs() for one in pair.attacks}
    assert {one.key() for one in whole.attacks} <= attacks


def test_a_mixture_of_equals_is_one_of_them():
    """Naming the component reveals nothing when all are the same; continuous ones are mixed as well."""
    for one, weights in (
        (rr(3, 4), [1.0]),
        (rr(3, 4), [0.1] * 10),
        (randomizers.laplace(eps0=1.0), [0.25, 0.75]),
        (randomizers.gaussian(sigma=1.0), [0.25, 0.75]),
    ):
        mix = randomizers.mixture([one] * len(weights), weights)
        assert mix.eps0 == one.eps0 and mix.beta == pytest.approx(one.beta, rel=1e-14)
        got, wanted = shuffle(mix, n=1000).delta(0.1), shuffle(one, n=1000).delta(0.1)
        assert got.lower <= wanted.upper and wanted.lower <= got.upper
        assert got.upper == pytest.approx(wanted.upper, rel=1e-4)
        assert got.lower == pytest.approx(wanted.lower, rel=1e-4)


def test_any_components_mix_and_lie_between_them():
    """More of the worse component is worse; the mixture is between its parts."""
    worse, better = randomizers.binary_rr(eps0=1.0), randomizers.rappor(eps0=1.0, d=8)
    blanket = randomizers.generic(eps0=1.0)  # binary response alone has a sharper end
    ends = [shuffle(one, n=10_000).epsilon(DELTA).upper for one in (blanket, better)]
    mixed = [
        shuffle(randomizers.mixture([worse, better], [w, 1 - w]), n=10_000).epsilon(DELTA).upper
        for w in (0.9, 0.5, 0.1)
    ]
    assert ends[0] > mixed[0] > mixed[1] > mixed[2] > ends[1]
    laplace = randomizers.mixture([worse, randomizers.laplace(eps0=1.0)], [0.5, 0.5])
    assert shuffle(laplace, n=10_000).epsilon(DELTA).upper < ends[0]
    several = randomizers.privkv(eps0=LOG(15), d=4, s=2, eps1=LOG(1.5))
    pairs = len(several.input_pairs())
    assert pairs == 3 and len(randomizers.mixture([several, worse], [0.5, 0.5]).input_pairs()) == 3
    with pytest.raises(ValueError, match="candidate pairs"):
        randomizers.mixture([several] * 6, np.full(6, 1 / 6))


def test_budgets_of_their_own():
    """The largest budget is the mixture's, and the certificate is lower thanks to the smaller ones."""
    low, high = randomizers.binary_rr(eps0=0.5), randomizers.binary_rr(eps0=2.0)
    mix = randomizers.mixture([low, high], [0.5, 0.5])
    assert mix.eps0 == 2.0 and mix.p == mix.q == pytest.approx(math.exp(2.0))
    assert mix.beta == pytest.approx((math.tanh(0.25) + math.tanh(1.0)) / 2)
    ends = [shuffle(one, n=5000).epsilon(DELTA).upper for one in (low, mix, high)]
    assert ends[0] < ends[1] < ends[2]
    # n = 1: no amplification; delta is the weighted sum of the components'
    e = math.exp(0.2)
    wanted = sum(0.5 * (math.exp(x) - e) / (math.exp(x) + 1) for x in (0.5, 2.0))
    assert shuffle(mix, n=1).delta(0.2).upper == pytest.approx(wanted, rel=1e-9)


@each_case
def test_beta_is_the_total_variation(case):
    best = max(sum(abs(a - b) for a, b in zip(*pair, strict=True)) / 2 for pair in permutations(case.rows, 2))
    if "crooked" not in repr(case.mixture).lower() and "local_hash" not in repr(case.mixture):  # E8
        assert case.mixture.beta == pytest.approx(float(best), rel=1e-13)


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


def test_estimates_are_unbiased_over_the_draw_of_the_component():
    """All outcomes of two users, among them those in which nobody draws a component."""
    mix, weights = randomizers.mixture([rr(3, 2), rr(2, 3)], [0.25, 0.75]), (F(1, 4), F(3, 4))
    distributions = [
        [
            (k, y, w * row[y])
            for k, (w, row) in enumerate(zip(weights, rows, strict=True))
            for y in range(k + 2)
        ]
        for rows in ((GRR(3, 2)[0], GRR(2, 3)[2]), (GRR(3, 2)[1], GRR(2, 3)[2]))
    ]
    mean, total = [np.zeros(2), np.zeros(3)], 0
    dtype = mix.sample(([0], [0]), np.random.default_rng(0)).dtype
    for first, second in product(*distributions):
        reports = np.zeros(2, dtype)
        for row, (k, y, _) in zip(reports, (first, second), strict=True):
            row["component"], row[f"report{k}"] = k, y
        mass = float(first[2] * second[2])
        total += mass
        for part, estimate in zip(mean, mix.estimate(reports), strict=True):
            part += mass * estimate
    assert total == pytest.approx(1.0)
    assert np.allclose(mean[0], [0.5, 0.5]) and np.allclose(mean[1], [0, 0, 1])


# ---- bad input


@pytest.mark.parametrize(
    "randomizer_list, weights, error, match",
    [
        ([rr(3, 2)], "1", TypeError, "weights"),
        ([rr(3, 2)], [True], TypeError, "weights"),
        ([rr(3, 2)] * 2, [1.0], ValueError, "one probability for each of 2"),
        ([rr(3, 2)] * 2, [0.5, 0.6], ValueError, "add up to 1"),
        ([rr(3, 2)] * 2, [0.0, 1.0], ValueError, "weights must be finite and > 0"),
        ([rr(3, 2)] * 2, [-0.5, 1.5], ValueError, "weights"),
        ([rr(3, 2)] * 2, [math.nan, 1.0], ValueError, "weights"),
        ([rr(3, 2)] * 2, [[0.5, 0.5]], ValueError, "shape"),
        ([], [], ValueError, "randomizers must not be empty"),
        (rr(3, 2), [1.0], TypeError, "list or tuple"),
        ("generalized_rr", [1.0], TypeError, "list or tuple"),
        ([rr(3, 2), "rr"], [0.5, 0.5], TypeError, "LocalRandomizers only"),
    ],
)
def test_mixtures_refuse(randomizer_list, weights, error, match):
    with pytest.raises(error, match=match):
        randomizers.mixture(randomizer_list, weights)


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


def test_others_of_a_hierarchy_are_enumerated_completely():
    """The oracle itself: for n = 2 the worst other leaf is found by hand."""
    rows = hierarchy(3, 4)
    assert all(sum(row) == 1 for row in rows)
    best = max(
        (oracles.shuffled_hockey_stick(rows, 0, 3, others, F(2)), others)
        for others in combinations_with_replacement(range(4), 1)
    )
    assert best[0] == F(25, 192)
