"""What a mechanism chooses for itself is what its docstring says: the variance counted in exact fractions."""

import math
from fractions import Fraction as F

import pytest

from shufflelib import randomizers

ODDS = [F(round(100 * math.exp(k / 10)), 100) for k in range(1, 45)]  # e^eps0


def unheld(own, other):
    """Return the variance of a report's estimate for an item that nobody holds."""
    return other * (1 - other) / (own - other) ** 2


def subset_variance(d, k, odds):
    """Count the subsets of size k with the user's item, and those with another item as well."""
    held, missed = odds * math.comb(d - 1, k - 1), math.comb(d - 1, k)
    both = odds * math.comb(d - 2, k - 2) if k > 1 else 0
    return unheld(held / (held + missed), (both + math.comb(d - 2, k - 1)) / (held + missed))


def hash_variance(length, odds):
    return unheld(odds / (odds + length - 1), F(1, length))


@pytest.mark.parametrize("d", [*range(2, 31), 64, 100])
def test_no_size_of_a_subset_has_a_smaller_variance(d):
    for odds in ODDS if d <= 30 else ODDS[::5]:
        least = min(subset_variance(d, k, odds) for k in range(1, d))
        chosen = randomizers.subset(eps0=math.log(odds), d=d).k
        assert subset_variance(d, chosen, odds) <= least * (1 + F(1, 10**12)), (d, odds, chosen)


def test_a_subset_of_three_items_is_one_item_at_a_small_budget():
    """⌈d/(e^eps0 + 1)⌉ is 2, with 1.82 times the variance."""
    assert randomizers.subset(eps0=0.6, d=3).k == 1
    two, one = (randomizers.subset(eps0=0.6, d=3, k=k).variance(0.0, n=1) for k in (2, 1))
    assert two / one == pytest.approx(1.822, abs=1e-3)


def test_a_smaller_set_can_have_a_smaller_variance_than_the_default_of_privset():
    usual = randomizers.subset_exponential(eps0=1.0, d=100, s=5)
    assert repr(usual) == "subset_exponential(eps0=1.0, d=100, s=5, k=7)"
    five = randomizers.subset_exponential(eps0=1.0, d=100, s=5, k=5)
    assert 0.9 < five.variance([0.0], n=1)[0] / usual.variance([0.0], n=1)[0] < 0.96


def test_no_number_of_hash_values_has_a_smaller_variance():
    for odds in [F(k, 200) for k in range(202, 2000)]:
        least = min(hash_variance(length, odds) for length in range(2, 2 * math.ceil(odds) + 3))
        chosen = randomizers.local_hash(eps0=math.log(odds), d=100).l
        assert hash_variance(chosen, odds) <= least * (1 + F(1, 10**12)), (odds, chosen)


@pytest.mark.parametrize("eps0", [1e-300, 1e-17, 40.0, 700.0])
def test_extreme_budgets_have_a_default_too(eps0):
    assert randomizers.subset(eps0=eps0, d=2).k == 1
    assert randomizers.subset(eps0=eps0, d=9).k == (4 if eps0 < 1 else 1)
    assert randomizers.local_hash(eps0=eps0, d=9).l == (2 if eps0 < 1 else 2**32)
