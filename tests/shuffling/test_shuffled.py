"""Shuffled mechanisms against every dataset on small domains; pairs against each other."""

import json
import math
from fractions import Fraction as F
from pathlib import Path

import mpmath
import numpy as np
import pytest

import oracles
from shufflelib import randomizers, shuffle
from shufflelib.profiles import DiscretePair
from shufflelib.profiles.likelihood_ratios import InputPair, LikelihoodRatios
from shufflelib.randomizers.local_randomizer import FiniteRandomizer
from shufflelib.shuffling import BlanketPair, VariationRatioPair

REFERENCE = Path(__file__).parents[1] / "oracles/reference"


class Table(FiniteRandomizer):
    """A randomizer given by its pmf matrix; rows 0 and 1 are the pair looked at."""

    beta = math.nan

    def __init__(self, rows):
        self.rows = np.array(rows, float)
        self.eps0 = float(np.max(np.log(self.rows.max(axis=0) / self.rows.min(axis=0))))

    def class_masses(self):
        return self.rows

    def blanket(self):
        return self.rows.min(axis=0)

    def sample(self, x, rng):
        """Not needed: only the distribution of the reports is looked at."""

    def estimate(self, reports):
        """Not needed either."""


def random_rows(rng, inputs, outputs, largest):
    """Draw a pmf matrix with small rational entries and ratios at most ``largest``."""
    while True:
        rows = [[F(int(part)) for part in rng.integers(1, largest + 1, outputs)] for _ in range(inputs)]
        rows = [[part / sum(row) for part in row] for row in rows]
        if all(max(column) <= largest * min(column) for column in zip(*rows, strict=True)):
            return rows


@pytest.mark.parametrize("seed", range(6))
def test_attack_is_the_exact_divergence_of_its_dataset(seed):
    """With the others' full density as the reference measure the divergence is exact."""
    rng = np.random.default_rng(100 + seed)
    rows, n = random_rows(rng, 3, 3, 5), 4
    attack = BlanketPair(LikelihoodRatios.from_masses(*np.array(rows, float)), n)
    for ratio in (F(1), F(5, 4), F(3, 2)):
        truth = oracles.shuffled_hockey_stick(rows, 0, 1, (2,) * (n - 1), ratio)
        bracket = attack.log_hockey_stick(math.log(ratio))
        assert math.exp(bracket.lower) <= float(truth) * (1 + 1e-13)
        assert math.exp(bracket.upper) >= float(truth) * (1 - 1e-13)
        assert bracket.upper - bracket.lower < 1e-9 or truth == 0


def blanket_ratios(rows):
    """Return the likelihood ratios (R_0/w, R_1/w) to the blanket, the pointwise least of all rows."""
    rows = np.asarray(rows, float)
    return LikelihoodRatios.from_masses(rows[0], rows[1], rows.min(axis=0))


def test_binary_response_dominates_thousands_of_randomizers():
    """The generic bound: no pmf with ratios at most e has a larger loss sum than 2-RR.

    The loss of a random randomizer is below that of binary randomized response in convex order, so
    E(G − t)_+ is smaller at every t, and so is every sum.  Checked for the single loss at all kinks.
    """
    rng = np.random.default_rng(7)
    checked = 0
    for _ in range(4000):
        e = math.exp(rng.uniform(0.01, 4.0))
        outputs, inputs = int(rng.integers(2, 7)), int(rng.integers(2, 5))
        level = rng.random((inputs, outputs)) ** rng.uniform(0.2, 6.0)
        rows = np.exp(np.log(e) * (level if rng.random() < 0.6 else np.round(level)))
        rows /= rows.sum(axis=1, keepdims=True)
        largest = float(np.max(rows.max(axis=0) / rows.min(axis=0)))
        if largest <= 1.0 + 1e-9:
            continue
        # the smallest budget it satisfies
        ratio = math.exp(rng.uniform(0.0, math.log(largest)))
        ratios = blanket_ratios(rows)
        values, masses = ratios.r0_over_w - ratio * ratios.r1_over_w, ratios.w
        top = np.array([largest - ratio, 1.0 - largest * ratio])
        weights = np.full(2, 1.0 / (largest + 1.0))
        for t in np.concatenate([values, top, [0.0]]):
            mine = np.sum(masses * np.maximum(values - t, 0)) + max(0.0, 1 - masses.sum()) * max(-t, 0.0)
            bound = np.sum(weights * np.maximum(top - t, 0)) + (largest - 1) / (largest + 1) * max(-t, 0.0)
            assert mine <= bound + 1e-12 * (1 + abs(t) + largest * ratio)
        checked += 1
    assert checked > 3500


@pytest.mark.parametrize("seed", range(8))
def test_generic_upper_end_is_above_any_randomizer(seed):
    rng = np.random.default_rng(200 + seed)
    rows = random_rows(rng, 3, int(rng.integers(2, 5)), 7)
    table = Table(rows)
    for n in (2, 7, 300):
        for share in (0.0, 0.2, 0.6):
            eps = share * table.eps0
            generic = shuffle(randomizers.generic(eps0=table.eps0), n=n).delta(eps)
            assert shuffle(table, n=n).delta(eps).upper <= generic.upper * (1 + 1e-5) + 1e-300


@pytest.mark.parametrize("eps0", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("n", [1, 20, 700, 10**5])
def test_generic_upper_end_is_the_stronger_clone_pair(eps0, n):
    p = math.exp(eps0)
    pair = VariationRatioPair(n=n, p=p, beta=(p - 1) / (p + 1), q0=p)
    eps = np.array([0.0, 0.1, 0.4]) * eps0 / math.sqrt(n)
    exact, blanket = pair.delta(eps), shuffle(randomizers.generic(eps0=eps0), n=n).delta(eps)
    assert np.all(exact.lower <= blanket.upper)
    assert np.all(blanket.upper <= exact.upper * (1 + 2e-5))


def test_published_pair_is_no_upper_bound():
    """5-ary randomized response, e^eps0 = 3, n = 5, all others holding a third value."""
    rr = randomizers.generalized_rr(eps0=math.log(3), d=5)
    truth = oracles.shuffled_hockey_stick(oracles.generalized_rr(3, 5), 0, 1, (2,) * 4, F(2))
    pair = VariationRatioPair.of(rr, n=5).delta(math.log(2))
    bracket = shuffle(rr, n=5).delta(math.log(2))
    assert pair.upper < float(truth) <= bracket.upper
    assert float(truth) == pytest.approx(0.0117808, abs=5e-8)
    assert pair.upper == pytest.approx(0.0094008, abs=5e-8)
    assert bracket.lower == pytest.approx(float(truth), rel=1e-9)


def test_larger_of_both_directions_is_taken():
    """Binary randomized response, all others at x0: the two directions differ by 9 % in ε."""
    attack = shuffle(randomizers.binary_rr(eps0=1.0), n=1000).attack_pairs[0]
    ends = sorted(DirectedOnly(pair).epsilon(1e-6).upper for pair in (attack, attack.reversed))
    assert ends == pytest.approx([0.11613, 0.12661], abs=1e-5)
    assert shuffle(randomizers.binary_rr(eps0=1.0), n=1000).epsilon(1e-6).lower == pytest.approx(
        ends[1], rel=1e-6
    )


class DirectedOnly(BlanketPair):
    """One direction of a pair, the other one set to zero."""

    def __init__(self, pair):
        super().__init__(pair.ratios, pair.n)
        self.symmetric = True


@pytest.mark.parametrize("n", [10**6, 10**8, 10**12, 10**15])
def test_cost_and_width_do_not_grow(n):
    pair = VariationRatioPair(n=n, p=math.e, beta=(math.e - 1) / (math.e + 1), q0=math.e)
    bracket = pair.epsilon(0.01 / n)
    assert bracket.upper - bracket.lower <= 1e-5 * bracket.upper
    assert pair.delta(bracket.upper).upper <= 0.01 / n * (1 + 1e-5)


def test_repeated_attacks_are_tried_once():
    for build, many in (
        (randomizers.generalized_rr(eps0=1.0, d=10), 2),
        (randomizers.binary_rr(eps0=1.0), 1),
    ):
        assert len(shuffle(build, n=10).attack_pairs) == many


def test_mass_outside_the_blanket_has_infinite_loss():
    """An output that only one input can produce identifies it whenever it is sent."""
    pair = InputPair.from_rows([[0.9, 0.1, 0.0], [0.9, 0.0, 0.1]], [0.9, 0.0, 0.0])
    profile = BlanketPair(pair.blanket, 100)
    assert profile.delta(3.0).upper == pytest.approx(0.1, rel=1e-9)
    assert profile.epsilon(0.05).upper == math.inf
    assert "no finite bound" in str(profile.epsilon(0.05))


def test_composition_file_describes_the_generic_pair():
    """The one-round values behind composition.json are those of the generic pair."""
    for case in json.loads((REFERENCE / "composition.json").read_text()):
        p = math.exp(case["eps0"])
        one = VariationRatioPair(n=case["n"], p=p, beta=(p - 1) / (p + 1), q0=p)
        for eps, many in case["hockey_stick"]:
            assert one.delta(eps).lower <= float(many)


def test_discrete_pair_is_a_pair():
    pair = DiscretePair(np.log([0.5, 0.5]), np.log([0.25, 0.75]))
    assert pair.delta(0.0).upper == pytest.approx(0.25, rel=1e-12)


def test_infinite_losses_stay_at_any_epsilon():
    """With p = ∞ an output without any b counts at every ε; e^{-ε} must not round it away."""
    pair = VariationRatioPair(n=2_000_000, p=math.inf, beta=1.0, q0=2.0, q1=1e9)
    for eps in (700.0, 750.0, 1e4):
        bracket = pair.delta(eps)
        assert bracket.lower <= (1 - 1e-9) ** (2 * 10**6 - 1) <= bracket.upper
        assert bracket.lower > 0.99
    assert VariationRatioPair(n=10_000, p=math.inf, beta=1.0, q0=1000.0).epsilon(1e-6).upper == math.inf


@pytest.mark.parametrize("precision", [1e-3, 0.0])
def test_the_loss_of_one_report_alone_holds_for_all_likelihood_ratios_within_their_precision(precision):
    """Outputs with large losses rarer and all others more frequent, by ``precision``."""
    first, second, mass = np.array([2.0, 0.5, 0.75]), np.array([0.0, 1.0, 1.25]), np.array([0.25, 0.5, 0.125])
    pair = BlanketPair(LikelihoodRatios(first, second, mass, precision=precision), 4)
    found = math.exp(pair._log_ever())
    given = F(2) * F(1, 4) * (1 - F(5, 8)) ** 3
    least = given * (1 - F(precision)) ** 2 * ((1 - F(5, 8) * (1 + F(precision))) / (1 - F(5, 8))) ** 3
    assert found <= least and found >= given * (1 - 40 * F(precision) - F(1, 10**12))


def test_upper_end_is_positive_just_below_the_largest_loss():
    eps0 = 1.8461862772452002
    assert shuffle(randomizers.binary_rr(eps0=eps0), n=4).delta(np.nextafter(eps0, 0)).upper > 0.0
    p = 4.491709464466643
    assert VariationRatioPair(n=5000, p=p, beta=(p - 1) / (p + 1) / 2, q0=p).delta(math.log(p)).upper > 0.0


@pytest.mark.parametrize(("p", "beta", "q0"), [(math.inf, 0.5, 1.0), (9.0, 0.64, 1.44)])
def test_pair_whose_clones_leave_no_room(p, beta, q0):
    """r0 + r1 = 1: the victim's remaining mass is a separate cell, shared by P and Q."""
    ratio = F(3, 2)
    masses = oracles.pair_masses(
        n=5,
        p=F(p) if math.isfinite(p) else p,
        beta=F(beta).limit_denominator(100),
        q0=F(q0).limit_denominator(100),
    )
    truth = float(oracles.both_ways(masses, ratio))
    bracket = VariationRatioPair(n=5, p=p, beta=beta, q0=q0).delta(math.log(ratio))
    assert bracket.lower <= truth * (1 + 1e-12) and truth * (1 - 1e-12) <= bracket.upper


@pytest.mark.parametrize("n", [1, 601, 10**15])
@pytest.mark.parametrize(
    "randomizer",
    [
        randomizers.generic(eps0=700.0),
        randomizers.generalized_rr(eps0=700.0, d=10**6),
        randomizers.rappor(eps0=700.0, d=1000),
    ],
    ids=repr,
)
def test_the_largest_budgets_neither_overflow_nor_mislead(randomizer, n):
    bracket = shuffle(randomizer, n=n).epsilon(1e-6)
    assert 600.0 < bracket.lower <= bracket.upper <= 700.0
    assert shuffle(randomizer, n=n).delta(0.0).lower > 0.999


def test_tiny_delta_is_answered_or_refused():
    bracket = shuffle(randomizers.generic(eps0=1.0), n=1000).epsilon(1e-300)
    assert 0.99 < bracket.lower <= bracket.upper <= 1.0


@pytest.mark.parametrize("many", range(4))
def test_extreme_outputs_set_aside_leave_the_distribution_of_all_others(many):
    """Their first report becomes 0; what is then equal becomes one atom, and no mass is lost or doubled."""
    mass = np.array([0.25, 2.0**-17, 2.0**-15, 0.5, 2.0**-16, 0.125])
    first = np.array([1.5, 64.0, 16.0, 0.5, 32.0, 0.75])
    pair = BlanketPair(LikelihoodRatios(first, np.ones(6), mass), 1000)
    assert pair._extreme[0].tolist() == [1, 4, 2]
    distribution = pair._tame(0.5 * first, many)
    expected = {}
    for i in range(6):
        value = (0.0 if i in [1, 4, 2][:many] else 0.5 * first[i]) - 1.0
        expected[value] = expected.get(value, 0.0) + mass[i]
    assert dict(zip(distribution.values.tolist(), distribution.masses.tolist(), strict=True)) == expected
    assert distribution.values.size == len(expected)
    assert distribution.sizes.tolist() == [value + 2.0 for value in distribution.values]


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("eps", [200.0, 530.0, 540.0, 600.0, 639.9, 700.0])
def test_an_output_of_one_report_alone_counts_however_rare_it_is(n, eps):
    """R_0 = (1, 3.6e-92), R_1 = (1, 0): the second output identifies the input, at every ε."""
    rare = 7.2e-92
    distribution = LikelihoodRatios(np.array([2.0, rare]), np.array([2.0, 0.0]), np.array([0.5, 0.5]))
    pair = BlanketPair(distribution, n)
    low, high = pair.log_hockey_stick(eps)
    with mpmath.workdps(400):
        shrink, truth = mpmath.exp(-mpmath.mpf(eps)), mpmath.mpf(0)
        for k in range(n + 1):  # reports from the second output
            total = k * mpmath.mpf(rare) + (n - k) * 2 * (1 - 1 / shrink)
            truth += mpmath.binomial(n, k) * max(total, 0) / mpmath.mpf(2) ** n
        assert low <= mpmath.log(truth / n) <= high
    assert pair.epsilon(1e-100).upper == math.inf


def test_masses_outside_the_support_are_as_precise_as_their_products():
    ratios = LikelihoodRatios(
        np.ones(1), np.ones(1), np.ones(1), 1e-200, 0.0, outside=np.array([[1e-200], [0.0]])
    )
    for eps in np.linspace(250.0, 290.0, 81):
        low, high = ratios.log_outside(eps)
        assert low <= math.log(1e-200) * (1 - 4e-16) and math.log(1e-200) * (1 + 4e-16) <= high
