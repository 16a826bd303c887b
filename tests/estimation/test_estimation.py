"""Protocols on data: the shuffler, the results of a run, populations, and bad arguments."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from estimation_cases import PERSONAL, paper, seeded
from shufflelib import estimation, randomizers

# ---- the shuffler


def test_every_order_is_equally_likely_whatever_came_in():
    rng = seeded(1)
    for rows in ([3, 1, 2], [1, 2, 3]):
        orders = Counter(tuple(estimation.in_random_order(rows, rng).tolist()) for _ in range(6000))
        assert len(orders) == 6 and chisquare(list(orders.values())).pvalue > 1e-4


def test_the_analyst_cannot_see_who_sent_what():
    """At a huge budget reports are the values: their position must not reveal the user's position."""
    users, rng = np.arange(4), seeded(2)
    loud = np.full(4, 100.0)
    protocols = {
        "users": estimation.MeanProtocol(loud, low=0.0, high=3.0),
        "slots": estimation.PermutedMeanProtocol(loud, low=0.0, high=3.0),
        "histogram": estimation.HistogramProtocol(randomizers.generalized_rr(eps0=100.0, d=4), n=4),
    }
    for name, protocol in protocols.items():
        seen = np.array([np.rint(protocol.reports(users, rng)) for _ in range(3000)])
        assert np.all(np.sort(seen, axis=1) == users), name
        for position in range(4):
            found = np.bincount(seen[:, position].astype(int), minlength=4)
            assert chisquare(found).pvalue > 1e-4, (name, position)


def test_a_run_states_its_estimate_and_its_privacy_loss():
    protocol = estimation.PermutedFrequencyProtocol(paper(), delta=1e-6)
    result = protocol.run(estimation.bits(10_000), seeded(15))
    assert abs(result.value - 0.7) < 5 * result.standard_error
    assert result.epsilon is protocol.epsilon and result.delta == 1e-6
    assert 0.0 <= result.epsilon.lower < result.epsilon.upper < 0.02
    assert "±" in str(result) and "1e-06" in str(result) and "slots" in str(result)


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


# ---- bad input


def test_a_budget_of_zero_is_refused_where_noise_would_be_infinite():
    for name in ("Algorithm 1", "slots, mean"):
        with pytest.raises(ValueError, match=r"eps0 .* for user 1: .* infinite"):
            PERSONAL[name]([1.0, 0.0])
    for name in ("Algorithm 2", "slots, frequency"):
        with pytest.raises(ValueError, match="eps0 must hold at least one positive budget"):
            PERSONAL[name]([0.0, 0.0])
        tiny = PERSONAL[name]([0.0, 1e-9])
        assert np.isfinite(tiny.estimate([0, 1])) and np.isfinite(tiny.variance([0, 1]))
        largest = 700.0 if name == "Algorithm 2" else 300.0
        assert np.isfinite(PERSONAL[name]([largest, largest]).variance([0, 1]))
        with pytest.raises(ValueError, match="eps0 must be"):
            PERSONAL[name]([1.01 * largest, 1.0])


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
    for name in ("Algorithm 2", "slots, frequency"):
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
        (lambda: frequency.run([1, 0], 7), "rng"),
        (lambda: frequency.repeat([1, 0], 0, seeded()), "repetitions"),
        (lambda: frequency.estimate([1.0]), "reports"),
        (
            lambda: histogram.estimate([0, 1]),
            "reports must hold 3 entries, one for each report of n = 3 users",
        ),
        (lambda: frequency.estimate([1.0, math.nan]), "reports"),
        (lambda: estimation.in_random_order([], seeded()), "rows"),
        (lambda: estimation.in_random_order([1], None), "rng"),
        (lambda: estimation.HistogramProtocol(randomizers.laplace(eps0=1.0), n=3), "randomizer"),
        (lambda: histogram.run([0, 1], seeded()), "data"),
        (lambda: histogram.run([0, 1, 3], seeded()), "data"),
        (lambda: estimation.simulate(rr, counts=[1, 2], repetitions=1, rng=seeded()), "counts"),
        (lambda: estimation.simulate(rr, counts=[0, 0, 0], repetitions=1, rng=seeded()), "counts"),
        (lambda: estimation.simulate(rr, counts=[1, -1, 0], repetitions=1, rng=seeded()), "counts"),
        (lambda: estimation.simulate(rr, counts=[10**9, 1, 0], repetitions=1, rng=seeded()), "counts"),
        (lambda: estimation.group_budgets(10, shares=[0.5, 0.6], eps0=[1, 2]), "shares"),
        (lambda: estimation.group_budgets(10, shares=[0.5, 0.5], eps0=[1, 2, 3]), "eps0"),
        (lambda: estimation.clipped_normal(10, seeded(), sigma=0.0), "sigma"),
        (lambda: estimation.clipped_normal(10, seeded(), low=80.0, high=20.0), "high"),
        (lambda: estimation.mean_absolute_error([1.0], 1.0), "estimates"),
        (lambda: estimation.mean_absolute_error([[1.0], [2.0]], 1.0), "estimates"),
    ]
    for call, name in cases:
        with pytest.raises((TypeError, ValueError), match=name):
            call()


def test_counts_are_refused_by_every_protocol_that_knows_how_many_report():
    """64 counts of 500 users look like reports on 64 items."""
    rng, held = seeded(), np.arange(500) % 64
    one = randomizers.generalized_rr(eps0=1.0, d=64)
    bins = randomizers.balls_into_bins(d=64)
    for protocol in (
        estimation.HistogramProtocol(one, n=500),
        estimation.MultiMessageProtocol(bins, n=500, each=2),
        estimation.RangeQueryProtocol(eps0=1.0, d=64, n=500),
    ):
        reports = protocol.reports(held, rng)
        assert np.all(np.isfinite(protocol.estimate(reports)))
        for wrong in (np.bincount(held), reports[:-1]):
            with pytest.raises(
                ValueError, match=r"reports must hold 1?,?500 entries.*counts of reports are none"
            ):
                protocol.estimate(wrong)
