"""Sums of independently flipped bits: against all sums and all other users, in exact fractions."""

import math
import pickle
from fractions import Fraction as F
from itertools import permutations, product

import numpy as np
import pytest

from oracles import gaussian_delta
from oracles.bit_vectors import sets, worst
from shufflelib import aggregate, randomizers, shuffle
from shufflelib.profiles import Gaussian
from shufflelib.profiles.product_pair import ProductPair
from shufflelib.shuffling.bit_sums import WorstOthers, others_agree

ENPA = 1.0 / (1.0 + math.exp(8.0))
BINS = randomizers.unary(d=5, p=ENPA, q=1.0 - ENPA)
NUDGE = 1e-9


def flips(d, h, p, q):
    return randomizers.unary(d=d, h=h, p=float(p), q=float(q))


def encloses(found, exact, width=NUDGE):
    """Assert that a bracket holds a number, and is no wider than that, relatively."""
    exact = float(exact)
    assert found.lower <= exact * (1 + 2e-12) + 1e-15, (found, exact)
    assert exact * (1 - 2e-12) - 1e-15 <= found.upper, (found, exact)
    assert found.upper - found.lower <= width * exact + 1e-14, found


REPLACED = [
    (3, 3, 1, F(1, 4), F(3, 4)),
    (2, 3, 1, F(1, 4), F(3, 4)),
    (3, 4, 1, F(1, 9), F(1, 2)),
    (4, 3, 1, F(1, 8), F(3, 8)),
    (2, 4, 1, F(2, 3), F(7, 8)),
    (2, 3, 1, F(1, 2), F(7, 8)),  # worse if the others held both items
    (3, 3, 1, F(1, 2), F(7, 8)),
    (1, 3, 1, F(1, 10), F(4, 5)),
    (3, 3, 2, F(1, 9), F(3, 5)),
    (2, 3, 2, F(1, 4), F(3, 4)),
]


@pytest.mark.parametrize(("n", "d", "h", "p", "q"), REPLACED)
def test_replaced_one_hot_vectors_and_all_other_users(n, d, h, p, q):
    values = sets(d, h)
    ratios = (F(1), F(3, 2), F(4))
    for ratio, exact in zip(
        ratios, worst(list(permutations(values, 2)), values, n, p, q, ratios), strict=True
    ):
        encloses(aggregate(flips(d, h, p, q), n).delta(math.log(ratio)), exact)


@pytest.mark.parametrize(("n", "d", "h", "changed"), [(3, 4, 2, 2), (2, 4, 2, 2), (3, 3, 1, 2), (2, 4, 3, 2)])
def test_two_changed_coordinates_of_sets(n, d, h, changed):
    p, q, values = F(1, 8), F(1, 2), sets(d, h)
    near = [
        (x, y)
        for x, y in permutations(values, 2)
        if sum(a != b for a, b in zip(x, y, strict=True)) == changed
    ]
    ratios = (F(1), F(2))
    for ratio, exact in zip(ratios, worst(near[:1] + [near[0][::-1]], values, n, p, q, ratios), strict=True):
        encloses(aggregate(flips(d, h, p, q), n, changed=changed).delta(math.log(ratio)), exact)


@pytest.mark.parametrize(("n", "d", "h"), [(3, 3, 1), (2, 3, 2), (3, 3, 2), (2, 4, 3)])
@pytest.mark.parametrize(("p", "q"), [(F(1, 4), F(3, 4)), (F(1, 9), F(1, 2))])
def test_one_user_replaced_by_zeros(n, d, h, p, q):
    values, nobody = sets(d, h), (0,) * d
    ratios = (F(1), F(2))
    for ratio, exact in zip(
        ratios,
        worst([(values[0], nobody), (nobody, values[0])], [*values, nobody], n, p, q, ratios),
        strict=True,
    ):
        found = aggregate(flips(d, h, p, q), n, neighbours="zero").delta(math.log(ratio))
        if h < 3:
            encloses(found, exact)
        else:
            assert found.lower <= exact <= found.upper <= 1.3 * exact + 1e-3


@pytest.mark.parametrize("changed", [1, 2, 3])
@pytest.mark.parametrize(("p", "q"), [(F(1, 4), F(3, 4)), (F(1, 9), F(1, 2))])
def test_arbitrary_vectors_that_differ_in_some_coordinates(changed, p, q):
    values = list(product((0, 1), repeat=changed))
    far = [(x, tuple(1 - bit for bit in x)) for x in values]
    ratios = (F(1), F(2))
    for ratio, exact in zip(ratios, worst(far, values, 2, p, q, ratios), strict=True):
        for mechanism, neighbours in ((flips(4, 1, p, q), "coordinate"), (flips(4, 1, p, q), "replace")):
            if neighbours == "replace" and changed == 2:
                continue  # one-hot vectors
            found = aggregate(mechanism, 2, neighbours=neighbours, changed=changed).delta(math.log(ratio))
            if changed < 3:
                encloses(found, exact)
            else:
                assert found.lower <= exact <= found.upper <= 1.4 * exact + 1e-3


@pytest.mark.parametrize(
    ("ratio", "replaced", "zero"),
    [(1.5, 2349 / 8192, 27 / 128), (2.0, 837 / 4096, 9 / 64), (4.0, 405 / 4096, 0.0)],
)
def test_three_users_of_three_bins(ratio, replaced, zero):
    mechanism, eps = randomizers.unary(d=3, p=0.25, q=0.75), math.log(ratio)
    encloses(aggregate(mechanism, 3).delta(eps), replaced)
    encloses(aggregate(mechanism, 3, neighbours="zero").delta(eps), zero)
    encloses(aggregate(mechanism, 3, neighbours="coordinate").delta(eps), zero)


def test_the_worst_others_depend_on_eps_and_are_not_always_alike():
    mechanism = randomizers.unary(d=3, p=1 / 9, q=8 / 9)
    encloses(aggregate(mechanism, 6).delta(math.log(4)), 0.337911287343, 1e-11)
    found = aggregate(mechanism, 12, neighbours="coordinate").delta(math.log(1.5))
    assert found.lower <= 0.2162725 and 0.2162715 <= found.upper <= found.lower * (1 + 1e-6)


@pytest.mark.parametrize(
    ("n", "delta", "one", "moved", "above"),
    [
        (10**4, 1e-1, 0.52328, 1.23772, 1.2681),
        (10**4, 1e-2, 7.66286, 8.21185, 8.2206),
        (10**4, 1e-4, 7.99713, 15.91455, 15.938),
        (10**4, 1e-6, 7.99997, 15.99918, 15.9995),
        (10**5, 1e-5, 0.82994, 1.11271, 1.1143),
        (10**6, 1e-6, 0.22501, 0.31853, 0.3186),
    ],
)
def test_exposure_notifications(n, delta, one, moved, above):
    """The one-bit and the moved one-hot value of Figure 2's cells, recomputed in 60 digits."""
    half = 0.5e-5
    bit = aggregate(BINS, n, neighbours="zero").epsilon(delta)
    assert bit.lower - half <= one <= bit.upper + half and bit.upper - bit.lower <= 1e-5
    found = aggregate(BINS, n).epsilon(delta)
    assert moved - half <= found.lower <= moved + half <= found.upper + 2 * half and found.upper <= above


def test_reference_values_in_many_digits():
    profile = aggregate(BINS, 10**5)
    assert profile.delta(0.84).lower == pytest.approx(1.7670922363379e-4, rel=1e-8)
    assert profile.delta(0.84).upper <= 1.02 * 1.7670922363379e-4
    assert profile.epsilon(1e-5).lower == pytest.approx(1.1127059509496, rel=1e-9)
    few = aggregate(BINS, 10**4)
    assert few.epsilon(1e-6).lower == pytest.approx(15.999180628883, rel=1e-10)
    assert few.delta(8.0).lower == pytest.approx(0.0141292400572, rel=1e-9)


@pytest.mark.parametrize(
    ("s", "low", "high"), [(6, 1.8741, 1.8830), (12, 2.6742, 2.6976), (24, 3.878, 3.932)]
)
def test_many_changed_sums(s, low, high):
    sets_ = randomizers.unary(d=48, h=s, p=ENPA, q=1.0 - ENPA)
    found = aggregate(sets_, 10**5, neighbours="zero").epsilon(1e-5)
    assert low <= found.lower <= found.upper <= high


def test_a_coordinate_is_a_round_of_binary_response():
    eps0, n = 3.0, 1000
    rounds = shuffle(randomizers.binary_rr(eps0=eps0), n).compose(rounds=3).epsilon(1e-4)
    for mechanism in (randomizers.binary_rr(eps0=eps0), randomizers.rappor(eps0=2 * eps0, d=7)):
        found = aggregate(mechanism, n, neighbours="coordinate", changed=3).epsilon(1e-4)
        assert found.lower <= rounds.upper and rounds.lower <= found.upper
        assert found.upper == pytest.approx(rounds.upper, rel=1e-6)


def test_more_changes_cost_more_and_subsets_of_values_less():
    p, q, n = 0.1, 0.6, 20
    flipped = randomizers.unary(d=8, h=2, p=p, q=q)
    eps = [aggregate(flipped, n, neighbours="coordinate", changed=s).delta(0.7) for s in (1, 2, 3, 4)]
    assert all(one.lower <= other.upper for one, other in zip(eps, eps[1:], strict=False))
    assert aggregate(flipped, n, changed=2).delta(0.7).upper <= eps[1].upper
    assert aggregate(flipped, n, changed=2).delta(0.7).lower <= aggregate(flipped, n).delta(0.7).upper


def test_listed_and_composed_bounds_meet():
    for n in (32, 33):
        for relation in (
            {},
            {"neighbours": "zero", "changed": 2},
            {"neighbours": "coordinate", "changed": 2},
        ):
            found = aggregate(randomizers.unary(d=5, p=0.1, q=0.6), n, **relation).delta(0.5)
            assert 0.0 < found.lower <= found.upper <= 1.06 * found.lower, (n, relation, found)


@pytest.mark.parametrize("n", [5, 500])
def test_every_question_is_answered(n):
    profile = aggregate(randomizers.unary(d=5, p=0.2, q=0.7), n)
    assert profile.renyi(3.0).lower <= profile.renyi(3.0).upper < math.inf
    rate = profile.tradeoff(0.1)
    assert 0.0 < rate.lower <= rate.upper < 0.9
    twice, tenth = profile.compose(rounds=2), profile.subsample(rate=0.1)
    assert twice.delta(0.5).upper > profile.delta(0.5).lower > 0.0
    assert 0.0 < tenth.delta(0.5).upper < profile.delta(0.5).upper
    both = profile.delta([0.2, 0.5])
    assert (both.lower[1], both.upper[1]) == (profile.delta(0.5).lower, profile.delta(0.5).upper)
    again = pickle.loads(pickle.dumps(profile)).delta(0.5)
    assert (again.lower, again.upper) == (profile.delta(0.5).lower, profile.delta(0.5).upper)


@pytest.mark.parametrize(
    "relation", [{"neighbours": "zero"}, {"neighbours": "coordinate"}, {"changed": 2}, {"changed": 1}]
)
def test_random_subsets_need_values_that_anybody_may_hold(relation):
    with pytest.raises(ValueError, match="replacing"):
        aggregate(randomizers.unary(d=8, h=2, p=0.1, q=0.6), 10, **relation).subsample(rate=0.1)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"neighbours": "add"}, "neighbours"),
        ({"neighbours": None}, "neighbours"),
        ({"neighbours": ["zero"]}, "neighbours"),
        ({"changed": 0}, "changed"),
        ({"changed": 9}, "changed"),
        ({"changed": 1.5}, "changed"),
        ({"changed": "2"}, "changed"),
        ({"n": 0}, "n must"),
        ({"n": 10**16}, "n must"),
        ({"randomizer": randomizers.generalized_rr(eps0=1.0, d=3)}, "randomizer"),
        ({"randomizer": randomizers.generic(eps0=1.0)}, "randomizer"),
        ({"randomizer": 3}, "randomizer"),
    ],
)
def test_arguments_are_refused_by_name(changed, name):
    with pytest.raises((TypeError, ValueError), match=name):
        aggregate(**{"randomizer": randomizers.unary(d=8, p=0.1, q=0.6), "n": 10} | changed)


@pytest.mark.parametrize("ones", [False, True])
def test_crowds_that_agree_are_the_binomials(ones):
    n, p, q = 9, F(1, 8), F(5, 8)
    pair = others_agree(n, 0.125, 0.375, 0.625, ones=ones)

    def masses(chances):
        found = [F(1)]
        for one in chances:
            found = [a * (1 - one) + b * one for a, b in zip([*found, 0], [0, *found], strict=True)]
        return found

    held, left = masses([p] * (n - 1) + [q]), masses([p] * n)
    if ones:
        held, left = masses([1 - q] * (n - 1) + [1 - p]), masses([1 - q] * n)
    for eps, ratio in ((0.0, F(1)), (math.log(2), F(2))):
        exact = sum(max(a - ratio * b, F(0)) for a, b in zip(held, left, strict=True))
        encloses(
            pair.delta(eps),
            max(exact, sum(max(b - ratio * a, F(0)) for a, b in zip(held, left, strict=True))),
        )


def test_a_cut_crowd_encloses_the_whole():
    from shufflelib.profiles import DiscretePair
    from shufflelib.shuffling import bit_sums

    whole = others_agree(3000, 0.3, 0.4, 0.6, ones=False)
    assert whole.size < 3001
    count = np.arange(3001)
    reference = bit_sums.log_binomial_pmf(count, 3000, 0.3)
    loss = np.log(count / 3000 * 2.0 + (1 - count / 3000) * 0.4 / 0.7)
    plain = DiscretePair.from_losses(reference + loss, reference, loss)
    for eps in (0.0, 0.01, 0.03, 0.06):
        one, other = whole.delta(eps), plain.delta(eps)
        assert one.lower <= other.upper and other.lower <= one.upper
        assert one.upper <= one.lower * (1 + 1e-8) + 1e-60


def test_products_of_two_are_sums_over_all_atoms():
    rng = np.random.default_rng(3)
    from shufflelib.profiles import DiscretePair

    for _ in range(5):
        masses = rng.dirichlet(np.ones(4), size=4)
        one, other = (DiscretePair(*np.log(part)) for part in (masses[:2], masses[2:]))
        first, second = (np.outer(masses[k], masses[k + 2]) for k in (0, 1))
        for eps in (0.0, 0.3, 2.0):
            for pair, P, Q in (
                (ProductPair(one, other), first, second),
                (ProductPair(one, other).reversed, second, first),
            ):
                low, high = pair.log_hockey_stick(eps).probabilities()
                exact = np.maximum(P - math.exp(eps) * Q, 0.0).sum()
                assert low <= exact * (1 + 1e-12) and exact * (1 - 1e-12) <= high <= exact * (1 + 1e-10)


def test_worst_others_keep_their_slack():
    P, Q = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([[0.25, 0.75], [0.75, 0.25]])
    low, high = WorstOthers([(P, Q)], 1, math.log(3)).log_hockey_stick(math.log(2)).probabilities()
    assert low < 0.25 < high < 0.25 * (1 + 1e-12)


@pytest.mark.parametrize(("sigma", "n", "s"), [(0.5, 100, 1), (0.5, 100, 4), (3.0, 7, 1), (1.0, 10**6, 30)])
@pytest.mark.parametrize("neighbours", ["coordinate", "replace", "zero"])
def test_sums_of_noise_are_one_gaussian(sigma, n, s, neighbours):
    profile = aggregate(randomizers.gaussian(sigma=sigma), n, neighbours=neighbours, changed=s)
    mu = math.sqrt(s / n) / sigma
    for eps in (0.0, 0.5 * mu, 3.0 * mu):
        exact, found = float(gaussian_delta(mu, eps)), profile.delta(eps)
        assert found.lower <= exact * (1 + 1e-14) and exact * (1 - 1e-14) <= found.upper
        assert found.upper - found.lower <= 1e-8 * exact
    assert profile.pure_epsilon == math.inf
    assert profile.renyi(2.0).upper == pytest.approx(mu**2, rel=1e-9)


def test_noise_of_one_user_is_that_of_the_reports():
    noise = randomizers.gaussian(sigma=2.0)
    one, other = (built(noise, n=1).epsilon(1e-6) for built in (aggregate, shuffle))
    assert one.lower == pytest.approx(other.lower, rel=1e-4)
    assert one.upper == pytest.approx(other.upper, rel=1e-4)
    many = [built(noise, n=1000).epsilon(1e-6).upper for built in (aggregate, shuffle)]
    assert many[0] < 0.95 * many[1]  # a sum tells less than the reports


def test_noise_of_those_who_drop_out_is_missing():
    noise = randomizers.gaussian(sigma=1.0)
    for share in (0.1, 0.5):
        stay = aggregate(noise, round(1000 * (1 - share))).epsilon(1e-6).upper
        less = randomizers.gaussian(sigma=math.sqrt(1 - share))
        assert stay == pytest.approx(aggregate(less, 1000).epsilon(1e-6).upper, rel=1e-8)
    assert "drop out do not count in n" in str(aggregate(noise, 10).epsilon(0.1))


def test_sums_of_noise_are_kept_composed_and_refused():
    profile = aggregate(randomizers.gaussian(sigma=1.0), 100)
    assert repr(profile) == "aggregate(gaussian(sigma=1.0), n=100, neighbours='replace', changed=1)"
    assert pickle.loads(pickle.dumps(profile)).delta(0.5) == profile.delta(0.5)
    rounds = profile.compose(4).epsilon(1e-6)
    assert (
        rounds.lower
        <= aggregate(randomizers.gaussian(sigma=0.5), 100).epsilon(1e-6).upper
        <= 1.001 * rounds.upper
    )
    for neighbours in ("coordinate", "zero"):
        with pytest.raises(ValueError, match="any other user"):
            aggregate(randomizers.gaussian(sigma=1.0), 100, neighbours=neighbours).subsample(0.5)
    half, same = profile.subsample(0.5).delta(0.1), Gaussian(0.1).subsample(0.5).delta(0.1)
    assert 0.4 * same.lower < half.upper < profile.delta(0.1).lower
    with pytest.raises(ValueError, match="n and sigma must leave 1e-08 to 5000 standard deviations"):
        aggregate(randomizers.gaussian(sigma=1e6), 10**15)
    for changed in (0, 0.5, "1", True):
        with pytest.raises((TypeError, ValueError), match="changed must be"):
            aggregate(randomizers.gaussian(sigma=1.0), 10, changed=changed)
    with pytest.raises(TypeError, match="add Gaussian, Laplace, .* noise, got piecewise"):
        aggregate(randomizers.piecewise(eps0=1.0), 10)
