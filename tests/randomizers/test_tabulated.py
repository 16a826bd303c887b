"""Mechanisms given by the caller as tables of probabilities; `test_contract.py` has others in fractions."""

import collections
import itertools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.profiles.likelihood_ratios import LikelihoodRatios
from shufflelib.randomizers import candidate_pairs, tabulated
from shufflelib.shuffling import BlanketPair, worst_of_pairs
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


@pytest.mark.parametrize("n", [1, 3, 1000, 10**7, 10**15])
def test_an_array_of_the_worst_of_many_pairs_is_its_values_below_all_ceilings(n):
    rows = np.random.default_rng(3).dirichlet(np.full(5, 1.5), 5)
    worst = WorstPair([BlanketPair(pair.blanket, n) for pair in randomizers.from_pmf(rows).input_pairs()])
    eps = worst.max_privacy_loss * np.append(np.geomspace(1e-9, 1.1, 9), 0.0)
    for tolerance in (1e-5, 0.05):
        found = worst.log_hockey_stick(eps, tolerance)
        ends = [worst.log_hockey_stick(x, tolerance) for x in eps.tolist()]
        assert ends == list(zip(found.lower, found.upper, strict=True))
    for x in eps.tolist():
        lower = [one.log_hockey_stick(x, 0.01).lower for one in worst.directions]
        assert np.all(worst.ceilings(x) >= lower) and np.all(worst._chords(x) >= lower)


def test_ceilings_of_a_thousand_users_are_close():
    rows = np.random.default_rng(3).dirichlet(np.full(30, 1.5), 3) * 0.5 + 0.5 / 30.0
    worst = WorstPair([BlanketPair(one.blanket, 1000) for one in randomizers.from_pmf(rows).input_pairs()])
    for x in (0.0, 0.02, 0.05, 0.1):  # δ down to 7e-7
        upper = [one.log_hockey_stick(x).upper for one in worst.directions]
        assert np.all(worst.ceilings(x) <= np.array(upper) + math.log(1.5))


@pytest.mark.parametrize("block", [1, 37, 4000])
def test_blocks_change_nothing(block, monkeypatch):
    rows = np.random.default_rng(9).dirichlet(np.full(6, 1.5), 12)

    def answers():
        table = randomizers.from_pmf(rows)
        profile = shuffle(table, 1000)
        worst = profile.dominating_pairs[0]
        attacks = [one.w.tolist() for pair in table.input_pairs() for one in pair.attacks]
        return candidate_pairs.kinds(rows), attacks, worst.ceilings(0.1).tolist(), profile.delta(0.1).upper

    whole = answers()
    for module in (candidate_pairs, worst_of_pairs):
        monkeypatch.setattr(module, "BLOCK", block)
    assert answers() == whole


# ---------------------------------------------------------------- pairs of one kind


def kind(one, two, least):
    """Return what pairs of one kind share: columns of two entries and the least one, in any order."""
    both = (collections.Counter(zip(*pair, least, strict=True)) for pair in ((one, two), (two, one)))
    return frozenset(frozenset(counted.items()) for counted in both)


def tables():
    rng = np.random.default_rng(5)
    cyclic = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    yield from (randomizers.generalized_rr(eps0=2.0, d=d).pmf() for d in (2, 3, 9))
    yield np.array([np.roll(cyclic, shift) for shift in range(5)])
    bits = np.array([[(report >> item) & 1 for item in range(4)] for report in range(16)])
    yield np.array([np.where(bits == one, 0.75, 0.25).prod(axis=1) for one in np.eye(4)])
    for outputs in (3, 4, 6):
        for _ in range(20):  # few different entries, so that pairs coincide in part of what makes a kind
            rows = rng.multinomial(4, np.full(outputs, 1.0 / outputs), size=6) / 4.0
            yield 0.5 * rows + 0.5 / outputs
            yield rows


@pytest.mark.parametrize("rows", list(tables()), ids=lambda rows: f"{len(rows)}x{len(rows[0])}")
def test_one_pair_of_each_kind_is_kept(rows):
    rows = np.vstack([rows, rows[:1]])  # an input twice
    found, distance = candidate_pairs.kinds(rows)
    least, different = rows.min(axis=0), list(dict.fromkeys(map(tuple, rows.tolist())))
    by_hand = {kind(*pair, least) for pair in itertools.combinations(different, 2)}
    assert {kind(rows[i], rows[j], least) for i, j in found if i != j} == by_hand
    assert len(found) == max(len(by_hand), 1) and distance == 0.0 and found == sorted(found)


def test_entries_that_rounding_moved_are_of_one_kind_and_pay_for_it():
    rng, rows = np.random.default_rng(6), randomizers.generalized_rr(eps0=2.0, d=8).pmf()
    moved = rows * (1.0 + rng.uniform(-2e-14, 2e-14, rows.shape))
    found, distance = candidate_pairs.kinds(moved)
    assert found == [(0, 1)] and 0.0 < distance <= 1e-13
    own, one = randomizers.from_pmf(moved / moved.sum(axis=1, keepdims=True)), randomizers.from_pmf(rows)
    assert len(own.input_pairs()) == 1
    assert own.input_pairs()[0].blanket.precision >= one.input_pairs()[0].blanket.precision + 2.0 * distance
    for eps in (0.0, 0.1, 0.2):
        found, exact = shuffle(own, 1000).delta(eps), shuffle(one, 1000).delta(eps)
        assert found.lower <= exact.upper and exact.lower <= found.upper <= exact.upper * (1.0 + 1e-9)


def test_entries_between_which_others_lie_are_not_taken_for_equal():
    """A chain of entries, each nearly equal to the next: its ends are not."""
    steps = 1.0 + 0.9e-13 * np.arange(1000)
    rows = np.array([steps, steps[::-1], np.ones(1000)]) / 1000.0
    found, distance = candidate_pairs.kinds(rows / rows.sum(axis=1, keepdims=True))
    assert distance <= 1e-11 and (0, 1) in found


@pytest.mark.parametrize("n", [1, 20, 10**6])
@pytest.mark.parametrize("rows", [*itertools.islice(tables(), 4, 20, 5)], ids=lambda rows: f"{rows.shape}")
def test_a_table_has_the_numbers_of_all_its_pairs(rows, n):
    own = shuffle(randomizers.from_pmf(rows), n)
    for eps in (0.0, 0.3):
        everyone = [
            BlanketPair(LikelihoodRatios.from_masses(one, two, rows.min(axis=0), single_outputs=True), n)
            for one, two in itertools.combinations(rows, 2)
        ]
        every = [pair.log_worst(eps) for pair in everyone]
        found = own.delta(eps)
        assert found.upper >= math.exp(max(one.lower for one in every)) * (1.0 - 1e-9)
        assert found.upper <= math.exp(max(one.upper for one in every)) * (1.0 + 1e-5) or found.upper < 1e-300


LARGE = """
import re
from shufflelib import randomizers, shuffle
own = randomizers.from_pmf(randomizers.generalized_rr(eps0=4.0, d=1000).pmf())
found = shuffle(own, 45_000).epsilon(1e-8)
most = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
print(len(own.input_pairs()), found.lower, found.upper, most)
"""


def test_a_large_symmetric_table_takes_little():
    if not Path("/proc/self/status").exists():  # getrusage counts the process that started this one
        pytest.skip("memory is measured on Linux only")
    run = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    pairs, lower, upper, kilobytes = map(float, run.stdout.split())
    named = shuffle(randomizers.generalized_rr(eps0=4.0, d=1000), 45_000).epsilon(1e-8)
    assert pairs == 1 and kilobytes < 500_000
    assert upper == pytest.approx(named.upper, rel=1e-9) and lower <= named.upper and named.lower <= upper


def test_too_many_pairs_are_refused_with_an_estimate():
    rng = np.random.default_rng(7)
    own = randomizers.from_pmf(rng.dirichlet(np.ones(1000), 1000))
    assert own.sample([3], rng).shape == (1,)  # without any pair
    words = "^matrix must have fewer pairs .* 499,500 of 1,000 inputs .* up to 127,372 MB and 7.6 h; merge"
    with pytest.raises(ValueError, match=words):
        shuffle(own, 1000).epsilon(1e-6)
    many = randomizers.from_pmf(rng.dirichlet(np.ones(2), 30_000))
    with pytest.raises(ValueError, match="comparing them takes more than ten minutes; .* h; merge inputs"):
        shuffle(many, 1000).epsilon(1e-6)
    with pytest.raises(
        ValueError, match=r"at most 10,000,000 entries, got shape \(2, 5000001\); merge outputs"
    ):
        randomizers.from_pmf(np.full((2, 5_000_001), 1.0 / 5_000_001))


def test_memory_and_time_are_said_before_the_pairs_are_made(monkeypatch):
    said = []
    monkeypatch.setattr(tabulated, "progress", lambda items, desc, delay: said.append(desc) or items)
    randomizers.from_pmf(np.random.default_rng(8).dirichlet(np.ones(5), 30)).input_pairs()
    assert said == ["435 pairs, 3 MB and 1 s"]


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
