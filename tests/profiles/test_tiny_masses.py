"""Tables with entries from 0 through the subnormal floats to 1e-200, against exact fractions of all datasets.

Such a table is refused where floats cannot hold what follows from it; else every bracket encloses the truth,
and no warning is raised, which pytest would treat as an error.
"""

import math
import random
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

from oracles import neighbours
from shufflelib import randomizers, shuffle
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios
from shufflelib.randomizers.tabulated import LEAST_ENTRY
from shufflelib.shuffling import BlanketPair

MP = mpmath.mp.clone()
MP.dps = 60
HAIR = MP.mpf(10) ** -45  # the truth is rounded too


def digits(fraction):
    return MP.mpf(fraction.numerator) / fraction.denominator


def exact_delta(ways, eps):
    ratio = MP.exp(MP.mpf(eps))
    return max(MP.fsum(max(digits(p) - ratio * digits(q), 0) for p, q in way.values()) for way in ways)


def exact_renyi(ways, order):
    """Return the largest divergence of a whole order; what exceeds 1 in the moment is an exact fraction."""
    moments = [neighbours.renyi_moment(way, order) for way in ways]
    return MP.inf if None in moments else MP.log1p(digits(max(moments) - 1)) / (order - 1)


def exact_loss(ways):
    return max(MP.log(digits(p) / digits(q)) if q else MP.inf for way in ways for p, q in way.values() if p)


def encloses(found, exact):
    assert found.lower <= exact * (1 + HAIR) and exact * (1 - HAIR) <= found.upper, (found, exact)


def check(profile, ways):
    """Assert that every answer encloses the exact one."""
    assert profile.pure_epsilon >= exact_loss(ways) * (1 - HAIR)
    for eps in (0.0, 0.3, 5.0, 300.0, 650.0):
        encloses(profile.delta(eps), exact_delta(ways, eps))
    for delta in (1e-300, 1e-100, 1e-6):
        found = profile.epsilon(delta)
        assert math.isinf(found.upper) or exact_delta(ways, found.upper) <= delta * (1 + HAIR), found
        assert found.lower == 0.0 or exact_delta(ways, found.lower) >= delta * (1 - HAIR), found
    for order in (2, 6):
        encloses(profile.renyi(order), exact_renyi(ways, order))
    for fpr in (0.0, 1e-300, 0.05):
        found = profile.tradeoff(fpr)
        exact = min(neighbours.tradeoff(way, F(fpr)) for way in ways)
        assert F(found.lower) <= exact <= F(found.upper), (fpr, found, float(exact))


def drawn(seed, least):
    """Draw a table of a few outputs of ordinary and of tiny probability, none positive below ``least``."""
    rng = random.Random(seed)
    inputs, outputs = rng.choice([(2, 2), (2, 3), (2, 4), (3, 3)])

    def tiny():
        if rng.random() < 0.3:
            return 0.0
        return max(10.0 ** rng.uniform(math.log10(least), -200.0 if rng.random() < 0.7 else -3.0), least)

    rows = []
    for _ in range(inputs):
        likely = rng.randrange(outputs) if rng.random() < 0.3 else 0
        ordinary = [j == likely or rng.random() < 0.2 for j in range(outputs)]
        row = [rng.uniform(0.05, 1.0) if one else tiny() for one in ordinary]
        total = math.fsum(row)
        rows.append([max(x / total, least) if x else 0.0 for x in row])
    if rng.random() < 0.5:  # one more output, which all inputs share
        shared = max(1e-200 * rng.random() ** 90, least)
        rows = [[*row, shared] for row in rows]
    return rows


def neighbouring(rows, n):
    """List the exact distributions of all neighbouring datasets of n users, in both directions."""
    exact = [[F(x) for x in row] for row in rows]
    exact = [[x / sum(row) for x in row] for row in exact]
    return neighbours.any_direction([neighbours.by_ratio(pair) for pair in neighbours.shuffled(exact, n)])


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_every_bracket_of_a_table_with_tiny_entries_encloses_the_truth(seed, n):
    rows = drawn(100 * n + seed, LEAST_ENTRY)
    check(shuffle(randomizers.from_pmf(rows), n), neighbouring(rows, n))


@pytest.mark.parametrize("seed", range(4))
def test_rounds_and_samples_of_a_table_with_tiny_entries(seed):
    rows = drawn(seed, LEAST_ENTRY)
    profile = shuffle(randomizers.from_pmf(rows), 2)
    exact = [[F(x) for x in row] for row in rows]
    exact = [[x / sum(row) for x in row] for row in exact]
    sampled = [neighbours.by_ratio(pair) for pair in neighbours.subsampled(exact, 2, 4)]
    ways = neighbours.any_direction(sampled)
    sample = profile.subsample(0.5)
    assert sample.pure_epsilon >= exact_loss(ways) * (1 - HAIR)
    for eps in (0.0, 0.3, 300.0):
        encloses(sample.delta(eps), exact_delta(ways, eps))
    encloses(sample.renyi(2), exact_renyi(ways, 2))
    ways = neighbouring(rows, 2)
    twice = neighbours.composed(ways, ways)
    rounds = profile.compose(2)
    for eps in (0.0, 0.3, 300.0):
        encloses(rounds.delta(eps), exact_delta(twice, eps))
    assert rounds.renyi(2).upper >= exact_renyi(twice, 2) * (1 - HAIR)


def test_entries_too_small_for_floats_are_refused():
    tables = [drawn(seed, 5e-324) for seed in range(20)]
    tiny = [rows for rows in tables if any(0.0 < x < LEAST_ENTRY for row in rows for x in row)]
    assert len(tiny) > 5
    for rows in tiny:
        with pytest.raises(ValueError, match="^matrix must have entries that are 0 or at least 1e-290"):
            randomizers.from_pmf(rows)


def test_an_underflowed_table_of_gaussian_noise_is_refused():
    y = np.arange(-45, 47)
    rows = np.array([np.exp(-0.5 * (y - x) ** 2.0) for x in (0, 1)])
    with pytest.raises(ValueError, match="add its column to another one"):
        randomizers.from_pmf(rows / rows.sum(axis=1, keepdims=True))


def test_mass_outside_the_support_counts_however_small_it_is():
    """The second value never has the third output: the divergence is infinite."""
    pair = InputPair.from_rows([[0.5, 0.5, 1e-305], [0.4, 0.6, 0.0]], [0.4, 0.5, 0.0])
    profile = BlanketPair(pair.blanket, 10)
    assert profile.renyi(2.0).upper == math.inf and profile.pure_epsilon == math.inf
    assert profile.epsilon(1e-306).upper == math.inf and profile.tradeoff(0.0).lower < 1.0


def test_a_local_budget_bounds_the_loss_of_mass_outside_the_support():
    """Half a subnormal mass is lost: what is left shows a loss of 0.1, the budget says 3."""
    ratios = LikelihoodRatios(
        np.exp([0.1, 0.0]), np.exp([0.0, 0.1]), np.array([0.4, 0.4]), r0_outside=1e-310, r1_outside=1e-310
    )
    assert ratios.max_privacy_loss == math.inf
    assert 3.0 <= ratios.within_budget(3.0).max_privacy_loss < 3.0 + 1e-12


def test_an_output_that_others_have_with_a_subnormal_probability_does_not_identify_a_user():
    """Among a million users another one has it with probability 1e-303."""
    rows = [[1.0, 1e-31], [1.0, 1e-309]]
    attack = BlanketPair(InputPair.from_rows(rows, np.min(rows, axis=0)).attacks[1], 10**6)
    truth = MP.log(MP.mpf(1e-31) * (1 - MP.mpf(1e-1)) / (MP.mpf(10**6) * MP.mpf(1e-309)))
    assert attack.epsilon(1e-32).lower <= truth * (1 + MP.mpf(10) ** -6) < 628.0
    assert attack.delta(639.0).lower < 1e-300


def test_an_output_whose_probability_underflows_does_not_identify_a_user():
    """Any of a thousand users sends both bits of an item alone with probability 1e-304: 693 nats, not 700."""
    found = shuffle(randomizers.rappor(eps0=700.0, d=10**6), 1000).renyi(2.0)
    assert found.lower < 700.0 - math.log(999.0) <= found.upper


def test_a_blanket_that_lacks_less_than_a_rounding_still_lacks_it():
    rows = [
        [1.0, 2.8007254392878477e-174, 7.479375291939083e-234],
        [1.0, 5.601450878575695e-174, 3.31024151513105e-67],
    ]
    found = shuffle(randomizers.from_pmf(rows), 2).epsilon(1e-250).upper
    assert exact_delta(neighbouring(rows, 2), found) <= 1e-250


@pytest.mark.parametrize(
    ("rows", "n", "eps"),
    [
        ([[0.0, 1.0], [9.999999999999999e-274, 1.0]], 1, 1e-12),
        ([[1e-228, 1.0], [0.0, 1.0]], 3, 1e-12),
    ],
)
def test_the_logarithm_of_a_mass_outside_the_support_is_rounded_outward(rows, n, eps):
    found, exact = shuffle(randomizers.from_pmf(rows), n).delta(eps), exact_delta(neighbouring(rows, n), eps)
    assert found.lower <= exact <= found.upper
    assert found.upper <= found.lower * (1 + 1e-11)


def test_many_inputs_with_tiny_entries_raise_no_warning():
    rows = [
        [1.0, 9e-191, 7e-85],
        [0.6124936200031269, 0.387506379996873, 0.0],
        [0.18063117610672672, 0.5650701389209135, 0.25429868497235975],
        [1.0, 1e-290, 1e-210],
        [1.0, 2e-262, 2e-244],
    ]
    check(shuffle(randomizers.from_pmf(rows), 1), neighbouring(rows, 1))


def test_a_rare_output_that_all_inputs_share_raises_no_warning():
    rows = [[2e-280, 0.9438, 0.0562], [2e-280, 0.9147, 0.0853]]
    found = shuffle(randomizers.from_pmf(rows), 3).renyi(1e6)
    assert found.lower <= math.log(0.0853 / 0.0562) * (1 + 1e-12) and found.upper < 0.5
