"""Subsets of a population: against every dataset of tiny ones, exact pairs, tiny rates, hostile input."""

import itertools
import math
from collections import Counter
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import oracles
from finite_pairs import LOPSIDED, discrete
from oracles import neighbours
from shufflelib import Status, randomizers, shuffle
from shufflelib.numerics.certified import Interval
from shufflelib.profiles import DiscretePair, Gaussian, compose
from shufflelib.profiles.bounds import Bounds
from shufflelib.profiles.hockey_stick import SymmetricPair
from shufflelib.profiles.privacy_profile import Profile
from shufflelib.shuffling import VariationRatioPair


@pytest.mark.parametrize("rate", [F(1, 1000), F(1, 10), F(9, 10)])
def test_mixed_pair_is_exact_in_both_orders(rate):
    mixed = discrete(LOPSIDED).subsample(rate=float(rate))
    masses = neighbours.mixed(dict(enumerate(LOPSIDED)), rate)
    for ratio in (F(1), F(1001, 1000), F(11, 10), F(3, 2), F(4)):
        for one, way in ((mixed, masses), (mixed.reversed, oracles.swapped(masses))):
            truth = float(oracles.hockey_stick(way, ratio))
            found = one.log_hockey_stick(math.log(ratio))
            if truth == 0.0:
                assert found.upper < -30.0
            else:
                rounding = 1e-14 / float(rate)  # of log(ratio), which is not exact
                assert math.exp(found.lower) <= truth * (1 + rounding) + 1e-17
                assert math.exp(found.upper) >= truth * (1 - rounding) - 1e-17
                assert found.upper - found.lower < 1e-9
    assert mixed.max_privacy_loss == pytest.approx(math.log(float(1 + rate * 4)), rel=1e-12)
    smallest = min(a / b for a, b in masses.values())
    assert mixed.reversed.max_privacy_loss == pytest.approx(-math.log(float(smallest)), rel=1e-12)


@pytest.mark.parametrize("rate", [1e-8, 1e-4, 0.3])
@pytest.mark.parametrize("share", [0.1, 1.0, 3.0])
def test_small_rates_keep_their_digits(rate, share):
    mu, eps = 0.5, rate * share
    bracket = Gaussian(mu).subsample(rate).log_hockey_stick(eps)
    with mpmath.workdps(60):
        inner = mpmath.log1p(mpmath.expm1(mpmath.mpf(eps)) / mpmath.mpf(rate))
        truth = mpmath.log(
            mpmath.mpf(rate)
            * (
                mpmath.ncdf(-inner / mu + mpmath.mpf(mu) / 2)
                - mpmath.exp(inner) * mpmath.ncdf(-inner / mu - mpmath.mpf(mu) / 2)
            )
        )
        assert bracket.lower <= truth <= bracket.upper
    assert bracket.upper - bracket.lower < 1e-9


def test_rate_one_is_the_identity_and_rates_multiply():
    mechanism = shuffle(randomizers.generic(eps0=2.0), n=500)
    pair = VariationRatioPair.of(randomizers.generic(eps0=2.0), n=500)
    for profile in (mechanism, pair):
        assert profile.subsample(rate=1.0) is profile
        assert profile.subsample(rate=1) is profile
        twice = profile.subsample(rate=0.2).subsample(rate=0.5)
        once = profile.subsample(rate=0.1)
        for eps in (0.0, 0.005, 0.02):
            a, b = twice.delta(eps), once.delta(eps)
            assert a.upper == pytest.approx(b.upper, rel=1e-5)
            assert a.lower == pytest.approx(b.lower, rel=1e-5)


@pytest.mark.parametrize("loss", [1e-9, 0.5, 1.0, 3.0, 700.0, 1400.0])
@pytest.mark.parametrize("rate", [1e-3, 0.5])
def test_largest_loss_of_a_share_at_any_size_of_the_loss(rate, loss):
    """Beyond 709 nats too, where e^loss is no float any more."""
    log_share = -math.log1p(math.exp(-loss))
    mixed = DiscretePair([log_share, log_share - loss], [log_share - loss, log_share]).subsample(rate=rate)
    with mpmath.workdps(40):
        truth = mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(loss)))
        assert truth <= mixed.max_privacy_loss <= truth * (1 + mpmath.mpf(10) ** -13) + 1e-15 * rate


def rounds_on_one_sample(rounds, drawn, population):
    """List the neighbours whose sample answers every round, with inputs of their own in each round."""
    inputs = list(itertools.product(*(range(len(rows)) for rows in rounds)))

    def released(dataset):
        total, samples = Counter(), list(itertools.combinations(dataset, drawn))
        for sample in samples:
            histograms = [
                oracles.shuffled_distribution([rows[x[k]] for x in sample]) for k, rows in enumerate(rounds)
            ]
            for keys in itertools.product(*histograms):
                masses = [one[key] for one, key in zip(histograms, keys, strict=True)]
                total[keys] += math.prod(masses) / len(samples)
        return total

    found = []
    for others in itertools.combinations_with_replacement(inputs, population - 1):
        worlds = [released((x, *others)) for x in inputs]
        found += [oracles.beside(*pair) for pair in itertools.combinations(worlds, 2)]
    return neighbours.Worst(found)


BINARY = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
UNEVEN = [[F(1, 2), F(1, 2)], [F(1, 5), F(4, 5)]]


@pytest.mark.parametrize(("rounds", "attained"), [((BINARY, BINARY), 0.85), ((BINARY, UNEVEN), 0.8)])
def test_rounds_on_one_sample_are_enclosed_and_attacked(rounds, attained):
    tables = {id(rows): randomizers.from_pmf(np.array(rows, float)) for rows in rounds}
    every = {key: shuffle(table, n=2) for key, table in tables.items()}
    profile = compose([every[id(rows)] for rows in rounds]).subsample(rate=2 / 3)
    truth = rounds_on_one_sample(rounds, drawn=2, population=3)
    for ratio in (F(1), F(11, 10), F(3, 2)):
        found, exact = profile.delta(math.log(ratio)), float(truth.delta(ratio))
        assert attained * exact <= found.lower <= exact * (1 + 1e-9) and found.upper >= exact * (1 - 1e-9)
    found, exact = profile.renyi(2.0), truth.renyi(2)
    assert 0.6 * exact <= found.lower <= exact * (1 + 1e-9) and found.upper >= exact * (1 - 1e-9)


def test_where_no_attack_is_known_the_lower_end_is_nothing_and_the_status_says_so():
    class Unknown(SymmetricPair):
        max_privacy_loss = 1.0

        def _log_curve(self, eps, tolerance):
            return Interval(np.full(eps.shape, -math.inf), np.where(eps < 1.0, -3.0, -math.inf))

    unattacked = Profile(bounds=lambda: Bounds((Unknown(),), (Unknown(),)), statement="an example")
    found = unattacked.compose(rounds=2).subsample(rate=0.5).delta(0.1)
    assert found.lower == 0.0 < found.upper and found.status is Status.TRIVIAL_LOWER


@pytest.mark.parametrize("order", [1.01, 3.0, 32.0])
@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.2), (1.0, 0.01), (4.0, 0.1)])
def test_renyi_divergences_of_sampled_gaussian_pairs(mu, rate, order):
    """Losses are unbounded; both directions against a quadrature in thirty digits."""
    pair = Gaussian(mu).subsample(rate)
    with mpmath.workdps(30):
        m, g = mpmath.mpf(mu), mpmath.mpf(rate)

        def divergence(power):
            def density(x):
                return mpmath.npdf(x) * (1 - g + g * mpmath.exp(m * x - m * m / 2)) ** power

            peak = max(power, 0) * m
            knots = [-40, -10, -5, 0, 5, 10, *(peak + shift for shift in (11, 20, 40))]
            return mpmath.log(mpmath.quad(density, sorted(knots))) / (order - 1)

        for one, power in ((pair, order), (pair.reversed, 1 - order)):
            truth, (lower, upper) = divergence(power), one.renyi_directed(order)
            assert lower <= truth <= upper <= lower * (1 + mpmath.mpf("5e-3"))


def test_renyi_divergence_of_sampled_gaussian_rounds():
    rounds = compose([Gaussian(0.3), Gaussian(0.4)]).subsample(0.2).renyi(3.0)
    once = Gaussian(0.5).subsample(0.2).renyi(3.0)
    assert rounds.lower <= once.upper and once.lower <= rounds.upper < 1.01 * rounds.lower


def test_a_sample_of_rounds_does_not_know_what_the_rounds_were_asked():
    rounds = shuffle(randomizers.laplace(eps0=1.0), n=1000).compose(10)
    before = rounds.subsample(0.1).delta(0.05)
    sampled = rounds.subsample(0.1)
    rounds.epsilon(1e-6)
    assert sampled.delta(0.05) == before


def test_a_sample_of_rounds_says_that_they_share_it():
    one = shuffle(randomizers.binary_rr(eps0=1.0), n=100)
    for profile in (one.compose(3).subsample(0.1), one.subsample(0.1).compose(3)):
        (said,) = (line for line in profile.assumptions if "subset" in line)
        assert "one subset for all rounds that are sampled together, a new one for each sample" in said


@pytest.mark.parametrize("rate", [1e-8, 0.1, 0.9])
@pytest.mark.parametrize("pair", [Gaussian(0.5), discrete(LOPSIDED), Gaussian(30.0)])
def test_an_array_of_a_sample_is_its_values(pair, rate):
    mixed = pair.subsample(rate=rate)
    eps = np.append(np.geomspace(1e-12, 900.0, 60), [0.0, 1e300])
    for one in (mixed, mixed.reversed):
        found = one.log_hockey_stick(eps.reshape(2, -1))
        assert found.lower.shape == (2, 31)
        ends = zip(found.lower.ravel(), found.upper.ravel(), strict=True)
        assert [one.log_hockey_stick(x) for x in eps.tolist()] == list(ends)
