"""(ε₀, δ₀)-LDP reports: every dataset of many small channels, exactly, under the bound of the class."""

import math
import random
from fractions import Fraction as F

import pytest

from claims import exact_channels as channels
from claims import exact_shuffle
from claims.ccg24.nearest_pure_channel import failure
from claims.exact_tests import random_channel
from oracles.mixtures import BENT
from shufflelib import randomizers, shuffle
from shufflelib.shuffling import approximate_ldp


def failing(seed):
    """Return a channel and e^eps0: it may tell the input or a pair of inputs, or any with a small one."""
    rng = random.Random(seed)
    kind, d, e = seed % 3, rng.randint(2, 4), F(rng.randint(5, 40), 4)
    if kind == 0:
        chance = F(1, 10 ** rng.randint(1, 4))
        pure = channels.subsets(e, d, 1, 1)
        rows = [
            [(1 - chance) * x for x in row] + [chance * (y == told) for y in range(d)]
            for told, row in enumerate(pure)
        ]
    elif kind == 1:
        rows = channels.telling_pairs(e, F(1, 10 ** rng.randint(1, 3)) * (1 - 1 / e) / d**2, d)
    else:
        rows = random_channel(rng)
        e = 1 + (channels.largest_ratio(rows) - 1) * F(rng.randint(1, 9), 10)
    return rows, e


@pytest.mark.parametrize("seed", range(24))
def test_no_dataset_of_any_channel_exceeds_the_bound(seed):
    rows, e = failing(seed)
    if e == 1:
        return
    delta0 = failure(rows, e)
    for n in (1, 2, 3) if len(rows) < 4 else (1, 2):
        profile = approximate_ldp(eps0=math.log(e), delta0=max(float(delta0), 1e-100), n=n)
        for share in (F(0), F(1, 3), F(1)):
            ratio = 1 + (e - 1) * share
            worst = exact_shuffle.worst_delta(rows, n, ratio)[0]
            assert float(worst) <= profile.delta(math.log(ratio)).upper * (1 + 1e-11)


def test_the_bound_is_the_formula_or_that_of_one_report():
    eps0, delta0, n = 1.0, 1e-9, 1000
    e, profile = math.exp(eps0), approximate_ldp(eps0=1.0, delta0=1e-9, n=1000)
    away = delta0 / (1 + e) + (n - 1) * 2 * delta0 / e * (e + 2) / (e + 1)
    for eps in (0.0, 0.05, 0.2):
        pure = shuffle(randomizers.generic(eps0=eps0), n).delta(eps).upper
        found = profile.delta(eps)
        assert found.upper == pytest.approx(pure + (1 + math.exp(eps)) * away, rel=1e-9)
        assert found.lower >= shuffle(randomizers.generic(eps0=eps0), n).delta(eps).lower
    assert profile.delta(1.0).upper == pytest.approx(delta0, rel=1e-9)
    assert profile.delta(30.0).lower == pytest.approx(delta0, rel=1e-6)
    (pair,) = profile.dominating_pairs
    low, high = pair.log_hockey_stick([0.0, 0.2, 1.0, 5.0])
    assert (low <= math.log(delta0)).all() and (high >= math.log(delta0)).all()
    assert profile.epsilon(0.5e-9).upper == math.inf
    assert profile.renyi(2.0).upper == math.inf


def test_rounds_add_their_failures():
    one = approximate_ldp(eps0=1.0, delta0=1e-9, n=1000)
    pure = shuffle(randomizers.generic(eps0=1.0), 1000)
    five, known = one.compose(5).delta(0.5).upper, pure.compose(5).delta(0.5)
    assert known.lower + 5e-9 * 0.99 <= five <= 3.0 * known.upper + 5 * one.delta(0.5).upper
    assert one.group(2).delta(0.1).upper > one.delta(0.1).upper


def test_a_channel_that_is_given_is_bounded_more_closely():
    table = randomizers.from_pmf([[float(x) for x in row] for row in BENT])
    wide = approximate_ldp(eps0=table.eps0, delta0=1e-12, n=50)
    assert shuffle(table, 50).epsilon(1e-3).upper <= wide.epsilon(1e-3).upper


@pytest.mark.parametrize("wrong", [{"delta0": 0.0}, {"delta0": 1.0}, {"eps0": 0.0}, {"n": 0}])
def test_what_is_no_setting_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match=f"^{next(iter(wrong))}"):
        approximate_ldp(**{"eps0": 1.0, "delta0": 1e-9, "n": 10} | wrong)


def test_extreme_settings_are_answered():
    for eps0, delta0, n in (
        (700.0, 1e-100, 10),
        (650.0, 0.5, 10**15),
        (1e-3, 1e-20, 10**12),
        (5.0, 0.999, 1),
    ):
        found = approximate_ldp(eps0=eps0, delta0=delta0, n=n).delta(0.1)
        assert 0.0 <= found.lower <= found.upper <= 1.0
