"""Mechanisms given by the caller as tables of probabilities; `test_contract.py` has others in fractions."""

import math

import numpy as np
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.shuffling import BlanketPair
from shufflelib.shuffling.worst_of_pairs import WorstPair

# ---------------------------------------------------------------- tables as arguments


def test_table_is_described_as_it_is():
    built = randomizers.from_pmf([[0.5, 0.25, 0.25], [0.2, 0.3, 0.5], [0.25, 0.5, 0.25]])
    assert built.eps0 == pytest.approx(math.log(2.5)) and built.eps0 >= math.log(2.5)
    assert built.p == built.q == pytest.approx(2.5)
    assert built.beta == pytest.approx(0.3)
    np.testing.assert_allclose(built.blanket(), [0.2, 0.25, 0.25])
    np.testing.assert_allclose(built.pmf()[1], [0.2, 0.3, 0.5])
    assert len(built.input_pairs()) == 3 and "3 inputs" in repr(built)
    zero = randomizers.from_pmf([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]])
    assert zero.eps0 == zero.p == math.inf and zero.beta == 0.25
    assert shuffle(zero, n=10).delta(0.0).upper >= 0.25


def test_rows_that_miss_one_are_charged():
    good = [[0.5, 0.5], [0.25, 0.75]]
    short = [[0.5, 0.5 - 1e-10], [0.25, 0.75]]
    sharp, blunt = (shuffle(randomizers.from_pmf(rows), n=3).delta(0.1) for rows in (good, short))
    assert blunt.lower < sharp.lower and sharp.upper < blunt.upper
    assert blunt.upper - blunt.lower >= 1e-10


def test_table_runs_and_estimates():
    rng = np.random.default_rng(11)
    built = randomizers.from_pmf([[0.6, 0.3, 0.1, 0.0], [0.2, 0.5, 0.2, 0.1], [0.1, 0.1, 0.2, 0.6]])
    x = rng.choice(3, size=200_000, p=[0.5, 0.3, 0.2])
    reports = built.sample(x, rng)
    for item in range(3):
        observed = np.bincount(reports[x == item], minlength=4) / (x == item).sum()
        np.testing.assert_allclose(observed, built.pmf()[item], atol=0.01)
    np.testing.assert_allclose(built.estimate(reports), [0.5, 0.3, 0.2], atol=0.02)
    with pytest.raises(ValueError, match="^estimate"):
        randomizers.from_pmf([[0.5, 0.5], [0.25, 0.75], [0.4, 0.6]]).estimate([0, 1])
    with pytest.raises(ValueError, match="^x"):
        built.sample([3], rng)
    with pytest.raises(ValueError, match="^reports"):
        built.estimate([4])


@pytest.mark.parametrize(
    "matrix",
    [
        None, "rows", [], [0.5, 0.5], [[1.0]], [[0.5, 0.5]], [[0.5, 0.5], [1.0]], [[0.5, 0.5], [0.5, 0.6]],
        [[0.5, 0.5], [-0.5, 1.5]], [[0.5, 0.5], [math.nan, 1.0]], [[0.5, 0.5], ["0.5", "0.5"]],
        [[0.5, 0.5], [math.inf, 0.0]], [[True, False], [False, True]], [[[0.5, 0.5]], [[0.5, 0.5]]],
    ],
    ids=repr,
)  # fmt: skip
def test_hostile_tables(matrix):
    with pytest.raises((ValueError, TypeError), match="matrix"):
        randomizers.from_pmf(matrix)


# ---------------------------------------------------------------- many pairs


@pytest.mark.parametrize(("n", "eps"), [(1, 0.7), (5, 0.4), (1000, 0.0), (1000, 0.3), (10**8, 0.0009)])
@pytest.mark.parametrize("zeros", [False, True])
def test_the_worst_of_many_pairs_is_the_largest_of_all(n, eps, zeros):
    rows = np.random.default_rng(n).dirichlet(np.full(6, 1.5), 8)
    rows = np.where(rows < 0.04 * zeros, 0.0, rows)
    own = randomizers.from_pmf(rows / rows.sum(axis=1, keepdims=True))
    pairs = [BlanketPair(pair.blanket, n) for pair in own.input_pairs()]
    worst = WorstPair(pairs)
    every = [pair.log_worst(eps) for pair in pairs]
    found = worst.log_hockey_stick(eps)
    assert found.lower == max(one.lower for one in every)
    assert max(one.upper for one in every) <= found.upper <= max(one.upper for one in every) + 1e-5
    one_by_one = [one.log_hockey_stick(eps) for one in worst.directions]
    assert all(ceiling >= one.lower for ceiling, one in zip(worst.ceilings(eps), one_by_one, strict=True))
    assert worst.max_privacy_loss == max(max(p.max_privacy_loss, p.reversed.max_privacy_loss) for p in pairs)


# ---------------------------------------------------------------- as parts of something larger


def test_tables_are_no_components_because_equal_inputs_may_be_the_worst():
    """The first component: a third input whose ratio varies more than any difference does."""
    table = randomizers.from_pmf([[0.5, 0.25, 0.25], [0.5, 0.2, 0.3], [0.1, 0.45, 0.45]])
    sampled = randomizers.poisson_sampled(table, rate=0.5)
    for build in (
        lambda part: randomizers.mixture([part, randomizers.binary_rr(eps0=1.0)], [0.5, 0.5]),
        lambda part: randomizers.joint([part, randomizers.binary_rr(eps0=1.0)]),
    ):
        for part in (table, sampled):
            with pytest.raises(ValueError, match="from_pmf"):
                build(part)
    assert shuffle(sampled, n=100).epsilon(1e-6).upper < shuffle(table, n=100).epsilon(1e-6).upper
