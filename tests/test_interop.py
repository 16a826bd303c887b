"""Profiles in dp-accounting: composed there and here, the answers overlap and are close."""

import functools
import sys

import numpy as np
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.interop import (
    _accounting,
    dp_accountant,
    to_dp_accounting,
    to_dp_accounting_optimistic,
    to_dp_event,
)
from shufflelib.profiles import DiscretePair, Gaussian, compose

dp_accounting = pytest.importorskip("dp_accounting")
from dp_accounting import ComposedDpEvent, GaussianDpEvent, SelfComposedDpEvent, calibrate_dp_mechanism  # noqa: E402
from dp_accounting.pld import PLDAccountant  # noqa: E402

pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
DELTA = 1e-6
PROFILES = {  # and the step of the grid
    "generalized_rr": (shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10_000), 1e-4),
    "binary_rr": (shuffle(randomizers.binary_rr(eps0=2.0), n=10_000), 1e-4),
    "generic": (shuffle(randomizers.generic(eps0=1.0), n=1000), 1e-4),
    "subsampled": (shuffle(randomizers.binary_rr(eps0=2.0), n=100).subsample(rate=0.2), 1e-4),
    "Gaussian": (Gaussian(mu=0.1), 1e-3),
    "asymmetric": (DiscretePair(np.log([0.30, 0.60, 0.10]), np.log([0.27, 0.62, 0.11])), 1e-4),
}
each_profile = pytest.mark.parametrize("name", PROFILES)


@functools.cache
def one_round(name):
    """Return the optimistic and the pessimistic distribution."""
    profile, step = PROFILES[name]
    ends = (to_dp_accounting_optimistic, to_dp_accounting)
    return [convert(profile, value_discretization_interval=step) for convert in ends]


def both(name, rounds=1):
    """Return both distributions of so many rounds, composed there."""
    return [one.self_compose(rounds, 0.0) for one in one_round(name)]


@each_profile
def test_a_hundred_rounds_there_and_here(name):
    ours = PROFILES[name][0].compose(100).epsilon(DELTA)
    low, high = (one.get_epsilon_for_delta(DELTA) for one in both(name, 100))
    assert low <= ours.upper and ours.lower <= high
    assert low == pytest.approx(ours.lower, rel=1e-3)
    assert high == pytest.approx(ours.upper, rel=1e-3)


@each_profile
def test_one_round_lies_on_its_side(name):
    profile = PROFILES[name][0]
    low, high = both(name)
    for eps in (0.0, 0.003, 0.01, 0.05, 0.2):
        truth = profile.delta(eps)
        assert low.get_delta_for_epsilon(eps) <= truth.upper * (1.0 + 1e-9)
        assert truth.lower <= high.get_delta_for_epsilon(eps) * (1.0 + 1e-9) + 1e-25


def masses(pmf):
    """Return all losses of a distribution, in steps, their masses, and the mass at infinity."""
    dense = pmf.to_dense_pmf()
    return dense._lower_loss + np.arange(dense._probs.size), dense._probs, dense._infinity_mass


@each_profile
def test_a_distribution_marked_symmetric_is_its_own_reversal(name):
    """It has e^{-l} times as much mass at −l as at l: exactly if it is a lower bound."""
    step = PROFILES[name][1]
    for one, close in zip(one_round(name), (1e-14, 1e-9), strict=True):
        if not one._symmetric:
            continue
        loss, mass, _ = masses(one._pmf_remove)
        other = dict(zip((-loss).tolist(), mass.tolist(), strict=True))
        found = np.array([other.get(place, 0.0) for place in loss.tolist()])
        mirrored = np.exp(-step * loss) * mass
        assert np.abs(found - mirrored).max() <= close * mass.max()
        assert mass.sum() <= 1.0 + 1e-11 and mirrored.sum() <= 1.0 + 1e-11


def computed(pmf, rate):
    """Return the least false-negative rate that one symmetric distribution of the loss says.

    A test rejects where log P/Q is large.  Q has a loss of l as often as P has one of −l.
    """
    loss, mass, _ = masses(pmf)
    places = np.arange(min(loss[0], -loss[-1]), max(loss[-1], -loss[0]) + 1)
    missed = np.append(0.0, np.cumsum(np.bincount(loss - places[0], mass, places.size)))
    alarms = np.cumsum(np.bincount(-loss[::-1] - places[0], mass[::-1], places.size)[::-1])[::-1]
    return np.interp(rate, np.append(alarms, 0.0)[::-1], missed[::-1])


@each_profile
@pytest.mark.parametrize("rate", [0.01, 0.2, 0.5, 0.9])
def test_a_tradeoff_function_computed_from_it_lies_on_its_side(name, rate):
    truth = PROFILES[name][0].tradeoff(rate)
    low, high = one_round(name)
    if low._symmetric:
        assert computed(low._pmf_remove, rate) >= truth.lower - 1e-9
    if high._symmetric:
        assert computed(high._pmf_remove, rate) <= truth.upper + 1e-9


@each_profile
def test_the_accountant_counts_rounds_and_a_query_never_below_ours(name):
    profile, step = PROFILES[name]
    query = GaussianDpEvent(noise_multiplier=40.0)  # 0.05-GDP where a record is replaced
    accountant = dp_accountant(value_discretization_interval=step)
    assert accountant.supports(to_dp_event(profile)) and not PLDAccountant().supports(to_dp_event(profile))
    found = accountant.compose(SelfComposedDpEvent(to_dp_event(profile), 10)).compose(query, 4)
    ours = compose([profile.compose(10), Gaussian(mu=0.1)])
    assert found.get_epsilon(DELTA) >= ours.epsilon(DELTA).lower
    assert found.get_epsilon(DELTA) == pytest.approx(ours.epsilon(DELTA).upper, rel=2e-3)
    assert found.get_delta(0.2) >= ours.delta(0.2).lower


def test_rounds_counted_at_once_and_one_by_one_are_the_same_ledger():
    daily = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10_000)
    once = dp_accountant().compose(to_dp_event(daily), 3)
    each = dp_accountant()
    for _ in range(3):
        each.compose(to_dp_event(daily))
    assert once.ledger == each.ledger
    ours = daily.compose(3).epsilon(DELTA)
    for found in (once.get_epsilon(DELTA), each.get_epsilon(DELTA)):
        assert ours.lower <= found == pytest.approx(ours.upper, rel=1e-4)


def test_dp_accounting_calibrates_a_query_beside_shuffled_reports():
    daily = to_dp_event(shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10_000))
    noise = calibrate_dp_mechanism(
        dp_accountant,
        lambda sigma: ComposedDpEvent([SelfComposedDpEvent(daily, 30), GaussianDpEvent(sigma)]),
        target_epsilon=0.851,
        target_delta=1e-6,
    )
    assert noise == pytest.approx(10.0, rel=1e-2)


def test_a_delta_that_dp_accounting_does_not_resolve_is_said():
    accountant = dp_accountant().compose(to_dp_event(PROFILES["binary_rr"][0]))
    accountant.get_epsilon(1e-15)
    with pytest.warns(UserWarning, match="target_delta = 1e-16 is below 1e-15"):
        accountant.get_epsilon(1e-16)
    with pytest.warns(UserWarning, match="profile.epsilon resolves"):
        accountant.get_delta(1.9)


@pytest.mark.parametrize(
    "convert",
    [to_dp_accounting, to_dp_accounting_optimistic, to_dp_event, lambda _: dp_accountant()],
)
def test_a_missing_package_says_what_to_install(convert, monkeypatch):
    for name in ("dp_accounting.pld", "attr"):  # attr comes with it
        monkeypatch.setitem(sys.modules, name, None)
    _accounting.cache_clear()
    with pytest.raises(ImportError, match="^dp_accounting.pld is missing; .*pip install dp-accounting"):
        convert(Gaussian(mu=1.0))
