"""Protocols on data: estimators against enumeration, repetitions against theory, guarantees of what was run.

The oracles share no code with the package: each writes a mechanism's law as a dictionary or a matrix in exact
fractions and lists all outcomes of a few users.
"""

import math
import time
from collections import Counter
from fractions import Fraction as F
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix
from scipy.stats import binom, chi2_contingency, chisquare, kstest

from shufflelib import datasets, estimation, randomizers, shuffle
from shufflelib.estimation.channels import LaplaceReports, ResponseReports
from shufflelib.estimation.counts import draw_supports, support

RANGE = {"low": 20.0, "high": 80.0}
LOG = math.log
REPETITIONS = 1000


def paper(n=10_000, **groups):
    return estimation.group_budgets(n, **groups)


def seeded(seed=0):
    return np.random.default_rng(seed)


PERSONAL = {
    "Algorithm 1": lambda eps0: estimation.MeanProtocol(eps0, **RANGE),
    "seats, mean": lambda eps0: estimation.SeatMeanProtocol(eps0, **RANGE),
    "Algorithm 2": estimation.FrequencyProtocol,
    "seats, frequency": estimation.SeatFrequencyProtocol,
}
MECHANISMS = {
    "generalized RR": randomizers.generalized_rr,
    "subset": randomizers.subset,
    "local hash": randomizers.local_hash,
    "Hadamard": randomizers.hadamard,
    "RAPPOR": randomizers.rappor,
    "optimized unary": randomizers.optimized_unary,
}


def data_for(name, n, rng):
    if "mean" in name or name == "Algorithm 1":
        return estimation.clipped_normal(n, rng)
    return rng.permutation(estimation.bits(n))


# ---- oracles


def response_runs(ratios, x):
    """Every outcome of users with e^eps_i = ratio_i who hold the bits x: (reports, probability)."""
    for reports in product((0, 1), repeat=len(x)):
        mass = F(1)
        for ratio, held, said in zip(ratios, x, reports, strict=True):
            mass *= (ratio if held == said else 1) / F(ratio + 1)
        yield reports, mass


def moments(law):
    mean = sum(mass * value for value, mass in law)
    return mean, sum(mass * (value - mean) ** 2 for value, mass in law)


def algorithm_2(ratios, x):
    """Exact mean and variance of z = (A - B)/(n - 2B)."""
    b = sum(F(1, ratio + 1) for ratio in ratios)
    return moments([((sum(y) - b) / (len(x) - 2 * b), mass) for y, mass in response_runs(ratios, x)])


def seats_frequency(ratios, x):
    """Exact mean and variance with weights tanh²(ε/2), averaged over all seatings."""
    gain = [F(ratio - 1, ratio + 1) for ratio in ratios]
    scale = sum(g * g for g in gain)
    law = []
    for seated in permutations(x):
        for y, mass in response_runs(ratios, seated):
            terms = (g * (said - F(1, ratio + 1)) for g, ratio, said in zip(gain, ratios, y, strict=True))
            law.append((sum(terms) / scale, mass / math.factorial(len(x))))
    return moments(law)


def support_law(name, e, d, counts, **size):
    """Law of the support vector C by listing every report of every user, e = e^eps0 an exact square."""
    reports = {
        "generalized RR": lambda: [{y} for y in range(d)],
        "subset": lambda: [set(z) for z in combinations(range(d), size["k"])],
        "RAPPOR": lambda: [{j for j in range(d) if y[j]} for y in product((0, 1), repeat=d)],
        "optimized unary": lambda: [{j for j in range(d) if y[j]} for y in product((0, 1), repeat=d)],
        "local hash": lambda: [
            {j for j in range(d) if h[j] == 0} for h in product(range(size["l"]), repeat=d)
        ],
        "Hadamard": lambda: [
            {j for j in range(d) if column[j + 1] > 0} for column in hadamard_matrix(size["K"]).T.tolist()
        ],
    }[name]()

    def weight(x, z):
        if name == "RAPPOR":
            root = math.isqrt(e)
            return F(root) ** (d - len(z ^ {x}))
        if name == "optimized unary":
            return F(1, 2) * F(1, e + 1) ** len(z - {x}) * F(e, e + 1) ** (d - 1 - len(z - {x}))
        return F(e if x in z else 1)

    law = {(0,) * d: F(1)}
    for x, users in enumerate(counts):
        total = sum(weight(x, z) for z in reports)
        for _ in range(users):
            after = Counter()
            for seen, mass in law.items():
                for z in reports:
                    key = tuple(count + (j in z) for j, count in enumerate(seen))
                    after[key] += mass * weight(x, z) / total
            law = after
    return law


# ---- the shuffler


def test_every_order_is_equally_likely_whatever_came_in():
    rng = seeded(1)
    for rows in ([3, 1, 2], [1, 2, 3]):
        orders = Counter(tuple(estimation.in_random_order(rows, rng).tolist()) for _ in range(6000))
        assert len(orders) == 6 and chisquare(list(orders.values())).pvalue > 1e-4


def test_rows_stay_together_and_none_is_lost():
    rng = seeded()
    pairs = np.column_stack([np.arange(50), 10 * np.arange(50)])
    mixed = estimation.in_random_order(pairs, rng)
    assert np.all(mixed[:, 1] == 10 * mixed[:, 0]) and sorted(mixed[:, 0]) == list(range(50))
    hashed = randomizers.local_hash(eps0=1.0, d=5).sample([0, 1, 2, 3, 4], rng)
    mixed = estimation.in_random_order(hashed, rng)
    assert mixed.dtype == hashed.dtype and sorted(mixed.tolist()) == sorted(hashed.tolist())
    assert np.array_equal(pairs[:, 0], np.arange(50))  # the input is left alone


def test_the_analyst_cannot_see_who_sent_what():
    """At a huge budget reports are the values: their position must not tell the user's position."""
    users, rng = np.arange(4), seeded(2)
    loud = np.full(4, 100.0)
    protocols = {
        "own": estimation.MeanProtocol(loud, low=0.0, high=3.0),
        "seats": estimation.SeatMeanProtocol(loud, low=0.0, high=3.0),
        "histogram": estimation.HistogramProtocol(randomizers.generalized_rr(eps0=100.0, d=4), n=4),
    }
    for name, protocol in protocols.items():
        seen = np.array([np.rint(protocol.reports(users, rng)) for _ in range(3000)])
        assert np.all(np.sort(seen, axis=1) == users), name
        for position in range(4):
            found = np.bincount(seen[:, position].astype(int), minlength=4)
            assert chisquare(found).pvalue > 1e-4, (name, position)


def test_reports_have_one_law_for_every_order_of_the_users():
    ratios, x = (3, 3, 3), (1, 0, 0)
    protocol = estimation.FrequencyProtocol(np.log(ratios))
    rng = seeded(3)
    tables = []
    for order in ([1, 0, 0], [0, 1, 0], [0, 0, 1]):
        seen = Counter(tuple(protocol.reports(order, rng).tolist()) for _ in range(4000))
        tables.append([seen[y] for y in product((0, 1), repeat=3)])
    assert chi2_contingency(tables).pvalue > 1e-4
    exact = Counter()
    for reports, mass in response_runs(ratios, x):
        for order in permutations(reports):
            exact[order] += mass / 6
    expected = [12000 * float(exact[y]) for y in product((0, 1), repeat=3)]
    assert chisquare(np.sum(tables, axis=0), expected).pvalue > 1e-4


@pytest.mark.parametrize("name", ["Algorithm 1", "Algorithm 2"])
def test_own_budget_estimates_are_functions_of_the_multiset(name):
    protocol, rng = PERSONAL[name](paper(500)), seeded(4)
    reports = protocol.reports(data_for(name, 500, rng), rng)
    assert protocol.estimate(np.sort(reports)) == pytest.approx(protocol.estimate(reports), abs=1e-10)


@pytest.mark.parametrize("name", MECHANISMS)
def test_histograms_are_functions_of_the_multiset(name):
    protocol, rng = estimation.HistogramProtocol(MECHANISMS[name](eps0=1.0, d=6), n=60), seeded(5)
    reports = protocol.reports(np.arange(60) % 6, rng)
    again = protocol.estimate(rng.permutation(reports, axis=0))
    assert protocol.estimate(reports) == pytest.approx(again, abs=1e-12)


# ---- Algorithms 1 and 2, exactly


def test_algorithm_2_is_as_written():
    eps0, reports = np.array([0.0, 0.3, 1.0, 2.0]), np.array([1, 0, 1, 1])
    flip = 1 / (np.exp(eps0) + 1)
    a, b = reports.sum(), flip.sum()
    assert estimation.FrequencyProtocol(eps0).estimate(reports) == pytest.approx((a - b) / (4 - 2 * b))


def test_algorithm_1_is_as_written():
    protocol = estimation.MeanProtocol([0.5, 1.0, 2.0], low=0.0, high=10.0)
    assert protocol.estimate([1.0, 2.0, 6.0]) == pytest.approx(3.0)
    assert protocol.noise_variance == pytest.approx(2 * 100 * (4 + 1 + 0.25) / 9)
    clipped = protocol.channel.values([-5.0, 3.0, 99.0])
    assert clipped.tolist() == [0.0, 3.0, 10.0] and protocol.bias([-5.0, 3.0, 99.0]) == pytest.approx(0.0)


@pytest.mark.parametrize("x", [(1, 0, 0, 1), (1, 1, 1, 0), (0, 0, 0, 0), (1, 1, 1, 1)])
@pytest.mark.parametrize("ratios", [(2, 2, 2, 2), (1, 2, 3, 9), (9, 3, 1, 1), (50, 1, 1, 1)])
def test_mean_and_variance_of_frequencies_are_exact(ratios, x):
    eps0, share = np.log(ratios), np.mean(x)
    own, seats = estimation.FrequencyProtocol(eps0), estimation.SeatFrequencyProtocol(eps0)
    for protocol, law in ((own, algorithm_2(ratios, x)), (seats, seats_frequency(ratios, x))):
        assert share + protocol.bias(x) == pytest.approx(float(law[0]), abs=1e-12)
        assert protocol.variance(x) == pytest.approx(float(law[1]), rel=1e-12)
    assert seats.standard_error(0.0) ** 2 >= seats.variance(x) * (1 - 1e-12)
    assert own.standard_error(0.0) ** 2 == pytest.approx(own.variance(x))


def test_the_upper_end_of_the_standard_error_is_attained():
    seats = estimation.SeatFrequencyProtocol(np.log([1.5, 2.0, 4.0, 9.0]))
    assert seats.standard_error(0.0) ** 2 == pytest.approx(seats.variance([1, 0, 1, 0]))


def test_seat_weights_have_the_least_worst_case_variance():
    eps0, n = np.array([0.1, 0.4, 1.0, 3.0, 3.0]), 5
    seats = estimation.SeatMeanProtocol(eps0, low=0.0, high=2.0)
    assert seats.weights.sum() == pytest.approx(1.0)

    def worst(weights):  # S² at Δ²/4
        return np.sum(weights**2 * 2 * (2.0 / eps0) ** 2) + np.sum((weights - 1 / n) ** 2)

    assert worst(seats.weights) == pytest.approx(seats.noise_variance + seats.luck)
    rng = seeded(6)
    for _ in range(200):
        other = seats.weights + 0.01 * rng.normal(size=n)
        assert worst(other / other.sum()) >= worst(seats.weights)
    bits = estimation.SeatFrequencyProtocol(eps0).weights
    assert bits == pytest.approx(np.tanh(eps0 / 2) ** 2 / np.sum(np.tanh(eps0 / 2) ** 2))


def test_equal_budgets_make_both_readings_the_same_estimator():
    for own, seats in (("Algorithm 1", "seats, mean"), ("Algorithm 2", "seats, frequency")):
        eps0, rng = np.full(50, 0.7), seeded()
        x = data_for(own, 50, rng)
        one, other = PERSONAL[own](eps0), PERSONAL[seats](eps0)
        reports = one.reports(x, rng)
        assert one.estimate(reports) == pytest.approx(other.estimate(reports))
        assert one.variance(x) == pytest.approx(other.variance(x))


def test_algorithm_2_is_biased_where_budget_goes_with_value():
    n = 10_000
    eps0, ones_first = paper(n), estimation.bits(n)  # all cautious users hold 1
    protocol = estimation.FrequencyProtocol(eps0)
    gain = (np.exp(eps0) - 1) / (np.exp(eps0) + 1)
    expected = (gain @ ones_first) / gain.sum() - 0.7
    assert protocol.bias(ones_first) == pytest.approx(expected) and -0.29 < expected < -0.28
    z = protocol.repeat(ones_first, REPETITIONS, seeded(7))
    error = z.std() / REPETITIONS**0.5
    assert abs(z.mean() - 0.7 - expected) < 4 * error < abs(expected) / 10
    seats = estimation.SeatFrequencyProtocol(eps0).repeat(ones_first, REPETITIONS, seeded(8))
    assert abs(seats.mean() - 0.7) < 4 * seats.std() / REPETITIONS**0.5
    assert estimation.MeanProtocol(eps0, low=0.0, high=1.0).bias(ones_first) == pytest.approx(0.0, abs=1e-12)


# ---- running, and repeating


@pytest.mark.parametrize("name", PERSONAL)
def test_unbiased_with_the_stated_variance_on_200_seeds(name):
    n = 1000
    protocol, x = PERSONAL[name](paper(n)), data_for(name, n, seeded(9))
    truth, variance = x.mean() + protocol.bias(x), protocol.variance(x)
    z = np.array([protocol.estimate(protocol.reports(x, seeded(seed))) for seed in range(200)])
    assert abs(z.mean() - truth) < 4 * (variance / 200) ** 0.5
    assert 0.7 < z.var() / variance < 1.4  # three standard errors of a variance of 200


@pytest.mark.parametrize("name", PERSONAL)
@pytest.mark.parametrize("shares", [(0.54, 0.37, 0.09), (0.01, 0.9, 0.09)])
def test_mean_absolute_error_is_that_of_theory(name, shares):
    n = 10_000
    protocol, x = PERSONAL[name](paper(n, shares=shares)), data_for(name, n, seeded(10))
    z = protocol.repeat(x, REPETITIONS, seeded(11))
    assert z.shape == (REPETITIONS,)
    measured = estimation.mean_absolute_error(z - protocol.bias(x), x.mean())
    expected = estimation.normal_absolute_error(protocol.variance(x))
    assert abs(measured.value - expected) < 3 * measured.standard_error < 0.1 * expected


@pytest.mark.parametrize("name", PERSONAL)
def test_repeating_and_running_have_one_law(name):
    eps0, rng = np.array([0.2, 0.2, 0.2, 1.0, 1.0, 3.0]), seeded(12)
    protocol, x = PERSONAL[name](eps0), data_for(name, 6, seeded(13))
    runs = np.array([protocol.estimate(protocol.reports(x, rng)) for _ in range(4000)])
    drawn = protocol.repeat(x, 4000, rng)
    rounded = [np.round(z, 9) for z in (runs, drawn)]
    assert kstest(*rounded).pvalue > 1e-4


def test_repeating_spans_several_blocks(monkeypatch):
    monkeypatch.setattr("shufflelib.estimation.personal.CELLS", 40)
    protocol = estimation.SeatFrequencyProtocol([0.0, 1.0, 1.0, 2.0])
    z = protocol.repeat([1, 0, 0, 1], 5003, seeded(14))
    assert z.shape == (5003,)
    assert abs(z.mean() - 0.5) < 4 * (protocol.variance([1, 0, 0, 1]) / 5003) ** 0.5


def test_what_the_paper_says_of_its_figures():
    """At the defaults the plain average is off by 5, weighting by precision by 1.6; both fall with ε_c."""
    x = estimation.clipped_normal(10_000, seeded())
    plain, seats = (PERSONAL[name](paper()) for name in ("Algorithm 1", "seats, mean"))
    assert estimation.normal_absolute_error(plain.variance(x)) == pytest.approx(5.047, abs=0.001)
    assert 1.55 < estimation.normal_absolute_error(seats.variance(x)) < 1.6


# ---- guarantees


def test_a_run_says_what_it_estimates_and_what_it_gives_away():
    protocol = estimation.SeatFrequencyProtocol(paper(), delta=1e-6)
    result = protocol.run(estimation.bits(10_000), seeded(15))
    assert abs(result.value - 0.7) < 5 * result.standard_error
    assert result.epsilon is protocol.epsilon and result.delta == 1e-6
    assert 0.0 <= result.epsilon.lower < result.epsilon.upper < 0.02
    assert "±" in str(result) and "1e-06" in str(result) and "seats" in str(result)


def test_equal_budgets_are_the_ordinary_shuffle():
    eps0, delta = np.full(1000, 1.0), 1e-6
    own = estimation.FrequencyProtocol(eps0, delta=delta).epsilon
    seats = estimation.SeatFrequencyProtocol(eps0, delta=delta).epsilon
    ordinary = shuffle(randomizers.generic(eps0=1.0), n=1000).epsilon(delta)  # the same blanket
    for bracket in (own, seats):
        assert bracket.upper >= ordinary.lower
        assert bracket.upper == pytest.approx(ordinary.upper, rel=1e-2)
    assert own.lower > 0.8 * own.upper


def test_the_seats_guarantee_is_false_for_algorithm_2():
    """A liberal user stands out among cautious ones: an attack proves more than seats allow."""
    own, seats = estimation.FrequencyProtocol(paper()), estimation.SeatFrequencyProtocol(paper())
    assert own.epsilon.lower > 1.9 * seats.epsilon.upper > 0.03
    each = own.channel.own_users().epsilons(delta=1e-6)
    assert own.epsilon.upper == each.upper.max() and each.upper.min() < 0.004


@pytest.mark.parametrize("ratios", [(2, 3, 9), (2, 2, 5), (3, 3, 3)])
def test_guarantees_hold_for_every_pair_of_datasets(ratios):
    """All outputs of three users, all datasets, in fractions: δ(ε) at the certified ε is at most δ."""
    eps0, delta = np.log(ratios), 0.05

    def own(x):
        law = Counter()
        for reports, mass in response_runs(ratios, x):
            law[sum(reports)] += mass
        return law

    def seats(x):
        law = Counter()
        for seated in permutations(x):
            for reports, mass in response_runs(ratios, seated):
                law[reports] += mass / 6
        return law

    protocols = (
        (own, estimation.FrequencyProtocol(eps0, delta=delta)),
        (seats, estimation.SeatFrequencyProtocol(eps0, delta=delta)),
    )
    for law, protocol in protocols:
        bracket = protocol.epsilon
        at_upper, at_lower = F(math.exp(bracket.upper)), F(math.exp(bracket.lower))
        laws = {x: law(x) for x in product((0, 1), repeat=3)}
        neighbours = [(x, y) for x in laws for y in laws if sum(map(int.__ne__, x, y)) == 1]
        worst = {
            ratio: max(
                sum(max(F(0), p - ratio * laws[y][out]) for out, p in laws[x].items()) for x, y in neighbours
            )
            for ratio in (at_upper, at_lower * F(999, 1000))
        }
        assert worst[at_upper] <= F(delta) + F(1, 10**9)
        if bracket.lower > 0.0:
            assert worst[at_lower * F(999, 1000)] >= F(delta) - F(1, 10**9)


def test_budgets_of_zero_cost_nothing_and_are_allowed_for_bits():
    eps0 = np.array([0.0] * 500 + [1.0] * 500)
    protocol = estimation.FrequencyProtocol(eps0)
    assert protocol.channel.own_users().epsilons(delta=1e-6).upper[0] == 0.0
    assert 0.0 < protocol.epsilon.upper < 1.0
    assert estimation.SeatFrequencyProtocol(eps0).weights[0] == 0.0


def test_the_certificate_of_a_histogram_is_the_profile_of_its_randomizer():
    rr = randomizers.generalized_rr(eps0=1.0, d=10)
    labels = datasets.digit_labels()
    protocol = estimation.HistogramProtocol(rr, n=labels.size, delta=1e-8)
    result = protocol.run(labels, seeded(16))
    expected = shuffle(rr, n=labels.size).epsilon(1e-8)
    assert (result.epsilon.lower, result.epsilon.upper) == (expected.lower, expected.upper)
    truth = np.bincount(labels) / labels.size
    assert np.all(np.abs(result.value - truth) < 5 * result.standard_error)


# ---- histograms from counts

SMALL = {
    "generalized RR": (4, {}, {}),
    "subset": (4, {"k": 2}, {"k": 2}),
    "local hash": (3, {"l": 3}, {"l": 3}),
    "Hadamard": (3, {}, {"K": 4}),
    "RAPPOR": (3, {}, {}),
    "optimized unary": (3, {}, {}),
}


@pytest.mark.parametrize("name", SMALL)
def test_supports_have_the_joint_law_of_all_reports(name):
    d, made_with, size = SMALL[name]
    counts = np.array([2, 0, 1, 1][:d])
    randomizer = MECHANISMS[name](eps0=LOG(4.0), d=d, **made_with)
    exact = support_law(name, 4, d, counts.tolist(), **size)
    draws = 20_000
    seen = Counter(map(tuple, draw_supports(randomizer, counts, draws, seeded(17)).tolist()))
    assert set(seen) <= {key for key, mass in exact.items() if mass}
    rare = [key for key, mass in exact.items() if draws * mass < 8]
    common = [key for key in exact if key not in set(rare)]
    found = [seen[key] for key in common] + [sum(seen[key] for key in rare)]
    expected = [draws * float(exact[key]) for key in common] + [
        draws * float(sum(exact[key] for key in rare))
    ]
    keep = [number for number, value in enumerate(expected) if value > 0]
    found, expected = np.array(found)[keep], np.array(expected)[keep]
    assert chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-4
    own, other = support(randomizer)
    n = counts.sum()
    for item in range(d):
        mean, variance = moments([(F(key[item]), mass) for key, mass in exact.items()])
        assert float(mean) == pytest.approx(counts[item] * own + (n - counts[item]) * other)
        stated = estimation.frequency_variance(randomizer, counts[item] / n, n=int(n))
        assert float(variance) == pytest.approx(stated * (n * (own - other)) ** 2)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("eps0", [0.5, 3.0])
def test_simulated_and_run_histograms_agree(name, eps0):
    counts = estimation.zipf_counts(600, d=12)
    protocol = estimation.HistogramProtocol(MECHANISMS[name](eps0=eps0, d=12), n=600)
    items, rng = np.repeat(np.arange(12), counts), seeded(18)
    runs = np.array([protocol.estimate(protocol.reports(items, rng)) for _ in range(300)])
    drawn = protocol.repeat(items, 300, rng)
    truth, variance = counts / 600, protocol.variance(items)
    for z in (runs, drawn):
        assert np.all(np.abs(z.mean(axis=0) - truth) < 5 * np.sqrt(variance / 300))
        assert np.mean((z - truth) ** 2 / variance) == pytest.approx(1.0, abs=0.12)
    together = [np.corrcoef(z[:, 0], z[:, 1])[0, 1] for z in (runs, drawn)]
    assert abs(together[0] - together[1]) < 0.3


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("source", ["zipf", "digits"])
def test_histogram_error_is_that_of_theory(name, source):
    counts = estimation.zipf_counts(10**7, d=40) if source == "zipf" else np.bincount(datasets.digit_labels())
    randomizer = MECHANISMS[name](eps0=1.0, d=counts.size)
    n = int(counts.sum())
    z = estimation.simulate(randomizer, counts=counts, repetitions=200, rng=seeded(19))
    variance = estimation.frequency_variance(randomizer, counts / n, n=n)
    measured = estimation.mean_absolute_error(z, counts / n)
    assert abs(measured.value - estimation.normal_absolute_error(variance)) < 3 * measured.standard_error


def test_binomial_supports_of_one_item_exactly():
    randomizer = randomizers.subset(eps0=1.0, d=8, k=3)
    own, other = support(randomizer)
    counts = np.array([5, 0, 0, 0, 0, 0, 0, 4])
    drawn = draw_supports(randomizer, counts, 20_000, seeded(20))
    assert np.all(drawn.sum(axis=1) == 3 * 9)  # every report names three items
    for item, held in ((0, 5), (3, 0), (7, 4)):
        law = np.convolve(binom.pmf(range(held + 1), held, own), binom.pmf(range(10 - held), 9 - held, other))
        found = np.bincount(drawn[:, item], minlength=10)
        keep = law * 20_000 > 8
        expected = law[keep] * found[keep].sum() / law[keep].sum()
        assert chisquare(found[keep], expected).pvalue > 1e-4


# ---- populations and accuracy


def test_groups_are_the_papers():
    eps0 = paper()
    assert [int((eps0 == budget).sum()) for budget in (0.1, 0.5, 1.0)] == [5400, 3700, 900]
    assert estimation.apportion([1 / 3, 1 / 3, 1 / 3], 10).tolist() == [4, 3, 3]
    for fc in np.linspace(0.01, 0.5, 50):
        assert estimation.apportion([fc, 1 - 0.09 - fc, 0.09], 9973).sum() == 9973
    assert estimation.bits(10, density=0.7).tolist() == [1] * 7 + [0] * 3
    x = estimation.clipped_normal(5000, seeded(), sigma=30.0)
    assert x.min() == 20.0 and x.max() == 80.0 and abs(x.mean() - 50) < 2
    zipf = estimation.zipf_counts(10**6, d=100)
    assert zipf.sum() == 10**6 and zipf[0] / zipf[1] == pytest.approx(2, rel=1e-4)


def test_absolute_errors():
    assert estimation.normal_absolute_error(4.0) == pytest.approx(2 * math.sqrt(2 / math.pi))
    measured = estimation.mean_absolute_error([1.0, 4.0], 2.0)
    assert measured == (1.5, pytest.approx(0.5))
    rows = estimation.mean_absolute_error([[1.0, 2.0], [3.0, 2.0]], [2.0, 2.0])
    assert rows == (0.5, 0.0)


# ---- hostile input

BAD_BUDGETS = {
    "negative": [1.0, -0.1],
    "nan": [1.0, math.nan],
    "infinite": [1.0, math.inf],
    "too large": [1.0, 701.0],
    "empty": [],
    "two-dimensional": [[1.0, 2.0], [1.0, 2.0]],
    "one user": [1.0],
    "a scalar": 1.0,
    "a string": "1e-8",
    "strings": ["1.0", "2.0"],
    "none": None,
}


@pytest.mark.parametrize("name", PERSONAL)
@pytest.mark.parametrize("bad", BAD_BUDGETS)
def test_bad_budgets_are_refused_by_name(name, bad):
    with pytest.raises((TypeError, ValueError), match="eps0"):
        PERSONAL[name](BAD_BUDGETS[bad])


def test_a_budget_of_zero_is_refused_where_noise_would_be_infinite():
    for name in ("Algorithm 1", "seats, mean"):
        with pytest.raises(ValueError, match=r"eps0 .* for user 1: .* infinite"):
            PERSONAL[name]([1.0, 0.0])
    for name in ("Algorithm 2", "seats, frequency"):
        with pytest.raises(ValueError, match="eps0 must hold at least one positive budget"):
            PERSONAL[name]([0.0, 0.0])
        tiny = PERSONAL[name]([0.0, 1e-9])
        assert np.isfinite(tiny.estimate([0, 1])) and np.isfinite(tiny.variance([0, 1]))
        largest = 700.0 if name == "Algorithm 2" else 300.0
        assert np.isfinite(PERSONAL[name]([largest, largest]).variance([0, 1]))
        with pytest.raises(ValueError, match="eps0 must be"):
            PERSONAL[name]([1.01 * largest, 1.0])


def test_a_certificate_cannot_be_moved_to_another_delta():
    protocol = PERSONAL["Algorithm 2"]([1.0] * 20)
    before = protocol.epsilon
    for name in ("delta", "n"):
        with pytest.raises(AttributeError):
            setattr(protocol, name, 1e-9)
    assert protocol.epsilon == before


def test_truth_values_count_as_bits():
    protocol = PERSONAL["Algorithm 2"]([1.0] * 4)
    bits = np.array([True, False, True, True])
    assert protocol.bias(bits) == protocol.bias(bits.astype(int))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 0], "data .* 3 budgets"),
        ([1, 0, 2], "data"),
        ([1, 0, 0.5], "data"),
        ([1, 0, math.nan], "data"),
        ([], "data"),
        ([[1, 0, 1]], "data"),
        ("101", "data"),
    ],
)
def test_bad_bits_are_refused_by_name(data, message):
    for name in ("Algorithm 2", "seats, frequency"):
        protocol = PERSONAL[name]([1.0, 1.0, 2.0])
        for call in (
            lambda: protocol.run(data, seeded()),  # noqa: B023
            lambda: protocol.repeat(data, 2, seeded()),  # noqa: B023
            lambda: protocol.variance(data),  # noqa: B023
            lambda: protocol.bias(data),  # noqa: B023
        ):
            with pytest.raises((TypeError, ValueError), match=message):
                call()


def test_other_bad_input_is_refused_by_name():
    rr = randomizers.generalized_rr(eps0=1.0, d=3)
    frequency = estimation.FrequencyProtocol([1.0, 1.0])
    histogram = estimation.HistogramProtocol(rr, n=3)
    cases = [
        (lambda: estimation.MeanProtocol([1.0, 1.0], low=1.0, high=1.0), "high"),
        (lambda: estimation.MeanProtocol([1.0, 1.0], low=math.nan, high=1.0), "low"),
        (lambda: estimation.FrequencyProtocol([1.0, 1.0], delta=0.0), "delta"),
        (lambda: estimation.FrequencyProtocol([1.0, 1.0], delta="1e-8"), "delta"),
        (lambda: frequency.run([1, 0], 7), "rng"),
        (lambda: frequency.repeat([1, 0], 0, seeded()), "repetitions"),
        (lambda: frequency.estimate([1.0]), "reports"),
        (lambda: frequency.estimate([1.0, math.nan]), "reports"),
        (lambda: estimation.in_random_order([], seeded()), "rows"),
        (lambda: estimation.in_random_order([1], None), "rng"),
        (lambda: estimation.HistogramProtocol(randomizers.laplace(eps0=1.0), n=3), "randomizer"),
        (lambda: estimation.HistogramProtocol(rr, n=0), "n must"),
        (lambda: histogram.run([0, 1], seeded()), "data"),
        (lambda: histogram.run([0, 1, 3], seeded()), "data"),
        (lambda: estimation.simulate(rr, counts=[1, 2], repetitions=1, rng=seeded()), "counts"),
        (lambda: estimation.simulate(rr, counts=[0, 0, 0], repetitions=1, rng=seeded()), "counts"),
        (lambda: estimation.simulate(rr, counts=[1, -1, 0], repetitions=1, rng=seeded()), "counts"),
        (lambda: estimation.simulate(rr, counts=[10**9, 1, 0], repetitions=1, rng=seeded()), "counts"),
        (lambda: estimation.frequency_variance(rr, 1.5, n=3), "frequency"),
        (lambda: estimation.group_budgets(10, shares=[0.5, 0.6], eps0=[1, 2]), "shares"),
        (lambda: estimation.group_budgets(10, shares=[0.5, 0.5], eps0=[1, 2, 3]), "eps0"),
        (lambda: estimation.group_budgets(10, eps0=[0.1, -0.5, 1.0]), "eps0"),
        (lambda: estimation.clipped_normal(10, seeded(), sigma=0.0), "sigma"),
        (lambda: estimation.clipped_normal(10, seeded(), low=80.0, high=20.0), "high"),
        (lambda: estimation.bits(10, density=1.1), "density"),
        (lambda: estimation.zipf_counts(10, d=1), "d must"),
        (lambda: estimation.zipf_counts(10, d=5, exponent=-1.0), "exponent"),
        (lambda: estimation.mean_absolute_error([1.0], 1.0), "estimates"),
        (lambda: estimation.mean_absolute_error([[1.0], [2.0]], 1.0), "estimates"),
        (lambda: estimation.normal_absolute_error(-1.0), "variance"),
        (lambda: estimation.of_seats([1.0, 1.0], delta=1.0), "delta"),
        (lambda: estimation.of_own_budgets(ResponseReports([1.0, 1.0]).own_users(), delta=2.0), "delta"),
        (lambda: LaplaceReports([1.0, 1.0], 0.0, math.inf), "high"),
    ]
    for call, name in cases:
        with pytest.raises((TypeError, ValueError), match=name):
            call()


def test_variances_of_scalars_and_arrays_agree():
    rr = randomizers.subset(eps0=1.0, d=5)
    f = np.array([0.0, 0.2, 1.0])
    each = [estimation.frequency_variance(rr, value, n=100) for value in f]
    assert estimation.frequency_variance(rr, f, n=100).tolist() == each and isinstance(each[0], float)


@pytest.mark.parametrize("name", PERSONAL)
def test_a_thousand_repetitions_take_seconds(name):
    protocol, x = PERSONAL[name](paper()), data_for(name, 10_000, seeded())
    started = time.perf_counter()
    protocol.repeat(x, 1000, seeded())
    assert time.perf_counter() - started < 5.0  # a tenth of it on one ordinary core
