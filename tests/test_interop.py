"""Profiles in dp-accounting: composed there and here, the answers overlap and are close."""

import functools
import sys

import numpy as np
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.interop import to_dp_accounting, to_dp_accounting_optimistic
from shufflelib.profiles import DiscretePair, Gaussian

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


@pytest.mark.parametrize("convert", [to_dp_accounting, to_dp_accounting_optimistic])
def test_a_missing_package_says_what_to_install(convert, monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(ImportError, match=r"shufflelib\[interop\]"):
        convert(Gaussian(mu=1.0))
