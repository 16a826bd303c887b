"""Dummies of the shuffler and shuffled distances: the few lines of the claims against exact fractions."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from claims import Effort, Verdict, exact_shuffle, exact_tests
from claims.others import shuffled_distances, shuffled_sums, shuffler_dummies
from shufflelib.shuffling import negative_binomial_dummies

HALF = Fraction(1, 2)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1)])
def test_the_protocol_without_other_users_is_the_pair_of_two_numbers(rate):
    dummies = [Fraction(1, 6), HALF, Fraction(1, 3)]
    sent, without = shuffler_dummies.one_value(dummies, rate)
    assert sum(sent) == sum(without) == 1
    for ratio in (Fraction(1), Fraction(3, 2), Fraction(4)):
        for d in (2, 3):  # a value that nobody holds in either dataset tells nothing
            alone = shuffler_dummies._worst(dummies, rate, (), d, ratio)
            pair = exact_tests.tensor(sent, without), exact_tests.tensor(without, sent)
            assert alone == exact_tests.divergence(*pair, ratio)
        floats = (np.array([float(mass) for mass in one]) for one in (sent, without))
        found = shuffler_dummies.replaced(*floats).delta(math.log(ratio))
        assert found.lower <= alone * (1 + 1e-12) and alone <= found.upper * (1 + 1e-12)


def test_half_of_the_bound_from_one_value_is_refuted():
    def halved(rng):
        share = shuffler_dummies._binary_suffices(rng)
        return "a counterexample" if not isinstance(share, str) and share > HALF else share

    check = exact_tests.share_of_bound(halved, 6).check.told(("{tried}",))
    assert check(Effort(8)).verdict is Verdict.REFUTED


def test_one_sided_dummies_of_even_losses_are_randomized_response_on_one_bit():
    rate, q = shuffler_dummies.one_sided(Fraction(3), Fraction(3))
    assert (rate, q) == (Fraction(2, 3), Fraction(1, 4))
    dummies = [(1 - q) * q**k for k in range(9)]
    dummies[-1] /= 1 - q  # the last one stands for all beyond
    sent, without = shuffler_dummies.one_value(dummies, rate)
    assert [sent[0], sum(sent[1:])] == [Fraction(1, 4), Fraction(3, 4)]
    assert [without[0], sum(without[1:])] == [Fraction(3, 4), Fraction(1, 4)]
    assert {a / b for a, b in zip(sent[1:-2], without[1:-2], strict=True)} == {Fraction(3)}


def test_one_sided_dummies_with_every_report_sent_are_those_of_the_library():
    q = 0.5
    masses = (1 - q) * q ** np.arange(60)
    found = shuffler_dummies.replaced(np.append(0.0, masses), np.append(masses, 0.0)).delta(0.5)
    known = negative_binomial_dummies(shape_per_user=1.0, chance=q, d=2, n=1).delta(0.5)
    assert found.lower <= known.upper * (1 + 1e-9) and known.lower <= found.upper * (1 + 1e-9)


def test_the_error_is_that_of_many_runs():
    rng, rate, q, held, runs = np.random.default_rng(3), 0.6, 0.8, 40, 200_000
    numbers = rng.binomial(held, rate, runs) + rng.geometric(1 - q, runs) - 1
    estimates = (numbers - q / (1 - q)) / rate
    assert abs(estimates.mean() - held) < 5 * estimates.std() / math.sqrt(runs)
    assert shuffler_dummies.squared_error(rate, q / (1 - q) ** 2, held) == pytest.approx(
        estimates.var(), rel=0.02
    )


def test_an_uneven_split_halves_the_squared_error():
    even, uneven = (shuffler_dummies.one_sided_error(1.0, share, 1000) for share in (0.5, 0.88))
    assert 0.5 < uneven / even < 0.51 and uneven > 1000 / math.expm1(1.0)


def test_two_sided_dummies_are_as_few_as_suffice():
    mode, variance = shuffler_dummies.two_sided(1.0, 1e-6)
    k = np.arange(200)

    def delta(mode):
        masses = np.exp(-0.5 * abs(k - mode))
        masses /= masses.sum()
        return shuffler_dummies.replaced(np.append(0.0, masses), np.append(masses, 0.0)).delta(1.0)

    assert delta(mode).upper <= 1e-6 * (1 + 1e-6) and delta(mode - 1).lower > 1e-6
    masses = np.exp(-0.5 * abs(k - mode))
    assert variance == pytest.approx(np.cov(k, aweights=masses, ddof=0), rel=1e-9)


def test_geometric_noise_has_metric_privacy_and_its_shuffled_bounds_enclose_the_worst_places():
    q = HALF
    table = [[q ** abs(y - x) * (1 if y in (0, 2) else 1 - q) / (1 + q) for y in range(3)] for x in range(3)]
    floats = shuffled_distances.clamped_geometric(3, math.log(2))
    assert np.allclose(floats, np.array(table, float), rtol=1e-15)
    for distance in (1, 2):
        found = shuffled_distances.shuffled(floats, distance, 3).delta(math.log(1.25))
        worst = max(
            exact_shuffle.delta(table, *pair, others, Fraction(5, 4))
            for x in range(3 - distance)
            for pair in ((x, x + distance), (x + distance, x))
            for others in [(a, b) for a in range(3) for b in range(a, 3)]
        )
        assert found.lower <= worst * (1 + 1e-12) and worst <= found.upper * (1 + 1e-12)


def test_shuffling_gains_nothing_without_delta():
    table = exact_shuffle.randomized_response(2, 3)
    rng = random.Random(5)
    for _ in range(5):
        others = rng.choices(range(3), k=2)
        p, q = (exact_shuffle.shuffled(table, (own, *others)) for own in (0, 1))
        assert max(p[counts] / q[counts] for counts in p) == 2


def test_the_last_number_that_the_released_code_draws_gives_the_user_away():
    last, top, delta = shuffler_dummies._cut_one_sided()
    assert (last, top) == (14, Fraction(1, 2 * 3**14)) and top <= delta < 2 * top
    masses = [0.5, 0.25, 0.125, 0.125]
    assert shuffler_dummies.cut_off(masses, 2) == [0.5, 0.25, 0.25]
    assert all(1e-7 < shuffler_dummies.sampled_delta(eps) < 3e-7 for eps in (1.0, 5.0))


def test_the_coins_of_the_released_code_solve_its_quadratic_equation():
    e0, log = 0.5, math.log(4e12)  # as the code writes it, with hyperbolic functions
    inner = 2 + math.cosh(e0) * (log - 2) + log + 2 * math.sinh(e0)
    e = math.exp(e0)
    written = 2 * (e - 1) + (1 + e) * ((1 + e) * log + math.sqrt(2 * e * log * inner))
    assert shuffler_dummies.released_coins(1.0) == math.ceil(written / (e - 1) ** 2) == 974


def test_the_noise_of_two_users_is_that_of_the_closed_form():
    masses, middle = shuffled_sums.noise(2, math.log(2))
    k = np.arange(40)
    assert np.allclose(masses[middle : middle + 40], (3 * k + 5) / 27 / 2.0**k, rtol=1e-9)
    exact, ratio = shuffled_sums.two_users(32)
    assert ratio == Fraction(124, 65) and shuffled_sums.two_users(31)[0] < Fraction(1, 1000) < exact
    assert math.exp(shuffled_sums.code_epsilon(2, math.log(2))) == pytest.approx(float(ratio), rel=1e-9)
    found = shuffled_sums.moved(masses, 32, 32 * math.log(ratio))
    assert found == pytest.approx(float(exact), rel=1e-6)


def test_far_apart_the_loss_of_a_unit_is_that_of_one_report():
    for n in (2, 5, 20):
        masses, middle = shuffled_sums.noise(n, 1.0)
        loss = np.log(masses[middle + 1 : -1] / masses[middle + 2 :])
        assert np.all(np.diff(loss[:60]) > 0) and 0.7 < loss[60] < 1.0


def test_the_deviations_are_those_of_the_noise():
    masses, middle = shuffled_sums.noise(7, 0.4)
    variance = (masses * np.arange(-middle, middle + 1) ** 2.0).sum()
    assert shuffled_sums.geometric_deviation(7, 0.4) == pytest.approx(math.sqrt(variance), rel=1e-9)
    rng, sent, bits = np.random.default_rng(4), 5000, 1500
    drawn = rng.binomial(sent, 0.5 * bits / sent, 100_000) / (1 - bits / sent)
    assert shuffled_sums.bits_deviation(bits, sent) == pytest.approx(drawn.std(), rel=0.02)
    (computed, _), (certified, _) = shuffled_sums.deviations(50)
    assert 17 < certified < 19 and computed > 200
